"""What goes from step to step on the real binary: outputs, items, the cache, checks, and parts of a workflow alone."""

import hashlib
import json
import unittest
from collections import Counter

from flows import Flows


class Outputs(Flows):
    def test_values_and_files_reach_other_steps(self):
        flow = self.run_flow("""
            params: {year: 2017}
            steps:
              make:
                run: |
                  echo 12 >$ATOLL_OUTPUTS/count
                  printf 'two\\nlines\\n' >$ATOLL_OUTPUTS/text
                  echo weights >model-{params.year}.pt
                outputs: {count: {}, text: {}, model: {file: "model-{params.year}.pt"}}
              use:
                inputs: {model: "{steps.make.outputs.model}", how-many: "{steps.make.outputs.count}"}
                run: 'cat "$ATOLL_INPUT_MODEL"; echo $ATOLL_INPUT_HOW_MANY'
              say: {argv: [echo, "{steps.make.outputs.text}"]}
            """)
        self.assertEqual(flow.log("use"), "weights\n12\n")
        self.assertEqual(flow.log("say"), "two\nlines\n")
        outputs = flow.outputs("make")
        self.assertEqual((outputs["count"], outputs["text"]), ("12", "two\nlines"))
        self.assertEqual(outputs["model"], {"file": str(self.dir / "model-2017.pt"), "size": 8,
                                            "sha256": hashlib.sha256(b"weights\n").hexdigest()})

    def test_a_step_that_does_not_leave_them_fails(self):
        flow = self.run_flow("""
            steps:
              value: {run: "true", outputs: [n]}
              file: {run: "true", outputs: {f: nothing.txt}}
              binary: {run: "printf '\\\\377' >$ATOLL_OUTPUTS/n", outputs: [n]}
              large: {run: "head -c 100000 /dev/zero | tr '\\\\0' x >$ATOLL_OUTPUTS/n", outputs: [n]}
              after: {run: "true", needs: value}
            """, code=1)
        self.assertEqual(flow.outcomes(), {"value": "failed", "file": "failed", "binary": "failed", "large": "failed",
                                           "after": "skipped"})
        self.assertIn("output n", flow.step("value")["message"])
        self.assertIn("output f: there is no file nothing.txt", flow.errors("file"))
        self.assertIn("not UTF-8", flow.step("binary")["message"])

    def test_they_do_not_lead_out_of_the_directory(self):
        flow = self.run_flow("""
            steps:
              value: {run: "ln -s /etc/passwd $ATOLL_OUTPUTS/n", outputs: [n]}
              file: {run: "ln -s /etc/passwd evil", outputs: {f: evil}}
              folder: {run: "ln -s /etc folder", outputs: {f: folder/passwd}}
            """, code=1)
        self.assertEqual(set(flow.outcomes().values()), {"failed"})
        for step in flow.steps():
            self.assertEqual(step["outputs"], {})
        for name in ("file", "folder"):
            self.assertIn("leads out of the step's directory", flow.errors(name))

    def test_of_tasks_they_are_lists(self):
        flow = self.run_flow("""
            steps:
              make:
                run: "echo {item}0 >$ATOLL_OUTPUTS/n; echo {item} >made-{item}"
                for_each: [1, 2, 3]
                outputs: {n: {}, made: "made-{item}"}
              use: {run: "echo {steps.make.outputs.n}"}
            """)
        self.assertEqual(flow.outputs("make")["n"], ["10", "20", "30"])
        self.assertEqual([each["file"] for each in flow.outputs("make")["made"]],
                         [str(self.dir / f"made-{i}") for i in (1, 2, 3)])


