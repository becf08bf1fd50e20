"""What the command line answers: to people in tables, to programs in JSON, to shells in exit codes."""

import json
import tempfile
import unittest
from pathlib import Path

from atoll import Atoll, wait_for


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 4, memory: 4Gi}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def ended(self, *command, args=()):
        job = self.atoll.submit(*args, "--", *command)
        self.atoll.wait_job(job)
        return job

    def running(self, *command):
        job = self.atoll.submit("--", *command)
        wait_for(lambda: self.atoll.job(job)["state"] == "running", "it to run")
        self.addCleanup(self.atoll.cli, "cancel", job, "--grace", "0s", check=False)
        return job

    def test_an_array_names_its_failed_tasks(self):
        job = self.ended("sh", "-c", "exit $((ATOLL_ARRAY_INDEX % 3))", args=("--array", "1-6", "--cpus", "0.5"))
        shown = self.atoll.cli("show", job).stdout
        self.assertRegex(shown, r"array +1-6")
        self.assertIn("6 in all, 2 succeeded, 4 failed", shown)
        for index in (1, 2, 4, 5):
            self.assertIn(f"{job}[{index}]", shown)
        self.assertNotIn(f"{job}[3]", shown)
        failed = self.atoll.cli("show", "--failed", job, "-q").stdout.split()
        self.assertEqual(failed, [f"{job}[{index}]" for index in (1, 2, 4, 5)])
        task = self.atoll.cli("show", f"{job}[1]").stdout
        self.assertIn("WALL", task)
        self.assertIn("PEAK MEM", task)

    def test_attempts_are_named_as_they_are_printed(self):
        job = self.ended("sh", "-c", "echo attempt $ATOLL_ATTEMPT; test $ATOLL_ATTEMPT = 2", args=("--retries", "2"))
        self.assertEqual(self.atoll.cli("logs", f"{job}.1").stdout, "attempt 1\n")
        self.assertEqual(self.atoll.cli("logs", f"{job}.2").stdout, "attempt 2\n")
        self.assertEqual(self.atoll.json("show", f"{job}.1")["outcome"], "failed")
        self.assertEqual(self.atoll.json("show", f"{job}.2")["outcome"], "succeeded")
        self.assertIn("no attempt 3", self.atoll.cli("show", f"{job}.3", check=False).stderr)
        array = self.ended("sh", "-c", "echo task $ATOLL_ARRAY_INDEX", args=("--array", "7-8", "--cpus", "0.5"))
        self.assertEqual(self.atoll.cli("logs", f"{array}[7].1").stdout, "task 7\n")
        self.assertEqual(self.atoll.cli("logs", "last[8]").stdout, "task 8\n")
        refused = self.atoll.cli("cancel", f"{array}[7].1", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("names one attempt", refused.stderr)

    def test_states_and_outcomes_are_listed_together(self):
        failed = self.ended("false", args=("--label", "list=mine"))
        fine = self.ended("true", args=("--label", "list=mine"))
        held = self.atoll.submit("--hold", "--label", "list=mine", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", held, check=False)

        def listed(*args):
            return self.atoll.cli("ps", "--label", "list=mine", "-q", *args).stdout.split()

        self.assertEqual(listed("--state", "waiting,failed"), [held, failed])
        self.assertEqual(listed("--state", "failed,succeeded"), [fine, failed])
        self.assertEqual(listed("--since", "1h"), [held, fine, failed])
        self.assertEqual(listed(), [held])
        refused = self.atoll.cli("ps", "--state", "bogus", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("running", refused.stderr)
        self.assertIn("timed_out", refused.stderr)

    def test_json_is_one_document(self):
        submitted = json.loads(self.atoll.cli("submit", "-o", "json", "--", "true").stdout)
        first = submitted["id"]
        second = self.ended("true")
        self.atoll.wait_job(first)
        self.assertEqual([job["id"] for job in self.atoll.json("show", first, second)], [first, second])
        self.assertEqual(self.atoll.json("show", first)["id"], first)
        self.assertEqual([job["id"] for job in self.atoll.json("wait", first, second)], [first, second])
        held = [self.atoll.submit("--hold", "--", "true") for _ in range(2)]
        self.assertEqual([done["id"] for done in self.atoll.json("cancel", *held)], held)
        self.assertIsInstance(self.atoll.json("events"), list)
        up = self.atoll.json("up")
        self.assertEqual((up["url"], up["pid"], up["home"]), (self.atoll.url, *self.atoll.server_pids(), str(self.atoll.home)))

    def test_events_say_who_asked_and_name_attempts_as_show_does(self):
        job = self.ended("sh", "-c", "exit 3")
        who = self.atoll.cli("whoami", "-q").stdout.strip()
        lines = self.atoll.cli("events", "--job", job).stdout.splitlines()
        self.assertEqual(lines[0].split(), ["SEQ", "TIME", "BY", "EVENT", "WHAT"])
        self.assertRegex(lines[1], rf" {who} +job_submitted +{job} ")
        self.assertTrue(any(f" {job}.1  " in line for line in lines), lines)
        self.assertFalse(any(f"{job}[0]" in line for line in lines), lines)
        told = [event["data"].get("attempt") for event in self.atoll.json("events", "--job", job)]
        self.assertIn(f"{job}.1", told)
        array = self.ended("true", args=("--array", "0"))
        told = [event["data"].get("attempt") for event in self.atoll.json("events", "--job", array)]
        self.assertIn(f"{array}[0].1", told)

    def test_an_array_tells_how_many_may_run_at_once(self):
        job = self.atoll.submit("--hold", "--array", "1-9%2", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        self.assertRegex(self.atoll.cli("show", job).stdout, r"array +1-9, at most 2 at a time\n")
        self.assertEqual(self.atoll.json("show", job)["parallel_max"], 2)
        self.atoll.cli("change", job, "--parallel-max", "0")
        self.assertRegex(self.atoll.cli("show", job).stdout, r"array +1-9\n")

    def test_the_default_namespace_stays_and_others_are_named_when_they_are_not_there(self):
        self.assertIn("default", self.atoll.cli("ns", "delete", "default", "--yes", check=False).stderr)
        self.assertEqual(self.atoll.json("ns", "show", "default")["name"], "default")
        refused = self.atoll.cli("submit", "-n", "mars", "--", "true", check=False)
        self.assertIn('there is no namespace "mars"', refused.stderr)

    def test_run_tells_why_a_job_was_killed(self):
        hog = "b = []\nwhile True: b.append(bytearray(1 << 20))"
        done = self.atoll.cli("run", "--mem", "64Mi", "--", "python3", "-c", hog, check=False)
        self.assertEqual(done.returncode, 137)
        self.assertIn("memory", done.stderr)
        done = self.atoll.cli("run", "--", "sh", "-c", "kill -9 $$", check=False)
        self.assertIn("signal 9", done.stderr)
        self.assertEqual(self.atoll.cli("run", "--", "sh", "-c", "exit 4", check=False).stderr, "")

    def test_exec_out_of_time_is_124(self):
        job = self.running("sleep", "60")
        self.assertEqual(self.atoll.cli("exec", job, "--timeout", "300ms", "--", "sleep", "60", check=False).returncode, 124)
        late = self.atoll.api("POST", f"/api/v1/jobs/{job}/exec", {"command": ["sleep", "60"], "timeout": "300ms"})
        self.assertEqual((late.status, late.json["code"]), (504, "timeout"))
        missing = self.atoll.api("POST", f"/api/v1/jobs/{self.ended('true')}/exec", {"command": ["true"]})
        self.assertEqual((missing.status, missing.json["code"]), (409, "conflict"))
        refused = self.atoll.cli("exec", job, "--timeout", "11m", "--", "true", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("10m", refused.stderr)

    def test_a_skipped_job_says_so_once(self):
        failed = self.ended("false")
        after = self.atoll.submit("--after", failed, "--", "true")
        self.assertEqual(self.atoll.cli("wait", after, check=False).stderr.count("skipped"), 1)

    def test_cp_takes_directories_and_writes_to_standard_output(self):
        job = self.running("sleep", "60")
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            (data / "deep").mkdir(parents=True)
            (data / "a").write_text("A")
            (data / "deep/b").write_bytes(b"\x00B")
            self.atoll.cli("cp", data, f"{job}:")
            self.atoll.cli("cp", f"{data}/", f"{job}:in/other")
        self.assertEqual(self.atoll.cli("cp", f"{job}:data/a", "-").stdout, "A")
        self.assertEqual(self.atoll.cli("cp", f"{job}:in/other/deep/b", "-").stdout, "\x00B")
        self.assertEqual(self.atoll.cli("cp", f"{job}:data", "-", check=False).returncode, 2)

    def test_backup_and_restore_say_what_they_do(self):
        refused = self.atoll.cli("backup", "/no/such/place/b.atoll", check=False)
        self.assertIn("/no/such/place does not exist", refused.stderr)
        self.assertNotIn("atoll.db", refused.stderr)
        with tempfile.TemporaryDirectory() as folder:
            self.atoll.cli("backup", f"{folder}/b.atoll")
            restored = self.atoll.cli("restore", f"{folder}/b.atoll", "--home", f"{folder}/home").stdout
            self.assertIn(f"restored {folder}/b.atoll into {folder}/home", restored)

    def test_backup_restore_and_down_are_documents_for_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/b.atoll"
            self.assertEqual(self.atoll.json("backup", file), {"file": file, "bytes": Path(file).stat().st_size})
            with Atoll(up=False) as other:
                home = str(other.home / "new")
                self.assertEqual(self.atoll.json("restore", file, "--home", home), {"file": file, "home": home})
        with Atoll() as other:
            stopped = {"home": str(other.home), "pid": other.server_pids()[0], "stopped": True}
            self.assertEqual(other.json("down"), stopped)
            self.assertEqual(other.json("down"), {**stopped, "pid": None, "stopped": False})

    def test_up_on_a_running_server_says_what_it_ignores(self):
        again = self.atoll.cli("up", "--listen", "127.0.0.1:1", "--timeout", "10s")
        self.assertIn("already running", again.stdout)
        self.assertIn("--listen 127.0.0.1:1 is ignored", again.stderr)

    def test_help_and_whoami(self):
        self.assertEqual(self.atoll.cli("help", "submit").stdout, self.atoll.cli("submit", "--help").stdout)
        self.assertIn("default (", self.atoll.cli("whoami").stdout)
        self.assertTrue(self.atoll.json("whoami")["name"])


if __name__ == "__main__":
    unittest.main()
