"""How often does each instrument fire on a healthy script? Prints a table, and writes what the pages of instruments say.

    python -m tests.benchmarks.false_positives [--save]

Every healthy script in other styles runs once under `checkup`: those that it was made with, those that look wrong, the unseen
ones, and the opened half of those rebuilt from reports. With --save the counts go to `proofs/healthy_scripts.json`.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bugzoo import diagnostics
from bugzoo.diagnostics.checkup import checkup
from bugzoo.proving import ledger
from tests.benchmarks import report as reports
from tests.corpus import Script, scripts, variants


def healthy(folder: Path) -> Iterator[Script]:
    """Yield each healthy script; variants are written into `folder`."""
    for script in (*scripts("scripts"), *variants(), *scripts("unseen", "reported")):
        if not (script.faulty or script.sealed):
            yield script.placed(folder)


def measure(folder: Path) -> dict[str, dict[str, int]]:
    """{instrument: {"scripts", "applied", "fired"}}"""
    rows = {name: {"scripts": 0, "applied": 0, "fired": 0} for name in diagnostics.names()}
    for script in healthy(folder):
        checkup_report = checkup(script.path, ranks=script.ranks)
        judged = {verdict.instrument: verdict.fired for verdict in checkup_report.verdicts}
        for name, row in rows.items():
            row["scripts"] += 1
            row["applied"] += name in judged
            row["fired"] += judged.get(name, False)
        alarms = [name for name, fired in judged.items() if fired]
        print(f"{script.name}: {', '.join(alarms) or 'quiet'}", flush=True)
    return rows


def main() -> None:
    arguments = reports.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder))
    print(f"{'instrument':26}{'scripts':>8}{'applied':>9}{'fired':>7}")
    for name, row in rows.items():
        print(f"{name:26}{row['scripts']:>8}{row['applied']:>9}{row['fired']:>7}")
    if arguments.save:
        place = ledger.home()
        assert place is not None
        (place / "healthy_scripts.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
