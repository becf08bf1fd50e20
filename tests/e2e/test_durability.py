"""What was acknowledged survives; nothing runs twice; the server says what stands in its way."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from atoll import Atoll, PROGRAM, wait_for


class Durability(unittest.TestCase):
    def test_work_goes_on_while_the_server_is_dead_and_is_collected_afterwards(self):
        with Atoll() as atoll:
            mark = atoll.home / "ran"
            long = atoll.submit("--cpus", "0.1", "--", "sh", "-c", f"echo begin >> {mark}; sleep 2; echo end >> {mark}; exit 5")
            still = atoll.submit("--cpus", "0.1", "--", "sleep", "1000")
            wait_for(mark.exists, "it to begin")
            self.assertTrue(atoll.kill_server())
            wait_for(lambda: mark.read_text() == "begin\nend\n", "it to end without a server")
            atoll.up()
            ended = atoll.wait_job(long)
            self.assertEqual((ended["outcome"], ended["exit_code"]), ("failed", 5))
            self.assertEqual(mark.read_text(), "begin\nend\n")
            self.assertEqual(atoll.job(still)["state"], "running")
            atoll.cli("cancel", still, "--grace", "0s")

    def test_down_leaves_the_work_running(self):
        with Atoll() as atoll:
            job = atoll.submit("--", "sh", "-c", "sleep 1; echo through")
            wait_for(lambda: atoll.job(job)["state"] == "running", "it to run")
            atoll.down()
            atoll.up()
            self.assertEqual(atoll.wait_job(job)["outcome"], "succeeded")
            self.assertEqual(atoll.logs(job), "through\n")

    def test_a_killed_warden_is_told_and_nothing_is_left_behind(self):
        with Atoll() as atoll:
            job = atoll.submit("--", "sh", "-c", "echo attempt $ATOLL_ATTEMPT; sleep 2")
            wait_for(lambda: atoll.job(job)["state"] == "running", "it to run")
            self.assertTrue(atoll.kill_warden())
            ended = atoll.wait_job(job)
            self.assertEqual(ended["outcome"], "succeeded")
            attempts = atoll.api("GET", f"/api/v1/jobs/{job}/attempts").json
            self.assertIn("lost", str(attempts))

    def test_a_second_server_on_the_same_directory_is_refused(self):
        with Atoll() as atoll:
            second = subprocess.run([PROGRAM, "up", "--foreground", "--home", atoll.home, "--listen", "127.0.0.1:0"],
                                    capture_output=True, text=True, env=atoll.env, timeout=30)
            self.assertNotEqual(second.returncode, 0)
            self.assertIn(str(atoll.server_pids()[0]), second.stderr)
            self.assertEqual(atoll.cli("run", "--", "echo", "fine").stdout, "fine\n")

    def test_a_log_is_neither_lost_nor_doubled_across_a_restart(self):
        with Atoll() as atoll:
            job = atoll.submit("--", "sh", "-c", "for i in $(seq 1 40); do echo line $i; sleep 0.1; done")
            follower = subprocess.Popen([PROGRAM, "logs", "-f", job], env=atoll.env, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
            time.sleep(1)
            atoll.kill_server()
            atoll.up()
            out, _ = follower.communicate(timeout=60)
            self.assertEqual(out, "".join(f"line {i}\n" for i in range(1, 41)))

    def test_backup_while_it_runs_and_restore(self):
        with Atoll() as atoll:
            job = atoll.submit("--name", "kept", "--", "true")
            atoll.wait_job(job)
            file = atoll.home / "copy.backup"
            atoll.cli("backup", file)
            other = Path(tempfile.mkdtemp(prefix="atoll-test-")) / "restored"
            atoll.cli("restore", file, "--home", other)
            again = atoll.cli("restore", file, "--home", other, check=False)
            self.assertNotEqual(again.returncode, 0)
            with Atoll(home=other) as restored:
                self.assertEqual(restored.job(job)["name"], "kept")
                self.assertGreater(int(restored.submit("--", "true")), int(job))
            shutil.rmtree(other.parent, ignore_errors=True)

    def test_a_newer_format_is_refused_with_a_clear_message(self):
        with Atoll() as atoll:
            atoll.down()
            db = sqlite3.connect(atoll.home / "atoll.db")
            table = dict(db.execute("select key, value from meta").fetchall()) if "meta" in str(
                db.execute("select name from sqlite_master").fetchall()) else {}
            for key in table:
                if "format" in str(key):
                    db.execute("update meta set value = ? where key = ?", (999, key))
            db.execute("pragma user_version = 999")
            db.commit()
            db.close()
            refused = atoll.cli("up", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("newer", refused.stdout + refused.stderr)

    def test_a_damaged_journal_is_reported_with_what_was_kept(self):
        with Atoll() as atoll:
            for _ in range(5):
                atoll.wait_job(atoll.submit("--", "true"))
            atoll.down()
            db = sqlite3.connect(atoll.home / "atoll.db")
            last = db.execute("select max(seq) from journal").fetchone()[0]
            row = db.execute("select bytes from journal where seq = ?", (last - 2,)).fetchone()[0]
            damaged = bytearray(row)
            damaged[len(damaged) // 2] ^= 0x55
            db.execute("update journal set bytes = ? where seq = ?", (bytes(damaged), last - 2))
            db.commit()
            db.close()
            refused = atoll.cli("up", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(str(last - 2), refused.stdout + refused.stderr)

    def test_the_doctor_finds_what_is_damaged_and_no_backup_is_made_of_it(self):
        with Atoll() as atoll:
            atoll.wait_job(atoll.submit("--", "true"))
            self.assertIn("is whole", self.journal_check(atoll)["detail"])
            atoll.down()
            db = sqlite3.connect(atoll.home / "atoll.db")
            db.execute("update blobs set bytes = bytes || x'00'")
            db.commit()
            db.close()
            self.assertIn("payload 1 is damaged", self.journal_check(atoll, 1)["detail"])
            atoll.up()
            self.assertIn("payload 1 is damaged", self.journal_check(atoll, 1)["detail"])
            refused = atoll.cli("backup", atoll.home / "copy.atoll", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("payload 1 is damaged", refused.stderr)
            self.assertFalse((atoll.home / "copy.atoll").exists())
            nowhere = atoll.cli("backup", atoll.home / "nowhere" / "copy", check=False)
            self.assertEqual(nowhere.returncode, 2)
            self.assertIn("nowhere", nowhere.stderr)

    def journal_check(self, atoll, code=0):
        done = atoll.cli("doctor", "-o", "json", check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return next(check for check in json.loads(done.stdout) if check["check"] == "journal")

    def test_a_damaged_snapshot_is_passed_over_and_named_in_the_log(self):
        with Atoll() as atoll:
            job = atoll.wait_job(atoll.submit("--", "true"))
            atoll.down()
            snapshots = atoll.home / "snapshots"
            snapshots.mkdir(exist_ok=True)
            (snapshots / "3.snap").write_bytes(b"no snapshot at all")
            atoll.up()
            self.assertEqual(atoll.json("show", job["id"])["outcome"], "succeeded")
            self.assertIn("3.snap is damaged", (atoll.home / "server.log").read_text())

    def test_an_unusable_directory_is_a_clear_error(self):
        with tempfile.TemporaryDirectory() as directory:
            blocked = Path(directory) / "file"
            blocked.write_text("not a directory")
            for home in (blocked, blocked / "below"):
                done = subprocess.run([PROGRAM, "up", "--home", home], capture_output=True, text=True, timeout=30,
                                      env={**os.environ, "NO_COLOR": "1"})
                self.assertEqual(done.returncode, 1, "nothing to try again")
                self.assertIn(f"cannot make the data directory {home}: {blocked} is not a directory", done.stderr)

    def test_what_is_no_backup_is_refused_and_nothing_is_touched(self):
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            (folder / "text").write_text("no backup")
            (folder / "empty").touch()
            (folder / "folder").mkdir()
            with contextlib.closing(sqlite3.connect(folder / "other.db")) as other:
                other.execute("create table other(x)")
                other.commit()
            damaged = bytearray((folder / "other.db").read_bytes())
            damaged[68:72] = b"ATOL"
            (folder / "damaged").write_bytes(damaged)
            before = sorted(folder.rglob("*"))
            for name, code, words in (("text", 2, "text is not a backup of Atoll"), ("empty", 2, "empty is not a backup of Atoll"),
                                      ("other.db", 2, "other.db is not a backup of Atoll"), ("folder", 2, "folder is a directory"),
                                      ("none", 2, "none: No such file"), ("damaged", None, "damaged cannot be restored")):
                done = subprocess.run([PROGRAM, "restore", folder / name, "--home", folder / "home"], capture_output=True,
                                      text=True, timeout=30, env={**os.environ, "NO_COLOR": "1"})
                self.assertNotEqual(done.returncode, 0, name)
                self.assertEqual(done.returncode, code or done.returncode, name)
                self.assertIn(words, done.stderr)
                self.assertEqual(sorted(folder.rglob("*")), before, name)

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small file system needs root")
    def test_a_full_disk_refuses_new_work_keeps_the_old_and_goes_on_when_space_returns(self):
        home = Path(tempfile.mkdtemp(prefix="atoll-test-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", home], check=True)
        try:
            with Atoll(home=home) as atoll:
                kept = atoll.submit("--name", "before", "--", "true")
                atoll.wait_job(kept)
                filler = home / "filler"
                with filler.open("wb") as out:
                    try:
                        while True:
                            out.write(b"x" * 65536)
                            out.flush()
                    except OSError:
                        pass
                spec = {"namespace": "default", "command": ["true"], "env": {"BIG": "y" * 20000}}
                refused = wait_for(lambda: (a := atoll.api("POST", "/api/v1/jobs", spec)).status == 503 and a,
                                   "the disk to be full", 60)
                self.assertIn("read-only", refused.text)
                self.assertEqual(atoll.api("GET", "/readyz").status, 503)
                self.assertEqual(atoll.job(kept)["name"], "before")
                filler.unlink()
                wait_for(lambda: atoll.api("GET", "/readyz").status == 200, "it to take writes again")
                self.assertEqual(atoll.cli("run", "--", "echo", "again").stdout, "again\n")
        finally:
            subprocess.run(["umount", "-l", home], check=False)
            shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
