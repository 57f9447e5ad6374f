"""`bugzoo new KIND`: writes a working template for a fault, program, instrument, exercise or lesson."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bugzoo
from bugzoo import course, diagnostics, faults, programs
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.templates import render

_PLAIN = re.compile(r"[a-z][a-z0-9_]*")
_FAULT = re.compile(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*")
_NUMBERED = re.compile(r"(\d\d)_[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Kind:
    """One kind of file: its place, the form of its names, its template and the next steps."""

    place: Callable[[str], Path]
    name: re.Pattern[str]
    example: str
    text: Callable[[str], str]
    then: tuple[str, ...]


def _home(*parts: str) -> Path:
    return Path(bugzoo.__file__).parent.joinpath(*parts)


def _spoken(name: str) -> str:
    """Return a name as words, without its number."""
    return name.lstrip("0123456789_").replace("_", " ").capitalize()


def _filled(kind: str, **values: str) -> str:
    return render("bugzoo.proving", f"{kind}.py.j2", **values)


def _program(name: str) -> str:
    """Return the shortest program's text as a template; it has the phrases that all programs share."""
    return min((programs.load(program).source for program in ("mlp", "regression_mlp")), key=len)


KINDS: dict[str, Kind] = {
    "program": Kind(
        lambda name: _home("programs", f"{name}.py"),
        _PLAIN,
        "tabular_mlp",
        _program,
        (
            "change it section by section, and use the other programs' phrases for the same step",
            "pytest tests/programs: is it healthy on three seeds?",
            "bugzoo verify --program {name}: does any instrument fire on it?",
        ),
    ),
    "instrument": Kind(
        lambda name: _home("diagnostics", f"{name}.py"),
        _PLAIN,
        "loss_gain",
        lambda name: _filled("instrument", name=name, question=_spoken(name)),
        (
            "its first line is the question that the instrument answers",
            "name it in ORDER of its view, or say with hidden= why no view has its numbers",
            "pytest tests/diagnostics: quiet on HEALTHY, fires on SICK? test_judges.py asks for the numbers of a healthy run",
            "bugzoo verify: quiet on every healthy program?",
        ),
    ),
    "exercise": Kind(
        lambda name: _home("grading", "exercises", f"e{name}.py"),
        _NUMBERED,
        "08_slow_start",
        lambda name: _filled("exercise", title=_spoken(name)),
        (
            "write the story; the name gives the topic and never the fault",
            "bugzoo exercises build: writes the notebook and its solution",
            "bugzoo check {name}: is it proved both ways?",
        ),
    ),
    "lesson": Kind(
        lambda name: _home("lessons", f"{name}.py"),
        _NUMBERED,
        "04_silent_bugs",
        lambda name: _filled("lesson", title=_spoken(name), number=name[:2]),
        (
            "write it; CONTRIBUTING.md says what a lesson has, and lesson 03 is the example",
            "bugzoo lessons build: writes the notebook",
            "bugzoo lessons check {name}: is every number right?",
        ),
    ),
}


def write(kind: str, name: str) -> Path:
    """Write a new file of one of KINDS; an existing file is not overwritten. Raises UserError."""
    template = KINDS[kind]
    if not template.name.fullmatch(name):
        raise UserError(f"{name!r} is not a name for {_a(kind)}. Write it in lower case, like {template.example}.")
    path = template.place(name)
    if path.exists() or name in _taken(kind):
        raise UserError(f"There is already {_a(kind)} {name}. Choose another name; `bugzoo list` shows those in use.")
    if kind in ("exercise", "lesson") and (same := [other for other in _taken(kind) if other[:3] == name[:3]]):
        raise UserError(f"{same[0]} already has the number {name[:2]}. Choose another number.")
    write_atomic(path, template.text(name))
    return path


def write_fault(name: str, folder: Path | None = None) -> Path:
    """Write `<folder>/<family>/<name>.py`; an existing file is not overwritten. Raises UserError."""
    if not _FAULT.fullmatch(name):
        raise UserError(
            f"{name!r} is not a fault id. Write family/bad_pattern in lower case, such as loop/step_missing."
        )
    family, stem = name.split("/")
    base = folder or Path(faults.__file__).parent
    if not base.is_dir():
        raise UserError(f"{base} is not a folder. Name the package folder of your fault pack.")
    path = base / family / f"{stem}.py"
    if path.exists():
        raise UserError(
            f"{path} already exists. Choose another name, or edit it. `bugzoo show {name}` shows its content."
        )
    package, title = path.parent / "__init__.py", stem.replace("_", " ").capitalize()
    if not package.exists():
        write_atomic(package, "", parents=True)
    write_atomic(path, _filled("fault", title=title, symptoms=", ".join(faults.SYMPTOMS)))
    return path


def _taken(kind: str) -> list[str]:
    from bugzoo.grading.exercises import exercises

    lists = {"program": programs.names, "instrument": diagnostics.names, "lesson": course.files, "exercise": exercises}
    return list(lists[kind]())


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
