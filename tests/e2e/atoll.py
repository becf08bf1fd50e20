"""A real Atoll for a test: its own data directory, its own port, driven by its own command line.

    class Jobs(unittest.TestCase):
        def test_exit_code(self):
            with Atoll() as atoll:
                self.assertEqual(atoll.cli("run", "--", "sh", "-c", "exit 3", check=False).returncode, 3)

A test module is tests/e2e/test_NAME.py with unittest cases named as facts; `./test e2e:NAME` runs it alone.
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("ATOLL_PROGRAM", ROOT / "build/bin/atoll"))
SOCKET = "atoll.sock"  # in the data directory


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what, seconds=30.0, pause=0.02):
    """Calls condition until it returns something true, and returns that."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:.0f} s for {what}; the last answer was {value!r}")
        time.sleep(pause)


class Atoll:
    """One installation. `config` is added to its atoll.yaml; `up=False` leaves the start to the test."""

    def __init__(self, config="", up=True, home=None):
        self.home = Path(home or tempfile.mkdtemp(prefix="atoll-test-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("ATOLL_", "XDG_"))}
        self.env.update(ATOLL_HOME=str(self.home), NO_COLOR="1", CI="1")
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "atoll.yaml").write_text(f"listen: 127.0.0.1:{self.port}\n{config}")
        if up:
            self.up()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.destroy()

    # The server's life.

    def up(self, *args):
        self.cli("up", *args, timeout=60)

    def down(self):
        self.cli("down", timeout=60)

    def destroy(self):
        """Ends everything that belongs to this installation and removes its directory."""
        for _ in range(50):
            pids = self.processes()
            if not pids:
                break
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        shutil.rmtree(self.home, ignore_errors=True)

    def kill_server(self):
        """kill -9; true when there was one."""
        return self._kill(self.server_pids())

    def kill_warden(self):
        return self._kill(self.warden_pids())

    def _kill(self, pids):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if pids:
            wait_for(lambda: not any(alive(pid) for pid in pids), f"{pids} to be gone")
        return bool(pids)

    # Its processes, found by the data directory in their environment or arguments.

    def processes(self):
        mark = str(self.home).encode()
        return [pid for pid in all_pids()
                if pid != os.getpid() and alive(pid)
                and (mark in proc(pid, "environ") or mark in proc(pid, "cmdline"))]

    def server_pids(self):
        """From the file that the server writes; empty when none runs."""
        with contextlib.suppress(OSError, ValueError):
            pid = int((self.home / "server.pid").read_text())
            if alive(pid) and exe(pid) == "atoll":
                return [pid]
        return []

    def warden_pids(self):
        """The warden itself; its keepers have it as their parent."""
        wardens = [pid for pid in self.processes() if exe(pid) == "atoll-warden"]
        # In a sandbox the same program is the first process, below bwrap.
        return [pid for pid in wardens if parent(pid) not in wardens and exe(parent(pid)) != "bwrap"]

    # The command line.

    def cli(self, *args, check=True, timeout=120, stdin="", env=None, cwd=None):
        """Runs `atoll ARGS` and returns returncode, stdout, stderr."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen([str(PROGRAM), *map(str, args)], env={**self.env, **(env or {})},
                                       cwd=cwd or self.home, stdin=subprocess.PIPE, stdout=out, stderr=err, text=True)
            try:
                process.communicate(stdin, timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise AssertionError(f"atoll {' '.join(map(str, args))} did not end in {timeout} s\n"
                                     f"{read_back(out)}{read_back(err)}") from None
            done = subprocess.CompletedProcess(args, process.returncode, read_back(out), read_back(err))
        if check and done.returncode != 0:
            raise AssertionError(f"atoll {' '.join(map(str, args))}: exit code {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def json(self, *args, **options):
        return json.loads(self.cli(*args, "-o", "json", **options).stdout)

    def submit(self, *args, **options):
        """The id that `atoll submit` prints."""
        return self.cli("submit", *args, **options).stdout.strip()

    def logs(self, job):
        return self.cli("logs", job).stdout

    # The API.

    def api(self, method, path, body=None, headers=None, timeout=30):
        """One request over the Unix socket, as the user who runs the tests."""
        return request(UnixConnection(str(self.home / SOCKET), timeout), method, path, body, headers)

    def tcp(self, method, path, body=None, headers=None, token=None, timeout=30):
        """One request over TCP, with a bearer token when given."""
        headers = dict(headers or {}, **({"Authorization": f"Bearer {token}"} if token else {}))
        return request(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout), method, path, body, headers)

    def job(self, job):
        answer = self.api("GET", f"/api/v1/jobs/{job}")
        if answer.status != 200:
            raise AssertionError(f"GET job {job}: {answer.status} {answer.text}")
        return answer.json

    def wait_job(self, job, seconds=60.0):
        """The job once it has ended."""
        return wait_for(lambda: (found := self.job(job))["state"] == "ended" and found, f"job {job} to end", seconds)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def request(connection, method, path, body, headers):
    """status, headers, text and json (None when the answer is none)."""
    headers = dict(headers or {})
    if body is not None and not isinstance(body, (str, bytes)):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    with contextlib.closing(connection):
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
    parsed = json.loads(text) if "json" in answer.headers.get("Content-Type", "") else None
    return types.SimpleNamespace(status=answer.status, headers=answer.headers, text=text, json=parsed)


def read_back(file):
    file.seek(0)
    return file.read()


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def proc(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def exe(pid):
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name.removesuffix(" (deleted)")
    except OSError:
        return ""


def stat(pid):
    return proc(pid, "stat").rpartition(b") ")[2].split()


def parent(pid):
    fields = stat(pid)
    return int(fields[1]) if fields else 0


def alive(pid):
    """A zombie is dead."""
    fields = stat(pid)
    return bool(fields) and fields[0] not in (b"Z", b"X")
