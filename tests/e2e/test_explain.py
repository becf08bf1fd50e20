"""Why a job waits, when it is expected to start, and where and when one would, on the real binary."""

import concurrent.futures
import json
import time
import unittest

from atoll import Atoll, all_pids, exe, parent, wait_for


def seconds_from_now(rfc3339):
    """What the server says, against the clock here."""
    whole = rfc3339.rstrip("Z").split(".")[0]
    return time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) - time.timezone - time.time()


def dry_run(atoll, *args):
    """What is said of the one job."""
    return json.loads(atoll.cli("submit", "--dry-run", "-o", "json", *args).stdout)["jobs"][0]


class FullMachine(unittest.TestCase):
    """Two cores; somebody has both for an hour."""

    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites: {local: {cpus: 2}}\n")
        cls.addClassCleanup(cls.atoll.destroy)
        cls.first = cls.submit(cls, "--cpus", "2", "--time", "1h", "--", "sleep", "3000")
        wait_for(lambda: cls.atoll.job(cls.first)["state"] == "running", "the machine to be full")

    def submit(self, *args):
        return self.atoll.submit(*args)

    def jobs(self):
        return len(self.atoll.json("ps", "--all"))

    def test_a_dry_run_says_when_and_submits_nothing(self):
        before = self.jobs()
        tried = dry_run(self.atoll, "--cpus", "1", "--time", "10m", "--", "true")
        self.assertEqual(tried["reason"], "capacity")
        self.assertTrue(3000 < seconds_from_now(tried["starts"]) < 3700, tried)
        self.assertFalse(tried["expected_start"]["rough"])
        shown = self.atoll.cli("submit", "--dry-run", "--cpus", "1", "--", "true")
        for words in ("not now", "waiting for 1 core", "to start about "):
            self.assertIn(words, shown.stdout)
        self.assertIn("nothing was submitted", shown.stderr)
        self.assertEqual(self.jobs(), before)

    def test_a_dry_run_is_refused_as_a_submission_is(self):
        wish = ("--cpus", "64", "--", "true")
        real = self.atoll.cli("submit", *wish, check=False)
        tried = self.atoll.cli("submit", "--dry-run", *wish, check=False)
        self.assertNotEqual(real.returncode, 0)
        self.assertEqual((tried.returncode, tried.stderr), (real.returncode, real.stderr))

    def test_an_explanation_names_the_holder_and_the_expected_start(self):
        job = self.submit("--cpus", "1", "--time", "5m", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", job)
        why = self.atoll.json("explain", job)
        self.assertEqual([held["namespace"] for held in why["held_by"]], ["default"])
        self.assertTrue(3000 < seconds_from_now(why["expected_start"]["expected"]) < 3700, why)
        shown = self.atoll.cli("explain", job).stdout
        for words in ("default has 2, since ", "at the latest", "to start about ", "1 in its namespace"):
            self.assertIn(words, shown)

    def test_one_task_of_an_array_is_explained(self):
        job = self.submit("--array", "0-1", "--cpus", "2", "--time", "1h", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", job)
        why = self.atoll.json("explain", f"{job}[1]")
        self.assertEqual((why["id"], why["state"], why["reason"]), (f"{job}[1]", "waiting", "capacity"))
        self.assertTrue(6600 < seconds_from_now(why["expected_start"]["expected"]) < 7300, why)

    def test_what_is_infeasible_is_told_the_nearest_that_is_not(self):
        job = self.submit("--keep", "--cpus", "64", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", job)
        offered = self.atoll.json("explain", job)["alternatives"]
        self.assertIn("--cpus 2", [each["change"] for each in offered])

    def test_many_at_once_are_answered_or_asked_to_come_back(self):
        job = self.submit("--cpus", "1", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", job)
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            asked = list(pool.map(lambda _: self.atoll.api("GET", f"/api/v1/jobs/{job}/explain"), range(48)))
        for answer in asked:
            if answer.status == 200:
                self.assertEqual(answer.json["reason"], "capacity")
            else:
                self.assertEqual(answer.status, 503, answer.text)
                self.assertIn("too many such questions", answer.text)
        self.assertIn(200, [answer.status for answer in asked])
        self.assertEqual(self.atoll.json("explain", job)["reason"], "capacity")

    def test_no_copy_of_the_server_stays(self):
        job = self.submit("--cpus", "1", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", job)
        for _ in range(5):
            self.atoll.cli("explain", job)
        server = self.atoll.server_pids()[0]
        copies = [pid for pid in all_pids() if parent(pid) == server and exe(pid) == "atoll"]
        self.assertEqual(copies, [])


class Yielding(unittest.TestCase):
    def test_another_tier_starts_when_others_make_room_as_it_says(self):
        atoll = Atoll("sites: {local: {cpus: 2}}\n")
        self.addCleanup(atoll.destroy)
        wish = ("--cpus", "2", "--grace", "0s", "--", "sleep", "300")
        first = atoll.submit("--tier", "opportunistic", *wish)
        wait_for(lambda: atoll.job(first)["state"] == "running", "the first to run")
        job = atoll.submit("--tier", "opportunistic", *wish)
        offered = atoll.json("explain", job)["alternatives"]
        self.assertIn({"change": "--tier batch", "starts": "now", "yields": 1}, offered)
        self.assertIn("--tier batch (1 run makes room)", atoll.cli("explain", job).stdout)
        atoll.cli("cancel", job)
        changed = atoll.submit("--tier", "batch", *wish)
        wait_for(lambda: atoll.job(changed)["state"] == "running", "it to start")


class EmptyMachine(unittest.TestCase):
    def test_a_dry_run_says_where(self):
        atoll = Atoll("sites: {local: {cpus: 2}}\n")
        self.addCleanup(atoll.destroy)
        wait_for(lambda: all(site["reported"] for site in atoll.json("site", "list")), "the site to say what it has")
        tried = dry_run(atoll, "--array", "1-3", "--cpus", "1", "--", "true")
        self.assertEqual((tried["starts"], tried["site"], tried["tasks"], tried["tasks_now"]), ("now", "local", 3, 2))
        self.assertIn("2 of 3 tasks now on local/",
                      atoll.cli("submit", "--dry-run", "--array", "1-3", "--cpus", "1", "--", "true").stdout)
        self.assertEqual(atoll.json("ps", "--all"), [])


if __name__ == "__main__":
    unittest.main()
