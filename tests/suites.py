"""The suites, in the order in which ./test runs them: what fails soonest comes first.

A suite is a function (report, wants, options). Its docstring's first line is what --list prints; wants(name) says
whether the part of that name was asked for.
"""

import json
import shutil
import tempfile
from pathlib import Path

from harness import BUILD, CORES, ROOT, Outcome, build, each, one_case, run

PYTHON = "/usr/bin/python3"
PROGRAM_SECONDS = 900  # no test program may take longer
FUZZ_SECONDS = 10
FUZZ_SEED = 1  # a change is judged by what it does, not by what chance finds; new seeds are for --seconds
FUZZ_CORPUS_MAX = 2000  # files; beyond, a corpus starts anew
SIM_SEEDS = range(1, 21)
ENGINES = ("slurm_tests",)  # wait for real engines most of the time: as released only
THREADED = ("api", "auth", "bin", "cli", "http", "journal", "runtime", "site", "steward")  # all else has one thread
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    "ASAN_SYMBOLIZER_PATH": "/usr/lib/llvm-19/bin/llvm-symbolizer",
    "TSAN_SYMBOLIZER_PATH": "/usr/lib/llvm-19/bin/llvm-symbolizer",
}


def tidy(report, wants, options):
    """the house rules: layers, words, format, links, dead files"""
    done = run([PYTHON, "tests/tidy", "--json"], timeout=300)
    try:
        rules = json.loads(done.output)
    except ValueError:
        report.add("tidy", one_case(done), done.seconds)
        return
    for rule in rules:
        if wants(rule["rule"]):
            findings = rule["findings"]
            outcome = Outcome(failed=[("", "\n".join(findings))]) if findings else Outcome(passed=1)
            report.add(rule["rule"], outcome, rule["seconds"])
    run_modules(report, wants, "tidy_test")


def unit(report, wants, options):
    """unit tests of every room, as released"""
    run_gtest(report, wants, "release")


def sim(report, wants, options):
    """the simulator: 20 fixed seeds of faults, or --seconds N of new ones"""
    build(report, "release", "bin/sim")
    program = BUILD["release"] / "bin/sim"
    if options.seconds is not None:
        done = run([program, "--seconds", options.seconds], timeout=options.seconds + 300)
        print(done.output, end="")
        report.add("new seeds", one_case(done), done.seconds)
        return

    def one(seed):
        name = f"seed {seed}"
        if not wants(name):
            return
        first = run([program, "--seed", seed], PROGRAM_SECONDS)
        outcome = one_case(first, f"\nrun it again: build/bin/sim --seed {seed}\n")
        if first.ok and trace_hash(run([program, "--seed", seed], PROGRAM_SECONDS)) != trace_hash(first):
            outcome = Outcome(failed=[("", f"two runs of seed {seed} differ, so something in the core is not "
                                           f"deterministic\nrun it again: build/bin/sim --seed {seed}\n")])
        report.add(name, outcome, first.seconds)

    each(SIM_SEEDS, one)


def trace_hash(done):
    """The line that sim prints of its seed: the hash of the trace, and counts. Timings come after it."""
    return next((line for line in done.output.splitlines() if line.startswith("seed ")), done.output)


def e2e(report, wants, options):
    """the real binary, end to end: command line, API, local site, bad input"""
    build(report, "release", "bin/atoll", "bin/atoll-warden")
    run_modules(report, wants, "e2e")


def openapi(report, wants, options):
    """the API's description and metrics: stock validator, schemathesis and Prometheus' parser on the running server"""
    build(report, "release", "bin/atoll", "bin/atoll-warden")
    run_modules(report, wants, "openapi")


def crate(report, wants, options):
    """RO-Crates of example runs: the public validator accepts them"""
    build(report, "release", "bin/report_example")
    run_modules(report, wants, "crate")


def chaos(report, wants, options):
    """kill -9 of server and warden, 200 times, during 2,000 real jobs"""
    build(report, "release", "bin/atoll", "bin/atoll-warden")
    run_modules(report, wants, "chaos", timeout=2400)


def package(report, wants, options):
    """the Debian package: installs, starts, stops, is removed and purged"""
    build(report, "release", "bin/atoll", "bin/atoll-warden")
    run_modules(report, wants, "package")


def vm(report, wants, options):
    """the local site in a virtual machine whose kernel has control groups of version 2"""
    build(report, "release", "bin/atoll", "bin/atoll-warden", "bin/site_tests")
    run_modules(report, wants, "vm")


def asan(report, wants, options):
    """unit tests under the address and undefined-behaviour sanitizers"""
    run_gtest(report, wants, "asan")


