"""`atoll simulate`: policies on a trace, without a server."""

import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from atoll import PROGRAM, Atoll

HEADER = "; UnixStartTime: 1767571200\n; MaxNodes: 1\n; MaxProcs: 4\n"
#        number, submitted, run, cores, asked, user, group, queue
LINE = "{} {} -1 {} {} -1 -1 {} {} -1 1 {} {} -1 {} -1 -1 -1\n"


def line(number, submit, run, cores, asked=3600, user=1, group=1, queue=1):
    return LINE.format(number, submit, run, cores, cores, asked, user, group, queue)


class Simulate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def atoll(self, *args, code=0, text=None):
        env = {key: value for key, value in os.environ.items() if not key.startswith("ATOLL_")}
        done = subprocess.run([PROGRAM, *map(str, args)], input=text, capture_output=True, text=True, timeout=120,
                              cwd=self.folder, env={**env, "NO_COLOR": "1", "ATOLL_HOME": str(self.folder / "none")})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def test_waits_are_those_that_can_be_reckoned_by_hand(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4) + line(2, 10, 50, 4) + line(3, 500, 20, 1))
        run = json.loads(self.atoll("simulate", "--trace", trace, "-o", "json").stdout)["runs"][0]
        self.assertEqual(run["config"], "defaults")
        self.assertEqual(run["wait"]["tasks"], 3)
        self.assertEqual(run["wait"]["mean_seconds"], 30)
        self.assertEqual(run["wait"]["p95_seconds"], 90)
        self.assertEqual(run["evictions"], 0)
        self.assertEqual(run["makespan_seconds"], 520)

    def test_two_policies_stand_side_by_side(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4) + line(2, 10, 50, 4))
        self.file("small.yaml", "nodes: [{count: 1, name: n, cpu: 4}]\n")
        self.file("large.yaml", "nodes: [{count: 2, name: n, cpu: 4}]\n")
        shown = self.atoll("simulate", "--trace", trace, "--config", "small.yaml", "--config", "large.yaml").stdout
        self.assertRegex(shown, r"MEASURE +1: small.yaml +2: large.yaml")
        self.assertRegex(shown, r"wait, mean +45s +0s")
        self.assertRegex(shown, r"g1 +100.0%")

    def test_work_that_yields_is_counted(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4, queue=2) + line(2, 30, 50, 4))
        run = json.loads(self.atoll("simulate", "--trace", trace, "--tiers", "2=opportunistic", "--checkpoint", "36s",
                                    "-o", "json").stdout)["runs"][0]
        self.assertEqual(run["evictions"], 1)
        self.assertAlmostEqual(run["lost_core_hours"], 60 * 4 / 3600, places=3)

    def test_our_own_history_is_a_trace(self):
        lines = [{"submitted": f"2026-11-15T12:00:0{i}Z", "started": "2026-11-15T12:01:00Z", "user": "ada",
                  "ended": "2026-11-15T12:02:00Z", "namespace": "bio", "cpus": 2, "devices": ["gpu:1"]} for i in range(3)]
        text = "".join(json.dumps(each) + "\n" for each in lines)
        self.file("p.yaml", "nodes: [{count: 1, name: n, cpu: 8, devices: {gpu: 2}}]\n")
        run = json.loads(self.atoll("simulate", "--trace", "-", "--config", "p.yaml", "--round", "0s", "-o", "json",
                                    text=text).stdout)["runs"][0]
        self.assertEqual(run["wait"]["p95_seconds"], 58)
        self.assertEqual(run["namespaces"][0]["name"], "bio")

    def test_what_ps_prints_is_a_trace(self):
        with Atoll("sites:\n  local: {cpus: 4, memory: 4Gi}\n") as real:
            for job in [real.submit("--cpus", "2", "--", "sleep", "0.2") for _ in range(3)]:
                real.wait_job(job)
            past = real.cli("ps", "--all", "-o", "jsonl").stdout
        self.file("p.yaml", "nodes: [{count: 1, name: n, cpu: 4}]\n")
        run = json.loads(self.atoll("simulate", "--trace", "-", "--config", "p.yaml", "-o", "json", text=past).stdout)
        self.assertEqual(run["trace"]["jobs"], 3)
        self.assertEqual(run["runs"][0]["wait"]["tasks"], 3)

    def test_what_a_server_has_run_is_exported_with_its_machine(self):
        config = """sites:
  local:
    cpus: 4
    memory: 4Gi
    devices:
      - {kind: gpu, model: t4, count: 2, memory: 16Gi, simulated: true, share: 0.05}
      - {kind: gpu, model: a100, count: 1, memory: 40Gi, simulated: true, slices: a100-40gb}
  class: {kind: simulated, nodes: 9, cpus: 64, memory: 128Gi}
"""
        with Atoll(config) as real:
            small = ("--cpus", "0.1", "--mem", "64Mi")
            jobs = [real.submit(*small, "--gpus", "t4|any:0.25", "--tier", "opportunistic", "--time", "90m",
                                "--grace", "7s", "--", "true"),
                    real.submit(*small, "--gpus", "1g.5gb", "--priority", "3", "--", "true"),
                    real.submit(*small, "--gpus", "4Gi", "--", "true"),
                    real.submit(*small, "--array", "1-3%2", "--", "sh", "-c", "sleep 0.$ATOLL_ARRAY_INDEX"),
                    real.submit(*small, "--gang", "2", "--", "sleep", "0.1")]
            for job in jobs:
                real.wait_job(job)
            past = real.cli("simulate", "export").stdout
        lines = [json.loads(each) for each in past.splitlines()]
        machines = [each["machine"] for each in lines if "machine" in each]
        self.assertEqual([each["cpus"] for each in machines], [4], "the site that is used by name only is left out")
        self.assertEqual(len(machines[0]["devices"]), 3)
        told = {each["id"]: each for each in lines if "id" in each}
        shared, sliced, memory, array, gang = (told[job] for job in jobs)
        self.assertEqual(shared["device_requests"], [{"kind": "gpu", "models": ["t4", "any"], "count": 1, "share": 0.25,
                                                      "memory_bytes": None, "slice": None}])
        self.assertEqual((shared["tier"], shared["time_seconds"], shared["grace_seconds"]), ("opportunistic", 5400, 7))
        self.assertEqual((sliced["device_requests"][0]["slice"], sliced["priority"]), ("1g.5gb", 3))
        self.assertEqual(memory["device_requests"][0]["memory_bytes"], 4 << 30)
        self.assertEqual((len(array["runs"]), array["parallel_max"]), (3, 2))
        self.assertGreaterEqual(array["runs"][2], 0.3, "a task runs at least for as long as it sleeps")
        self.assertEqual((len(gang["runs"]), gang["gang"]), (2, 2))
        done = self.atoll("simulate", "--trace", "-", "-o", "json", text=past)
        run = json.loads(done.stdout)["runs"][0]
        self.assertEqual((run["cores"], run["wait"]["tasks"], run["left_out"]), (4, 8, []), done.stderr)

    def test_a_broken_line_is_refused_with_what_to_write(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4) + "2 10 -1 fifty 4\n")
        refused = self.atoll("simulate", "--trace", trace, code=2)
        self.assertIn("t.swf:5: field 4 (run time) is \"fifty\"; write a whole number, or -1", refused.stderr)
        self.assertEqual(refused.stdout, "")
        skipped = self.atoll("simulate", "--trace", trace, "--skip-broken")
        self.assertIn("1 broken line left out of the trace; the first: t.swf:5:", skipped.stderr)

    def test_other_bad_input_is_refused_too(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4))
        self.assertIn("name a trace with --trace", self.atoll("simulate", code=2).stderr)
        self.assertIn("cannot read nowhere.swf", self.atoll("simulate", "--trace", "nowhere.swf", code=2).stderr)
        self.assertIn("no job in it", self.atoll("simulate", "--trace", self.file("e.swf", HEADER), code=2).stderr)
        self.file("bad.yaml", "nodes: [{count: 1, name: n, cpu: 4}]\nnamespaces:\n  g1: {cohort: nowhere}\n")
        self.assertIn("bad.yaml:3:", self.atoll("simulate", "--trace", trace, "--config", "bad.yaml", code=2).stderr)
        self.assertIn("is no tier", self.atoll("simulate", "--trace", trace, "--tiers", "1=vip", code=2).stderr)
        said = self.atoll("simulate", "--trace", trace, "--tiers", "9=service").stderr
        self.assertIn("--tiers: no job of the trace is in queue 9; its queues are 1", said)
        self.file("twice.yaml", "nodes:\n  - {name: n, cpu: 4}\n  - {name: n, cpu: 8}\n")
        self.assertIn("twice.yaml:2:3: two nodes are called \"n\": one of entry 1 of nodes",
                      self.atoll("simulate", "--trace", trace, "--config", "twice.yaml", code=2).stderr)
        self.assertIn("--round", self.atoll("simulate", "--trace", trace, "--round", "2d", code=2).stderr)
        self.file("none.swf", line(1, 0, 100, 4))
        self.assertIn("says what nodes there are", self.atoll("simulate", "--trace", "none.swf", code=2).stderr)
        self.assertIn("--jobs is 0", self.atoll("simulate", "generate", "--jobs", "0", code=2).stderr)

    def test_jobs_that_no_node_holds_are_told(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4) + line(2, 0, 100, 8) + line(3, 0, 100, 9))
        done = self.atoll("simulate", "--trace", trace)
        self.assertIn("2 jobs left out: more cores than all nodes have together", done.stderr)
        self.assertRegex(done.stdout, r"jobs too large +2")

    def test_a_job_wider_than_a_node_runs_as_a_gang(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4) + line(2, 0, 50, 10))
        self.file("three.yaml", "nodes: [{count: 3, name: n, cpu: 4}]\n")
        done = self.atoll("simulate", "--trace", trace, "--config", "three.yaml", "-o", "json")
        self.assertIn("three.yaml: 1 job wider than a node, run as gangs", done.stderr)
        run = json.loads(done.stdout)["runs"][0]
        self.assertEqual((run["jobs_as_gangs"], run["wait"]["tasks"], run["wait"]["p95_seconds"]), (1, 2, 100))

    def test_a_generated_trace_is_the_same_twice_and_can_be_run(self):
        command = ("simulate", "generate", "--days", "2", "--jobs", "300", "--nodes", "4", "--seed", "5")
        once = self.atoll(*command).stdout
        self.assertEqual(once, self.atoll(*command).stdout)
        self.assertIn("; MaxProcs: 128\n", once)
        done = self.atoll("simulate", "--trace", "-", "--plots", "plots", text=once)
        self.assertIn("wrote plots/waits.svg", done.stderr)
        for name in ("utilisation", "waits", "namespaces"):
            drawing = xml.parse(self.folder / "plots" / f"{name}.svg").getroot()
            self.assertEqual(drawing.tag, "{http://www.w3.org/2000/svg}svg")


if __name__ == "__main__":
    unittest.main()
