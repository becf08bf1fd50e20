"""The command line on a terminal: a pseudo terminal with a person's keys on the other end."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import termios
import time
import unittest

from atoll import PROGRAM, SOCKET, Atoll, wait_for

CTRL_C, CTRL_Z = b"\x03", b"\x1a"
ESCAPE = "\x1b"
ENTER_PAGE, LEAVE_PAGE = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """`atoll ARGS` as the foreground job of a terminal of 24 x 100, or another `program`."""

    def __init__(self, atoll, *args, program=PROGRAM, **env):
        self.args = args
        self.seen = ""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        environment = {key: value for key, value in atoll.env.items() if key not in ("CI", "NO_COLOR")}
        environment.update({"TERM": "xterm-256color", **env})

        def take_terminal():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)  # whatever the tests themselves were started with, such as nohup
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([str(program), *map(str, args)], env=environment, cwd=atoll.home, stdin=theirs,
                                        stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=take_terminal)
        os.close(theirs)
        self.fd = ours

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.fd)

    def echoes(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def press(self, keys):
        os.write(self.fd, keys)

    def read(self, seconds):
        """Takes in what is there; false at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += got.decode(errors="replace")
        return bool(got)

    def expect(self, text, after=0, seconds=30.0):
        """Reads until the text is there, from that place on; returns the place behind it."""
        end = time.monotonic() + seconds
        while text not in self.seen[after:]:
            if not self.read(0.1) or time.monotonic() > end:
                raise AssertionError(f"atoll {' '.join(map(str, self.args))} did not show {text!r} but {self.seen!r}")
        return self.seen.index(text, after) + len(text)

    def end(self, seconds=30.0):
        """Reads to the end and returns the exit code."""
        end = time.monotonic() + seconds
        while self.read(0.1):
            if time.monotonic() > end:
                raise AssertionError(f"atoll {' '.join(map(str, self.args))} did not end; it showed {self.seen!r}")
        return self.process.wait(timeout=seconds)


class OnATerminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 8, memory: 4Gi}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def gate(self, name):
        """A path that a job waits for, so that the test decides when it goes on."""
        path = self.atoll.home / f"{self.id().rpartition('.')[2]}-{name}"
        return path, f"while ! test -e {path}; do sleep 0.05; done"

    def newest(self):
        return self.atoll.cli("ps", "-a", "-q", "--limit", "1").stdout.strip()

    def start_job(self, terminal):
        """The id of a job that `run` follows, once its first line was seen."""
        terminal.expect("begun")
        job = self.newest()
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        return job

    # run

    def test_run_shows_output_while_the_job_goes_on(self):
        first, wait_first = self.gate("first")
        second, wait_second = self.gate("second")
        script = f"echo begun; {wait_first}; echo middle >&2; {wait_second}; printf 'no line end'; exit 5"
        with Terminal(self.atoll, "run", "--", "sh", "-c", script) as terminal:
            job = self.start_job(terminal)
            self.assertNotIn("middle", terminal.seen)
            self.assertEqual(self.atoll.job(job)["state"], "running")
            first.touch()
            terminal.expect("middle")
            self.assertNotIn("no line end", terminal.seen)
            second.touch()
            self.assertEqual(terminal.end(), 5)
            self.assertTrue(terminal.seen.endswith("no line end"), terminal.seen)

    def test_ctrl_c_detaches_and_says_how_to_attach_again(self):
        gate, wait = self.gate("end")
        with Terminal(self.atoll, "run", "--", "sh", "-c", f"echo begun; {wait}; echo finished") as terminal:
            job = self.start_job(terminal)
            terminal.press(CTRL_C)
            at = terminal.expect("detached; the job goes on")
            terminal.expect(f"atoll logs -f {job}", at)
            terminal.expect(f"atoll cancel {job}", at)
            self.assertEqual(terminal.end(), 130)
        self.assertEqual(self.atoll.job(job)["state"], "running")
        with Terminal(self.atoll, "logs", "-f", job) as again:
            again.expect("begun")
            gate.touch()
            again.expect("finished")
            self.assertEqual(again.end(), 0)
        self.assertEqual(self.atoll.job(job)["outcome"], "succeeded")

    def test_a_second_ctrl_c_cancels(self):
        with Terminal(self.atoll, "run", "--", "sh", "-c", "echo begun; exec sleep 1000") as terminal:
            job = self.start_job(terminal)
            terminal.press(CTRL_C)
            terminal.expect("Ctrl-C again")
            terminal.press(CTRL_C)
            terminal.expect(f"cancelled {job}")
            self.assertEqual(terminal.end(), 130)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "cancelled")

    def test_ctrl_c_detaches_from_an_array_and_from_a_job_that_waits(self):
        for what in (("--array", "1-3", "--cpus", "1"), ("--hold",)):
            with Terminal(self.atoll, "run", *what, "--name", f"quiet{len(what)}", "--", "sleep", "1000") as terminal:
                job = wait_for(lambda n=f"quiet{len(what)}": self.atoll.cli("ps", "-q", "--name", n).stdout.strip(), "the job")
                self.addCleanup(self.atoll.cli, "cancel", job, check=False)
                # The status line is shown when it has to be explained why nothing is to be seen.
                terminal.expect(f"{job}: ")
                terminal.press(CTRL_C)
                terminal.expect(f"atoll logs -f {job}")
                self.assertEqual(terminal.end(), 130)
            self.assertNotEqual(self.atoll.job(job)["state"], "ended")

    def test_a_short_run_is_not_explained(self):
        # The job takes long enough for a line that is shown at once. A busy machine may take longer than the delay.
        shown = []
        for _ in range(5):
            with Terminal(self.atoll, "run", "--array", "1", "--", "sleep", "0.3") as terminal:
                self.assertEqual(terminal.end(), 0)
                shown.append(terminal.seen)
            if "" in shown:
                return
        self.fail(f"every run showed a status line: {shown}")

    def test_the_name_before_an_arrays_lines_is_faint_only_where_colours_are_wanted(self):
        for env, prefix in (({}, f"{ESCAPE}[2m{{}}[1] |{ESCAPE}[0m begun"), ({"NO_COLOR": "1"}, "{}[1] | begun")):
            with Terminal(self.atoll, "run", "--array", "1", "--", "echo", "begun", **env) as terminal:
                self.assertEqual(terminal.end(), 0)
                self.assertIn(prefix.format(self.newest()), terminal.seen)

    # logs, ps

    def test_ctrl_c_ends_logs_and_not_the_job(self):
        job = self.atoll.submit("--", "sh", "-c", "echo begun; exec sleep 1000")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        for streams in ((), ("--stdout",)):
            with Terminal(self.atoll, "logs", "-f", *streams, job) as terminal:
                terminal.expect("begun")
                terminal.press(CTRL_C)
                self.assertEqual(terminal.end(), 130)
        self.assertEqual(self.atoll.job(job)["state"], "running")

    def test_ctrl_c_ends_events(self):
        with Terminal(self.atoll, "events", "-f") as terminal:
            wait_for(lambda: self.atoll.submit("--name", "noticed", "--", "true") and terminal.read(0.1) and
                     "job_submitted" in terminal.seen, "an event to be shown")
            terminal.press(CTRL_C)
            self.assertEqual(terminal.end(), 130)

    def test_ps_watch_redraws_and_ctrl_c_gives_the_screen_back(self):
        with Terminal(self.atoll, "ps", "--watch") as terminal:
            terminal.expect(ENTER_PAGE)
            shown = terminal.expect(f"{ESCAPE}[H")
            job = self.atoll.submit("--name", "newcomer", "--", "sleep", "1000")
            self.addCleanup(self.atoll.cli, "cancel", job, check=False)
            terminal.expect("newcomer", shown)
            self.atoll.cli("cancel", job)
            self.atoll.wait_job(job)
            wait_for(lambda: terminal.read(0.1) and "newcomer" not in terminal.seen.split(f"{ESCAPE}[H")[-2],
                     "a page without the job")
            terminal.press(CTRL_C)
            self.assertEqual(terminal.end(), 0)
            self.assertTrue(terminal.seen.endswith(LEAVE_PAGE), terminal.seen[-80:])

    def test_q_ends_top_and_gives_the_screen_back(self):
        with Terminal(self.atoll, "top") as terminal:
            terminal.expect("NODE")
            terminal.press(b"xq")
            self.assertEqual(terminal.end(seconds=10), 0)
            self.assertTrue(terminal.seen.endswith(LEAVE_PAGE), terminal.seen[-80:])
            self.assertNotIn("xq", terminal.seen)

    def test_signals_give_the_terminal_back_and_are_told(self):
        for verb in (("top",), ("ps", "--watch")):
            for number in (signal.SIGTERM, signal.SIGHUP):
                with Terminal(self.atoll, *verb) as terminal:
                    terminal.expect(f"{ESCAPE}[J")
                    wait_for(lambda t=terminal: not t.echoes(), "keys without echo")
                    terminal.process.send_signal(number)
                    terminal.expect(LEAVE_PAGE)
                    self.assertTrue(terminal.echoes(), verb)
                    self.assertEqual(terminal.end(), 128 + number)

    def test_ctrl_z_gives_the_terminal_back_until_top_is_in_the_foreground_again(self):
        script = f"set -m; {PROGRAM} top; echo stopped=$?; read line; fg; echo ended=$?"
        with Terminal(self.atoll, "-c", script, program="/bin/bash") as terminal:
            terminal.expect("NODE")
            wait_for(lambda: not terminal.echoes(), "keys without echo")
            terminal.press(CTRL_Z)
            stopped = terminal.expect("stopped=148")
            self.assertIn(LEAVE_PAGE, terminal.seen)
            self.assertTrue(terminal.echoes())
            terminal.press(b"on\n")
            terminal.expect("NODE", terminal.expect(ENTER_PAGE, stopped))
            terminal.press(b"q")
            terminal.expect("ended=0")
            self.assertTrue(terminal.echoes())

    def test_top_in_the_background_neither_stops_nor_shows_anything(self):
        script = f"set -m; {PROGRAM} top & echo begun; read line; jobs -s; echo in front; fg; echo ended=$?"
        with Terminal(self.atoll, "-c", script, program="/bin/bash") as terminal:
            terminal.expect("begun")
            end = time.monotonic() + 1.5  # for what must not happen
            while time.monotonic() < end:
                terminal.read(0.1)
            terminal.press(b"on\n")
            front = terminal.expect("in front")
            self.assertNotIn("Stopped", terminal.seen[:front])
            self.assertNotIn(ENTER_PAGE, terminal.seen[:front])
            terminal.expect("NODE", front)
            terminal.press(b"q")
            terminal.expect("ended=0")

    # submit

    def test_ctrl_c_detaches_from_submit_that_waits(self):
        with Terminal(self.atoll, "submit", "--wait", "--", "sleep", "1000") as terminal:
            terminal.expect("\n")
            job = self.newest()
            self.addCleanup(self.atoll.cli, "cancel", job, check=False)
            terminal.press(CTRL_C)
            terminal.expect(f"atoll wait {job}")
            self.assertEqual(terminal.end(), 130)
        self.assertNotEqual(self.atoll.job(job)["state"], "ended")

    # Colour.

    def test_colours_are_for_terminals_that_want_them(self):
        job = self.atoll.submit("--", "sleep", "1000")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        wait_for(lambda: self.atoll.job(job)["state"] == "running", "the job to run")
        for verb in (("ps",), ("show", job), ("doctor",), ("events",), ("show", "999999")):
            def shown(*flags, verb=verb, **env):
                with Terminal(self.atoll, *verb, *flags, **env) as terminal:
                    terminal.end()
                    return terminal.seen

            self.assertIn(f"{ESCAPE}[", shown(), verb)
            for plain in (shown(NO_COLOR="1"), shown(TERM="dumb"), shown("--color", "never")):
                self.assertNotIn(ESCAPE, plain, verb)
                self.assertTrue(plain.strip(), verb)
            self.assertIn(f"{ESCAPE}[", shown("--color", "always", NO_COLOR="1"), verb)

    def test_run_adds_no_escape_codes_and_leaves_the_jobs_own(self):
        for env in ({"NO_COLOR": "1"}, {}):
            with Terminal(self.atoll, "run", "--", "echo", "plain", **env) as terminal:
                self.assertEqual(terminal.end(), 0)
                self.assertEqual(terminal.seen, "plain\r\n")
        with Terminal(self.atoll, "run", "--", "printf", r"\033[31mred\033[0m", NO_COLOR="1") as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertEqual(terminal.seen, f"{ESCAPE}[31mred{ESCAPE}[0m")

    # What takes long says so.

    def test_a_slow_backup_and_a_slow_upload_show_that_they_go_on(self):
        job = self.atoll.submit("--", "sleep", "1000")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        wait_for(lambda: self.atoll.job(job)["state"] == "running", "the job to run")
        backup, upload = self.atoll.home / "all.db", self.atoll.home / "input"
        upload.write_bytes(b"x" * 100_000)
        for verb, word in ((("backup", backup), "writing"), (("cp", upload, f"{job}:"), "sending")):
            with self.stopped_server() as go_on, Terminal(self.atoll, *verb) as terminal:
                first = terminal.expect(" s", terminal.expect(f"{word} "))
                terminal.expect(" s", terminal.expect(f"{word} ", first))  # it counts
                go_on()
                self.assertEqual(terminal.end(), 0, terminal.seen)
                last = terminal.seen.rpartition(f"{ESCAPE}[K")[2]
                self.assertNotIn(word, last)  # and is gone in the end
                self.assertTrue(last.strip(), terminal.seen)
        self.assertEqual(self.atoll.cli("files", job, "-q").stdout.strip(), "input")
        self.assertGreater(backup.stat().st_size, 0)

    @contextlib.contextmanager
    def stopped_server(self):
        server = self.atoll.server_pids()[0]
        os.kill(server, signal.SIGSTOP)
        try:
            yield lambda: os.kill(server, signal.SIGCONT)
        finally:
            os.kill(server, signal.SIGCONT)


