"""`%%program Section`: a cell magic that runs the cell, as it stands, and keeps its text for the grader.

    %load_ext bugzoo.grading.program
    %%program Training

The kept sections are put together in the order of a program, whatever order the cells were run in.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from bugzoo.errors import UserError
from bugzoo.syntax import source_lines

SECTIONS = ("Head", "Settings", "Data", "Model", "Training", "Evaluation")
"""What every program has. Others, such as the Ranks of one that runs on several, stand where they stand."""


def split(source: str) -> dict[str, str]:
    """A percent script as section -> text, in its order; what stands before the first `# %%` is the Head.

    Raises UserError for two sections of one name: nothing would tell their cells apart.
    """
    pieces = re.split(r"^# %% *([^\n]*?) *\n", source, flags=re.MULTILINE)
    names = ["Head", *pieces[1::2]]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"Two sections of the program are called {twice[0]!r} (`# %% {twice[0]}`); name them apart.")
    return {name: text.strip("\n") for name, text in zip(names, [pieces[0], *pieces[2::2]], strict=True)}


def join(sections: Mapping[str, str], after: Mapping[str, str] | None = None) -> str:
    """The percent script again. The sections that every program has stand in their order, whatever order they come in;
    any other behind the one that `after` names, else behind the one that it comes behind. Raises UserError when one is
    missing.
    """
    before = dict(zip(list(sections)[1:], sections, strict=False)) | dict(after or {})
    missing = [name for name in (*SECTIONS, *(after or {}).values()) if name not in sections]
    if missing:
        raise UserError(
            f"The program is not whole: the cell `%%program {missing[0]}` has not been run. Run the program's cells from "
            "the top; if one was deleted, `bugzoo exercises reset` brings it back."
        )
    order: list[str] = list(SECTIONS)
    for name in sections:
        if name not in order:
            order.insert(order.index(before[name]) + 1 if before.get(name) in order else len(order), name)
    text = sections[order[0]].strip("\n") + "\n"
    return text + "".join(f"\n# %% {name}\n" + sections[name].strip("\n") + "\n" for name in order[1:])


def cell_heads(sections: Iterable[str]) -> dict[str, str]:
    """Section -> the first line of its cell; one whose place is not told by its name says what it comes behind."""
    usual: dict[str, str] = dict(zip(SECTIONS[1:], SECTIONS, strict=False))
    found, last = {}, None
    for name in sections:
        found[name] = f"%%program {name}" + ("" if last == usual.get(name) else f" after {last}")
        last = name
    return found


def cell_name(head: str) -> tuple[str, str]:
    """(section, the one that it comes behind or "") of a cell's first line, without its `%%program`."""
    name, _, before = head.strip().partition(" after ")
    return name.strip(), before.strip()


class Program:
    """What the cells have recorded so far."""

    def __init__(self) -> None:
        self.sections: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self.ranks = 1
        """Processes that the program runs on. Above 1 its cells are kept and not run: this kernel is one process."""

    @property
    def source(self) -> str:
        """The program's text, from the cells as they were last run. Raises UserError when a cell was not run."""
        return join(self.sections, self.after)

    def lines(self) -> None:
        """Print the program with its line numbers."""
        for number, line in enumerate(source_lines(self.source), 1):
            print(f"{number:4d}  {line}")

    def instruments(self) -> None:
        """Print the instruments, each with the question that it answers."""
        from bugzoo.diagnostics import instrument, names

        width = max(map(len, names()))
        for name in names():
            print(f"{name:{width}}  {(instrument(name).__doc__ or '').strip().splitlines()[0]}")

    def instrument(self, name: str) -> dict[str, Any]:
        """Run the program once and print what one instrument says; returns its numbers. Raises UserError."""
        from bugzoo.diagnostics import instrument, measure_all
        from bugzoo.running import Job, Reading, run_worker

        judge = instrument(name).judge
        arguments = {"names": [name], "most_reruns": 1}
        job = Job(self.source, file="program.py", after="bugzoo.diagnostics:measure_all", after_args=arguments)
        run = run_worker(replace(job, ranks=self.ranks))
        if self.ranks > 1:  # what compares the ranks can only be asked when all of them are back
            known = {name: reading for name, reading in run.readings.items() if reading.applies}
            run.readings = measure_all(run, names=[name], max_cost=0) | known
        reading = run.readings.get(name) or Reading(why_not=f"the run ended as {run.outcome}")
        print(f"{name}: {judge(reading.numbers).message if reading.applies else reading.why_not}")
        return reading.to_json()

    def __repr__(self) -> str:
        return f"<program: {', '.join(self.sections) or 'nothing run yet'}>"


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`: adds the magic and a variable named `program`.

    What a cell raises is shown once, as the cell inside has it; the magic raises it again so that the cell counts as
    failed, and that second showing, with our own frames in it, is left out.
    """
    program = Program()
    show, shown = shell._showtraceback, []  # both of the shell's ways to show an error, a syntax error's too, end there

    def once(kind: Any, error: Any, lines: Any) -> None:
        if any(error is one for one in shown):
            shown.clear()
        else:
            show(kind, error, lines)

    def record(line: str, cell: str) -> None:
        name, before = cell_name(line)
        if name not in SECTIONS and not before:
            raise UserError(f"%%program {name}: there is no such section; it is one of {', '.join(SECTIONS)}.")
        program.sections[name] = cell
        if before:
            program.after[name] = before
        if program.ranks > 1:
            compile(cell, name, "exec", dont_inherit=True)
            return
        result = shell.run_cell(cell, silent=False)
        if not result.success:
            shown[:] = [result.error_before_exec or result.error_in_exec]
            result.raise_error()

    shell._showtraceback = once
    shell.register_magic_function(record, "cell", "program")
    shell.push({"program": program})
