"""The interview in a notebook: the same case, evidence, clock, grading and rubric as in the terminal.

    from bugzoo.interview import notebook
    desk = notebook.sit(minutes=5)     # draws a case; desk.evidence(), desk.program(), desk.diagnosis(), desk.close()

With a front end there are buttons and a form; without one everything is a method call and text.
"""

import os
import random
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bugzoo import diagnostics, record
from bugzoo.errors import UserError, unknown
from bugzoo.interview import LONGEST
from bugzoo.interview.deck import draw
from bugzoo.interview.evidence import BUDGET, collect
from bugzoo.interview.play import debrief
from bugzoo.interview.repair import grade
from bugzoo.interview.session import GUESSES, Session, brief
from bugzoo.lab import Timer, headless
from bugzoo.syntax import source_lines

MAGIC = "repaired"

OVER = "Your time is over: desk.close() shows the score."


class Sheet:
    """The program as the notebook's cell holds it; a Session reads it as it would read a file."""

    def __init__(self, text: str) -> None:
        self.text, self.saved = text, time.time()

    def write(self, text: str) -> None:
        self.text, self.saved = text, time.time()

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.text

    def stat(self) -> Any:
        return SimpleNamespace(st_mtime=self.saved)

    def __str__(self) -> str:
        return f"the cell %%{MAGIC}"


