"""Ten crashes: of the facts that a repair needs, how many stand in the traceback, in torch's own hints, and in checkup?

    python -m tests.benchmarks.crashes [--save]

The scripts are in `tests/corpus/crashes`, the facts, as patterns, in the corpus's manifest. A traceback is all that the
interpreter prints; torch's hints are what it prints with anomaly detection on, as its messages advise; checkup is what
`bugzoo checkup` says first.
"""

import os
import re
import subprocess
import sys

from bugzoo.diagnostics.checkup import checkup
from tests.benchmarks.report import parser, save
from tests.corpus import Script, scripts


def printed(script: Script, anomaly: bool) -> str:
    """All that the interpreter prints, with anomaly detection or without."""
    start = "import runpy, torch; " + ("torch.autograd.set_detect_anomaly(True); " if anomaly else "")
    command = [sys.executable, "-c", f"{start}runpy.run_path({str(script.path)!r}, run_name='__main__')"]
    process = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
    return process.stdout + process.stderr


def checked(script: Script) -> str:
    """Reason and place of the first suspect; where there is none, what was said in its stead."""
    checkup_report = checkup(script.path)
    first = checkup_report.suspects[0] if checkup_report.suspects else None
    if first is None:
        return checkup_report.why
    line = script.text.splitlines()[first.line - 1].strip() if first.line else ""
    return f"{first.reason}; line {first.line}: {line}"


def measure() -> dict[str, dict[str, int]]:
    """Script -> facts, and how many of them each of the three holds."""
    rows = {}
    for script in scripts("crashes"):
        texts = {
            "traceback": printed(script, False),
            "with anomaly detection": printed(script, True),
            "checkup": checked(script),
        }
        rows[script.name] = {"facts": len(script.facts)} | {
            kind: sum(bool(re.search(pattern, text)) for pattern in script.facts.values())
            for kind, text in texts.items()
        }
        print(f"{script.name}: {rows[script.name]}", flush=True)
    rows["all"] = {kind: sum(row[kind] for row in rows.values()) for kind in next(iter(rows.values()))}
    return rows


def main() -> None:
    options = parser(__doc__).parse_args()
    rows = measure()
    print(f"\nfacts that a repair needs: {rows['all']}")
    if options.save:
        save("crashes", rows)


if __name__ == "__main__":
    main()
