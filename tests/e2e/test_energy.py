"""Energy of attempts, on a machine whose counters the test makes: a directory as /sys/class/powercap is one."""

import tempfile
import threading
import unittest
from pathlib import Path

from atoll import Atoll
from flows import Flows

CONFIG = "sites:\n  local: {cpus: 4, memory: 4Gi}\n"
RANGE = 1_000_000_000  # microjoules


class Counter:
    """One package that uses 20 W, whatever happens."""

    def __init__(self, test):
        folder = tempfile.TemporaryDirectory()
        test.addClassCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.zone = self.path / "intel-rapl:0"
        self.zone.mkdir()
        (self.zone / "name").write_text("package-0\n")
        (self.zone / "max_energy_range_uj").write_text(f"{RANGE}\n")
        self.microjoules = RANGE - 2_000_000  # so that it begins anew soon
        self.write()
        self.over = threading.Event()
        thread = threading.Thread(target=self.run)
        thread.start()
        test.addClassCleanup(thread.join)
        test.addClassCleanup(self.over.set)

    def write(self):
        # By another file, so that nobody reads half of a number.
        fresh = self.zone / "fresh"
        fresh.write_text(f"{self.microjoules % RANGE}\n")
        fresh.rename(self.zone / "energy_uj")

    def burn(self):
        """A script that is busy until energy was used."""
        file = self.zone / "energy_uj"
        return f'a=$(cat {file}); while [ "$(cat {file})" = "$a" ]; do :; done'

    def run(self):
        while not self.over.wait(0.02):
            self.microjoules += 400_000
            self.write()


class Energy(Flows):
    @classmethod
    def setUpClass(cls):
        cls.counter = Counter(cls)
        cls.atoll = Atoll(CONFIG, up=False)
        cls.addClassCleanup(cls.atoll.destroy)
        cls.atoll.env["ATOLL_POWERCAP"] = str(cls.counter.path)
        cls.atoll.up()

    def attempt(self, atoll, *words):
        job = atoll.submit("--", *words)
        atoll.wait_job(job)
        return job, atoll.api("GET", f"/api/v1/jobs/{job}/attempts").json["attempts"][0]

    def test_an_attempt_has_its_share_of_what_the_machine_used(self):
        before = self.counter.microjoules
        job, attempt = self.attempt(self.atoll, "sh", "-c", self.counter.burn())
        used = (self.counter.microjoules - before) / 1e6
        self.assertGreater(attempt["energy_joules"], 0)
        self.assertLessEqual(attempt["energy_joules"], used)
        self.assertIn("ENERGY", self.atoll.cli("show", job).stdout)
        self.assertNotIn("POWERCAP", self.atoll.logs(self.attempt(self.atoll, "env")[0]))

    def test_steps_and_reports_show_the_sum(self):
        flow = self.run_flow(f"steps: {{burn: {{for_each: [1, 2], run: '{self.counter.burn()}'}}, none: {{when: {{eq: [1, 2]}}, run: x}}}}")
        burn = flow.step("burn")
        attempts = self.atoll.api("GET", f"/api/v1/jobs/{burn['job']}/attempts").json["attempts"]
        self.assertAlmostEqual(burn["energy_joules"], sum(each["energy_joules"] for each in attempts), delta=0.003)
        self.assertIsNone(flow.step("none")["energy_joules"])
        self.assertIn("ENERGY", self.atoll.cli("workflow", "show", flow.id).stdout)
        report = self.atoll.api("GET", f"/api/v1/workflows/{flow.id}/report").text
        rows = {name: next(line for line in report.splitlines() if line.startswith("<tr>") and f">{name}<" in line)
                for name in ("burn", "none")}
        self.assertRegex(rows["burn"], r"[0-9.]+ (J|Wh)</td>")
        self.assertNotRegex(rows["none"], r"[0-9.]+ (J|Wh)</td>")
        self.assertTrue(self.atoll.kill_server())
        self.atoll.up()
        self.assertEqual(flow.step("burn")["energy_joules"], burn["energy_joules"])

    def test_counters_that_cannot_be_read_are_no_energy(self):
        with tempfile.TemporaryDirectory() as folder:
            zone = Path(folder) / "intel-rapl:0"
            (zone / "energy_uj").mkdir(parents=True)  # root reads every file, but no directory
            (zone / "name").write_text("package-0\n")
            (zone / "max_energy_range_uj").write_text("1000\n")
            with Atoll(CONFIG, up=False) as atoll:
                atoll.env["ATOLL_POWERCAP"] = folder
                atoll.up()
                job, attempt = self.attempt(atoll, "true")
                self.assertIsNone(attempt["energy_joules"])
                self.assertNotIn("ENERGY", atoll.cli("show", job).stdout)


if __name__ == "__main__":
    unittest.main()
