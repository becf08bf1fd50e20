"""Workflow files on the real binary: parameters, what steps have in common, and steps themselves."""

import unittest

from atoll import Atoll
from flows import Flows


class Params(Flows):
    FILE = """
        params:
          year: 2017
          rate: {type: number, default: 0.5}
          fast: {type: boolean, default: false}
          region: {required: true, choices: [north, south], help: where to look}
        steps:
          tell: {run: "echo {params.year} {params.rate} {params.fast} {params.region}"}
        """

    def test_have_defaults_and_are_set(self):
        self.assertEqual(self.run_flow(self.FILE, "--set", "region=north").log("tell"), "2017 0.5 false north\n")
        flow = self.run_flow(self.FILE, "--set", "region=south", "--set", "year=2018", "--set", "rate=1e-3", "--set", "fast=true")
        self.assertEqual(flow.log("tell"), "2018 1e-3 true south\n")
        self.assertEqual(flow.show()["request"]["params"],
                         {"fast": "true", "rate": "1e-3", "region": "south", "year": "2018"})

    def test_flags_stand_before_the_file_too(self):
        done = self.atoll.cli("run", "--set", "region=north", self.write(self.FILE))
        self.assertIn("tell succeeded", done.stderr)

    def test_are_refused_when_they_are_not_what_the_file_says(self):
        for flags, message in (
                ((), "parameter region has to be given: --set region=north"),
                (("--set", "region=east"), 'parameter region is "east"; it must be one of north, south'),
                (("--set", "region=north", "--set", "year=soon"), 'parameter year is "soon"; it must be a whole number'),
                (("--set", "region=north", "--set", "rate=fast"), 'parameter rate is "fast"; it must be a number'),
                (("--set", "region=north", "--set", "fast=yes"), 'parameter fast is "yes"; it must be true or false'),
                (("--set", "regio=north"), 'the workflow has no parameter "regio"; did you mean region?'),
                (("--set", "region"), '--set is "region"; it must be NAME=VALUE'),
                (("--set", "region=north", "--set", "region=south"), "--set region is given twice")):
            self.assertIn(message, self.refuse_flow(self.FILE, *flags))

    def test_a_value_may_hold_anything(self):
        value = "a b; $(touch x) {params.year} 'quoted' \"twice\" ÄÖ\ttab"
        flow = self.run_flow("""
            params: {text: ""}
            steps: {tell: {argv: [printf, "%s", "{params.text}"]}}
            """, "--set", f"text={value}")
        self.assertEqual(flow.log("tell"), value)

    def test_braces_of_the_shell_and_doubled_ones_are_left_alone(self):
        flow = self.run_flow("""
            params: {year: 2017}
            steps:
              tell:
                run: |
                  X=1; echo ${X} {a,b} {{params.year}} {params.year}
            """)
        self.assertEqual(flow.log("tell"), "1 {a,b} {params.year} 2017\n")


class Shared(Flows):
    """What steps have in common: env, defaults, include, templates."""

    def test_env_reaches_steps_and_texts_with_its_parameters_filled_in(self):
        flow = self.run_flow("""
            params: {who: world}
            env: {GREETING: "hello {params.who}", NUMBER: 4}
            steps:
              one: {run: 'echo "$GREETING" $NUMBER {env.GREETING}'}
              two: {run: 'echo "$GREETING" {env.OWN}', env: {GREETING: other, OWN: "own {params.who}"}}
            """)
        self.assertEqual(flow.log("one"), "hello world 4 hello world\n")
        self.assertEqual(flow.log("two"), "other own world\n")

    def test_defaults_hold_where_a_step_says_nothing(self):
        flow = self.run_flow("""
            defaults: {resources: {cpus: 0.5, memory: 64Mi}, timeout: 1h, labels: {project: flood}}
            steps:
              one: {run: "true"}
              two: {run: "true", resources: {cpus: 0.25, memory: 32Mi}}
            """)
        one, two = flow.step("one"), flow.step("two")
        self.assertEqual((one["cpus"], one["memory_bytes"]), (0.5, 64 << 20))
        self.assertEqual((two["cpus"], two["memory_bytes"]), (0.25, 32 << 20))
        self.assertEqual(self.atoll.job(one["job"])["labels"], {"project": "flood"})

    def test_templates_say_what_a_step_does_not(self):
        flow = self.run_flow("""
            params: {size: 3}
            templates:
              train:
                argv: [echo, "size {params.size} of {env.MODEL}"]
                env: {MODEL: small}
              sum: {run: "echo {steps.count.outputs.n} {item}", for_each: [x]}
            steps:
              one: {uses: train}
              two: {uses: train, run: "echo instead"}
              count: {run: "sleep 0.2; echo 5 >$ATOLL_OUTPUTS/n", outputs: [n]}
              three: {uses: sum}
            """)
        self.assertEqual(flow.log("one"), "size 3 of small\n")
        self.assertEqual(flow.log("two"), "instead\n")
        self.assertIn("5 x\n", flow.log("three"))
        self.assertEqual([each["step"] for each in flow.step("three")["needs"]], ["count"])

    def test_files_include_others(self):
        self.write("""
            params: {size: 3}
            templates: {tell: {run: "echo {params.size} $ATOLL_STEP"}}
            steps: {first: {uses: tell}}
            """, "common.yaml")
        (self.dir / "sub").mkdir()
        self.write("steps: {side: {run: echo side}}", "sub/more.yml")
        flow = self.run_flow("""
            include: [common.yaml, sub/more.yml]
            steps: {last: {uses: tell, needs: [first, side]}}
            """, "--set", "size=4")
        self.assertEqual(flow.log("first"), "4 first\n")
        self.assertEqual(flow.log("last"), "4 last\n")
        self.assertEqual(sorted(flow.show()["files"]), ["common.yaml", "flow.yaml", "sub/more.yml"])


