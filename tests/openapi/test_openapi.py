"""The API's own description: a stock validator accepts it, and the running server does what it says."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

from atoll import ROOT, Atoll
from venvs import Venv

HERE = Path(__file__).resolve().parent
VENV = Venv("openapi", (HERE / "requirements.txt").read_text())
EXAMPLES = "30"  # requests per operation and phase


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why := VENV.make():
            raise unittest.SkipTest(why)
        cls.atoll = Atoll()
        cls.addClassCleanup(cls.atoll.destroy)
        cls.file = cls.atoll.home / "openapi.json"
        cls.file.write_text(cls.atoll.tcp("GET", "/openapi.json").text)

    def check(self, *argv):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=800, cwd=self.atoll.home)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_is_version_3_1(self):
        self.assertTrue(json.loads(self.file.read_text())["openapi"].startswith("3.1"))

    def test_stock_validator_accepts_it(self):
        self.check(VENV.bin("openapi-spec-validator"), self.file)

    def test_the_schema_of_workflows_takes_files_that_run_and_no_others(self):
        schema = self.atoll.home / "workflow.json"
        schema.write_text(self.atoll.tcp("GET", "/schemas/workflow.json").text)
        wrong = self.atoll.home / "wrong.yaml"
        wrong.write_text("steps: {a: {rum: x}}\n")
        script = ("import json, sys, jsonschema, yaml\n"
                  "schema = json.load(open(sys.argv[1]))\n"
                  "jsonschema.Draft202012Validator.check_schema(schema)\n"
                  "jsonschema.validate(yaml.safe_load(open(sys.argv[2])), schema)\n")
        for file in sorted((ROOT / "examples").glob("*-workflow/*.yaml")):
            self.check(VENV.bin("python"), "-c", script, schema, file)
        with self.assertRaisesRegex(AssertionError, "rum"):
            self.check(VENV.bin("python"), "-c", script, schema, wrong)

    def test_schemathesis_finds_no_difference(self):
        token = self.atoll.json("token", "create")["token"]
        self.check(VENV.bin("st"), "run", self.file, "--url", self.atoll.url, "-H", f"Authorization: Bearer {token}",
                   "--max-examples", EXAMPLES, "--request-timeout", "15", "--seed", "1",
                   # Cloudmesh's counters are streams that do not end, whatever is asked for.
                   "--exclude-path-regex", "-count/",
                   "--phases", "examples,coverage,fuzzing,stateful",
                   # A schema cannot say that a name must exist, that two fields exclude each other, or how far a
                   # duration may go; such a request is rightly refused with 4xx.
                   "--exclude-checks", "positive_data_acceptance")


if __name__ == "__main__":
    sys.exit(unittest.main())
