"""Bad workflow files: each is refused before anything starts, with file, line and column."""

import unittest

from flows import Flows


class BadFiles(Flows):
    CASES = {
        "a cycle": ("steps:\n  a: {run: x, needs: c}\n  b: {run: x, needs: a}\n  c: {run: x, needs: b}\n",
                    "flow.yaml:2:3: these steps wait for each other: a needs c needs b needs a"),
        "a cycle by outputs": ("steps:\n  a: {run: '{steps.b.outputs.n}', outputs: [n]}\n"
                               "  b: {run: '{steps.a.outputs.n}', outputs: [n]}\n",
                               "flow.yaml:2:3: these steps wait for each other: a needs b needs a"),
        "itself": ("steps:\n  a: {run: x, needs: a}\n", "flow.yaml:2:3: these steps wait for each other: a needs a"),
        "an unknown section": ("step: {}\n", 'flow.yaml:1:1: unknown key "step"; did you mean steps?'),
        "an unknown key": ("steps:\n  a: {rum: x}\n", 'flow.yaml:2:7: unknown key "rum"; did you mean run?'),
        "an unknown key of resources": ("steps:\n  a: {run: x, resources: {cpu: 1}}\n",
                                        'flow.yaml:2:27: unknown key "cpu"; did you mean cpus?'),
        "an unknown key of a parameter": ("params:\n  n: {defalt: 1}\nsteps: {a: {run: x}}\n",
                                          'flow.yaml:2:7: unknown key "defalt"; did you mean default?'),
        "two steps of one name": ("steps:\n  a: {run: x}\n  b: {run: x}\n  a: {run: y}\n",
                                  'flow.yaml:4:3: "a" stands here twice'),
        "two sections": ("steps: {a: {run: x}}\nsteps: {b: {run: x}}\n", 'flow.yaml:2:1: "steps" stands here twice'),
        "an undefined parameter": ("params: {year: 1}\nsteps:\n  a:\n    run: |\n      date\n      echo {params.yer}\n",
                                   "flow.yaml:6:1: {params.yer} is no parameter of this workflow; did you mean {params.year}?"),
        "an undefined parameter in a condition": ("params: {year: 1}\nsteps:\n  a: {run: x, when: {eq: [{params: yer}, 1]}}\n",
                                                  "flow.yaml:3:36: {params.yer} is no parameter of this workflow"),
        "an undefined variable in a condition": ("steps:\n  a: {run: x, when: {eq: [{env: NOPE}, 1]}}\n",
                                                 "flow.yaml:2:33: {env.NOPE} is no variable of this workflow's env"),
        "an undefined output in a condition": ("steps:\n  a: {run: x, when: {eq: [{output: b.n}, 1]}}\n",
                                               "flow.yaml:2:36: {steps.b.outputs.n} names no step"),
        "an undefined output to go through": ("steps:\n  a: {run: x, for_each: {output: b.n}}\n",
                                              "flow.yaml:2:34: {steps.b.outputs.n} names no step"),
        "an undefined step": ("steps:\n  fetch: {run: x}\n  a: {run: x, needs: fech}\n",
                              'flow.yaml:3:3: step "a" needs "fech", which is no step; did you mean fetch?'),
        "an undefined output": ("steps:\n  b: {run: x, outputs: [m]}\n  a: {run: 'echo {steps.b.outputs.n}'}\n",
                                "flow.yaml:3:18: {steps.b.outputs.n} names no output of b"),
        "an undefined output in a template": ("templates:\n  t: {run: 'echo {steps.b.outputs.n}'}\nsteps:\n  a: {uses: t}\n",
                                              "flow.yaml:2:18: {steps.b.outputs.n} names no step"),
        "an item in a template without items": ("templates:\n  t: {run: 'echo {item}'}\nsteps:\n  a: {uses: t}\n",
                                                "flow.yaml:2:18: {item} means something only in a step with for_each"),
        "an output in the defaults": ("defaults:\n  env: {X: '{steps.b.outputs.n}'}\nsteps:\n  b: {run: x, outputs: [n]}\n",
                                      "flow.yaml:2:13: {steps.b.outputs.n} belongs to a step, not to all of them"),
        "an output in the env": ("env: {X: '{steps.b.outputs.n}'}\nsteps:\n  b: {run: x, outputs: [n]}\n",
                                 "flow.yaml:1:11: {steps.b.outputs.n} belongs to a step, not to all of them"),
        "a wrong type": ("steps:\n  a: {run: x, timeout: soon}\n", 'flow.yaml:2:24: timeout: "soon" is not a duration'),
        "a list for a text": ("steps:\n  a: {run: [x]}\n", "flow.yaml:2:12: expected a single value"),
        "a text for a map": ("steps: hello\n", "flow.yaml:1:8: expected a mapping"),
        "a wrong number": ("steps:\n  a: {run: x, retries: many}\n", "flow.yaml:2:24: "),
        "a wrong type of parameter": ("params:\n  n: {type: integr}\nsteps: {a: {run: x}}\n",
                                      'flow.yaml:2:13: type is "integr"; it must be one of text, integer, number, boolean'),
        "both run and argv": ("steps:\n  a: {run: x, argv: [x]}\n", 'flow.yaml:2:3: step "a" has both run and argv'),
        "nothing to do": ("steps:\n  a: {needs: []}\n", 'flow.yaml:2:3: step "a" does nothing: give it run or argv'),
        "an unknown template": ("templates: {train: {run: x}}\nsteps:\n  a: {uses: trin}\n",
                                'flow.yaml:3:3: step "a" uses "trin", which is no template; did you mean train?'),
        "an output above": ("steps:\n  a: {run: x, outputs: {m: ../m}}\n", 'flow.yaml:2:3: step "a": output "m" is the file "../m"'),
        "an output elsewhere": ("steps:\n  a: {run: x, outputs: {m: /etc/passwd}}\n",
                                'flow.yaml:2:3: step "a": output "m" is the file "/etc/passwd"'),
        "a hidden output": ("steps:\n  a: {run: x, outputs: [.files]}\n", 'flow.yaml:2:3: step "a": output ".files" must be'),
        "a shell's words as a name": ("steps:\n  '$(touch x);rm -rf /': {run: x}\n", "flow.yaml:2:3: step "),
        "a path as a name": ("steps:\n  ../a: {run: x}\n", 'flow.yaml:2:3: step "../a" must be'),
        "an option as a name": ("steps:\n  '-rf': {run: x}\n", 'flow.yaml:2:3: step "-rf" must be'),
        "an unknown condition": ("steps:\n  a: {run: x, when: {eqq: [1, 2]}}\n",
                                 'flow.yaml:2:3: step "a": "eqq" is no condition; did you mean eq?'),
        "too few to compare": ("steps:\n  a: {run: x, when: {eq: [1]}}\n",
                               'flow.yaml:2:3: step "a": eq compares two values, and here are 1'),
        "an empty list": ("steps:\n  a: {run: x, for_each: []}\n", 'flow.yaml:2:3: step "a": for_each is an empty list'),
        "an unknown kind of items": ("steps:\n  a: {run: x, for_each: {rage: 1-3}}\n",
                                     'flow.yaml:2:3: step "a": for_each has "rage"'),
        "no YAML": ("steps:\n  a: {run: [}\n", "flow.yaml:2:13: "),
        "tabs": ("steps:\n\ta: {run: x}\n", "flow.yaml:2:1: no value can begin with this character"),
        "an empty file": ("", "flow.yaml:1:1: a workflow needs steps"),
        "only a comment": ("# nothing\n", "flow.yaml:1:1: a workflow needs steps"),
        "two documents": ("steps: {a: {run: x}}\n---\nsteps: {b: {run: x}}\n", "flow.yaml:2:1: "),
        "a missing include": ("name: x\ninclude: [nothing.yaml]\nsteps: {a: {run: x}}\n",
                              "flow.yaml:2:11: cannot read "),
        "a missing list": ("steps:\n  a: {run: x, for_each: {file: nothing.txt}}\n", "flow.yaml:2:25: cannot read "),
    }

    def test_a_dry_run_looks_at_all_steps_of_a_large_file(self):
        steps = "".join(f"  s{i}: {{run: 'true'}}\n" for i in range(2500))
        text = "steps:\n" + steps + "  huge: {run: 'true', resources: {cpus: 4000}}\n"
        self.assertIn("4000", self.refuse_flow(text, "--dry-run", code=1))

    def test_are_refused_with_their_place(self):
        for what, (text, message) in self.CASES.items():
            with self.subTest(what):
                said = self.refuse_flow(text)
                self.assertTrue(said.startswith(message), f"{said!r} does not begin with {message!r}")

    def test_the_api_says_the_same(self):
        for what, (text, message) in self.CASES.items():
            with self.subTest(what):
                answer = self.atoll.api("POST", "/api/v1/workflows", {"files": {"flow.yaml": text}})
                self.assertEqual((answer.status, answer.json["code"]), (400, "invalid"), answer.text)
                if "missing" not in what:
                    self.assertTrue(answer.json["detail"].startswith(message), answer.text)

    def test_files_that_include_each_other(self):
        self.write("include: flow.yaml\nsteps: {b: {run: x}}\n", "other.yaml")
        self.assertEqual(self.refuse_flow("include: other.yaml\nsteps: {a: {run: x}}\n"),
                         "other.yaml:1:10: these files include each other: flow.yaml includes other.yaml includes flow.yaml")
        self.assertEqual(self.refuse_flow("include: flow.yaml\nsteps: {a: {run: x}}\n"),
                         "flow.yaml:1:10: these files include each other: flow.yaml includes flow.yaml")

    def test_an_include_names_the_file_that_is_wrong(self):
        self.write("steps:\n  b: {rum: x}\n", "other.yaml")
        self.assertTrue(self.refuse_flow("include: other.yaml\n").startswith('other.yaml:2:7: unknown key "rum"'))
        self.write("steps:\n  a: {run: x}\n", "other.yaml")
        self.assertIn('there is a step "a" already', self.refuse_flow("include: other.yaml\nsteps: {a: {run: x}}\n"))

    def test_a_bomb_of_aliases(self):
        bomb = "env:\n  a0: &a0 [x, x]\n"
        for i in range(1, 12):
            bomb += f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n"
        said = self.refuse_flow(bomb + "steps: {s: {run: x}}\n")
        self.assertRegex(said, r"^flow\.yaml:\d+:\d+: .*too many values")

    def test_deep_nesting(self):
        self.assertRegex(self.refuse_flow("env: " + "[" * 10_000 + "\n"), r"^flow\.yaml:1:\d+: ")

    def test_what_is_no_text(self):
        for data, message in ((b"\xff\xfe\x00s", "flow.yaml is not UTF-8 text"), (b"a\x00b: c\n", "flow.yaml:1:"),
                              (b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 40, "flow.yaml")):
            path = self.dir / "flow.yaml"
            path.write_bytes(data)
            done = self.atoll.cli("run", path, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_what_is_no_file(self):
        (self.dir / "folder.yaml").mkdir()
        for path in (self.dir / "folder.yaml", self.dir / "nothing.yaml"):
            done = self.atoll.cli("run", path, check=False)
            self.assertEqual((done.returncode, done.stderr), (2, f"atoll: cannot read {path}\n"))

    def test_bad_usage(self):
        path = self.write("steps: {a: {run: x}}")
        for flags in (("--sett", "a=b"), ("--only",), ("more.yaml",), ("--cpus", "4")):
            done = self.atoll.cli("run", path, *flags, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_what_no_site_could_ever_hold(self):
        self.assertIn("no node could ever hold", self.refuse_flow(
            "steps: {a: {run: x}, b: {run: x, needs: a, resources: {cpus: 640}}}", code=1))
        self.assertIn('there is no site "moon"', self.refuse_flow("steps: {a: {run: x, site: moon}}"))

    def test_a_parameter_that_makes_an_output_lead_out(self):
        text = "params: {n: x}\nsteps: {a: {run: x, outputs: {m: 'out/{params.n}'}}}"
        self.assertIn("is not below the step's directory", self.refuse_flow(text, "--set", "n=../../x"))


class Huge(Flows):
    def test_100_mib_are_refused_by_the_client_and_by_the_server(self):
        line = "# a comment that goes on and on and says nothing at all, as many of them do, for a hundred bytes\n"
        text = "steps: {a: {run: x}}\n" + line * ((100 << 20) // len(line))
        self.assertIn("is larger than 64Mi", self.refuse_flow(text, code=1))
        answer = self.atoll.api("POST", "/api/v1/workflows", {"files": {"flow.yaml": text}}, timeout=120)
        self.assertEqual(answer.status, 413, answer.text[:300])
        answer = self.atoll.api("POST", "/api/v1/workflows", {"files": {"flow.yaml": text, "b": text}}, timeout=120)
        self.assertEqual(answer.status, 413, answer.text[:300])
        self.assertEqual(self.run_flow("steps: {a: {run: echo fine}}").log("a"), "fine\n")

    def test_many_steps_are_read_before_one_is_wrong(self):
        steps = "".join(f"  s{i}: {{run: x}}\n" for i in range(20_000))
        self.assertEqual(self.refuse_flow(f"steps:\n{steps}  last: {{run: x, needs: s20000}}\n"),
                         'flow.yaml:20002:3: step "last" needs "s20000", which is no step; did you mean s200?')


class BadApi(Flows):
    def test_requests_that_are_none(self):
        for body, status in (({}, 400), ({"files": {}}, 400), ({"files": {"a.yaml": 7}}, 400), ("no json", 400),
                             ({"files": {"a.yaml": "steps: {a: {run: x}}"}, "main": "b.yaml"}, 400),
                             ({"files": {"a.yaml": "steps: {a: {run: x}}"}, "set": {"x": "1"}}, 400),
                             ({"files": {"a.yaml": "steps: {a: {run: x}}"}, "name": "../x"}, 400),
                             ({"files": {"a.yaml": "steps: {a: {run: x}}"}, "namespace": "nowhere"}, 404),
                             ({"files": {"a.yaml": "steps: {a: {run: x}}"}, "only": "b"}, 404)):
            answer = self.atoll.api("POST", "/api/v1/workflows", body, {"Content-Type": "application/json"})
            self.assertEqual(answer.status, status, f"{body}: {answer.text}")

    def test_workflows_that_are_none(self):
        for path in ("/999999", "/0", "/-1", "/x", "/99999999999999999999", "/999999/steps", "/999999/versions"):
            self.assertEqual(self.atoll.api("GET", f"/api/v1/workflows{path}").status, 404, path)
        for verb in ("pause", "resume", "cancel", "retry"):
            self.assertEqual(self.atoll.api("POST", f"/api/v1/workflows/999999/{verb}", {}).status, 404, verb)
        answer = self.atoll.api("POST", "/api/v1/workflows/999999/steps", {"steps": {"a": {"run": "x"}}})
        self.assertEqual(answer.status, 404)
        for verb in ("show", "steps", "attach", "pause", "resume", "cancel", "retry"):
            done = self.atoll.cli("workflow", verb, "999999", check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("999999", done.stderr)


if __name__ == "__main__":
    unittest.main()
