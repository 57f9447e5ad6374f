"""The format of a lesson: a percent script, which editors run cell by cell and formatters read as Python.

    # %% [markdown] title              text, in comments
    # # 03 · Hunting NaN
    #
    # At step {51 = first_bad} the loss is nan.

    # %% setup                         code; write `%magic` as `# %magic`; tags=["raises-exception"] may follow
    import torch

    # %% [check] guess                 a question; its cell is `guess = lab.quick_check("03/guess")`
    # What will you see?
    #
    # ( ) The loss climbs
    #     that is divergence. Does this run climb?
    # (x) Nothing at all
    #     as you will see.

    # %% [predict] how_many            the same, asked before a run: saved, and shown by `how_many.reveal()` in a later cell
    # ...

    # %% [folded] what-you-saw         text that opens with a click; its first line is the title to click
    # After the run: what you saw
    #
    # The loss is late.

    # %% [task] half                   code that the learner completes; the cell after it is
    def half(x):                       #     half = lab.try_out("03/half", half)
        ...

    # %% [solution] half               folded in the learner's notebook, filled in when the lesson is proved
    def half(x):
        return x / 2

    # %% [judge] half                  not a cell: yields (holds, sentence); RIGHT must pass, LAZY must fail
    def judge(half):
        yield half(3) == 1.5, f"half of 3: yours says {half(3)}"

    RIGHT = {"a product": lambda x: 0.5 * x}
    LAZY = {"always the same": lambda x: 1.5, "of whole numbers": lambda x: x // 2}

    # %% [case] incident               not a cell: the result of `lab.case("03/incident")`, a program and its faults
    # mlp numerics/log_at_step?step=50&eps=0

    # %% [proof]                       asserts, and the numbers in the text; the learner does not get this cell
    first_bad = trace.first_non_finite().step

Names are the ids of the cells. Text before the first cell is only for readers of the source.
"""

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError, unknown

KINDS = ("markdown", "folded", "code", "check", "predict", "task", "solution", "judge", "case", "proof")

PROSE = ("markdown", "folded", "check", "predict")
"""Kinds whose text the learner reads, and whose numbers need a proof."""

_PARTS = {"case": "case {}", "solution": "{}-solution", "judge": "judge {}"}
"""Kinds that may share the name of the cell they belong to -> their key."""

ASKS = {"check": "quick_check", "predict": "predict"}
"""Kinds with a question -> the function that their cell calls."""

SOLUTION = "One solution (open it when your code passes, or when you are stuck)"

_MARKER = re.compile(r"# %%(?: \[(?P<kind>\w+)\])?(?: (?P<name>[A-Za-z][\w-]*))?(?: tags=(?P<tags>\[.*\]))?\s*")
_CLAIM = re.compile(r"\{([^{}=]+?) = (\w+)\}")
_ANSWER = re.compile(r"\(([ x])\) (.+)")


