"""Hours, reservations, nodes that drain, gangs and parts of devices, on the real binary."""

import json
import time
import unittest

from atoll import Atoll, wait_for

DEVICES = """\
sites:
  local:
    cpus: 4
    devices:
      - {kind: gpu, model: t4, count: 1, memory: 16Gi, simulated: true, share: 0.05}
      - {kind: gpu, model: a100, count: 1, memory: 40Gi, simulated: true, slices: a100-40gb}
"""


def rfc3339(seconds_from_now):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds_from_now))


class OneMachine(unittest.TestCase):
    """A machine of two cores, and what keeps work from it."""

    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites: {local: {cpus: 2}}\n", up=False)
        cls.addClassCleanup(cls.atoll.destroy)
        cls.atoll.env["TZ"] = "UTC"
        cls.atoll.up()
        cls.atoll.cli("ns", "create", "course")

    def setUp(self):
        self.apply("policy: {}\nnamespaces: {default: , course: }\n", "--prune")

    def apply(self, text, *flags, check=True):
        return self.atoll.cli("apply", "-f", "-", "--yes", *flags, stdin=text, check=check)

    def waits(self, job, *words):
        """Its explanation says so; it does not start meanwhile."""
        def told():
            text = self.atoll.cli("explain", job).stdout
            return text if all(word in text for word in words) else None
        text = wait_for(told, f"{job} to wait for {words}: {self.atoll.cli('explain', job).stdout}")
        self.assertEqual(self.atoll.job(job)["state"], "waiting")
        return text

    def succeeds(self, job):
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")

    def shut_now(self, name):
        """From the hour before to the hour after the next: shut whenever the test runs."""
        hour = time.gmtime().tm_hour
        self.atoll.cli("calendar", "set", name, "--tier", "batch", "--from", f"{(hour - 1) % 24:02}:00",
                       "--until", f"{(hour + 3) % 24:02}:00", "--share", "0")

    def test_the_calendar_shuts_a_tier_until_its_entry_is_removed(self):
        self.shut_now("break")
        shown = self.atoll.cli("calendar").stdout
        self.assertIn("break", shown)
        self.assertRegex(shown, r"mon [x·]{24}\n")
        entry, = self.atoll.json("calendar")["entries"]
        self.assertEqual((entry["tier"], entry["share"], entry["holds"]), ("batch", 0, True))
        job = self.atoll.submit("--", "true")
        self.waits(job, "calendar")
        self.succeeds(self.atoll.submit("--tier", "interactive", "--", "true"))
        self.assertEqual(self.atoll.job(job)["state"], "waiting", "only its own tier is shut")
        self.atoll.cli("calendar", "remove", "break")
        self.succeeds(job)
        self.assertIn("is empty", self.atoll.cli("calendar").stdout)

    def test_the_calendar_opens_by_itself(self):
        minute = time.gmtime(time.time() + 60)
        before = time.gmtime(time.time() - 3600)
        self.atoll.cli("calendar", "set", "until-next-minute", "--share", "0", "--from",
                       f"{before.tm_hour:02}:{before.tm_min:02}", "--until", f"{minute.tm_hour:02}:{minute.tm_min:02}")
        job = self.atoll.submit("--", "true")
        self.assertEqual(self.atoll.wait_job(job, seconds=120)["outcome"], "succeeded")

    def test_a_reservation_keeps_the_machine_for_whom_it_is(self):
        self.atoll.cli("reservation", "create", "exam", "--for", "2h", "--ns", "course", "--nodes", "1")
        listed = self.atoll.cli("reservation", "list").stdout
        self.assertRegex(listed, r"exam .* active +course +1 node +local/")
        other = self.atoll.submit("--", "true")
        self.waits(other, "exam")
        self.succeeds(self.atoll.submit("--ns", "course", "--", "true"))
        self.assertEqual(self.atoll.job(other)["state"], "waiting")
        self.assertIn("exam", self.atoll.cli("ns", "delete", "course", "-y", check=False).stderr)
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        self.waits(other, "exam")
        self.atoll.cli("reservation", "cancel", "exam")
        self.succeeds(other)

    def test_one_to_come_leaves_room_to_what_ends_before(self):
        self.atoll.cli("reservation", "create", "later", "--from", rfc3339(3600), "--for", "1h", "--ns", "course",
                       "--count", "1", "--cpus", "2")
        self.assertIn("to come", self.atoll.cli("reservation", "list").stdout)
        endless = self.atoll.submit("--", "true")
        self.waits(endless, "later", "--time")
        self.succeeds(self.atoll.submit("--time", "10m", "--", "true"))
        self.atoll.cli("cancel", endless)

    def test_a_node_that_drains_takes_nothing_new(self):
        node, = self.atoll.json("node", "list")
        end = self.atoll.home / "end-drain"
        running = self.atoll.submit("--", "sh", "-c", f"until [ -f {end} ]; do sleep 0.02; done")
        wait_for(lambda: self.atoll.job(running)["state"] == "running", "the first one to run")
        self.assertIn("takes no more work", self.atoll.cli("node", "drain", node["name"]).stdout)
        self.assertIn("draining", self.atoll.cli("node", "list").stdout)
        waiting = self.atoll.submit("--keep", "--", "true")
        self.waits(waiting, "drain")
        end.touch()
        self.succeeds(running)
        self.assertEqual(self.atoll.job(waiting)["state"], "waiting")
        self.atoll.cli("node", "undrain", node["path"])
        self.succeeds(waiting)
        self.assertIn("did you mean", self.atoll.cli("node", "drain", node["name"] + "x", check=False).stderr)

    def test_a_file_holds_hours_and_reservations_too(self):
        text = ("calendar:\n  days: {tier: batch, days: mon-fri, from: \"08:00\", until: \"18:00\", share: 0.9}\n"
                f"reservations:\n  exam: {{from: {rfc3339(7200)}, until: {rfc3339(9000)}, namespaces: [course], "
                "nodes: 1}\n")
        first = self.apply(text).stdout
        self.assertIn("+ calendar days {tier: batch, days: mon-fri", first)
        self.assertIn("+ reservation exam {from: ", first)
        self.assertEqual(self.apply(text).stdout, "nothing to change\n")
        exported = self.atoll.cli("export").stdout
        self.assertEqual(self.apply(exported, "--prune").stdout, "nothing to change\n")
        changed = self.apply(text.replace("0.9", "0.8").replace("nodes: 1", "count: 2, cpu: 1")).stdout
        self.assertIn("~ calendar days share: 0.9 -> 0.8", changed)
        self.assertIn("~ reservation exam nodes: 1 -> none", changed)
        gone = self.apply("namespaces: {default: , course: }\n", "--prune").stdout
        self.assertIn("- calendar days", gone)
        self.assertIn("- reservation exam", gone)

    def test_a_file_brings_back_what_was_cancelled_while_it_lasted(self):
        self.atoll.cli("reservation", "create", "exam", "--for", "2h", "--ns", "course", "--nodes", "1")
        exported = self.atoll.cli("export").stdout
        self.atoll.cli("reservation", "cancel", "exam")
        self.assertIn("+ reservation exam", self.apply(exported).stdout)
        self.assertEqual(self.apply(exported, "--prune").stdout, "nothing to change\n")

    def test_nothing_is_half_applied(self):
        self.atoll.cli("reservation", "create", "mine", "--from", rfc3339(7200), "--for", "1h", "--ns", "course",
                       "--nodes", "1")
        before = self.atoll.cli("export").stdout
        head = "cohorts: {fresh: }\n"
        spans = "from: %s, until: %s, namespaces: [course], nodes: 1"
        for text, why in (
                ("calendar:\n  a: {share: 0}\n", "never open for batch; leave some hours of the week"),
                ("calendar:\n  a: {share: 0, until: 12:00}\n  b: {share: 0, from: 12:00}\n", "never open"),
                ("calendar:\n  a: {days: workdays, share: 0.5}\n", "write mon-fri"),
                ("calendar:\n  a: {share: 30}\n", "a share is a number from 0 to 1"),
                ("calendar:\n  a: {days: mon}\n", "the entry limits nothing: give it a share"),
                ("reservations:\n  r: {%s}\n" % (spans % (rfc3339(-7200), rfc3339(-3600))), "is over since"),
                ("reservations:\n  r: {%s}\n" % (spans % (rfc3339(7200), rfc3339(3600))), "ends before it begins"),
                ("reservations:\n  r: {%s}\n" % (spans % (rfc3339(9000), rfc3339(9900))), "reservations of that time: mine"),
                ("reservations:\n  r: {%s}\n" % (spans % ("tomorrow 10:00", rfc3339(1))), "write \"2026-11-17 10:00\"")):
            with self.subTest(text):
                refused = self.apply(head + text, check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn("standard input:", refused.stderr)
                self.assertIn(why, refused.stderr)
                self.assertEqual(self.atoll.cli("export").stdout, before)

    def test_bad_input_is_refused_with_what_to_write(self):
        for args, why in (
                (("calendar", "set", "x", "--share", "0"), "never open for batch"),
                (("calendar", "set", "x"), "limits nothing"),
                (("calendar", "set", "x", "--share", "0.5", "--days", "montag"), "write mon-fri"),
                (("calendar", "set", "x", "--share", "0.5", "--from", "25:00"), "write 08:00"),
                (("calendar", "remove", "x"), "no entry"),
                (("reservation", "create", "r", "--ns", "course", "--nodes", "1"), "--until 12:00 or --for 2h"),
                (("reservation", "create", "r", "--ns", "course", "--for", "1h"), "say --nodes 1"),
                (("reservation", "create", "r", "--ns", "course", "--for", "1h", "--count", "9", "--gpus", "a100"),
                 "how many cores?"),
                (("reservation", "create", "r", "--ns", "course", "--from", "tue 10:00", "--until", "tue 9:00",
                  "--nodes", "1"), "is not after it begins"),
                (("reservation", "create", "r", "--ns", "nobody", "--for", "1h", "--nodes", "1"), "nobody"),
                (("reservation", "create", "r", "--ns", "course", "--for", "1h", "--nodes", "2"), "only 1 of 2 nodes"),
                (("reservation", "create", "r", "--ns", "course", "--from", "2020-01-01 10:00", "--until", "12:00",
                  "--nodes", "1"), "in the past"),
                (("reservation", "create", "r", "--ns", "course", "--from", "teatime", "--for", "1h", "--nodes", "1"),
                 "\"tomorrow 10:00\""),
                (("reservation", "cancel", "r"), "no reservation"),
                (("node", "drain", "nowhere/n"), "no site")):
            with self.subTest(args):
                refused = self.atoll.cli(*args, check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(why, refused.stderr)
        self.assertEqual(self.atoll.json("reservation", "list"), [])
        self.assertEqual(self.atoll.json("calendar")["entries"], [])

    def test_it_takes_a_platform_administrator(self):
        self.atoll.cli("user", "create", "ada")
        token = self.atoll.cli("token", "create", "--user", "ada", "-q").stdout.strip()
        env = {"ATOLL_URL": self.atoll.url, "ATOLL_TOKEN": token}
        for args in (("calendar", "set", "x", "--share", "0.5"), ("node", "drain", "local/x"),
                     ("reservation", "create", "r", "--ns", "course", "--for", "1h", "--nodes", "1")):
            self.assertNotEqual(self.atoll.cli(*args, env=env, check=False).returncode, 0, args)
        self.assertEqual(self.atoll.cli("calendar", "-q", env=env).stdout, "")

    def test_a_gang_is_followed_as_its_members(self):
        done = self.atoll.cli("run", "--gang", "2", "--cpus", "1", "--", "sh", "-c", "echo member $ATOLL_GANG_RANK")
        self.assertEqual(sorted(line.split()[-2:] for line in done.stdout.splitlines()), [["member", "0"], ["member", "1"]])

    def test_a_gang_starts_together_and_knows_its_members(self):
        # Each waits for the other's file, so one alone would wait for ever.
        meet = ('touch "$ATOLL_JOB_DIR/member-$ATOLL_GANG_RANK"; n=0; while [ $n -lt "$ATOLL_GANG_SIZE" ]; do '
                '[ -f "$ATOLL_JOB_DIR/member-$n" ] && n=$((n+1)) || sleep 0.02; done; '
                'echo "rank $ATOLL_GANG_RANK of $ATOLL_GANG_SIZE led by $ATOLL_GANG_LEADER"')
        end = self.atoll.home / "end-gang"
        one = self.atoll.submit("--cpus", "1", "--", "sh", "-c", f"until [ -f {end} ]; do sleep 0.02; done")
        wait_for(lambda: self.atoll.job(one)["state"] == "running", "half of the machine to be taken")
        gang = self.atoll.submit("--gang", "2", "--cpus", "1", "--", "sh", "-c", meet)
        wait_for(lambda: self.atoll.cli("explain", gang).stdout, "an explanation")
        self.assertEqual(self.atoll.job(gang)["state"], "waiting", "room for one of two is no room")
        end.touch()
        self.succeeds(gang)
        lines = sorted(self.atoll.logs(f"{gang}[{rank}]").strip() for rank in range(2))
        self.assertEqual([line.split(" led by ")[0] for line in lines], ["rank 0 of 2", "rank 1 of 2"])
        self.assertEqual(len({line.split(" led by ")[1] for line in lines}), 1)
        self.assertTrue(lines[0].split(" led by ")[1])

    def test_a_simulation_takes_a_calendar_and_no_reservations(self):
        trace = self.atoll.home / "trace.swf"
        trace.write_text(self.atoll.cli("simulate", "generate", "--days", "1", "--jobs", "50", "--nodes", "2").stdout)
        config = self.atoll.home / "config.yaml"
        config.write_text("calendar:\n  days: {days: mon-fri, from: 08:00, until: 18:00, share: 0.5}\n")
        self.atoll.cli("simulate", "--trace", trace, "--config", config)
        config.write_text("calendar:\n  days: {share: 0}\n")
        never = self.atoll.cli("simulate", "--trace", trace, "--config", config, check=False)
        self.assertIn("config.yaml:2:3: with this entry the calendar would never open", never.stderr)
        config.write_text(f"reservations:\n  r: {{from: {rfc3339(60)}, until: {rfc3339(90)}, namespaces: [a], nodes: 1}}\n")
        dates = self.atoll.cli("simulate", "--trace", trace, "--config", config, check=False)
        self.assertIn("leave reservations out", dates.stderr)


class Devices(unittest.TestCase):
    SAY = 'echo "$CUDA_VISIBLE_DEVICES|$CUDA_MPS_ACTIVE_THREAD_PERCENTAGE|$ATOLL_DEVICES"'

    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll(DEVICES)
        cls.addClassCleanup(cls.atoll.destroy)

    def said(self, *flags):
        job = self.atoll.submit(*flags, "--", "sh", "-c", self.SAY)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")
        visible, percent, devices = self.atoll.logs(job).strip().split("|")
        return visible, percent, json.loads(devices)

    def test_a_quarter_of_a_device(self):
        visible, percent, (device,) = self.said("--gpus", "0.25")
        self.assertTrue(visible)
        self.assertEqual(percent, "25")
        self.assertEqual((device["kind"], device["model"], device["share"]), ("gpu", "t4", 0.25))

    def test_a_slice_of_a_device(self):
        visible, percent, (device,) = self.said("--gpus", "1g.5gb")
        self.assertTrue(visible)
        self.assertEqual(percent, "")
        self.assertEqual((device["model"], device["slice"]), ("a100", "1g.5gb"))

    def test_the_model_that_is_preferred_is_taken_first(self):
        self.assertEqual(self.said("--gpus", "v100|a100|any")[2][0]["model"], "a100")
        self.assertEqual(self.said("--gpus", "v100|t4")[2][0]["model"], "t4")

    def test_four_quarters_share_one_device_and_the_fifth_waits(self):
        end = self.atoll.home / "end"
        quarter = ("--gpus", "t4:0.25", "--cpus", "0.5", "--", "sh", "-c",
                   f"until [ -f {end} ]; do sleep 0.02; done")
        first = [self.atoll.submit(*quarter) for _ in range(4)]
        for job in first:
            wait_for(lambda job=job: self.atoll.job(job)["state"] == "running", f"{job} to run")
        fifth = self.atoll.submit(*quarter)
        wait_for(lambda: "gpu" in self.atoll.cli("explain", fifth).stdout, "the fifth to wait for a device")
        self.assertEqual(self.atoll.job(fifth)["state"], "waiting")
        end.touch()
        for job in (*first, fifth):
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")

    def test_what_no_device_can_give_is_refused(self):
        for gpus, why in (("9g.1gb", "9g.1gb"), ("a100:0.5", "a100"), ("1.5", "1.5")):
            with self.subTest(gpus):
                refused = self.atoll.cli("submit", "--gpus", gpus, "--", "true", check=False)
                self.assertNotEqual(refused.returncode, 0, gpus)
                self.assertIn(why, refused.stderr)


if __name__ == "__main__":
    unittest.main()
