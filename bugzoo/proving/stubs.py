"""`bugzoo new KIND`: the file of a fault, program, instrument, exercise or lesson, which works as it is and is to be changed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bugzoo
from bugzoo import course, diagnostics, faults, programs
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.proving.stub_texts import EXERCISE, FAULT, INSTRUMENT, LESSON

_PLAIN = re.compile(r"[a-z][a-z0-9_]*")
_FAULT = re.compile(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*")
_NUMBERED = re.compile(r"(\d\d)_[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Kind:
    """One kind of thing: where its file goes, what its names look like, what stands in it, what to type next."""

    place: Callable[[str], Path]
    name: re.Pattern[str]
    example: str
    text: Callable[[str], str]
    then: tuple[str, ...]


def _home(*parts: str) -> Path:
    return Path(bugzoo.__file__).parent.joinpath(*parts)


def _said(name: str) -> str:
    return (
        name.partition("_")[2].replace("_", " ").capitalize()
        if name[0].isdigit()
        else name.replace("_", " ").capitalize()
    )


def _program(name: str) -> str:
    """The shortest program's text, to be changed section by section: the phrases of the others are in it."""
    return min((programs.load(one).source for one in ("mlp", "regression_mlp")), key=len)


KINDS: dict[str, Kind] = {
    "program": Kind(
        lambda name: _home("programs", f"{name}.py"),
        _PLAIN,
        "tabular_mlp",
        _program,
        (
            "change it section by section, and keep the phrases of the other programs for the same step",
            "pytest tests/programs: is it healthy on three seeds?",
            "bugzoo verify --program {name}: does any instrument fire on it?",
        ),
    ),
    "instrument": Kind(
        lambda name: _home("diagnostics", f"{name}.py"),
        _PLAIN,
        "loss_gain",
        lambda name: INSTRUMENT.format(name=name, question=_said(name)),
        (
            "its first line is the question that it answers",
            "pytest tests/diagnostics: quiet on HEALTHY, loud on SICK?",
            "bugzoo verify: quiet on every healthy program?",
        ),
    ),
    "exercise": Kind(
        lambda name: _home("grading", "exercises", f"e{name}.py"),
        _NUMBERED,
        "08_slow_start",
        lambda name: EXERCISE.format(title=_said(name)),
        (
            "write the story; the name tells the topic and never the fault",
            "bugzoo exercises build: makes the notebook and its solution",
            "bugzoo check {name}: is it proved both ways?",
        ),
    ),
    "lesson": Kind(
        lambda name: _home("lessons", f"{name}.py"),
        _NUMBERED,
        "04_silent_bugs",
        lambda name: LESSON.format(title=_said(name), number=name[:2]),
        (
            "write it; CONTRIBUTING.md says what a lesson has, and lesson 03 is the example",
            "bugzoo lessons build: makes the notebook",
            "bugzoo lessons check {name}: is every number so?",
        ),
    ),
}


def write(kind: str, name: str) -> Path:
    """Write the file of a new thing of one of KINDS; nothing that exists is overwritten. Raises UserError."""
    one = KINDS[kind]
    if not one.name.fullmatch(name):
        raise UserError(f"{name!r} is no name for {_a(kind)}; write it like {one.example}, in lower case.")
    path = one.place(name)
    if path.exists() or name in _taken(kind):
        raise UserError(f"There is {_a(kind)} {name}; choose another name. `bugzoo list` shows what there is.")
    if kind in ("exercise", "lesson") and (same := [other for other in _taken(kind) if other[:3] == name[:3]]):
        raise UserError(f"{same[0]} has the number {name[:2]}; choose another one.")
    write_atomic(path, one.text(name))
    return path


def write_fault(name: str, folder: Path | None = None) -> Path:
    """Write `<folder>/<family>/<name>.py`; nothing that exists is overwritten. Raises UserError."""
    if not _FAULT.fullmatch(name):
        raise UserError(f"{name!r} is no fault id; write family/bad_pattern in lower case, such as loop/step_missing.")
    family, stem = name.split("/")
    base = folder or Path(faults.__file__).parent
    if not base.is_dir():
        raise UserError(f"{base} is no folder; name the package folder of your fault pack.")
    path = base / family / f"{stem}.py"
    if path.exists():
        raise UserError(f"{path} exists; choose another name, or edit it. `bugzoo show {name}` shows what it says.")
    package, title = path.parent / "__init__.py", stem.replace("_", " ").capitalize()
    if not package.exists():
        write_atomic(package, "", parents=True)
    write_atomic(path, FAULT.format(title=title, symptoms=", ".join(faults.SYMPTOMS)))
    return path


def _taken(kind: str) -> list[str]:
    from bugzoo.grading.exercises import exercises

    known = {"program": programs.names, "instrument": diagnostics.names, "lesson": course.files, "exercise": exercises}
    return list(known[kind]())


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
