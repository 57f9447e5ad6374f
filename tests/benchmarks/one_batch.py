"""Does "overfit one batch" catch most bugs, as is often said? Read from the ledger; nothing is run. Prints a table.

    python -m tests.benchmarks.one_batch [--save]

The counting is that of `bugzoo.claims.one_batch_catches_most`, whose docstring says what counts as caught; here it is shown
family by family.

Three limits. It fires where the loss on that batch stands still above half of where it began, or is lost: who asks for a
loss of zero sees more, and would blame healthy runs as well. The faults are those of this catalogue, which is no sample of
the mistakes that people make. And `five_minute_checklist`, the other recipe, is not among them: a proof asks it only where
a fault's evidence names it, as it runs a script five times more.
"""

from collections.abc import Mapping

from bugzoo.claims.one_batch_catches_most import ASKED, proved
from bugzoo.claims.one_batch_catches_most import table as count
from tests.benchmarks import report


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
    rows = count(proved())
    print(table(rows))
    if options.save:
        report.save("one_batch", rows)


if __name__ == "__main__":
    main()
