"""Steps that go through a queue (for_each: {queue: …}) on the real binary."""

import json
import unittest

from atoll import Atoll, wait_for
from flows import Flows


def made_with(*settings):
    """Of the queue of a test."""
    def mark(test):
        test.settings = settings
        return test
    return mark


class Queues(Flows):
    def setUp(self):
        super().setUp()
        self.queue = "q" + "".join(c for c in self.id().rpartition(".")[2] if c.isalnum())[-40:]
        self.atoll.cli("queue", "create", self.queue, *self.settings())

    def settings(self):
        return getattr(getattr(self, self._testMethodName), "settings", ())

    def put(self, *bodies, queue=None):
        self.atoll.cli("queue", "put", queue or self.queue, "-", stdin="".join(f"{each}\n" for each in bodies))

    def stats(self):
        return self.atoll.json("queue", "stats", self.queue)

    def outputs(self, flow, step="work"):
        return self.atoll.json("workflow", "outputs", flow.id, step)


class Work(Queues):
    def test_every_item_is_done_by_a_job_and_its_outputs_are_kept_with_it(self):
        self.put("3", "4", "5")
        flow = self.run_flow(f"""
            params: {{queue: {self.queue}}}
            steps:
              work:
                for_each: {{queue: "{{params.queue}}", workers: 2}}
                run: |
                  n=$(cat); test "$n" = "$ATOLL_ITEM"; test "$n" = "{{item}}"
                  echo $((n * n)) >$ATOLL_OUTPUTS/square
                outputs: [square]
              sum:
                run: echo {{steps.work.outputs.done}} of "$(echo '{{steps.work.outputs.square}}' | tr -dc '0-9,')"
            """)
        work = flow.step("work")
        self.assertEqual(sorted(work["outputs"].pop("square"), key=int), ["9", "16", "25"])
        self.assertEqual(work["outputs"], {"done": 3, "dead": 0, "given_back": 0})
        self.assertEqual({each["items"]: each["outputs"]["square"] for each in self.outputs(flow)},
                         {"1": "9", "2": "16", "3": "25"})
        self.assertEqual((work["tasks"]["total"], work["tasks"]["succeeded"], work["queue"]["name"]), (3, 3, self.queue))
        self.assertTrue(flow.log("sum").startswith("3 of "))
        self.assertEqual((self.stats()["done"], self.stats()["leased"]), (3, 0))

    def test_names_in_an_item_and_batches_of_lines(self):
        self.put(json.dumps({"rate": 0.5, "name": "a b"}))
        flow = self.run_flow(f"""
            steps:
              work:
                for_each: {{queue: {self.queue}}}
                run: echo "{{item.rate}} $ATOLL_ITEM_NAME $ATOLL_ITEM_ID"; cat
            """)
        self.assertEqual(flow.log("work").splitlines()[0], "0.5 a b 1")
        self.put(*range(10))
        flow = self.run_flow(f"""
            steps:
              work: {{for_each: {{queue: {self.queue}, batch: 4, workers: 1}}, run: "cat >>all; echo >>jobs"}}
            """)
        self.assertEqual((self.dir / "all").read_text().split(), [str(i) for i in range(10)])
        self.assertEqual((self.dir / "jobs").read_text().count("\n"), 3)
        self.assertEqual(flow.outputs("work")["done"], 10)

    def test_times_and_use_are_those_of_all_its_jobs(self):
        self.put(*range(3))
        gate, wait = self.gate()
        flow = self.submit_flow(f"""
            steps:
              work:
                for_each: {{queue: {self.queue}, workers: 2}}
                run: |
                  {wait}
                  i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo $i >$ATOLL_OUTPUTS/n
                outputs: [n]
            """)
        work = flow.until(lambda f: (seen := f.step("work"))["started"] and seen, "a start")
        self.assertTrue(work["job"])
        self.assertLessEqual(work["queued"], work["started"])
        self.assertEqual((work["attempts"], work["ended"]), (0, None))
        gate.touch()
        flow.ended()
        work = flow.step("work")
        attempts = [each for done in self.outputs(flow)
                    for each in self.atoll.api("GET", f"/api/v1/jobs/{done['job']}/attempts").json["attempts"]]
        self.assertEqual((work["attempts"], len(attempts)), (3, 3))
        self.assertEqual(work["started"], min(each["started"] for each in attempts))
        self.assertLessEqual(max(each["ended"] for each in attempts), work["ended"])
        self.assertGreater(work["cpu_seconds"], 0)
        self.assertAlmostEqual(work["cpu_seconds"], sum(each["cpu_seconds"] for each in attempts), delta=0.003)
        self.assertEqual(work["memory_peak_bytes"], max(each["memory_peak_bytes"] for each in attempts))
        self.assertEqual((work["site"], work["node"]), (attempts[0]["site"], attempts[0]["node"]))
        shown = self.atoll.cli("workflow", "show", flow.id).stdout
        for column in ("WAITED", "RAN", "CPU", "PEAK MEM"):
            self.assertIn(column, shown)
        report = self.atoll.api("GET", f"/api/v1/workflows/{flow.id}/report").text
        row = next(line for line in report.splitlines() if line.startswith("<tr>") and ">work<" in line)
        self.assertRegex(row, r"[0-9]+%</td>")
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        self.assertEqual(flow.step("work"), work)

    def test_a_queue_that_is_dry_is_no_failure(self):
        flow = self.run_flow(f"steps: {{work: {{for_each: {{queue: {self.queue}}}, run: exit 1}}}}")
        self.assertEqual(flow.outputs("work"), {"done": 0, "dead": 0, "given_back": 0})

    @made_with("--attempts", "2")
    def test_what_fails_is_tried_again_and_then_a_dead_letter(self):
        self.put("good", "bad", "once")
        flow = self.run_flow(f"""
            steps:
              work:
                for_each: {{queue: {self.queue}, workers: 1}}
                retries: {{max: 0, backoff: 1ms}}
                run: |
                  case $ATOLL_ITEM in
                    bad) exit 3 ;;
                    once) if mkdir tried; then exit 4; fi ;;
                  esac
              after: {{needs: work, run: "true"}}
            """, code=1)
        work = flow.step("work")
        self.assertEqual(flow.outcomes(), {"work": "failed", "after": "skipped"})
        self.assertEqual(work["message"], f"1 item failed too often: atoll queue dead {self.queue}")
        self.assertEqual(work["outputs"], {"done": 2, "dead": 1, "given_back": 2})
        dead = self.atoll.json("queue", "dead", self.queue)
        self.assertEqual([each["body"] for each in dead], ["bad"])
        self.assertIn("exit code 3", dead[0]["message"])

    @made_with("--attempts", "1")
    def test_outputs_that_are_missing_give_the_item_back(self):
        self.put("a")
        flow = self.run_flow(f"""
            steps:
              work: {{for_each: {{queue: {self.queue}}}, run: "true", outputs: [size]}}
            """, code=1)
        self.assertEqual(flow.outputs("work")["dead"], 1)
        self.assertEqual(self.outputs(flow), [])
        self.assertIn("$ATOLL_OUTPUTS/size", self.atoll.json("queue", "dead", self.queue)[0]["message"])

    def test_producers_add_while_it_runs_until_it_is_closed(self):
        flow = self.submit_flow(f"""
            steps:
              work: {{for_each: {{queue: {self.queue}, until: closed}}, run: 'echo "$ATOLL_ITEM" >>did'}}
            """)
        did = self.dir / "did"
        for i in range(3):
            self.put(f"item-{i}")
            wait_for(lambda i=i: did.exists() and f"item-{i}\n" in did.read_text(), f"item {i}")
        flow.until(lambda f: f.step("work")["queue"]["done"] == 3, "three items")
        self.assertEqual(flow.show()["state"], "running")
        self.atoll.cli("queue", "close", self.queue)
        self.assertEqual(flow.ended()["outcome"], "succeeded")
        self.assertEqual(flow.outputs("work")["done"], 3)


