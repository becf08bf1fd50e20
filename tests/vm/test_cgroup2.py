"""The local site on Debian's own kernel with control groups of version 2, in a virtual machine (machine.py)."""

import json
import os
import unittest

from machine import Machine

# What depends on control groups. Everything else is the same on any kernel and runs in the unit suite.
CASES = ("Limits/Faults.*/cgroups:LocalFixture.AGroup*:Local.ThePeakIsThatOfAllProcessesTogether:Local.ExecJoins*"
         ":Local.*Sandbox*:Sites/SiteContract.*/local:-Sites/SiteContract.TwoHundred*")

SCRIPT = """
build/bin/site_tests --gtest_filter='%(cases)s' --gtest_output=json:/results/cases.json >/results/cases.txt 2>&1
find /sys/fs/cgroup -name 'atoll-*' -type d >/results/left-over

export ATOLL_HOME=/tmp/home
build/bin/atoll up
build/bin/atoll doctor -o json >/results/doctor.json
build/bin/atoll run --mem 64Mi -- python3 -c 'x = bytearray(300 << 20)'; echo $? >/results/hog
build/bin/atoll run --cpus 0.2 --time 1m -- timeout 4 sh -c 'while :; do :; done'
build/bin/atoll show last -o json >/results/limited.json
build/bin/atoll show 1 -o json >/results/hog.json
build/bin/atoll down
"""


@unittest.skipUnless(os.geteuid() == 0, "needs root: the virtual machine reads the root of this one")
class ControlGroupsOfVersionTwo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = Machine()
        cls.addClassCleanup(cls.machine.close)
        cls.status, cls.output = cls.machine.run(SCRIPT % {"cases": CASES}, seconds=900)

    def result(self, name):
        file = self.machine.results / name
        self.assertTrue(file.exists(), f"the script left no {name}\n{self.output[-4000:]}")
        return file.read_text()

    def test_the_sites_own_cases_hold(self):
        cases = json.loads(self.result("cases.json"))
        self.assertGreater(cases["tests"], 20)
        self.assertEqual(cases["failures"], 0, self.result("cases.txt")[-6000:])

    def test_no_group_is_left_over(self):
        self.assertEqual(self.result("left-over"), "")

    def test_the_doctor_says_which_version_is_in_force(self):
        self.assertIn("control groups of version 2", self.result("doctor.json"))

    def test_memory_beyond_the_limit_ends_the_job(self):
        self.assertNotEqual(self.result("hog").strip(), "0", self.output)
        self.assertIn("memory", json.loads(self.result("hog.json"))["message"])

    def test_a_share_of_a_core_is_all_a_job_gets(self):
        attempt = json.loads(self.result("limited.json"))["attempts"][0]
        self.assertLess(attempt["cpu_seconds"], 0.4 * attempt["wall_seconds"], attempt)


if __name__ == "__main__":
    unittest.main()
