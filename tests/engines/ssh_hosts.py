"""Real ssh hosts for tests: several sshd on loopback addresses of their own, each with its own host name, process
table and home (root only). As a program it is what the unit tests talk to:

    tests/engines/ssh_hosts.py DIR NAME[:OPTION,...] ...

It says "ready" and then obeys the lines it reads: cut NAME, heal NAME, kill NAME, boot NAME; each is answered by "ok".
At the end of its input it ends everything it has started. DIR/config is for `ssh -F`.

Options: tmpfs=SIZE (a home of that size), noexec, banner, profile (one that prints), shell=PATH (of the login),
busybox (as sh and as every tool), password (no key is accepted), stale_key (known_hosts has another key).
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

PORT = 22022
APPLETS = ("awk cat chmod cp cut date dd df dirname env find getconf grep head id kill ls mkdir mktemp mv nproc printf ps "
           "pwd rm rmdir sed setsid sh sha256sum sleep sort stat tail tar touch tr true uname wc xargs").split()
START_SECONDS = 20


class SshHosts:
    """Use as a context manager: hosts = SshHosts(directory, ["h1", "h2:noexec"])."""

    def __init__(self, directory, specs):
        self.directory = Path(directory)
        self.hosts = {}
        for number, spec in enumerate(specs):
            name, _, options = spec.partition(":")
            self.hosts[name] = Host(self.directory, name, number, dict(
                option.partition("=")[::2] for option in options.split(",") if option))

    def __enter__(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        os.makedirs("/run/sshd", exist_ok=True)
        make_key(self.directory / "client")
        shutil.copy(self.directory / "client.pub", self.directory / "authorized")
        config, known = [], []
        for host in self.hosts.values():
            host.prepare()
            known.append(f"[{host.address}]:{PORT} {host.known_key()}")
            config.append(f"Host {host.name}\n  HostName {host.address}\n  Port {PORT}\n")
        config.append(f"Host *\n  User root\n  IdentityFile {self.directory}/client\n  IdentitiesOnly yes\n"
                      f"  UserKnownHostsFile {self.directory}/known\n  GlobalKnownHostsFile /dev/null\n")
        (self.directory / "known").write_text("\n".join(known) + "\n")
        (self.directory / "config").write_text("".join(config))
        try:
            for host in self.hosts.values():
                host.boot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts.values():
            host.heal()
            host.kill()

    @property
    def config(self):
        return str(self.directory / "config")


class Host:
    def __init__(self, directory, name, number, options):
        self.name, self.options = name, options
        self.place = directory / name
        self.home = self.place / "home"
        process = os.getpid()
        self.address = f"127.{30 + number}.{process >> 8 & 255}.{process & 255 or 1}"
        self.process = None
        self.is_cut = False

    def prepare(self):
        self.home.mkdir(parents=True, exist_ok=True)
        make_key(self.place / "hostkey")
        if "stale_key" in self.options:
            make_key(self.place / "oldkey")
        if "profile" in self.options:
            for file in (".bashrc", ".profile", ".cshrc", ".tcshrc"):
                (self.home / file).write_text("echo welcome to this machine\necho it warns >/dev/stderr\n")
        if "busybox" in self.options:
            tools = self.place / "busybox"
            tools.mkdir(exist_ok=True)
            for applet in APPLETS:
                if not (tools / applet).exists():
                    (tools / applet).symlink_to("/usr/bin/busybox")

    def known_key(self):
        key = "oldkey" if "stale_key" in self.options else "hostkey"
        return " ".join((self.place / f"{key}.pub").read_text().split()[:2])

    def sshd(self):
        password = "password" in self.options
        settings = {"ListenAddress": self.address, "Port": PORT, "HostKey": self.place / "hostkey",
                    "AuthorizedKeysFile": self.place.parent / "authorized", "StrictModes": "no", "UsePAM": "no",
                    "PidFile": "none", "PermitRootLogin": "yes", "MaxStartups": "200",
                    "PubkeyAuthentication": "no" if password else "yes",
                    "PasswordAuthentication": "yes" if password else "no"}
        if "banner" in self.options:
            (self.place / "banner").write_text("Authorised use only.\nEverything is logged.\n")
            settings["Banner"] = self.place / "banner"
        if "busybox" in self.options:
            settings["SetEnv"] = f"PATH={self.place}/busybox:/usr/bin:/bin"
        words = ["/usr/sbin/sshd", "-D", "-f", "/dev/null", "-E", str(self.place / "sshd.log")]
        for key, value in settings.items():
            words += ["-o", f"{key}={value}"]
        return words

    def boot(self):
        mount = f"mount --bind {self.home} /root"
        if "tmpfs" in self.options or "noexec" in self.options:
            size = self.options.get("tmpfs") or "64m"
            flags = ",noexec" if "noexec" in self.options else ""
            mount = f"mount -t tmpfs -o size={size}{flags} tmpfs /root"
        lines = ["set -e", f"hostname {self.name}", mount]
        if "shell" in self.options:
            passwd = self.place / "passwd"
            text = Path("/etc/passwd").read_text().splitlines()
            passwd.write_text("".join(
                (line.rsplit(":", 1)[0] + ":" + self.options["shell"] if line.startswith("root:") else line) + "\n"
                for line in text))
            lines.append(f"mount --bind {passwd} /etc/passwd")
        if "busybox" in self.options:
            lines.append("mount --bind /usr/bin/busybox $(readlink -f /bin/sh)")
        lines.append('exec "$@"')
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child",
             "/bin/bash", "-c", "\n".join(lines), "host", *self.sshd()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.place / "boot.log", "ab"),
            start_new_session=True)
        until = time.monotonic() + START_SECONDS
        while subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/{self.address}/{PORT}"], capture_output=True).returncode:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{self.name} does not start: {(self.place / 'boot.log').read_text()}")
            time.sleep(0.05)

    def kill(self):
        """The whole machine at once, as when it loses its power."""
        if self.process:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
        # The mounts of its namespace go with its last process, a moment later.
        time.sleep(0.05)

    def filter(self, action):
        for side in ("-d", "-s"):
            subprocess.run(["iptables", "-w", action, "INPUT", side, self.address, "-j", "DROP"], check=True)

    def cut(self):
        if not self.is_cut:
            self.filter("-I")
        self.is_cut = True

    def heal(self):
        if self.is_cut:
            self.filter("-D")
        self.is_cut = False


def make_key(path):
    if not path.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)], check=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with SshHosts(sys.argv[1], sys.argv[2:]) as hosts:
        print("ready", flush=True)
        for line in sys.stdin:
            verb, name = line.split()
            getattr(hosts.hosts[name], verb)()
            print("ok", flush=True)


if __name__ == "__main__":
    main()
