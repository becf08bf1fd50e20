"""`ps --watch` for programs: what changed, and an end."""

import json
import re
import subprocess
import threading
import unittest

from atoll import PROGRAM, Atoll


class Watch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 4, memory: 4Gi}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def watching(self, *args):
        process = subprocess.Popen([str(PROGRAM), "ps", "--watch", *args], env=self.atoll.env, stdout=subprocess.PIPE, text=True)
        limit = threading.Timer(60, process.kill)  # one that does not end fails the test
        limit.start()
        self.addCleanup(limit.cancel)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def gated(self, name):
        """A job that ends when the returned path is there."""
        gate = self.atoll.home / name
        job = self.atoll.submit("--label", f"watch={name}", "--", "sh", "-c", f"while ! test -e {gate}; do sleep 0.05; done")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        return job, gate

    def test_lines_tell_each_change_once_and_end_with_the_jobs(self):
        job, gate = self.gated("lines")
        held = self.atoll.submit("--hold", "--label", "watch=lines", "--", "true")
        process = self.watching("-o", "jsonl", "--label", "watch=lines")
        seen = [json.loads(process.stdout.readline()) for _ in range(2)]
        self.assertEqual([each["id"] for each in seen], [job, held])
        gate.touch()
        self.atoll.wait_job(job)
        self.atoll.cli("cancel", held)
        rest = process.stdout.read().splitlines()
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(len(rest), len(set(rest)))
        ended = {each["id"]: each for each in map(json.loads, rest) if each["state"] == "ended"}
        self.assertEqual({key: each["outcome"] for key, each in ended.items()}, {job: "succeeded", held: "cancelled"})
        self.assertEqual(ended[job].keys(), seen[0].keys())

    def test_yaml_documents_are_apart(self):
        job, gate = self.gated("yaml")
        process = self.watching("-a", "-o", "yaml", "--label", "watch=yaml")
        self.assertEqual(process.stdout.readline(), "---\n")
        gate.touch()
        out = "---\n" + process.stdout.read()
        self.assertEqual(process.wait(timeout=30), 0)
        documents = out.split("---\n")[1:]
        self.assertGreaterEqual(len(documents), 2)
        self.assertEqual(len(documents), len(set(documents)))
        self.assertTrue(all(re.search(rf'id: "?{job}"?\n', each) for each in documents), out)
        self.assertRegex(documents[-1], r'state: "ended"')

    def test_nothing_to_watch_is_an_end(self):
        self.assertEqual(self.atoll.cli("ps", "--watch", "-o", "jsonl", "--label", "watch=none").stdout, "")


if __name__ == "__main__":
    unittest.main()