class Completion(unittest.TestCase):
    """The shells that are not bash, asked themselves."""

    LINES = (("su", "submit"), ("--home X su", "--home X submit"), ("-o json ns mem", "-o json ns member"),
             ("ps --state ru", "ps --state running"), ("submit --isolation sa", "submit --isolation sandbox"),
             ("cp some", "cp some-file"))

    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll(up=False)
        cls.addClassCleanup(cls.atoll.destroy)
        (cls.atoll.home / "some-file").touch()

    def test_zsh(self):
        (self.atoll.home / "script").write_text(self.atoll.cli("completion", "zsh").stdout)
        with Terminal(self.atoll, "-f", "-i", program="zsh", TERM="dumb", HOME=str(self.atoll.home)) as terminal:
            terminal.press(b"autoload -U compinit; compinit -D -u; source ./script; atoll() { echo \"<$*>\"; }; echo rea''dy\n")
            terminal.expect("ready")
            for begun, whole in self.LINES:
                terminal.press(f"atoll {begun}\t\n".encode())
                terminal.expect(f"<{whole}>")

    def test_fish(self):
        (self.atoll.home / "script").write_text(self.atoll.cli("completion", "fish").stdout)
        for begun, whole in self.LINES:
            done = subprocess.run(["fish", "--no-config", "-c", f"source ./script; complete -C 'atoll {begun}'"], cwd=self.atoll.home,
                                  env={**self.atoll.env, "HOME": str(self.atoll.home)}, capture_output=True, text=True, timeout=30)
            self.assertEqual(done.stderr, "")
            self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()], [whole.split()[-1]], begun)


