"""`ps --watch` for programs: what changed, and an end."""

import json
import re
import signal
import subprocess
import threading
import unittest

from atoll import PROGRAM, Atoll


class Watch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 4, memory: 4Gi}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def watching(self, *args, stderr=None):
        process = subprocess.Popen([str(PROGRAM), "ps", "--watch", *args], env=self.atoll.env, stdout=subprocess.PIPE,
                                   stderr=stderr, text=True)
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

    def test_all_are_watched_and_not_only_the_newest_page(self):
        jobs = [self.atoll.submit("--hold", "--label", "watch=many", "--", "true")]
        for _ in range(2):
            spec = {"command": ["true"], "hold": True, "labels": {"watch": "many"}}
            batch = self.atoll.api("POST", "/api/v1/jobs", {"jobs": [spec] * 60})
            self.assertLess(batch.status, 300, batch.text)
        everything = self.atoll.cli("ps", "-q", "--limit", "0", "--label", "watch=many").stdout.split()
        self.assertEqual(len(everything), 121)
        self.addCleanup(self.atoll.cli, "cancel", *everything, check=False)
        for flags in ((), ("-a",), ("--since", "1h")):
            process = self.watching("-o", "jsonl", "--label", "watch=many", *flags)
            seen = [json.loads(process.stdout.readline())["id"] for _ in everything]
            self.assertEqual(seen, everything[::-1], flags)
            self.assertEqual(seen[0], jobs[0])
            process.kill()
        self.atoll.cli("cancel", *everything[:-1])  # the oldest is left
        process = self.watching("-a", "-o", "jsonl", "--label", "watch=many")
        for _ in everything:
            process.stdout.readline()
        self.atoll.cli("cancel", everything[-1])
        last = json.loads(process.stdout.readline())
        self.assertEqual((last["id"], last["outcome"]), (everything[-1], "cancelled"))
        self.assertEqual((process.stdout.read(), process.wait(timeout=30)), ("", 0))

    def test_a_job_that_comes_and_goes_between_two_looks_is_told_once(self):
        job, gate = self.gated("short")
        process = self.watching("-o", "jsonl", "--label", "watch=short")
        self.assertEqual(json.loads(process.stdout.readline())["id"], job)
        short = []
        for _ in range(3):
            process.send_signal(signal.SIGSTOP)  # it cannot look meanwhile
            short.append(self.atoll.submit("--label", "watch=short", "--", "true"))
            self.atoll.wait_job(short[-1])
            process.send_signal(signal.SIGCONT)
            line = json.loads(process.stdout.readline())
            while line["id"] == job:
                line = json.loads(process.stdout.readline())
            self.assertEqual((line["id"], line["outcome"]), (short[-1], "succeeded"))
        gate.touch()
        rest = [json.loads(line)["id"] for line in process.stdout]
        self.assertEqual(set(rest), {job})
        self.assertEqual(process.wait(timeout=30), 0)

    def test_a_limit_that_leaves_jobs_out_is_told(self):
        jobs = [self.atoll.submit("--hold", "--label", "watch=few", "--", "true") for _ in range(3)]
        self.addCleanup(self.atoll.cli, "cancel", *jobs, check=False)
        process = self.watching("-o", "jsonl", "--label", "watch=few", "--limit", "2", stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.assertEqual([json.loads(process.stdout.readline())["id"] for _ in range(2)], jobs[1:])
        self.atoll.cli("cancel", *jobs)
        process.stdout.read()
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(process.stderr.read(), "only the newest 2 are watched; --limit 0 watches all\n")

    def test_nothing_to_watch_is_an_end(self):
        self.assertEqual(self.atoll.cli("ps", "--watch", "-o", "jsonl", "--label", "watch=none").stdout, "")


if __name__ == "__main__":
    unittest.main()
