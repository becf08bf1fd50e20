"""The life of jobs, as a user of the command line sees it."""

import json
import os
import pwd
import time
import unittest

from atoll import Atoll, all_pids, proc, wait_for


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 4, memory: 4Gi, devices: [{kind: gpu, model: a100, count: 4, simulated: true}]}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def run_job(self, *args, check=False, **options):
        return self.atoll.cli("run", *args, check=check, **options)

    def test_run_returns_the_jobs_own_exit_code_and_both_streams(self):
        done = self.run_job("--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stdout, "out\n")
        self.assertIn("err\n", done.stderr)

    def test_a_signal_becomes_128_plus_n(self):
        self.assertEqual(self.run_job("--", "sh", "-c", "kill -9 $$").returncode, 137)

    def test_a_command_that_is_not_there_is_127(self):
        done = self.run_job("--", "no-such-command-here")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-command-here", done.stderr)

    def test_it_runs_where_it_was_submitted_with_a_clean_environment(self):
        done = self.run_job("--env", "MINE=1", "--", "sh", "-c", "pwd; env", env={"LEAK": "secret"}, cwd="/usr")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "/usr")
        self.assertIn("MINE=1", lines)
        self.assertNotIn("LEAK=secret", lines)
        self.assertIn("HOME=" + pwd.getpwuid(os.getuid()).pw_dir, lines)
        everything = self.run_job("--env-all", "--", "env", env={"LEAK": "wanted"})
        self.assertIn("LEAK=wanted", everything.stdout.splitlines())

    def test_stdin_reaches_the_job(self):
        done = self.run_job("--stdin", "-", "--", "tr", "a-z", "A-Z", stdin="shout\n")
        self.assertEqual(done.stdout, "SHOUT\n")

    def test_a_virtual_environment_is_activated(self):
        venv = self.atoll.home / "venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "bin/python").symlink_to("/usr/bin/python3")
        done = self.run_job("--venv", venv, "--", "sh", "-c", "echo $VIRTUAL_ENV; command -v python")
        self.assertEqual(done.stdout.split(), [str(venv), f"{venv}/bin/python"])
        broken = self.run_job("--venv", self.atoll.home / "nowhere", "--", "true")
        self.assertNotEqual(broken.returncode, 0)

    def test_a_missing_directory_is_a_clear_error(self):
        job = self.atoll.submit("--dir", "/no/such/place", "--", "true")
        ended = self.atoll.wait_job(job)
        self.assertEqual(ended["outcome"], "failed")
        self.assertIn("/no/such/place", json.dumps(ended))

    def test_array_tasks_run_once_each_and_keep_their_output(self):
        job = self.atoll.submit("--array", "1-50", "--cpus", "0.5", "--", "sh", "-c", "echo task $ATOLL_ARRAY_INDEX")
        ended = self.atoll.wait_job(job)
        self.assertEqual(ended["outcome"], "succeeded")
        for index in (1, 17, 50):
            self.assertEqual(self.atoll.logs(f"{job}[{index}]"), f"task {index}\n")

    def test_an_index_outside_the_array_is_no_task(self):
        job = self.atoll.submit("--array", "1-4", "--", "true")
        self.atoll.wait_job(job)
        for verb in ("show", "logs", "wait", "explain"):
            done = self.atoll.cli(verb, f"{job}[9]", check=False)
            self.assertEqual(done.returncode, 1, verb)
            self.assertIn("has no task 9", done.stderr, verb)

    def test_array_limit_holds(self):
        log = self.atoll.home / "overlap"
        script = f"echo + >> {log}; n=$(grep -c + {log}); e=$(grep -c - {log}); test $((n - e)) -le 2 || touch {log}.bad; sleep 0.05; echo - >> {log}"
        job = self.atoll.submit("--array", "1-12%2", "--cpus", "0.1", "--", "sh", "-c", script)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
        self.assertFalse(os.path.exists(f"{log}.bad"))

    def test_dependencies_wait_and_failures_skip(self):
        first = self.atoll.submit("--", "sh", "-c", "sleep 0.3; exit 1")
        after = self.atoll.submit("--after", first, "--", "true")
        anyway = self.atoll.submit("--after-any", first, "--", "true")
        self.assertIn(first, self.atoll.cli("explain", after).stdout)
        self.assertEqual(self.atoll.wait_job(after)["outcome"], "skipped")
        self.assertEqual(self.atoll.wait_job(anyway)["outcome"], "succeeded")

    def test_retries_count_attempts(self):
        counter = self.atoll.home / "tries"
        job = self.atoll.submit("--retries", "3", "--", "sh", "-c", f"echo x >> {counter}; test $(wc -l < {counter}) -ge 2")
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
        self.assertEqual(counter.read_text(), "x\nx\n")

    def test_hold_change_release(self):
        job = self.atoll.submit("--hold", "--cpus", "1", "--", "true")
        self.assertEqual(self.atoll.job(job)["state"], "waiting")
        self.assertIn("held", self.atoll.cli("explain", job).stdout)
        self.atoll.cli("change", job, "--cpus", "2", "--name", "changed", "--retries", "2", "--grace", "5s")
        self.assertEqual(self.atoll.job(job)["name"], "changed")
        self.atoll.cli("release", job)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")

    def test_cancel_ends_the_whole_tree_even_a_daemon(self):
        mark = f"atoll-daemon-{os.getpid()}"
        daemon = f"setsid bash -c 'exec -a {mark} sleep 1000' & sleep 1000"
        job = self.atoll.submit("--grace", "1s", "--", "bash", "-c", daemon)
        wait_for(lambda: self.processes_named(mark), "the daemon to start")
        self.atoll.cli("cancel", job)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "cancelled")
        wait_for(lambda: not self.processes_named(mark), "the daemon to be gone")

    def test_a_daemon_left_behind_by_success_is_ended_too(self):
        mark = f"atoll-left-{os.getpid()}"
        done = self.run_job("--", "bash", "-c", f"setsid bash -c 'exec -a {mark} sleep 1000' >/dev/null 2>&1 & sleep 0.2")
        self.assertEqual(done.returncode, 0)
        wait_for(lambda: not self.processes_named(mark), "the daemon to be gone")

    def test_sigterm_then_sigkill_after_the_grace(self):
        polite = self.atoll.submit("--", "bash", "-c", "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        stubborn = self.atoll.submit("--grace", "0.3s", "--", "bash", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done")
        for job in (polite, stubborn):
            wait_for(lambda job=job: self.atoll.logs(job) == "ready\n", "the trap to be set")
            self.atoll.cli("cancel", job)
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "cancelled")
        self.assertIn("bye", self.atoll.logs(polite))

    def test_wall_time_ends_it(self):
        job = self.atoll.submit("--time", "1s", "--grace", "0.2s", "--", "sleep", "1000")
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "timed_out")

    def test_a_memory_hog_is_told_so(self):
        hog = "import sys\nb = []\nwhile True: b.append(bytearray(1 << 20))"
        job = self.atoll.submit("--mem", "64Mi", "--", "python3", "-c", hog)
        ended = self.atoll.wait_job(job)
        self.assertEqual(ended["outcome"], "failed")
        self.assertIn("memory", json.dumps(ended))

    def test_a_fork_bomb_stays_within_its_limit_and_ends(self):
        spec = {"namespace": "default", "command": ["bash", "-c", "f() { f | f & }; f; sleep 2"], "processes": 50, "time": "5s",
                "grace": "0.1s"}
        job = self.atoll.api("POST", "/api/v1/jobs", spec).json["id"]
        self.assertIn(self.atoll.wait_job(job)["state"], ("ended",))
        self.assertEqual(self.run_job("--", "echo", "alive").stdout, "alive\n")

    def test_devices_are_seen_exactly_and_never_shared(self):
        jobs = [self.atoll.submit("--gpus", "a100:2", "--cpus", "0.5", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES; sleep 0.5")
                for _ in range(2)]
        seen = []
        for job in jobs:
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
            seen += self.atoll.logs(job).strip().split(",")
        self.assertEqual(len(set(seen)), 4)
        none = self.run_job("--", "sh", "-c", "echo [$CUDA_VISIBLE_DEVICES]").stdout
        self.assertNotIn("0", none)

    def test_infeasible_is_refused_with_the_nearest_and_kept_on_request(self):
        refused = self.atoll.cli("submit", "--cpus", "64", "--", "true", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("4 cpus", refused.stderr)
        kept = self.atoll.submit("--cpus", "64", "--keep", "--", "true")
        self.assertEqual(self.atoll.job(kept)["state"], "waiting")
        self.atoll.cli("cancel", kept)

    def test_requeue_of_an_ended_job_is_its_next_attempt(self):
        job = self.atoll.submit("--", "sh", "-c", "echo attempt $ATOLL_ATTEMPT; test $ATOLL_ATTEMPT -ge 2")
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "failed")
        self.atoll.cli("requeue", job)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
        self.assertIn("attempt 2", self.atoll.logs(job))

    def test_directives_are_read_and_unknown_ones_warned_about(self):
        script = self.atoll.home / "job.sh"
        script.write_text("#!/bin/bash\n#SBATCH --job-name=from-slurm\n#SBATCH -c 2\n#SBATCH --frobnicate=1\n#ATOLL --mem=100Mi\necho $ATOLL_JOB_NAME\n")
        done = self.run_job(script)
        self.assertEqual(done.stdout, "from-slurm\n")
        self.assertIn("4", done.stderr)
        self.assertIn("frobnicate", done.stderr)

    def test_binary_output_comes_back_as_it_was(self):
        job = self.atoll.submit("--", "head", "-c", "100000", "/dev/urandom")
        self.atoll.wait_job(job)
        other = self.atoll.submit("--", "sh", "-c", "printf '\\000\\001\\377\\012'")
        self.atoll.wait_job(other)
        import http.client
        from atoll import UnixConnection
        connection = UnixConnection(str(self.atoll.home / "atoll.sock"), 10)
        connection.request("GET", f"/api/v1/jobs/{other}/logs")
        self.assertEqual(connection.getresponse().read(), b"\x00\x01\xff\n")
        connection.close()

    def test_exec_joins_a_running_job(self):
        job = self.atoll.submit("--env", "HERE=yes", "--", "sleep", "30")
        wait_for(lambda: self.atoll.job(job)["state"] == "running", "it to run")
        self.assertEqual(self.atoll.cli("exec", job, "--", "sh", "-c", "echo $HERE").stdout, "yes\n")
        self.atoll.cli("cancel", job, "--grace", "0s")

    def test_files_go_both_ways(self):
        job = self.atoll.submit("--", "sh", "-c", "echo result > $ATOLL_JOB_DIR/out.txt")
        self.atoll.wait_job(job)
        self.assertIn("out.txt", self.atoll.cli("files", job).stdout)
        copy = self.atoll.home / "copy.txt"
        self.atoll.cli("cp", f"{job}:out.txt", copy)
        self.assertEqual(copy.read_text(), "result\n")
        self.atoll.cli("cp", copy, f"{job}:back.txt")
        self.assertIn("back.txt", self.atoll.cli("files", job).stdout)
        for hostile in ("../../atoll.db", "%2e%2e/%2e%2e/atoll.db", "/etc/passwd"):
            answer = self.atoll.api("GET", f"/api/v1/jobs/{job}/files/{hostile}")
            self.assertIn(answer.status, (400, 403, 404), hostile)

    def test_lists_and_formats(self):
        label = f"run={os.getpid()}"
        job = self.atoll.submit("--name", "labelled", "--label", label, "--", "true")
        self.atoll.wait_job(job)
        listed = self.atoll.json("ps", "-a", "--label", label)
        rows = listed["jobs"] if isinstance(listed, dict) else listed
        self.assertEqual([str(row["id"]) for row in rows], [job])
        self.assertEqual(self.atoll.cli("ps", "-a", "--label", label, "-q").stdout.split(), [job])
        self.assertIn("labelled", self.atoll.cli("ps", "-a").stdout)
        self.assertNotIn("\x1b", self.atoll.cli("ps", "-a").stdout)

    def test_usage_is_recorded(self):
        job = self.atoll.submit("--", "python3", "-c", "x = bytearray(50 << 20); sum(range(3000000))")
        self.atoll.wait_job(job)
        attempts = self.atoll.api("GET", f"/api/v1/jobs/{job}/attempts").json
        last = attempts["attempts"][-1]
        self.assertGreater(last["memory_peak_bytes"], 50 << 20)
        self.assertGreater(last["cpu_seconds"], 0)

    def test_a_checkpoint_is_told_apart_from_a_failure(self):
        job = self.atoll.wait_job(self.atoll.submit("--", "sh", "-c", "test -n \"$ATOLL_RESUMED\" || exit 85"))
        self.assertEqual((job["outcome"], job["exit_code"]), ("succeeded", 0))
        self.assertEqual([attempt["checkpointed"] for attempt in job["attempts"]], [True, False])
        self.assertIn("checkpointed", self.atoll.cli("show", job["id"]).stdout)

    def test_a_job_that_runs_again_has_no_exit_code_yet(self):
        job = self.atoll.wait_job(self.atoll.submit("--", "sh", "-c", "test -e again && exec sleep 60; touch again; exit 3"))
        self.assertEqual(job["exit_code"], 3)
        self.atoll.cli("requeue", job["id"])
        running = wait_for(lambda: next((now for now in [self.atoll.json("show", job["id"])] if now["state"] == "running"), None),
                           "the second attempt")
        self.assertIsNone(running["exit_code"])
        self.assertEqual(running["attempt"], 2)
        self.atoll.cli("cancel", job["id"])

    def processes_named(self, mark):
        return [pid for pid in all_pids() if proc(pid, "cmdline").startswith(mark.encode())]


if __name__ == "__main__":
    unittest.main()
