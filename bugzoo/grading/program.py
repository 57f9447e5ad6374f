"""`%%program Section`: a cell magic that runs the cell, as it stands, and keeps its text for the grader.

    %load_ext bugzoo.grading.program
    %%program Training

The kept sections are put together in the order of a program, whatever order the cells were run in.
"""

import re
from typing import Any

from bugzoo.errors import UserError
from bugzoo.syntax import source_lines

SECTIONS = ("Head", "Settings", "Data", "Model", "Training", "Evaluation")


def split(source: str) -> dict[str, str]:
    """A percent script as section -> text; what stands before the first `# %%` is the Head."""
    pieces = re.split(r"^# %% *(\w+)[^\n]*\n", source, flags=re.MULTILINE)
    return {"Head": pieces[0].strip("\n")} | {
        name: text.strip("\n") for name, text in zip(pieces[1::2], pieces[2::2], strict=True)
    }


def join(sections: dict[str, str]) -> str:
    """The percent script again, the sections in their order. Raises UserError when one is missing."""
    missing = [name for name in SECTIONS if name not in sections]
    if missing:
        raise UserError(
            f"The program is not whole: the cell `%%program {missing[0]}` has not been run. Run the program's cells from "
            "the top; if one was deleted, `bugzoo exercises reset` brings it back."
        )
    head, *rest = SECTIONS
    text = sections[head].strip("\n") + "\n"
    return text + "".join(f"\n# %% {name}\n" + sections[name].strip("\n") + "\n" for name in rest)


class Program:
    """What the cells have recorded so far."""

    def __init__(self) -> None:
        self.sections: dict[str, str] = {}

    @property
    def source(self) -> str:
        """The program's text, from the cells as they were last run. Raises UserError when a cell was not run."""
        return join(self.sections)

    def lines(self) -> None:
        """Print the program with its line numbers."""
        for number, line in enumerate(source_lines(self.source), 1):
            print(f"{number:4d}  {line}")

    def instrument(self, name: str) -> dict[str, Any]:
        """Run the program once and print what one instrument says; returns its numbers. Raises UserError."""
        from bugzoo.diagnostics import instrument
        from bugzoo.running import Job, Reading, run_worker

        judge = instrument(name).judge
        arguments = {"names": [name], "most_reruns": 1}
        run = run_worker(
            Job(self.source, file="program.py", after="bugzoo.diagnostics:measure_all", after_args=arguments)
        )
        reading = run.readings.get(name) or Reading(why_not=f"the run ended as {run.outcome}")
        print(f"{name}: {judge(reading.numbers).message if reading.applies else reading.why_not}")
        return reading.to_json()

    def __repr__(self) -> str:
        return f"<program: {', '.join(name for name in SECTIONS if name in self.sections) or 'nothing run yet'}>"


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
        name = line.strip()
        if name not in SECTIONS:
            raise UserError(f"%%program {name}: there is no such section; it is one of {', '.join(SECTIONS)}.")
        program.sections[name] = cell
        result = shell.run_cell(cell, silent=False)
        if not result.success:
            shown[:] = [result.error_before_exec or result.error_in_exec]
            result.raise_error()

    shell._showtraceback = once
    shell.register_magic_function(record, "cell", "program")
    shell.push({"program": program})
