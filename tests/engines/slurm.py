"""A real Slurm cluster on loopback: munged, mariadbd, slurmdbd, slurmctld and a slurmd for each node.

Everything lives in one folder below /tmp, on ports of its own, and ends with the object: the processes are this one's
children, and what they leave behind comes back to it (subreaper). Version 22.05 is the one that is installed; another
one runs in a chroot that is made once and kept in CACHE.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

CACHE = Path("/var/cache/atoll-tests")
CHROOTS = {"24.11": "trixie"}  # the Debian release that has it
READY_SECONDS = 90
PR_SET_CHILD_SUBREAPER = 36
COMMANDS = "sbatch squeue sacct scontrol sinfo scancel sacctmgr sstat srun".split()

SLURM_CONF = """
ClusterName=atoll
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
MpiDefault=none
MailProg=/bin/true
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=64
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=5
MinJobAge={min_job_age}
MessageTimeout=30
BatchStartTimeout=120
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=1
PropagateResourceLimits=NONE
GresTypes=gpu
AccountingStorageTRES=gres/gpu
{accounting}
{nodes}
PartitionName=main Nodes={main} Default=YES MaxTime=7-00:00:00 State=UP
PartitionName=short Nodes=n1 MaxTime=10 State=UP
PartitionName=gpu Nodes=n2 MaxTime=2-00:00:00 State=UP
PartitionName=low Nodes=small PriorityTier=1 PreemptMode=CANCEL State=UP
PartitionName=high Nodes=small PriorityTier=10 PreemptMode=OFF State=UP
"""

ACCOUNTING = """AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd_port}
AccountingStoragePass={folder}/munge/socket
AccountingStorageEnforce=associations"""

SLURMDBD_CONF = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={dbd_port}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql_port}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
"""


