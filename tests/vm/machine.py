"""A virtual machine with Debian's own kernel, which mounts control groups of version 2 as most machines today do.

Its root is this machine's, read through virtiofs, with a layer in memory above it: whatever is installed and built here
is there, and nothing done there is done here. It runs one script and ends; the script's /results is a folder here.
"""

import gzip
import re
import subprocess
import tempfile
import time
from pathlib import Path

from harness import ROOT

KEPT = ROOT / "build/vm"
META_PACKAGE = "linux-image-cloud-amd64"
MODULES = ["virtio_pci", "virtiofs", "overlay"]
VIRTIOFSD = "/usr/lib/qemu/virtiofsd"

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /dev /host /rw /new
/bin/busybox mount -t devtmpfs dev /dev
for module in %(modules)s; do /bin/busybox insmod /modules/$module.ko; done
/bin/busybox mount -t virtiofs -o ro host /host
/bin/busybox mount -t tmpfs rw /rw
/bin/busybox mkdir /rw/upper /rw/work
/bin/busybox mount -t overlay -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work over /new
/bin/busybox mount -t proc proc /new/proc
/bin/busybox mount -t sysfs sys /new/sys
/bin/busybox mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
/bin/busybox mount -t devtmpfs dev /new/dev
/bin/busybox mkdir -p /new/dev/pts /new/dev/shm /new/results
/bin/busybox mount -t devpts pts /new/dev/pts
for place in run dev/shm; do /bin/busybox mount -t tmpfs -o mode=1777 tmp /new/$place; done
/bin/busybox mount -t virtiofs results /new/results
exec /bin/busybox switch_root /new /bin/sh /results/first
"""

# Process 1 of the machine: runs the script, says how it ended, and turns the machine off.
FIRST = """export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
ip link set lo up
cd %(root)s
bash /results/script </dev/null >/results/output 2>&1
echo $? >/results/status
sync
echo o >/proc/sysrq-trigger
sleep 60
"""


class Machine:
    """Run one script: Machine().run(text) gives its exit status and output, and leaves `results` to look at."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="atoll-vm-")
        self.folder = Path(self._folder.name)
        self.results = self.folder / "results"
        self.results.mkdir()

    def close(self):
        self._folder.cleanup()

    def run(self, script, seconds):
        (self.results / "script").write_text(script)
        (self.results / "first").write_text(FIRST % {"root": ROOT})
        shares = []
        try:
            self._share("host", Path("/"), shares)
            self._share("results", self.results, shares)
            console = self._boot(seconds)
        finally:
            for share in shares:
                share.terminate()
                share.wait(10)
        status = self.results / "status"
        if not status.exists():
            raise AssertionError(f"the virtual machine did not finish its script\n{console[-4000:]}\n{self._output()[-4000:]}")
        return int(status.read_text()), self._output()

    def _output(self):
        file = self.results / "output"
        return file.read_text(errors="replace") if file.exists() else ""

    def _share(self, tag, source, shares):
        socket = self.folder / f"{tag}.sock"
        log = (self.folder / f"{tag}.log").open("wb")
        share = subprocess.Popen([VIRTIOFSD, f"--socket-path={socket}", "-o", f"source={source}", "-o", "sandbox=chroot",
                                  "-o", "cache=auto"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        shares.append(share)
        for _ in range(200):
            if socket.exists():
                return
            time.sleep(0.02)
        raise AssertionError(f"virtiofsd did not start: {(self.folder / f'{tag}.log').read_text()}")

    def _boot(self, seconds):
        kernel = find_kernel()
        # Emulated: it boots in seconds all the same, and machines that are virtual themselves often have no working kvm.
        command = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max",
                   "-smp", "2", "-m", "2G", "-object", "memory-backend-memfd,id=memory,size=2G,share=on",
                   "-numa", "node,memdev=memory", "-kernel", str(next((kernel / "boot").glob("vmlinuz-*"))),
                   "-initrd", str(make_initrd(kernel, self.folder / "initrd")),
                   "-append", "console=ttyS0 quiet panic=-1", "-nographic", "-no-reboot", "-nic", "none"]
        for tag in ("host", "results"):
            command += ["-chardev", f"socket,id={tag},path={self.folder / tag}.sock",
                        "-device", f"vhost-user-fs-pci,chardev={tag},tag={tag}"]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired as late:
            return f"{late}\n{(late.stdout or b'').decode(errors='replace')}"
        return (done.stdout + done.stderr).decode(errors="replace")


def find_kernel():
    """Debian's kernel, unpacked and not installed: it is for the virtual machine alone."""
    depends = subprocess.run(["apt-cache", "depends", META_PACKAGE], capture_output=True, text=True, check=True).stdout
    package = next(line.split()[-1] for line in depends.splitlines() if "Depends: linux-image-" in line)
    place = KEPT / package
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=ensure(KEPT)) as scratch:
            subprocess.run(["apt-get", "download", "-q", package], cwd=scratch, check=True, capture_output=True)
            unpacked = Path(scratch) / "unpacked"
            subprocess.run(["dpkg", "-x", next(Path(scratch).glob("*.deb")), unpacked], check=True)
            unpacked.rename(place)
    return place


def ensure(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def with_what_they_need(kernel, names):
    """The modules' files by name, each behind those it needs, which differ from kernel to kernel."""
    files = {file.stem.replace("-", "_"): file for file in (kernel / "lib/modules").rglob("*.ko")}
    ordered = {}

    def add(name):
        if name in ordered or name not in files:  # built into the kernel
            return
        content = files[name].read_bytes()
        for needed in re.search(rb"\0depends=([^\0]*)\0", content)[1].decode().split(","):
            add(needed)
        ordered[name] = content

    for name in names:
        add(name)
    return ordered


def make_initrd(kernel, file):
    """A cpio archive of busybox, the modules and the script that mounts the rest."""
    modules = with_what_they_need(kernel, MODULES)
    entries = [("bin", 0o040755, b""), ("modules", 0o040755, b""),
               ("bin/busybox", 0o100755, Path("/bin/busybox").read_bytes()),
               ("init", 0o100755, (INIT % {"modules": " ".join(modules)}).encode())]
    entries += [(f"modules/{name}.ko", 0o100644, content) for name, content in modules.items()]
    archive = b"".join(cpio_entry(number + 1, *entry) for number, entry in enumerate(entries))
    file.write_bytes(gzip.compress(archive + cpio_entry(0, "TRAILER!!!", 0, b""), 1))
    return file


def cpio_entry(number, name, mode, content):
    """One file in the "newc" format that the kernel unpacks."""
    fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return pad(head) + pad(content)


def pad(data):
    return data + b"\0" * (-len(data) % 4)
