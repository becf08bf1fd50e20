"""RO-Crates as others read them: the public validator of the Provenance Run Crate profile, and what is in the archive."""

import hashlib
import json
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from venvs import Venv

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = Venv("crate", (HERE / "requirements.txt").read_text())
NAMES = ("connect", "hostile", "large")

# What the profiles recommend and a run here does not have: addresses on the web of programs, workflow and group, and, for
# a workflow or step without outputs, a result.
NOT_KNOWN = ("SHOULD have a url", "SHOULD have a URL", "SHOULD be an absolute URI", "SHOULD have a result")


class Crate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        subprocess.run([ROOT / "build/bin/report_example", cls.folder], check=True, timeout=120)

    def crate(self, name):
        return self.folder / f"{name}.zip"

    def graph(self, archive):
        return {entity["@id"]: entity for entity in json.loads(archive.read("ro-crate-metadata.json"))["@graph"]}

    def test_the_public_validator_accepts_it(self):
        if why := VENV.make():
            self.skipTest(why)
        done = subprocess.run([VENV.bin("python"), HERE / "validate.py", self.folder / "cache",
                               *(self.crate(name) for name in NAMES)], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(len(answers), len(NAMES))
        for crate, issues in answers.items():
            unknown = [issue for issue in issues if not any(words in issue for words in NOT_KNOWN)]
            self.assertEqual(unknown, [], crate)

    def test_every_file_is_described_with_its_size_and_checksum(self):
        for name in NAMES:
            with zipfile.ZipFile(self.crate(name)) as archive:
                self.assertIsNone(archive.testzip())
                entities = {unquote(key): entity for key, entity in self.graph(archive).items()}
                for path in set(archive.namelist()) - {"ro-crate-metadata.json"}:
                    entity, data = entities[path], archive.read(path)
                    self.assertEqual(entity["contentSize"], str(len(data)))
                    self.assertEqual(entity["sha256"], hashlib.sha256(data).hexdigest())

    def test_each_step_that_ran_is_an_action(self):
        with zipfile.ZipFile(self.crate("connect")) as archive:
            graph = self.graph(archive)
        steps = {entity["name"]: key for key, entity in graph.items() if entity["@type"] == "HowToStep"}
        self.assertEqual(list(steps), ["download", "train", "infer", "analyse", "plot"])
        controls = [entity for entity in graph.values() if entity["@type"] == "ControlAction"]
        runs = {graph[each["instrument"]["@id"]]["name"]: graph[each["object"]["@id"]] for each in controls}
        self.assertEqual(list(runs), list(steps))
        for name, run in runs.items():
            self.assertEqual(run["@type"], "CreateAction")
            self.assertLess(run["startTime"], run["endTime"])
            self.assertEqual(run["instrument"], graph[steps[name]]["workExample"])
            failed = name == "plot"
            self.assertTrue(run["actionStatus"].endswith("FailedActionStatus" if failed else "CompletedActionStatus"))
            self.assertEqual(run.get("error"), "exit code 1" if failed else None)
        results = [graph[each["@id"]]["name"] for each in runs["download"]["result"]]
        self.assertEqual(results, ["download.files", "download.list"])
        self.assertNotIn("result", runs["train"])
        self.assertEqual(len(graph["#engine-run"]["object"]), 5)

    def test_nothing_unpacks_outside_its_folder(self):
        for name in NAMES:
            with zipfile.ZipFile(self.crate(name)) as archive:
                self.assertEqual(len(archive.namelist()), len(set(archive.namelist())))
                for path in archive.namelist():
                    parts = PurePosixPath(path).parts
                    self.assertNotIn("..", parts)
                    self.assertFalse(path.startswith("/") or "\\" in path or ":" in path, path)

    def test_every_reference_leads_somewhere(self):
        def references(value):
            if isinstance(value, dict):
                if set(value) == {"@id"}:
                    yield value["@id"]
                for each in value.values():
                    yield from references(each)
            elif isinstance(value, list):
                for each in value:
                    yield from references(each)

        for name in NAMES:
            with zipfile.ZipFile(self.crate(name)) as archive:
                graph = self.graph(archive)
                missing = {each for entity in graph.values() for each in references(entity)
                           if each not in graph and not each.startswith("http")}
                self.assertEqual(missing, set(), name)

    def test_the_report_asks_nothing_of_the_network(self):
        for name in NAMES:
            page = (self.folder / f"{name}.html").read_text(encoding="utf-8")
            self.assertIn("default-src 'none'", page)
            self.assertEqual(page.count("<script>"), 1)
            for words in ("src=\"", "<link", "<iframe", "@import", "url(http"):
                self.assertNotIn(words, page)
            self.assertLess(len(page), 8 << 20)


if __name__ == "__main__":
    sys.exit(unittest.main())
