"""How many faults does "overfit one batch" catch?

Of each proved pair of fault and program the ledger holds which instruments fired on the first seed; `overfit_one_batch` runs
the program's own step again and again on its first batch. A fault counts as caught where that fires on at least half of its
programs. Pairs in which it could not look (the script broke before a step, ranks) count as not caught by it: there a crash or
a rank tells. Beside it what the plain loss curve alone shows, and whether any instrument fires. Traps, in which nothing is
wrong, are left out.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from bugzoo import faults
from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.proving import ledger
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="Overfitting one batch catches 80 % of the bugs.",
    by="The share is folklore; the test, as a high-signal first step, is taught by Full Stack Deep Learning and Karpathy",
    url="https://karpathy.github.io/2019/04/25/recipe/",
    tried=(
        "Read from the ledger, nothing is run: every proved pair of fault and program of the catalogue. A fault counts as "
        "caught where the test fires on at least half of its programs. It holds from 70 % on, in part from 40 %."
    ),
    limits=(
        "The faults are those of this catalogue, which is no sample of the mistakes that people make. The test fires where the "
        "loss on the batch stands still above half of where it began, or is lost: who asks for a loss of zero sees more, and "
        "blames healthy runs as well."
    ),
)
ASKED = ("overfit_one_batch", "loss_curve")
COLUMNS = ("faults", "pairs", *ASKED, "faults caught", "any instrument")


def jobs() -> dict[str, Job]:
    """None: the ledger knows."""
    return {}


def look(run: Run) -> Numbers:
    """Nothing is run."""
    return {}


def table(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, int]]:
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


def proved() -> dict[str, Mapping[str, Any]]:
    """The cells of the ledger, of every fault that is one."""
    known = faults.catalogue()
    names = [name for name in ledger.names("faults") if name in known and not name.startswith("traps/")]
    return {name: ledger.read("faults", name).get("cells", {}) for name in names}


def count(seen: Seen) -> Numbers:
    """The table's last row, and the share of caught faults in each family."""
    rows = table(proved())
    families = {name: row["faults caught"] / row["faults"] for name, row in rows.items() if name != "all"}
    return {"all": rows["all"], "caught_share": families}


def verdict(numbers: Numbers) -> Finding:
    """By the share of faults that it catches."""
    every = numbers["all"]
    share = every["faults caught"] / every["faults"]
    silent = [name for name, caught in numbers["caught_share"].items() if not caught]
    kind = HOLDS if share >= 0.7 else PART if share >= 0.4 else NOT
    return Finding(
        kind,
        f"It catches {every['faults caught']} of {every['faults']} faults ({share:.0%}) and fires on {every[ASKED[0]]} of "
        f"{every['pairs']} pairs of fault and program ({every[ASKED[0]] / every['pairs']:.0%}); the plain loss curve on "
        f"{every[ASKED[1]]}. In {len(silent)} of {len(numbers['caught_share'])} families it catches none "
        f"({', '.join(silent[:4])} ...).",
        "What spoils data, evaluation or speed lets a batch be learnt.",
    )
