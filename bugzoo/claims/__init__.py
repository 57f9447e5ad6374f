"""Claims on trial: what textbooks, blogs and colleagues say about training, each tried on our own programs and faults.

A claim is a file of this folder, and putting one here is all that it takes to add it:

    CLAIM = Claim(...)              the sentence, who says it, on what it is tried, what that does not show
    jobs() -> {name: Job}           the runs that it takes; {} where the ledger knows enough
    look(run) -> numbers            what is read off one run
    count(seen) -> numbers          what all runs together say: {name of a run: what `look` read} comes in
    verdict(numbers) -> Finding     "holds", "holds in part" or "does not hold", and a sentence made of the numbers

`bugzoo claims run` measures them and writes `proofs/claims/NAME.json`, from which everybody reads: the table, the page, the
lesson. An entry is believed while the texts that ran are those of today; `verdict` is asked again each time it is read.
"""

import datetime
import importlib
import json
import os
import pkgutil
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import bugzoo
from bugzoo.claims._model import VERDICTS, Claim, Finding, Numbers
from bugzoo.errors import unknown
from bugzoo.fingerprint import code_of
from bugzoo.proving import code, ledger

__all__ = [
    "VERDICTS",
    "Claim",
    "Finding",
    "Row",
    "current",
    "judged",
    "load",
    "measure",
    "names",
    "read",
    "rows",
    "write",
]
KIND = "claims"


def names() -> list[str]:
    """Stems of all claims, in alphabetical order."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def load(name: str) -> ModuleType:
    """A claim's module. Raises UserError with the nearest names for an unknown one."""
    if name not in names():
        raise unknown("claim", name, names(), "bugzoo claims list")
    return importlib.import_module(f"{__name__}.{name}")


def key(name: str) -> str:
    """Everything that a claim's numbers depend on, in two halves: the texts that run, and the code that measures."""
    module, here = load(name), f"{__name__}.{name}"
    texts = sorted((label, job.source) for label, job in module.jobs().items())
    by = code_of(f"{here}:look"), code_of(f"{here}:count")
    return code.keyed((name, texts), (code.core(), *by))


def measure(name: str, fresh: bool = False, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The entry of a claim, measured by real runs. `fresh` believes no run that is kept; `progress(done, of)` counts runs.

    Raises UserError for an unknown name, or where the machine failed.
    """
    from bugzoo.claims._runs import look_at

    module, begun, load_before = load(name), time.monotonic(), os.getloadavg()[0]
    jobs = module.jobs()
    seen, made = look_at(name, jobs, module.look, timed=module.CLAIM.timed, fresh=fresh, progress=progress)
    numbers = ledger.plain(module.count(seen))
    found = module.verdict(numbers)
    return {
        "key": key(name),
        "date": datetime.date.today().isoformat(),
        "with": ledger.environment(),
        "machine": f"{len(os.sched_getaffinity(0))} cores, one thread a run, load {load_before:.1f} before it",
        "system": platform.system(),
        "runs": len(jobs),
        "seconds": round(time.monotonic() - begun, 1) if made == len(jobs) else None,  # of all its runs, or of nothing
        "numbers": numbers,
        "verdict": found.verdict,
        "why": found.why,
    }


def write(name: str, entry: dict[str, Any]) -> None:
    """Put an entry into the ledger, where there is one."""
    ledger.write(KIND, name, entry)


def judged(name: str) -> dict[str, Any]:
    """The entry that is written, with what `verdict` says of its numbers today; nothing is run."""
    entry = read(name)
    found = load(name).verdict(entry["numbers"])
    return entry | {"verdict": found.verdict, "why": found.why}


def read(name: str) -> dict[str, Any]:
    """What is written of a claim, in the ledger or in the wheel; {} where it was never measured."""
    if entry := ledger.read(KIND, name):
        return entry
    shipped = Path(bugzoo.__file__).parent / "proofs" / KIND / f"{name}.json"
    return json.loads(shipped.read_text(encoding="utf-8")) if shipped.is_file() else {}


def current(name: str) -> bool:
    """Were the texts that ran those of today?"""
    return code.about(read(name).get("key", "")) == code.about(key(name))


@dataclass(frozen=True)
class Row:
    """A claim beside what was measured of it; `finding` is None where nothing was."""

    name: str
    claim: Claim
    entry: dict[str, Any]
    finding: Finding | None

    def to_json(self) -> dict[str, Any]:
        """As `bugzoo claims --json` prints it."""
        claim, entry = self.claim, self.entry
        measured = {part: entry.get(part) for part in ("date", "with", "machine", "runs", "seconds", "numbers")}
        found = {"verdict": self.finding and self.finding.verdict, "why": self.finding and self.finding.why}
        about = {"said": claim.said, "by": claim.by, "url": claim.url, "tried": claim.tried, "limits": claim.limits}
        return {"id": self.name, **about, **found, **measured}


def rows(chosen: list[str] | None = None) -> list[Row]:
    """Claims, all by default, beside what is written of them. Raises UserError for an unknown name."""
    found = []
    for name in chosen or names():
        module, entry = load(name), read(name)
        numbers: Numbers | None = entry.get("numbers")
        found.append(Row(name, module.CLAIM, entry, None if numbers is None else module.verdict(numbers)))
    return found
