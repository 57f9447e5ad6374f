"""Which rules of the instruments are needed by one script alone? Read from the ledger and the texts; nothing is run.

    python -m tests.benchmarks.rules [--save]

A rule is a pair of an instrument and a cause that it may name, read from the text of its `judge`. It is used by a program where
the instrument fired on all that the ledger holds as proved of that cause there, and by a script of tests/foreign where the
cause is what is wrong with it. (Of the scripts it is not known which instrument named it, so that all of a cause's instruments
get the credit; the sealed half of the reports is left out.) What one program or one script alone needs is a rule that was made
for it, or one whose fault no other program has; what none needs explains a crash or another cause, or is not proved.
"""

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator

from bugzoo import faults
from bugzoo.diagnostics import instrument, names
from bugzoo.proving import ledger
from tests.benchmarks import report
from tests.foreign.cases import BROKEN
from tests.foreign.reported import reported
from tests.foreign.unseen import unseen

Rule = tuple[str, str]


def rules() -> set[Rule]:
    """(instrument, cause) of each cause of the catalogue that an instrument's text names as a suspect."""
    known = set(faults.catalogue())
    found = set()
    for name in names():
        for node in ast.walk(ast.parse(inspect.getsource(instrument(name)))):
            if isinstance(node, ast.Constant) and node.value in known:
                found.add((name, str(node.value)))
    return found


def cells() -> Iterator[tuple[str, str, list[str]]]:
    """(fault, program, instruments that fired) of what is proved."""
    for fault in ledger.names("faults"):
        for program, cell in ledger.read("faults", fault).get("cells", {}).items():
            if not cell.get("problems"):
                yield fault, program, list(cell.get("fired", ()))


def scripts() -> Iterator[tuple[str, str]]:
    """(cause, script) of those whose cause may be told."""
    yield from ((case.cause, case.name) for case in BROKEN)
    yield from ((one.cause, one.path.stem) for one in unseen() if one.cause)
    yield from ((case.cause, case.path.stem) for case in reported() if case.cause and not case.sealed)


def count() -> dict[Rule, set[str]]:
    """Rule -> programs and scripts that use it."""
    used: dict[Rule, set[str]] = {rule: set() for rule in rules()}
    by_cause = defaultdict(set)
    for cause, script in scripts():
        by_cause[cause].add(script)
    for fault, program, fired in cells():
        for name in fired:
            if (name, fault) in used:
                used[name, fault].add(program)
    for name, cause in used:
        used[name, cause] |= by_cause[cause]
    return used


def main() -> None:
    options = report.parser(__doc__).parse_args()
    used = count()
    sizes = {rule: len(who) for rule, who in used.items()}
    print(f"{len(used)} rules of {len(names())} instruments")
    for many, text in ((0, "used by nothing"), (1, "used by one program or script")):
        few = sorted(rule for rule, size in sizes.items() if size == many)
        print(f"\n{text}: {len(few)}")
        for name, cause in few:
            print(f"  {name:26}{cause:44}{', '.join(used[name, cause])}")
    if options.save:
        by_size = {str(size): sum(one == size for one in sizes.values()) for size in sorted(set(sizes.values()))}
        alone = {f"{name}: {cause}": sorted(who) for (name, cause), who in sorted(used.items()) if len(who) < 2}
        report.save("rules", {"rules": len(used), "by users": by_size, "fewer than two": alone})


if __name__ == "__main__":
    main()
