"""What is asked of workflows that run: the verbs, the API, who may, and what a terminal shows."""

import json
import re
import signal
import subprocess
import time
import unittest
import zipfile

from atoll import PROGRAM, wait_for
from flows import Flows
from test_terminal import CTRL_C, ESCAPE, Terminal


class Verbs(Flows):
    def test_pause_keeps_steps_from_starting_and_resume_lets_them(self):
        gate, wait = self.gate()
        flow = self.submit_flow(f"""
            steps:
              a: {{run: "{wait}"}}
              b: {{run: "true", needs: a}}
            """)
        flow.until(lambda f: f.step("a")["state"] == "running", "the first step to run")
        self.assertEqual(self.atoll.cli("workflow", "pause", flow.id).stdout, f"{flow.id} paused: no more steps start\n")
        self.assertEqual(self.atoll.cli("workflow", "pause", flow.id).stdout, f"{flow.id} is paused already\n")
        gate.touch()
        flow.until(lambda f: f.step("a")["outcome"] == "succeeded", "the first step to end")
        self.assertEqual(flow.show()["state"], "paused")
        self.assertIn(flow.step("b")["state"], ("waiting", "ready"))
        self.assertTrue(self.atoll.json("workflow", "resume", flow.id)["changed"])
        self.assertEqual(flow.ended()["outcome"], "succeeded")

    def test_what_is_asked_of_the_command_may_stand_behind_the_file(self):
        text = "steps: {a: {run: 'true'}}"
        plan = json.loads(self.atoll.cli("run", self.write(text), "--dry-run", "-o", "json", cwd=self.dir).stdout)
        self.assertEqual(plan["steps"], 1)
        self.assertIn("--nmae", self.refuse_flow(text, "--nmae", "x"))
        self.assertIn("--cpus is for jobs", self.refuse_flow(text, "--cpus", "2"))

    def test_one_can_be_submitted_paused(self):
        flow = self.submit_flow("steps: {a: {run: 'true'}}", "--paused")
        self.assertEqual(flow.show()["state"], "paused")
        self.atoll.cli("workflow", "resume", flow.id)
        self.assertEqual(flow.ended()["outcome"], "succeeded")

    def test_cancel_stops_what_runs_and_what_waits(self):
        _, wait = self.gate()
        flow = self.submit_flow(f"""
            steps:
              a: {{run: "{wait}", grace: 1s}}
              b: {{run: "true", needs: a}}
            """)
        flow.until(lambda f: f.step("a")["state"] == "running", "the first step to run")
        self.assertEqual(self.atoll.cli("workflow", "cancel", flow.id).stdout, f"{flow.id} cancelled\n")
        self.assertEqual(flow.ended()["outcome"], "cancelled")
        self.assertEqual(flow.outcomes(), {"a": "cancelled", "b": "cancelled"})
        self.assertEqual(self.atoll.cli("workflow", "attach", flow.id, check=False).returncode, 143)
        self.assertEqual(self.atoll.cli("workflow", "cancel", flow.id, check=False).returncode, 1)

    def test_retry_runs_what_did_not_succeed_and_what_that_kept(self):
        flow = self.run_flow("""
            steps:
              a: {run: echo a >>ran}
              b: {run: "echo b >>ran; test -e fixed", needs: a}
              c: {run: echo c >>ran, needs: b}
            """, code=1)
        (self.dir / "fixed").touch()
        self.assertEqual(self.atoll.cli("workflow", "retry", flow.id).stdout, f"{flow.id} runs again\n")
        self.assertEqual(self.atoll.cli("workflow", "attach", flow.id).returncode, 0)
        self.assertEqual((self.dir / "ran").read_text().split(), ["a", "b", "b", "c"])
        self.assertEqual(flow.show()["outcome"], "succeeded")
        done = self.atoll.cli("workflow", "retry", flow.id, check=False)
        self.assertEqual((done.returncode, "has failed or was cancelled" in done.stderr), (1, True), done.stderr)

    def test_retry_of_one_step_runs_it_and_what_needs_it(self):
        flow = self.run_flow("""
            steps:
              a: {run: echo a >>ran}
              b: {run: echo b >>ran, needs: a}
              c: {run: echo c >>ran, needs: b}
              d: {run: echo d >>ran, needs: c}
            """)
        self.atoll.cli("workflow", "retry", flow.id, "--step", "c")
        self.atoll.cli("workflow", "attach", flow.id)
        self.assertEqual((self.dir / "ran").read_text().split(), list("abcdcd"))
        done = self.atoll.cli("workflow", "retry", flow.id, "--step", "z", check=False)
        self.assertEqual((done.returncode, 'no step "z"' in done.stderr), (1, True))

    def test_steps_are_added_to_what_runs(self):
        gate, wait = self.gate()
        flow = self.submit_flow(f"""
            steps:
              a: {{run: "{wait}; echo 1 >$ATOLL_OUTPUTS/n", outputs: [n]}}
            """)
        more = """
            steps:
              b: {run: "echo 5 >$ATOLL_OUTPUTS/n", outputs: [n], needs: a}
              c: {run: "echo {steps.b.outputs.n}"}
              d: {run: "echo {steps.a.outputs.n}"}
            """
        printed = self.atoll.cli("workflow", "add-step", flow.id, "-f", self.write(more, "more.yaml"), cwd=self.dir).stdout
        self.assertEqual(printed, f"3 steps added to {flow.id}\n")
        answer = self.atoll.cli("workflow", "add-step", flow.id, "-f", "-", "-o", "json",
                                stdin="steps: {e: {run: echo e, needs: [c, d]}}")
        self.assertEqual(json.loads(answer.stdout), {"id": flow.id, "added": 1})
        gate.touch()
        self.assertEqual(flow.ended()["outcome"], "succeeded")
        self.assertEqual((flow.log("c"), flow.log("d"), flow.log("e")), ("5\n", "1\n", "e\n"))
        self.assertEqual([need["step"] for need in flow.step("d")["needs"]], ["a"])

    def test_steps_that_cannot_be_added(self):
        gate, wait = self.gate()
        flow = self.submit_flow(f"steps: {{a: {{run: '{wait}'}}}}")
        for text, message in (("steps: {b: {run: x, needs: z}}", 'needs "z"'), ("steps: {a: {run: x}}", 'a step "a" already'),
                              ("steps: {b: {rum: x}}", "-:1:13: unknown key"), ("params: {x: 1}", "-:1:1: unknown key"),
                              ("", "a workflow needs steps"),
                              ("steps: {b: {run: x, needs: c}, c: {run: x, needs: b}}", "wait for each other")):
            done = self.atoll.cli("workflow", "add-step", flow.id, "-f", "-", stdin=text, check=False)
            self.assertIn(done.returncode, (1, 2), text)
            self.assertIn(message, done.stderr)
        gate.touch()
        flow.ended()
        done = self.atoll.cli("workflow", "add-step", flow.id, "-f", "-", stdin="steps: {b: {run: x}}", check=False)
        self.assertEqual((done.returncode, f"no workflow {flow.id} is under way" in done.stderr), (1, True))

    def test_list_show_and_steps_answer_programs(self):
        flow = self.run_flow("steps: {a: {run: echo}, b: {run: echo, needs: a}}", "--name", "listed")
        listed = self.atoll.json("workflow", "list", "--name", "listed", "--user", "me")
        self.assertEqual([each["id"] for each in listed], [flow.id])
        self.assertEqual(listed[0]["steps"], {"total": 2, "waiting": 0, "active": 0, "succeeded": 2, "failed": 0,
                                              "cancelled": 0, "skipped": 0})
        self.assertEqual(self.atoll.cli("workflow", "list", "-q", "--name", "listed").stdout.split(), [flow.id])
        shown = self.atoll.json("workflow", "show", "last")
        self.assertEqual((shown["id"], shown["name"], shown["state"]), (flow.id, "listed", "ended"))
        self.assertEqual(shown["files"]["flow.yaml"], (self.dir / "flow.yaml").read_text())
        lines = self.atoll.cli("workflow", "steps", flow.id, "-o", "jsonl").stdout.splitlines()
        self.assertEqual([json.loads(line)["name"] for line in lines], ["a", "b"])
        printed = self.atoll.cli("workflow", "show", flow.id).stdout
        self.assertRegex(printed, r"workflow +\d+  listed \(version 1\)")
        self.assertRegex(printed, r"(?m)^b +succeeded +\d+ .* a")

    def test_each_file_that_ran_is_a_version(self):
        def version(text):
            return self.run_flow(text, "--name", "versions").show()["version"]

        one, two = "steps: {a: {run: echo one}}", "steps: {a: {run: echo two}}"
        self.assertEqual([version(one), version(two), version(one)], [1, 2, 1])
        newest = self.newest()[0]
        versions = self.atoll.api("GET", f"/api/v1/workflows/{newest}/versions").json["versions"]
        self.assertEqual([each["version"] for each in versions], [2, 1])
        self.assertEqual(len({each["sha256"] for each in versions}), 2)

    def test_a_job_of_a_step_is_a_job_like_others(self):
        flow = self.run_flow("steps: {greet: {run: echo hi}}")
        job = self.atoll.job(flow.step("greet")["job"])
        self.assertEqual((job["name"], job["outcome"]), ("greet", "succeeded"))

    def test_flags_that_are_for_jobs_are_refused(self):
        path = self.write("steps: {a: {run: 'true'}}")
        for flags in (("--cpus", "4"), ("--array", "1-3"), ("--time", "1h"), ("--env", "A=b")):
            done = self.atoll.cli("run", *flags, path, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(flags[0], done.stderr)
        for flags in (("--set", "a=b"), ("--only", "a"), ("--from", "a")):
            done = self.atoll.cli("run", *flags, "--", "true", check=False)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_crate_has_an_action_for_each_step_that_ran(self):
        flow = self.run_flow("""
            steps:
              make: {run: echo 7 >$ATOLL_OUTPUTS/n, outputs: [n]}
              fails: {needs: make, run: exit 4}
              never: {needs: fails, run: "true"}
            """, code=1)
        path = self.dir / "run.zip"
        self.atoll.cli("report", flow.id, "-o", path)
        with zipfile.ZipFile(path) as archive:
            graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
        found = {each["@id"]: each for each in graph}
        runs = {found[each["instrument"]["@id"]]["name"]: found[each["object"]["@id"]]
                for each in graph if each["@type"] == "ControlAction"}
        self.assertEqual(list(runs), ["make", "fails"])
        self.assertEqual(found[runs["make"]["result"]["@id"]]["value"], "7")
        self.assertTrue(runs["make"]["actionStatus"].endswith("/CompletedActionStatus"))
        self.assertTrue(runs["fails"]["actionStatus"].endswith("/FailedActionStatus"))
        for name, run in runs.items():
            self.assertEqual(run["identifier"], flow.step(name)["job"])
            self.assertEqual(run["startTime"][:19], flow.step(name)["started"][:19])
            self.assertEqual(run["endTime"][:19], flow.step(name)["ended"][:19])
            self.assertIn(name == "make" and "echo 7" or "exit 4", found[run["instrument"]["@id"]]["description"])


class Api(Flows):
    def test_a_workflow_by_requests_alone(self):
        files = {"flow.yaml": "params: {who: x}\nsteps: {a: {run: 'echo {params.who}'}, b: {run: 'true', needs: a}}"}
        answer = self.atoll.api("POST", "/api/v1/workflows?dry_run=true", {"files": files})
        self.assertEqual((answer.status, answer.json["steps"]), (200, 2), answer.text)
        token = self.atoll.json("token", "create")["token"]
        answer = self.atoll.tcp("POST", "/api/v1/workflows", {"files": files, "set": {"who": "curl"}}, token=token)
        self.assertEqual(answer.status, 201, answer.text)
        number = answer.json["id"]
        self.assertEqual(answer.headers["Location"], f"/api/v1/workflows/{number}")
        flow = self.flow(number)
        self.assertEqual(flow.ended()["outcome"], "succeeded")
        self.assertEqual(flow.log("a"), "curl\n")
        page = self.atoll.tcp("GET", f"/api/v1/workflows/{number}/steps?limit=1", token=token).json
        self.assertEqual([each["name"] for each in page["steps"]], ["a"])
        page = self.atoll.tcp("GET", f"/api/v1/workflows/{number}/steps?after={page['next']}", token=token).json
        self.assertEqual(([each["name"] for each in page["steps"]], page["next"]), (["b"], None))

    def test_the_schema_is_served_to_everybody(self):
        answer = self.atoll.tcp("GET", "/schemas/workflow.json")
        self.assertEqual(answer.status, 200)
        schema = json.loads(answer.text)
        self.assertIn("steps", schema["properties"])
        self.assertIn("json-schema.org", schema["$schema"])

    def test_without_a_token_nothing_is_told(self):
        for method, path in (("GET", "/api/v1/workflows"), ("POST", "/api/v1/workflows"), ("GET", "/api/v1/workflows/1")):
            self.assertEqual(self.atoll.tcp(method, path).status, 401)


class Roles(Flows):
    def test_others_see_nothing_and_members_may_look(self):
        self.atoll.cli("user", "create", "mallory")
        self.atoll.cli("ns", "create", "theirs")
        self.atoll.cli("ns", "member", "theirs", "mallory")
        token = self.atoll.json("token", "create", "--user", "mallory")["token"]
        gate, wait = self.gate()
        self.atoll.cli("ns", "create", "ours")
        flow = self.submit_flow(f"steps: {{a: {{run: '{wait}'}}}}", "--namespace", "ours")

        def status(method, path, body=None):
            return self.atoll.tcp(method, f"/api/v1/workflows{path}", body, token=token).status

        for path in ("", "/steps", "/versions"):
            self.assertEqual(status("GET", f"/{flow.id}{path}"), 404, path)
        for verb in ("pause", "resume", "cancel", "retry"):
            self.assertEqual(status("POST", f"/{flow.id}/{verb}", {}), 404, verb)
        self.assertEqual(status("POST", f"/{flow.id}/steps", {"steps": {"b": {"run": "x"}}}), 404)
        listed = self.atoll.tcp("GET", "/api/v1/workflows", token=token).json["workflows"]
        self.assertNotIn(flow.id, [each["id"] for each in listed])
        files = {"flow.yaml": "steps: {a: {run: x}}"}
        self.assertIn(status("POST", "", {"files": files, "namespace": "ours"}), (403, 404))

        self.atoll.cli("ns", "member", "ours", "mallory", "--role", "viewer")
        self.assertEqual(status("GET", f"/{flow.id}"), 200)
        self.assertEqual(status("POST", f"/{flow.id}/cancel", {}), 403)
        self.assertEqual(status("POST", f"/{flow.id}/retry", {}), 403)
        self.assertEqual(status("POST", "", {"files": files, "namespace": "ours"}), 403)
        gate.touch()
        self.assertEqual(flow.ended()["outcome"], "succeeded")
        self.assertEqual(status("POST", f"/{flow.id}/retry", {"steps": ["a"]}), 403)


class Following(Flows):
    """What `atoll run` says where nobody redraws lines, and how it ends."""

    def start(self, text):
        return subprocess.Popen([PROGRAM, "run", self.write(text)], env=self.atoll.env, cwd=self.dir, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_a_plain_log_has_a_line_for_each_step_and_no_codes(self):
        flow = self.run_flow("""
            steps:
              a: {run: sleep 0.5}
              b: {run: exit 2, needs: a}
              c: {run: "true", needs: b}
            """, code=1)
        self.assertNotIn(ESCAPE, flow.said)
        self.assertRegex(flow.said, r"(?m)^a started\na succeeded in ")
        self.assertRegex(flow.said, r"(?m)^b failed in .*; atoll logs \d+$")
        self.assertRegex(flow.said, r"(?m)^c skipped: needs b, which did not succeed$")
        self.assertIn(f"workflow {flow.id} failed: 1 of 3 steps succeeded, 1 failed, 1 skipped\n", flow.said)

    def test_an_interrupt_detaches_and_says_how_to_come_back(self):
        gate, wait = self.gate()
        process = self.start(f"steps: {{a: {{run: '{wait}'}}}}")
        number = re.match(r"workflow (\d+):", process.stderr.readline())[1]
        flow = self.flow(number)
        flow.until(lambda f: f.step("a")["state"] == "running", "the step to run")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertIn(f"atoll workflow attach {number}", said)
        self.assertEqual(flow.show()["state"], "running")
        gate.touch()
        self.assertEqual(self.atoll.cli("workflow", "attach", number).returncode, 0)

    def test_a_server_that_restarts_is_waited_for(self):
        gate, wait = self.gate()
        process = self.start(f"steps: {{a: {{run: '{wait}'}}, b: {{run: echo b, needs: a}}}}")
        number = re.match(r"workflow (\d+):", process.stderr.readline())[1]
        self.flow(number).until(lambda f: f.step("a")["state"] == "running", "the step to run")
        self.atoll.kill_server()
        gate.touch()
        self.atoll.up()
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("2 of 2 steps succeeded", said)

    def test_programs_get_the_workflow_at_the_end(self):
        path = self.write("steps: {a: {run: 'true'}}")
        shown = json.loads(self.atoll.cli("-o", "json", "run", path).stdout)
        self.assertEqual((shown["outcome"], shown["steps"]["succeeded"]), ("succeeded", 1))


class OnATerminal(Flows):
    FILE = """
        steps:
          sweep: {{run: "test {{item}} -lt 3 || {wait}", for_each: [1, 2, 3, 4], resources: {{cpus: 0.5, memory: 16Mi}}}}
          single: {{run: "{wait}", resources: {{cpus: 0.5, memory: 16Mi}}}}
        """

    def screen(self, seen):
        """What is on the screen when all of it was written: lines, with those that were drawn over replaced."""
        lines, row = [""], 0
        for text, code, letter, newline in re.findall(r"([^\x1b\n]+)|\x1b\[(\??[\d;]*)([A-Za-z])|(\n)", seen):
            if newline:
                row += 1
                if row == len(lines):
                    lines.append("")
            elif letter == "F":
                row = max(0, row - int(code or 1))
            elif letter == "J":
                del lines[row + 1:]
                lines[row] = ""
            elif letter == "K":
                pass
            elif text.strip("\r"):
                lines[row] = text.strip("\r")
        return [line for line in lines if line]

    def test_lines_with_bars_that_are_gone_at_the_end(self):
        gate, wait = self.gate()
        with Terminal(self.atoll, "run", self.write(self.FILE.format(wait=wait))) as terminal:
            terminal.expect("0/2 steps")
            terminal.expect("2/4")
            shown = "\n".join(self.screen(terminal.seen))
            self.assertRegex(shown, r"flow  ░{24}  0/2 steps, 2 under way")
            self.assertRegex(shown, r"  sweep +█{12}░{12}  2/4")
            self.assertIn("  single", shown)
            gate.touch()
            self.assertEqual(terminal.end(), 0)
            left = self.screen(terminal.seen)
        self.assertEqual(len(left), 4, left)
        self.assertRegex(left[0], r"^workflow \d+: flow, 2 steps$")
        self.assertRegex(left[3], r"^workflow \d+ succeeded: 2 of 2 steps succeeded$")
        self.assertEqual({line.split()[0] for line in left[1:3]}, {"sweep", "single"})
        self.assertNotRegex("".join(left), "[█░]")

    def test_ctrl_c_detaches_and_leaves_nothing_behind(self):
        gate, wait = self.gate()
        with Terminal(self.atoll, "run", self.write(self.FILE.format(wait=wait))) as terminal:
            terminal.expect("2/4")
            terminal.press(CTRL_C)
            self.assertEqual(terminal.end(), 130)
            left = self.screen(terminal.seen)
        number = re.match(r"workflow (\d+)", left[0])[1]
        self.assertIn(f"  atoll workflow attach {number}    follows it again", left)
        self.assertNotRegex("".join(left), "[█░]")
        gate.touch()
        with Terminal(self.atoll, "workflow", "attach", number) as terminal:
            self.assertEqual(terminal.end(), 0)

    def test_no_colours_where_none_are_wanted(self):
        gate, wait = self.gate()
        text = self.write(self.FILE.format(wait=wait))
        gate.touch()
        with Terminal(self.atoll, "run", text, NO_COLOR="1") as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertNotRegex(terminal.seen, ESCAPE + r"\[[\d;]*m")
        with Terminal(self.atoll, "run", text, TERM="dumb") as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertNotIn(ESCAPE, terminal.seen)
        with Terminal(self.atoll, "workflow", "show", "last", NO_COLOR="1") as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertNotIn(ESCAPE, terminal.seen)

    def test_in_tmux(self):
        socket = f"atoll-{self.atoll.port}"

        def tmux(*args):
            return subprocess.run(["tmux", "-L", socket, *args], capture_output=True, text=True, env=env, timeout=30)

        env = {key: value for key, value in self.atoll.env.items() if key not in ("CI", "NO_COLOR", "TMUX")}
        env["TERM"] = "xterm-256color"
        if subprocess.run(["sh", "-c", "command -v tmux"], capture_output=True).returncode != 0:
            self.skipTest("there is no tmux")
        gate, wait = self.gate()
        path = self.write(self.FILE.format(wait=wait))
        self.addCleanup(tmux, "kill-server")
        started = tmux("new-session", "-d", "-x", "90", "-y", "30", f"{PROGRAM} run {path}; echo code=$?; exec sleep 1000")
        self.assertEqual(started.returncode, 0, started.stderr)

        def shown():
            return tmux("capture-pane", "-p").stdout

        wait_for(lambda: re.search(r"sweep +█{12}░{12}  2/4", shown()), "the bar of a step")
        first = shown()
        time.sleep(1)  # several redraws
        self.assertEqual(shown().count("sweep"), 1, first)
        gate.touch()
        wait_for(lambda: "code=0" in shown(), "the end")
        left = [line for line in shown().splitlines() if line.strip()]
        self.assertEqual(len(left), 5, left)
        self.assertNotRegex("".join(left), "[█░]")


if __name__ == "__main__":
    unittest.main()
