"""Cohorts, quotas that lend, tiers and work that yields, on the real binary; and the file that holds the policy."""

import json
import unittest

from atoll import Atoll, wait_for

PLATFORM = """\
policy: {half_life: 2d, ageing: 30m}
cohorts:
  institute: {quota: {cpu: 16, memory: 64Gi, gpu: 4}}
  physics: {parent: institute, weight: 2, quota: {cpu: 8, gpu:a100: 2}, borrow: {cpu: 4}}
namespaces:
  bio: {cohort: physics, weight: 0.5, quota: {cpu: 2, running: 100, queued: 1000}, borrow: {gpu: 2}}
  chem: {cohort: physics, quota: {cpu: 4}, members: {ada: admin}}
"""

# Counts, says so, and saves where it is when it is told to go.
COUNTER = """\
#!/bin/sh
at=0
[ -f "$ATOLL_CHECKPOINT_DIR/at" ] && at=$(cat "$ATOLL_CHECKPOINT_DIR/at") && echo "resumed=$ATOLL_RESUMED at $at"
leave() {
    echo "notice $(tr -d '\\n' <"$ATOLL_NOTICE_FILE")"
    echo "$at" >"$ATOLL_CHECKPOINT_DIR/at"
    echo "saved $at"
    %s
}
trap leave TERM
while [ ! -f "$1" ]; do
    at=$((at + 1))
    [ "$at" -eq 3 ] && echo counting
    sleep 0.02
done
echo "done at $at"
"""
BY_EXIT_CODE = "exit 85"
BY_NOTE = 'touch "$ATOLL_CHECKPOINT_NOTE"; exit 0'


class PlatformFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites: {local: {cpus: 4}}\n")
        cls.addClassCleanup(cls.atoll.destroy)
        cls.atoll.cli("user", "create", "ada")

    def setUp(self):
        self.apply("policy: {}\nnamespaces: {default: }\n", "--prune")

    def apply(self, text, *flags, check=True):
        return self.atoll.cli("apply", "-f", "-", "--yes", *flags, stdin=text, check=check)

    def test_twice_is_once_and_an_export_changes_nothing(self):
        first = self.apply(PLATFORM).stdout
        for line in ("~ policy half_life: 7d -> 2d", "+ cohort physics {parent: institute, weight: 2",
                     "+ namespace bio {cohort: physics, weight: 0.5", "applied 6 changes"):
            self.assertIn(line, first)
        self.assertEqual(self.apply(PLATFORM).stdout, "nothing to change\n")
        exported = self.atoll.cli("export").stdout
        self.assertIn("quota: {cpu: 8, gpu:a100: 2}", exported)
        self.assertEqual(self.apply(exported, "--prune").stdout, "nothing to change\n")
        self.assertEqual(self.atoll.json("apply", "-f", "-", "--yes", stdin=exported)["changes"], [])

    def test_a_dry_run_changes_nothing(self):
        before = self.atoll.cli("export").stdout
        self.assertIn("6 changes; nothing was applied", self.apply(PLATFORM, "--dry-run").stdout)
        self.assertEqual(self.atoll.cli("export").stdout, before)

    def test_without_a_terminal_it_takes_a_yes(self):
        refused = self.atoll.cli("apply", "-f", "-", stdin=PLATFORM, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--yes", refused.stderr)

    def test_nothing_is_half_applied(self):
        before = self.atoll.cli("export").stdout
        for last, line, why in (
                ("  lab: {weight: 0}", 8, "a weight is a number from 0.001"),
                ("  lab: {quota: {cpu: many}}", 8, "not a number of cores"),
                ("  lab: {qota: {cpu: 1}}", 8, "did you mean quota?"),
                ("  lab: {cohort: nowhere}", 8, 'there is no cohort "nowhere"'),
                ("  lab: {members: {nobody: admin}}", 8, 'there is no user "nobody"'),
                ("  lab: {cohort: physics, quota: {cpu: 3}}", 4, "together exceed its own in cpu"),
                ("  lab: [", 9, "")):
            with self.subTest(last):
                refused = self.apply(PLATFORM + last + "\n", check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertRegex(refused.stderr, rf"standard input:{line}:\d+: ")
                self.assertIn(why, refused.stderr)
                self.assertEqual(self.atoll.cli("export").stdout, before)

    def test_a_circle_is_refused_with_its_names(self):
        before = self.atoll.cli("export").stdout
        refused = self.apply("cohorts:\n  a: {parent: b}\n  b: {parent: c}\n  c: {parent: a}\n", check=False)
        self.assertIn("standard input:2:15: cohort a would be within itself (a in b in c in a)", refused.stderr)
        self.assertEqual(self.atoll.cli("export").stdout, before)

    def test_only_the_end_is_judged(self):
        self.apply("cohorts:\n  a: {quota: {cpu: 8}}\n  b: {parent: a, quota: {cpu: 6}}\n")
        self.apply("cohorts:\n  b: {quota: {cpu: 12}}\n  a: {parent: b, quota: {cpu: 10}}\n")
        self.assertEqual(self.atoll.json("cohort", "show", "a")["parent"], "b")

    def test_what_was_applied_survives_kill_9(self):
        self.apply(PLATFORM)
        before = self.atoll.cli("export").stdout
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        self.assertEqual(self.atoll.cli("export").stdout, before)

    def test_pruning_deletes_cohorts_but_no_work(self):
        self.apply(PLATFORM)
        job = self.atoll.submit("--ns", "bio", "--hold", "--", "true")
        refused = self.apply("namespaces: {default: }\n", "--prune", check=False)
        self.assertIn("namespace bio belongs to it, which is kept because it has jobs", refused.stderr)
        done = self.apply("namespaces: {default: , bio: }\n", "--prune").stdout
        self.assertIn("- cohort physics", done)
        self.assertIn("- namespace chem", done)
        self.assertEqual(self.atoll.job(job)["namespace"], "bio")
        self.atoll.cli("cancel", job)

    def test_nodes_are_for_simulations(self):
        refused = self.apply("nodes: [{name: n, cpu: 4}]\n", check=False)
        self.assertIn("standard input:1:8: nodes are for `atoll simulate`", refused.stderr)

    def test_it_takes_a_platform_administrator(self):
        token = self.atoll.cli("token", "create", "--user", "ada", "-q").stdout.strip()
        env = {"ATOLL_URL": self.atoll.url, "ATOLL_TOKEN": token}
        for args in (("export",), ("apply", "-f", "-", "--yes"), ("tier", "--half-life", "1d"),
                     ("cohort", "set", "mine"), ("ns", "weight", "default", "9")):
            refused = self.atoll.cli(*args, env=env, stdin="cohorts: {mine: }\n", check=False)
            self.assertNotEqual(refused.returncode, 0, args)
        self.assertEqual(self.atoll.cli("fair", "-q", env=env).stdout, "", "no namespace of hers")

    def test_single_verbs_say_the_same(self):
        self.atoll.cli("cohort", "set", "group", "--quota", "cpu=8,gpu=2", "--weight", "3")
        self.atoll.cli("ns", "create", "lab")
        self.atoll.cli("ns", "cohort", "lab", "group")
        self.atoll.cli("ns", "weight", "lab", "2")
        self.atoll.cli("ns", "borrow", "lab", "cpu=1", "gpu=0")
        self.atoll.cli("ns", "quota", "lab", "--cpus", "4")
        self.atoll.cli("tier", "--half-life", "3d")
        exported = self.atoll.cli("export").stdout
        self.assertIn("  lab:\n    cohort: group\n    weight: 2\n    quota: {cpu: 4}\n    borrow: {cpu: 1, gpu: 0}\n",
                      exported)
        self.assertIn("half_life: 3d", exported)
        self.assertIn("group", self.atoll.cli("ns", "list").stdout)
        over = self.atoll.cli("ns", "quota", "lab", "--cpus", "9", check=False)
        self.assertIn("exceed its own in cpu (9, and it has 8)", over.stderr)
        self.assertIn("0.001 to 1000000", self.atoll.cli("ns", "weight", "lab", "0", check=False).stderr)
        kept = self.atoll.cli("cohort", "set", "group", "--weight", "4").stdout
        self.assertEqual(kept, "set cohort group: weight 4, quota cpu 8, gpu 2\n")
        replaced = self.atoll.cli("ns", "quota", "lab", "--device", "gpux=1")
        self.assertEqual(replaced.stdout, "the quota of lab is gpux 1; nothing else is limited\n")
        self.assertIn('warning: no node has "gpux" at present', replaced.stderr)
        circle = self.atoll.cli("cohort", "set", "group", "--parent", "group", check=False)
        self.assertIn("cohorts form a tree", circle.stderr)
        self.assertIn("still has members", self.atoll.cli("cohort", "delete", "group", "-y", check=False).stderr)


class Yielding(unittest.TestCase):
    def setUp(self):
        self.atoll = Atoll("sites: {local: {cpus: 2}}\n")
        self.addCleanup(self.atoll.destroy)
        self.go = self.atoll.home / "go"

    def counter(self, leave, *flags):
        script = self.atoll.home / "counter.sh"
        script.write_text(COUNTER % leave)
        job = self.atoll.submit("--cpus", "2", "--grace", "5m", *flags, script, self.go)
        wait_for(lambda: "counting" in self.atoll.logs(job), "the work to have begun")
        return job

    def until(self, file, *flags):
        return self.atoll.submit(*flags, "--", "sh", "-c", f"echo here; until [ -f {file} ]; do sleep 0.02; done")

    def yields_and_resumes(self, leave):
        victim = self.counter(leave, "--tier", "opportunistic")
        end = self.atoll.home / "end"
        asker = self.until(end, "--cpus", "2", "--tier", "interactive")
        wait_for(lambda: self.atoll.job(asker)["state"] == "running", "the interactive request to run")
        self.assertEqual(self.atoll.job(victim)["state"], "waiting", "requeued, not failed")
        tiers = {tier["name"]: tier for tier in self.atoll.json("tier")["tiers"]}
        self.assertEqual((tiers["interactive"]["running"], tiers["opportunistic"]["waiting"]), (1, 1))
        self.go.touch()
        end.touch()
        self.assertEqual(self.atoll.wait_job(asker)["outcome"], "succeeded")
        self.assertEqual(self.atoll.wait_job(victim)["outcome"], "succeeded")
        lines = [line for attempt in self.attempts(victim)
                 for line in self.atoll.cli("logs", f"{victim}.{attempt}").stdout.splitlines()]
        saved = next(line for line in lines if line.startswith("saved ")).split()[1]
        self.assertIn(f"resumed=1 at {saved}", lines)
        self.assertEqual(sum(line.startswith("saved ") for line in lines), 1, "asked to go once")
        notice = json.loads(next(line for line in lines if line.startswith("notice ")).removeprefix("notice "))
        self.assertEqual(notice["grace_seconds"], 300)
        self.assertIn("deadline", notice)
        self.assertIn("yield", notice["reason"])

    def attempts(self, job):
        return range(1, len(self.atoll.api("GET", f"/api/v1/jobs/{job}/attempts").json["attempts"]) + 1)

    def test_opportunistic_work_saves_itself_and_resumes(self):
        self.yields_and_resumes(BY_EXIT_CODE)

    def test_a_note_does_as_well_as_an_exit_code(self):
        self.yields_and_resumes(BY_NOTE)

    def test_borrowed_room_goes_back_to_whose_it_is(self):
        self.atoll.cli("apply", "-f", "-", "--yes", stdin="cohorts: {group: }\nnamespaces:\n"
                       "  bio: {cohort: group, quota: {cpu: 1}}\n  chem: {cohort: group, quota: {cpu: 1}}\n")
        end = self.atoll.home / "end"
        borrower = self.counter(BY_EXIT_CODE, "--ns", "bio")
        self.assertEqual(self.atoll.json("ns", "show", "bio")["borrowed"], {"cpus": 1})
        self.assertIn("cpu 1", self.atoll.cli("ns", "show", "bio").stdout)
        self.assertEqual([row["path"] for row in self.atoll.json("fair") if row["kind"] == "namespace"
                          and row["uses"] > 0], ["group/bio"])
        lender = self.until(end, "--ns", "chem", "--cpus", "1")
        wait_for(lambda: self.atoll.job(lender)["state"] == "running", "its own room to come back")
        self.assertEqual(self.atoll.job(borrower)["state"], "waiting")
        self.go.touch()
        end.touch()
        for job in (lender, borrower):
            self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")


if __name__ == "__main__":
    unittest.main()
