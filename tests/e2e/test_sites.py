"""Sites beside the local one, and what is told at the end of a job."""

import http.server
import json
import threading
import unittest

from atoll import Atoll, wait_for

CONFIG = """
sites:
  local:
    cpus: 2
    devices:
      - {kind: gpu, model: t4, count: 2, memory: 16Gi, simulated: true, share: 0.05}
      - {kind: gpu, model: a100, count: 1, memory: 40Gi, simulated: true, slices: a100-40gb}
  class:
    kind: simulated
    nodes: 2
    cpus: 32
    memory: 128Gi
    devices:
      - {kind: gpu, model: h100, count: 2, simulated: true}
"""


class Simulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll(CONFIG)
        cls.addClassCleanup(cls.atoll.destroy)

    def submit(self, **spec):
        answer = self.atoll.api("POST", "/api/v1/jobs", {"namespace": "default", "command": ["echo", "real"], **spec})
        self.assertEqual(answer.status, 201, answer.text)
        return self.atoll.wait_job(answer.json["id"])

    def test_it_has_the_nodes_that_were_configured_and_no_others(self):
        site = self.atoll.api("GET", "/api/v1/sites/class").json
        self.assertEqual([node["name"] for node in site["nodes"]], ["class-1", "class-2"])
        refused = self.atoll.cli("submit", "--site", "class", "--cpus", "33", "--", "true", check=False)
        self.assertIn("the nearest that fits is 32 cpus", refused.stderr)

    def test_real_work_does_not_run_there_unless_it_asks(self):
        for _ in range(4):
            self.assertEqual(self.atoll.cli("run", "--", "echo", "real").stdout, "real\n")
        refused = self.atoll.cli("submit", "--cpus", "3", "--", "true", check=False)
        self.assertIn("the nearest that fits is 2 cpus", refused.stderr)
        named = self.submit(site="class")
        self.assertEqual(named["attempts"][-1]["site"], "class")
        listed = self.atoll.api("GET", "/api/v1/jobs?state=ended&limit=1").json["jobs"][0]
        self.assertEqual((listed["id"], listed["site"], listed["node"]), (named["id"], "class", "class-1"))
        self.assertIsNotNone(listed["started"])

    def test_what_no_device_can_give_is_refused_with_what_can(self):
        for gpus, what in (("h100", "site class could, and takes only work that names it: write --site class"),
                           ("50Gi", "the largest gpu of which a part can be had has 16Gi"),
                           ("0.0001", "from 0.001 to 1"),
                           ("3g.20gb:3", "the most that it could have of gpu:3g.20gb at once is 2"),
                           ("3g.20gb,3g.20gb", "write gpu:3g.20gb:2"),
                           ("p100", "the models that there are: a100, t4")):
            refused = self.atoll.cli("submit", "--gpus", gpus, "--", "true", check=False)
            self.assertNotEqual(refused.returncode, 0, gpus)
            self.assertIn(what, refused.stderr, gpus)

    def test_several_parts_of_devices_are_held_at_once(self):
        show = "echo $ATOLL_DEVICES"
        for flags in (("--gpus", "1g.5gb", "--gpus", "t4:1"), ("--gpus", "1g.5gb,t4:1")):
            held = json.loads(self.atoll.cli("run", *flags, "--", "sh", "-c", show).stdout)
            self.assertEqual(sorted((each["model"], each.get("slice")) for each in held),
                             [("a100", "1g.5gb"), ("t4", None)])
        two = json.loads(self.atoll.cli("run", "--gpus", "3g.20gb:2", "--", "sh", "-c", show).stdout)
        self.assertEqual([each["slice"] for each in two], ["3g.20gb", "3g.20gb"])

    def test_a_share_that_is_rounded_up_is_told(self):
        ran = self.atoll.cli("run", "--gpus", "0.33", "--", "sh", "-c", "echo $ATOLL_DEVICES")
        self.assertIn("a share of 0.33 of a gpu is rounded up to what it can be cut into: 0.35 of t4", ran.stderr)
        self.assertEqual(json.loads(ran.stdout)[0]["share"], 0.35)
        exact = self.atoll.cli("run", "--gpus", "0.25", "--", "true")
        self.assertEqual(exact.stderr, "")

    def test_work_that_says_how_to_pretend_goes_there(self):
        job = self.submit(simulate={"exit_code": 3})
        self.assertEqual((job["outcome"], job["exit_code"], job["attempts"][-1]["site"]), ("failed", 3, "class"))
        self.assertEqual(self.submit(simulate={"start_error": "no such image"})["outcome"], "failed")

    def test_a_draining_site_is_the_reason_to_wait(self):
        self.atoll.cli("site", "drain", "class")
        self.addCleanup(self.atoll.cli, "site", "undrain", "class")
        job = self.atoll.submit("--site", "class", "--", "true")
        nodes = self.atoll.json("node", "list")
        self.assertEqual({node["path"]: node["draining"] for node in nodes if node["site"] == "class"},
                         {"class/class-1": True, "class/class-2": True})
        why = self.atoll.json("explain", job)
        self.assertEqual(why["reason"], "draining")
        self.assertIn("atoll site undrain class", why["sentence"])
        self.atoll.cli("site", "undrain", "class")
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "succeeded")


class WithoutSimulated(unittest.TestCase):
    def test_pretending_needs_a_site_that_pretends_and_mail_needs_a_command(self):
        with Atoll() as atoll:
            spec = {"namespace": "default", "command": ["true"]}
            refused = atoll.api("POST", "/api/v1/jobs", {**spec, "simulate": {"run_for": "1s"}})
            self.assertEqual((refused.status, refused.json["field"]), (400, "site"))
            refused = atoll.cli("submit", "--notify", "ada@example.org", "--", "true", check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("mail_command", refused.stderr)

    def test_a_webhook_that_fails_is_an_event_of_the_job_and_in_the_log(self):
        with Atoll() as atoll:
            job = atoll.submit("--notify", "http://127.0.0.1:9/hook", "--", "true")
            events = wait_for(lambda: [event for event in atoll.api("GET", f"/api/v1/events?after=0&job={job}").json["events"]
                                       if event["type"] == "notice_settled"], "the notice to be given up", 60)
            self.assertFalse(events[0]["data"]["delivered"])
            self.assertIn(f"the notice of job {job} was not delivered", (atoll.home / "server.log").read_text())

    def test_a_webhook_hears_of_the_end(self):
        heard = []

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with Atoll() as atoll:
            job = atoll.submit("--notify", f"http://127.0.0.1:{server.server_port}/hook", "--", "false")
            wait_for(lambda: heard, "the webhook")
            self.assertEqual((str(heard[0]["job"]), heard[0]["outcome"]), (job, "failed"))


if __name__ == "__main__":
    unittest.main()
