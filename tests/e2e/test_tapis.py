"""Pipelines of Tapis, driven by the stock Python client: created, run and read; and the secrets that they name."""

import base64
import hashlib
import http.server
import json
import site
import threading
import unittest
from pathlib import Path

from atoll import ROOT, Atoll, wait_for
from venvs import Venv

VENV = Venv("tapis", "tapipy==25.4.0")
CONFIG = "sites:\n  local: {cpus: 8, memory: 8Gi}\n"
GROUP = "default"
ENDED = ("completed", "failed", "terminated", "skipped")
SECRET = "s3cr3t-of-nobody"


def code(text):
    return base64.b64encode(text.encode()).decode()


def function(name, text, **more):
    return {"id": name, "type": "function", "runtime": "python:3.9", "installer": "pip", "code": code(text), **more}


def shell(name, command, **more):
    return {"id": name, "type": "application", "image": "none", "command": command, **more}


def after(name, **more):
    return {"depends_on": [{"id": name, **more}]}


class TapisCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if why := VENV.make():
            raise unittest.SkipTest(why)
        for folder in VENV.path.glob("lib/python3*/site-packages"):
            site.addsitedir(folder)
        from tapipy.tapis import Tapis
        cls.atoll = Atoll(CONFIG)
        cls.addClassCleanup(cls.atoll.destroy)
        cls.token = cls.atoll.cli("token", "create", "--jwt").stdout.strip()
        cls.client = Tapis(base_url=cls.atoll.url, access_token=cls.token)
        cls.workflows = cls.client.workflows

    def setUp(self):
        self.pipeline = self.id().rpartition(".")[2].replace("test_", "").replace("_", "-")[:60]
        self.dir = Path(self.atoll.home / "work" / self.pipeline)
        self.dir.mkdir(parents=True)

    def create(self, *tasks, name=None, **more):
        self.workflows.createPipeline(group_id=GROUP, id=name or self.pipeline, type="workflow", tasks=list(tasks), **more)

    def change(self, **members):
        answer = self.atoll.api("PATCH", f"/v3/workflows/groups/{GROUP}/pipelines/{self.pipeline}", members)
        self.assertEqual(answer.status, 200, answer.text)

    def start(self, **args):
        typed = {key: {"type": {str: "string", bool: "boolean"}.get(type(value), "number"), "value": value}
                 for key, value in args.items()}
        return self.workflows.runPipeline(group_id=GROUP, pipeline_id=self.pipeline, name="a run", args=typed).uuid

    def look(self, run):
        return self.workflows.getPipelineRun(group_id=GROUP, pipeline_id=self.pipeline, pipeline_run_uuid=run)

    def wait(self, run, status=None):
        """The run when it has ended, or has the status."""
        wanted = (status,) if status else ENDED
        return wait_for(lambda: (seen := self.look(run)).status in wanted and seen, f"{wanted} of run {run}", seconds=60)

    def executions(self, run):
        return {each.task_id: each for each in self.workflows.listTaskExecutions(
            group_id=GROUP, pipeline_id=self.pipeline, pipeline_run_uuid=run)}

    def statuses(self, run):
        return {name: each.status for name, each in self.executions(run).items()}

    def run_to_end(self, **args):
        run = self.start(**args)
        return run, self.wait(run)

    def refused(self, *words, call=None, **pipeline):
        """What is said when it is not taken; nothing of it is kept."""
        from tapipy.errors import BaseTapyException
        with self.assertRaises(BaseTapyException) as caught:
            call() if call else self.create(**pipeline)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def gate(self, name="gate"):
        path = self.dir / name
        return path, f"while ! test -e {path}; do sleep 0.05; done"


