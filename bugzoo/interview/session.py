"""One interview: evidence, guesses and repair, against the clock. Independent of terminal and notebook."""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bugzoo import faults, programs
from bugzoo.errors import UserError
from bugzoo.faults.model import Fault
from bugzoo.files import read_text, write_atomic
from bugzoo.interview import debrief, rubric, taken
from bugzoo.interview.deck import NOTHING, Case
from bugzoo.interview.evidence import Evidence
from bugzoo.interview.measure import SCRIPT
from bugzoo.interview.requests import Request
from bugzoo.interview.rubric import Diagnosis
from bugzoo.scenario import fits

GUESSES = 3
TICKET = "TICKET.md"


def brief(case: Case, minutes: float) -> str:
    """Return the ticket that the candidate gets."""
    task = programs.load(case.scenario.program).facts["task"].replace("_", " ")
    return (
        f"# Ticket {case.ticket}\n\n> {case.fault.report}\n\n"
        f"`{SCRIPT}` is the script ({task}). It may have a fault, or the report may be a false alarm.\n"
        f"You have {minutes:g} minutes. Find the cause, its line and the evidence that shows it, and repair the file.\n"
    )


def open_folder(case: Case, folder: Path, minutes: float) -> Path:
    """Write the broken script and the ticket into a new folder, both or neither.

    Raises UserError if the folder exists, or if they cannot be written.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise taken(folder) from None
    except OSError as error:
        raise UserError(f"{folder} could not be created: {error.strerror}. Choose another with --folder.") from None
    try:
        write_atomic(folder / TICKET, brief(case, minutes))
        write_atomic(folder / SCRIPT, case.scenario.source)
    except BaseException:  # a full disk, a Ctrl-C
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder / SCRIPT


class Session:
    """One candidate's interview. Times are seconds since its start."""

    def __init__(
        self,
        case: Case,
        evidence: Evidence,
        script: Any,
        minutes: float,
        grade: Callable[[Case, str], dict[str, Any]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.case, self.evidence, self.script, self.limit = case, evidence, script, 60 * minutes
        self._grade, self._clock = grade, clock
        self._start = clock()
        self.deadline = self._start + self.limit
        self._wall_end = time.time() + self.limit
        self.diagnoses: list[Diagnosis] = []
        self.before: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.repair: dict[str, Any] | None = None
        self.ended: float | None = None

    def seconds(self) -> float:
        return min(self._clock() - self._start, self.limit)

    def left(self) -> float:
        return max(0.0, self.deadline - self._clock())

    @property
    def found(self) -> bool:
        return bool(self.diagnoses) and self.diagnoses[-1].right

    def check_guesses(self) -> None:
        """Raise UserError if the cause is found, or if no guess is left."""
        if self.found or len(self.diagnoses) >= GUESSES:
            raise UserError("You have already found the cause." if self.found else f"All {GUESSES} guesses are used.")

    def causes(self) -> list[Fault | None]:
        """Return the causes to choose from: every fault that fits this program, and None for no fault."""
        program = self.case.scenario.program
        fitting = [fault for fault in faults.catalogue().values() if not fault.trap and program in fits(fault)]
        ordered: list[Any] = sorted(fitting, key=lambda fault: fault.title)
        return [*ordered, None]

    def tests(self) -> list[str]:
        """Return the discriminating tests to choose from; empty if this case has no look-alike."""
        return list(self.case.tests.texts)

    def ask(self, request: Request, step: int | None = None) -> str:
        """Return what one request shows; `step`: the optimizer step that a view shows. Raises UserError."""
        spent = self.evidence.spent
        with self._machine():
            text = self.evidence.ask(request, step)
        details = {"request": request.name} | ({} if step is None else {"step": step})
        self._note("evidence", **details, price=self.evidence.spent - spent, text=text)
        return text

    def guess(self, cause: Fault | None) -> bool:
        """Name the cause (None: nothing is wrong); return whether it is right. A wrong guess costs points."""
        self.check_guesses()
        if not self.diagnoses:
            self.before = list(self.evidence.seen)
        diagnosis = Diagnosis(cause.id if cause else NOTHING, seconds=self.seconds())
        diagnosis.right = self.case.fault.trap if cause is None else cause.id == self.case.fault.id
        if not diagnosis.right:
            evidence = self.evidence
            diagnosis.against = evidence.unusual() if cause is None else evidence.contradicts(cause.evidence)
        self.diagnoses.append(diagnosis)
        self._note("guess", cause=diagnosis.cause, right=diagnosis.right)
        return diagnosis.right

    def support(self, line: int | None, evidence: str, test: str) -> None:
        """Record line, evidence and discriminating test for the last guess."""
        diagnosis = self.diagnoses[-1]
        diagnosis.line, diagnosis.evidence, diagnosis.test = line, evidence, test
        self._note("support", line=line, evidence=evidence, test=test)

    def submit(self, path: Path | None = None) -> dict[str, Any]:
        """Grade a repaired file (default: the script in the folder) by what it does. Raises UserError."""
        file = self.script if path is None else path
        source = read_text(file)
        self.ended = self.seconds()
        with self._machine():
            self.repair = self._grade(self.case, source)
        self._note("repair", file=str(file), **self.repair)
        return self.repair

    def close(self, status: str) -> dict[str, Any]:
        """Return the report. A changed file that was not handed in counts if it was saved in time."""
        changed = self.case.fault.trap and self.found
        try:
            saved = self.script.stat().st_mtime <= self._wall_end + 1
            changed = changed or self.script.read_text(encoding="utf-8") != self.case.scenario.source
        except (OSError, UnicodeDecodeError):
            saved = False
        if self.repair is None and changed and saved and status in ("finished", "time over"):
            self.submit()
        seconds = (self.limit if status == "time over" else self.ended if self.repair else self.seconds()) or 0.0
        rows = rubric.score(self.case, self.evidence, self.diagnoses, self.before, self.repair, seconds, self.limit)
        return {
            "status": status,
            "ticket": self.case.ticket,
            "seed": self.case.seed,
            "minutes": self.limit / 60,
            "seconds": round(seconds, 1),
            **rubric.total(rows),
            "evidence": {"seen": self.evidence.seen, "spent": self.evidence.spent},
            "debrief": debrief.of(self.case, self.evidence),
            "events": self.events,
        }

    @contextlib.contextmanager
    def _machine(self) -> Iterator[None]:
        """Stop the clock meanwhile: this is the machine's time, not the candidate's."""
        before = self._clock()
        try:
            yield
        finally:
            waited = self._clock() - before
            self._start, self.deadline = self._start + waited, self.deadline + waited
            self._wall_end += waited

    def _note(self, kind: str, **what: Any) -> None:
        self.events.append({"seconds": round(self.seconds(), 1), "event": kind} | what)
