"""The incidents that there are: the history, and each file of `declared/`; making the folder of a declared one."""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bugzoo import faults as catalogue
from bugzoo.errors import UserError, unknown
from bugzoo.incidents import declared, sealed
from bugzoo.incidents.bisecting import NAME as HISTORY
from bugzoo.incidents.bisecting import TICKET, fresh
from bugzoo.incidents.model import DEPTHS, Declared, Question, Told
from bugzoo.incidents.model import declared as as_declared
from bugzoo.incidents.stage import Stage
from bugzoo.scenario import parse_spec

CHAT = "CHAT.md"
Progress = Callable[[int, int], None]


def stems() -> dict[str, str]:
    """Name -> module of each declared incident."""
    found = sorted(info.name for info in pkgutil.iter_modules(declared.__path__) if not info.name.startswith("_"))
    return {stem.replace("_", "-"): stem for stem in found}


def names() -> tuple[str, ...]:
    return (HISTORY, *stems())


def check(name: str) -> None:
    """Raises UserError for an incident that there is not."""
    if name not in names():
        raise unknown("incident", name, names(), "bugzoo incident list")


def load(name: str) -> Declared:
    """A declared incident. Raises UserError for an unknown one."""
    check(name)
    if name == HISTORY:
        raise UserError(
            f"{HISTORY} is written anew for each seed. `bugzoo incident make {HISTORY} DIR` proves it as well."
        )
    return as_declared(importlib.import_module(f"{declared.__name__}.{stems()[name]}"))


def listing() -> list[dict[str, Any]]:
    """Name, number of questions, artefacts and a sentence of each, which tells nothing of its cause."""
    about = "a history of clean-ups, one of which broke the training; any program, fault and seed"
    rows = [{"name": HISTORY, "questions": 1, "artefacts": ["git repository", "JSONL"], "about": about}]
    for name in stems():
        one = load(name)
        rows.append({"name": name, "questions": one.QUESTIONS, "artefacts": list(one.ARTEFACTS), "about": one.ABOUT})
    return rows


def make(name: str, folder: Path, seed: int, progress: Progress | None = None) -> dict[str, Any]:
    """Make the folder of a declared incident from runs; what may be said of it. Raises UserError; then nothing is left."""
    one = load(name)
    with fresh(folder) as place:
        place.mkdir()
        told = played(one, place, seed, progress)
        (place / TICKET).write_text(ticket(told, name), encoding="utf-8")
        (place / CHAT).write_text(chat(told), encoding="utf-8")
        sealed.write(sealed.place(folder), answers(name, one, told))
        files = sorted(file.name for file in place.iterdir())
    return {
        "folder": str(folder),
        "answers": str(sealed.place(folder)),
        "files": files,
        "questions": len(told.questions),
    }


def played(one: Declared, place: Path, seed: int, progress: Progress | None = None) -> Told:
    """The runs of an incident and what they came to, with the artefacts in `place`."""
    of = one.RUNS

    def tell(done: int) -> None:
        if progress:
            progress(min(done, of - 1), of)

    told = one.make(Stage(place, seed, tell))
    if progress:
        progress(of, of)
    return told


def ticket(told: Told, name: str) -> str:
    lines = [told.ticket.strip(), "", "## Questions", ""]
    for number, asked in enumerate(told.questions, 1):
        lines += [f"{number}. ({DEPTHS[asked.depth]}) {asked.text}{_form(asked)}", ""]
    lines += [f"`{CHAT}` is what was said in the night. Not all of it is true.", ""]
    return "\n".join([*lines, "The answers, from this folder: `bugzoo incident check . -q 1 ANSWER`.", ""])


def _form(asked: Question) -> str:
    if asked.kind == "choice":
        return f" One of: {', '.join(asked.choices)}."
    if asked.depth == max(DEPTHS):
        return " The number of a line."
    room = asked.room or (f"{asked.tolerance:g}" if asked.tolerance else "")
    return f" A number, to within {room}." if room else " A number."


def chat(told: Told) -> str:
    return "\n".join(["# The night", "", *(f"**{when} {who}:** {said}\n" for when, who, said in told.chat)])


def answers(name: str, one: Declared, told: Told) -> dict[str, Any]:
    known = [catalogue.load(parse_spec(spec)[0]) for spec in one.FAULTS]
    why = [line for fault in known for line in (f"{fault.title} ({fault.id} in {one.PROGRAM})", fault.why, fault.fix)]
    return {"incident": name, "questions": [asked.to_json() for asked in told.questions], "told": why}