class Pipelines(TapisCase):
    def test_created_listed_changed_and_deleted(self):
        self.create(shell("a", "true"), description="first")
        seen = self.workflows.getPipeline(group_id=GROUP, pipeline_id=self.pipeline)
        self.assertEqual((seen.description, seen.tasks[0].id, seen.last_run), ("first", "a", None))
        self.assertIn(self.pipeline, [each.id for each in self.workflows.listPipelines(group_id=GROUP)])
        self.workflows.createTask(group_id=GROUP, pipeline_id=self.pipeline, request_body=shell("b", "true", **after("a")))
        self.assertEqual([each.id for each in self.workflows.listTasks(group_id=GROUP, pipeline_id=self.pipeline)], ["a", "b"])
        self.refused("no task \"a\"", call=lambda: self.workflows.deleteTask(
            group_id=GROUP, pipeline_id=self.pipeline, task_id="a"))
        self.workflows.deleteTask(group_id=GROUP, pipeline_id=self.pipeline, task_id="b")
        self.workflows.deletePipeline(group_id=GROUP, pipeline_id=self.pipeline)
        self.refused("no pipeline", call=lambda: self.workflows.getPipeline(group_id=GROUP, pipeline_id=self.pipeline))

    def test_outputs_become_inputs_of_later_tasks(self):
        self.create(
            function("make", "from owe_python_sdk.runtime import execution_context as ctx\n"
                             "ctx.set_output('N', int(ctx.get_input('START')) + 1)\n"
                             "ctx.set_output('TEXT', 'a \"b\" $(c) {steps.make.outputs.N}\\n\\u00e9')\n"
                             "ctx.stdout('made')",
                     input={"START": {"type": "number", "value_from": {"args": "START"}}},
                     output={"N": {"type": "number"}, "TEXT": {"type": "string"}, "NEVER": {"type": "string"}}),
            function("use", "from owe_python_sdk.runtime import execution_context as ctx\n"
                            "print(ctx.find_inputs(), ctx.get_input('N'), repr(ctx.get_input('TEXT')), ctx.get_input('NEVER'))",
                     input={name: {"type": kind, "required": name != "NEVER",
                                   "value_from": {"task_output": {"task_id": "make", "output_id": name}}}
                            for name, kind in (("N", "number"), ("TEXT", "string"), ("NEVER", "string"))},
                     conditions=[{"gt": [{"task_output": {"task_id": "make", "output_id": "N"}}, 41]},
                                 {"eq": [{"task_output": {"task_id": "make", "output_id": "NEVER"}}, None]}],
                     **after("make")),
            params={"START": {"type": "number"}})
        run, seen = self.run_to_end(START=41)
        self.assertEqual(seen.status, "completed", seen.logs)
        done = self.executions(run)
        self.assertEqual(done["make"].stdout, "made\n")
        self.assertEqual(done["use"].stdout,
                         "['N', 'TEXT'] 42 'a \"b\" $(c) {steps.make.outputs.N}\\né' None\n")
        one = self.workflows.getTaskExecution(group_id=GROUP, pipeline_id=self.pipeline, pipeline_run_uuid=run,
                                              task_execution_uuid=done["use"].uuid)
        self.assertEqual((one.status, one.pipeline_run), ("completed", run))
        pipeline = self.workflows.getPipeline(group_id=GROUP, pipeline_id=self.pipeline)
        self.assertEqual((pipeline.last_run, pipeline.current_run), (run, None))

    def test_conditions_skip_and_can_skip(self):
        self.create(shell("odd", "true", conditions=[{"eq": [{"args": "MODE"}, "odd"]}]),
                    shell("behind", "true", **after("odd")),
                    shell("anyway", "true", **after("odd", can_skip=True)),
                    shell("absent", "true", conditions=[{"eq": [{"args": "NOT_GIVEN"}, None]}]),
                    shell("typed", "true", conditions=[{"eq": [{"args": "N"}, "3"]}]),
                    params={"MODE": {"type": "string"}, "N": {"type": "number"},
                            "NOT_GIVEN": {"type": "string", "required": False}})
        run, seen = self.run_to_end(MODE="even", N=3)
        self.assertEqual(seen.status, "completed")
        self.assertEqual(self.statuses(run), {"odd": "skipped", "behind": "skipped", "anyway": "completed",
                                              "absent": "completed", "typed": "skipped"})

    def test_failure_that_all_put_up_with_and_one_that_nobody_does(self):
        gate, wait = self.gate()
        self.create(shell("bad", "exit 3"), shell("on", "true", **after("bad", can_fail=True)))
        run, seen = self.run_to_end()
        self.assertEqual((seen.status, self.statuses(run)), ("completed", {"bad": "failed", "on": "completed"}))
        self.pipeline += "-2"
        self.create(shell("bad", "echo why >&2; exit 3"), shell("slow", wait), shell("on", "true", **after("bad")))
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "failed")
        self.assertEqual(self.statuses(run), {"bad": "failed", "slow": "terminated", "on": "skipped"})
        self.assertEqual(self.executions(run)["bad"].stderr.splitlines()[-1], "why")

    def test_missing_arguments_fail_the_run_in_tapis_words(self):
        self.create(shell("a", "true"), params={"N": {"type": "number"}, "M": {"type": "number"}})
        _, seen = self.run_to_end(N=1)
        self.assertEqual(seen.status, "failed")
        self.assertIn("Workflow submission validation error: Missing values for the following arguments - ['M']", seen.logs)
        self.refused("args.N.value", call=lambda: self.start(N="text", M=1))

    def test_requests_are_sent_by_the_task(self):
        asked = []

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append((self.path, self.headers["X-Key"], self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(404 if "missing" in self.path else 200)
                self.end_headers()
                self.wfile.write(b"thanks")

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        self.create({"id": "ask", "type": "request", "http_method": "post", "url": f"{url}/a", "data": {"x": [1]},
                     "headers": {"X-Key": "k"}, "query_params": {"q": "a b"}, "output": {"BODY": {"type": "string"}}},
                    {"id": "none", "type": "request", "http_method": "post", "url": f"{url}/missing", "data": {},
                     **after("ask")},
                    shell("show", "cat $_OWE_INPUT_DIR/X", input={"X": {"type": "string", "value_from": {
                        "task_output": {"task_id": "ask", "output_id": "BODY"}}}},
                          depends_on=[{"id": "ask"}, {"id": "none", "can_fail": True}]))
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "completed", seen.logs)
        self.assertEqual(asked[0], ("/a?q=a+b", "k", b'{"x": [1]}'))
        done = self.executions(run)
        self.assertEqual((done["show"].stdout, done["none"].status), ("thanks", "failed"))
        self.assertIn("404", done["none"].stderr)

    def test_a_job_definition_runs_its_app(self):
        self.create({"id": "job", "type": "tapis_job", "tapis_job_def": {
            "name": "n", "appId": "echo", "appVersion": "1", "coresPerNode": 2, "memoryMB": 64, "maxMinutes": 1,
            "parameterSet": {"appArgs": [{"arg": "hello $WHO"}], "envVariables": [{"key": "WHO", "value": "world"}]}}},
            shell("after", "cat $_OWE_INPUT_DIR/S", input={"S": {"type": "string", "value_from": {
                "task_output": {"task_id": "job", "output_id": "STATUS"}}}}, **after("job")))
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "completed", seen.logs)
        self.assertEqual([each.stdout for each in self.executions(run).values()], ["hello world\n", "FINISHED"])

    def test_a_template_fills_what_a_task_leaves_out(self):
        self.create(shell("say", "cat $_OWE_INPUT_DIR/WORD", input={"WORD": {"type": "string", "value": "from the library"}}),
                    name="library")
        self.create({"id": "mine", "type": "template", "uses": {"name": "library/say"}},
                    {"id": "own", "type": "template", "uses": {"name": "library/say"},
                     "input": {"WORD": {"type": "string", "value": "of its own"}}})
        run, _ = self.run_to_end()
        self.assertEqual([each.stdout for each in self.executions(run).values()], ["from the library", "of its own"])


