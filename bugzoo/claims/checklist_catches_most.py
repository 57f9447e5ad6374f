"""How many faults does a checklist before training catch?

Of each proved pair of fault and program the ledger holds which instruments fired on the first seed. Five of them are what a
checklist asks: the first loss against that of guessing, whether each parameter moves, whether an answer depends on its own
sample alone, what the batch holds, and whether one batch can be learnt. A fault counts as caught where one of them fires on at
least half of its programs. Beside it those that stop by themselves, with a message. Traps are left out: there nothing is wrong.
"""

from collections.abc import Mapping
from typing import Any

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims.one_batch_catches_most import proved
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="A checklist of five minutes before training catches most bugs.",
    by="That it catches most is folklore; the checks are those of Karpathy's recipe",
    url="https://karpathy.github.io/2019/04/25/recipe/",
    tried=(
        "Read from the ledger, nothing is run: every proved pair of fault and program of the catalogue, and five instruments: "
        "first loss, what moves, company, the batch, one batch learnt. A fault counts as caught where one of them fires on at "
        "least half of its programs. It holds from 70 % on, in part from 40 %."
    ),
    limits=(
        "The faults are those of this catalogue, which is no sample of the mistakes that people make: many of them are about "
        "speed, memory, evaluation or several processes. An instrument is shyer than an eye, which sees more in a batch."
    ),
)
CHECKS = {
    "first loss": "initial_loss",
    "what moves": "parameter_audit",
    "company": "company",
    "the batch": "data_inspection",
    "one batch learnt": "overfit_one_batch",
}


def jobs() -> dict[str, Job]:
    """None: the ledger knows."""
    return {}


def look(run: Run) -> Numbers:
    """Nothing is run."""
    return {}


def caught_by(cells: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], bool] | None:
    """(checks that fire on at least half of a fault's programs, together as one: "any"; whether it stops there by itself).

    None for a fault that is proved nowhere.
    """
    fired = [set(cell["fired"]) for cell in cells.values() if not cell["problems"]]
    if not fired:
        return None

    def often(names: set[str]) -> bool:
        return 2 * sum(bool(names & found) for found in fired) >= len(fired)

    checks = [name for name, instrument in CHECKS.items() if often({instrument})]
    return checks + ["any"] * often(set(CHECKS.values())), often({"crash"})


def table(entries: Mapping[str, Mapping[str, Any]]) -> Numbers:
    """Counts of faults: in all, for each check, and for each family [caught, stops by itself and is not caught, all]."""
    every: Numbers = {"faults": 0, "caught": 0, "stops": 0, "caught by one check alone": 0}
    checks, families = dict.fromkeys(CHECKS, 0), {}
    for fault, cells in entries.items():
        if (found := caught_by(cells)) is None:
            continue
        names, stops = found
        row = families.setdefault(fault.split("/")[0], [0, 0, 0])
        caught = "any" in names
        stops = stops and not caught
        for at, counted in enumerate((caught, stops, True)):
            row[at] += counted
        every["faults"] += 1
        every["caught"] += caught
        every["stops"] += stops
        every["caught by one check alone"] += len(names) == 2
        for name in names[:-1]:
            checks[name] += 1
    return {"all": every, "checks": checks, "families": families}


def count(seen: Seen) -> Numbers:
    """Of the whole ledger."""
    return table(proved())


def verdict(numbers: Numbers) -> Finding:
    """By the share of faults that it catches."""
    every, families = numbers["all"], numbers["families"]
    share = every["caught"] / every["faults"]
    silent = [name for name, (caught, *_) in families.items() if not caught]
    kind = HOLDS if share >= 0.7 else PART if share >= 0.4 else NOT
    each = ", ".join(f"{name} {many}" for name, many in numbers["checks"].items())
    return Finding(
        kind,
        f"Five checks together catch {every['caught']} of {every['faults']} faults ({share:.0%}): {each}. "
        f"{every['stops']} more stop by themselves. In {len(silent)} of {len(families)} families it catches none "
        f"({', '.join(silent[:4])} ...).",
        "What it catches costs five minutes in place of a night; what it cannot see begins later, or elsewhere.",
    )
