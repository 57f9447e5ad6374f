"""The key of a lesson's proof, in two halves like all others: what was proved, and the code that the run reached.

The first half holds the code of its cells, the numbers of its text with their names, its questions' right answers, the causes
and tests that its cases offer, and what its run opened (`opened`). A reworded sentence changes neither half. Where the second
half differs, the proof is *stale*: `bugzoo lessons check --stale` runs it again.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import bugzoo
from bugzoo.course.questions import Choices, Match, Number, Order, Question
from bugzoo.course.source import Lesson
from bugzoo.errors import UserError
from bugzoo.fingerprint import code_by_module, defines, dumped, used_by
from bugzoo.proving import code, ledger, opened

CELLS = ("code", "task", "solution", "judge", "keep", "proof", "measured", "case")
"""Kinds of cells that run, or say what runs."""
FRONT = frozenset(f"bugzoo.lab.{room}" for room in ("jupyter", "front"))
"""Code that runs in a browser's page or beside it; a proof runs without one."""


def about(lesson: Lesson, found: Mapping[str, list[Any]]) -> str:
    """Return the first half. `found`: what the run opened. A part that is no longer there gives another half, too."""
    cells = [(cell.kind, cell.key, _code(cell.text) if cell.kind != "case" else cell.text) for cell in _running(lesson)]
    claims = sorted({(claim.shown, claim.name) for claim in lesson.claims})
    answers = [(name, _right(question)) for name, question in lesson.questions.items()]
    try:
        contents = [*opened.contents(found), *map(_offered, lesson.cases.values())]
    except UserError as error:
        contents = [str(error)]
    return code.short(cells, claims, answers, sorted(lesson.drawings), contents)


def reached(lesson: Lesson, found: Mapping[str, list[Any]]) -> list[str]:
    """Return "module hash" for each module of this package whose code the run may have reached: the second half."""
    text = "\n".join(cell.text for cell in _running(lesson) if cell.kind != "case")
    roots = [*map(_root, used_by(text)), *opened.roots(found), *code.CORE]
    hashes = code_by_module(*roots, without=code.TEXTS | FRONT | code.ASIDE)
    return [f"{module.removeprefix('bugzoo.')} {digest[:8]}" for module, digest in sorted(hashes.items())]


def entry(lesson: Lesson, found: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return what the ledger keeps of a key."""
    modules = reached(lesson, found)
    return {"key": f"{about(lesson, found)}-{code.short(modules)}", "opened": found, "code": modules}


def proved(lesson: Lesson) -> bool:
    """Return whether the ledger's proof is about what the lesson says, runs and opens today."""
    proof = ledger.read("lessons", lesson.file.stem)
    return "key" in proof and code.about(proof["key"]) == about(lesson, proof["opened"])


def stale(lesson: Lesson) -> list[str]:
    """Return the modules that a proved lesson's run reached and that have changed since, without the package's name."""
    proof = ledger.read("lessons", lesson.file.stem)
    if "code" not in proof:
        return []
    changed = set(proof["code"]) ^ set(reached(lesson, proof["opened"]))
    return sorted({part.split()[0] for part in changed})


def oldest_first(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Return the lessons that are proved with earlier code, the oldest proof first."""
    old = [lesson for lesson in lessons if proved(lesson) and stale(lesson)]
    return sorted(old, key=lambda lesson: str(ledger.read("lessons", lesson.file.stem).get("date")))


def why_stale(lesson: Lesson) -> str:
    """Return which code has changed since a lesson was proved, in one sentence; "" where none has."""
    modules = stale(lesson)
    if not modules:
        return ""
    more = f" and {len(modules) - 3} more" if len(modules) > 3 else ""
    since = ledger.read("lessons", lesson.file.stem)["date"]
    return f"{', '.join(modules[:3])}{more} changed since {since}"


def _running(lesson: Lesson) -> list[Any]:
    return [cell for cell in lesson.cells if cell.kind in CELLS]


def _code(text: str) -> str:
    """Return a cell's code without comments; its magics, which stand in comments, stay."""
    return "\n".join([*re.findall(r"(?m)^# (%{1,2}\w.*|!\w.*)", text), dumped(text)])


def _root(place: tuple[str, str | None]) -> str:
    """Return the root for a name that a cell uses; the whole module where it looks the name up at run time."""
    module, name = place
    if module == "bugzoo" and name in bugzoo._HOMES:
        module = bugzoo._HOMES[name]
    return f"{module}:{name}" if name and defines(module, name) else module


def _right(question: Question) -> object:
    """Return what counts as right, without its wording."""
    if isinstance(question, Choices):
        return [right for _, _, right in question.answers]
    if isinstance(question, Number):
        return [(near.value, near.within) for near in (question.right, *question.known)]
    if isinstance(question, Match):
        return len(question.pairs)
    return len(question.items) if isinstance(question, Order) else None


def _offered(case: tuple[str, tuple[str, ...]]) -> object:
    """Return the causes and tests from which a learner chooses in a case's form."""
    from bugzoo.lab.choice import about as asked
    from bugzoo.scenario import Scenario

    scenario = Scenario(*case)
    return [[answer.text for answer in asked(scenario, what).answers] for what in ("cause", "test")] if case[1] else []
