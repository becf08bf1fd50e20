"""How far running tasks are, as they say themselves: on their output, in a file, and in lies."""

import hashlib
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from atoll import Atoll, wait_for
from test_terminal import Terminal
from venvs import Venv

MEGABYTES = 50
VENV = Venv("cloudmesh", "cloudmesh-common==5.0.64")


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 16, memory: 4Gi}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def setUp(self):
        self.gate = Path(tempfile.mkdtemp(prefix="gate-", dir=self.atoll.home)) / "open"
        self.addCleanup(self.gate.touch)  # whatever waits there ends

    def start(self, text, *flags):
        """A job that does what the text says and then waits at the gate."""
        wait = f"\nwhile [ ! -e {self.gate} ]; do sleep 0.05; done"
        return self.atoll.submit("--mem", "64Mi", *flags, "--", "sh", "-c", text + wait)

    def wait_progress(self, job, percent, path=""):
        def look():
            seen = (self.atoll.job(job) if not path else self.atoll.api("GET", path).json)["progress"]
            return seen if seen and seen["percent"] == percent else None
        return wait_for(look, f"{percent} % of {job}")

    def end(self, job):
        self.gate.touch()
        return self.atoll.wait_job(job)

    def test_comes_from_stdout_and_the_line_stays_in_the_log(self):
        line = "# cloudmesh status=running progress=40 pid=123"
        job = self.start(f"echo before; echo '{line}'; echo after")
        seen = self.wait_progress(job, 40)
        self.assertEqual((seen["status"], seen["message"], seen["pid"], seen["ignored"]), ("running", None, 123, 0))
        self.assertRegex(seen["at"], r"^20\d\d-.*Z$")
        ended = self.end(job)
        self.assertIsNone(ended["progress"])
        self.assertEqual(self.atoll.logs(job), f"before\n{line}\nafter\n")

    def test_comes_from_stderr(self):
        job = self.start("""echo '# atoll progress=3/4 status=loading msg="part 3"' >&2""")
        seen = self.wait_progress(job, 75)
        self.assertEqual((seen["status"], seen["message"]), ("loading", "part 3"))

    def test_comes_from_the_file_that_is_offered_and_nothing_stays_of_it(self):
        job = self.start('echo "# atoll progress=10" >"$ATOLL_PROGRESS_FILE"\n'
                         'while [ ! -e go ]; do sleep 0.05; done\n'
                         'echo "# atoll progress=20" >>"$ATOLL_PROGRESS_FILE"', "--dir", self.gate.parent)
        self.wait_progress(job, 10)
        (self.gate.parent / "go").touch()
        self.wait_progress(job, 20)
        self.end(job)
        self.assertEqual(self.atoll.json("files", job), [])

    def test_comes_from_a_log_that_the_job_names(self):
        job = self.start("echo '12:00 INFO # cloudmesh status=running progress=12.5 pid=1' >>train.log",
                         "--dir", self.gate.parent, "--env", "ATOLL_PROGRESS_FILE=train.log")
        self.wait_progress(job, 12.5)

    def test_in_a_sandbox_too(self):
        if not Path("/usr/bin/bwrap").exists():
            self.skipTest("there is no bubblewrap here")
        job = self.start('echo "# atoll progress=5"; echo "# atoll progress=15" >"$ATOLL_PROGRESS_FILE"',
                         "--isolation", "sandbox", "--dir", self.gate.parent)
        self.wait_progress(job, 15)

    def test_forged_lines_are_ignored_and_counted(self):
        lies = ["# cloudmesh status=done progress=150 pid=1", "# cloudmesh status=done progress=-5 pid=1",
                "# atoll progress=nan", "# atoll progress=ten", "# atoll progress=11/10", "# atoll progress=",
                "# atoll progress=50 msg=" + "x" * 2000]
        text = "echo '# atoll progress=30 status=honest'\n" + "".join(f"echo '{lie}'\n" for lie in lies)
        job = self.start(text)
        seen = wait_for(lambda: (now := self.atoll.job(job)["progress"]) and now["ignored"] == len(lies) and now, "all lies")
        self.assertEqual((seen["percent"], seen["status"], seen["pid"]), (30, "honest", None))
        self.assertIn(f"{len(lies)} progress lines", self.atoll.cli("show", job).stdout)

    def test_a_foreign_pid_is_only_shown(self):
        sleeper = subprocess.Popen(["sleep", "600"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        job = self.start(f"echo '# cloudmesh status=running progress=1 pid={sleeper.pid}'")
        self.assertEqual(self.wait_progress(job, 1)["pid"], sleeper.pid)
        self.atoll.cli("cancel", job)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "cancelled")
        self.assertIsNone(sleeper.poll())

    def test_binary_output_with_lines_in_it_is_kept_byte_by_byte(self):
        script = self.gate.parent / "noise.py"
        script.write_text(f"""
import hashlib, os, sys
digest = hashlib.sha256()
def write(data):
    digest.update(data)
    sys.stdout.buffer.write(data)
for megabyte in range({MEGABYTES}):
    write(os.urandom(1 << 20).replace(b"# ", b"#."))
    write(b"\\n# atoll progress=%d/{MEGABYTES}\\n" % (megabyte + 1))
sys.stdout.flush()
open("digest", "w").write(digest.hexdigest())
""")
        job = self.start(f"python3 {script}", "--dir", self.gate.parent)
        self.wait_progress(job, 100)
        self.end(job)
        kept = next(self.atoll.home.glob(f"site/local/logs/*/{job}.1.out"))
        with open(kept, "rb") as log:
            self.assertEqual(hashlib.file_digest(log, "sha256").hexdigest(), (self.gate.parent / "digest").read_text())

    def test_of_an_array_it_is_the_mean_with_ended_tasks_as_done(self):
        job = self.atoll.submit("--mem", "64Mi", "--array", "1-4%3", "--", "sh", "-c", f"""
            [ $ATOLL_ARRAY_INDEX = 3 ] && exit 0
            echo "# atoll progress=${{ATOLL_ARRAY_INDEX}}0"
            while [ ! -e {self.gate} ]; do sleep 0.05; done""")
        # 10, 20 and 40 of those that run, 100 of the one that ended.
        seen = self.wait_progress(job, 42.5)
        self.assertEqual((seen["status"], seen["message"]), (None, None))
        self.wait_progress(f"{job}[2]", 20, f"/api/v1/jobs/{job}%5B2%5D")
        tasks = self.atoll.api("GET", f"/api/v1/jobs/{job}/tasks").json["tasks"]
        self.assertEqual([task["progress"] and task["progress"]["percent"] for task in tasks], [10, 20, None, 40])

    def test_is_still_known_when_the_server_was_killed(self):
        job = self.start("echo '# atoll progress=60 status=half'\nwhile [ ! -e next ]; do sleep 0.05; done\n"
                         "echo '# atoll progress=70'", "--dir", self.gate.parent)
        self.wait_progress(job, 60)
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        self.assertEqual(self.wait_progress(job, 60)["status"], "half")
        self.atoll.kill_server()
        (self.gate.parent / "next").touch()
        self.atoll.up()
        self.wait_progress(job, 70)
        self.assertEqual(self.end(job)["outcome"], "succeeded")

    def test_is_no_event(self):
        job = self.start("for i in 1 2 3 4 5 6 7 8 9; do echo \"# atoll progress=$i\"; sleep 0.3; done")
        self.wait_progress(job, 9)
        kinds = [json.loads(line)["type"] for line in self.atoll.cli("events", "--job", job, "-o", "jsonl").stdout.splitlines()]
        self.assertFalse([kind for kind in kinds if "progress" in kind], kinds)
        self.assertLess(len(kinds), 6, kinds)

    def test_a_simulated_task_is_as_far_as_its_time(self):
        with Atoll("sites: {pretend: {kind: simulated}}\n") as atoll:
            job = atoll.submit("--simulate", "run_for=20s", "--", "train")
            first = wait_for(lambda: atoll.job(job)["progress"], "any progress")
            later = wait_for(lambda: (now := atoll.job(job)["progress"])["percent"] > first["percent"] and now, "more")
            self.assertLess(later["percent"], 100)

    def test_ps_and_show_have_it(self):
        job = self.start("echo '# atoll progress=40 status=running msg=\"epoch 4\"'")
        self.wait_progress(job, 40)
        lines = self.atoll.cli("ps").stdout.splitlines()
        self.assertIn("PROGRESS", lines[0])
        self.assertTrue(any(" 40% " in line and line.split()[0] == job for line in lines), lines)
        shown = self.atoll.cli("show", job).stdout
        self.assertIn("[########------------]  40%  running: epoch 4", shown)
        self.end(job)

    def test_run_draws_a_bar_on_a_terminal_and_only_there(self):
        text = ("echo first; echo '# atoll progress=40 msg=\"epoch 4\"'\n"
                f"while [ ! -e {self.gate} ]; do sleep 0.05; done; echo last")
        with Terminal(self.atoll, "run", "--", "sh", "-c", text) as terminal:
            terminal.expect("[########------------]  40%  epoch 4\x1b[K")
            self.gate.touch()
            terminal.expect("last")
            self.assertEqual(terminal.end(), 0)
            self.assertTrue(terminal.seen.endswith("\r\x1b[K"), "nothing stays of it")
        plain = self.atoll.cli("run", "--", "sh", "-c", "echo '# atoll progress=40'; sleep 3")
        self.assertEqual(plain.stdout, "# atoll progress=40\n")
        self.assertEqual(plain.stderr, "")


class Stock(unittest.TestCase):
    """cloudmesh-common itself, as a program of that world has it. src/site/progress_line_test.cpp has what it prints."""

    def test_what_cloudmesh_common_prints_is_understood(self):
        if why := VENV.make():
            self.skipTest(why)
        with Atoll() as atoll:
            program = atoll.home / "train.py"
            gate = atoll.home / "gate"
            program.write_text(f"""
import os, time
from cloudmesh.common.StopWatch import StopWatch, progress
StopWatch.start("train")
progress(status="running", progress=1)
progress(status="running", progress=25, time=True, msg="epoch 1 of 4", loss=0.5)
while not os.path.exists("{gate}"): time.sleep(0.05)
progress(status="running", progress=50, stdout=False, stderr=False, filename=os.environ["ATOLL_PROGRESS_FILE"])
while not os.path.exists("{gate}.2"): time.sleep(0.05)
StopWatch.stop("train")
progress(status="done", progress=100)
""")
            job = atoll.submit("--venv", VENV.path, "--", "python", program)

            def at(percent):
                return wait_for(lambda: (seen := atoll.job(job)["progress"]) and seen["percent"] == percent and seen,
                                f"{percent} %")
            seen = wait_for(lambda: (now := at(25))["message"] and now, "the extras of the next line")
            self.assertEqual((seen["status"], seen["message"]), ("running", "epoch 1 of 4"))
            self.assertGreater(seen["pid"], 1)
            gate.touch()
            at(50)
            Path(f"{gate}.2").touch()
            self.assertEqual(atoll.wait_job(job)["outcome"], "succeeded")
            self.assertEqual(atoll.logs(job).count("# cloudmesh status=running progress=25 "), 1)


if __name__ == "__main__":
    unittest.main()
