"""What the tasks of an array write, as `run` and `logs` show it."""

import signal
import subprocess
import unittest

from atoll import PROGRAM, Atoll, wait_for


class ArrayLogs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 8, memory: 4Gi}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def test_run_shows_each_line_behind_its_task_and_returns_zero_when_all_succeeded(self):
        done = self.atoll.cli("run", "--array", "1-5", "--", "sh", "-c",
                              "printf 'a%s\\nb' $ATOLL_ARRAY_INDEX; sleep 0.1; printf 'c\\nrest'; echo e >&2")
        job = self.atoll.cli("ps", "-aq", "--limit", "1").stdout.strip()
        expected = sorted(f"{job}[{i}] | {line}" for i in range(1, 6) for line in (f"a{i}", "bc", "rest"))
        self.assertEqual(sorted(done.stdout.splitlines()), expected)
        self.assertEqual(sorted(done.stderr.splitlines()), [f"{job}[{i}] | e" for i in range(1, 6)])

    def test_run_returns_one_when_a_task_failed(self):
        done = self.atoll.cli("run", "--array", "3,7-8", "--", "sh", "-c", "echo $ATOLL_ARRAY_INDEX; test $ATOLL_ARRAY_INDEX != 7",
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(sorted(line.split("| ")[1] for line in done.stdout.splitlines()), ["3", "7", "8"])
        self.assertIn("3/3 (1 failed)", done.stderr)

    def test_more_tasks_than_are_followed_at_once(self):
        done = self.atoll.cli("run", "--array", "1-40", "--cpus", "0.2", "--", "sh", "-c", "echo $ATOLL_ARRAY_INDEX")
        self.assertEqual(len(done.stdout.splitlines()), 40)
        self.assertNotIn("INDEX]", done.stderr)

    def test_the_first_hundred_are_shown_and_the_others_are_named(self):
        done = self.atoll.cli("run", "--array", "1-105", "--cpus", "0.1", "--", "sh", "-c", "echo $ATOLL_ARRAY_INDEX")
        self.assertEqual(len(done.stdout.splitlines()), 100)
        self.assertIn("first 100 of 105 tasks", done.stderr)
        job = self.atoll.cli("ps", "-aq", "--limit", "1").stdout.strip()
        self.assertIn(f"atoll logs '{job}[INDEX]'", done.stderr)
        self.assertEqual(self.atoll.job(job)["outcome"], "succeeded")

    def test_logs_of_an_array_are_in_order_and_leave_out_what_has_not_started(self):
        gate = self.atoll.home / "gate"
        job = self.atoll.submit("--array", "1-3%2", "--", "sh", "-c",
                                f"echo $ATOLL_ARRAY_INDEX.1; echo $ATOLL_ARRAY_INDEX.2; while ! test -e {gate}; do sleep 0.05; done")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        wait_for(lambda: len(self.atoll.logs(job).splitlines()) == 4, "two tasks to write")
        self.assertEqual(self.atoll.logs(job), "".join(f"{job}[{i}] | {i}.{n}\n" for i in (1, 2) for n in (1, 2)))
        self.assertEqual(self.atoll.cli("logs", "--tail", "1", job).stdout, f"{job}[1] | 1.2\n{job}[2] | 2.2\n")
        gate.touch()
        followed = self.atoll.cli("logs", "-f", job)
        self.assertEqual(len(followed.stdout.splitlines()), 6)

    def test_ctrl_c_detaches_from_an_array_that_writes(self):
        out, err = self.atoll.home / "out", self.atoll.home / "err"
        with open(out, "w") as to_out, open(err, "w") as to_err:
            process = subprocess.Popen([str(PROGRAM), "run", "--name", "detach", "--array", "1-2", "--", "sh", "-c",
                                        "echo begun; exec sleep 1000"], env=self.atoll.env, stdout=to_out, stderr=to_err)
        self.addCleanup(process.kill)
        job = wait_for(lambda: self.atoll.cli("ps", "-q", "--name", "detach").stdout.strip(), "the job")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        wait_for(lambda: "begun" in out.read_text(), "a line of its output")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)
        self.assertIn(f"atoll logs -f {job}", err.read_text())
        self.assertEqual(self.atoll.job(job)["state"], "running")


if __name__ == "__main__":
    unittest.main()
