"""A server with a long past: a million ended jobs and a hundred thousand that wait. How long it takes to start after
a kill, what it holds in memory, and the longest turn of its loop while all of that came about."""

import os
import re
import time

from peers import Atoll, rss_mib

ENDED = int(os.environ.get("BENCH_ENDED", "1000000"))
LIVE = int(os.environ.get("BENCH_LIVE", "100000"))
BATCH = 5_000
CONFIG = "sites:\n  class: {kind: simulated, nodes: 4, cpus: 1000}\n"


def show(what, value, unit, bar=""):
    print(f"{what:<60} {value:12,.2f} {unit:<6} {bar}", flush=True)


def submit(server, count, spec):
    for _ in range(count // BATCH):
        answer = server.api("POST", "/api/v1/jobs", {"jobs": [spec] * BATCH}, timeout=300)
        assert answer.status == 201, answer.text


def metric(server, pattern):
    text = server.api("GET", "/metrics", timeout=300).text
    return sum(float(value) for value in re.findall(rf"^{pattern} (\S+)$", text, re.M))


def live(server):
    return metric(server, r"atoll_jobs\{[^}]*\}")


def longest_turn(server):
    return metric(server, "atoll_runtime_longest_turn_seconds") * 1e3


def ready_after_kill(server):
    server.kill_server()
    began = time.monotonic()
    server.up()
    return time.monotonic() - began


def main():
    spec = {"namespace": "default", "command": ["true"], "site": "class", "simulate": {"run_for": 0}}
    with Atoll(CONFIG) as server:
        began = time.monotonic()
        for _ in range(ENDED // 100_000):
            submit(server, 100_000, spec)
            while live(server) > 50_000:
                time.sleep(0.1)
        while live(server):
            time.sleep(0.1)
        show(f"{ENDED:,} separate jobs through the API, each run and ended", (time.monotonic() - began) / ENDED * 1e6, "us")
        show("the longest turn meanwhile", longest_turn(server), "ms", "bar <= 50")
        submit(server, LIVE, {**spec, "hold": True})
        show("the longest turn, with the live jobs submitted", longest_turn(server), "ms", "bar <= 50")
        for kill in ("first", "second"):
            show(f"start-up after kill -9, {ENDED:,} ended and {LIVE:,} live, {kill}", ready_after_kill(server), "s", "seconds")
        assert live(server) == LIVE, "nothing acknowledged is lost"
        show("resident memory", rss_mib(server.server_pids()[0]), "MiB")
        began = time.monotonic()
        server.api("GET", "/api/v1/jobs?limit=100")
        show("a page of 100 of all jobs", (time.monotonic() - began) * 1e3, "ms")
        time.sleep(5)
        show("the longest turn since the start", longest_turn(server), "ms", "bar <= 50")


if __name__ == "__main__":
    main()
