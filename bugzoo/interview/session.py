"""One interview: what was asked, guessed and handed in, against the clock. Knows nothing of terminals."""

import difflib
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bugzoo import faults, programs
from bugzoo.diagnostics import causes as table
from bugzoo.errors import UserError
from bugzoo.faults.model import Fault
from bugzoo.files import write_atomic
from bugzoo.interview import rubric, taken
from bugzoo.interview.deck import Case
from bugzoo.interview.evidence import SCRIPT, Evidence, Request
from bugzoo.interview.rubric import Diagnosis
from bugzoo.scenario import fits
from bugzoo.syntax import source_lines

NOTHING = table.NOTHING
GUESSES = 3
TICKET = "TICKET.md"


def brief(case: Case, minutes: float) -> str:
    """The ticket as the candidate gets it."""
    task = programs.load(case.scenario.program).facts["task"].replace("_", " ")
    return (
        f"# Ticket {case.ticket}\n\n> {case.fault.report}\n\n"
        f"`{SCRIPT}` is the script that this is about ({task}). It may be ill, or the report may be a false alarm.\n"
        f"You have {minutes:g} minutes. Find the cause, say where it is and what shows it, and repair the file.\n"
    )


def open_folder(case: Case, folder: Path, minutes: float) -> Path:
    """Write the broken script and the ticket into a new folder, both or neither.

    Raises UserError when there is something already, or where they cannot be written.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise taken(folder) from None
    except OSError as error:
        raise UserError(f"{folder} could not be made: {error.strerror}. Name another one with --folder.") from None
    try:
        write_atomic(folder / TICKET, brief(case, minutes))
        write_atomic(folder / SCRIPT, case.scenario.source)
    except BaseException:  # a full disk, a Ctrl-C
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder / SCRIPT


def changed(before: str, after: str) -> str:
    """What a candidate changed, as a unified diff."""
    one, two = (source_lines(text, keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(one, two, f"handed out/{SCRIPT}", f"handed in/{SCRIPT}", n=2))


class Session:
    """The candidate's interview. Times are seconds since its start."""

    def __init__(
        self,
        case: Case,
        evidence: Evidence,
        script: Any,
        minutes: float,
        grade: Callable[[Case, str], dict[str, Any]],
        clock: Callable[[], float] = time.monotonic,
        log: Callable[..., None] | None = None,
    ) -> None:
        """`log(event=..., seconds=..., ...)` hears of everything that happens, as it happens."""
        self.case, self.evidence, self.script, self.limit = case, evidence, script, 60 * minutes
        self._grade, self._clock, self._log = grade, clock, log
        self._start = clock()
        self.deadline = self._start + self.limit
        self._wall_end = time.time() + self.limit
        self.diagnoses: list[Diagnosis] = []
        self.before: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.repair: dict[str, Any] | None = None
        self.ended: float | None = None
        self.listed = False
        """Whether the list of causes was looked at."""

    def again(self, events: list[dict[str, Any]], seconds: float) -> None:
        """Stand where a session stood after these events, with so many seconds gone: it was killed and is resumed."""
        self._start = self._clock() - seconds
        self.deadline = self._start + self.limit
        self._wall_end = time.time() + self.left()
        for one in events:
            kind = one.get("event")
            if kind == "evidence" and one["request"] not in self.evidence.seen:
                self.evidence.seen.append(one["request"])
                self.evidence.spent += int(one["price"])
            elif kind == "list":
                self.listed = True
            elif kind == "guess":
                self.before = self.before if self.diagnoses else list(self.evidence.seen)
                said = {name: one[name] for name in ("cause", "right", "against", "sure", "listed")}
                self.diagnoses.append(Diagnosis(**said, seconds=one["seconds"]))
            elif kind == "support" and self.diagnoses:
                last = self.diagnoses[-1]
                last.line, last.evidence, last.test = one["line"], one["evidence"], one["test"]
            elif kind == "repair":
                self.repair = {name: one[name] for name in ("share", "why", "checks", "diff") if name in one}
                self.ended = one["seconds"]
        self.events = list(events)

    def seconds(self) -> float:
        return min(self._clock() - self._start, self.limit)

    def left(self) -> float:
        return max(0.0, self.deadline - self._clock())

    @property
    def found(self) -> bool:
        return bool(self.diagnoses) and self.diagnoses[-1].right

    @property
    def may_guess(self) -> bool:
        return not self.found and len(self.diagnoses) < GUESSES

    def causes(self) -> list[Fault | None]:
        """What can be named as the cause: every fault that this program could have, and None for nothing."""
        fitting = [
            fault
            for fault in faults.catalogue().values()
            if not fault.trap and self.case.scenario.program in fits(fault)
        ]
        ordered: list[Any] = sorted(fitting, key=lambda fault: fault.title)
        return [*ordered, None]

    def tests(self) -> list[str]:
        """Discriminating tests to choose from; empty where this case has no look-alike."""
        return list(self.case.tests.texts)

    def ask(self, request: Request) -> str:
        """The numbers behind one request."""
        spent = self.evidence.spent
        text = self.evidence.ask(request)
        self._note("evidence", request=request.name, price=self.evidence.spent - spent, text=text)
        return text

    def show_list(self) -> list[Fault | None]:
        """The causes to choose from: a look at them makes a cause that is named afterwards worth less."""
        if not self.listed:
            self.listed = True
            self._note("list")
        return self.causes()

    def guess(self, cause: Fault | str | None, sure: int | None = None) -> bool:
        """Name the cause: a word of the table of causes, a fault of the list, None for nothing. Is it right?

        `sure`: 0 to 100. A wrong guess costs points. Raises UserError where no guess is left, or for another `sure`.
        """
        if not self.may_guess:
            raise UserError("The cause is found already." if self.found else f"All {GUESSES} guesses are used.")
        if sure is not None and not 0 <= sure <= 100:
            raise UserError(f"How sure you are is a whole number from 0 (a guess) to 100 (certain), not {sure}.")
        if not self.diagnoses:
            self.before = list(self.evidence.seen)
        cause = None if cause == NOTHING else cause
        [(fault, params)] = self.case.scenario.specs
        name = NOTHING if cause is None else cause if isinstance(cause, str) else cause.id
        given = Diagnosis(name, seconds=self.seconds(), sure=sure, listed=self.listed)
        if isinstance(cause, str):
            given.right = cause in table.right(fault.id, params)
        else:
            given.right = fault.trap if cause is None else cause.id == fault.id
        if not given.right:
            given.against = self._against(cause)
        self.diagnoses.append(given)
        about = {"cause": given.cause, "right": given.right, "against": given.against}
        self._note("guess", **about, sure=sure, listed=given.listed)
        return given.right

    def _against(self, cause: Fault | str | None) -> bool:
        """Whether something that was seen speaks against a wrong cause; of a word, against all that it stands for."""
        if cause is None:
            return any(name in self.evidence.seen for name in self.evidence.fired())
        if not isinstance(cause, str):
            return self.evidence.contradicts(cause.evidence)
        meant = [one for one in self.causes() if one and cause in table.right(one.id)]
        return bool(meant) and all(self.evidence.contradicts(one.evidence) for one in meant)

    def support(self, line: int | None, evidence: str, test: str) -> None:
        """Where it is, the request that shows it and the test that tells the look-alikes apart, for the last guess."""
        given = self.diagnoses[-1]
        given.line, given.evidence, given.test = line, evidence, test
        self._note("support", line=line, evidence=evidence, test=test)

    def submit(self, path: Path | None = None) -> dict[str, Any]:
        """Grade a repaired file (the script in the folder by default) by what it does. Raises UserError."""
        file = self.script if path is None else path
        try:
            source = file.read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(f"{file} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise UserError(f"{file} is no text in UTF-8.") from None
        except ValueError as error:  # a zero byte in the name
            raise UserError(f"{str(file)!r} cannot be read: {error}.") from None
        self.ended, before = self.seconds(), self._clock()
        self.repair = self._grade(self.case, source) | {"diff": changed(self.case.scenario.source, source)}
        waited = self._clock() - before  # the machine's time, not the candidate's
        self._start, self.deadline, self._wall_end = (
            self._start + waited,
            self.deadline + waited,
            self._wall_end + waited,
        )
        self._note("repair", file=str(file), waited=round(waited, 1), **self.repair)
        return self.repair

    def close(self, status: str) -> dict[str, Any]:
        """The report. A changed file that was not handed in counts when it was saved in time."""
        changed = self.case.fault.trap and self.found
        try:
            saved = self.script.stat().st_mtime <= self._wall_end + 1
            changed = changed or self.script.read_text(encoding="utf-8") != self.case.scenario.source
        except (OSError, UnicodeDecodeError):
            saved = False
        if self.repair is None and changed and saved and status in ("finished", "time over"):
            self.submit()
        seconds = self.limit if status == "time over" else self.ended if self.repair else self.seconds()
        rows = rubric.score(
            self.case, self.evidence, self.diagnoses, self.before, self.repair, seconds or 0.0, self.limit
        )
        fault, scenario = self.case.fault, self.case.scenario
        return {
            "status": status,
            "ticket": self.case.ticket,
            "seed": self.case.seed,
            "minutes": self.limit / 60,
            "seconds": round(seconds or 0.0, 1),
            **rubric.total(rows),
            "sure": self.diagnoses[-1].sure if self.diagnoses else None,
            "brier": rubric.brier(self.diagnoses),
            "evidence": {"seen": self.evidence.seen, "spent": self.evidence.spent, "outside": self.evidence.outside},
            "diff": self.repair.get("diff", "") if self.repair else "",
            "debrief": {
                "cause": NOTHING if fault.trap else fault.id,
                "case": fault.id,
                "program": scenario.program,
                "topic": self.case.topic,
                "title": fault.title,
                "why": fault.why,
                "fix": fault.fix,
                "shown_by": self.evidence.fired(),
                "look_alikes": {
                    one.other: f"{one.test} Here: {one.here} There: {one.there}" for one in fault.look_alikes
                },
                "diff": scenario.diff(),
            },
            "events": self.events,
        }

    def _note(self, kind: str, **what: Any) -> None:
        self.events.append({"seconds": round(self.seconds(), 1), "event": kind} | what)
        if self._log is not None:
            self._log(**self.events[-1])
