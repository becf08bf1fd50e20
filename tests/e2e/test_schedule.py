"""Schedules on the real binary: each time opens one run, whatever dies in between."""

import hashlib
import hmac
import json
import time
import unittest
from datetime import datetime, timezone

from atoll import PROGRAM, Atoll, wait_for
from flows import CONFIG, Flows

SCHEDULES = "/api/v1/namespaces/default/schedules"
ECHO = "params: {word: {default: none}}\nsteps: {a: {run: 'echo got {params.word}'}}\n"


class Schedules(Flows):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll(CONFIG + "watch: [/tmp]\n")
        cls.addClassCleanup(cls.atoll.destroy)

    def setUp(self):
        super().setUp()
        self.name = self.id().rpartition(".")[2].replace("_", "-")[5:60]
        self.addCleanup(self.atoll.cli, "schedule", "delete", self.name, "--yes", check=False)

    def create(self, *args, text=ECHO, **options):
        return self.atoll.cli("schedule", "create", self.name, self.write(text), *args, cwd=self.dir, **options)

    def refuse(self, *args, text=ECHO, code=2):
        done = self.create(*args, text=text, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn(self.name, [each["name"] for each in self.atoll.json("schedule", "list")])
        return done.stderr

    def show(self):
        return self.atoll.json("schedule", "show", self.name)

    def firings(self, state="opened"):
        """Oldest first."""
        return [each for each in reversed(self.show()["firings"]) if each["state"] == state]

    def until(self, count, state="opened"):
        return wait_for(lambda: len(self.firings(state)) >= count and self.firings(state), f"{count} {state} firings")

    def word(self, firing):
        flow = self.flow(firing["workflow"])
        self.assertEqual(flow.ended()["outcome"], "succeeded")
        return flow.log("a").strip()

    # By time.

    def test_each_time_opens_one_run(self):
        self.create("--calendar", "*:*:*", "--zone", "UTC", "--overlap", "allow", "--param-from-time", "word")
        opened = self.until(3)
        self.atoll.cli("schedule", "pause", self.name)
        planned = [each["planned"] for each in opened]
        self.assertEqual(len(set(planned)), len(planned), "one time opened two runs")
        self.assertEqual(len({each["workflow"] for each in opened}), len(opened))
        self.assertEqual(self.word(opened[0]), f"got {planned[0]}")
        shown = self.atoll.json("workflow", "show", opened[0]["workflow"])
        self.assertEqual(shown["origin"], f"schedule/{self.name}")

    def test_a_server_that_is_killed_while_runs_are_made_makes_each_once(self):
        self.create("--calendar", "*:*:*", "--zone", "UTC", "--overlap", "allow", "--missed", "all")
        for _ in range(3):
            before = self.show()["fired"]
            wait_for(lambda: self.show()["fired"] > before, "another firing")
            self.assertTrue(self.atoll.kill_server())
            self.atoll.up()
        self.atoll.cli("schedule", "pause", self.name)
        firings = wait_for(lambda: not self.firings("opening") and self.firings(), "every run to be made")
        planned = [each["planned"] for each in firings]
        self.assertEqual(len(set(planned)), len(planned), "one time opened two runs")
        first, last = (datetime.fromisoformat(each.replace("Z", "+00:00")) for each in (planned[0], planned[-1]))
        self.assertEqual((last - first).total_seconds(), len(planned) - 1, "a time was lost")
        runs = [each for each in self.atoll.json("workflow", "list", "--limit", "200")
                if each["origin"] == f"schedule/{self.name}"]
        self.assertEqual(sorted(each["id"] for each in runs), sorted(each["workflow"] for each in firings))

    def test_the_next_times_are_told_before_anything_is_made(self):
        done = self.create("--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--dry-run", "-o", "json")
        times = json.loads(done.stdout)["next"]
        self.assertEqual(len(times), 5)
        self.assertNotIn(self.name, [each["name"] for each in self.atoll.json("schedule", "list")])
        told = self.atoll.cli("schedule", "next", "--cron", "30 2 * * *", "--zone", "Europe/Berlin").stdout
        self.assertEqual(len(told.splitlines()), 5)
        self.assertRegex(told.splitlines()[0], r"^\w{3} \d{4}-\d{2}-\d{2} 02:30 CES?T$")
        self.create("--calendar", "Mon..Fri 06:00 Asia/Kolkata")
        self.assertEqual(self.show()["zone"], "Asia/Kolkata")
        following = self.atoll.json("schedule", "next", self.name, "--count", "3")
        self.assertEqual(following["next"], self.show()["next"][:3])

    def test_a_run_that_is_under_way_keeps_others_away(self):
        gate, wait = self.gate()
        self.create("--cron", "@yearly", text=f"steps: {{a: {{run: '{wait}'}}}}")
        first = self.atoll.cli("schedule", "run", self.name).stdout.strip()
        second = self.atoll.cli("schedule", "run", self.name, check=False)
        self.assertEqual(second.returncode, 1, second.stderr)
        self.assertIn("under way", second.stderr)
        gate.touch()
        self.flow(first).ended()
        self.assertNotEqual(self.atoll.cli("schedule", "run", self.name).stdout.strip(), first)

    def test_a_run_may_take_the_place_of_another_or_wait(self):
        gate, wait = self.gate()
        self.create("--cron", "@yearly", "--overlap", "replace", text=f"steps: {{a: {{run: '{wait}'}}}}")
        first = self.atoll.cli("schedule", "run", self.name).stdout.strip()
        second = self.atoll.cli("schedule", "run", self.name).stdout.strip()
        self.assertEqual(self.flow(first).ended()["outcome"], "cancelled")
        self.create("--cron", "@yearly", "--overlap", "wait", "--replace", text=f"steps: {{a: {{run: '{wait}'}}}}")
        third = self.atoll.cli("schedule", "run", self.name).stdout.strip()
        self.assertNotEqual(self.flow(third).show()["state"], "ended")
        gate.touch()
        for each in (second, third):
            self.assertEqual(self.flow(each).ended()["outcome"], "succeeded")

    def test_times_that_were_missed_while_it_was_paused(self):
        self.create("--calendar", "*:*:*", "--zone", "UTC", "--missed", "all", "--overlap", "allow", "--paused")
        # What had come by then are missed times, one of each second.
        due = datetime.fromisoformat(self.show()["next"][2].replace("Z", "+00:00"))
        wait_for(lambda: datetime.now(timezone.utc) > due, "three times to pass")
        self.assertEqual(self.show()["fired"], 0)
        self.atoll.cli("schedule", "resume", self.name)
        self.until(3)
        self.atoll.cli("schedule", "pause", self.name)

    def test_a_mistake_is_told_before_anything_is_made(self):
        self.assertIn("the hour \"25\"", self.refuse("--cron", "0 25 * * *"))
        self.assertIn("there is no time zone", self.refuse("--cron", "@daily", "--zone", "Mars/Base"))
        self.assertIn("flow.yaml:1:", self.refuse("--cron", "@daily", text="steps: {a: {rum: x}}"))
        self.assertIn("nothing starts it", self.refuse())
        self.assertIn("several things", self.refuse("--cron", "@daily", "--webhook"))
        self.assertIn("watch:", self.refuse("--on-file", "/etc/passwd", code=1))

    def test_a_run_that_cannot_be_made_says_why(self):
        self.create("--webhook", "--param-from-body", "word", text="""
            params: {word: {type: integer, required: true}}
            steps: {a: {run: "echo {params.word}"}}
            """)
        done = self.atoll.cli("schedule", "run", self.name, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("word", done.stderr)
        self.assertEqual(self.show()["firings"][0]["state"], "failed")

    # By a webhook.

    def deliver(self, url, secret, body, stamp=None, **headers):
        stamp = str(stamp or int(time.time()))
        digest = hmac.new(secret.encode(), f"{stamp}.{body}".encode(), hashlib.sha256).hexdigest()
        return self.atoll.api("POST", url.partition(self.atoll.url)[2] or url, body=body,
                              headers={"X-Atoll-Timestamp": stamp, "X-Atoll-Signature": f"sha256={digest}",
                                       "Content-Type": "application/json", **headers})

    def test_a_signed_delivery_opens_one_run(self):
        made = json.loads(self.create("--webhook", "--params-from-body", "-o", "json").stdout)

        def deliver(secret, body=json.dumps({"word": "hook", "other": 1}), **more):
            return self.deliver(made["url"], secret, body, **more)

        self.assertEqual(deliver("wrong").status, 401)
        self.assertEqual(deliver(made["secret"], stamp=int(time.time()) - 400).status, 401)
        for number in range(2):
            answer = deliver(made["secret"], **{"X-Atoll-Delivery": "one"})
            self.assertEqual(answer.status, 202, answer.text)
            self.assertEqual(answer.json["repeated"], number == 1)
        self.assertEqual(self.word(self.until(1)[0]), "got hook")
        self.assertNotIn("secret", self.show())
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        self.assertTrue(deliver(made["secret"], **{"X-Atoll-Delivery": "one"}).json["repeated"])
        self.assertEqual(deliver(made["secret"], body="x" * (64 << 10) + "x").status, 413)
        self.assertEqual(self.show()["fired"], 1)
        for file in self.atoll.home.glob("atoll.db*"):
            self.assertNotIn(made["secret"].encode(), file.read_bytes(), f"{file} tells the secret")

    def test_a_delivery_whose_owner_lost_their_rights_is_told_in_the_schedule(self):
        # On a server of its own: once it has two people, work is kept from the server's files.
        self.atoll = Atoll(CONFIG)
        self.addCleanup(self.atoll.destroy)
        self.atoll.cli("user", "create", "eve")
        self.atoll.cli("ns", "member", "default", "eve")
        token = self.atoll.cli("token", "create", "--user", "eve", "-q").stdout.strip()
        made = self.atoll.tcp("POST", SCHEDULES, token=token, body={
            "name": self.name, "files": {"flow.yaml": ECHO}, "webhook": True})
        self.assertEqual(made.status, 201, made.text)
        self.assertEqual(self.deliver(made.json["url"], made.json["secret"], "{}").status, 202)
        self.until(1)
        self.atoll.cli("ns", "member", "default", "eve", "--remove")
        self.assertEqual(self.deliver(made.json["url"], made.json["secret"], "[]").status, 202)
        told = self.until(1, "failed")[0]
        self.assertEqual(told["cause"], "webhook")
        self.assertNotEqual(told["message"], "")
        self.assertIn("failed", self.atoll.cli("schedule", "list").stdout)

    # Changed.

    def test_one_field_is_changed_and_the_rest_stays(self):
        self.create("--cron", "0 2 * * *", "--zone", "Europe/Berlin", "--set", "word=first", "--missed", "once")
        self.atoll.cli("schedule", "set", self.name, "--cron", "30 3 * * *")
        shown = self.show()
        self.assertEqual([shown[key] for key in ("cron", "zone", "missed", "overlap")],
                         ["30 3 * * *", "Europe/Berlin", "once", "skip"])
        self.atoll.cli("schedule", "set", self.name, "--set", "word=second", "--overlap", "wait")
        self.assertEqual((self.show()["cron"], self.show()["overlap"]), ("30 3 * * *", "wait"))
        number = self.atoll.cli("schedule", "run", self.name).stdout.strip()
        self.assertEqual(self.flow(number).ended()["outcome"], "succeeded")
        self.assertEqual(self.flow(number).log("a").strip(), "got second")
        other = self.write("params: {word: {default: none}}\nsteps: {a: {run: 'echo now {params.word}'}}\n", "other.yaml")
        self.atoll.cli("schedule", "set", self.name, "--file", other)
        number = self.atoll.cli("schedule", "run", self.name).stdout.strip()
        self.flow(number).ended()
        self.assertEqual(self.flow(number).log("a").strip(), "now second")
        for words, said in ((["--cron", "soon"], "write five"), (["--at-least", "3"], "at_least"), ([], "nothing is changed")):
            refused = self.atoll.cli("schedule", "set", self.name, *words, check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(said, refused.stderr)
        self.assertEqual(self.show()["cron"], "30 3 * * *")

    def test_metrics_count_what_they_do(self):
        def value(line):
            page = self.atoll.api("GET", "/metrics").text
            return float(next(each for each in page.splitlines() if each.startswith(line)).split()[-1])

        opened = value('atoll_schedules_settled_total{state="opened"}')
        fired = value('atoll_schedules_fired_total{cause="person"}')
        skipped = value('atoll_schedules_settled_total{state="skipped"}')
        gate, wait = self.gate()
        self.create("--cron", "0 2 * * *", text=f"steps: {{a: {{run: '{wait}'}}}}")
        self.atoll.cli("schedule", "run", self.name)
        self.atoll.cli("schedule", "run", self.name, check=False)
        gate.touch()
        self.assertEqual(value('atoll_schedules_fired_total{cause="person"}'), fired + 2)
        self.assertEqual(value('atoll_schedules_settled_total{state="opened"}'), opened + 1)
        self.assertEqual(value('atoll_schedules_settled_total{state="skipped"}'), skipped + 1)

    # By a queue.

    def test_a_queue_that_fills_opens_a_run(self):
        self.atoll.cli("queue", "create", "filling")
        self.create("--on-queue", "filling", "--at-least", "2", "--interval", "1s",
                    text=f"env: {{ATOLL_HOME: {self.atoll.home}}}\n"
                         f"steps: {{a: {{run: '{PROGRAM} queue work filling -- cat'}}}}")
        self.atoll.cli("queue", "put", "filling", "one")
        self.assertEqual(self.show()["fired"], 0)
        self.atoll.cli("queue", "put", "filling", "two")
        flow = self.flow(self.until(1)[0]["workflow"])
        self.assertEqual(flow.ended()["outcome"], "succeeded", flow.log("a"))
        self.assertEqual(self.atoll.json("queue", "stats", "filling")["ready"], 0)

    # By a file.

    def test_a_file_that_appears_opens_a_run(self):
        (self.dir / "before.nc").write_text("x")
        self.create("--on-file", self.dir / "*.nc", "--quiet-for", "1s", "--param-from-body", "word")
        wait_for(lambda: self.watched(), "the first look")
        (self.dir / "new.nc").write_text("x")
        (self.dir / "new.txt").write_text("x")
        firing = self.until(1)[0]
        self.assertEqual(self.word(firing), f"got {self.dir}/new.nc")
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        (self.dir / "new.nc").write_text("changed")
        self.until(2)
        self.assertEqual(self.show()["fired"], 2)

    def watched(self):
        events = self.atoll.api("GET", "/api/v1/events?limit=1000").text
        return "schedule_looked" in events


if __name__ == "__main__":
    unittest.main()
