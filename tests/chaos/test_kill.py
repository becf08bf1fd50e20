"""Promises 1 and 2 on the real binary: kill -9 of server and warden at random moments while real jobs run."""

import http.client
import os
import random
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

from atoll import alive, Atoll, exe, wait_for

JOBS = int(os.environ.get("ATOLL_CHAOS_JOBS", "2000"))
KILLS = int(os.environ.get("ATOLL_CHAOS_KILLS", "200"))
WARDEN_SHARE = 0.2  # of the kills; each costs the running tasks an attempt
SEED = int(os.environ.get("ATOLL_CHAOS_SEED", str(time.time_ns() % 1_000_000)))

# Each attempt appends one line when it starts and one when it ends; O_APPEND keeps short lines whole.
SCRIPT = """#!/bin/sh
echo "start $ATOLL_JOB_ID $ATOLL_ATTEMPT $$" >>"$TRACE"
sleep 0.0$((ATOLL_JOB_ID % 10))
echo "end $ATOLL_JOB_ID $ATOLL_ATTEMPT $$" >>"$TRACE"
"""


class KillNine(unittest.TestCase):
    def test_nothing_acknowledged_is_lost_and_nothing_runs_twice(self):
        print(f"seed {SEED}: run again with ATOLL_CHAOS_SEED={SEED} ./test chaos")
        with Atoll() as atoll:
            self.trace = Path(atoll.home / "trace")
            self.trace.touch()
            self.acknowledged = []
            self.kills = 0
            self.refusal = None
            submitter = threading.Thread(target=self.submit_all, args=(atoll,), daemon=True)
            submitter.start()
            self.kill_around(atoll)
            submitter.join()
            self.assertIsNone(self.refusal)
            ended = self.wait_all_ended(atoll)
            self.check_history(ended)
            self.check_no_orphans(atoll)

    def submit_all(self, atoll):
        """One request per job with a key of its own, repeated until it is acknowledged; spread over all the kills."""
        for number in range(JOBS):
            while number / JOBS > self.kills / KILLS + 0.05 and self.kills < KILLS:
                time.sleep(0.005)
            body = {"name": f"chaos-{number}", "script": SCRIPT, "env": {"TRACE": str(self.trace)},
                    "cpus": 0.1, "memory": "16Mi", "directory": str(atoll.home)}
            while self.refusal is None:
                try:
                    answer = atoll.api("POST", "/api/v1/jobs", body, {"Idempotency-Key": f"chaos-{number}"}, timeout=10)
                except (OSError, http.client.HTTPException):  # the server is being killed
                    time.sleep(0.01)
                    continue
                if answer.status in (200, 201):
                    self.acknowledged.append(answer.json["id"])
                    break
                if answer.status < 500 and answer.status != 429:
                    self.refusal = f"job {number} was refused: {answer.status} {answer.text}"

    def kill_around(self, atoll):
        """Kills and starts again until both the kills and the submissions are through."""
        chance = random.Random(SEED)
        kills = Counter()
        while self.refusal is None and (self.kills < KILLS or len(self.acknowledged) < JOBS):
            time.sleep(chance.uniform(0.0, 0.25))
            if self.kills < KILLS:
                victim = "warden" if chance.random() < WARDEN_SHARE else "server"
                kills[victim] += atoll.kill_warden() if victim == "warden" else atoll.kill_server()
                self.kills = kills.total()
                if victim == "server":
                    atoll.up()
        print(f"killed {dict(kills)}, {len(self.acknowledged)} jobs acknowledged")

    def wait_all_ended(self, atoll):
        jobs = self.acknowledged
        ended = {}

        def all_ended():
            for job in jobs:
                if str(job) not in ended:
                    found = atoll.job(job)
                    if found["state"] != "ended":
                        return False
                    ended[str(job)] = found
            return True

        wait_for(all_ended, "all acknowledged jobs to end", seconds=600, pause=0.2)
        return ended

    def check_history(self, ended):
        """Every start in the trace is an attempt of the record, at most once; a success ran to its end. An attempt that
        came after another is there only because the one before was recorded as lost."""
        starts, ends = Counter(), Counter()
        for line in self.trace.read_text().splitlines():
            kind, job, attempt, _ = line.split()
            (starts if kind == "start" else ends)[(job, int(attempt))] += 1
        twice = [key for key, count in starts.items() if count > 1]
        self.assertEqual(twice, [], "attempts that were started twice")
        self.assertEqual({job for job, _ in starts} - set(ended), set(), "jobs ran that nobody was told about")
        for job, found in ended.items():
            # One that was handed back before it began is an attempt of the record, but not a run.
            runs = [attempt for attempt in found["attempts"] if attempt["cause"] != "recalled"]
            self.assertIn(found["outcome"], ("succeeded", "lost"), found)
            self.assertLessEqual(max((n for j, n in starts if j == job), default=0), len(runs), found)
            self.assertEqual({run["outcome"] for run in runs[:-1]} - {"lost"}, set(), f"it ran again for no reason: {found}")
            if found["outcome"] == "succeeded":
                self.assertEqual(ends[(job, len(runs))], 1, f"its last attempt did not run to its end: {found}")

    def check_no_orphans(self, atoll):
        def left():
            daemons = ("atoll", "atoll-warden")  # the server, the warden and its keepers
            return [pid for pid in atoll.processes() if exe(pid) not in daemons and alive(pid)]

        wait_for(lambda: not left(), "no process to be left of any job", seconds=30)


if __name__ == "__main__":
    unittest.main()
