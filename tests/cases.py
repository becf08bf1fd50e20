"""Runs one unittest module: cases.py MODULE.py RESULTS. Each case becomes one line of JSON in RESULTS as it ends, so
that what was known survives a hang or a crash of the module."""

import faulthandler
import importlib.util
import json
import sys
import time
import unittest
from pathlib import Path


class Recorder(unittest.TextTestResult):
    def __init__(self, *args):
        super().__init__(*args)
        self.sink = open(sys.argv[2], "w", buffering=1)

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def record(self, test, outcome, detail=""):
        name = test.id().split(".", 1)[-1]
        print(json.dumps({"name": name, "outcome": outcome, "detail": detail,
                          "seconds": time.monotonic() - getattr(self, "began", time.monotonic())}), file=self.sink)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, "failed", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, "failed", self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.record(subtest, "failed", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "skipped", reason)


def main():
    path = Path(sys.argv[1]).resolve()
    faulthandler.enable()
    sys.path[:0] = [str(path.parent), str(Path(__file__).resolve().parent / "e2e")]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Recorder).run(suite)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