class Interview:
    """One interview. What is wrong with the program is told by `close()`, not before."""

    def __init__(self, minutes: float, seed: int) -> None:
        if not 0 < minutes <= LONGEST:
            raise UserError(f"minutes={minutes:g} is not allowed; it is a number above 0, up to {LONGEST}.")
        self.minutes, self._seed = minutes, seed
        self._case = draw(seed)
        self._handed_out = self._case.scenario.source
        self._sheet: Any = Sheet(self._handed_out)  # a Session reads it as it would a Path
        self._row: int | None = None
        self._result: dict[str, Any] | None = None
        self.ticket = self._case.ticket
        evidence = collect(self._case.scenario)
        self._session = Session(self._case, evidence, self._sheet, minutes, grade)  # the clock starts here
        self.clock = Timer(minutes)

    # ---- what a candidate calls

    def evidence(self) -> None:
        """Show what can be asked for, and at which price."""
        if headless():
            print(f"{self.budget()} Ask with desk.ask(NUMBER) or desk.ask(NAME):")
            print("\n".join(self._lines()))
            return
        from bugzoo.interview import widgets

        widgets.picker(self)

    def ask(self, which: int | str) -> None:
        """Look at one piece of evidence, by its number or name, and pay for it."""
        print(self.look(which))
        print(self.budget())

    def program(self) -> None:
        """Put the program into a new cell below, ready to be repaired; print it where no cell can be made."""
        shell = self._magic()
        if shell is None or headless():
            for number, line in enumerate(source_lines(self._handed_out), 1):
                print(f"{number:4d}  {line}")
            print(f"A repaired program goes into a cell that begins with %%{MAGIC}")
            return
        shell.set_next_input(f"%%{MAGIC}\n{self._handed_out}", replace=False)
        print(
            f"The program is in the cell below. Its line 1 follows %%{MAGIC}: cell line minus one. Run it to keep it."
        )

    def diagnosis(self) -> None:
        """Show the form."""
        if headless():
            print(f"desk.diagnose(CAUSE, line=LINE, shows=EVIDENCE), at most {GUESSES} times. The causes:")
            print("\n".join(f"  {number:3}  {title}" for number, title in enumerate(self.causes(), 1)))
            return
        from bugzoo.interview import widgets

        widgets.form(self)

    def diagnose(self, cause: int, line: int | None = None, shows: int | str = "", test: int | None = None) -> bool:
        """Name a cause by its number, its line, the evidence that shows it and the test that tells; is it right?"""
        right = self.guess(cause, line, shows)
        print(self.verdict(right))
        if right and test is not None:
            self.tell(test)
        elif right:
            for number, text in enumerate(self.tests(), 1):
                print(f"  {number:3}  {text}")
        return right

    def hand_in(self) -> None:
        """Have the repaired program run and judged by what it does; may be done again."""
        if self._sheet.text == self._handed_out:
            print("Not attempted: the program is as it was handed out.")
            return
        self._needs_time()
        print("Running the repaired program in a process of its own ...", flush=True)
        before = time.monotonic()
        found = self._session.submit()
        self.clock.give(time.monotonic() - before)  # the machine's time, not the candidate's
        failed = [check["check"] for check in found["checks"] if not check["passed"]]
        failed = list(dict.fromkeys("an instrument" if name in diagnostics.names() else name for name in failed))
        print(f"Not healthy yet. Failed: {', '.join(failed)}." if failed else "The repaired program is healthy.")

    def close(self) -> None:
        """End the interview: score, rubric and debrief. Before anything was done there is nothing to end."""
        if self._result is None and not self.attempted and self._session.left() > 0:
            print(
                "Not attempted: nothing has been asked, named or handed in yet.\n"
                f"{self.clock.text()}. Run this cell again when you are done; what it was is told then."
            )
            return
        if self._result is None:
            status = "time over" if self._session.left() <= 0 else "finished"
            status = status if self.attempted else "abandoned"
            self._result = self._session.close(status)
            self.clock.stop()
            self._keep_end(status)
        debrief(self._result, lambda text: print(wrapped(text)))

    @property
    def attempted(self) -> bool:
        """Whether anything was looked at, named or changed."""
        session = self._session
        changed = self._sheet.text != self._handed_out
        return bool(session.evidence.seen or session.diagnoses or session.repair or changed)

    # ---- what buttons and calls share

    def look(self, which: int | str) -> str:
        """The text of one piece of evidence. Raises UserError for one that there is not, or when time is over."""
        self._needs_time()
        requests = self._session.evidence.requests()
        found = [one for one in requests if which in (one.number, one.name, str(one.number))]
        if not found:
            raise unknown("piece of evidence", str(which), [one.name for one in requests], "desk.evidence()")
        self._started()
        return self._session.ask(found[0])

    def budget(self) -> str:
        return f"{BUDGET - self._session.evidence.spent} of {BUDGET} points for evidence are left."

    def causes(self) -> list[str]:
        """What may be wrong with such a program, in words."""
        return [cause.title if cause else "Nothing is wrong" for cause in self._session.causes()]

    def guess(self, cause: int, line: int | None, shows: int | str) -> bool:
        self._needs_time()
        causes = self._session.causes()
        if not 1 <= cause <= len(causes):
            raise UserError(f"There is no cause {cause}; they go from 1 to {len(causes)}.")
        self._started()
        right = self._session.guess(causes[cause - 1])
        names = [one.name for one in self._session.evidence.requests() if shows in (one.number, one.name)]
        shown = names[0] if names and names[0] in self._session.evidence.seen else ""
        self._session.support(line, shown, "")
        return right

    def verdict(self, right: bool) -> str:
        if right and self._session.diagnoses[-1].cause == "nothing is wrong":
            return "Right: nothing is wrong."
        left = GUESSES - len(self._session.diagnoses)
        return "That is the cause. Now the repair." if right else f"That is not it. Guesses left: {left}."

    def tests(self) -> list[str]:
        """Once the cause is found: tests, one of which tells it from its look-alikes."""
        return self._session.tests() if self._session.found else []

    def tell(self, number: int) -> None:
        """Choose the test that tells."""
        self._needs_time()
        tests = self.tests()
        if not 1 <= number <= len(tests):
            raise UserError(f"There is no test {number}; they go from 1 to {len(tests)}.")
        last = self._session.diagnoses[-1]
        self._session.support(last.line, last.evidence, tests[number - 1])

    # ---- inside

    def _lines(self) -> list[str]:
        seen = self._session.evidence.seen
        return [
            f"  {one.number:3}  {'seen' if one.name in seen else one.price:>4}  {one.name:22} {one.about}"
            for one in self._session.evidence.requests()
        ]

    def _needs_time(self) -> None:
        if self._result is not None:
            raise UserError("This interview is closed. notebook.sit() begins another one.")
        if self._session.left() <= 0:
            raise UserError(OVER)

    def _started(self) -> int:
        """The row in the record, which is written with the first thing that is done; 0 where it cannot be."""
        if self._row is None:
            self._row = 0
            try:
                self._row = record.start_interview(self.ticket, self._seed, self.minutes, Path("notebook"))
            except UserError as error:  # it is held all the same
                record.remark(error)
        return self._row

    def _keep_end(self, status: str) -> None:
        try:
            record.end_interview(self._started(), status, self._result or {})
        except UserError as error:
            record.remark(error)

    def _magic(self) -> Any:
        try:
            from IPython import get_ipython
        except ImportError:
            return None
        shell = get_ipython()
        if shell is not None:
            shell.register_magic_function(self._keep, "cell", MAGIC)
        return shell

    def _keep(self, line: str, cell: str) -> None:
        """The cell magic: keep the text, run nothing."""
        self._needs_time()
        self._sheet.write(cell)
        before, now = source_lines(self._handed_out), source_lines(cell)
        changed = len(set(now) ^ set(before))
        print(f"Kept, {len(now)} lines." if changed else "Kept; nothing is changed yet.", "desk.hand_in() has it run.")

    def __repr__(self) -> str:
        state = "closed" if self._result else f"{self.clock.text()}, {self.budget()}"
        return f"<Interview {self.ticket}: {state}>"


def wrapped(text: str, width: int = 100) -> str:
    """Lines no longer than a cell is wide, broken between words; a row of the rubric goes on under its reason."""
    lines = []
    for line in text.split("\n"):
        indent = " " * (35 if line.startswith("  ") and len(line) > 35 else 0)
        broken = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        lines += broken if len(line) > width else [line]
    return "\n".join(lines)


def sit(minutes: float = 5, seed: int | None = None) -> Interview:
    """Draw a case, run it once for the evidence, show the ticket and start the clock.

    The same `seed` draws the same case; `$BUGZOO_INTERVIEW_SEED` sets it where none is given. Raises UserError.
    """
    if seed is None:
        given = os.environ.get("BUGZOO_INTERVIEW_SEED", "")
        seed = int(given) if given.isdigit() else random.SystemRandom().randrange(1_000_000)
    print("A case is drawn and run once to collect the evidence; your time starts after that ...", flush=True)
    desk = Interview(minutes, seed)
    text = brief(desk._case, minutes)
    if headless():
        print(text)
        return desk
    from IPython.display import Markdown, display

    display(Markdown(text))
    desk.clock.show()
    return desk
