"""Queues on the real binary: durable, leased to one at a time, done once."""

import base64
import subprocess
import threading
import time
import unittest
import urllib.parse

from atoll import PROGRAM, Atoll, wait_for

QUEUES = "/api/v1/namespaces/default/queues"


class Queues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll()
        cls.addClassCleanup(cls.atoll.destroy)

    def setUp(self):
        self.queue = self.id().rpartition(".")[2].replace("_", "-")[:60]
        self.atoll.cli("queue", "create", self.queue)

    def ask(self, verb, body=None, method="POST", status=None):
        answer = self.atoll.api(method, f"{QUEUES}/{self.queue}" + (f"/{verb}" if verb else ""), body)
        if status:
            self.assertEqual(answer.status, status, answer.text)
        return answer

    def put(self, *bodies, **members):
        return self.ask("items", {"items": [{"body": body, **members} for body in bodies]}, status=201).json["items"]

    def lease(self, **wish):
        return self.ask("lease", wish, status=200).json

    def stats(self):
        return self.atoll.json("queue", "stats", self.queue)

    # The life of items.

    def test_items_are_leased_by_priority_and_done_once(self):
        self.put("low", "next")
        self.put("high", priority=5)
        first = self.lease(max=2)
        self.assertEqual([item["body"] for item in first["items"]], ["high", "low"])
        self.assertEqual(self.ask("done", {"lease": first["lease"]}).json, {"count": 2, "left": 0})
        self.ask("done", {"lease": first["lease"]}, status=409)
        self.assertEqual(self.stats()["done"], 2)
        self.assertEqual(self.stats()["ready"], 1)

    def test_what_was_leased_when_the_server_was_killed_is_done_by_its_holder(self):
        self.put("a", "b")
        held = self.lease(visibility="10m")
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        # The lease outlived the server, and nobody else gets the item.
        self.assertEqual([item["body"] for item in self.lease(max=10)["items"]], ["b"])
        self.ask("done", {"lease": held["lease"]}, status=200)
        self.ask("done", {"lease": held["lease"]}, status=409)
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        self.assertEqual((self.stats()["done"], self.stats()["leased"]), (1, 1))

    def test_an_expired_lease_gives_its_item_to_another(self):
        self.put("slow")
        late = self.lease(visibility="1s")
        again = self.lease(wait="20s")
        self.assertEqual(again["items"][0]["attempt"], 2)
        refused = self.ask("done", {"lease": late["lease"]}, status=409)
        self.assertIn("time ran out", refused.text)
        self.ask("extend", {"leases": [late["lease"]]}, status=409)
        self.ask("done", {"lease": again["lease"]}, status=200)

    def test_a_worker_that_waits_is_served_when_an_item_comes(self):
        got = []
        worker = threading.Thread(target=lambda: got.append(self.lease(wait="30s")))
        worker.start()
        time.sleep(0.2)
        self.assertTrue(worker.is_alive())
        self.put("late")
        worker.join(25)
        self.assertEqual(got[0]["items"][0]["body"], "late")

    def test_dead_letters_are_shown_put_back_and_removed(self):
        self.ask("", {"attempts": 1}, method="PATCH", status=200)
        self.put("bad", "worse")
        lease = self.lease(max=2)["lease"]
        self.atoll.cli("queue", "retry", self.queue, lease, "--message", "no disk")
        dead = self.atoll.json("queue", "dead", self.queue)
        self.assertEqual([(item["body"], item["message"]) for item in dead], [("bad", "no disk"), ("worse", "no disk")])
        self.assertIn("put back 1", self.atoll.cli("queue", "dead", self.queue, "--restore", dead[0]["id"]).stdout)
        self.assertIn("removed 1", self.atoll.cli("queue", "dead", self.queue, "--remove").stdout)
        self.assertEqual((self.stats()["ready"], self.stats()["dead"]), (1, 0))

    def test_a_closed_queue_takes_no_more_and_tells_its_workers(self):
        self.put("last")
        self.atoll.cli("queue", "close", self.queue)
        refused = self.atoll.cli("queue", "put", self.queue, "more", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is closed", refused.stderr)
        lease = self.lease()["lease"]
        self.ask("done", {"lease": lease}, status=200)
        nothing = self.lease(wait="30s")
        self.assertEqual((nothing["items"], nothing["left"], nothing["closed"]), ([], 0, True))
        self.assertEqual(self.atoll.cli("queue", "lease", self.queue, check=False).returncode, 75)

    # Bodies and names.

    def test_any_bytes_come_back_as_they_were_sent(self):
        bodies = [b"", b"\x00\xff\xfe", "é😀\u0000".encode(), b"x" * (256 << 10), bytes(range(256))]
        for body in bodies:
            self.ask("items", {"items": [{"base64": base64.b64encode(body).decode()}]}, status=201)
        self.atoll.kill_server()
        self.atoll.up()
        items = self.lease(max=10)["items"]
        self.assertEqual([base64.b64decode(item["base64"]) if "base64" in item else item["body"].encode()
                          for item in items], bodies)

    def test_what_is_too_large_or_malformed_is_refused_whole(self):
        big = {"items": [{"body": "fine"}, {"body": "x" * ((256 << 10) + 1)}]}
        self.assertIn("items[1].body", self.ask("items", big, status=413).text)
        self.ask("items", {"items": [{"body": "x" * (17 << 20)}]}, status=413)
        self.ask("items", {"items": [{"base64": "not base64"}]}, status=400)
        self.ask("items", {"items": [{"body": "a"}] * 10_001}, status=400)
        self.ask("items", {"items": "a"}, status=400)
        self.ask("items", b"\xff\xfe", status=400)
        self.ask("lease", {"max": 100_000}, status=400)
        self.ask("lease", {"visibility": "0s"}, status=400)
        self.ask("done", {"lease": 987654321}, status=409)
        self.ask("done", {"lease": -1}, status=400)
        self.ask("retry", {"lease": 1, "message": "x" * 5000}, status=400)
        self.assertEqual(self.stats()["put"], 0)

    def test_hostile_names_are_refused(self):
        for name in ("../etc", "a/b", "a b", "", "A", "x" * 64, "é", "a;b", "\u202e", "-x", "a\x00b"):
            answer = self.atoll.api("POST", QUEUES, {"name": name})
            self.assertEqual(answer.status, 400, name)
            quoted = urllib.parse.quote(name, safe="")
            if name and "\x00" not in name:
                self.assertIn(self.atoll.api("POST", f"{QUEUES}/{quoted}/lease", {}).status, (400, 404), name)

    def test_a_key_is_put_once(self):
        self.assertEqual(self.put("a", key="k"), self.put("a", key="k"))
        self.assertEqual(self.stats()["ready"], 1)

    # The command line.

    def test_lines_of_a_file_and_of_standard_input_are_items(self):
        (self.atoll.home / "lines").write_text("one\n\ntwo\nthree")
        self.assertEqual(self.atoll.cli("queue", "put", self.queue, "-f", "lines").stdout,
                         f"put 3 items into {self.queue}\n")
        self.assertEqual(self.atoll.json("queue", "put", self.queue, "-", stdin="four\nfive\n")["put"], 2)
        bodies = [item["body"] for item in self.atoll.json("queue", "lease", self.queue, "--max", 9)["items"]]
        self.assertEqual(bodies, ["one", "two", "three", "four", "five"])

    def test_work_runs_a_command_per_item_until_the_queue_is_dry(self):
        self.atoll.cli("queue", "put", self.queue, "-", stdin="".join(f"{i}\n" for i in range(40)))
        done = self.atoll.cli("queue", "work", self.queue, "--parallel", 4, "--", "sh", "-c",
                              'test "$(cat)" = "$ATOLL_ITEM" && echo "did $ATOLL_ITEM"')
        self.assertEqual(sorted(done.stdout.split("\n")), sorted([f"did {i}" for i in range(40)] + [""]))
        self.assertIn("done 40", done.stderr)
        self.assertEqual((self.stats()["done"], self.stats()["leased"]), (40, 0))

    def test_work_that_fails_is_tried_again_and_then_dead(self):
        self.ask("", {"attempts": 2}, method="PATCH", status=200)
        self.put("good", "bad")
        done = self.atoll.cli("queue", "work", self.queue, "--retry-delay", "0s", "--", "sh", "-c",
                              '[ "$ATOLL_ITEM" = good ]', check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("done 1, given back 1, dead 1", done.stderr)
        dead = self.atoll.json("queue", "dead", self.queue)
        self.assertEqual([(item["body"], item["message"]) for item in dead], [("bad", "exit code 1")])

    def test_work_keeps_its_lease_while_the_command_runs(self):
        self.put("long")
        done = self.atoll.cli("queue", "work", self.queue, "--visibility", "1s", "--", "sleep", "3")
        self.assertIn("done 1", done.stderr)
        self.assertEqual(self.stats()["expired"], 0)

    def test_work_goes_on_over_a_kill_of_the_server(self):
        self.put(*map(str, range(20)))
        out = self.atoll.home / "did"
        worker = subprocess.Popen([str(PROGRAM), "queue", "work", self.queue, "--parallel", "2", "--", "sh", "-c",
                                   f'sleep 0.1; echo "$ATOLL_ITEM" >>{out}'],
                                  env=self.atoll.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for(out.exists, "the first item")
        self.atoll.kill_server()
        self.atoll.up()
        _, err = worker.communicate(timeout=90)
        self.assertEqual(worker.returncode, 0, err)
        self.assertEqual(set(out.read_text().split()), set(map(str, range(20))))
        self.assertEqual((self.stats()["done"], self.stats()["leased"], self.stats()["dead"]), (20, 0, 0))

    def test_purge_and_delete(self):
        self.put("a", "b")
        refused = self.atoll.cli("queue", "delete", self.queue, "--yes", check=False)
        self.assertIn("still has 2 items", refused.stderr)
        self.assertIn("removed 2 items", self.atoll.cli("queue", "purge", self.queue, "--yes").stdout)
        self.put("c")
        self.atoll.cli("queue", "delete", self.queue, "--force", "--yes")
        self.assertNotIn(self.queue, [queue["name"] for queue in self.atoll.json("queue", "list")])


class Crashes(unittest.TestCase):
    def test_no_item_is_lost_or_done_twice_over_kills(self):
        """Producer and workers go on while the server is killed: each acknowledged item is done exactly once."""
        with Atoll() as atoll:
            atoll.cli("queue", "create", "q", "--visibility", "2s", "--attempts", "1000")
            path = f"{QUEUES}/q"
            acknowledged, finished = set(), []
            stop = threading.Event()

            def insist(verb, body):
                """Asks until there is an answer; None when it cannot be known whether it was done."""
                try:
                    answer = atoll.api("POST", f"{path}/{verb}", body, timeout=10)
                except OSError:
                    return None
                return answer if answer.status < 500 else None

            def produce():
                for number in range(300):
                    body = {"items": [{"body": f"{number}-{i}", "key": f"{number}-{i}"} for i in range(5)]}
                    while insist("items", body) is None:
                        time.sleep(0.05)
                    acknowledged.update(f"{number}-{i}" for i in range(5))

            def work():
                while not stop.is_set():
                    leased = insist("lease", {"max": 7, "wait": "1s"})
                    if leased is None or not leased.json.get("items"):
                        time.sleep(0.02)
                        continue
                    done = insist("done", {"lease": leased.json["lease"]})
                    if done is not None and done.status == 200:
                        finished.extend(item["id"] for item in leased.json["items"])

            threads = [threading.Thread(target=work) for _ in range(3)]
            producer = threading.Thread(target=produce)
            for thread in [producer, *threads]:
                thread.start()
            for _ in range(4):
                time.sleep(0.7)
                atoll.kill_server()
                atoll.up()
            producer.join(120)
            wait_for(lambda: (now := atoll.json("queue", "stats", "q"))["ready"] + now["leased"] + now["delayed"] == 0,
                     "the queue to be dry", 90)
            stop.set()
            for thread in threads:
                thread.join(60)
            self.assertEqual(len(finished), len(set(finished)), "accepted as done twice")
            stats = atoll.json("queue", "stats", "q")
            # A put whose answer was lost after its items were done is put again: a key holds while its item does.
            self.assertGreaterEqual(stats["done"], len(acknowledged))
            self.assertEqual(stats["put"], stats["done"])
            self.assertEqual(stats["dead"], 0)


if __name__ == "__main__":
    unittest.main()
