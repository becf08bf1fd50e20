"""What the suites share: a report that counts, programs run under a time limit, and each preset built once."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = {"release": ROOT / "build", "asan": ROOT / "build/asan", "tsan": ROOT / "build/tsan"}
TERMINAL = sys.stdout.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
COLOUR = TERMINAL and "NO_COLOR" not in os.environ
CORES = os.cpu_count() or 1
STARTED = time.monotonic()


class BuildFailed(Exception):
    """The message is what the build printed."""


class Outcome:
    """What one program came to: cases that passed, (case, output) that failed, (case, why) that were skipped."""

    def __init__(self, passed=0, failed=(), skipped=()):
        self.passed, self.failed, self.skipped = passed, list(failed), list(skipped)


class Report:
    """Counts cases and prints one line per program as it ends. Programs may end on several threads."""

    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []
        self.suite = ""
        self._lock = threading.Lock()

    def say(self, text):
        with self._lock:
            self._print(text)

    def status(self, text):
        """A line that the next one replaces; on a terminal only."""
        if TERMINAL:
            with self._lock:
                sys.stdout.write("\r\033[K" + text[:110])
                sys.stdout.flush()

    def add(self, name, outcome, seconds):
        with self._lock:
            self.passed += outcome.passed
            for case, output in outcome.failed:
                self.failed.append((f"{self.suite}:{name} {case}".strip(), output))
            for case, why in outcome.skipped:
                self.skipped.append(f"{self.suite}:{name} {case}".strip())
            counts = f"{outcome.passed} passed"
            if outcome.failed:
                counts += paint(f", {len(outcome.failed)} failed", "31")
            if outcome.skipped:
                counts += f", {len(outcome.skipped)} skipped"
            self._print(f"  {name:<28} {counts} ({seconds:.1f} s)")
            for case, _ in outcome.failed:
                if case:
                    self._print(f"    failed: {case}")
            for case, why in outcome.skipped:
                self._print(f"    skipped: {case}: {why}")

    def close(self):
        for name, output in self.failed:
            self._print(paint(f"\n--- {name}", "31"), clock=False)
            print(output.rstrip("\n"))
        if self.failed:
            print()
        print(f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped", flush=True)

    def _print(self, text, clock=True):
        start = "\r\033[K" if TERMINAL else ""
        print(start + (f"{time.monotonic() - STARTED:7.1f} s  {text}" if clock else text), flush=True)


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if COLOUR else text


class Finished:
    def __init__(self, code, output, seconds, timed_out):
        self.code, self.output, self.seconds, self.timed_out = code, output, seconds, timed_out

    @property
    def ok(self):
        return self.code == 0 and not self.timed_out

    def why(self):
        """How it ended, for the head of a failure."""
        if self.timed_out:
            return f"killed after {self.seconds:.0f} s: it did not end"
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        return f"exit code {self.code}"


def run(argv, timeout, env=None, cwd=ROOT):
    """Runs a program in a session of its own; its output goes to a file, because a daemon that it leaves behind would
    hold a pipe open for ever."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as sink:
        process = subprocess.Popen([str(a) for a in argv], cwd=cwd, env={**os.environ, **(env or {})},
                                   stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        timed_out = False
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        sink.seek(0)
        output = sink.read().decode(errors="replace")
    return Finished(process.returncode, output, time.monotonic() - began, timed_out)


def one_case(finished, hint=""):
    """A program that is one test case."""
    if finished.ok:
        return Outcome(passed=1)
    return Outcome(failed=[("", f"{finished.why()}\n{finished.output}{hint}")])


def each(items, work, parallel=CORES):
    """Calls work(item) for all, several at a time; the first exception is raised when all are done."""
    with ThreadPoolExecutor(max_workers=parallel) as pool:
        for future in [pool.submit(work, item) for item in items]:
            future.result()


_configured = set()


def build(report, preset, *targets):
    """Brings the targets of a preset up to date. Raises BuildFailed."""
    directory = BUILD[preset]
    if preset not in _configured:
        done = run(["cmake", "--preset", preset, "-DATOLL_TESTS=ON"], timeout=600)
        if not done.ok:
            raise BuildFailed(done.output)
        _configured.add(preset)
    began = said = time.monotonic()
    lines = []
    with subprocess.Popen(["ninja", "-C", directory, *targets], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, errors="replace") as ninja:
        for line in ninja.stdout:
            lines.append(line)
            report.status(f"{preset}: {line.strip()}")
            if not TERMINAL and time.monotonic() - said > 30:  # a log that stands still looks like a hang
                said = time.monotonic()
                report.say(f"  {preset}: {line.strip()[:100]}")
    if ninja.returncode != 0:
        raise BuildFailed("".join(line for line in lines if not line.startswith("[")) or "".join(lines[-50:]))
    if time.monotonic() - began > 2:
        report.say(f"  built {preset} ({time.monotonic() - began:.0f} s)")
