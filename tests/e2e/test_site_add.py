"""Sites that come and go while the server runs, and work that says where it likes to run."""

import unittest

from atoll import Atoll, wait_for


def only(things):
    assert len(things) == 1, things
    return things[0]


class AddedSites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll()
        cls.addClassCleanup(cls.atoll.destroy)

    def site(self, name):
        return self.atoll.json("site", "show", name)

    def run_there(self, site, **simulate):
        answer = self.atoll.api("POST", "/api/v1/jobs", {
            "namespace": "default", "command": ["true"], "site": site, "simulate": simulate})
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json["id"]

    def test_one_is_added_used_checked_and_removed(self):
        said = self.atoll.cli("site", "add", "class", "--simulated", "--nodes", "2", "--cpus", "32",
                              "--memory", "64Gi", "--device", "gpu:h100=2")
        self.assertEqual(said.stdout, "class is added: 2 nodes, 64 cpus, 128Gi; `atoll site check class` tries it\n")
        shown = self.site("class")
        self.assertEqual(shown["definition"],
                         {"nodes": 2, "cpus": 32, "memory": 68719476736, "devices": {"gpu:h100": 2}})
        self.assertEqual([len(node["devices"]) for node in shown["nodes"]], [2, 2])
        job = self.atoll.wait_job(self.run_there("class", exit_code=3))
        self.assertEqual((job["exit_code"], job["attempts"][-1]["site"]), (3, "class"))

        checked = self.atoll.cli("site", "check", "class")
        lines = [line.split()[:2] for line in checked.stdout.splitlines()[1:]]
        self.assertEqual(lines, [["ok", "probe"], ["ok", "start"], ["ok", "exit"], ["none", "logs"],
                                 ["ok", "stop"], ["none", "files"]], checked.stdout)

        busy = self.run_there("class", run_for="1h")
        wait_for(lambda: self.atoll.job(busy)["state"] == "running", "it to run")
        refused = self.atoll.cli("site", "remove", "class", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("site class still runs work: `atoll site drain class` lets it end", refused.stderr)
        self.atoll.cli("cancel", busy)
        self.atoll.wait_job(busy)
        self.assertEqual(self.atoll.cli("site", "remove", "class", "--drain").stdout, "class is removed\n")
        self.assertNotIn("class", [site["name"] for site in self.atoll.api("GET", "/api/v1/sites").json["sites"]])
        gone = self.atoll.cli("submit", "--site", "class", "--", "true", check=False)
        self.assertIn('there is no site "class"', gone.stderr)

    def test_the_local_site_stands_the_check(self):
        checked = self.atoll.cli("site", "check", "local", check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertEqual([line.split()[0] for line in checked.stdout.splitlines()[1:]], ["ok"] * 6, checked.stdout)

    def test_it_is_there_again_after_a_kill(self):
        self.atoll.cli("site", "add", "kept", "--simulated", "--cpus", "4")
        runs = self.run_there("kept", run_for="3s")
        wait_for(lambda: self.atoll.json("show", runs)["state"] == "running", "it to run")
        self.atoll.kill_server()
        self.atoll.up()
        ended = self.atoll.wait_job(runs)
        self.assertEqual([attempt["outcome"] for attempt in ended["attempts"]], ["lost", "succeeded"], ended["attempts"])
        ended = self.atoll.wait_job(self.run_there("kept", run_for="1s"))
        self.assertEqual((ended["outcome"], ended["attempts"][-1]["site"]), ("succeeded", "kept"))
        self.assertEqual(self.site("kept")["definition"], {"cpus": 4})
        self.atoll.cli("site", "remove", "kept")
        self.atoll.down()
        self.atoll.up()
        self.assertEqual(self.atoll.api("GET", "/api/v1/sites/kept").status, 404)

    def test_added_and_removed_again_and_again(self):
        for turn in range(5):
            self.atoll.cli("site", "add", "again", "--simulated", "--nodes", turn + 1)
            self.assertEqual(len(self.site("again")["nodes"]), turn + 1)
            self.atoll.wait_job(self.run_there("again"))
            self.atoll.cli("site", "remove", "again")

    def test_what_cannot_be_is_refused_with_a_sentence(self):
        for args, sentence in (
                (("x",), "say what kind of site it is: --ssh HOST…, --slurm or --simulated"),
                (("x", "--simulated", "--slurm"), "a site is of one kind: ssh, slurm or simulated"),
                (("x", "--simulated", "--partition", "p"), "--partition is a setting of --slurm"),
                (("x", "--simulated", "--nodes", "0"), "--nodes: "),
                (("x", "--ssh", "a b"), '"a b" is no host name'),
                (("local", "--simulated"), 'site "local" exists'),
                (("any", "--simulated"), "no site may be called any"),
                (("Bad Name", "--simulated"), "name")):
            refused = self.atoll.cli("site", "add", *args, check=False)
            self.assertNotEqual(refused.returncode, 0, args)
            self.assertIn(sentence, refused.stderr, args)
        of_the_file = self.atoll.cli("site", "remove", "local", check=False)
        self.assertIn("site local is in the server's atoll.yaml", of_the_file.stderr)

    def test_only_platform_administrators_may(self):
        self.atoll.cli("user", "create", "ada")
        self.addCleanup(self.atoll.cli, "user", "disable", "ada", check=False)
        token = self.atoll.json("token", "create", "--user", "ada")["token"]
        wish = {"name": "hers", "simulated": {}}
        self.assertEqual(self.atoll.tcp("POST", "/api/v1/sites", wish, token=token).status, 403)
        self.assertEqual(self.atoll.tcp("DELETE", "/api/v1/sites/local", token=token).status, 403)

    def test_who_added_it_is_on_record(self):
        self.atoll.cli("site", "add", "noted", "--simulated")
        self.addCleanup(self.atoll.cli, "site", "remove", "noted")
        events = self.atoll.api("GET", "/api/v1/events?after=0&limit=1000").json["events"]
        added = [event for event in events if event["type"] == "site_added" and event["data"]["name"] == "noted"]
        self.assertTrue(only(added)["by"])


class Preferences(unittest.TestCase):
    """Only simulated sites, so that they are all part of what is shared."""

    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll("sites:\n  desk: {kind: simulated, cpus: 2}\n")
        cls.addClassCleanup(cls.atoll.destroy)
        for name in ("lab", "cluster"):
            cls.atoll.cli("site", "add", name, "--simulated", "--cpus", "4")

    def place(self, *args):
        job = self.atoll.submit(*args, "--simulate", "run_for=1h", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", job)
        shown = wait_for(lambda: (found := self.atoll.job(job))["state"] != "waiting" and found, f"{job} to start")
        return self.atoll.api("GET", f"/api/v1/jobs/{shown['id']}/tasks").json["tasks"][0]["site"]

    def test_the_first_that_has_room(self):
        choice = ("--site", "cluster|lab|any")
        self.assertEqual(self.place(*choice, "--cpus", "3"), "cluster")
        self.assertEqual(self.place(*choice, "--cpus", "1"), "cluster")
        self.assertEqual(self.place(*choice, "--cpus", "4"), "lab")
        self.assertEqual(self.place(*choice, "--cpus", "2"), "desk")
        waits = self.atoll.submit(*choice, "--cpus", "1", "--simulate", "run_for=1h", "--", "true")
        self.addCleanup(self.atoll.cli, "cancel", waits)
        self.assertIn("waiting for 1 core on one node", self.atoll.cli("explain", waits).stdout)

    def test_any_is_any(self):
        self.assertEqual(self.place("--site", "any", "--cpus", "2"), "desk")

    def test_steps_say_it_as_a_list(self):
        flow = self.atoll.home / "flow.yaml"
        flow.write_text("steps:\n  one:\n    run: 'true'\n    site: [lab, any]\n    simulate: {run_for: 1s}\n")
        self.atoll.cli("run", flow)
        job = self.atoll.api("GET", "/api/v1/jobs?state=ended&limit=1").json["jobs"][0]
        self.assertEqual(job["site"], "lab")

    def test_a_wrong_choice_is_refused(self):
        for choice, sentence in (("moon|any", 'there is no site "moon"'), ("any|lab", "any stands last"),
                                 ("lab|lab", 'site "lab" is named twice')):
            refused = self.atoll.cli("submit", "--site", choice, "--", "true", check=False)
            self.assertIn(sentence, refused.stderr)


if __name__ == "__main__":
    unittest.main()
