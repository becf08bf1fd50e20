"""Real tasks: 10,000 `true`, output kept, P at a time, in one run on one machine.

Every system gets the same parallelism. The bare loop spawns, waits and opens two output files per task; what a
platform adds to that is its overhead.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import BIN, Atoll, Table, median_of, peer_python

COUNT = int(os.environ.get("BENCH_TASKS", "10000"))
PARALLEL = [int(p) for p in os.environ.get("BENCH_PARALLEL", "2,8").split(",")]
SLURM_COUNT = 200  # Slurm is two orders slower; its rate is steady


def bare(parallel):
    with tempfile.TemporaryDirectory() as directory:
        return float(subprocess.check_output([BIN / "bare_loop", str(COUNT), str(parallel), directory]))


def atoll(parallel, array):
    with Atoll(f"sites:\n  local: {{cpus: {parallel}, memory: 8Gi}}\n") as server:
        spec = {"namespace": "default", "command": ["true"], "memory": "16Mi", "cpus": 1}
        began = time.monotonic()
        if array:
            server.api("POST", "/api/v1/jobs", {**spec, "array": f"1-{COUNT}"})
        else:
            for start in range(0, COUNT, 5000):
                server.api("POST", "/api/v1/jobs", {"jobs": [spec] * min(5000, COUNT - start)}, timeout=120)
        while sum(server.api("GET", "/api/v1/stats?limit=0").json["jobs"].values()) > 0:
            time.sleep(0.02)
        spent = time.monotonic() - began
        ended = server.api("GET", "/api/v1/jobs?outcome=succeeded&limit=1").json["jobs"]
        assert ended, "nothing succeeded"
        return COUNT / spent


HYPERQUEUE = """
import sys, time
from hyperqueue import LocalCluster, Job
from hyperqueue.cluster import WorkerConfig
count, parallel, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with LocalCluster(directory, WorkerConfig(cores=parallel)) as cluster:
    client = cluster.client()
    job = Job(directory)
    for _ in range(count):
        job.program(args=["true"])
    began = time.monotonic()
    client.wait_for_jobs([client.submit(job)])
    print(count / (time.monotonic() - began))
"""

DASK = """
import subprocess, sys, time
from dask.distributed import Client
count, parallel, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def task(i):
    with open(f"{directory}/{i}.out", "wb") as out, open(f"{directory}/{i}.err", "wb") as err:
        return subprocess.run(["true"], stdout=out, stderr=err).returncode
if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=max(1, parallel // 2), dashboard_address=None) as client:
        began = time.monotonic()
        assert not any(client.gather(client.map(task, range(count), pure=False)))
        print(count / (time.monotonic() - began))
"""


def python_peer(program, count, parallel):
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "peer.py"
        script.write_text(program)
        output = Path(directory) / "output"
        output.mkdir()
        done = subprocess.run([peer_python(), script, str(count), str(parallel), output], capture_output=True, text=True,
                              cwd=output, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-2000:])
        return float(done.stdout.split()[-1])


def gnu_parallel(parallel):
    with tempfile.TemporaryDirectory() as directory:
        began = time.monotonic()
        subprocess.run(["parallel", "--will-cite", "-j", str(parallel), "--results", directory, "true", ":::",
                        *map(str, range(COUNT // 10))], check=True, stdout=subprocess.DEVNULL)
        return COUNT / 10 / (time.monotonic() - began)


class Slurm:
    """A controller and one node on loopback, as small as it gets."""

    def __init__(self, parallel):
        self.directory = Path(tempfile.mkdtemp(prefix="atoll-slurm-"))
        self.env = {**os.environ, "SLURM_CONF": str(self.directory / "slurm.conf")}
        self.processes = []
        host = socket.gethostname()
        (self.directory / "slurm.conf").write_text(f"""ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=17816
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
StateSaveLocation={self.directory}/state
SlurmdSpoolDir={self.directory}/spool-%n
SlurmctldPidFile={self.directory}/ctld.pid
SlurmdPidFile={self.directory}/d-%n.pid
SlurmctldLogFile={self.directory}/ctld.log
SlurmdLogFile={self.directory}/d-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=0,sched_interval=1
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname={host} Port=17817 CPUs={parallel} State=UNKNOWN
PartitionName=all Nodes=n1 Default=YES State=UP OverSubscribe=NO
""")
        (self.directory / "state").mkdir()

    def __enter__(self):
        if subprocess.run(["pgrep", "-x", "munged"], stdout=subprocess.DEVNULL).returncode != 0:
            for path in ("/run/munge", "/var/log/munge", "/var/lib/munge", "/etc/munge"):
                os.makedirs(path, exist_ok=True)
                shutil.chown(path, "munge", "munge")
            if not os.path.exists("/etc/munge/munge.key"):
                subprocess.run(["mungekey", "--create"], check=False)
                shutil.chown("/etc/munge/munge.key", "munge", "munge")
            subprocess.run(["runuser", "-u", "munge", "--", "munged"], check=True)
        for argv in (["slurmctld", "-D"], ["slurmd", "-N", "n1", "-D"]):
            log = open(self.directory / (argv[0] + ".out"), "wb")
            self.processes.append(subprocess.Popen(argv, env=self.env, stdout=log, stderr=log))
        for _ in range(300):
            state = subprocess.run(["sinfo", "-h", "-o", "%T"], env=self.env, capture_output=True, text=True).stdout
            if "idle" in state:
                return self
            time.sleep(0.1)
        log = (self.directory / "ctld.log").read_text()[-2000:]
        self.__exit__()
        raise RuntimeError("slurm did not become idle: " + log)

    def __exit__(self, *exception):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)
        shutil.rmtree(self.directory, ignore_errors=True)

    def rate(self):
        script = self.directory / "job.sh"
        script.write_text("#!/bin/sh\ntrue\n")
        began = time.monotonic()
        subprocess.run(["sbatch", "--wait", f"--array=1-{SLURM_COUNT}", f"--output={self.directory}/%a.out", script],
                       env=self.env, check=True, stdout=subprocess.DEVNULL, cwd=self.directory)
        return SLURM_COUNT / (time.monotonic() - began)


def main():
    table = Table("tasks/s")
    for parallel in PARALLEL:
        print(f"-- {COUNT} tasks, {parallel} at a time")
        floor = median_of(3, lambda: bare(parallel))
        table.row("bare posix_spawn loop, two files each", floor)
        ours = median_of(3, lambda: atoll(parallel, array=False))
        table.row("atoll, separate jobs", ours, floor, "bar >= 0.8 of the bare loop")
        ours_array = median_of(3, lambda: atoll(parallel, array=True))
        table.row("atoll, one array", ours_array, floor, "bar >= 0.8 of the bare loop")
        hyperqueue = python_peer(HYPERQUEUE, COUNT, parallel)
        table.row("HyperQueue 0.27 (no journal in its Python cluster)", hyperqueue, floor)
        table.row("GNU parallel --results", gnu_parallel(parallel), floor)
        table.row("Dask distributed", python_peer(DASK, COUNT // 5, parallel), floor)
        try:
            with Slurm(parallel) as slurm:
                table.row("Slurm 22.05 array", slurm.rate(), floor)
        except (RuntimeError, FileNotFoundError, subprocess.CalledProcessError) as error:
            print(f"Slurm was not measured: {error}", file=sys.stderr)
        print(f"atoll / HyperQueue: {min(ours, ours_array) / hyperqueue:.2f} x   bar >= 2 x")


if __name__ == "__main__":
    main()
