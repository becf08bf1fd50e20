"""accasim as an outside yardstick of the yardsticks: first come first served, and EASY backfill, on the same trace.

A job takes cores of one node in both. The program sharing_bench has the comparison with ours.
"""

import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

import peers

JOBS, NODES, CORES = 20_000, 20, 32  # accasim takes minutes for the program's own 100,000


def part(values, of):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(of * len(ordered)) - 1)]


def smallest_quarter(trace):
    """Jobs by cores times run time, as the program sorts them."""
    sizes = []
    for line in trace.read_text().splitlines():
        if not line.startswith(";"):
            fields = [int(field) for field in line.split()]
            sizes.append((fields[7] * fields[3], fields[0]))
    return {number for _, number in sorted(sizes)[: len(sizes) // 4]}


def main():
    python = peers.peer_python()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "month.swf")
        with trace.open("w") as out:
            subprocess.run([peers.BIN / "atoll", "simulate", "generate", "--jobs", str(JOBS), "--nodes", str(NODES)],
                           stdout=out, check=True)
        small = smallest_quarter(trace)
        print(f"{'accasim 1.1.3':<38} {'mean [s]':>12} {'median [s]':>12} {'p95 [s]':>12} {'p95, quarter 1':>15} {'spent [s]':>10}")
        for method in ("fcfs", "easy"):
            began = time.monotonic()
            done = subprocess.run([python, Path(__file__).with_name("accasim_waits.py"), trace, str(NODES), str(CORES), method],
                                  capture_output=True, text=True, check=True)
            waits = {int(job): wait for job, wait in json.loads(done.stdout.splitlines()[-1]).items()}
            values = list(waits.values())
            print(f"{method:<38} {sum(values) / len(values):12,.0f} {part(values, 0.5):12,} {part(values, 0.95):12,} "
                  f"{part([waits[job] for job in small if job in waits], 0.95):15,} {time.monotonic() - began:10.0f}", flush=True)

        subprocess.run([peers.BIN / "sharing_bench", str(JOBS), str(NODES)], check=True)


main()