@dataclass(frozen=True)
class Cell:
    """One cell. `text` of prose has no comment signs; `line` is its first line in the file, from 1."""

    kind: str
    name: str
    text: str
    line: int
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The id in the notebook; a cell that belongs to another may share its name."""
        return _PARTS.get(self.kind, "{}").format(self.name if self.kind == "case" else self.name.replace("_", "-"))

    @property
    def shown(self) -> str:
        """The text that the learner reads: `{1.38 = loss}` becomes 1.38."""
        return _CLAIM.sub(r"\1", self.text)


@dataclass(frozen=True)
class Claim:
    """A value in the text that a proof measures: `shown` is the text, `name` a variable of a proof cell."""

    shown: str
    name: str
    where: str


@dataclass(frozen=True)
class Question:
    """The question of a [check] or [predict] cell. `answers`: (text, explanation, whether it is right)."""

    text: str
    answers: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Task:
    """Code that the learner writes: the initial text, one solution, and the judge of its behavior."""

    stub: str
    solution: str
    judge: str


@dataclass(frozen=True)
class Lesson:
    """One lesson file."""

    file: Path
    cells: tuple[Cell, ...]

    @property
    def number(self) -> str:
        """The number, such as `03`, or the name of a lesson without one."""
        return self.file.stem.split("_")[0]

    @property
    def title(self) -> str:
        """The first heading."""
        lines = [line for cell in self.cells if cell.kind == "markdown" for line in cell.shown.splitlines()]
        return next((line[2:] for line in lines if line.startswith("# ")), self.file.stem)

    def of(self, kind: str) -> list[Cell]:
        """Return its cells of one kind, in order."""
        return [cell for cell in self.cells if cell.kind == kind]

    def where(self, cell: Cell) -> str:
        """Return file, line and cell, for messages."""
        return f"{self.file.name}, line {cell.line} ({cell.name})"

    @cached_property
    def questions(self) -> dict[str, Question]:
        """Name -> question. Raises UserError for a malformed question."""
        return {cell.name: _question(self, cell) for cell in self.of("check") + self.of("predict")}

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Name -> task. Raises UserError for a task without a solution or a judge."""
        made = {}
        for cell in self.of("task"):
            parts = {
                one.kind: one.text for one in self.cells if one.name == cell.name and one.kind in ("solution", "judge")
            }
            if lacking := {"solution", "judge"} - set(parts):
                raise UserError(
                    f"{self.where(cell)}: a task needs a cell `# %% [{min(lacking)}] {cell.name}`. Add one."
                )
            made[cell.name] = Task(cell.text, **parts)
        for cell in self.of("solution") + self.of("judge"):
            if cell.name not in made:
                raise UserError(f"{self.where(cell)}: there is no `# %% [task] {cell.name}` for this cell. Add one.")
        return made

    @cached_property
    def cases(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Name -> (program, fault specs)."""
        words = {cell.name: cell.text.split() or [""] for cell in self.of("case")}
        return {name: (program, tuple(faults)) for name, (program, *faults) in words.items()}

    def question(self, name: str) -> Question:
        """Return a question. Raises UserError with the nearest names."""
        return self.questions[self._known("question", name, self.questions)]

    def case(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Return (program, fault specs). Raises UserError with the nearest names."""
        return self.cases[self._known("case", name, self.cases)]

    def task(self, name: str) -> Task:
        """Return a task. Raises UserError with the nearest names."""
        return self.tasks[self._known("task", name, self.tasks)]

    def _known(self, kind: str, name: str, there: Iterable[str]) -> str:
        if name not in there:
            names = [f"{self.number}/{one}" for one in there]
            raise unknown(kind, f"{self.number}/{name}", names, "bugzoo lessons list")
        return name

    @property
    def claims(self) -> list[Claim]:
        """Return every marked number or word of the text, with questions and answers."""
        return [
            Claim(shown, name, self.where(cell))
            for cell in self.cells
            if cell.kind in PROSE
            for shown, name in _CLAIM.findall(cell.text)
        ]

    @property
    def minutes(self) -> float:
        """Estimated minutes: 150 words a minute, code included, half a minute per code cell and question, six per task.
        Half of a question's explanations count, as a learner does not read all of them."""
        prose = [cell.shown for cell in self.cells if cell.kind in ("markdown", "folded", "code")]
        asked = [cell.shown for cell in self.cells if cell.kind in ASKS]
        words = sum(len(text.split()) for text in prose) + sum(len(text.split()) for text in asked) / 2
        return words / 150 + (len(self.of("code")) + len(asked)) / 2 + 6 * len(self.tasks)

    def notebook(self, proofs: bool = False, solved: bool = False) -> Any:
        """Return the learner's notebook for nbformat. `solved`: with the solutions filled in; `proofs`: the notebook that
        proves the lesson, also solved."""
        from bugzoo import notebooks  # a question in a notebook does not need the builder

        cells = []
        for cell in self.cells:
            about = {"tags": list(cell.tags)} if cell.tags else {}
            if cell.kind == "markdown":
                cells.append(notebooks.markdown(cell.key, cell.shown, **about))
            elif cell.kind == "folded":
                title, _, text = cell.shown.partition("\n")
                cells.append(notebooks.markdown(cell.key, _folded(title, text.strip("\n")), **about))
            elif cell.kind == "solution" and not (proofs or solved):
                cells.append(notebooks.markdown(cell.key, _folded(SOLUTION, f"```python\n{cell.text}\n```"), **about))
            elif cell.kind in ASKS:
                call = f'{cell.name} = lab.{ASKS[cell.kind]}("{self.number}/{cell.name}")'
                cells.append(notebooks.code(cell.key, call, **about))
            elif cell.kind == "task":
                text = self.tasks[cell.name].solution if proofs or solved else cell.text
                cells.append(notebooks.code(cell.key, text, **about))
            elif cell.kind == "code" or (cell.kind == "proof" and proofs):
                cells.append(notebooks.code(cell.key, re.sub(r"(?m)^# (?=%{1,2}\w|!\w)", "", cell.text), **about))
        return notebooks.notebook(cells)


def _folded(title: str, text: str) -> str:
    """Return Markdown that JupyterLab, VS Code and GitHub show closed; its title is HTML, with `code` marked."""
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(title, quote=False))
    return f"<details><summary><b>{title}</b></summary>\n\n{text}\n\n</details>"