class ForEach(Flows):
    def lines(self, flow, step="go"):
        """What the tasks said, in the order of their numbers."""
        job = flow.step(step)["job"]
        return [self.atoll.logs(f"{job}[{i}]").rstrip("\n") for i in range(flow.step(step)["tasks"]["total"])]

    def go(self, for_each, what="{item}", more=""):
        flow = self.run_flow(f"""
            params: {{lrs: "[0.1, 0.25]", last: 3}}
            steps:
              find: {{run: 'printf "p\\nq\\n" >$ATOLL_OUTPUTS/names; echo "[4, 5]" >$ATOLL_OUTPUTS/list', outputs: [names, list]}}
              go: {{run: "echo {what}", for_each: {for_each}, resources: {{cpus: 0.1, memory: 16Mi}}{more}}}
            """)
        return self.lines(flow)

    def test_a_list(self):
        self.assertEqual(self.go("[north, south, 7, 0.2, true]"), ["north", "south", "7", "0.2", "true"])

    def test_each_task_runs_its_own_script(self):
        numbers = [str(i) for i in range(1, 31)]
        self.assertEqual(self.go("{range: 1-30}"), numbers)
        self.assertEqual(self.go("{range: 1-30}", more=", check: 'test {item} -gt 0'"), numbers)

    def test_a_list_of_maps(self):
        self.assertEqual(self.go("[{lr: 0.1, n: 2}, {lr: 0.2, n: 3}]", "{item.lr} {item.n} $ATOLL_ITEM_LR"),
                         ["0.1 2 0.1", "0.2 3 0.2"])

    def test_a_range_with_a_parameter(self):
        self.assertEqual(self.go('{range: "1-{params.last},7"}'), ["1", "2", "3", "7"])

    def test_a_file_of_lines(self):
        (self.dir / "names.txt").write_text("one\r\ntwo words\n\nthree")
        self.assertEqual(self.go("{file: names.txt}", "$ATOLL_ITEM"), ["one", "two words", "three"])

    def test_a_grid(self):
        self.assertEqual(self.go("{grid: {lr: '{params.lrs}', n: [1, 2]}}", "{item.lr} {item.n}"),
                         ["0.1 1", "0.1 2", "0.25 1", "0.25 2"])

    def test_the_output_of_a_step(self):
        self.assertEqual(self.go('"{steps.find.outputs.names}"'), ["p", "q"])

    def test_the_output_of_a_step_by_its_name(self):
        self.assertEqual(self.go("{output: find.list}"), ["4", "5"])

    def test_nothing_to_go_through_skips_it(self):
        flow = self.run_flow("""
            steps:
              find: {run: ": >$ATOLL_OUTPUTS/names", outputs: [names]}
              go: {run: "echo {item}", for_each: "{steps.find.outputs.names}"}
            """)
        self.assertEqual(flow.outcomes()["go"], "skipped")
        self.assertEqual(flow.step("go")["message"], "there is nothing to go through")

    def test_parallel_bounds_its_tasks(self):
        flow = self.run_flow("""
            steps:
              go: {run: "mkdir lock && sleep 0.02 && rmdir lock", for_each: {range: 1-8}, parallel: 1}
            """)
        self.assertEqual(flow.step("go")["tasks"]["succeeded"], 8)

    def test_one_task_that_fails_fails_it(self):
        flow = self.run_flow("""
            steps:
              go: {run: "test {item} != 2", for_each: [1, 2, 3]}
            """, code=1)
        tasks = flow.step("go")["tasks"]
        self.assertEqual((tasks["succeeded"], tasks["failed"]), (2, 1))


class Cache(Flows):
    FILE = """
        params: {year: 2017}
        steps:
          make:
            cache: true
            inputs: {data: data.txt}
            run: "echo ran >>runs; echo {params.year} >made.txt; echo n{params.year} >$ATOLL_OUTPUTS/n"
            outputs: {n: {}, made: made.txt}
          use: {run: "echo {steps.make.outputs.n}; cat {steps.make.outputs.made}"}
        """

    def setUp(self):
        super().setUp()
        (self.dir / "data.txt").write_text("one")

    def runs(self):
        return len((self.dir / "runs").read_text().splitlines())

    def test_the_same_again_is_reused_with_its_outputs(self):
        first = self.run_flow(self.FILE)
        second = self.run_flow(self.FILE)
        self.assertEqual(self.runs(), 1)
        step = second.step("make")
        self.assertEqual((step["outcome"], step["reason"], step["job"]), ("succeeded", "reused", None))
        self.assertEqual(step["reused"], {"workflow": first.id, "number": 0})
        self.assertEqual(second.outputs("make"), first.outputs("make"))
        self.assertEqual(second.log("use"), "n2017\n2017\n")
        self.assertIn(f"the same as in workflow {first.id}", second.said)

    def test_another_input_parameter_or_script_runs(self):
        self.run_flow(self.FILE)
        (self.dir / "data.txt").write_text("two!")
        self.run_flow(self.FILE)
        self.assertEqual(self.runs(), 2)
        self.run_flow(self.FILE, "--set", "year=2018")
        self.assertEqual(self.runs(), 3)
        self.run_flow(self.FILE.replace("echo ran", "echo  ran"))
        self.assertEqual(self.runs(), 4)

    def test_a_file_that_is_no_longer_what_was_left_runs_again(self):
        self.run_flow(self.FILE)
        self.run_flow(self.FILE, "--set", "year=2018")  # writes a file of the same size there
        flow = self.run_flow(self.FILE)
        self.assertEqual(flow.log("use"), "n2017\n2017\n")
        (self.dir / "made.txt").unlink()
        self.assertEqual(self.run_flow(self.FILE).log("use"), "n2017\n2017\n")

    def test_files_of_tasks_are_looked_at_too(self):
        text = """
            steps:
              make: {cache: true, run: "echo {item} >made-{item}", for_each: [1, 2], outputs: {made: "made-{item}"}}
            """
        self.run_flow(text)
        self.assertEqual(self.run_flow(text).step("make")["reason"], "reused")
        (self.dir / "made-2").unlink()
        self.run_flow(text)
        self.assertTrue((self.dir / "made-2").exists())

    def test_a_failure_is_never_reused(self):
        text = "steps: {bad: {cache: true, run: 'echo ran >>runs; exit 1'}}"
        self.run_flow(text, code=1)
        self.run_flow(text, code=1)
        self.assertEqual(self.runs(), 2)