class Steps(Flows):
    def test_run_stops_at_the_first_command_that_fails_and_knows_other_interpreters(self):
        flow = self.run_flow("""
            steps:
              shell: {run: "false\\necho not reached"}
              python:
                run: |
                  #!/usr/bin/env python3
                  import os; print(os.environ["ATOLL_STEP"], 6 * 7)
            """, code=1)
        self.assertEqual(flow.outcomes(), {"shell": "failed", "python": "succeeded"})
        self.assertEqual(flow.log("shell"), "")
        self.assertEqual(flow.log("python"), "python 42\n")

    def test_argv_passes_words_as_they_are(self):
        flow = self.run_flow("""
            steps: {tell: {argv: [printf, "<%s>", "a b", "$HOME", "*"]}}
            """)
        self.assertEqual(flow.log("tell"), "<a b><$HOME><*>")

    def test_steps_run_where_the_file_is_or_where_they_say(self):
        (self.dir / "deep").mkdir()
        flow = self.run_flow(f"""
            params: {{where: deep}}
            steps:
              here: {{run: pwd}}
              there: {{run: pwd, directory: "{self.dir}/{{params.where}}"}}
            """)
        self.assertEqual(flow.log("here"), f"{self.dir}\n")
        self.assertEqual(flow.log("there"), f"{self.dir}/deep\n")

    def test_needs_are_kept_in_any_order_of_the_file(self):
        flow = self.run_flow("""
            defaults: {resources: {cpus: 0.1, memory: 16Mi}}
            steps:
              end: {run: "test -e left -a -e right && echo both", needs: [left, right]}
              left: {run: "test -e start && touch left", needs: start}
              right: {run: "test -e start && touch right", needs: [{step: start}]}
              start: {run: "sleep 0.1; touch start"}
            """)
        self.assertEqual(flow.log("end"), "both\n")
        self.assertEqual(sorted(need["step"] for need in flow.step("end")["needs"]), ["left", "right"])

    def test_what_needs_a_failure_does_not_run_unless_it_puts_up_with_it(self):
        flow = self.run_flow("""
            steps:
              bad: {run: exit 3}
              behind: {run: "true", needs: bad}
              far: {run: "true", needs: behind}
              anyway: {run: "true", needs: [{step: bad, can_fail: true}]}
              aside: {run: "true"}
            """, code=1)
        self.assertEqual(flow.outcomes(), {"bad": "failed", "behind": "skipped", "far": "skipped", "anyway": "succeeded",
                                           "aside": "succeeded"})
        self.assertEqual(flow.step("bad")["exit_code"], 3)
        self.assertEqual(flow.step("behind")["reason"], "upstream_failed")
        self.assertEqual(flow.step("behind")["message"], "needs bad, which did not succeed")
        self.assertIn("bad failed", flow.said)
        self.assertIn(f"atoll logs {flow.step('bad')['job']}", flow.said)
        self.assertIn(f"atoll workflow retry {flow.id}", flow.said)

    def test_a_failure_that_all_put_up_with_is_no_failure(self):
        flow = self.run_flow("""
            steps:
              bad: {run: exit 3}
              anyway: {run: "true", needs: [{step: bad, can_fail: true}]}
            """)
        self.assertEqual(flow.show()["outcome"], "succeeded")

    def test_fail_fast_stops_what_runs(self):
        _, wait = self.gate()
        flow = self.run_flow(f"""
            fail_fast: true
            steps:
              long: {{run: "{wait}", grace: 1s}}
              bad: {{run: "sleep 0.2; exit 1"}}
              later: {{run: "true", needs: long}}
            """, code=1)
        self.assertEqual(flow.outcomes(), {"long": "cancelled", "bad": "failed", "later": "skipped"})

    def test_when_looks_at_params_env_and_outputs(self):
        flow = self.run_flow("""
            params: {year: 2017, mode: full}
            env: {LEVEL: 3}
            steps:
              count: {run: "echo 12 >$ATOLL_OUTPUTS/n", outputs: [n]}
              a: {run: "true", when: {eq: ["{params.year}", 2017]}}
              b: {run: "true", when: {gt: [{output: count.n}, 9]}}
              c: {run: "true", when: [{le: [{env: LEVEL}, 3]}, {in: [{params: mode}, [full, half]]}]}
              d: {run: "true", when: {and: [{ne: ["{params.mode}", full]}, true]}}
              e: {run: "true", when: {or: [{lt: ["{steps.count.outputs.n}", 5]}, {not: {eq: [1, 1]}}]}}
              f: {run: "true", when: {xor: [{eq: [1, 1]}, {eq: [1, 2]}]}}
              g: {run: "true", when: {nand: [{eq: [1, 1]}, {eq: [1, 1]}]}}
              h: {run: "true", when: {nor: [{eq: [1, 2]}, {eq: [1, 2]}]}}
              i: {run: "true", when: {xnor: [{eq: [1, 1]}, {eq: [1, 1]}]}}
            """)
        ran = {name for name, outcome in flow.outcomes().items() if outcome == "succeeded"}
        self.assertEqual(ran, {"count", "a", "b", "c", "f", "h", "i"})
        self.assertEqual(flow.step("d")["reason"], "condition")
        self.assertIn("its condition does not hold", flow.step("d")["message"])
        self.assertEqual([need["step"] for need in flow.step("b")["needs"]], ["count"])

    def test_what_needs_a_skipped_step_is_skipped_unless_it_puts_up_with_it(self):
        flow = self.run_flow("""
            steps:
              never: {run: "true", when: {eq: [1, 2]}}
              behind: {run: "true", needs: never}
              anyway: {run: "true", needs: [{step: never, can_skip: true}]}
            """)
        self.assertEqual(flow.outcomes(), {"never": "skipped", "behind": "skipped", "anyway": "succeeded"})
        self.assertEqual(flow.step("behind")["reason"], "upstream_skipped")

    def test_retries_and_timeout(self):
        flow = self.run_flow("""
            steps:
              flaky: {run: "echo try >>tries; test $(wc -l <tries) -ge 3", retries: {max: 4, backoff: 10ms}}
              slow: {run: sleep 1000, timeout: 300ms, grace: 100ms}
            """, code=1)
        self.assertEqual(flow.outcomes(), {"flaky": "succeeded", "slow": "failed"})
        self.assertEqual(flow.step("flaky")["attempts"], 3)
        self.assertIn("reached its wall-time of 300ms", flow.step("slow")["message"])

    def test_volumes_are_named_and_writable(self):
        (self.dir / "data").mkdir()
        flow = self.run_flow(f"""
            params: {{place: data}}
            steps:
              keep: {{run: 'touch "$ATOLL_VOLUME_BIG_DATA/x"', volumes: {{big-data: "{self.dir}/{{params.place}}"}}}}
            """)
        self.assertTrue((self.dir / "data/x").exists())
        self.assertEqual(flow.show()["outcome"], "succeeded")

    def test_tier_and_priority_are_those_of_the_job(self):
        flow = self.run_flow("""
            steps: {low: {run: "true", tier: opportunistic, priority: 7, site: local}}
            """)
        job = self.atoll.job(flow.step("low")["job"])
        self.assertEqual((job["tier"], job["priority"], flow.step("low")["site"]), ("opportunistic", 7, "local"))

    def test_parallel_bounds_the_steps_under_way(self):
        flow = self.run_flow("""
            parallel: 1
            steps:
              a: {run: "mkdir lock && sleep 0.1 && rmdir lock"}
              b: {run: "mkdir lock && sleep 0.1 && rmdir lock"}
              c: {run: "mkdir lock && sleep 0.1 && rmdir lock"}
            """)
        self.assertEqual(set(flow.outcomes().values()), {"succeeded"})


class Sites(unittest.TestCase):
    def test_a_step_goes_where_it_says_and_a_simulated_one_pretends(self):
        config = "sites:\n  local: {cpus: 2}\n  play: {kind: simulated, cpus: 4, memory: 8Gi, nodes: 1}\n"
        with Atoll(config) as atoll:
            path = atoll.home / "flow.yaml"
            path.write_text("""
params: {where: play}
steps:
  real: {run: echo real, site: local}
  pretend: {run: echo no, site: "{params.where}", simulate: {run_for: 10ms}, needs: real}
  fails: {run: echo no, site: play, simulate: {run_for: 10ms, exit_code: 3}, needs: pretend}
""")
            done = atoll.cli("run", path, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            steps = {each["name"]: each for each in atoll.json("workflow", "steps", "last")}
            self.assertEqual([steps[name]["site"] for name in ("real", "pretend", "fails")], ["local", "play", "play"])
            self.assertEqual(steps["fails"]["exit_code"], 3)


if __name__ == "__main__":
    unittest.main()