class Policies(TapisCase):
    def twice(self, policy):
        """Two runs of a pipeline that waits for a gate; the gate and the first."""
        gate, wait = self.gate()
        self.create(shell("a", wait), execution_profile={"duplicate_submission_policy": policy})
        first = self.start()
        self.wait(first, "active")
        return gate, first

    def test_deny(self):
        gate, first = self.twice("deny")
        self.refused("", call=self.start)
        gate.touch()
        self.assertEqual(self.wait(first).status, "completed")
        self.assertEqual(self.run_to_end()[1].status, "completed")

    def test_terminate(self):
        gate, first = self.twice("terminate")
        second = self.start()
        self.assertEqual(self.wait(first).status, "terminated")
        gate.touch()
        self.assertEqual(self.wait(second).status, "completed")

    def test_defer(self):
        gate, first = self.twice("defer")
        second = self.start()
        self.assertEqual(self.look(second).status, "deferred")
        self.assertEqual(self.statuses(second), {"a": "pending"})
        gate.touch()
        self.assertEqual([self.wait(each).status for each in (first, second)], ["completed", "completed"])

    def test_allow(self):
        gate, first = self.twice("allow")
        second = self.start()
        self.wait(second, "active")
        self.assertEqual(self.look(first).status, "active")
        gate.touch()
        self.assertEqual([self.wait(each).status for each in (first, second)], ["completed", "completed"])

    def test_somebody_terminates_a_run(self):
        _, first = self.twice("allow")
        self.workflows.terminatePipeline(group_id=GROUP, pipeline_id=self.pipeline, pipeline_run_uuid=first)
        self.assertEqual(self.wait(first).status, "terminated")
        self.assertEqual(self.statuses(first), {"a": "terminated"})

    def test_time_limits_of_runs_and_tasks(self):
        _, wait = self.gate()
        self.create(shell("a", wait), execution_profile={"max_exec_time": 1})
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "failed")
        self.assertIn("longer than 1s", seen.logs)
        self.pipeline += "-2"
        self.create(shell("a", wait, execution_profile={"max_exec_time": 1}))
        run, seen = self.run_to_end()
        self.assertEqual((seen.status, self.statuses(run)), ("failed", {"a": "failed"}))

    def test_retries(self):
        marks = self.dir / "marks"
        self.create(shell("a", f"echo x >>{marks}; test $(wc -l <{marks}) -ge 3", execution_profile={"max_retries": 2}))
        _, seen = self.run_to_end()
        self.assertEqual((seen.status, marks.read_text()), ("completed", "x\nx\nx\n"))

    def test_cron_runs_the_pipeline(self):
        self.create(function("a", "print('by itself')"), execution_profile={"duplicate_submission_policy": "defer"})
        name = f"tapis-{self.pipeline}"
        self.change(cron="0 6 * * MON-FRI")  # which the client does not know and leaves out
        made = self.atoll.json("schedule", "show", name)
        self.assertEqual((made["cron"], made["zone"], made["paused"]), ("0 6 * * MON-FRI", "UTC", False))
        self.atoll.cli("schedule", "run", name)
        runs = wait_for(lambda: self.workflows.listPipelineRuns(group_id=GROUP, pipeline_id=self.pipeline), "a run")
        run = self.wait(runs[0].uuid)
        self.assertEqual(run.status, "completed")
        self.assertEqual(self.executions(run.uuid)["a"].stdout, "by itself\n")
        self.change(enabled=False)
        self.assertTrue(self.atoll.json("schedule", "show", name)["paused"])
        self.workflows.deletePipeline(group_id=GROUP, pipeline_id=self.pipeline)
        self.assertNotEqual(self.atoll.cli("schedule", "show", name, check=False).returncode, 0)

    def test_runs_outlive_the_server(self):
        gate, first = self.twice("allow")
        self.atoll.kill_server()
        self.atoll.up()
        self.assertEqual(self.look(first).status, "active")
        gate.touch()
        self.assertEqual(self.wait(first).status, "completed")


