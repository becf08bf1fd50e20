"""Several Unix accounts on one server of root's: who each of them is, whose account the work has, and what stays theirs.

The accounts are real ones, made for the test and removed with it.
"""

import contextlib
import json
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from atoll import PROGRAM, SOCKET, Atoll, all_pids, proc, wait_for

ROOT_NEEDED = "only root can make accounts and run work under them"
STRANGER = 65534  # nobody: an account of every machine, and no user of Atoll


def make_account(case, name):
    """An account with a home of its own, until the class ends."""
    name = f"atoll-{name}-{os.getpid()}"
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True, capture_output=True)
    case.addClassCleanup(subprocess.run, ["userdel", "--remove", "--force", name], check=False, capture_output=True)
    return pwd.getpwnam(name)


class Account:
    """The command line in the hands of one account."""

    def __init__(self, atoll, program, entry):
        self.atoll, self.program = atoll, program
        self.uid, self.gid, self.home = entry.pw_uid, entry.pw_gid, Path(entry.pw_dir)
        self.env = {**atoll.env, "HOME": entry.pw_dir, "USER": entry.pw_name, "LOGNAME": entry.pw_name}

    def call(self, *argv, check=True, cwd=None):
        done = subprocess.run([str(word) for word in argv], user=self.uid, group=self.gid, extra_groups=[], env=self.env,
                              cwd=cwd or self.home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"{argv}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def cli(self, *args, **options):
        return self.call(self.program, *args, **options)

    def json(self, *args):
        return json.loads(self.cli(*args, "-o", "json").stdout)

    def submit(self, *args, **options):
        return self.cli("submit", *args, **options).stdout.strip()

    def sh(self, script, *flags, **options):
        """What a job of this account makes of a shell script."""
        return self.cli("run", "-n", self.namespace, *flags, "--", "sh", "-c", script, check=False, **options)

    @contextlib.contextmanager
    def on_the_socket(self):
        """Requests of this process come from the account: the kernel tells the server the effective uid."""
        os.seteuid(self.uid)
        try:
            yield self.atoll
        finally:
            os.seteuid(0)


def copy_of_program(case):
    """Where every account can execute it, wherever the checkout is."""
    folder = Path(tempfile.mkdtemp(prefix="atoll-program-"))
    case.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    return Path(shutil.copy(PROGRAM, folder))


def isolation(atoll):
    return next(check for check in atoll.json("doctor") if check["check"] == "isolation")["detail"]


@unittest.skipUnless(os.geteuid() == 0, ROOT_NEEDED)
class WithoutAccount(unittest.TestCase):
    def test_a_user_without_an_account_does_not_run_work_as_root(self):
        with Atoll() as atoll:
            atoll.home.chmod(0o711)
            atoll.cli("user", "create", "eve")
            atoll.cli("ns", "create", "lab", "--admin", "eve")
            token = atoll.cli("token", "create", "--user", "eve", "-q").stdout.strip()
            spec = {"namespace": "lab", "command": ["id", "-u"], "directory": "/"}
            refused = atoll.wait_job(atoll.tcp("POST", "/api/v1/jobs", spec, token=token).json["id"])
            self.assertEqual(refused["outcome"], "failed")
            self.assertIn("atoll user account eve UID", atoll.cli("show", refused["id"]).stdout)
            atoll.cli("user", "account", "eve", STRANGER)
            job = atoll.wait_job(atoll.tcp("POST", "/api/v1/jobs", spec, token=token).json["id"])
            self.assertEqual(job["outcome"], "succeeded")
            self.assertEqual(atoll.cli("logs", job["id"]).stdout, f"{STRANGER}\n")


@unittest.skipUnless(os.geteuid() == 0, ROOT_NEEDED)
class Accounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 4, memory: 4Gi}\n", up=False)
        cls.addClassCleanup(cls.atoll.destroy)
        cls.atoll.home.chmod(0o711)
        cls.atoll.up()
        program = copy_of_program(cls)
        cls.ada = Account(cls.atoll, program, make_account(cls, "ada"))
        cls.bob = Account(cls.atoll, program, make_account(cls, "bob"))
        cls.stranger = Account(cls.atoll, program, pwd.getpwuid(STRANGER))
        for name, account, namespace in (("ada", cls.ada, "climate"), ("bob", cls.bob, "vision")):
            account.namespace = namespace
            cls.atoll.cli("user", "create", name, "--uid", account.uid)
            cls.atoll.cli("ns", "create", namespace, "--admin", name)

    # Who is who.

    def test_the_server_of_another_account_is_neither_missing_nor_ours_to_stop(self):
        done = self.ada.cli("down", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("belongs to another account", done.stderr)
        self.assertIn("already running under another account", self.ada.cli("up").stdout)

    def test_the_account_on_the_socket_is_the_user(self):
        for name, account in (("ada", self.ada), ("bob", self.bob)):
            with account.on_the_socket() as atoll:
                who = atoll.api("GET", "/api/v1/whoami")
            self.assertEqual(who.status, 200, who.text)
            self.assertEqual((who.json["name"], who.json["platform_admin"]), (name, False))
            job = account.submit("-n", account.namespace, "--", "true")
            self.assertEqual(self.atoll.wait_job(job)["user"], name)

    def test_an_account_that_is_no_user_is_told_what_to_do(self):
        for verb in (("ps",), ("run", "--", "true"), ("cancel", "1")):
            done = self.stranger.cli(*verb, check=False, cwd="/")
            self.assertNotEqual(done.returncode, 0, verb)
            self.assertIn(f"no user has the account {STRANGER}", done.stderr)
            self.assertIn(f"atoll user create NAME --uid {STRANGER}", done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertEqual(self.stranger.cli("ps", check=False, cwd="/").returncode, 1)

    def test_somebody_elses_token_is_needed_to_be_somebody_else(self):
        token = self.atoll.cli("token", "create", "--user", "ada", "-q").stdout.strip()
        with self.bob.on_the_socket() as atoll:
            mine = atoll.api("GET", "/api/v1/whoami")
            hers = atoll.api("GET", "/api/v1/whoami", headers={"Authorization": f"Bearer {token}"})
            wrong = atoll.api("GET", "/api/v1/whoami", headers={"Authorization": f"Bearer {token}x"})
        self.assertEqual((mine.json["name"], hers.json["name"], wrong.status), ("bob", "ada", 401))

    def test_a_disabled_account_is_shut_out_until_it_is_enabled(self):
        self.atoll.cli("user", "disable", "bob")
        self.addCleanup(self.atoll.cli, "user", "enable", "bob")
        self.assertIn("disabled", self.bob.cli("ps", check=False).stderr)
        self.atoll.cli("user", "enable", "bob")
        self.assertEqual(self.bob.cli("ps").returncode, 0)

    def test_administration_is_for_administrators(self):
        for verb in (("user", "create", "mallory"), ("user", "admin", "bob"), ("ns", "create", "mine"), ("site", "drain", "local"),
                     ("backup", self.bob.home / "all.db"), ("token", "create", "--user", "ada")):
            done = self.bob.cli(*verb, check=False)
            self.assertNotEqual(done.returncode, 0, verb)
        self.assertFalse((self.bob.home / "all.db").exists())
        self.assertEqual({user["name"] for user in self.atoll.json("user", "list")}, {"root", "ada", "bob"})

    # Whose account the work has.

    def test_work_runs_under_the_submitters_account(self):
        for account in (self.ada, self.bob):
            for level in ("none", "sandbox"):
                done = account.sh("id -u; id -g; id -G; echo $HOME; umask; touch made", "--isolation", level)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.split(), [str(account.uid), str(account.gid), str(account.gid),
                                                       str(account.home), "0022"], level)
                made = account.home / "made"
                self.assertEqual((made.stat().st_uid, made.stat().st_gid), (account.uid, account.gid))
                made.unlink()

    def test_a_script_and_its_directory_belong_to_the_submitter(self):
        script = self.ada.home / "job.sh"
        script.write_text("#!/bin/sh\nid -u\nstat -c %u $ATOLL_JOB_DIR\necho kept > $ATOLL_JOB_DIR/result\n")
        script.chmod(0o755)
        job = self.ada.submit("-n", "climate", script)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
        self.assertEqual(self.ada.cli("logs", job).stdout.split(), [str(self.ada.uid)] * 2)
        self.ada.cli("cp", f"{job}:result", self.ada.home / "result")
        self.assertEqual((self.ada.home / "result").read_text(), "kept\n")

    def test_work_does_not_start_where_its_account_may_not_go(self):
        private = self.ada.home / "private"
        self.ada.call("mkdir", "-m", "700", private)
        job = self.bob.submit("-n", "vision", "--dir", private, "--", "true")
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "failed")
        self.assertIn(str(private), self.bob.cli("show", job).stdout)

    # What is in force.

    def test_several_users_are_kept_apart_by_sandboxes_and_doctor_says_why(self):
        self.assertEqual(isolation(self.atoll), "sandbox: the platform has 3 users")
        checks = {check["check"]: check for check in self.atoll.json("doctor")}
        self.assertEqual(checks["sandbox"]["status"], "ok", checks["sandbox"])
        self.assertIn("submitter's account", checks["accounts"]["detail"])

    def test_a_sandbox_has_its_own_tmp_and_processes(self):
        shared = Path(tempfile.gettempdir()) / f"atoll-shared-{os.getpid()}"
        self.ada.call("sh", "-c", f"echo hers > {shared}; chmod 644 {shared}")
        self.addCleanup(shared.unlink)
        self.assertEqual(self.bob.call("cat", shared).stdout, "hers\n")  # it is the sandbox that hides it
        self.assertEqual(self.bob.sh(f"cat {shared}", "--isolation", "none").stdout, "hers\n")
        done = self.bob.sh(f"cat {shared}; echo his > {shared} && cat {shared}; ls /proc | grep -c '^[0-9]'")
        self.assertIn("No such file", done.stderr)
        his, processes = done.stdout.split()
        self.assertEqual(his, "his")
        self.assertLess(int(processes), 10)  # of the sandbox alone
        self.assertEqual(shared.read_text(), "hers\n")

    def test_a_sandbox_does_not_see_another_accounts_job(self):
        mark = f"atoll-hers-{os.getpid()}"
        job = self.ada.submit("-n", "climate", "--isolation", "none", "--", "bash", "-c", f"exec -a {mark} sleep 1000")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        wait_for(lambda: any(mark.encode() in proc(pid, "cmdline") for pid in all_pids()), "ada's job")
        look = f"cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[a]toll-hers-{os.getpid()}'"
        self.assertNotEqual(self.bob.sh(look, "--isolation", "none").stdout.strip(), "0")
        self.assertEqual(self.bob.sh(look).stdout.strip(), "0")

    def test_a_sandbox_sees_a_read_only_system_and_only_the_declared_directories(self):
        data = Path(tempfile.mkdtemp(prefix="atoll-data-", dir=self.bob.home))
        work = Path(tempfile.mkdtemp(prefix="atoll-work-", dir=self.bob.home))
        for folder in (data, work):
            os.chown(folder, self.bob.uid, self.bob.gid)
        look = f"for d in {data} {work} {self.ada.home} {self.atoll.home}/atoll.db; do test -e $d && echo $d; done; :"
        self.assertEqual(self.bob.sh(look, cwd=work).stdout.split(), [str(work)])
        self.assertEqual(self.bob.sh(look, "--writable", data, cwd=work).stdout.split(), [str(data), str(work)])
        refused = self.bob.sh("touch /usr/atoll-was-here /etc/atoll-was-here", cwd=work)
        self.assertEqual(refused.stderr.count("Read-only file system"), 2, refused.stderr)
        self.assertEqual(self.bob.sh("echo 1 > mine && cat mine", cwd=work).stdout, "1\n")

    def test_a_sandbox_has_a_network_unless_it_is_told_not_to(self):
        ours = os.readlink("/proc/self/ns/net")
        self.assertEqual(self.bob.sh("readlink /proc/self/ns/net").stdout.strip(), ours)
        alone = self.bob.sh("readlink /proc/self/ns/net; tail -n +3 /proc/net/dev | cut -d: -f1", "--no-network").stdout.split()
        self.assertNotEqual(alone[0], ours)
        self.assertEqual(alone[1:], ["lo"])

    # What stays theirs.

    def test_job_directory_logs_and_database_are_closed_even_without_a_sandbox(self):
        job = self.ada.submit("-n", "climate", "--env", "SECRET=hush", "--", "sh", "-c",
                              "echo hush; echo kept > $ATOLL_JOB_DIR/result; chmod 644 $ATOLL_JOB_DIR/result; echo $ATOLL_JOB_DIR")
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
        directory = self.ada.cli("logs", job).stdout.split()[-1]
        self.assertEqual(Path(directory, "result").read_text(), "kept\n")
        self.assertEqual(self.ada.call("cat", f"{directory}/result").stdout, "kept\n")
        for level in ("none", "sandbox"):
            done = self.bob.sh(f"cat {directory}/result; ls {directory}; grep -rl hush {self.atoll.home}", "--isolation", level)
            self.assertEqual(done.stdout, "", level)
        for path in (path for path in self.atoll.home.rglob("*") if path.is_file() and path.name != "atoll.yaml"):
            self.assertNotEqual(self.bob.call("test", "-r", path, check=False).returncode, 0, f"everybody can read {path}")

    def test_a_fresh_directory_of_root_lets_accounts_through_to_the_socket_and_no_further(self):
        with Atoll(up=False) as fresh:
            shutil.rmtree(fresh.home)
            fresh.cli("up", "--listen", f"127.0.0.1:{fresh.port}", cwd="/")
            fresh.cli("user", "create", "ada", "--uid", self.ada.uid)
            visitor = Account(fresh, self.ada.program, pwd.getpwuid(self.ada.uid))
            self.assertEqual(visitor.json("ps"), [])
            self.assertNotEqual(visitor.call("ls", fresh.home, check=False).returncode, 0)
            self.assertNotEqual(visitor.call("test", "-r", fresh.home / "atoll.db", check=False).returncode, 0)
            self.assertTrue(stat.S_ISSOCK((fresh.home / SOCKET).stat().st_mode))

    def test_jobs_of_another_namespace_cannot_be_seen_or_touched(self):
        job = self.ada.submit("-n", "climate", "--name", "hers", "--", "sh", "-c", "echo hush; sleep 1000")
        self.addCleanup(self.atoll.cli, "cancel", job, check=False)
        wait_for(lambda: self.ada.cli("logs", job).stdout == "hush\n", "ada's job to write")
        self.assertIn(job, self.ada.cli("ps", "-q").stdout.split())
        self.assertNotIn(job, self.bob.cli("ps", "-a", "-q").stdout.split())
        self.assertNotIn("hers", self.bob.cli("events", "--limit", "0", "-o", "jsonl").stdout)
        self.assertNotIn("climate", self.bob.cli("ns", "list", "-o", "json").stdout)
        for verb in ("show", "logs", "explain", "files", "cancel", "hold", "requeue"):
            done = self.bob.cli(verb, job, check=False)
            self.assertNotEqual(done.returncode, 0, verb)
            self.assertNotIn("hush", done.stdout + done.stderr)
        self.assertNotEqual(self.bob.cli("exec", job, "--", "id", check=False).returncode, 0)
        self.assertNotEqual(self.bob.cli("cp", f"{job}:", self.bob.home, check=False).returncode, 0)
        self.assertNotEqual(self.bob.cli("change", job, "--name", "his", check=False).returncode, 0)
        refused = self.bob.cli("submit", "-n", "climate", "--", "true", check=False)
        self.assertIn("not a member", refused.stderr)
        found = self.atoll.job(job)
        self.assertEqual((found["state"], found["name"]), ("running", "hers"))

    def test_roles_in_a_namespace_decide_what_others_may_do(self):
        self.atoll.cli("ns", "create", "shared", "--admin", "ada")
        hers = self.ada.submit("-n", "shared", "--", "sleep", "1000")
        self.addCleanup(self.atoll.cli, "cancel", hers, check=False)
        self.ada.cli("ns", "member", "shared", "bob", "--role", "viewer")
        self.assertEqual(self.bob.json("show", hers)["user"], "ada")
        self.assertNotEqual(self.bob.cli("submit", "-n", "shared", "--", "true", check=False).returncode, 0)
        self.assertNotEqual(self.bob.cli("cancel", hers, check=False).returncode, 0)
        self.ada.cli("ns", "member", "shared", "bob", "--role", "member")
        his = self.bob.submit("-n", "shared", "--", "sleep", "1000")
        self.addCleanup(self.atoll.cli, "cancel", his, check=False)
        self.assertNotEqual(self.bob.cli("cancel", hers, check=False).returncode, 0)
        self.assertNotEqual(self.atoll.job(hers)["state"], "ended")
        self.ada.cli("cancel", his)  # she is the namespace's admin
        self.assertEqual(self.atoll.wait_job(his)["outcome"], "cancelled")