class Stops(Queues):
    def gated(self, until="dry"):
        gate, wait = self.gate()
        flow = self.submit_flow(f"""
            steps:
              work: {{for_each: {{queue: {self.queue}, workers: 1, until: {until}}}, grace: 1s, run: '{wait}; echo "$ATOLL_ITEM" >>did'}}
            """)
        return flow, gate

    def test_a_pause_leases_no_more_and_resume_goes_on(self):
        self.put("a", "b")
        flow, gate = self.gated()
        flow.until(lambda f: f.step("work")["queue"]["working"] == 1, "a lease")
        self.atoll.cli("workflow", "pause", flow.id)
        gate.touch()
        flow.until(lambda f: f.step("work")["queue"]["done"] == 1, "the first item")
        self.assertEqual((self.stats()["ready"], self.stats()["leased"]), (1, 0))
        self.atoll.cli("workflow", "resume", flow.id)
        self.assertEqual(flow.ended()["outcome"], "succeeded")
        self.assertEqual((self.dir / "did").read_text().split(), ["a", "b"])

    def test_a_cancel_gives_back_and_a_retry_goes_on(self):
        self.put("a", "b")
        flow, gate = self.gated()
        flow.until(lambda f: f.step("work")["queue"]["working"] == 1, "a lease")
        self.atoll.cli("workflow", "cancel", flow.id)
        self.assertEqual(flow.ended()["outcome"], "cancelled")
        self.assertEqual((self.stats()["ready"], self.stats()["leased"]), (2, 0))
        gate.touch()
        self.atoll.cli("workflow", "retry", flow.id)
        flow.until(lambda f: f.show()["outcome"] == "succeeded", "success")
        self.assertEqual(sorted((self.dir / "did").read_text().split()), ["a", "b"])

    def test_its_leases_are_its_own_and_a_queue_that_is_deleted_fails_it(self):
        self.put("a")
        flow, gate = self.gated("closed")
        flow.until(lambda f: f.step("work")["queue"]["working"] == 1, "a lease")
        lease = next(i for i in range(1, 100) if "belongs to step work" in
                     self.atoll.cli("queue", "done", self.queue, i, check=False).stderr)
        self.assertIn("cancel that instead",
                      self.atoll.cli("queue", "retry", self.queue, lease, check=False).stderr)
        self.assertIn("1 item", self.atoll.cli("queue", "delete", self.queue, "--yes", check=False).stderr)
        gate.touch()
        flow.until(lambda f: f.step("work")["queue"]["done"] == 1, "the item")
        self.atoll.cli("queue", "delete", self.queue, "--yes")
        self.assertEqual(flow.ended()["outcome"], "failed")
        self.assertEqual(flow.step("work")["message"],
                         f"queue {self.queue} of namespace default was deleted while the step went through it")

    def test_a_queue_that_is_not_there(self):
        self.assertIn('step "work" goes through queue "nowhere", which is not in namespace default: atoll queue create nowhere',
                      self.refuse_flow("steps: {work: {for_each: {queue: nowhere}, run: 'true'}}"))
        flow = self.run_flow("steps: {a: {run: 'true'}, work: {needs: a, for_each: {queue: nowhere}, run: 'true'}}", code=1)
        self.assertIn("there is no queue nowhere of namespace default", flow.step("work")["message"])

    def test_mistakes_are_told_with_their_place(self):
        for written, message in (
                ("{queue: urls, worker: 2}", 'has "worker" beside queue, which is none of queue, workers, batch, until; did you mean workers?'),
                ("{queue: urls, workers: 0}", "workers must be a number from 1 to 4000, and is 0"),
                ("{queue: urls, workers: {min: 9, max: 2}}", "workers.min is 9, which is more than workers.max, 2"),
                ("{queue: urls, workers: {most: 2}}", 'has "most" in workers, which is none of min, max'),
                ("{queue: urls, batch: many}", "batch must be a number from 1 to 1000, and is many"),
                ("{queue: urls, until: empty}", 'until must be dry or closed, and is "empty"'),
                ("{queue: [a]}", "queue must be the name of one"),
                ('{queue: "{steps.a.outputs.b}"}', "queue may be named by params and env"),
                ("{queu: urls}", 'has "queu", which is none of range, file, grid, queue and output; did you mean queue?')):
            said = self.refuse_flow(f"steps:\n  a: {{run: 'true', outputs: [b]}}\n  work:\n    for_each: {written}\n    run: 'true'\n")
            self.assertIn(message, said)
            self.assertRegex(said, r"^flow\.yaml:\d+:\d+: ")
        for key, message in (("cache: true", "cache does not go with a queue"),
                             ("parallel: 3", "parallel does not go with a queue: say for_each: {queue: urls, workers: 3}"),
                             ("outputs: [done]", "is a count that every step with a queue leaves")):
            said = self.refuse_flow(f"steps:\n  work:\n    for_each: {{queue: urls}}\n    run: 'true'\n    {key}\n")
            self.assertIn(message, said)
            self.assertTrue(said.startswith("flow.yaml:2:3: "), said)


