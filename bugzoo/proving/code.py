"""Hashes of the code that a proof depends on, read from the files so that no check has to import torch."""

import hashlib
import pkgutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from bugzoo import diagnostics
from bugzoo.fingerprint import code_of

CORE = (
    "bugzoo.running.worker:run_worker",
    "bugzoo.running.supervisor:supervise",
    "bugzoo.running.zygote:serve",
    "bugzoo.running.child:enter",
    "bugzoo.diagnostics:measure_all",
)
"""Entry points of the code that every run needs, whatever is measured."""
ASIDE = frozenset(
    f"bugzoo.running.{one}" for one in ("isolation", "identity", "mounts", "overlay", "keeping", "outward", "writes")
) | {"bugzoo.withheld"}
"""The sandbox for other people's code and the overlay for a user's own; our programs use neither."""


TEXTS = frozenset(
    f"bugzoo.{room}" for room in ("scenario", "injection", "syntax", "faults", "programs", "diagnostics.causes")
)
"""Code that builds the graded texts and names the causes; keys hold its results instead."""
SAID = frozenset(f"bugzoo.grading.{one}" for one in ("lines", "reasons", "symptoms", "alarms", "groups"))
"""Code that only words a verdict. No grade depends on it."""
SCREEN = (
    frozenset(
        f"bugzoo.{room}" for room in ("running", "watching", "rerun", "diagnostics", "plots", "views", "interview")
    )
    | TEXTS
)
"""Code behind a notebook's cells that never learns which fault it is."""


_about_alone = ContextVar("about_alone", default=False)


@contextmanager
def about_alone() -> Iterator[None]:
    """Within the block the hashes below are empty, so that keys say only what was proved, and take no seconds."""
    before = _about_alone.set(True)
    try:
        yield
    finally:
        _about_alone.reset(before)


def core() -> str:
    """Return the hash of the code that runs and watches."""
    if _about_alone.get():
        return ""
    return code_of(*CORE, without=ASIDE)


def measuring(name: str) -> str:
    """Return the hash of what an instrument's `measure` needs."""
    return code_of(f"bugzoo.diagnostics.{name}:measure")


def judging(name: str) -> str:
    """Return the hash of what an instrument's `judge` needs."""
    return code_of(f"bugzoo.diagnostics.{name}:judge")


def grading() -> str:
    """Return the hash of the code that runs, measures and judges a submission."""
    return "" if _about_alone.get() else _grading()


@cache
def _grading() -> str:
    roots = [
        "bugzoo.grading.grade:grade_exercise",
        "bugzoo.grading.quick:quick",
        "bugzoo.grading.inside:examine",
        *CORE,
    ]
    roots += [f"bugzoo.diagnostics.{name}:{part}" for name in diagnostics.names() for part in ("measure", "judge")]
    roots += [f"bugzoo.grading.evaluation.{name}" for name in _below("grading/evaluation")]
    claims = code_of("bugzoo.faults.evidence:parse", "bugzoo.faults.evidence:number")
    kinds = [f"bugzoo.grading.kinds.{name}" for name in _below("grading/kinds")]  # an exercise's kind is looked up
    return short(code_of(*roots, without=TEXTS | SAID), code_of(*kinds, without=TEXTS | SAID | UNGRADED), claims)


UNGRADED = frozenset(
    {"bugzoo.lab", "bugzoo.proving", "bugzoo.grading.kinds.five"}
    | {f"bugzoo.grading.{name}" for name in ("against", "debrief", "notebook", "trials", "workbench")}
)
"""What a kind of exercise asks for besides the grade of a hand-in."""
SHOWN = ("cell", "groups", "workbench", "looks", "healthy", "debrief", "kinds.five.widgets", "kinds.five.runs")
"""Modules of grading whose output a learner sees."""


def showing() -> str:
    """Return the hash of the code whose output a learner sees in an exercise, and of the search for names."""
    return "" if _about_alone.get() else _showing()


@cache
def _showing() -> str:
    others = {f"bugzoo.grading.{name}" for name in _below("grading") if name not in (*SHOWN, "kinds")}
    lab = [f"bugzoo.lab.{name}" for name in _below("lab")]
    return code_of(*lab, *(f"bugzoo.grading.{name}" for name in SHOWN), "bugzoo.proving.leaks", without=SCREEN | others)


def _below(room: str) -> list[str]:
    """Return the names of the modules and folders in a folder of the package."""
    folder = Path(diagnostics.__file__).parent.parent / room
    return sorted(module.name for module in pkgutil.iter_modules([str(folder)]))


def instruments(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return (name, measuring, judging) of each, in alphabetical order."""
    if _about_alone.get():
        return []
    return [(name, measuring(name), judging(name)) for name in sorted(names)]


@cache
def everything() -> frozenset[str]:
    """Return the instruments for every run; those that re-run the script are measured only where they are named."""
    return frozenset(name for name in diagnostics.names() if not diagnostics.declared(name).get("RERUNS"))


def keyed(about: tuple[object, ...], by: tuple[object, ...]) -> str:
    """Return a ledger key in two halves: what was proved (texts, claims, facts), and by which code.

    A change of the second half does not invalidate a proof: `verify` and `check` repeat it, the tests draw a sample.
    """
    return f"{short(*about)}-{short(*by)}"


def about(key: str) -> str:
    """Return the half of a key that says what was proved."""
    return key.split("-")[0]


def short(*parts: object) -> str:
    """Return a hash of 16 characters over everything that an entry depends on, by `repr`."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