class DefaultIsolation(unittest.TestCase):
    def test_one_user_needs_no_sandbox_a_second_one_brings_it_and_takes_it_away(self):
        with Atoll() as atoll:
            self.assertEqual(isolation(atoll), "none: the platform has one user, whose own machine this is")
            ours = os.readlink("/proc/self/ns/pid")
            look = ("run", "--", "readlink", "/proc/self/ns/pid")
            self.assertEqual(atoll.cli(*look).stdout.strip(), ours)
            atoll.cli("user", "create", "ada", "--uid", "4711")
            self.assertEqual(isolation(atoll), "sandbox: the platform has 2 users")
            self.assertNotEqual(atoll.cli(*look).stdout.strip(), ours)
            atoll.down()
            atoll.up()
            self.assertEqual(isolation(atoll), "sandbox: the platform has 2 users")
            atoll.cli("user", "disable", "ada")
            self.assertTrue(isolation(atoll).startswith("none: "), isolation(atoll))

    def test_the_configuration_overrules_the_number_of_users(self):
        with Atoll("sites:\n  local: {isolation: sandbox}\n") as atoll:
            self.assertEqual(isolation(atoll), "sandbox: set by sites.local.isolation in the configuration")
            self.assertNotEqual(atoll.cli("run", "--", "readlink", "/proc/self/ns/pid").stdout.strip(),
                                os.readlink("/proc/self/ns/pid"))


if __name__ == "__main__":
    unittest.main()
