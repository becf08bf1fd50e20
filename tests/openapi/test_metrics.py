"""/metrics, as Prometheus' own parser reads it."""

import json
import subprocess
import sys
import unittest

from atoll import Atoll, wait_for
from test_openapi import VENV

# Runs in the environment that has the parser: the page on standard input, samples as JSON on standard output.
PARSE = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families
families = {}
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.name not in families, family.name + " comes twice"
    assert family.documentation, family.name + " has no help"
    families[family.name] = {"type": family.type, "samples": [[s.name, s.labels, s.value] for s in family.samples]}
print(json.dumps(families))
"""


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why := VENV.make():
            raise unittest.SkipTest(why)
        cls.atoll = Atoll("sites: {local: {devices: [{kind: gpu, model: a100, count: 2, simulated: true}]}}\n")
        cls.addClassCleanup(cls.atoll.destroy)
        cls.atoll.cli("run", "--", "true")
        cls.atoll.cli("run", "--", "false", check=False)
        page = cls.atoll.tcp("GET", "/metrics")
        assert page.headers["Content-Type"].startswith("text/plain; version=0.0.4"), page.headers
        done = subprocess.run([VENV.bin("python"), "-c", PARSE], input=page.text, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, done.stderr + page.text
        cls.families = json.loads(done.stdout)

    def value(self, sample, **labels):
        found = [value for family in self.families.values() for name, had, value in family["samples"]
                 if name == sample and had == labels]
        self.assertEqual(len(found), 1, f"{sample} {labels} in {sorted(self.families)}")
        return found[0]

    def test_names_say_what_they_are(self):
        for name, family in self.families.items():
            self.assertRegex(name, r"^(atoll|process)_[a-z_]+$")
            counter = family["type"] == "counter"  # whose family is named without the suffix
            self.assertEqual(counter, any(sample[0].endswith("_total") for sample in family["samples"]), name)

    def test_work_is_counted(self):
        self.assertEqual(self.value("atoll_jobs_ended_total", outcome="succeeded"), 1)
        self.assertEqual(self.value("atoll_tasks_ended_total", outcome="failed"), 1)
        self.assertEqual(self.value("atoll_task_wait_seconds_count"), 2)
        self.assertLess(self.value("atoll_task_wait_seconds_sum"), 60)
        self.assertEqual(self.value("atoll_task_wait_seconds_bucket", le="+Inf"), 2)

    def test_sites_are_told_apart(self):
        self.assertGreater(self.value("atoll_site_cpus", site="local"), 0)
        self.assertEqual(self.value("atoll_site_cpus_used", site="local"), 0)
        self.assertGreater(self.value("atoll_site_memory_bytes", site="local"), 0)
        self.assertEqual(self.value("atoll_site_devices", site="local", kind="gpu", model="a100"), 2)

    def test_the_process_is_the_server(self):
        pid = self.atoll.server_pids()[0]

        def seen_from_outside():
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                resident = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))
            return abs(self.value("process_resident_memory_bytes") - resident) < resident / 2

        wait_for(seen_from_outside, "the metric to be the server's memory")
        for name in ("process_cpu_seconds_total", "process_open_fds", "process_max_fds", "process_start_time_seconds"):
            self.assertGreater(self.value(name), 0, name)


if __name__ == "__main__":
    sys.exit(unittest.main())
