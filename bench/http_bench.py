"""The API: durable accepts, pages, tiny requests beside FastAPI + uvicorn, and an idle server."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from peers import Atoll, Table, cpu_seconds, peer_python, rss_mib

SECONDS = int(os.environ.get("BENCH_SECONDS", "8"))
CONNECTIONS = 64
JOBS = 100_000

FASTAPI = """
import json
from fastapi import FastAPI
app = FastAPI()
page = json.load(open("page.json"))
@app.get("/api/v1/jobs")
async def jobs():
    return page
@app.get("/version")
async def version():
    return {"name": "atoll", "version": "0.1.0"}
"""


def wrk(url, script="", headers=()):
    """Requests per second, and how many answers were not 2xx."""
    argv = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", *(f"-H{header}" for header in headers)]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as lua:
        if script:
            lua.write(script)
            lua.flush()
            argv += ["-s", lua.name]
        out = subprocess.run([*argv, url], capture_output=True, text=True, check=True).stdout
    rate = next(float(line.split()[1]) for line in out.splitlines() if line.startswith("Requests/sec"))
    bad = next((int(line.split()[-1]) for line in out.splitlines() if "Non-2xx" in line), 0)
    if bad:
        raise RuntimeError(f"{bad} answers of {url} were refused\n{out}")
    return rate


def post(body):
    return f'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = [==[{json.dumps(body)}]==]\n'


def accepts(table):
    with Atoll("sites:\n  local: {cpus: 1}\n") as server:
        token = "Authorization: Bearer " + server.json("token", "create")["token"]
        spec = {"namespace": "default", "command": ["python3", "train.py", "--seed", "17"], "hold": True}
        table.row("durable accepts, one by one, 64 connections", wrk(server.url + "/api/v1/jobs", post(spec), [token]),
                  bar=">= 12,000")
    with Atoll("sites:\n  local: {cpus: 1}\n") as server:
        token = "Authorization: Bearer " + server.json("token", "create")["token"]
        batch = {"jobs": [spec] * 1000}
        table.row("durable accepts, in batches of 1,000", 1000 * wrk(server.url + "/api/v1/jobs", post(batch), [token]),
                  bar=">= 100,000")


def fill(server, count):
    spec = {"namespace": "default", "name": "held", "command": ["true"], "hold": True}
    for _ in range(count // 5000):
        answer = server.api("POST", "/api/v1/jobs", {"jobs": [spec] * 5000}, timeout=120)
        assert answer.status == 201, answer.text


def pages(table):
    with Atoll("sites:\n  local: {cpus: 1}\n") as server:
        fill(server, JOBS)
        token = "Authorization: Bearer " + server.json("token", "create")["token"]
        times = []
        for _ in range(50):
            began = time.monotonic()
            answer = server.api("GET", "/api/v1/jobs?limit=100")
            times.append(time.monotonic() - began)
        print(f"{'ps page of 100 with 100,000 jobs, worst of 50':<52} {max(times) * 1e3:12.2f} ms         bar < 20")
        began = time.monotonic()
        server.cli("ps", "--limit", "100")
        print(f"{'the same at the terminal, whole command':<52} {(time.monotonic() - began) * 1e3:12.2f} ms         bar < 100")
        ours_page = wrk(server.url + "/api/v1/jobs?limit=100", headers=[token])
        ours_tiny = wrk(server.url + "/version")
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "page.json").write_text(answer.text)
            (Path(directory) / "peer.py").write_text(FASTAPI)
            peer = subprocess.Popen([peer_python(), "-m", "uvicorn", "--port", "17999", "--log-level", "error", "peer:app"],
                                    cwd=directory)
            try:
                time.sleep(3)
                page = wrk("http://127.0.0.1:17999/api/v1/jobs")
                tiny = wrk("http://127.0.0.1:17999/version")
            finally:
                peer.terminate()
                peer.wait()
        table.row("page of 100 jobs: FastAPI + uvicorn", page)
        table.row("page of 100 jobs: atoll", ours_page, page, ">= 20 x")
        table.row("tiny GET: FastAPI + uvicorn", tiny)
        table.row("tiny GET: atoll", ours_tiny, tiny, ">= 8 x")


def idle():
    with Atoll() as server:
        server.cli("run", "--", "true")
        pid = server.server_pids()[0]
        time.sleep(2)
        before = cpu_seconds(pid)
        time.sleep(20)
        print(f"{'idle server, resident memory':<52} {rss_mib(pid):12.1f} MiB        bar < 40")
        print(f"{'idle server, share of a core':<52} {(cpu_seconds(pid) - before) / 20 * 100:12.2f} %          bar < 0.5")


def main():
    table = Table("req/s")
    accepts(table)
    pages(table)
    idle()


if __name__ == "__main__":
    main()
