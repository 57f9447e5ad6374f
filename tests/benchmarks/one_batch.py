"""Does "overfit one batch" catch most bugs, as is often said? Read from the ledger; nothing is run. Prints a table.

    python -m tests.benchmarks.one_batch [--save]

Of each proved pair of fault and program the ledger holds which instruments fired on the first seed; `overfit_one_batch` runs
the program's own step again and again on its first batch. A fault counts as caught where that fires on at least half of its
programs. Pairs in which it could not look (the script broke before a step, ranks) count as not caught by it: there a crash or
a rank tells. Beside it what the plain loss curve alone shows, and whether any instrument fires. Traps, in which nothing is
wrong, are left out.

Three limits. It fires where the loss on that batch stands still above half of where it began, or is lost: who asks for a
loss of zero sees more, and would blame healthy runs as well. The faults are those of this catalogue, which is no sample of
the mistakes that people make. And `five_minute_checklist`, the other recipe, is not among them: a proof asks it only where
a fault's evidence names it, as it runs a script five times more.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from bugzoo import faults
from bugzoo.proving import ledger
from tests.benchmarks import report

ASKED = ("overfit_one_batch", "loss_curve")
COLUMNS = ("faults", "pairs", *ASKED, "faults caught", "any instrument")


def count(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """{family, and "all": {column of COLUMNS: count}} of {fault: {program: cell}}; ASKED count pairs."""
    rows: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COLUMNS, 0))
    for fault, cells in entries.items():
        fired = [set(cell["fired"]) for cell in cells.values() if not cell["problems"]]
        if not fired:
            continue
        for row in (rows[fault.split("/")[0]], rows["all"]):
            row["faults"] += 1
            row["pairs"] += len(fired)
            row["any instrument"] += sum(map(bool, fired))
            for name in ASKED:
                row[name] += sum(name in names for names in fired)
            row["faults caught"] += 2 * sum(ASKED[0] in names for names in fired) >= len(fired)
    return {name: row for name, row in rows.items() if name != "all"} | {"all": rows["all"]}


def table(rows: Mapping[str, Mapping[str, int]]) -> str:
    heads = ("pairs", "one batch", "loss curve", "any", "faults", "one batch")
    lines = [f"{'':18}" + "".join(f"{name:>12}" for name in heads)]
    for family, row in rows.items():
        parts = [f"{row[name]} {100 * row[name] / max(1, row['pairs']):.0f}%" for name in (*ASKED, "any instrument")]
        caught = f"{row['faults caught']} {100 * row['faults caught'] / max(1, row['faults']):.0f}%"
        lines.append(f"{family:18}" + "".join(f"{text:>12}" for text in (row["pairs"], *parts, row["faults"], caught)))
    return "\n".join(lines)


def main() -> None:
    options = report.parser(__doc__).parse_args()
    catalogue = faults.catalogue()
    names = [name for name in ledger.names("faults") if name in catalogue and not name.startswith("traps/")]
    rows = count({name: ledger.read("faults", name).get("cells", {}) for name in names})
    print(table(rows))
    if options.save:
        report.save("one_batch", rows)


if __name__ == "__main__":
    main()
