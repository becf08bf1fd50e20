"""examples/README.md, held to its word."""

import re
import shutil
import subprocess
import tempfile
import unittest

from atoll import PROGRAM, ROOT, Atoll

EXAMPLES = ROOT / "examples"


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll()
        cls.addClassCleanup(cls.atoll.destroy)

    def test_hello_shows_its_steps(self):
        printed = self.atoll.cli("run", EXAMPLES / "01-hello/hello.sh").stdout
        self.assertIn("step 5 of 5\ndone\n", printed)

    def test_array_tasks_see_their_index(self):
        job = self.atoll.submit(EXAMPLES / "02-array/squares.sh")
        self.atoll.cli("wait", job)
        self.assertEqual(self.atoll.job(job)["outcome"], "succeeded")
        self.assertEqual(self.atoll.logs(f"{job}[7]"), "7 squared is 49\n")

    def test_checkpoint_resumes_until_it_is_through(self):
        printed = self.atoll.cli("run", EXAMPLES / "03-checkpoint/count.sh").stdout
        for line in ("attempt 1 starts at 0", "attempt 2 resumes at 10", "attempt 3 resumes at 20", "reached 30"):
            self.assertIn(line, printed)

    def test_dependencies_run_in_order(self):
        done = subprocess.run([EXAMPLES / "04-dependencies/pipeline.sh"], env={**self.atoll.env, "ATOLL": str(PROGRAM)},
                              capture_output=True, text=True, timeout=60)
        self.assertIn("the sum is 5050\n", done.stdout, done.stderr)

    def test_quotas_as_a_file(self):
        for flags in (("--dry-run",), ("--yes",)):
            printed = self.atoll.cli("apply", "-f", EXAMPLES / "05-sharing/platform.yaml", *flags).stdout
            self.assertIn("+ cohort physics {parent: institute, weight: 2, quota: {cpu: 32}}\n", printed)
            self.assertIn("+ namespace genomes ", printed)
        self.assertIn("nothing to change", self.atoll.cli("apply", "-f", EXAMPLES / "05-sharing/platform.yaml").stdout)

    def test_work_makes_room_and_resumes(self):
        done = subprocess.run([EXAMPLES / "05-sharing/yield.sh"], env={**self.atoll.env, "ATOLL": str(PROGRAM)},
                              capture_output=True, text=True, timeout=120)
        self.assertIn("somebody sits here now\n", done.stdout, done.stderr)
        saved = re.search(r"asked to go: .*\nsaved at (\d+)\n", done.stdout)
        self.assertTrue(saved, done.stdout)
        self.assertIn(f"resumes at {saved[1]}\n", done.stdout)
        self.assertTrue(done.stdout.endswith("reached 100\n"), done.stdout)

    def test_a_schedule_runs_each_second_until_it_is_paused(self):
        done = subprocess.run([EXAMPLES / "12-schedule/schedule.sh"], env={**self.atoll.env, "ATOLL": str(PROGRAM)},
                              capture_output=True, text=True, timeout=120)
        self.assertRegex(done.stdout, r"\A(made for 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\n){3}paused\n\Z", done.stderr)

    def test_two_policies_are_compared(self):
        done = subprocess.run([EXAMPLES / "06-simulate/compare.sh"], env={**self.atoll.env, "ATOLL": str(PROGRAM)},
                              capture_output=True, text=True, timeout=120)
        self.assertRegex(done.stdout, r"MEASURE +1: even.yaml +2: lent.yaml", done.stderr)
        self.assertRegex(done.stdout, r"evictions +0 +[1-9]")

    def test_a_queue_gives_each_frame_to_one_worker(self):
        done = subprocess.run([EXAMPLES / "07-queue/frames.sh"], env={**self.atoll.env, "ATOLL": str(PROGRAM)},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(sorted(re.findall(r"rendered frame (\d+)\n", done.stdout), key=int),
                         [str(i) for i in range(1, 13)], done.stderr)
        self.assertIn("done 12, given back 1\n", done.stderr)
        self.assertRegex(done.stdout, r"Done +12")

    def test_a_workflow_fits_a_line_and_keeps_what_is_the_same(self):
        with tempfile.TemporaryDirectory() as scratch:
            file = shutil.copy(EXAMPLES / "08-workflow/fit.yaml", scratch)
            first = self.atoll.cli("run", file).stderr
            self.assertIn("4 of 4 steps succeeded\n", first)
            steps = {step["name"]: step for step in self.atoll.json("workflow", "steps", "last")}
            self.assertEqual(steps["fit"]["tasks"]["succeeded"], 6)
            self.assertEqual(self.atoll.logs(steps["report"]["job"]), "rate=0.5 epochs=200: y = 3.01 x + 1.00\n")
            self.assertIn("the same as in workflow", self.atoll.cli("run", file).stderr)
            self.assertIn("fit succeeded", self.atoll.cli("run", file, "--only", "fit").stderr)
            refused = self.atoll.cli("run", file, "--set", "error=0.0001", check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("check failed", refused.stderr)

    def test_workers_fetch_what_a_queue_lists(self):
        done = subprocess.run([EXAMPLES / "10-feed/fetch.sh"], env={**self.atoll.env, "ATOLL": str(PROGRAM)},
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 of 2 steps succeeded\n", done.stderr)
        self.assertEqual(len(re.findall(r"part-\d+\.txt", done.stdout)), 24, done.stdout)
        steps = {step["name"]: step for step in self.atoll.json("workflow", "steps", "last")}
        self.assertRegex(self.atoll.logs(steps["report"]["job"]), r"^fetched 24 files, \d+ bytes\n$")

    def test_a_cloudmesh_workflow_adds_up(self):
        work = EXAMPLES / "09-cloudmesh/work"
        self.addCleanup(shutil.rmtree, work, ignore_errors=True)
        done = self.atoll.cli("run", EXAMPLES / "09-cloudmesh/flood.yaml")
        self.assertIn("7 of 7 steps succeeded", done.stderr)
        self.assertEqual((work / "total.txt").read_text(), "15150\n")


if __name__ == "__main__":
    unittest.main()
