"""Queues: durable lease and done, in batches and one by one, beside Redis Streams with appendfsync always."""

import contextlib
import os
import subprocess
import tempfile
import time

from peers import BIN, Atoll, Table, free_port, rss_mib

SECONDS = os.environ.get("BENCH_SECONDS", "8")
BODY = "x" * 100
PATH = "/api/v1/namespaces/default/queues/q"
BATCHED, SINGLE = (4, 1000), (64, 1)  # connections, items per lease
ITEMS = {BATCHED: 1_500_000, SINGLE: 300_000}


def load(kind, port, way, where, token=""):
    argv = [BIN / "queue_load", kind, port, way[0], way[1], SECONDS, where, token]
    return float(subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=True).stdout)


def fill(server, count):
    batch = {"items": [{"body": BODY}] * 5000}
    began = time.monotonic()
    for _ in range(count // 5000):
        answer = server.api("POST", f"{PATH}/items", batch, timeout=120)
        assert answer.status == 201, answer.text
    return count / (time.monotonic() - began)


def ours(way):
    with Atoll("sites:\n  local: {cpus: 1}\n") as server:
        server.cli("queue", "create", "q")
        pid = server.server_pids()[0]
        before = rss_mib(pid)
        puts = fill(server, ITEMS[way])
        memory = rss_mib(pid) - before
        token = server.json("token", "create")["token"]
        return load("atoll", server.port, way, PATH, token), puts, memory


@contextlib.contextmanager
def redis_server():
    with tempfile.TemporaryDirectory() as directory:
        port = free_port()
        server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", directory,
                                   "--appendonly", "yes", "--appendfsync", "always", "--save", "",
                                   "--auto-aof-rewrite-percentage", "0"], stdout=subprocess.DEVNULL)
        try:
            time.sleep(1)
            yield port
        finally:
            server.terminate()
            server.wait()


def theirs(way):
    with redis_server() as port:
        lines = "".join(f"XADD q * b {BODY}\n" for _ in range(ITEMS[way]))
        subprocess.run(["redis-cli", "-p", str(port), "XGROUP", "CREATE", "q", "g", "0", "MKSTREAM"],
                       stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["redis-cli", "-p", str(port), "--pipe"], input=lines, text=True, stdout=subprocess.DEVNULL,
                       check=True)
        return load("redis", port, way, "q")


def main():
    table = Table("items/s")
    for way, what, bar in ((BATCHED, "lease + done, 1,000 at a time, 4 connections", ">= 20,000"),
                           (SINGLE, "lease + done, one by one, 64 connections", ">= 5,000")):
        peer = theirs(way)
        table.row(f"{what}: Redis Streams", peer)
        rate, puts, memory = ours(way)
        table.row(f"{what}: atoll", rate, peer, bar)
    table.row("put, 5,000 at a time, one connection", puts)
    print(f"{'memory of the server for 300,000 items of 100 bytes':<52} {memory:12.1f} MiB")


if __name__ == "__main__":
    main()