class Wrong(TapisCase):
    def test_circles_are_told(self):
        with self.assertRaises(Exception) as caught:
            self.create(shell("a", "true", **after("b")), shell("b", "true", **after("a")))
        self.assertIn("a -> b -> a", str(caught.exception))

    def test_what_cannot_be_is_refused_with_its_place(self):
        cases = [([{"id": "img", "type": "image_build", "builder": "kaniko", "context": {}, "destination": {}}],
                  'tasks[0]: task "img" builds an image'),
                 ([{"id": "act", "type": "tapis_actor", "tapis_actor_id": "x"}], 'tasks[0]: task "act"'),
                 ([shell("a", "true", **after("b"))], "tasks[0].depends_on[0].id"),
                 ([shell("a", "true", input={"X": {"type": "number", "value": "x"}})], "tasks[0].input.X.value"),
                 ([{"id": "a", "type": "request", "http_method": "get", "url": "file:///etc/passwd"}], "tasks[0].url")]
        for tasks, words in cases:
            with self.subTest(words), self.assertRaises(Exception) as caught:
                self.create(*tasks)
            self.assertIn(words, str(caught.exception))

    def test_hostile_ids(self):
        for name in ("../../etc", "a b", "$(touch x)", "a;b", "-x", "é", "a" * 100, "a\nb"):
            with self.subTest(name), self.assertRaises(Exception) as caught:
                self.create(shell("a", "true"), name=name)
            self.assertIn("is no id", str(caught.exception))
            with self.subTest(name), self.assertRaises(Exception):
                self.create(shell(name, "true"))
        self.assertEqual([each for each in self.workflows.listPipelines(group_id=GROUP)], [])

    def test_every_answer_has_the_envelope(self):
        for method, path, status in (("GET", "/v3/sites", 200), ("GET", "/v3/tenants", 200),
                                     ("GET", "/v3/workflows/healthcheck", 200), ("GET", "/v3/workflows/groups", 401),
                                     ("GET", "/v3/pods", 400), ("POST", "/v3/workflows/groups/default/archives", 400)):
            answer = self.atoll.tcp(method, path, body="{}" if method == "POST" else None)
            self.assertEqual(answer.status, status, path)
            self.assertEqual(set(answer.json), {"status", "message", "result", "metadata", "version"})

    def test_a_forged_token_opens_nothing(self):
        head, claims, secret = self.token.split(".")
        wrong = base64.urlsafe_b64encode(f"atl_{'0' * 43}".encode()).decode().rstrip("=")
        for token in (f"{head}.{claims}.", f"{head}.{claims}.{wrong}", f"{head}.{claims}.{secret[:-4]}", claims):
            self.assertEqual(self.atoll.tcp("GET", "/v3/workflows/groups", headers={"X-Tapis-Token": token}).status, 401)
        self.assertEqual(self.atoll.tcp("GET", "/v3/workflows/groups", token=self.token).status, 200)


