"""TLS from end to end: who may connect, whom a client trusts, and what a wrong set-up says."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

from atoll import PROGRAM, Atoll, wait_for


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True, timeout=60)


def make_certificate(folder, name, host):
    """A self-signed certificate for the address, which is its own authority."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:127.0.0.1,IP:{host},DNS:localhost",
            "-keyout", key, "-out", certificate)
    return key, certificate


def address_outside():
    """An address of this machine that is not loopback, or nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; asks which address would be used
            return probe.getsockname()[0]
        except OSError:
            return ""


class WithCertificates(unittest.TestCase):
    """The server's own certificate and another one, both good for this machine's addresses."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="atoll-tls-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.host = address_outside() or "127.0.0.1"
        cls.key, cls.certificate = make_certificate(cls.folder, "server", cls.host)
        cls.other_key, cls.other = make_certificate(cls.folder, "other", cls.host)


class Tls(WithCertificates):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.atoll = Atoll(up=False)
        cls.addClassCleanup(cls.atoll.destroy)
        cls.configure(cls.atoll, f"0.0.0.0:{cls.atoll.port}", cls.certificate, cls.key)
        cls.atoll.up()
        cls.token = cls.atoll.json("token", "create")["token"]
        cls.url = f"https://{cls.host}:{cls.atoll.port}"

    @staticmethod
    def configure(atoll, listen, certificate=None, key=None):
        tls = f"tls: {{certificate: {certificate}, key: {key}}}\n" if certificate else ""
        (atoll.home / "atoll.yaml").write_text(f"listen: {listen}\n{tls}")

    def setUp(self):
        """A client on another machine: no data directory, no contexts, no account."""
        self.elsewhere = Path(tempfile.mkdtemp(prefix="atoll-client-"))
        self.addCleanup(shutil.rmtree, self.elsewhere, True)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("ATOLL_", "XDG_", "SSL_"))}
        self.env.update(HOME=str(self.elsewhere), XDG_CONFIG_HOME=str(self.elsewhere / "config"), NO_COLOR="1", CI="1")

    def client(self, *args, cwd=None, **env):
        return subprocess.run([PROGRAM, *map(str, args)], env={**self.env, **env}, cwd=cwd or self.elsewhere,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def test_a_client_that_trusts_the_authority_submits_and_follows(self):
        done = self.client("login", self.url, "--name", "lab", "--token", self.token, "--ca", "server.pem",
                           cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        # From another directory, where the authority's relative name would be nothing.
        done = self.client("run", "--", "sh", "-c", "for i in 1 2 3; do echo line $i; sleep 0.2; done; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "line 1\nline 2\nline 3\n"), done.stderr)
        job = self.client("submit", "--", "sh", "-c", "echo begins; sleep 1; echo ends")
        self.assertEqual(job.returncode, 0, job.stderr)
        followed = self.client("logs", "--follow", job.stdout.strip())
        self.assertEqual((followed.returncode, followed.stdout), (0, "begins\nends\n"), followed.stderr)

    def test_the_authority_may_come_from_the_environment(self):
        done = self.client("ps", ATOLL_URL=self.url, ATOLL_TOKEN=self.token, SSL_CERT_FILE=str(self.certificate))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_token_no_answer(self):
        done = self.client("ps", ATOLL_URL=self.url, SSL_CERT_FILE=str(self.certificate))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("token", done.stderr)

    def test_a_wrong_authority_is_refused(self):
        for env in ({"SSL_CERT_FILE": str(self.other)}, {}):
            done = self.client("ps", ATOLL_URL=self.url, ATOLL_TOKEN=self.token, **env)
            self.assertEqual(done.returncode, 1, "asking again would not help: " + done.stderr)
            self.assertIn(f"the certificate of {self.url} is not trusted: ", done.stderr)
            self.assertIn("--ca FILE", done.stderr)
        done = self.client("login", self.url, "--token", self.token, "--ca", self.other)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("is not trusted", done.stderr)
        done = self.client("login", self.url, "--token", self.token, "--ca", "missing.pem")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("missing.pem: No such file or directory", done.stderr)

    def test_a_certificate_for_another_name_is_refused(self):
        done = self.client("ps", ATOLL_URL=f"https://127.0.0.2:{self.atoll.port}", ATOLL_TOKEN=self.token,
                           SSL_CERT_FILE=str(self.certificate))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("mismatch", done.stderr)

    def test_plain_http_fails_cleanly(self):
        done = self.client("ps", ATOLL_URL=f"http://127.0.0.1:{self.atoll.port}", ATOLL_TOKEN=self.token)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("this port speaks TLS: write https:// in place of http://", done.stderr)
        with socket.create_connection(("127.0.0.1", self.atoll.port), timeout=10) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b"".join(iter(lambda: plain.recv(4096), b""))
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)
        self.assertEqual(self.atoll.cli("ps").returncode, 0)
        if self.host != "127.0.0.1":
            done = self.client("ps", ATOLL_URL=f"http://{self.host}:{self.atoll.port}", ATOLL_TOKEN=self.token)
            self.assertEqual(done.returncode, 2, "a token does not leave the machine in the clear")

    def test_old_versions_are_refused(self):
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.atoll.port), timeout=10) as plain:
            with self.assertRaises(OSError):  # of which ssl.SSLError is one
                context.wrap_socket(plain, server_hostname="localhost")


class WrongSetUp(WithCertificates):
    """`up` says what is wrong, leaves nothing running, and works once it is put right."""

    def refused(self, listen, certificate=None, key=None):
        with Atoll(up=False) as atoll:
            Tls.configure(atoll, listen.format(port=atoll.port), certificate, key)
            done = atoll.cli("up", check=False)
            self.assertNotEqual(done.returncode, 0, done.stdout)
            wait_for(lambda: not atoll.processes(), "everything to have ended")
            self.assertFalse((atoll.home / "server.pid").exists())
            Tls.configure(atoll, f"127.0.0.1:{atoll.port}", self.certificate, self.key)
            atoll.up()
            return re.sub(r"\s+", " ", done.stderr)

    def test_a_key_that_is_missing(self):
        said = self.refused("127.0.0.1:{port}", self.certificate, self.folder / "missing.key")
        self.assertIn(f"cannot use private key {self.folder}/missing.key", said)
        self.assertIn("No such file or directory", said)

    def test_a_certificate_that_is_missing(self):
        said = self.refused("127.0.0.1:{port}", self.folder / "missing.pem", self.key)
        self.assertIn(f"cannot use certificate {self.folder}/missing.pem: No such file or directory", said)

    def test_a_key_of_another_certificate(self):
        said = self.refused("127.0.0.1:{port}", self.certificate, self.other_key)
        self.assertIn(f"cannot use private key {self.other_key} with certificate {self.certificate}: ", said)
        self.assertIn("key values mismatch", said)

    def test_a_key_that_is_none(self):
        (self.folder / "empty.key").write_text("")
        said = self.refused("127.0.0.1:{port}", self.certificate, self.folder / "empty.key")
        self.assertIn(f"cannot use private key {self.folder}/empty.key", said)

    def test_outside_without_tls(self):
        said = self.refused("0.0.0.0:{port}")
        self.assertIn("atoll.yaml:1:9: only a loopback address may be served without TLS", said)


if __name__ == "__main__":
    unittest.main()
