"""Workflows for tests: a file in a directory of its own, run by the real command line.

    class Steps(Flows):
        def test_order(self):
            flow = self.run_flow("steps: {a: {run: echo one}}")
            self.assertEqual(flow.log("a"), "one\\n")
"""

import re
import textwrap
import types
import unittest
from pathlib import Path

from atoll import Atoll, wait_for

CONFIG = "sites:\n  local: {cpus: 8, memory: 8Gi}\n"


class Flows(unittest.TestCase):
    """One server for a class, one directory for a test."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll(CONFIG)
        cls.addClassCleanup(cls.atoll.destroy)

    def setUp(self):
        self.dir = Path(self.atoll.home / "flows" / self.id().rpartition(".")[2])
        self.dir.mkdir(parents=True)

    def write(self, text, name="flow.yaml"):
        path = self.dir / name
        path.write_text(textwrap.dedent(text))
        return path

    def run_flow(self, text, *args, code=0, **options):
        """Writes the file, runs it to its end and returns what became of it."""
        done = self.atoll.cli("run", self.write(text), *args, check=False, cwd=self.dir, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return self.flow(re.search(r"^workflow (\d+)", done.stderr, re.MULTILINE)[1], done.stderr)

    def submit_flow(self, text, *args):
        return self.flow(self.atoll.cli("submit", self.write(text), *args, cwd=self.dir).stdout.strip())

    def refuse_flow(self, text, *args, code=2):
        """What is said of a file that is refused; nothing of it is left on the server."""
        before = self.newest()
        done = self.atoll.cli("run", self.write(text), *args, check=False, cwd=self.dir)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(self.newest(), before, "it was submitted")
        self.assertEqual(done.stdout, "")
        return done.stderr.strip().removeprefix("atoll: ")

    def newest(self):
        return [each["id"] for each in self.atoll.json("workflow", "list", "--limit", "1")]

    def gate(self, name="gate"):
        """A path that a step waits for, so that the test decides when it goes on."""
        path = self.dir / name
        return path, f"while ! test -e {path}; do sleep 0.02; done"

    def flow(self, number, said=""):
        def step(name):
            return next(each for each in self.steps(number) if each["name"] == name)

        def until(condition, what):
            return wait_for(lambda: condition(flow), f"{what} of workflow {number}")

        flow = types.SimpleNamespace(
            id=number, said=said, step=step, until=until,
            steps=lambda: self.steps(number),
            show=lambda: self.atoll.json("workflow", "show", number),
            outcomes=lambda: {each["name"]: each["outcome"] for each in self.steps(number)},
            outputs=lambda name: step(name)["outputs"],
            log=lambda name: self.atoll.logs(step(name)["job"]),
            errors=lambda name: self.atoll.cli("logs", step(name)["job"]).stderr,
            ended=lambda: until(lambda f: f.show()["state"] == "ended" and f.show(), "the end"))
        return flow

    def steps(self, number):
        return self.atoll.json("workflow", "steps", number)
