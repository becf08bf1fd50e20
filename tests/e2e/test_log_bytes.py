"""Promise 9 on the real binary: log bytes are neither lost nor doubled, whoever dies or disconnects meanwhile.

A task writes numbered lines while the server, or the warden, is killed and started again. Its output is read by offset,
followed as a stream of events that resumes with Last-Event-ID, and followed by the command line.
"""

import base64
import contextlib
import http.client
import json
import os
import random
import subprocess
import threading
import time
import unittest

from atoll import PROGRAM, SOCKET, Atoll, UnixConnection, wait_for

LINES = 20_000
KILLS = 6
SEED = int(os.environ.get("ATOLL_CHAOS_SEED", str(time.time_ns() % 1_000_000)))

# Lines of every length, some with what a stream of events cannot carry as text; written in pieces that end anywhere.
LINE = r"""
def line(i):
    return (f"{i:06d} " + "é" * (i % 40) + ("\r" if i % 97 == 0 else "") + "\n").encode()
"""
WRITER = LINE + f"""
import os, time
out = b"".join(line(i) for i in range({LINES}))
at, step = 0, 1
while at < len(out):
    at += os.write(1, out[at:at + step])
    step = step * 7 % 2999 + 1
    time.sleep(0.02)
"""
scope = {}
exec(LINE, scope)  # noqa: S102 — the same lines as the task's
EXPECTED = b"".join(scope["line"](i) for i in range(LINES))
AWAY = (OSError, http.client.HTTPException)


class Pager(threading.Thread):
    """Reads by offset, in pages of any size, until the job has ended and nothing is left."""

    def __init__(self, atoll, job, chance):
        super().__init__(daemon=True)
        self.atoll, self.job, self.chance = atoll, job, chance
        self.bytes = b""

    def run(self):
        ended = False
        while True:
            with contextlib.suppress(*AWAY):
                path = f"/api/v1/jobs/{self.job}/logs?attempt=1&offset={len(self.bytes)}&limit={self.chance.randint(1, 99999)}"
                connection = UnixConnection(str(self.atoll.home / SOCKET), 10)
                with contextlib.closing(connection):
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    page = answer.read()
                if answer.status == 200 and page:
                    assert int(answer.headers["X-Atoll-Offset"]) == len(self.bytes)
                    self.bytes += page
                    continue
                if ended:
                    return
                ended = self.atoll.job(self.job)["state"] == "ended"
            time.sleep(0.02)


