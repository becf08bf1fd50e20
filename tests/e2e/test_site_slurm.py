"""A real Slurm as a site that is added while the server runs."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "engines"))

from atoll import Atoll, wait_for  # noqa: E402
from slurm import SlurmCluster  # noqa: E402


class SlurmSite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shared = tempfile.TemporaryDirectory(prefix="atoll-e2e-slurm-")
        cls.addClassCleanup(shared.cleanup)
        cls.cluster = cls.enterClassContext(SlurmCluster(nodes=2))
        cls.atoll = Atoll()
        cls.addClassCleanup(cls.atoll.destroy)
        cls.atoll.cli("site", "add", "cluster", "--slurm", "--slurm-bin", cls.cluster.bin, "--slurm-conf",
                      cls.cluster.conf, "--directory", shared.name, "--poll", "500ms")

    def there(self, script, *args):
        return self.atoll.submit("--site", "cluster", *args, "--", "sh", "-c", script)

    def test_it_stands_the_check(self):
        checked = self.atoll.cli("site", "check", "cluster", check=False, timeout=300)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertEqual([line.split()[0] for line in checked.stdout.splitlines()[1:]], ["ok"] * 6, checked.stdout)

    def test_a_job_of_atoll_is_a_job_of_slurm(self):
        job = self.there("echo $SLURM_JOB_ID; exit 4")
        ended = self.atoll.wait_job(job, 120)
        self.assertEqual((ended["exit_code"], ended["attempts"][-1]["site"]), (4, "cluster"))
        self.assertRegex(self.atoll.logs(job), r"^\d+\n$")

    def test_work_outlives_a_killed_server_and_runs_once(self):
        job = self.there("echo begun; sleep 5; echo over")
        wait_for(lambda: "begun" in self.atoll.cli("logs", job, check=False).stdout, "it to begin", 60)
        self.atoll.kill_server()
        self.atoll.up()
        ended = self.atoll.wait_job(job, 120)
        self.assertEqual((ended["outcome"], len(ended["attempts"])), ("succeeded", 1))
        self.assertEqual(self.atoll.logs(job), "begun\nover\n")


if __name__ == "__main__":
    unittest.main()