def read(file: Path) -> Lesson:
    """Parse a lesson. Raises UserError with the line."""
    lines = file.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%") and line[4:5] in ("", " ")]
    cells: list[Cell] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        cell = _cell(file, start + 1, lines[start], lines[start + 1 : end], len(cells))
        if cell.key in {one.key for one in cells}:
            raise UserError(
                f"{file.name}, line {start + 1}: there is already a cell named {cell.name}. Choose another name."
            )
        cells.append(cell)
    made = Lesson(file, tuple(cells))
    _ = made.questions, made.cases, made.tasks  # reports malformed ones here
    return made


def _cell(file: Path, line: int, marker: str, body: list[str], number: int) -> Cell:
    found, here = _MARKER.fullmatch(marker), f"{file.name}, line {line}"
    if not found:
        raise UserError(
            f"{here}: {marker!r} is not a cell marker. Write `# %% [kind] name`, without the kind for code."
        )
    kind = found["kind"] or "code"
    if kind not in KINDS:
        raise UserError(f"{here}: there is no kind [{kind}]. The kinds are {', '.join(KINDS)}.")
    name = found["name"] or (f"proof-{number}" if kind == "proof" else "")
    if not name:
        raise UserError(f"{here}: the cell needs a name: {marker.rstrip()} what-it-is")
    if kind in (*PROSE, "case"):
        for offset, text in enumerate(body, 1):
            if text.strip() and not re.match(r"#(?: |$)", text):
                raise UserError(
                    f"{file.name}, line {line + offset}: text of a [{kind}] cell must begin with `# `: {text!r}"
                )
        body = [text[2:] for text in body]
    return Cell(kind, name, "\n".join(body).strip("\n"), line, tuple(json.loads(found["tags"] or "[]")))


def _question(lesson: Lesson, cell: Cell) -> Question:
    """Parse text, then answers: `( ) text` or `(x) text` on one line, with the explanation indented below."""
    asked: list[str] = []
    answers: list[tuple[str, list[str], bool]] = []
    for line in cell.shown.splitlines():
        if found := _ANSWER.fullmatch(line):
            answers.append((found[2], [], found[1] == "x"))
        elif line.strip():
            (answers[-1][1] if answers else asked).append(line.strip())
    made = Question(" ".join(asked), tuple((text, " ".join(why), right) for text, why, right in answers))
    if len(answers) < 2 or sum(right for *_, right in answers) != 1 or not made.text:
        raise UserError(f"{lesson.where(cell)}: a question needs a text, two or more answers, and exactly one (x).")
    if bare := [text for text, why, _ in made.answers if not why]:
        raise UserError(f"{lesson.where(cell)}: the answer {bare[0]!r} has no explanation. Indent one below it.")
    return made
