"""How a lesson is written: a percent script, which editors run cell by cell and formatters read as Python.

    # %% [markdown] title              text, in comments
    # # 03 · Hunting NaN
    #
    # At step {51 = first_bad} the loss is nan.

    # %% setup                         code; `# %magic` stands for `%magic`; tags=["raises-exception"] may follow
    import torch

    # %% [check] guess                 a question; its cell is `guess = lab.quick_check("03/guess")`
    # What will you see?
    #
    # ( ) The loss climbs
    #     that is divergence. Does this run climb?
    # (x) Nothing at all
    #     as you will see.

    # %% [case] incident               what `lab.case("03/incident")` gives: a program and its faults; no cell
    # mlp numerics/log_at_step?step=50&eps=0

    # %% [proof]                       asserts, and the numbers that the text names; no cell of the learner's
    first_bad = trace.first_non_finite().step

Names are the ids of the cells. What stands in front of the first cell is for whoever reads the source.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError, unknown

KINDS = ("markdown", "code", "check", "case", "proof")

_MARKER = re.compile(r"# %%(?: \[(?P<kind>\w+)\])?(?: (?P<name>[A-Za-z][\w-]*))?(?: tags=(?P<tags>\[.*\]))?\s*")
_CLAIM = re.compile(r"\{([^{}=]+?) = (\w+)\}")
_ANSWER = re.compile(r"\(([ x])\) (.+)")


@dataclass(frozen=True)
class Cell:
    """`text` is without the comment signs where it is prose; `line` is that of its first line in the file, from 1."""

    kind: str
    name: str
    text: str
    line: int
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The id in the notebook; a case is no cell there and may be called like one."""
        return f"case {self.name}" if self.kind == "case" else self.name.replace("_", "-")

    @property
    def shown(self) -> str:
        """The text as the learner reads it: `{1.38 = loss}` is 1.38."""
        return _CLAIM.sub(r"\1", self.text)


@dataclass(frozen=True)
class Claim:
    """Something in the text that a proof measures: `shown` stands there, `name` is a variable of a proof cell."""

    shown: str
    name: str
    where: str


