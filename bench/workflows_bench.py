"""Workflows of many small steps beside Make and Snakemake, in one run on one machine, two steps at a time.

Every step makes one empty file by /bin/sh and needs two others that came before it. What a system takes beyond the time
of the steps themselves is its overhead; the steps themselves are what a bare loop of the same shell commands takes.

The files of the steps are in memory (/dev/shm): on a disk ext4 looks for a free inode for half a millisecond once its
first groups are full, and make took 0.4 s or 1.2 s for the same thousand. The server's own files are on the disk, and
synced. Single runs on a shared machine say little all the same. So the loop, make and atoll take turns for several rounds,
in another order each time, in directories of their own; the ratio of a round is of two runs that lie side by side, and
what is shown is the median of the ratios, with their range. Each round of atoll is a server of its own, new
and empty, as make begins anew each time: its keepers, too, are started within the time that counts. The time ends when
the workflow has ended by the server's own clock, so that nobody has to ask it all the while.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from peers import Atoll, Table, peer_python, rss_mib

STEPS = [int(n) for n in os.environ.get("BENCH_STEPS", "1000,10000").split(",")]
SNAKEMAKE_STEPS = int(os.environ.get("BENCH_SNAKEMAKE", "1000"))  # it is two orders slower; its rate is steady
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "0"))  # 0: seven, of more than 1,000 steps five
MEMORY = "/dev/shm"
MILLION = int(os.environ.get("BENCH_MILLION", "1000000"))


def needs(i):
    return sorted({i // 2, i // 3}) if i > 0 else []


def bare(count, directory):
    """Two shells at a time, with nothing in between."""
    lines = "".join(f": > {directory}/b{i}\\n" for i in range(count))
    began = time.monotonic()
    subprocess.run(["xargs", "-P2", "-I{}", "/bin/sh", "-c", "{}"], input=lines.replace("\\n", "\n").encode(), check=True)
    return time.monotonic() - began


def make(count, directory):
    rules = [f"all: {' '.join(f'm{i}' for i in range(count))}\n"]
    rules += [f"m{i}: {' '.join(f'm{n}' for n in needs(i))}\n\t@: > $@ # \n" for i in range(count)]
    (directory / "Makefile").write_text("".join(rules))
    began = time.monotonic()
    subprocess.run(["make", "-s", "-j2", "all"], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def snakemake(count, directory):
    rules = [f"rule all:\n  input: {', '.join(repr(f's{i}') for i in range(count))}\n"]
    for i in range(count):
        rules.append(f"rule r{i}:\n  input: {', '.join(repr(f's{n}') for n in needs(i))}\n  output: 's{i}'\n"
                     f"  shell: ': > {{output}}'\n")
    (directory / "Snakefile").write_text("".join(rules))
    python = peer_python()
    began = time.monotonic()
    subprocess.run([python, "-m", "snakemake", "-j2", "-q", "all"], cwd=directory, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def flow(count, prefix):
    lines = ["steps:"]
    for i in range(count):
        lines.append(f"  step{i}: {{argv: [/bin/sh, -c, ': > {prefix}{i}'], needs: "
                     f"[{', '.join(f'step{n}' for n in needs(i))}], resources: {{memory: 16Mi}}}}")
    return "\n".join(lines) + "\n"


def wait(server, workflow):
    """Its row in the list: the workflow itself comes with all of its text."""
    while True:
        rows = server.api("GET", "/api/v1/workflows?limit=5").json["workflows"]
        row = next(each for each in rows if each["id"] == workflow)
        if row["state"] == "ended":
            return row
        time.sleep(0.1)


def atoll(count, directory):
    with Atoll("sites:\n  local: {cpus: 2, memory: 8Gi}\n") as server:
        text = flow(count, f"{directory}/a")
        began = time.time()
        made = server.api("POST", "/api/v1/workflows", {"files": {"f.yaml": text}, "directory": str(directory)}, timeout=300)
        ended = wait(server, made.json["id"])
        assert ended["outcome"] == "succeeded" and ended["steps"]["succeeded"] == count, ended
        return datetime.fromisoformat(ended["ended"]).timestamp() - began


def million():
    """A graph of a million steps through the API, drained by the simulated site."""
    table = Table("s")
    with Atoll("sites:\n  pretend: {kind: simulated, nodes: 100, cpus: 100}\n") as server:
        began = time.monotonic()
        first = {"steps": {"step0": {"simulate": {"run_for": "1ms"}}}}
        made = server.api("POST", "/api/v1/workflows", {"files": {"f.yaml": json.dumps(first)}, "paused": True}).json
        for start in range(1, MILLION, 2000):
            steps = {f"step{i}": {"simulate": {"run_for": "1ms"}, "needs": [f"step{i // 2}"]}
                     for i in range(start, min(MILLION, start + 2000))}
            added = server.api("POST", f"/api/v1/workflows/{made['id']}/steps", {"steps": steps}, timeout=120)
            assert added.status < 300, added.text
        table.row(f"{MILLION:,} steps added through the API, 2,000 at a time", time.monotonic() - began)
        alone = median_add(server, made["id"], "late")
        small = server.api("POST", "/api/v1/workflows", {"files": {"f.yaml": json.dumps(first)}, "paused": True}).json
        few = median_add(server, small["id"], "late")
        in_ms = Table("ms")
        in_ms.row("one step added to it", alone * 1e3)
        in_ms.row("one step added to one of a single step", few * 1e3)
        began = time.monotonic()
        server.api("POST", f"/api/v1/workflows/{made['id']}/resume")
        ended = wait(server, made["id"])
        assert ended["outcome"] == "succeeded", ended
        table.row("drained", time.monotonic() - began)
        Table("MiB").row("resident memory at the end", rss_mib(server.server_pids()[0]))


def median_add(server, workflow, name):
    spent = []
    for i in range(21):
        began = time.monotonic()
        server.api("POST", f"/api/v1/workflows/{workflow}/steps",
                   {"steps": {f"{name}{i}": {"simulate": {"run_for": "1ms"}, "needs": ["step0"]}}})
        spent.append(time.monotonic() - began)
    return sorted(spent)[10]


def round_of(count, number):
    """The seconds of each, measured side by side."""
    systems = [bare, make, atoll]
    spent = {}
    for system in systems if number % 2 == 0 else reversed(systems):
        with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
            spent[system] = system(count, Path(scratch))
            assert len(list(Path(scratch).glob("[abm][0-9]*"))) == count
    return spent


def beside_make(count):
    """The medians of the loop and of atoll over all rounds."""
    rounds = [round_of(count, number) for number in range(ROUNDS or (7 if count <= 1000 else 5))]
    alone, made, ours = (statistics.median(each[system] for each in rounds) for system in (bare, make, atoll))
    ratios = [each[atoll] / each[make] for each in rounds]
    table = Table("s", 3)
    table.row(f"{count:,} steps, the shells alone", alone)
    table.row(f"{count:,} steps, make -j2", made)
    table.row(f"{count:,} steps, atoll", ours)
    print(f"{count:,} steps, atoll to make in {len(rounds)} rounds: {statistics.median(ratios):.2f} x "
          f"({min(ratios):.2f} to {max(ratios):.2f})  bar: <= 1.3 x", flush=True)
    return alone, ours


def beside_snakemake(count, alone, ours):
    with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
        theirs = snakemake(count, Path(scratch))
    Table("s", 3).row(f"{count:,} steps, snakemake -j2", theirs)
    over, other = max(ours - alone, 1e-9) / count, (theirs - alone) / count
    print(f"overhead per step: atoll {over * 1e3:.2f} ms, snakemake {other * 1e3:.1f} ms: "
          f"{other / over:.0f} x  bar: >= 50 x")


def main():
    for count in STEPS:
        alone, ours = beside_make(count)
        if count == SNAKEMAKE_STEPS:
            beside_snakemake(count, alone, ours)
    if "--no-million" not in sys.argv:
        million()


if __name__ == "__main__":
    main()
