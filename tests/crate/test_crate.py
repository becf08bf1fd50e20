"""RO-Crates as others read them: the public validator of the Workflow Run Crate profile, and what is in the archive."""

import hashlib
import json
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = ROOT / "build/venv-crate"
NAMES = ("connect", "hostile", "large")

# What the profiles recommend and a run here does not have: addresses on the web of program, workflow and group, and, for
# a workflow without outputs, a result.
NOT_KNOWN = ("SHOULD have a url", "SHOULD have a URL", "SHOULD be an absolute URI", "SHOULD have a result")


def make_venv():
    """The tools of requirements.txt, installed once and again when that file changes. Returns why not, or nothing."""
    wanted = (HERE / "requirements.txt").read_text()
    stamp = VENV / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return ""
    made = subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", VENV], capture_output=True, text=True)
    if made.returncode != 0:
        raise AssertionError(made.stdout + made.stderr)
    done = subprocess.run([VENV / "bin/pip", "install", "-q", "-r", HERE / "requirements.txt"], capture_output=True,
                          text=True, timeout=600)
    if done.returncode != 0:
        return f"PyPI does not give {' '.join(wanted.split())}: {done.stderr.strip().splitlines()[-1]}"
    stamp.write_text(wanted)
    return ""


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
        if why := make_venv():
            self.skipTest(why)
        done = subprocess.run([VENV / "bin/python", HERE / "validate.py", self.folder / "cache",
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