class Check(Flows):
    def test_commands_and_conditions_that_hold(self):
        flow = self.run_flow("""
            params: {least: 0.9}
            steps:
              count: {run: "echo 5 >$ATOLL_OUTPUTS/n", outputs: [n]}
              train:
                run: "echo 0.95 >$ATOLL_OUTPUTS/accuracy; echo x >model.pt"
                outputs: {accuracy: {}, model: model.pt}
                check:
                - test -s model.pt
                - test {steps.count.outputs.n} = 5
                - {ge: ["{outputs.accuracy}", "{params.least}"]}
              plain: {run: touch there, check: test -e there}
            """)
        self.assertEqual(set(flow.outcomes().values()), {"succeeded"})

    def test_a_command_that_fails_and_a_condition_that_does_not_hold(self):
        flow = self.run_flow("""
            steps:
              command: {run: "true", check: ["true", "test -s model.pt"]}
              condition: {run: "echo 0.5 >$ATOLL_OUTPUTS/a", outputs: [a], check: {ge: ["{outputs.a}", 0.9]}}
              after: {run: "true", needs: condition}
            """, code=1)
        self.assertEqual(flow.outcomes(), {"command": "failed", "condition": "failed", "after": "skipped"})
        self.assertIn("check failed: test -s model.pt", flow.errors("command"))
        self.assertIn('check failed: {"ge":["{outputs.a}",', flow.step("condition")["message"])


class OnlyAndFrom(Flows):
    FILE = """
        params: {n: 1}
        steps:
          a: {run: "echo a >>ran; echo a{params.n} >$ATOLL_OUTPUTS/v", outputs: [v]}
          b: {run: "echo b >>ran; echo {steps.a.outputs.v}b >$ATOLL_OUTPUTS/v", outputs: [v], check: test -e ran}
          c: {run: "echo c >>ran; echo {steps.b.outputs.v}"}
          d: {run: "echo d >>ran"}
        """

    def ran(self):
        path = self.dir / "ran"
        names = path.read_text().split()
        path.unlink()
        return Counter(names)

    def test_only_runs_one_step_on_what_was_left(self):
        first = self.run_flow(self.FILE)
        self.ran()
        flow = self.run_flow(self.FILE, "--only", "b", "--set", "n=2")
        self.assertEqual(self.ran(), Counter("b"))
        self.assertEqual(flow.outputs("b"), {"v": "a1b"})
        self.assertEqual(flow.step("a")["reused"], {"workflow": first.id, "number": 0})
        self.assertEqual(set(flow.outcomes()), {"a", "b"})

    def test_from_runs_a_step_and_what_comes_after(self):
        self.run_flow(self.FILE)
        self.ran()
        flow = self.run_flow(self.FILE, "--from", "b")
        self.assertEqual(self.ran(), Counter("bc"))
        self.assertEqual(flow.log("c"), "a1b\n")

    def test_what_cannot_be_is_refused(self):
        name = ("--name", "never-ran")
        self.assertIn('has no step "z"', self.refuse_flow(self.FILE, "--only", "z", *name, code=1))
        self.assertIn('has no step "z"', self.refuse_flow(self.FILE, "--from", "z", *name, code=1))
        self.assertIn("run the whole workflow first", self.refuse_flow(self.FILE, "--only", "b", *name, code=1))
        self.assertIn("run the whole workflow first", self.refuse_flow(self.FILE, "--from", "c", *name, code=1))
        self.assertIn("exclude each other", self.refuse_flow(self.FILE, "--only", "a", "--from", "a", *name))

    def test_dry_run_shows_the_plan_and_submits_nothing(self):
        self.run_flow(self.FILE)
        before = self.newest()
        path = self.dir / "flow.yaml"
        printed = self.atoll.cli("run", path, "--dry-run", "--set", "n=2").stdout
        self.assertIn("flow: 4 steps\n  n = 2\n", printed)
        self.assertIn("  b  needs a\n", printed)
        plan = json.loads(self.atoll.cli("-o", "json", "run", "--dry-run", "--only", "b", path).stdout)["plan"]
        self.assertEqual([(each["name"], each["kept"]) for each in plan], [("a", True), ("b", False)])
        self.assertEqual(self.newest(), before)


if __name__ == "__main__":
    unittest.main()
