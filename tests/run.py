"""Runs the suites of tests/suites.py and ends with one line: N passed, N failed, N skipped.

    ./test                    everything
    ./test unit e2e           two suites
    ./test unit:core e2e:jobs only the programs whose name contains the word
    ./test sim --seconds 60   the simulator on new seeds for a minute; likewise fuzz, a minute for each fuzzer
    ./test --list             the suites and what they prove
"""

import argparse
import sys
import time
import traceback

import suites
from harness import BuildFailed, Outcome, Report


def parse(argv):
    parser = argparse.ArgumentParser(prog="./test", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a suite, or SUITE:WORD for part of one")
    parser.add_argument("--list", action="store_true", help="print the suites and stop")
    parser.add_argument("--seconds", type=int, metavar="N", help="with sim or fuzz: run new seeds for N seconds")
    options = parser.parse_args(argv)
    chosen = {}
    for name in options.names:
        suite, _, word = name.partition(":")
        if suite not in suites.ALL:
            parser.error(f"there is no suite {suite!r}; there are {', '.join(suites.ALL)}")
        chosen.setdefault(suite, []).append(word)
    if options.seconds is not None and list(chosen) not in (["sim"], ["fuzz"]):
        parser.error("--seconds belongs to sim or fuzz: write ./test sim --seconds N")
    return options, chosen or {name: [""] for name in suites.ALL}


def main():
    options, chosen = parse(sys.argv[1:])
    if options.list:
        for name, suite in suites.ALL.items():
            print(f"{name:<9} {suite.__doc__.splitlines()[0]}")
        return 0
    report = Report()
    for name, suite in suites.ALL.items():
        if name not in chosen:
            continue
        report.suite = name
        report.say(f"{name}: {suite.__doc__.splitlines()[0]}")
        began = time.monotonic()
        words = chosen[name]
        before = report.passed + len(report.failed) + len(report.skipped)
        try:
            suite(report, lambda part: any(word in part for word in words), options)
            if report.passed + len(report.failed) + len(report.skipped) == before:
                failure = ("", f"no test ran; {name} has no part named {' or '.join(words) or 'anything'}")
                report.add("nothing", Outcome(failed=[failure]), time.monotonic() - began)
        except BuildFailed as error:
            report.add("build", Outcome(failed=[("", str(error))]), time.monotonic() - began)
        except Exception:  # a broken suite is a failure, and the others still run
            report.add("runner", Outcome(failed=[("", traceback.format_exc())]), time.monotonic() - began)
    report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
