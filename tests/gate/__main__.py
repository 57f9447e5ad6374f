"""Run the gate: `python -m tests.gate [--unit | --sampled | --explore] [--timeout SECONDS] [pytest's own arguments]`.

Tests in a browser run after the others, two at a time, and then those that need the machine for themselves (`serial`), one
at a time. A test that fails runs once more, alone, at the end: it is FLAKY if it passes then, and the gate stays green. The
last line counts every test once. Results go to artefacts/: junit-*.xml, gate.json, versions.txt, flaky.json. Exit code 0
green, 1 red, 130 stopped.
"""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

from bugzoo import course
from bugzoo.proving.lesson_key import oldest_first
from tests.gate import flaky, running
from tests.gate.outcomes import FAILED, Phase, Test, slowest
from tests.sampling import ALL, SEED, fresh_seed, seed

PLACE = Path("artefacts")
AGAIN = 20
"""Failures of which each gets a second chance; more than that are no accident."""
SHOWN = 5
"""Failures that fit into the last twenty lines."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gate", description=__doc__.split("\n\n")[0])
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--unit", action="store_true", help="only the quick tests")
    kind.add_argument("--sampled", action="store_true", help="every case of the sampled tests (make prove)")
    kind.add_argument("--explore", action="store_true", help="other cases of the sampled tests (make explore)")
    parser.add_argument("--timeout", type=float, default=0, help="seconds a test may take (needs pytest-timeout)")
    parser.add_argument("--deadline", type=float, default=60, help="minutes a phase may take before it is ended")
    args, rest = parser.parse_known_args()
    if args.explore:
        os.environ[SEED] = str(fresh_seed())
    if args.sampled:
        os.environ[ALL] = "all"
    PLACE.mkdir(exist_ok=True)
    about = running.describe(PLACE / "versions.txt")
    print(f"gate: {about}; seed {seed()}", flush=True)
    begun = time.monotonic()
    phases = []
    try:
        for name, marker, workers in running.phases(args):
            options = [*running.options(args.timeout), *rest, *running.holding(marker, rest)]
            phases.append(running.run(name, ["-m", marker, "-n", workers, *options], PLACE, args.deadline * 60))
        took = time.monotonic() - begun
        again = second_chance([test for phase in phases for test in phase.failed()], args)
    except KeyboardInterrupt:
        print("\ngate: stopped; no verdict", flush=True)
        return 130
    if args.explore:
        explored([test for phase in phases for test in phase.failed()])
    return report(phases, again, took)


def explored(failed: list[Test]) -> None:
    """Write what failed under a random seed, each with the command that shows it again."""
    rows = [f"- {test.id}: {test.why}\n\n      {SEED}={seed()} {running.command(test.id)}\n" for test in failed]
    text = f"# Drawn with seed {seed()}\n\n" + ("\n".join(rows) or "Nothing failed.\n")
    (PLACE / "explore.md").write_text(text, encoding="utf-8")
    print(f"gate: seed {seed()}, {len(failed)} failed: {PLACE / 'explore.md'}", flush=True)


def second_chance(failed: list[Test], args: argparse.Namespace) -> dict[str, bool]:
    """Node id -> whether the test passed when it ran once more, alone."""
    once = [test for test in failed if "::" in test.id]
    if not once or len(once) > AGAIN:
        return {}
    print(f"\ngate: {len(once)} failed; each runs once more, alone", flush=True)
    passed = {}
    for number, test in enumerate(once):
        options = running.options(args.timeout)
        phase = running.run(f"again-{number}", ["-n", "1", *options, test.id], PLACE, args.deadline * 60)
        now = phase.tests.get(test.id)
        passed[test.id] = bool(now and now.outcome == "passed")
    return passed


def report(phases: list[Phase], again: dict[str, bool], took: float) -> int:
    """Write artefacts/gate.json and flaky.json, print the last lines; the exit code."""
    tests = {test.id: test for phase in phases for test in phase.tests.values()}
    errors = list(dict.fromkeys(error for phase in phases for error in phase.errors))
    load = os.getloadavg()[0]
    unsure = [flaky.entry(id, tests[id].why, seed(), load) for id, passed in again.items() if passed]
    failed = [test for test in tests.values() if test.outcome in FAILED and not again.get(test.id)]
    count = {what: sum(test.outcome == what for test in tests.values()) for what in ("passed", "skipped")}
    if not tests:
        errors.append("no test ran")
    flaky.write(unsure, PLACE / "flaky.json")
    summary = {
        "minutes": {phase.name: round(phase.seconds / 60, 2) for phase in phases} | {"all": round(took / 60, 2)},
        "seed": seed(),
        "tests": sorted(tests),
        "flaky": unsure,
        "failed": [{"test": test.id, "why": test.why} for test in failed],
        "errors": errors,
        "slowest files, seconds": {file: round(seconds, 1) for file, seconds in slowest(phases)},
    }
    (PLACE / "gate.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    print("\ngate: " + ", ".join(f"{name} {minutes:.1f} min" for name, minutes in summary["minutes"].items()))
    if stale := oldest_first(course.load(name) for name in course.files()):
        numbers = ", ".join(lesson.number for lesson in stale)
        print(f"gate: {len(stale)} lessons proved with earlier code ({numbers}): bugzoo lessons check --stale")
    for entry in unsure:
        print(f"FLAKY {entry['test']} (seed {entry['seed']}, load {entry['load']}): {entry['why'][:200]}")
        print(f"  for tests/flaky.md: {flaky.row(entry)}")
    for error in errors[:SHOWN]:
        print(f"ERROR {error[:300]}")
    for test in failed[:SHOWN]:
        print(f"FAILED {test.id}\n  {test.why[:300]}\n  see it alone: {running.command(test.id)}")
    if len(failed) > SHOWN:
        print(f"... and {len(failed) - SHOWN} more: artefacts/gate.json")
    passed = count["passed"] + len(unsure)
    wrong = max(len(failed), 1 if errors else 0)
    print(f"{passed} passed, {wrong} failed, {count['skipped']} skipped", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    shutil.rmtree(PLACE / "again", ignore_errors=True)
    sys.exit(main())