class Follower(threading.Thread):
    """Follows the stream of events; where it breaks, or where this reader breaks it, goes on behind the last event that
    came whole. `attempts` is the output by attempt."""

    def __init__(self, atoll, job, chance):
        super().__init__(daemon=True)
        self.atoll, self.job, self.chance = atoll, job, chance
        self.attempts, self.last, self.end, self.connections = {}, "", None, 0

    def run(self):
        while self.end is None:
            with contextlib.suppress(*AWAY):
                self.follow(self.chance.randint(1, 400_000))
            time.sleep(0.01)

    def follow(self, patience):
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": self.last} if self.last else {})}
        connection = UnixConnection(str(self.atoll.home / SOCKET), 10)
        with contextlib.closing(connection):
            connection.request("GET", f"/api/v1/jobs/{self.job}/logs", headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                return
            self.connections += 1
            kept = b""
            while patience > 0 and self.end is None and (piece := answer.read1(65536)):
                patience -= len(piece)
                *events, kept = (kept + piece).split(b"\n\n")
                for event in events:
                    self.take(event)

    def take(self, event):
        fields = {}
        for line in event.split(b"\n"):
            name, _, value = line.partition(b": ") if b": " in line else line.partition(b":")
            fields.setdefault(name, []).append(value)
        kind, data = fields.get(b"event", [b""])[0], b"\n".join(fields.get(b"data", []))
        assert kind != b"cut", event
        self.last = fields[b"id"][0].decode() if b"id" in fields else self.last
        if kind in (b"output", b"base64"):
            attempt, _, end = self.last.partition(".")
            grown = self.attempts.get(int(attempt), b"") + (base64.b64decode(data) if kind == b"base64" else data)
            assert len(grown) == int(end), f"{len(grown)} bytes make up to {self.last}"
            self.attempts[int(attempt)] = grown
        elif kind == b"end":
            self.end = json.loads(data)


class LogBytes(unittest.TestCase):
    def setUp(self):
        print(f"seed {SEED}: run again with ATOLL_CHAOS_SEED={SEED}")
        self.chance = random.Random(SEED)
        self.atoll = Atoll()
        self.addCleanup(self.atoll.destroy)

    def begin(self):
        job = self.atoll.submit("--", "/usr/bin/python3", "-c", WRITER)
        wait_for(lambda: self.atoll.job(job)["state"] == "running", "the job to run")
        readers = [kind(self.atoll, job, random.Random(self.chance.random())) for kind in (Pager, Follower)]
        for reader in readers:
            reader.start()
        return job, *readers

    def assert_bytes(self, got, wanted, who):
        """Without printing megabytes."""
        same = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
        self.assertEqual((len(got), same), (len(wanted), len(wanted)),
                         f"{who} differs at {same}: {got[same:same + 60]!r}, not {wanted[same:same + 60]!r}")

    def test_across_kills_of_the_server(self):
        job, pager, follower = self.begin()
        with open(self.atoll.home / "followed", "wb") as out:
            cli = subprocess.Popen([PROGRAM, "logs", "--follow", job], env=self.atoll.env, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.PIPE)
        self.addCleanup(cli.kill)
        for _ in range(KILLS):
            time.sleep(self.chance.uniform(0.1, 0.8))
            self.assertTrue(self.atoll.kill_server())
            time.sleep(self.chance.uniform(0.0, 0.3))
            self.atoll.up()
        self.assertEqual(self.atoll.job(job)["state"], "running", "the kills came too late to matter")
        ended = self.atoll.wait_job(job, 120)
        self.assertEqual((ended["outcome"], len(ended["attempts"])), ("succeeded", 1))
        for reader in (pager, follower):
            reader.join(60)
            self.assertFalse(reader.is_alive(), f"{type(reader).__name__} did not come to the end")
        _, said = cli.communicate(timeout=60)
        self.assertGreater(follower.connections, KILLS)
        self.assert_bytes(pager.bytes, EXPECTED, "what was read by offset")
        self.assert_bytes(follower.attempts[1], EXPECTED, "what was followed")
        self.assert_bytes((self.atoll.home / "followed").read_bytes(), EXPECTED, "what the command line followed")
        self.assertEqual(cli.returncode, 0, said)
        self.assertEqual(follower.end["outcome"], "succeeded")
        self.assertEqual(ended["attempts"][0]["stdout_bytes"], len(EXPECTED))

    def test_across_a_kill_of_the_warden(self):
        job, pager, follower = self.begin()
        wait_for(lambda: len(pager.bytes) > 20_000, "some output")
        self.assertTrue(self.atoll.kill_warden())
        ended = self.atoll.wait_job(job, 120)
        self.assertEqual([attempt["outcome"] for attempt in ended["attempts"]], ["lost", "succeeded"], ended)
        for reader in (pager, follower):
            reader.join(60)
            self.assertFalse(reader.is_alive(), f"{type(reader).__name__} did not come to the end")
        # What the first attempt wrote before it was ended, and no byte of the second.
        self.assertGreater(len(pager.bytes), 20_000)
        self.assert_bytes(pager.bytes, EXPECTED[:len(pager.bytes)], "the lost attempt")
        self.assert_bytes(follower.attempts[1], pager.bytes, "the lost attempt as it was followed")
        self.assert_bytes(follower.attempts[2], EXPECTED, "the second attempt")
        self.assertEqual(sorted(follower.attempts), [1, 2])


if __name__ == "__main__":
    unittest.main()