class Kills(unittest.TestCase):
    """1,000 items through up to eight workers while server and warden are killed."""

    ITEMS = 1000
    KILLS = ("server", "warden", "server", "server", "warden", "server")

    def test_every_item_has_exactly_one_committed_output(self):
        with Atoll("sites:\n  local: {cpus: 8, memory: 8Gi}\n") as atoll:
            atoll.cli("queue", "create", "items")
            atoll.cli("queue", "put", "items", "-", stdin="".join(f"item-{i}\n" for i in range(self.ITEMS)))
            (atoll.home / "flow.yaml").write_text("""
steps:
  work:
    for_each: {queue: items, workers: {min: 1, max: 8}}
    run: |
      sleep 0.02
      echo "$ATOLL_ITEM" >$ATOLL_OUTPUTS/what
    outputs: [what]
""")
            flow = atoll.cli("submit", "flow.yaml").stdout.strip()

            def done():
                return atoll.json("workflow", "steps", flow)[0]["queue"]["done"]

            for turn, victim in enumerate(self.KILLS):
                goal = (turn + 1) * self.ITEMS // (len(self.KILLS) + 2)
                wait_for(lambda goal=goal: done() >= goal, f"{goal} items", seconds=120)
                self.assertTrue(atoll.kill_server() if victim == "server" else atoll.kill_warden())
                if victim == "server":
                    atoll.up()
            wait_for(lambda: atoll.json("workflow", "show", flow)["state"] == "ended", "the end", seconds=180)
            step = atoll.json("workflow", "steps", flow)[0]
            self.assertEqual((step["outcome"], step["queue"]["done"], step["queue"]["dead"]), ("succeeded", self.ITEMS, 0), step)
            rows = atoll.json("workflow", "outputs", flow, "work")
            self.assertEqual(sorted(each["outputs"]["what"] for each in rows), sorted(f"item-{i}" for i in range(self.ITEMS)))
            self.assertEqual({each["outputs"]["what"]: each["items"] for each in rows},
                             {f"item-{i}": str(i + 1) for i in range(self.ITEMS)})
            stats = atoll.json("queue", "stats", "items")
            self.assertEqual((stats["done"], stats["leased"], stats["ready"], stats["dead"]), (self.ITEMS, 0, 0, 0))
            atoll.down()
            atoll.up()
            self.assertEqual(len(atoll.json("workflow", "outputs", flow, "work")), self.ITEMS)


if __name__ == "__main__":
    unittest.main()