@dataclass(frozen=True)
class Question:
    """Of a [check] cell. `answers`: (text, what is told to whoever chooses it, whether it is right)."""

    text: str
    answers: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Lesson:
    """One file."""

    file: Path
    cells: tuple[Cell, ...]

    @property
    def number(self) -> str:
        """`03`, or the name of a lesson without one."""
        return self.file.stem.split("_")[0]

    @property
    def title(self) -> str:
        """The first heading."""
        lines = [line for cell in self.cells if cell.kind == "markdown" for line in cell.shown.splitlines()]
        return next((line[2:] for line in lines if line.startswith("# ")), self.file.stem)

    def of(self, kind: str) -> list[Cell]:
        """Its cells of one kind, in order."""
        return [cell for cell in self.cells if cell.kind == kind]

    def where(self, cell: Cell) -> str:
        """For messages: file, line and cell."""
        return f"{self.file.name}, line {cell.line} ({cell.name})"

    @cached_property
    def questions(self) -> dict[str, Question]:
        """Name -> question. Raises UserError for one that is not well formed."""
        return {cell.name: _question(self, cell) for cell in self.of("check")}

    @cached_property
    def cases(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Name -> (program, fault specs)."""
        words = {cell.name: cell.text.split() or [""] for cell in self.of("case")}
        return {name: (program, tuple(faults)) for name, (program, *faults) in words.items()}

    def question(self, name: str) -> Question:
        """Raises UserError with the nearest names."""
        return self.questions[self._known("question", name, self.questions)]

    def case(self, name: str) -> tuple[str, tuple[str, ...]]:
        """(program, fault specs). Raises UserError with the nearest names."""
        return self.cases[self._known("case", name, self.cases)]

    def _known(self, kind: str, name: str, there: Iterable[str]) -> str:
        if name not in there:
            names = [f"{self.number}/{one}" for one in there]
            raise unknown(kind, f"{self.number}/{name}", names, "bugzoo lessons list")
        return name

    @property
    def claims(self) -> list[Claim]:
        """Every marked number or word of the text, questions and answers included."""
        return [
            Claim(shown, name, self.where(cell))
            for cell in self.cells
            if cell.kind in ("markdown", "check")
            for shown, name in _CLAIM.findall(cell.text)
        ]

    def notebook(self, proofs: bool = False) -> Any:
        """nbformat's notebook: what the learner gets; with `proofs`, what is run to prove it."""
        from bugzoo import notebooks  # a question asked in a notebook needs no builder

        cells = []
        for cell in self.cells:
            about = {"tags": list(cell.tags)} if cell.tags else {}
            if cell.kind == "markdown":
                cells.append(notebooks.markdown(cell.key, cell.shown, **about))
            elif cell.kind == "check":
                call = f'{cell.name} = lab.quick_check("{self.number}/{cell.name}")'
                cells.append(notebooks.code(cell.key, call, **about))
            elif cell.kind == "code" or (cell.kind == "proof" and proofs):
                cells.append(notebooks.code(cell.key, re.sub(r"(?m)^# (?=%{1,2}\w|!\w)", "", cell.text), **about))
        return notebooks.notebook(cells)


def read(file: Path) -> Lesson:
    """Parse a lesson. Raises UserError that names the line."""
    lines = file.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%") and line[4:5] in ("", " ")]
    cells: list[Cell] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        cell = _cell(file, start + 1, lines[start], lines[start + 1 : end], len(cells))
        if cell.key in {one.key for one in cells}:
            raise UserError(f"{file.name}, line {start + 1}: there is a cell named {cell.name} already.")
        cells.append(cell)
    made = Lesson(file, tuple(cells))
    _ = made.questions, made.cases  # one that is not well formed is told of here
    return made


def _cell(file: Path, line: int, marker: str, body: list[str], number: int) -> Cell:
    found, here = _MARKER.fullmatch(marker), f"{file.name}, line {line}"
    if not found:
        raise UserError(f"{here}: {marker!r} begins no cell. It is `# %% [kind] name`, the kind left out for code.")
    kind = found["kind"] or "code"
    if kind not in KINDS:
        raise UserError(f"{here}: there is no kind [{kind}]; there are {', '.join(KINDS)}.")
    name = found["name"] or (f"proof-{number}" if kind == "proof" else "")
    if not name:
        raise UserError(f"{here}: the cell needs a name: {marker.rstrip()} what-it-is")
    if kind in ("markdown", "check", "case"):
        for offset, text in enumerate(body, 1):
            if text.strip() and not re.match(r"#(?: |$)", text):
                raise UserError(
                    f"{file.name}, line {line + offset}: text of a [{kind}] cell stands behind `# `: {text!r}"
                )
        body = [text[2:] for text in body]
    return Cell(kind, name, "\n".join(body).strip("\n"), line, tuple(json.loads(found["tags"] or "[]")))


def _question(lesson: Lesson, cell: Cell) -> Question:
    """Text, then answers: `( ) text` or `(x) text` on one line, and what is told behind it, indented."""
    asked: list[str] = []
    answers: list[tuple[str, list[str], bool]] = []
    for line in cell.shown.splitlines():
        if found := _ANSWER.fullmatch(line):
            answers.append((found[2], [], found[1] == "x"))
        elif line.strip():
            (answers[-1][1] if answers else asked).append(line.strip())
    made = Question(" ".join(asked), tuple((text, " ".join(why), right) for text, why, right in answers))
    if len(answers) < 2 or sum(right for *_, right in answers) != 1 or not made.text:
        raise UserError(f"{lesson.where(cell)}: a question has a text, two answers or more, and exactly one (x).")
    if bare := [text for text, why, _ in made.answers if not why]:
        raise UserError(f"{lesson.where(cell)}: the answer {bare[0]!r} has no explanation; indent one below it.")
    return made
