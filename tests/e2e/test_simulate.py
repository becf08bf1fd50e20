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

    def test_a_broken_line_is_refused_with_what_to_write(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4) + "2 10 -1 fifty 4\n")
        refused = self.atoll("simulate", "--trace", trace, code=2)
        self.assertIn("t.swf:5: field 4 (run time) is \"fifty\"; write a whole number, or -1", refused.stderr)
        self.assertEqual(refused.stdout, "")
        skipped = self.atoll("simulate", "--trace", trace, "--skip-broken")
        self.assertIn("1 broken lines are left out; the first: t.swf:5:", skipped.stderr)

    def test_other_bad_input_is_refused_too(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4))
        self.assertIn("name a trace with --trace", self.atoll("simulate", code=2).stderr)
        self.assertIn("cannot read nowhere.swf", self.atoll("simulate", "--trace", "nowhere.swf", code=2).stderr)
        self.assertIn("no job in it", self.atoll("simulate", "--trace", self.file("e.swf", HEADER), code=2).stderr)
        self.file("bad.yaml", "nodes: [{count: 1, name: n, cpu: 4}]\nnamespaces:\n  g1: {cohort: nowhere}\n")
        self.assertIn("bad.yaml:3:", self.atoll("simulate", "--trace", trace, "--config", "bad.yaml", code=2).stderr)
        self.assertIn("is no tier", self.atoll("simulate", "--trace", trace, "--tiers", "1=vip", code=2).stderr)
        self.assertIn("--round", self.atoll("simulate", "--trace", trace, "--round", "2d", code=2).stderr)
        self.file("none.swf", line(1, 0, 100, 4))
        self.assertIn("says what nodes there are", self.atoll("simulate", "--trace", "none.swf", code=2).stderr)
        self.assertIn("--jobs is 0", self.atoll("simulate", "generate", "--jobs", "0", code=2).stderr)

    def test_jobs_that_no_node_holds_are_told(self):
        trace = self.file("t.swf", HEADER + line(1, 0, 100, 4) + line(2, 0, 100, 8))
        done = self.atoll("simulate", "--trace", trace)
        self.assertIn("1 jobs are left out: no node is large enough", done.stderr)
        self.assertRegex(done.stdout, r"jobs too large +1")

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