class Secrets(TapisCase):
    def set(self, name, value):
        self.atoll.cli("secret", "set", name, stdin=value)

    def test_tasks_are_given_them_and_nothing_keeps_them(self):
        self.set("plain", SECRET + "\n")
        self.set("fields", json.dumps({"deep": {"key": SECRET + "-2"}}))
        secret = {"engine": "any", "pk": "plain"}
        self.create(shell("use", "cat $_OWE_INPUT_DIR/A $_OWE_INPUT_DIR/B | sha256sum",
                          input={"A": {"type": "string", "value_from": {"env": "KEY"}},
                                 "B": {"type": "string", "value_from": {
                                     "secret": {"engine": "any", "pk": "fields", "field_selector": ["deep", "key"]}}}}),
                    env={"KEY": {"type": "string", "value_from": {"secret": secret}}})
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "completed", seen.logs)
        told = hashlib.sha256(f"{SECRET}{SECRET}-2".encode()).hexdigest()
        self.assertEqual(self.executions(run)["use"].stdout.split()[0], told)
        number = str(int(run.rpartition("-")[2], 16))
        shown = [self.atoll.cli(*args).stdout for args in (
            ("secret", "list"), ("workflow", "show", number, "-o", "json"), ("workflow", "steps", number, "-o", "json"))]
        step = json.loads(shown[2])[0]
        shown += [self.atoll.cli("show", step["job"], "-o", "json").stdout, self.atoll.logs(step["job"]),
                  self.atoll.api("GET", "/api/v1/events?limit=1000").text]
        self.assertIn("plain", shown[0])
        self.assertIn('"ATOLL_TASK_INPUT_A": "plain"', json.dumps(json.loads(shown[3])))
        for text in shown:
            self.assertNotIn(SECRET, text)
        self.atoll.down()
        for file in self.atoll.home.glob("*"):
            if file.is_file():
                self.assertNotIn(SECRET.encode(), file.read_bytes(), file)
        self.assertEqual((self.atoll.home / "secrets.key").stat().st_mode & 0o777, 0o600)
        self.atoll.up()

    def test_they_work_for_jobs_and_workflows_too(self):
        self.set("word", SECRET)
        done = self.atoll.cli("run", "--secret", "KEY=word", "--", "sh", "-c", f"echo $KEY >{self.dir}/job")
        self.assertEqual(done.returncode, 0)
        self.assertEqual((self.dir / "job").read_text(), SECRET + "\n")
        flow = self.dir / "flow.yaml"
        flow.write_text(f"steps: {{a: {{run: 'echo $KEY >{self.dir}/step', secrets: {{KEY: word}}}}}}\n")
        self.atoll.cli("run", flow)
        self.assertEqual((self.dir / "step").read_text(), SECRET + "\n")

    def test_one_that_is_not_there_is_told(self):
        self.create(shell("use", "true", input={"A": {"type": "string", "value_from": {"secret": {"pk": "nowhere"}}}}))
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "failed")
        self.assertIn('there is no secret "nowhere"', seen.logs)

    def test_only_administrators_set_them(self):
        self.atoll.cli("user", "create", "ada")
        self.atoll.api("PUT", f"/api/v1/namespaces/{GROUP}/members/ada", {"role": "member"})
        token = self.atoll.cli("token", "create", "--user", "ada").stdout.strip()
        path = f"/api/v1/namespaces/{GROUP}/secrets"
        self.assertEqual(self.atoll.tcp("PUT", f"{path}/mine", {"value": "x"}, token=token).status, 403)
        self.assertEqual(self.atoll.tcp("GET", path, token=token).status, 200)
        self.assertNotEqual(self.atoll.cli("secret", "set", "Bad Name", stdin="x", check=False).returncode, 0)
        self.assertNotEqual(self.atoll.cli("secret", "set", "empty", stdin="", check=False).returncode, 0)
        self.set("short", "x")
        self.atoll.cli("secret", "delete", "short")
        self.assertNotIn("short", self.atoll.cli("secret", "list").stdout)


class Example(TapisCase):
    def test_the_example_runs(self):
        self.pipeline = "squares"
        pipeline = json.loads((ROOT / "examples/11-tapis/pipeline.json").read_text())
        self.workflows.createPipeline(group_id=GROUP, **pipeline)
        run, seen = self.run_to_end(N=4)
        self.assertEqual(seen.status, "completed", seen.logs)
        self.assertEqual(self.executions(run)["report"].stdout, "the sum of 4 squares is 30\n")


if __name__ == "__main__":
    unittest.main()