class TakenPort(unittest.TestCase):
    def test_up_names_the_port_and_what_to_do_and_leaves_nothing_running(self):
        with Atoll(up=False) as atoll:
            with socket.create_server(("127.0.0.1", atoll.port)):
                for flags in ((), ("--foreground",)):
                    done = atoll.cli("up", *flags, check=False)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(f"127.0.0.1:{atoll.port}: Address already in use", done.stderr)
                    self.assertIn("--listen", done.stderr)
                    self.assertIn("`listen` in atoll.yaml", done.stderr)
                    self.assertNotIn("running", done.stdout)
                    wait_for(lambda: not atoll.processes(), "everything to have ended", seconds=10)
                    self.assertFalse((atoll.home / "server.pid").exists())
                    self.assertFalse((atoll.home / SOCKET).exists())
                self.assertEqual(atoll.cli("ps", check=False).returncode, 75)
            atoll.up()
            self.assertEqual(atoll.cli("run", "--", "echo", "free").stdout, "free\n")

    def test_another_address_on_the_command_line_helps(self):
        with Atoll(up=False) as atoll, socket.create_server(("127.0.0.1", atoll.port)):
            atoll.up("--listen", "127.0.0.1:0")
            self.assertEqual(atoll.cli("run", "--", "echo", "there").stdout, "there\n")

    def test_a_server_whose_port_was_taken_meanwhile_finds_its_work_again(self):
        with Atoll() as atoll:
            job = atoll.submit("--", "sh", "-c", f"while ! test -e {atoll.home}/go; do sleep 0.05; done")
            wait_for(lambda: atoll.job(job)["state"] == "running", "the job to run")
            atoll.down()
            with socket.create_server(("127.0.0.1", atoll.port)):
                self.assertEqual(atoll.cli("up", check=False).returncode, 1)
            atoll.up()
            self.assertEqual(atoll.job(job)["state"], "running")
            (atoll.home / "go").touch()
            self.assertEqual(atoll.wait_job(job)["outcome"], "succeeded")


if __name__ == "__main__":
    unittest.main()
