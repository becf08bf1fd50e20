"""What the benchmarks share: a server to measure, the peers' Python environment, and a table with ratios."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))

from atoll import Atoll, free_port  # noqa: E402,F401

BIN = ROOT / "build/bin"
VENV = ROOT / "build/bench-venv"
PACKAGES = ["hyperqueue==0.27.0", "fastapi==0.162.4", "uvicorn[standard]==0.54.0", "dask[distributed]==2026.8.0",
            "accasim==1.1.3", "snakemake==9.27.1"]


def peer_python():
    """The interpreter of a virtual environment that has the peers; made on first use."""
    python = VENV / "bin/python"
    done = VENV / "installed"
    wanted = "\n".join(PACKAGES)
    if not done.exists() or done.read_text() != wanted:
        print(f"installing {', '.join(PACKAGES)} into {VENV.relative_to(ROOT)}", flush=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "-q", "install", *PACKAGES], check=True)
        done.write_text(wanted)
    return python


class Table:
    def __init__(self, unit, digits=1):
        self.unit = unit
        self.digits = digits

    def row(self, what, value, against=None, bar=""):
        ratio = f"{value / against:9.2f} x" if against else " " * 11
        print(f"{what:<52} {value:12,.{self.digits}f} {self.unit:<9} {ratio}  {bar}", flush=True)


def median_of(runs, measure):
    """The median of several runs; single runs on a shared machine say little."""
    return statistics.median(measure() for _ in range(runs))


def rss_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} is gone")


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
