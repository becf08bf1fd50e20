"""Promise 7 on the real binary: kill -9 of server, warden and client at random moments of a workflow of 1,000 steps."""

import http.client
import os
import random
import subprocess
import threading
import time
import unittest
from collections import Counter

from atoll import PROGRAM, Atoll, alive, exe, wait_for

LAYERS, WIDTH = 20, 50
STEPS = LAYERS * WIDTH
KILLS = {"server": 30, "client": 20, "warden": 3}  # a step may lose three attempts to wardens that died, not four
SEED = int(os.environ.get("ATOLL_CHAOS_SEED", str(time.time_ns() % 1_000_000)))

# NAME VALUE EXPECTED NEED…: an attempt appends a line when it starts and one when it ends, and one for each thing that is
# not as it must be. O_APPEND keeps short lines whole.
SCRIPT = """#!/bin/sh
name=$1 value=$2 expected=$3
shift 3
echo "start $name $ATOLL_ATTEMPT" >>trace
[ "$value" = "$expected" ] || echo "wrong $name: $value is not $expected" >>trace
for need; do [ -e "done/$need" ] || echo "early $name: $need has not ended" >>trace; done
: >"done/$name"
echo "end $name $ATOLL_ATTEMPT" >>trace
"""


def name(layer, place):
    return f"s{layer}-{place}"


def needs_of(layer, place):
    """Two neighbours of the layer before; every fifth layer begins behind all of it, and ends in one step for all."""
    if layer == 0:
        return []
    if layer % 5 == 0:
        return [name(layer - 1, i) for i in range(WIDTH)]
    return [name(layer - 1, place), name(layer - 1, (place + 7) % WIDTH)]


def flow():
    """Every tenth step leaves a value, which the step behind it reads."""
    lines = ["name: chaos", "defaults: {resources: {cpus: 0.25, memory: 16Mi}}", "steps:"]
    for layer in range(LAYERS):
        for place in range(WIDTH):
            me, needs = name(layer, place), needs_of(layer, place)
            reads = layer > 0 and place % 10 == 0
            value = f"'{{steps.{name(layer - 1, place)}.outputs.v}}'" if reads else "-"
            expected = f"left-{name(layer - 1, place)}" if reads else "-"
            call = f"sh step.sh {me} {value} {expected} {' '.join(needs)}"
            leaves = f"; echo left-{me} >$ATOLL_OUTPUTS/v" if place % 10 == 0 else ""
            lines.append(f"  {me}:\n    run: \"{call}{leaves}\"")
            if needs:
                lines.append(f"    needs: [{', '.join(needs)}]")
            if leaves:
                lines.append("    outputs: [v]")
    return "\n".join(lines) + "\n"


class KillNine(unittest.TestCase):
    def test_every_step_ends_once_and_in_order(self):
        print(f"seed {SEED}: run again with ATOLL_CHAOS_SEED={SEED} ./test chaos:workflow_kill")
        with Atoll("sites:\n  local: {cpus: 4, memory: 4Gi}\n") as atoll:
            (atoll.home / "done").mkdir()
            (atoll.home / "step.sh").write_text(SCRIPT)
            (atoll.home / "flow.yaml").write_text(flow())
            self.atoll, self.over, self.client, self.code = atoll, False, None, None
            self.number = atoll.cli("submit", "flow.yaml").stdout.strip()
            follower = threading.Thread(target=self.follow, daemon=True)
            follower.start()
            self.kill_around()
            workflow = wait_for(lambda: (found := self.look()) and found["state"] == "ended" and found, "the end", seconds=300)
            follower.join(timeout=60)
            self.assertEqual(self.code, 0, "what the client that followed it returned")
            self.check_counts(workflow)
            self.check_trace()
            self.check_no_orphans()

    def follow(self):
        """The client, started again whenever it was killed, until it has seen the end."""
        while True:
            with subprocess.Popen([PROGRAM, "workflow", "attach", self.number], env=self.atoll.env, cwd=self.atoll.home,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as self.client:
                self.code = self.client.wait()
            if self.code >= 0 and self.code != 75:
                return

    def look(self):
        """The workflow, or nothing while the server is away."""
        try:
            answer = self.atoll.api("GET", f"/api/v1/workflows/{self.number}", timeout=10)
        except (OSError, http.client.HTTPException):
            return None
        return answer.json if answer.status == 200 else None

    def kill_around(self):
        """All the kills, in a random order and spread over the steps."""
        chance = random.Random(SEED)
        victims = [victim for victim, count in KILLS.items() for _ in range(count)]
        chance.shuffle(victims)
        killed = Counter()
        for i, victim in enumerate(victims):
            far = i * STEPS * 9 // 10 // len(victims)
            wait_for(lambda far=far: (found := self.look()) and found["steps"]["succeeded"] >= far, f"{far} steps", seconds=120)
            time.sleep(chance.uniform(0.0, 0.1))
            if victim == "client":
                self.client.kill()
                killed[victim] += 1
            elif victim == "warden":
                killed[victim] += self.atoll.kill_warden()
            else:
                killed[victim] += self.atoll.kill_server()
                self.atoll.up()
        print(f"killed {dict(killed)}")

    def check_counts(self, workflow):
        self.assertEqual(workflow["outcome"], "succeeded", workflow)
        counts = workflow["steps"]
        self.assertEqual((counts["total"], counts["succeeded"]), (STEPS, STEPS), counts)
        self.steps = {each["name"]: each for each in self.atoll.json("workflow", "steps", self.number)}
        self.assertEqual(len(self.steps), STEPS)
        self.assertEqual({each["outcome"] for each in self.steps.values()}, {"succeeded"})
        self.assertEqual(len({each["job"] for each in self.steps.values()}), STEPS, "a step had more than one job")

    def check_trace(self):
        """Every step ran to its end, only after what it needs; who ran again had lost an attempt, which is told."""
        starts, ends, bad = Counter(), Counter(), []
        for line in (self.atoll.home / "trace").read_text().splitlines():
            kind, step, *rest = line.split()
            if kind in ("wrong", "early"):
                bad.append(line)
            else:
                (starts if kind == "start" else ends)[step, int(rest[0])] += 1
        self.assertEqual(bad, [])
        self.assertEqual([each for each, count in starts.items() if count > 1], [], "attempts that were started twice")
        self.assertEqual({step for step, _ in ends}, set(self.steps), "steps that ran to their end")
        for step in sorted({step for step, attempt in starts if attempt > 1} | {
                step for step, count in Counter(step for step, _ in starts).items() if count > 1}):
            job = self.atoll.job(self.steps[step]["job"])
            runs = [each["outcome"] for each in job["attempts"] if each["cause"] != "recalled"]
            self.assertEqual(set(runs[:-1]) - {"lost"}, set(), f"it ran again for no reason: {job}")
            self.assertEqual(runs[-1], "succeeded", job)

    def check_no_orphans(self):
        def left():
            return [pid for pid in self.atoll.processes() if exe(pid) not in ("atoll", "atoll-warden") and alive(pid)]

        wait_for(lambda: not left(), "no process to be left of any step", seconds=30)


if __name__ == "__main__":
    unittest.main()
