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
from tests.corpus.case import SCRIPTS
from tests.corpus.cases import TRAPS, healthy
from tests.corpus.reported import reported
from tests.corpus.unseen import unseen


def scripts(folder: Path) -> Iterator[tuple[Path, int]]:
    """(path, ranks) of each healthy script; variants are written into `folder`."""
    yield from ((SCRIPTS / f"{name}.py", 1) for name in healthy())
    for place, case in enumerate(TRAPS):
        path = folder / f"trap_{place}.py"
        path.write_text(case.source, encoding="utf-8")
        yield path, 1
    yield from ((case.path, case.ranks) for case in unseen() if case.cause is None)
    yield from ((case.path, 1) for case in reported() if case.cause is None and not case.sealed)


def measure(folder: Path) -> dict[str, dict[str, int]]:
    """{instrument: {"scripts", "applied", "fired"}}"""
    rows = {name: {"scripts": 0, "applied": 0, "fired": 0} for name in diagnostics.names()}
    for path, ranks in scripts(folder):
        found = checkup(path, ranks=ranks)
        judged = {verdict.instrument: verdict.fired for verdict in found.verdicts}
        for name, row in rows.items():
            row["scripts"] += 1
            row["applied"] += name in judged
            row["fired"] += judged.get(name, False)
        alarms = [name for name, fired in judged.items() if fired]
        print(f"{path.stem}: {', '.join(alarms) or 'quiet'}", flush=True)
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