def fuzz(report, wants, options):
    """every fuzzer for 10 seconds from its fixed seed, or --seconds N from a new one"""
    seconds = FUZZ_SECONDS if options.seconds is None else options.seconds
    seed = FUZZ_SEED if options.seconds is None else 0  # libFuzzer draws one of its own for 0
    build(report, "asan", "unit_tests")
    names = [name.removeprefix("fuzz_") for name in unit_programs("asan") if name.startswith("fuzz_")]

    def one(name):
        kept = ROOT / "build/fuzz" / name
        if kept.is_dir() and sum(1 for _ in kept.iterdir()) > FUZZ_CORPUS_MAX:
            shutil.rmtree(kept)
        kept.mkdir(parents=True, exist_ok=True)
        seeds = ROOT / "tests/corpus" / name
        crash = ROOT / "build/fuzz" / f"{name}-"
        program = BUILD["asan"] / f"bin/fuzz_{name}"
        done = run([program, kept, *([seeds] if seeds.is_dir() else []), f"-max_total_time={seconds}",
                    f"-seed={seed}", "-timeout=5", "-rss_limit_mb=2048", "-max_len=65536", "-verbosity=0",
                    "-print_final_stats=1", f"-artifact_prefix={crash}"], timeout=seconds + 120, env=SANITIZER_ENV)
        hint = f"\nrun it again: build/asan/bin/fuzz_{name} FILE, with the file named above\n"
        report.add(name, one_case(done, hint), done.seconds)

    each([name for name in names if wants(name)], one)


def tsan(report, wants, options):
    """unit tests of the rooms that have threads, under the thread sanitizer"""
    run_gtest(report, wants, "tsan", [f"{room}_tests" for room in THREADED])


ALL = {suite.__name__: suite
       for suite in (tidy, unit, sim, e2e, openapi, crate, package, vm, chaos, asan, fuzz, tsan)}


def run_gtest(report, wants, preset, programs=None):
    """Builds and runs the gtest programs, all unless they are named, and counts their cases one by one."""
    build(report, preset, *(["unit_tests"] if programs is None else [f"bin/{name}" for name in programs]))
    if programs is None:
        programs = [name for name in unit_programs(preset)
                    if not name.startswith("fuzz_") and (preset == "release" or name not in ENGINES)]

    def one(name):
        with tempfile.TemporaryDirectory() as scratch:
            results = Path(scratch) / "results.json"
            done = run([BUILD[preset] / "bin" / name, f"--gtest_output=json:{results}", "--gtest_color=no"],
                       PROGRAM_SECONDS, env=SANITIZER_ENV)
            report.add(name, gtest_outcome(done, results), done.seconds)

    each([name for name in programs if wants(name)], one, parallel=1 if preset == "release" else CORES)


def unit_programs(preset):
    """What the build target unit_tests is made of; a program left over from an older build is not."""
    listed = run(["ninja", "-C", BUILD[preset], "-t", "query", "unit_tests"], timeout=60).output
    return sorted({line.strip().removeprefix("bin/") for line in listed.splitlines() if line.startswith("    bin/")})


def gtest_outcome(done, results):
    """The cases of one program. Without a results file, or with a bad exit that no case explains, it crashed."""
    if not results.exists():
        return Outcome(failed=[("crashed", f"{done.why()}\n{done.output}")])
    outcome = Outcome()
    for suite in json.loads(results.read_text())["testsuites"]:
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            if case["status"] == "NOTRUN":
                outcome.skipped.append((name, "DISABLED_ in its source"))
            elif case["result"] == "SKIPPED":
                outcome.skipped.append((name, skip_reason(done.output, name)))
            elif "failures" in case:
                outcome.failed.append((name, "\n".join(f["failure"] for f in case["failures"])))
            else:
                outcome.passed += 1
    if not done.ok and not outcome.failed:
        outcome.failed.append(("after the last case", f"{done.why()}\n{done.output}"))
    return outcome


def skip_reason(output, name):
    """The text that GTEST_SKIP() << ... printed above the case's [  SKIPPED ] line."""
    lines = output[:output.find(f"[  SKIPPED ] {name}")].splitlines()
    texts = []
    for line in reversed(lines):
        if line.startswith("[") or line.endswith(": Skipped"):
            break
        texts.insert(0, line.strip())
    return " ".join(text for text in texts if text) or "GTEST_SKIP without a reason"


def run_modules(report, wants, folder, timeout=PROGRAM_SECONDS):
    """Runs tests/FOLDER/test_*.py, each a unittest module in a process of its own."""
    for module in sorted((ROOT / "tests" / folder).glob("test_*.py")):
        if not wants(module.stem):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            results = Path(scratch) / "results.jsonl"
            done = run([PYTHON, "tests/cases.py", module, results], timeout)
            cases = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        outcome = Outcome()
        for case in cases:
            if case["outcome"] == "passed":
                outcome.passed += 1
            else:
                getattr(outcome, case["outcome"]).append((case["name"], case["detail"]))
        if not done.ok and not outcome.failed:
            outcome.failed.append(("outside a case", f"{done.why()}\n{done.output}"))
        report.add(module.stem, outcome, done.seconds)
