"""The interview in a notebook: the same case, evidence, clock, grading and rubric as in the terminal.

    from bugzoo.interview import notebook
    desk = notebook.sit(minutes=5)     # draws a case; desk.evidence(), desk.program(), desk.diagnosis(), desk.close()

With a front end it shows buttons and a form; without one, use method calls and text.
"""

import os
import random
import re
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.interview import LONGEST, debrief, pages
from bugzoo.interview.deck import draw
from bugzoo.interview.evidence import collect
from bugzoo.interview.repair import grade, summary
from bugzoo.interview.requests import BUDGET, Request, find, listed
from bugzoo.interview.session import GUESSES, Session, brief
from bugzoo.lab import Timer, headless, picture
from bugzoo.syntax import source_lines
from bugzoo.views import show

MAGIC = "repaired"

WIDE = 96
"""Characters of a line without a front end."""

ROW = re.compile(r"  .{20}\S* +-?[\d.]+(/\d+)? ")
"""A row of the rubric: name, points and reason."""

OVER = "Your time is over: desk.close() shows the score."


class Sheet:
    """The program's text from the notebook's cell; a Session reads it like a file."""

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
    """One interview. `close()` tells what is wrong with the program."""

    def __init__(self, minutes: float, seed: int) -> None:
        if not 0 < minutes <= LONGEST:
            raise UserError(f"minutes={minutes:g} is not allowed. Give a number above 0, up to {LONGEST}.")
        self.minutes, self._seed = minutes, seed
        self._case = draw(seed)
        self._handed_out = self._case.scenario.source
        self._sheet: Any = Sheet(self._handed_out)  # a Session reads it like a Path
        self._row: int | None = None
        self._result: dict[str, Any] | None = None
        self.ticket = self._case.ticket
        evidence = collect(self._case.scenario)
        self._session = Session(self._case, evidence, self._sheet, minutes, grade)  # the clock starts here
        self.clock = Timer(minutes)

    # ---- called by the candidate

    def evidence(self) -> None:
        """Show the evidence and its prices."""
        if headless():
            print(f"{self.budget()} Ask with desk.ask(NUMBER) or desk.ask(NAME):")
            parts = pages.groups(listed(), self._session.evidence.seen, WIDE)
            print("\n".join(line for part in parts for line in part))
            return
        from bugzoo.interview import widgets

        widgets.picker(self)

    def ask(self, which: int | str, step: int | None = None) -> None:
        """Buy one piece of evidence, by its number or name, and show it. `step`: the step that `batch` shows."""
        print(self.look(which, step))
        if not headless() and (figure := self.figure(which, step)) is not None:
            picture(figure)
        print(self.budget())

    def program(self) -> None:
        """Put the program into a new cell below, to be repaired; print it if no cell can be added."""
        shell = self._magic()
        if shell is None or headless():
            for number, line in enumerate(source_lines(self._handed_out), 1):
                print(f"{number:4d}  {line}")
            print(f"Put the repaired program into a cell that begins with %%{MAGIC}")
            return
        shell.set_next_input(f"%%{MAGIC}\n{self._handed_out}", replace=False)
        lines = f"Its line 1 is the cell's line 2, after %%{MAGIC}."
        print(f"The program is in the cell below. {lines} Run the cell to save it.")

    def diagnosis(self) -> None:
        """Show the form."""
        if headless():
            print(f"desk.diagnose(CAUSE, line=LINE, shows=EVIDENCE), at most {GUESSES} times. The causes:")
            print("\n".join(f"  {number:3}  {title}" for number, title in enumerate(self.causes(), 1)))
            return
        from bugzoo.interview import widgets

        widgets.form(self)

    def diagnose(self, cause: int, line: int | None = None, shows: int | str = "", test: int | None = None) -> bool:
        """Name a cause by number, its line, its evidence and the discriminating test; return whether it is right."""
        right = self.guess(cause, line, shows)
        print(self.verdict(right))
        if right and test is not None:
            self.tell(test)
        elif right:
            for number, text in enumerate(self.tests(), 1):
                print(f"  {number:3}  {text}")
        return right

    def hand_in(self) -> None:
        """Run the repaired program and grade it by what it does; may be repeated."""
        if self._sheet.text == self._handed_out:
            print("Not attempted: the program is unchanged.")
            return
        self._needs_time()
        print("Running the repaired program in a process of its own ...", flush=True)
        before = time.monotonic()
        verdict = self._session.submit()
        self.clock.give(time.monotonic() - before)  # the machine's time, not the candidate's
        print(summary(verdict))

    def close(self) -> None:
        """End the interview and print score, rubric and debrief; does nothing before the first action."""
        if self._result is None and not self.attempted and self._session.left() > 0:
            print(
                "Not attempted: you have not asked, diagnosed or handed in anything yet.\n"
                f"{self.clock.text()}. Run this cell again when you are done; it then shows the solution."
            )
            return
        if self._result is None:
            status = "time over" if self._session.left() <= 0 else "finished"
            status = status if self.attempted else "abandoned"
            self._result = self._session.close(status)
            self.clock.stop()
            self._keep_end(status)
        debrief.show(self._result, lambda text: print(wrapped(text)))

    @property
    def attempted(self) -> bool:
        """Return whether the candidate has bought, named or changed anything."""
        session = self._session
        changed = self._sheet.text != self._handed_out
        return bool(session.evidence.seen or session.diagnoses or session.repair or changed)

    # ---- shared by buttons and calls

    def look(self, which: int | str, step: int | None = None) -> str:
        """Return the text of one piece of evidence. Raises UserError for an unknown one, or when time is over."""
        self._needs_time()
        request = self._request(which)
        before = time.monotonic()
        text = self._session.ask(request, step)
        self.clock.give(time.monotonic() - before)  # the machine's time, not the candidate's
        self._started()
        reading = self._session.evidence.bought(request.name, step)
        return text if headless() or reading is None else show.text(request.name, reading)

    def figure(self, which: int | str, step: int | None = None) -> Any:
        """Return the picture of a view that was bought; None for anything else."""
        name = self._request(which).name
        reading = self._session.evidence.bought(name, step)
        return None if reading is None else show.figure(name, reading)

    def budget(self) -> str:
        return f"{BUDGET - self._session.evidence.spent} of {BUDGET} points for evidence are left."

    def causes(self) -> list[str]:
        """Return the possible causes for this program, as titles."""
        return [cause.title if cause else "Nothing is wrong" for cause in self._session.causes()]

    def guess(self, cause: int, line: int | None, shows: int | str) -> bool:
        self._needs_time()
        causes = self._session.causes()
        if not 1 <= cause <= len(causes):
            raise UserError(f"There is no cause {cause}. Choose from 1 to {len(causes)}.")
        self._started()
        right = self._session.guess(causes[cause - 1])
        names = [request.name for request in listed() if shows in (request.number, request.name)]
        evidence = names[0] if names and names[0] in self._session.evidence.seen else ""
        self._session.support(line, evidence, "")
        return right

    def verdict(self, right: bool) -> str:
        if right and self._session.diagnoses[-1].cause == "nothing is wrong":
            return "Right: nothing is wrong."
        left = GUESSES - len(self._session.diagnoses)
        return "That is the cause. Now repair it." if right else f"That is not the cause. Guesses left: {left}."

    def tests(self) -> list[str]:
        """Return, once the cause is found, tests of which one tells it from its look-alikes."""
        return self._session.tests() if self._session.found else []

    def tell(self, number: int) -> None:
        """Choose the discriminating test."""
        self._needs_time()
        tests = self.tests()
        if not 1 <= number <= len(tests):
            raise UserError(f"There is no test {number}. Choose from 1 to {len(tests)}.")
        last = self._session.diagnoses[-1]
        self._session.support(last.line, last.evidence, tests[number - 1])

    # ---- inside

    def _request(self, which: int | str) -> Request:
        return find(str(which), "desk.evidence()")

    def _needs_time(self) -> None:
        if self._result is not None:
            raise UserError("This interview is closed. Start another one with notebook.sit().")
        if self._session.left() <= 0:
            raise UserError(OVER)

    def _started(self) -> int:
        """Return the row in the record, written with the first action; 0 if it cannot be written."""
        if self._row is None:
            self._row = 0
            try:
                self._row = record.start_interview(self.ticket, self._seed, self.minutes, Path("notebook"))
            except UserError as error:  # the interview continues anyway
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
        """Cell magic: save the text, run nothing."""
        self._needs_time()
        self._sheet.write(cell)
        before, now = source_lines(self._handed_out), source_lines(cell)
        changed = len(set(now) ^ set(before))
        print(f"Saved, {len(now)} lines." if changed else "Saved, without a change.", "Run it with desk.hand_in().")

    def __repr__(self) -> str:
        state = "closed" if self._result else f"{self.clock.text()}, {self.budget()}"
        return f"<Interview {self.ticket}: {state}>"


def wrapped(text: str, width: int = 100) -> str:
    """Return text wrapped between words at `width`; a row of the rubric continues under its reason."""
    lines = []
    for line in text.split("\n"):
        margin = len(line) - len(line.lstrip())
        indent = " " * (35 if ROW.match(line) else margin + 2 if margin else 0)
        broken = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        lines += broken if len(line) > width else [line]
    return "\n".join(lines)


def sit(minutes: float = 5, seed: int | None = None) -> Interview:
    """Draw a case, run it once for the evidence, show the ticket and start the clock.

    The same `seed` draws the same case; `$BUGZOO_INTERVIEW_SEED` is the default. Raises UserError.
    """
    if seed is None:
        setting = os.environ.get("BUGZOO_INTERVIEW_SEED", "")
        seed = int(setting) if setting.isdigit() else random.SystemRandom().randrange(1_000_000)
    print("Drawing a case and running it once to collect the evidence. Your time starts after that ...", flush=True)
    desk = Interview(minutes, seed)
    text = brief(desk._case, minutes)
    if headless():
        print(text)
        return desk
    from IPython.display import Markdown, display

    display(Markdown(text))
    desk.clock.show()
    return desk
