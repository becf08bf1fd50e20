"""Workflows of many small steps beside Make and Snakemake, in one run on one machine, two steps at a time.

Every step makes one empty file and needs two others that came before it. What a system takes beyond the time of the
steps themselves is its overhead; the steps themselves are what a bare loop of the same shell commands takes.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import Atoll, Table, peer_python

STEPS = [int(n) for n in os.environ.get("BENCH_STEPS", "1000,10000").split(",")]
SNAKEMAKE_STEPS = int(os.environ.get("BENCH_SNAKEMAKE", "1000"))  # it is two orders slower; its rate is steady
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
    while server.api("GET", f"/api/v1/workflows/{workflow}").json["state"] != "ended":
        time.sleep(0.05)
    return server.api("GET", f"/api/v1/workflows/{workflow}").json


def atoll(count, directory):
    with Atoll("sites:\n  local: {cpus: 2, memory: 8Gi}\n") as server:
        text = flow(count, f"{directory}/a")
        began = time.monotonic()
        made = server.api("POST", "/api/v1/workflows", {"files": {"f.yaml": text}, "directory": str(directory)}, timeout=300)
        ended = wait(server, made.json["id"])
        spent = time.monotonic() - began
        assert ended["outcome"] == "succeeded" and ended["steps"]["succeeded"] == count, ended
        return spent


def million():
    """A graph of a million steps through the API, drained by the simulated site."""
    table = Table("s")
    with Atoll("sites:\n  pretend: {kind: simulated, nodes: 100, cpus: 100}\n") as server:
        began = time.monotonic()
        first = {"steps": {"step0": {"simulate": {"run_for": "1ms"}}}}
        made = server.api("POST", "/api/v1/workflows", {"files": {"f.yaml": json_text(first)}, "paused": True}).json
        for start in range(1, MILLION, 2000):
            steps = {f"step{i}": {"simulate": {"run_for": "1ms"}, "needs": [f"step{i // 2}"]}
                     for i in range(start, min(MILLION, start + 2000))}
            server.api("POST", f"/api/v1/workflows/{made['id']}/steps", {"steps": steps}, timeout=120)
        table.row(f"{MILLION:,} steps added through the API, 2,000 at a time", time.monotonic() - began)
        alone = median_add(server, made["id"], "late")
        small = server.api("POST", "/api/v1/workflows", {"files": {"f.yaml": json_text(first)}, "paused": True}).json
        few = median_add(server, small["id"], "late")
        table.row("one step added to it, ms", alone * 1e3)
        table.row("one step added to one of a single step, ms", few * 1e3)
        began = time.monotonic()
        server.api("POST", f"/api/v1/workflows/{made['id']}/resume")
        ended = wait(server, made["id"])
        assert ended["outcome"] == "succeeded", ended
        table.row("drained", time.monotonic() - began)
        table.row("resident memory at the end, MiB", server.rss_mib() if hasattr(server, "rss_mib") else 0)


def json_text(value):
    import json
    return json.dumps(value)


def median_add(server, workflow, name):
    spent = []
    for i in range(21):
        began = time.monotonic()
        server.api("POST", f"/api/v1/workflows/{workflow}/steps",
                   {"steps": {f"{name}{i}": {"simulate": {"run_for": "1ms"}, "needs": ["step0"]}}})
        spent.append(time.monotonic() - began)
    return sorted(spent)[10]


def main():
    table = Table("s")
    for count in STEPS:
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)
            alone = bare(count, directory)
            table.row(f"{count:,} steps, the shells alone", alone)
            made = make(count, directory)
            table.row(f"{count:,} steps, make -j2", made)
            ours = atoll(count, directory)
            table.row(f"{count:,} steps, atoll", ours, made, "bar: <= 1.3 x make")
            if count == SNAKEMAKE_STEPS:
                theirs = snakemake(count, directory)
                table.row(f"{count:,} steps, snakemake -j2", theirs, made)
                over, other = max(ours - alone, 1e-9) / count, (theirs - alone) / count
                print(f"overhead per step: atoll {over * 1e3:.2f} ms, snakemake {other * 1e3:.1f} ms: "
                      f"{other / over:.0f} x  bar: >= 50 x")
    if "--no-million" not in sys.argv:
        million()


if __name__ == "__main__":
    main()
