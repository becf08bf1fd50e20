"""The Debian package on a copy of this system: an overlay over / in namespaces of its own, so that the machine that
runs the tests is left as it was. No systemd runs in there; the unit file is checked by systemd-analyze."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from atoll import ROOT

# Enters the copy: own mounts, processes and network; / is writable and thrown away at the end.
ENTER = """
set -e
mount -t tmpfs scratch "$1" && mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mount -t tmpfs run "$1/root/run"
mount --bind "$2" "$1/root/mnt"
ip link set lo up
exec chroot "$1/root" /bin/bash -euc "$3"
"""


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ROOT / "build/package"
        shutil.rmtree(cls.folder, ignore_errors=True)
        done = subprocess.run(["cpack", "--config", "CPackConfig.cmake", "-B", cls.folder], cwd=ROOT / "build",
                              capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.package = next(cls.folder.glob("atoll_*.deb"))

    def inside(self, script):
        """Runs a script in the copy, with the package as /mnt/NAME.deb, and returns what it printed."""
        if os.getuid() != 0:
            self.skipTest("needs root for a copy of the system to install into: sudo ./test package")
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "/bin/bash", "-c",
                                   ENTER, "enter", scratch, self.folder, script], capture_output=True, text=True,
                                  timeout=300, stdin=subprocess.DEVNULL)
        if "mount: " in done.stderr and "overlay" in done.stderr:
            self.skipTest(f"no overlay file system here: {done.stderr.strip().splitlines()[0]}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_names_its_libraries(self):
        fields = subprocess.run(["dpkg-deb", "--field", self.package, "Depends", "Version"], capture_output=True,
                                text=True, check=True).stdout
        self.assertIn("libc6", fields)
        self.assertIn("libsqlite3-0", fields)
        self.assertIn((ROOT / "VERSION").read_text().strip(), fields)

    def test_holds_program_unit_configuration_and_guides(self):
        listed = subprocess.run(["dpkg-deb", "--contents", self.package], capture_output=True, text=True,
                                check=True).stdout
        for path in ("./usr/bin/atoll", "./usr/bin/atoll-warden", "./usr/lib/systemd/system/atoll.service",
                     "./etc/atoll/atoll.yaml", "./usr/share/doc/atoll/copyright",
                     "./usr/share/doc/atoll/docs/guides/getting-started.md",
                     "./usr/share/bash-completion/completions/atoll"):
            self.assertRegex(listed, rf"(?m) {path.replace('.', '[.]')}$")

    def test_installs_runs_a_job_is_removed_and_purged(self):
        printed = self.inside(f"""
            dpkg -i /mnt/{self.package.name}
            test -d /var/lib/atoll
            test -e /var/lib/atoll/atoll.yaml
            atoll --version
            atoll up --home /var/lib/atoll
            atoll --home /var/lib/atoll run -- echo "the job ran"
            atoll down --home /var/lib/atoll
            atoll up --home /var/lib/atoll
            atoll --home /var/lib/atoll submit -- sleep 1000
            dpkg -r atoll
            test ! -e /usr/bin/atoll
            test -e /var/lib/atoll/atoll.db
            sleep 1
            if readlink /proc/[0-9]*/exe | grep atoll; then echo 'still running'; exit 1; fi
            dpkg -P atoll
            test ! -e /var/lib/atoll
            test ! -e /etc/atoll
            echo "all gone"
        """)
        self.assertIn("the job ran", printed)
        self.assertIn("all gone", printed)

    def test_an_upgrade_keeps_configuration_and_history(self):
        printed = self.inside(f"""
            dpkg -i /mnt/{self.package.name}
            echo '# edited here' >>/etc/atoll/atoll.yaml
            atoll up --home /var/lib/atoll
            atoll --home /var/lib/atoll run -- true
            dpkg -i --force-confold /mnt/{self.package.name}
            grep -q 'edited here' /etc/atoll/atoll.yaml
            atoll --home /var/lib/atoll show 1
            atoll down --home /var/lib/atoll
        """)
        self.assertIn("succeeded", printed)

    def test_unit_file_is_accepted(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not here")
        with tempfile.TemporaryDirectory() as scratch:
            unit = Path(scratch) / "atoll.service"
            text = (ROOT / "deploy/systemd/atoll.service").read_text()
            unit.write_text(text.replace("/usr/bin/atoll", str(ROOT / "build/bin/atoll")))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if "atoll.service" in line]),
                         (0, []), done.stderr)


if __name__ == "__main__":
    unittest.main()
