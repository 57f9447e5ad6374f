"""Ten crashes: of the facts that a repair needs, how many stand in the traceback, in torch's own hints, and in checkup?

    python -m tests.benchmarks.crashes [--save]

The scripts and the facts, as patterns, are in `tests/corpus/crashes`. A traceback is all that the interpreter prints; torch's
hints are what it prints with anomaly detection on, as its messages advise; checkup is what `bugzoo checkup` says first.
"""

import os
import re
import subprocess
import sys

from bugzoo.diagnostics.checkup import checkup
from tests.benchmarks.report import parser, save
from tests.corpus.crashes import FACTS, FOLDER


def printed(name: str, anomaly: bool) -> str:
    """All that the interpreter prints, with anomaly detection or without."""
    start = "import runpy, torch; " + ("torch.autograd.set_detect_anomaly(True); " if anomaly else "")
    command = [sys.executable, "-c", f"{start}runpy.run_path({str(FOLDER / name)!r} + '.py', run_name='__main__')"]
    found = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
    return found.stdout + found.stderr


def checked(name: str) -> str:
    """Reason and place of the first suspect; where there is none, what was said in its stead."""
    found = checkup(FOLDER / f"{name}.py")
    first = found.suspects[0] if found.suspects else None
    if first is None:
        return found.why
    line = (
        (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()[first.line - 1].strip() if first.line else ""
    )
    return f"{first.reason}; line {first.line}: {line}"


def measure() -> dict[str, dict[str, int]]:
    """Script -> facts, and how many of them each of the three holds."""
    rows = {}
    for name, facts in FACTS.items():
        texts = {
            "traceback": printed(name, False),
            "with anomaly detection": printed(name, True),
            "checkup": checked(name),
        }
        rows[name] = {"facts": len(facts)} | {
            kind: sum(bool(re.search(pattern, text)) for pattern in facts.values()) for kind, text in texts.items()
        }
        print(f"{name}: {rows[name]}", flush=True)
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
