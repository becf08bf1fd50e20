"""Hosts behind ssh as a site that is added while the server runs: real sshd, each a machine of its own."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "engines"))

from atoll import Atoll, wait_for  # noqa: E402
from ssh_hosts import SshHosts  # noqa: E402


class SshSite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="atoll-e2e-ssh-")
        cls.addClassCleanup(place.cleanup)
        cls.hosts = cls.enterClassContext(SshHosts(Path(place.name) / "hosts", ["h1", "h2"]))
        cls.atoll = Atoll()
        cls.addClassCleanup(cls.atoll.destroy)
        cls.atoll.cli("site", "add", "lab", "--ssh", "h1", "h2", "--ssh-config", cls.hosts.config, "--poll", "500ms")

    def there(self, script, *args):
        return self.atoll.submit("--site", "lab", *args, "--", "sh", "-c", script)

    def test_its_hosts_are_nodes(self):
        site = self.atoll.json("site", "show", "lab")
        self.assertEqual([node["name"] for node in site["nodes"]], ["h1", "h2"])
        self.assertEqual(site["definition"]["hosts"], ["h1", "h2"])
        self.assertIsNone(site["trouble"])
        self.assertEqual(site["node_trouble"], {})

    def test_it_stands_the_check(self):
        checked = self.atoll.cli("site", "check", "lab", check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertEqual([line.split()[0] for line in checked.stdout.splitlines()[1:]], ["ok"] * 6, checked.stdout)

    def test_a_job_runs_on_a_host_and_its_output_comes_back(self):
        job = self.there("hostname; echo wrong >&2; exit 5")
        ended = self.atoll.wait_job(job)
        self.assertEqual((ended["outcome"], ended["exit_code"]), ("failed", 5))
        attempt = ended["attempts"][-1]
        self.assertEqual(attempt["site"], "lab")
        self.assertEqual(self.atoll.logs(job), attempt["node"] + "\n")
        self.assertEqual(self.atoll.cli("logs", "--stderr", job).stdout, "wrong\n")

    def test_cancel_reaches_it(self):
        job = self.there("trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 1; done")
        wait_for(lambda: "ready" in self.atoll.cli("logs", job, check=False).stdout, "it to begin")
        self.atoll.cli("cancel", job)
        self.assertEqual(self.atoll.wait_job(job)["outcome"], "cancelled")
        self.assertEqual(self.atoll.logs(job), "ready\ntold\n")

    def test_work_outlives_a_killed_server_and_runs_once(self):
        job = self.there("echo begun; sleep 4; echo over; echo once >> $HOME/runs-$ATOLL_JOB_ID")
        wait_for(lambda: "begun" in self.atoll.cli("logs", job, check=False).stdout, "it to begin")
        self.atoll.kill_server()
        self.atoll.up()
        ended = self.atoll.wait_job(job)
        self.assertEqual((ended["outcome"], len(ended["attempts"])), ("succeeded", 1))
        self.assertEqual(self.atoll.logs(job), "begun\nover\n")
        host = ended["attempts"][-1]["node"]
        self.assertEqual((self.hosts.hosts[host].home / f"runs-{job}").read_text(), "once\n")

    def test_steps_hand_on_what_they_leave_from_here_to_there_and_back(self):
        flow = self.atoll.home / "flow.yaml"
        flow.write_text("""
steps:
  here:
    run: echo 41 > $ATOLL_OUTPUTS/number
    site: local
    outputs: {number: {}}
  there:
    run: |
      echo $(({steps.here.outputs.number} + 1)) > $ATOLL_OUTPUTS/number
      hostname > $ATOLL_OUTPUTS/host
    site: lab
    outputs: {number: {}, host: {}}
  back:
    run: echo {steps.there.outputs.number} on {steps.there.outputs.host}
    site: local
""")
        said = self.atoll.cli("run", flow, check=False)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        last = self.atoll.api("GET", "/api/v1/jobs?state=ended&limit=1").json["jobs"][0]
        self.assertRegex(self.atoll.logs(last["id"]), r"^42 on h[12]\n$")

    def test_a_host_that_is_cut_off_is_told_and_its_work_is_not_started_twice(self):
        job = self.there("echo begun; sleep 3; echo once >> $HOME/cut-$ATOLL_JOB_ID")
        wait_for(lambda: "begun" in self.atoll.cli("logs", job, check=False).stdout, "it to begin")
        host = self.hosts.hosts[self.atoll.job(job)["node"]]
        host.cut()
        try:
            shown = wait_for(lambda: (found := self.atoll.job(job))["unreachable"] and found, "it to be missed", 60)
            self.assertIn(f"lab/{host.name} cannot be asked", shown["sentence"])
            self.assertIn("is not started elsewhere", self.atoll.cli("explain", job).stdout)
            self.assertIn("(unreachable)", self.atoll.cli("ps").stdout)
            self.assertIn(host.name, self.atoll.json("site", "show", "lab")["node_trouble"])
        finally:
            host.heal()
        ended = self.atoll.wait_job(job, 120)
        self.assertEqual((ended["outcome"], len(ended["attempts"])), ("succeeded", 1))
        self.assertEqual((host.home / f"cut-{job}").read_text(), "once\n")

    def test_a_host_that_is_not_there_is_told_with_a_sentence(self):
        added = self.atoll.cli("site", "add", "nowhere", "--ssh", "no-such-host.invalid", check=False)
        self.addCleanup(self.atoll.cli, "site", "remove", "nowhere")
        self.assertEqual(added.returncode, 1, added.stdout)
        self.assertIn("no-such-host.invalid", added.stderr)


if __name__ == "__main__":
    unittest.main()
