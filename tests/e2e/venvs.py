"""Python environments for tests: what PyPI has, installed once below build/ and again when it changes.

    VENV = Venv("tapis", "tapipy==25.4.0")
    if why := VENV.make():
        self.skipTest(why)
    subprocess.run([VENV.bin("python"), ...])
"""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Venv:
    """`wanted` is the text of a requirements file."""

    def __init__(self, name, wanted):
        self.path = ROOT / "build" / f"venv-{name}"
        self.wanted = wanted

    def bin(self, program):
        return self.path / "bin" / program

    def make(self, seconds=600):
        """Returns why there is none, or nothing."""
        stamp = self.path / "requirements.txt"
        if stamp.exists() and stamp.read_text() == self.wanted:
            return ""
        made = subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", self.path], capture_output=True, text=True)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        names = self.wanted.split()
        try:
            done = subprocess.run([self.bin("pip"), "install", "-q", *names], capture_output=True, text=True,
                                  timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"{' '.join(names)} was not installed within {seconds} s"
        if done.returncode != 0:
            return f"PyPI does not give {' '.join(names)}: {done.stderr.strip().splitlines()[-1]}"
        stamp.write_text(self.wanted)
        return ""
