"""An interactive request on a machine that is full of opportunistic work: from asking to the first line it runs.

Whoever has to go needs a second to save itself, so nobody could start sooner than that. Beside it the same request on
a machine that has room: what remains is our own part.
"""

import os
import time
from pathlib import Path

from peers import Atoll

ASKED = int(os.environ.get("BENCH_ASKED", "40"))
SLOTS = 4
SAVES = 1.0  # seconds
VICTIM = f"""\
#!/bin/sh
trap 'sleep {SAVES}; echo saved >"$ATOLL_CHECKPOINT_DIR/at"; exit 85' TERM
echo here
while :; do sleep 0.05; done
"""


def started_after(server, number):
    """Asks, and returns the seconds until the request's own process looks at the clock."""
    note = server.home / f"started-{number}"
    body = {"namespace": "default", "cpus": 1, "tier": "interactive",
            "command": ["sh", "-c", f"date +%s.%N >{note}.new; mv {note}.new {note}"]}
    asked = time.time()
    server.api("POST", "/api/v1/jobs", body)
    while not note.exists():
        time.sleep(0.005)
    return float(note.read_text()) - asked


def is_full(server):
    tiers = {tier["name"]: tier for tier in server.json("tier")["tiers"]}
    return tiers["opportunistic"]["running"] == SLOTS


def measure(full):
    with Atoll(f"sites:\n  local: {{cpus: {SLOTS}, memory: 8Gi}}\n") as server:
        if full:
            script = Path(server.home) / "victim.sh"
            script.write_text(VICTIM)
            server.submit("--tier", "opportunistic", "--cpus", "1", "--grace", "30s", "--array", f"1-{SLOTS}", script)
        waits = []
        for number in range(ASKED):
            while full and not is_full(server):
                time.sleep(0.02)
            time.sleep(0.3)  # they have set their traps
            waits.append(started_after(server, number))
        return sorted(waits)


def main():
    print(f"{ASKED} interactive requests, one after the other; {SLOTS} slots")
    for what, full in (("with room", False), (f"full, {SAVES:.0f} s to save", True)):
        waits = measure(full)
        at = lambda share: waits[min(len(waits) - 1, int(share * len(waits)))]  # noqa: E731
        bar = "bar <= 1.5" if full else ""
        print(f"{what:<24} median {at(0.5):6.3f} s   p95 {at(0.95):6.3f} s   worst {waits[-1]:6.3f} s   {bar}", flush=True)


if __name__ == "__main__":
    main()
