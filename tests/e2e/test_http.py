"""The API under bad input: precise errors, nothing lost, nothing leaked."""

import http.client
import json
import os
import socket
import time
import unittest

from atoll import Atoll, UnixConnection, wait_for

JOB = {"namespace": "default", "command": ["true"]}


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  local: {cpus: 4, memory: 4Gi}\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def refused(self, body, status, field=None, **options):
        answer = self.atoll.api("POST", "/api/v1/jobs", body, **options)
        self.assertEqual(answer.status, status, answer.text)
        self.assertIn("application/problem+json", answer.headers["Content-Type"])
        if field:
            self.assertEqual(answer.json["field"], field, answer.text)
        return answer.json

    def test_unknown_fields_wrong_types_and_absurd_amounts_are_named(self):
        self.assertIn("command", self.refused({**JOB, "comand": ["x"]}, 400, "comand")["detail"])
        self.refused({**JOB, "cpus": "many"}, 400, "cpus")
        self.refused({**JOB, "cpus": -1}, 400, "cpus")
        self.refused({**JOB, "cpus": 1e300}, 400, "cpus")
        self.refused({**JOB, "memory": "-5Gi"}, 400, "memory")
        self.refused({**JOB, "priority": 10**30}, 400, "priority")
        self.refused({**JOB, "command": "true"}, 400, "command")
        self.refused({**JOB, "command": [1]}, 400)
        self.refused({**JOB, "array": "1-99999999999"}, 400, "array")
        self.refused({**JOB, "after": ["999999"]}, 400, "after")
        self.refused({**JOB, "env": {"A=B": "c"}}, 400)
        self.refused({**JOB, "name": "../../etc/passwd"}, 400, "name")
        self.refused({**JOB, "name": "a\u0007b"}, 400, "name")
        self.refused({**JOB, "name": "x" * 10000}, 400, "name")
        self.refused({**JOB, "namespace": "no-such"}, 404, "namespace")
        self.refused([], 400)
        self.refused("{", 400)
        self.refused("[" * 100000, 400)
        self.refused("nul\0", 400)

    def test_a_batch_is_all_or_nothing_and_names_the_culprit(self):
        before = self.atoll.api("GET", "/api/v1/jobs?limit=1").json
        bad = self.refused({"jobs": [JOB, {**JOB, "cpus": -1}]}, 400)
        self.assertIn("jobs[1]", bad["field"])
        self.assertEqual(self.atoll.api("GET", "/api/v1/jobs?limit=1").json, before)
        answer = self.atoll.api("POST", "/api/v1/jobs", {"jobs": [JOB] * 50})
        self.assertEqual(answer.status, 201, answer.text)

    def test_a_gigabyte_is_refused_before_it_is_read(self):
        connection = UnixConnection(str(self.atoll.home / "atoll.sock"), 30)
        connection.putrequest("POST", "/api/v1/jobs")
        connection.putheader("Content-Length", str(1 << 30))
        connection.putheader("Content-Type", "application/json")
        connection.endheaders()
        try:
            for _ in range(64):
                connection.send(b"x" * 65536)
        except OSError:
            pass
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()
        self.assertLess(self.rss(), 200 << 20)

    def test_large_bodies_of_strangers_are_not_read(self):
        strangers = []
        for _ in range(20):
            s = socket.create_connection(("127.0.0.1", self.atoll.port), 30)
            s.sendall(b"PUT /api/v1/jobs/1/files/a HTTP/1.1\r\nHost: x\r\nContent-Length: 200000000\r\n\r\n")
            try:
                s.sendall(b"x" * (1 << 20))
            except OSError:
                pass
            strangers.append(s)
        for s in strangers:
            self.assertTrue(s.recv(100).startswith(b"HTTP/1.1 401 "))
            s.close()
        self.assertLess(self.rss(), 200 << 20)

    def test_a_million_line_script_runs_and_a_larger_one_is_refused_with_the_limit(self):
        script = "#!/bin/sh\n" + "#\n" * 1_000_000 + "echo through\n"
        job = self.atoll.api("POST", "/api/v1/jobs", {"namespace": "default", "script": script}).json["id"]
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
        self.assertEqual(self.atoll.logs(job), "through\n")
        larger = self.refused({"namespace": "default", "script": script * 3}, 400, "script")
        self.assertIn("4194304", larger["detail"])

    def test_slow_and_half_open_clients_do_not_stop_the_others(self):
        slow = []
        for _ in range(50):
            s = socket.create_connection(("127.0.0.1", self.atoll.port))
            s.send(b"GET /healthz HT")
            slow.append(s)
        for _ in range(20):
            self.assertEqual(self.atoll.api("GET", "/healthz").status, 200)
        for s in slow:
            s.close()

    def test_hostile_paths(self):
        for path in ("/api/v1/jobs/0", "/api/v1/jobs/-1", "/api/v1/jobs/abc", "/api/v1/jobs/99999999999999999999", "/api/v1/jobs/%00",
                     "/api/v1/jobs/1%2f..%2f2", "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/jobs/1[", "/nothing", "/api/v1/jobs?limit=-1",
                     "/api/v1/jobs?limit=abc", "/api/v1/jobs?cursor=garbage", "/api/v1/jobs?nonsense=1"):
            answer = self.atoll.api("GET", path)
            self.assertIn(answer.status, (400, 404), path)
            self.assertIn("problem+json", answer.headers["Content-Type"], path)
        self.assertEqual(self.atoll.api("PUT", "/api/v1/jobs").status, 405)

    def test_idempotency_key(self):
        headers = {"Idempotency-Key": "one"}
        first = self.atoll.api("POST", "/api/v1/jobs", JOB, headers=headers)
        again = self.atoll.api("POST", "/api/v1/jobs", JOB, headers=headers)
        self.assertEqual(first.json["id"], again.json["id"])

    def test_etag_and_if_match(self):
        job = self.atoll.api("POST", "/api/v1/jobs", {**JOB, "hold": True}).json["id"]
        shown = self.atoll.api("GET", f"/api/v1/jobs/{job}")
        etag = shown.headers["ETag"]
        self.assertTrue(etag)
        changed = self.atoll.api("PATCH", f"/api/v1/jobs/{job}", {"priority": 5}, headers={"If-Match": etag})
        self.assertEqual(changed.status, 200, changed.text)
        stale = self.atoll.api("PATCH", f"/api/v1/jobs/{job}", {"priority": 6}, headers={"If-Match": etag})
        self.assertEqual(stale.status, 412, stale.text)
        self.atoll.api("POST", f"/api/v1/jobs/{job}/cancel")

    def test_pages_link_to_the_next_and_hold_everything_once(self):
        self.atoll.api("POST", "/api/v1/jobs", {"jobs": [{**JOB, "labels": {"page": "yes"}}] * 57})
        path, seen = "/api/v1/jobs?limit=10&label=page=yes", []
        while path:
            answer = self.atoll.api("GET", path)
            seen += [row["id"] for row in answer.json["jobs"]]
            link = answer.headers.get("Link", "")
            path = link[link.index("<") + 1:link.index(">")] if "next" in link else None
        self.assertEqual(len(seen), 57)
        self.assertEqual(sorted(seen, key=int, reverse=True), seen)
        self.assertEqual(len(set(seen)), 57)

    def test_events_stream_from_a_position_and_miss_nothing(self):
        job = self.atoll.api("POST", "/api/v1/jobs", JOB).json["id"]
        self.atoll.wait_job(job)
        events = self.read_events({"Last-Event-ID": "0"}, lambda seen: any(
            e[1] == "job_ended" and f'"{job}"' in e[2].replace(" ", "") or e[1] == "job_ended" and f':{job}' in e[2].replace(" ", "") for e in seen))
        ids = [int(e[0]) for e in events if e[0]]
        self.assertEqual(ids, sorted(ids))
        half = ids[len(ids) // 2]
        resumed = self.read_events({"Last-Event-ID": str(half)}, lambda seen: any(e[0] for e in seen))
        self.assertEqual([e for e in resumed if e[0]][0][0], str(ids[ids.index(half) + 1]))

    def read_events(self, headers, enough):
        connection = UnixConnection(str(self.atoll.home / "atoll.sock"), 10)
        connection.request("GET", "/api/v1/events", headers={"Accept": "text/event-stream", **headers})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        seen, event = [], ["", "", ""]
        while not enough(seen):
            line = answer.readline().decode().rstrip("\n")
            if not line:
                if event[2]:
                    seen.append(tuple(event))
                event = ["", "", ""]
            for i, name in enumerate(("id", "event", "data")):
                if line.startswith(name + ":"):
                    event[i] = line[len(name) + 1:].strip()
        connection.close()
        return seen

    def test_tokens_are_scoped_shown_once_and_revocable(self):
        created = self.atoll.json("token", "create", "--read-only", "--note", "ci")
        secret = created["token"]
        self.assertEqual(self.atoll.tcp("GET", "/api/v1/jobs", token=secret).status, 200)
        self.assertEqual(self.atoll.tcp("POST", "/api/v1/jobs", JOB, token=secret).status, 403)
        self.assertEqual(self.atoll.tcp("GET", "/api/v1/jobs").status, 401)
        self.assertEqual(self.atoll.tcp("GET", "/api/v1/jobs", token="atl_wrong").status, 401)
        listed = self.atoll.api("GET", "/api/v1/tokens")
        self.assertNotIn(secret, listed.text)
        database = (self.atoll.home / "atoll.db").read_bytes() + (self.atoll.home / "atoll.db-wal").read_bytes()
        self.assertNotIn(secret.encode(), database)
        self.atoll.cli("token", "revoke", created["id"])
        self.assertEqual(self.atoll.tcp("GET", "/api/v1/jobs", token=secret).status, 401)

    def test_a_token_of_another_namespace_sees_nothing(self):
        self.atoll.cli("ns", "create", "other")
        token = self.atoll.json("token", "create", "--ns", "other")["token"]
        job = self.atoll.api("POST", "/api/v1/jobs", JOB).json["id"]
        self.assertEqual(self.atoll.tcp("GET", f"/api/v1/jobs/{job}", token=token).status, 404)
        self.assertEqual(self.atoll.tcp("GET", "/api/v1/jobs", token=token).json["jobs"], [])
        self.assertEqual(self.atoll.tcp("POST", "/api/v1/jobs", JOB, token=token).status, 404)

    def test_health_version_metrics_docs(self):
        for path in ("/", "/healthz", "/livez", "/readyz", "/version", "/openapi.json"):
            self.assertEqual(self.atoll.tcp("GET", path).status, 200, path)
        metrics = self.atoll.api("GET", "/metrics")
        self.assertEqual(metrics.status, 200)
        self.assertIn("atoll_", metrics.text)
        docs = self.atoll.tcp("GET", "/docs").text
        self.assertIn("/api/v1/jobs", docs)
        self.assertNotIn("https://cdn", docs)

    def rss(self):
        with open(f"/proc/{self.atoll.server_pids()[0]}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


if __name__ == "__main__":
    unittest.main()
