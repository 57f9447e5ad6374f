"""The format of a lesson: a percent script, which editors run cell by cell and formatters read as Python.

    # %% [markdown] title              text, in comments
    # # 03 · Hunting NaN
    #
    # At step {51 = first_bad} the loss is nan.

    # %% setup                         code; write `%magic` as `# %magic`; tags=["raises-exception"] may follow
    device = "cpu"  # or "auto", "cuda"
    import torch                       the first line stands where programs run; what it means is said below the cell

    # %% [check] guess                 a question; its cell is `guess = lab.quick_check("03/guess")`
    # What will you see?
    #
    # ( ) The loss climbs
    #     that is divergence. Does this run climb?
    # (x) Nothing at all
    #     as you will see.             for numbers, pairs and orders see `questions.py`

    # %% [predict] how_many            the same, asked before a run: saved, and shown by `how_many.reveal()` in a later cell
    # ...

    # %% [predict] late tags=["how-sure"]      also asks how sure the learner is; `lab.calibration("03")` sums up at the end
    # ...

    # %% [draw] one_batch              a curve to draw before a run; `one_batch.reveal(steps, losses, "this run")` shows it
    # Draw the loss on this batch.
    #
    # step: 1, 60, 200                 three to five points, rising
    # loss (nats): 0.0001 to 1, log

    # %% [folded] what-you-saw         text that opens with a click; its first line is the title to click
    # After the run: what you saw
    #
    # The loss is late.

    # %% [task] half                   code that the learner completes; its cell ends with
    def half(x):                       #     half = lab.try_out("03/half", half)
        ...

    # %% [solution] half               folded in the learner's notebook, filled in when the lesson is proved
    def half(x):
        return x / 2

    # %% [judge] half                  not a cell: yields checks; RIGHT must pass, LAZY must fail
    def judge(half):                   (name, expected, got[, help]): "FAIL  half of 3: expected 1.5, got 1"
        yield "half of 3", 1.5, half(3), "// rounds down to a whole number."
        yield abs(half(0.2) - 0.1) < 1e-9, f"half of 0.2: expected 0.1, got {half(0.2)}"  (holds, sentence[, help])

    RIGHT = {"a product": lambda x: 0.5 * x}
    LAZY = {"always the same": lambda x: 1.5, "of whole numbers": lambda x: x // 2}
    HELP = {r"^ZeroDivisionError": "0 has a half, too."}      errors of this task, beside those of `lab/error_help.py`

    # %% [keep] half                   not a cell: the tests that `lab.keep(half)` writes beside the reader's function
    def test_half_finds_the_incident():
        assert half(lab.variables(lab.case("03/incident"))["loss"]) > 1

    # %% [case] incident               not a cell: the result of `lab.case("03/incident")`, a program and its faults
    # mlp numerics/log_at_step?step=50&eps=0

    # %% [proof]                       asserts, and the numbers in the text; the learner does not get this cell
    first_bad = trace.first_non_finite().step

    # %% [measured] five-seeds        a proof that trains: the learner gets it folded, after the next folded text, as a cell
    again = [...]                     `%%measured 03/five-seeds` that runs in a process of its own (`lab/measured.py`)

Names are the ids of the cells. What has a name elsewhere is a mark, also in code: `{label = influence.future_reach}` becomes
the label of that row (`marks.py`). Text before the first cell is only for readers of the source.

`{1.48 = loss_bad}` reads 1.48 in the notebook, and a proof cell measured `loss_bad`: the number rounded to the digits that
stand there, with one thread and with two. If the two runs differ, a band holds both: `{0.48 to 0.51 = late}`. If the proof
measured a pair, the number lies between the two. Words, `{almost twice = twice}`, stand for something true. A conclusion has a
margin of at least twice the difference of the two runs. A decimal or a percentage without a mark is an error, except in code.

`[nats](glossary.ipynb#nats)` leads to an entry of the glossary. Words of `words.py` are linked where a lesson first uses them.

A `[proof]` reads what visible cells have run. The numbers of a `[measured]` cell link to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bugzoo.course.cells import CLAIM, PROSE, Cell, read_cell
from bugzoo.course.drawings import Drawing, read_drawing
from bugzoo.course.names import names_of
from bugzoo.course.questions import Question, read_question
from bugzoo.errors import UserError, unknown

ASKS = {"check": "quick_check", "predict": "predict", "draw": "draw"}
"""Kinds with a question -> the function that their cell calls."""

EARLIER = "`bugzoo lab DIR --update` writes today's beside it, and your answers stay"
"""What a reader of an earlier notebook may do."""


class MissingPart(UserError):
    """A lesson has no question, drawing, case or task of that name, though a notebook of an earlier version may ask for it."""


@dataclass(frozen=True)
class Claim:
    """A value in the text that a proof measures: `shown` is the text, `name` a variable of a proof cell."""

    shown: str
    name: str
    where: str


@dataclass(frozen=True)
class Task:
    """Code that the learner writes: the initial text, one solution, and the judge of its behavior."""

    stub: str
    solution: str
    judge: str

    @property
    def lines(self) -> int:
        """How many lines of the solution the learner writes: those that the stub lacks."""
        stub = {line.strip() for line in self.stub.splitlines()} | {""}
        return len({line.strip() for line in self.solution.splitlines()} - stub)


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

    @property
    def proofs(self) -> list[Cell]:
        """Its cells that measure numbers of the text, hidden or folded."""
        return [cell for cell in self.cells if cell.kind in ("proof", "measured")]

    def binds(self, cell: Cell) -> set[str]:
        """Return the names that a cell binds for others."""
        return names_of(cell.text)[0]

    def where(self, cell: Cell) -> str:
        """Return file, line and cell, for messages."""
        return f"{self.file.name}, line {cell.line} ({cell.name})"

    @cached_property
    def questions(self) -> dict[str, Question]:
        """Name -> question of a [check] or [predict] cell. Raises UserError for a malformed question."""
        cells = self.of("check") + self.of("predict")
        return {cell.name: read_question(cell.kind, cell.shown, self.where(cell)) for cell in cells}

    @cached_property
    def drawings(self) -> dict[str, Drawing]:
        """Name -> what is asked in a [draw] cell. Raises UserError for a malformed one."""
        return {cell.name: read_drawing(cell.shown, self.where(cell)) for cell in self.of("draw")}

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Name -> task. Raises UserError for a task without a solution or a judge."""
        tasks = {}
        for cell in self.of("task"):
            named = [part for part in self.cells if part.name == cell.name]
            parts = {part.kind: part.text for part in named if part.kind in ("solution", "judge")}
            if lacking := min({"solution", "judge"} - set(parts), default=""):
                raise UserError(f"{self.where(cell)}: a task needs a cell `# %% [{lacking}] {cell.name}`. Add one.")
            tasks[cell.name] = Task(cell.text, **parts)
        for cell in self.of("solution") + self.of("judge"):
            if cell.name not in tasks:
                raise UserError(f"{self.where(cell)}: there is no `# %% [task] {cell.name}` for this cell. Add one.")
        return tasks

    @cached_property
    def cases(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Name -> (program, fault specs)."""
        words = {cell.name: cell.text.split() or [""] for cell in self.of("case")}
        return {name: (program, tuple(faults)) for name, (program, *faults) in words.items()}

    @property
    def transfer(self) -> str:
        """Name of the case that the diagnosis form at the end asks about: the last one; "" for a lesson without a form."""
        has_form = any("lab.diagnose(" in cell.text for cell in self.of("code"))
        return list(self.cases)[-1] if has_form and self.cases else ""

    def question(self, name: str) -> Question:
        """Return a question. Raises UserError with the nearest names."""
        return self.questions[self._known("question", name, self.questions)]

    def drawing(self, name: str) -> Drawing:
        """Return what is asked in a [draw] cell. Raises UserError with the nearest names."""
        return self.drawings[self._known("drawing", name, self.drawings)]

    def case(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Return (program, fault specs). Raises UserError with the nearest names."""
        return self.cases[self._known("case", name, self.cases)]

    def task(self, name: str) -> Task:
        """Return a task. Raises UserError with the nearest names."""
        return self.tasks[self._known("task", name, self.tasks)]

    def _known(self, kind: str, name: str, there: Iterable[str]) -> str:
        if name not in there:
            names = [f"{self.number}/{key}" for key in there]
            missing = unknown(kind, f"{self.number}/{name}", names, "bugzoo lessons list")
            raise MissingPart(f"{missing} A notebook of an earlier version may ask for it: {EARLIER}.")
        return name

    @property
    def claims(self) -> list[Claim]:
        """Return every marked number or word of the text, with questions and answers."""
        prose = [cell for cell in self.cells if cell.kind in PROSE]
        return [Claim(text, name, self.where(cell)) for cell in prose for text, name in CLAIM.findall(cell.text)]

    @property
    def minutes(self) -> float:
        """Estimated minutes: 150 words a minute, code included, half a minute per code cell and question; a task
        takes three and a half, and half a minute per line to write. Half of a question's explanations count, as a learner
        does not read all of them. A folded appendix is extra."""
        read = [cell for cell in self.cells if cell.name != "appendix"]
        prose = [cell.shown for cell in read if cell.kind in ("markdown", "folded", "code")]
        questions = [cell.shown for cell in self.cells if cell.kind in ASKS]
        words = sum(len(text.split()) for text in prose) + sum(len(text.split()) for text in questions) / 2
        writing = sum(3.5 + task.lines / 2 for task in self.tasks.values())
        return words / 150 + (len(self.of("code")) + len(questions)) / 2 + writing

    def call(self, cell: Cell) -> str:
        """Return the code of a question's cell."""
        return f'{cell.name} = lab.{ASKS[cell.kind]}("{self.number}/{cell.name}")'

    def task_code(self, cell: Cell, text: str) -> str:
        """Return the code of a task's cell: the learner's text, and the call that checks it."""
        return f'{text}\n\n\n{cell.name} = lab.try_out("{self.number}/{cell.name}", {cell.name})'


def read(file: Path) -> Lesson:
    """Parse a lesson. Raises UserError with the line."""
    lines = file.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%") and line[4:5] in ("", " ")]
    if not starts:
        raise UserError(f"{file.name} has no cells. Begin each with a line like `# %% [markdown] what-it-is`.")
    cells: list[Cell] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        cell = read_cell(file, start + 1, lines[start], lines[start + 1 : end], len(cells))
        if cell.key in {earlier.key for earlier in cells}:
            problem = f"{file.name}, line {start + 1}: there is already a cell named {cell.name}."
            raise UserError(f"{problem} Choose another name.")
        cells.append(cell)
    lesson = Lesson(file, tuple(cells))
    _ = lesson.questions, lesson.drawings, lesson.cases, lesson.tasks  # reports malformed ones here
    return lesson