def free_ports(count):
    """Ports that nobody has now; they are held open together, so they differ."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def chroot_of(version):
    """The folder of another release with that Slurm in it, made when it is missing."""
    place = CACHE / f"slurm-{version}"
    if place.exists():
        return place
    CACHE.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f"slurm-{version}.", dir=CACHE))
    try:
        made = subprocess.run(["debootstrap", "--variant=minbase", "--include=slurm-wlm,slurmdbd,munge",
                               CHROOTS[version], str(part)], capture_output=True, text=True, timeout=900)
        if made.returncode != 0:
            raise RuntimeError(f"debootstrap of {CHROOTS[version]} failed:\n{made.stdout[-2000:]}{made.stderr[-2000:]}")
        part.chmod(0o755)
        shutil.rmtree(part / "var/cache/apt", ignore_errors=True)
        with contextlib.suppress(OSError):  # another one was faster
            part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return place


class SlurmCluster:
    """with SlurmCluster() as cluster: subprocess.run(["sinfo"], env=cluster.env)"""

    def __init__(self, version="22.05", nodes=3, cpus=256, accounting=True, min_job_age=300):
        self.version, self.nodes, self.cpus, self.accounting = version, nodes, cpus, accounting
        self.min_job_age = min_job_age
        self.root = chroot_of(version) if version in CHROOTS else None
        self.folder = Path(tempfile.mkdtemp(prefix="atoll-slurm-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.conf = self.folder / "etc/slurm.conf"
        self.bin = self.folder / "bin"
        self.env = {**os.environ, "SLURM_CONF": str(self.conf), "PATH": f"{self.bin}:{os.environ['PATH']}"}
        self.daemons = {}
        self._inside = []
        self._holder = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if self.root:
            self._enter_root()
        self._write_files()
        self.start_daemon("munged")
        if self.accounting:
            self._start_database()
            self.start_daemon("slurmdbd")
            self._await("slurmdbd", lambda: self._listens(self.ports["dbd_port"]))
        self.start_daemon("slurmctld")
        self._await("slurmctld", lambda: self.run("scontrol", "ping").returncode == 0)
        for name in self.node_names():
            self.start_daemon(name)
        self._await("idle nodes", self._all_idle)

    def node_names(self):
        return [f"n{i + 1}" for i in range(self.nodes)] + ["small"]

    def run(self, *argv, **kwargs):
        return subprocess.run([str(a) for a in argv], env=self.env, capture_output=True, text=True, timeout=60, **kwargs)

    def start_daemon(self, name):
        """munged, slurmdbd, slurmctld or the name of a node."""
        if name in self.node_names():
            argv = ["/usr/sbin/slurmd", "-D", "-N", name]
        elif name == "munged":
            argv = ["/usr/sbin/munged", "-F", *(f"--{key}-file={self.folder}/munge/{key}" for key in ("key", "pid", "seed")),
                    f"--log-file={self.folder}/munge/log", f"--socket={self.folder}/munge/socket"]
        else:
            argv = [f"/usr/sbin/{name}", "-D"]
        if self.version not in CHROOTS and name in self.node_names():
            # A slurmd that was killed leaves its steps; the next one must not be in the way of their reports.
            (self.folder / f"slurmd-{name}.pid").unlink(missing_ok=True)
        self.daemons[name] = self._spawn(self._inside + argv, name)

    def kill_daemon(self, name, number=signal.SIGKILL):
        process = self.daemons.pop(name)
        process.send_signal(number)
        process.wait(30)

    def close(self):
        if "slurmctld" in self.daemons:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.run("scancel", "--full", "--signal=KILL", "--user=root")
        for name in [*self.node_names(), "slurmctld", "slurmdbd", "mariadbd", "munged"]:
            if process := self.daemons.pop(name, None):
                self._end(process)
        if self._holder:
            self._end(self._holder)
        end_children()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, process):
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _spawn(self, argv, name):
        log = open(self.folder / f"{name}.out", "ab")
        return subprocess.Popen(argv, env={**self.env, "PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=log, start_new_session=True)

    def _enter_root(self):
        """A mount namespace of its own, so that nothing has to be unmounted; /tmp is the same inside."""
        script = (f'mount --rbind /proc "$1/proc" && mount --rbind /sys "$1/sys" && mount --rbind /dev "$1/dev" && '
                  f'mount --bind /tmp "$1/tmp" && cp /etc/hosts "$1/etc/hosts" && touch {self.folder}/entered && '
                  'exec sleep infinity')
        self._holder = self._spawn(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
                                    str(self.root)], "holder")
        self._await("the chroot", (self.folder / "entered").exists)
        self._inside = ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", "chroot", str(self.root)]

    def _write_files(self):
        for name in ["etc", "bin", "munge", "state", "dev", *(f"spool-{node}" for node in self.node_names())]:
            (self.folder / name).mkdir(mode=0o755, exist_ok=True)
        (self.folder / "munge/key").write_bytes(os.urandom(128))
        (self.folder / "munge/key").chmod(0o400)
        for unit in range(4):
            os.mknod(self.folder / f"dev/gpu{unit}", 0o20666, os.makedev(1, 3))
        names = self.node_names()
        ports = free_ports(3 + len(names))
        self.ports = dict(zip(("ctld_port", "dbd_port", "sql_port"), ports))
        facts = {"folder": self.folder, "host": socket.gethostname(), "min_job_age": self.min_job_age, **self.ports}
        facts["accounting"] = ACCOUNTING.format(**facts) if self.accounting else ""
        facts["main"] = ",".join(names[:-1])
        facts["nodes"] = "\n".join(self._node_line(name, port) for name, port in zip(names, ports[3:]))
        self.conf.write_text(SLURM_CONF.format(**facts))
        (self.folder / "etc/gres.conf").write_text(
            f"NodeName=n2 Name=gpu Type=a100 File={self.folder}/dev/gpu[0-1]\n"
            f"NodeName=n2 Name=gpu Type=v100 File={self.folder}/dev/gpu[2-3]\n")
        (self.folder / "etc/cgroup.conf").write_text("CgroupPlugin=disabled\n" if self.root else "")
        dbd = self.folder / "etc/slurmdbd.conf"
        dbd.write_text(SLURMDBD_CONF.format(**facts))
        dbd.chmod(0o600)
        for name in COMMANDS:
            self._write_command(name)

    def _node_line(self, name, port):
        gres = " Gres=gpu:a100:2,gpu:v100:2 Feature=gpupod" if name == "n2" else ""
        cpus, memory = (1, 1000) if name == "small" else (self.cpus, self.cpus * 1000)
        return (f"NodeName={name} NodeAddr=127.0.0.1 NodeHostname={socket.gethostname()} Port={port} CPUs={cpus} "
                f"RealMemory={memory}{gres}")

    def _write_command(self, name):
        """What a user calls: the program of this version."""
        path = self.bin / name
        inside = " ".join(self._inside)
        path.write_text(f'#!/bin/sh\nexport SLURM_CONF={self.conf}\nexec {inside} /usr/bin/{name} "$@"\n')
        path.chmod(0o755)

    def _start_database(self):
        data = self.folder / "sql"
        made = subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root",
                               "--auth-root-authentication-method=normal", "--skip-test-db"], capture_output=True, text=True)
        if made.returncode != 0:
            raise RuntimeError(f"mariadb-install-db failed:\n{made.stdout}{made.stderr}")
        self.daemons["mariadbd"] = self._spawn(
            ["/usr/sbin/mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={data}/socket",
             f"--port={self.ports['sql_port']}", "--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=0",
             "--innodb-lock-wait-timeout=900"], "mariadbd")
        client = ["mariadb", "--no-defaults", f"--socket={data}/socket", "-uroot"]
        self._await("mariadbd", lambda: subprocess.run([*client, "-e", "select 1"], capture_output=True).returncode == 0)
        subprocess.run([*client, "-e", "create database slurm; create user slurm@'127.0.0.1' identified by 'slurm';"
                        "create user slurm@localhost identified by 'slurm';"
                        "grant all on slurm.* to slurm@'127.0.0.1'; grant all on slurm.* to slurm@localhost"], check=True)

    def _listens(self, port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def _all_idle(self):
        said = self.run("sinfo", "-h", "-N", "-o", "%N %t").stdout.split()
        return len(said) > 0 and all(state == "idle" for state in said[1::2])

    def _await(self, what, ready):
        deadline = time.monotonic() + READY_SECONDS
        while not ready():
            for name, process in self.daemons.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended with {process.returncode}:\n{self.tail(name)}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what} not there after {READY_SECONDS} s:\n{self.tail('slurmctld')}")
            time.sleep(0.1)

    def tail(self, name):
        texts = [path.read_text(errors="replace")[-1500:] for path in self.folder.glob(f"*{name}*.[ol][ou][tg]")]
        return "\n".join(texts)


def end_children():
    """Ends what the daemons left: steps of jobs, which are this process's children by now."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not children:
            return
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.05)
