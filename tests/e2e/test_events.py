"""`atoll events` without -f: the newest ones, and no more of them than was asked for."""

import json
import unittest

from atoll import Atoll, wait_for


def events(atoll, *args):
    return [json.loads(line) for line in atoll.cli("events", "-o", "jsonl", *args).stdout.splitlines()]


def names(found):
    return [event["data"]["name"] for event in found if event["type"] == "job_submitted"]


class Events(unittest.TestCase):
    def test_the_newest_fifty_are_shown_in_order_unless_asked_otherwise(self):
        with Atoll() as atoll:
            submitted = [f"n{i}" for i in range(60)]
            for name in submitted:
                atoll.submit("--name", name, "--hold", "--", "true")
            self.assertEqual(names(events(atoll)), submitted[-50:])
            self.assertEqual(names(events(atoll, "--limit", "3")), submitted[-3:])
            self.assertEqual(names(events(atoll, "--limit", "0")), submitted)
            self.assertEqual([event["job"] for event in events(atoll, "--job", "1")], ["1"])  # however long ago
            at = events(atoll, "--limit", "10")[0]["sequence"]
            self.assertEqual(names(events(atoll, "--after", at, "--limit", "2")), submitted[51:53])
            self.assertEqual(names(events(atoll, "--after", at, "--limit", "0")), submitted[51:])
            self.assertEqual(events(atoll, "--after", at + 9), [])

    def test_a_commit_of_thousands_does_not_hide_what_came_after_it(self):
        with Atoll("sites:\n  class: {kind: simulated, nodes: 100, cpus: 32, memory: 128Gi}\n") as atoll:
            array = atoll.submit("--array", "1-3000", "--", "true")
            self.assertEqual(atoll.wait_job(array)["outcome"], "succeeded")
            newest = atoll.submit("--hold", "--", "true")
            found = events(atoll)
            self.assertEqual((len(found), found[-1]["job"], found[-1]["type"]), (50, newest, "job_submitted"))
            self.assertGreater(len(events(atoll, "--limit", "0")), 3000)

    def test_the_end_is_shown_when_the_beginning_was_compacted_away(self):
        with Atoll() as atoll:
            for i in range(20):
                atoll.submit("--name", f"old{i}", "--hold", "--", "true")
            atoll.cli("internal-snapshot")
            atoll.submit("--name", "between", "--hold", "--", "true")
            atoll.cli("internal-snapshot")
            later = []

            def compacted():
                later.append(f"later{len(later)}")
                atoll.submit("--name", later[-1], "--hold", "--", "true")
                return atoll.api("GET", "/api/v1/events?after=0").json["reset"]

            wait_for(compacted, "the journal to be compacted")
            done = atoll.cli("events", "-o", "jsonl")
            self.assertIn("older events are gone", done.stderr)
            self.assertEqual(names(json.loads(line) for line in done.stdout.splitlines()), ["between", *later][-50:])


if __name__ == "__main__":
    unittest.main()
