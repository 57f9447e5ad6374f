"""One line on a run of the gate, from what it left in artefacts/: for tests/benchmarks/results/gate.md.

    python -m tests.benchmarks.gate [--how "fresh clone, alone"] [ARTEFACTS]

Two runs with the same hash ran the same tests by name.
"""

import argparse
import hashlib
import json
import subprocess
from datetime import date
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gate", description=__doc__.split("\n\n")[0])
    parser.add_argument("artefacts", nargs="?", default="artefacts", type=Path)
    parser.add_argument("--how", default="alone", help="what else the machine had to do")
    parser.add_argument("--slowest", action="store_true", help="the twenty slowest files instead")
    args = parser.parse_args()
    summary = json.loads((args.artefacts / "gate.json").read_text(encoding="utf-8"))
    if args.slowest:
        for file, seconds in summary["slowest files, seconds"].items():
            print(f"| {file} | {seconds:.0f} |")
        return
    commit = ["git", "-C", str(args.artefacts.resolve().parent), "log", "-1", "--format=%h"]
    commit = subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip()
    names = hashlib.sha256("\n".join(summary["tests"]).encode()).hexdigest()[:12]
    minutes = ", ".join(f"{name} {value:.1f}" for name, value in summary["minutes"].items())
    failed = f"{len(summary['failed']) + len(summary['errors'])} failed, {len(summary['flaky'])} flaky"
    print(f"| {date.today()} | {commit} | {args.how} | {minutes} | {len(summary['tests'])} ({names}) | {failed} |")


if __name__ == "__main__":
    main()
