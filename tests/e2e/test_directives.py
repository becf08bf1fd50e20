"""What flags and the lines of a script say about a job, on the real program."""

import tempfile
import unittest
from pathlib import Path

from atoll import Atoll, wait_for


class Directives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll(
            "sites:\n  local: {cpus: 4, memory: 4Gi}\n  class: {kind: simulated, nodes: 2, cpus: 4, memory: 4Gi}\n"
        )
        cls.addClassCleanup(cls.atoll.destroy)

    def script(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "job.sh"
        path.write_text(text)
        return path

    def refused(self, *args):
        done = self.atoll.cli("submit", *args, "--", "true", check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_what_makes_no_sense_is_refused_precisely(self):
        self.assertIn("memory is 0; it must be at least 1Mi", self.refused("--mem", "0"))
        self.assertIn("no GPU at all", self.refused("--gpus", "a100:0"))
        self.assertIn('"1A", which is no name for a variable', self.refused("--env", "1A=3"))
        self.assertIn("no name for a variable", self.refused("--env", "A\n=c"))
        self.assertIn("no control characters", self.refused("--dir", "/tmp/\001"))
        answer = self.atoll.api("POST", "/api/v1/jobs", {"command": ["true"], "memory": 0})
        self.assertEqual(answer.status, 400)
        self.assertIn("memory is 0", answer.text)

    def test_after_waits_for_the_kind_of_end_that_is_asked_for(self):
        failed = self.atoll.submit("--", "false")
        self.atoll.wait_job(failed)
        for kind in ("after_end:", "after_failure:", "afterany:", "afternotok:"):
            job = self.atoll.submit("--after", kind + failed, "--", "true")
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded", kind)
        for args in (("--after", failed), ("--after", "after_success:" + failed), ("--after-ok", failed)):
            job = self.atoll.submit(*args, "--", "true")
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "skipped", args)

    def test_last_is_the_newest_job_also_as_a_dependency(self):
        first = self.atoll.submit("--hold", "--", "true")
        second = self.atoll.submit("--after", "after_end:last", "--cpus", ".5", "--", "true")
        self.assertEqual(self.atoll.job(second)["waits_for"], [first])
        third = self.atoll.submit("--after", f"{first},last", "--", "true")
        self.assertEqual(sorted(self.atoll.job(third)["waits_for"]), sorted([first, second]))
        self.assertEqual(self.atoll.job(second)["cpus"], 0.5)
        self.atoll.cli("release", first)
        self.assertEqual(self.atoll.wait_job(third)["outcome"], "succeeded")

    def test_a_script_takes_what_submit_takes(self):
        path = self.script(
            "#!/bin/sh\n#ATOLL --env HERE --stdin - --no-network --key once --retries 1 --retry-on 9\n"
            'echo "$HERE $(cat)"\n'
        )
        done = self.atoll.cli("run", path, env={"HERE": "seen"}, stdin="read\n")
        self.assertEqual(done.stdout, "seen read\n")
        self.assertNotIn("unknown", done.stderr)
        again = self.atoll.cli("submit", path, env={"HERE": "seen"}, stdin="read\n")
        self.assertIn("same job", again.stderr)

    def test_only_the_named_exit_codes_are_retried(self):
        for code, attempts in (("7", 2), ("8", 1)):
            job = self.atoll.submit(
                "--retries", "1", "--retry-on", "7", "--backoff", "0s", "--", "sh", "-c", "exit " + code
            )
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "failed")
            self.assertEqual(self.attempts(job), attempts)

    def attempts(self, job):
        return self.atoll.job(job)["attempt"]

    def test_a_time_out_is_retried_only_when_asked(self):
        for more, attempts in (((), 1), (("--retry-on-timeout",), 2)):
            job = self.atoll.submit(
                "--retries", "1", *more, "--backoff", "0s", "--time", "1s", "--grace", "0s", "--", "sleep", "60"
            )
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "timed_out")
            self.assertEqual(self.attempts(job), attempts)

    def test_simulation_has_a_flag(self):
        job = self.atoll.submit("--site", "class", "--simulate", "run_for=10ms,exit_code=4", "--", "train")
        ended = self.atoll.wait_job(job)
        self.assertEqual((ended["outcome"], ended["exit_code"]), ("failed", 4))
        anywhere = self.atoll.wait_job(self.atoll.submit("--simulate", "exit_code=5", "--", "no-such-program"))
        self.assertEqual((anywhere["outcome"], anywhere["exit_code"]), ("failed", 5))
        broken = self.atoll.wait_job(self.atoll.submit("--simulate", "start_error=no image, sorry", "--", "train"))
        self.assertEqual(broken["outcome"], "failed")
        self.assertIn("no image, sorry", self.atoll.cli("show", broken["id"]).stdout)

    def test_a_sandbox_ends_like_a_shell(self):
        for level in ("none", "sandbox"):
            done = self.atoll.cli("run", "--isolation", level, "--", "no-such-command", check=False, cwd="/usr")
            self.assertEqual(done.returncode, 127, level)
            self.assertIn("atoll: no-such-command: command not found", done.stderr)
            done = self.atoll.cli("run", "--isolation", level, "--", "/etc/passwd", check=False, cwd="/usr")
            self.assertEqual(done.returncode, 126, level)

    def test_a_script_for_slurm_finds_its_variables(self):
        path = self.script("#!/bin/sh\n#SBATCH --job-name=old -c 2\necho $SLURM_JOB_NAME $SLURM_CPUS_PER_TASK $SLURM_SUBMIT_DIR\n")
        done = self.atoll.cli("run", path, cwd="/usr")
        self.assertEqual(done.stdout, "old 2 /usr\n")

    def test_use_is_seen_while_it_runs(self):
        job = self.atoll.submit("--", "sh", "-c", "while :; do :; done")
        array = self.atoll.submit("--array", "3", "--", "sh", "-c", "while :; do :; done")
        for name in (job, array + "[3]"):
            path = f"/api/v1/jobs/{name}/samples".replace("[", "%5B").replace("]", "%5D")
            wait_for(lambda: len(self.atoll.api("GET", path).json["samples"]) >= 2, name, seconds=8)
        self.atoll.cli("cancel", job, array)
