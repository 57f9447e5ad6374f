"""The interview as a conversation of lines: works at a terminal and from a pipe."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bugzoo import diagnostics
from bugzoo.errors import UserError
from bugzoo.faults.model import Fault
from bugzoo.interview import words
from bugzoo.interview.evidence import BUDGET
from bugzoo.interview.lines import Lines, TimeOver
from bugzoo.interview.rubric import LISTED
from bugzoo.interview.session import GUESSES, NOTHING, Session

HELP = """\
A number asks for that piece of evidence, at its price.
  list              the evidence there is; beyond the budget it can be had, and costs twice
  diagnose          say what the cause is in your own words, how sure you are, where it is and what shows it
  submit [FILE]     hand in the repaired file (train.py in the folder when left out); may be done again
  edit              open the script in $EDITOR
  done              finish and see the score         quit   give up"""

Say = Callable[..., None]
"""`print`, or something that is called like it."""


class Talk:
    """One session, line by line."""

    def __init__(self, session: Session, lines: Lines, say: Say, outside: Callable[[], list[str]] = list) -> None:
        """`outside()` gives what other commands were asked about the case so far."""
        self.session, self.lines, self.say, self.outside = session, lines, say, outside

    def run(self) -> str:
        """Talk until the end; returns how it ended: finished, given up, time over or abandoned (no more input)."""
        self.say(HELP)
        self.listing()
        try:
            while True:
                word, _, rest = self.ask(self.prompt()).partition(" ")
                if word in ("done", "quit", "q"):
                    return "finished" if word == "done" else "given up"
                try:
                    self.command(word.lower(), rest.strip())
                except UserError as error:
                    self.say(str(error))
        except TimeOver:
            self.say("Time is over.")
            return "time over"
        except EOFError:
            # a script that ends after handing in has said all it had to say
            self.say("No more input.")
            return "finished" if self.session.repair or self.session.found else "abandoned"

    def prompt(self) -> str:
        self.session.evidence.asked_outside(self.outside())
        left, points = self.session.left(), BUDGET - self.session.evidence.spent
        return f"[{int(left // 60)}:{int(left % 60):02d} left, {points} of {BUDGET} points] > "

    def ask(self, prompt: str) -> str:
        self.say(prompt, end="" if self.lines.at_terminal else "\n", flush=True)
        return self.lines.next(self.session.deadline).strip()

    def command(self, word: str, rest: str) -> None:
        if (number := counted(word)) is not None:
            self.evidence(number)
        elif word == "list":
            self.listing()
        elif word in ("diagnose", "d"):
            self.diagnose()
        elif word in ("submit", "s"):
            self.submit(rest)
        elif word in ("edit", "e"):
            edit(self.session.script, self.say)
        elif word:
            self.say(HELP if word in ("help", "h", "?") else f"{word!r} is no command. {HELP}")

    def listing(self) -> None:
        seen = self.session.evidence.seen
        for request in self.session.evidence.requests():
            mark = "seen" if request.name in seen else f"{request.price}"
            self.say(f"  {request.number:3}  {mark:>4}  {request.name:22} {request.about}")

    def evidence(self, number: int) -> None:
        requests = self.session.evidence.requests()
        if not 1 <= number <= len(requests):
            raise UserError(f"There is no request {number}; they go from 1 to {len(requests)}.")
        self.say(self.session.ask(requests[number - 1]))

    def diagnose(self) -> None:
        if not self.session.may_guess:
            raise UserError("The cause is found already." if self.session.found else f"All {GUESSES} guesses are used.")
        cause = self.cause()
        sure = self.sure()
        right = self.session.guess(cause, sure)
        line = None
        if cause not in (None, NOTHING):
            text = self.ask("In which line of train.py? (empty: unknown) > ")
            line = counted(text)
        requests = self.session.evidence.requests()
        chosen = counted(self.ask("Which piece of evidence shows it? Its number (empty: none) > "))
        shown = requests[chosen - 1].name if chosen and chosen <= len(requests) else ""
        if shown not in self.session.evidence.seen:
            shown = ""  # what was not looked at shows nothing
        test = ""
        tests = self.session.tests() if right else []
        if tests:
            for number, one in enumerate(tests, start=1):
                self.say(f"  {number:3}  {one}")
            chosen = counted(self.ask("Which test tells it from its look-alikes? Its number (empty: unknown) > "))
            test = tests[chosen - 1] if chosen and chosen <= len(tests) else ""
        self.session.support(line, shown, test)
        if right:
            healthy = self.session.diagnoses[-1].cause == NOTHING
            self.say("Right: nothing is wrong." if healthy else "That is the cause. `submit` hands in the repair.")
        else:
            left = GUESSES - len(self.session.diagnoses)
            self.say(f"That is not it. Guesses left: {left}.")

    def cause(self) -> Fault | str | None:
        """The cause as somebody says it: a word of the table; or one of the list, for those who ask for it with `?`."""
        prompt = f"What is the cause, in your own words? (? shows the list; a cause of it is worth {LISTED:.0%}) > "
        while True:
            text = self.ask(prompt)
            if not text:
                raise UserError("No diagnosis was given.")
            if text == "?" or counted(text) is not None:
                return self.listed(counted(text))
            try:
                meant = words.meant(text)
            except UserError as error:
                self.say(str(error))
                continue
            if len(meant) == 1:
                self.say(f"Taken for: {meant[0]}.")
                return meant[0]
            for number, word in enumerate(meant, start=1):
                self.say(f"  {number:3}  {word}")
            if chosen := self.number("Which of these? Its number > ", len(meant), back=True):
                return meant[chosen - 1]

    def listed(self, chosen: int | None) -> Fault | None:
        """A cause of the list, by its number; it is shown where none was typed."""
        causes = self.session.show_list()
        if chosen is None or not 1 <= chosen <= len(causes):
            for number, cause in enumerate(causes, start=1):
                self.say(f"  {number:3}  {cause.title if cause else 'Nothing is wrong'}")
            chosen = self.number("Which is the cause? Its number > ", len(causes))
        return causes[chosen - 1]

    def sure(self) -> int:
        """How sure somebody is of it; an empty line says 50."""
        while True:
            text = self.ask("How sure are you, 0 to 100? (empty: 50) > ").removesuffix("%").strip()
            number = counted(text) if text else 50
            if number is not None and number <= 100:
                return number
            self.say("A whole number from 0 (a guess) to 100 (certain).")

    def number(self, prompt: str, highest: int, back: bool = False) -> int:
        """A number from 1 to `highest`; 0 for an empty line where one may go `back`, which raises UserError elsewhere."""
        while True:
            text = self.ask(prompt)
            number = counted(text)
            if number and number <= highest:
                return number
            if not text and back:
                return 0
            if not text:
                raise UserError("No diagnosis was given.")
            self.say(f"A number from 1 to {highest}, or nothing to go back.")

    def submit(self, name: str) -> None:
        self.say("Running the repaired file ...")
        found = self.session.submit(Path(os.path.expanduser(name)) if name else None)
        # which check failed, not what its instruments say: that would be evidence for free
        failed = [check["check"] for check in found["checks"] if not check["passed"]]
        failed = list(dict.fromkeys("an instrument" if name in diagnostics.names() else name for name in failed))
        self.say(f"Not healthy yet. Failed: {', '.join(failed)}." if failed else "The repaired program is healthy.")


def counted(text: str) -> int | None:
    """The number that was typed, or None; what Unicode calls a digit, or has thousands of them, is no number here."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def edit(script: Path, say: Say) -> None:
    """Open the script in `$EDITOR`; without one its path is enough."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        say(f"$EDITOR is not set. The script is {script}")
        return
    try:
        subprocess.run([*shlex.split(editor), str(script)], check=False)
    except (OSError, ValueError) as error:
        say(f"{editor} could not be started ({error}). The script is {script}")


def debrief(result: dict[str, Any], say: Say) -> None:
    """The rubric and what the case was; of a report `for_candidate` the points alone."""
    say("")
    for row in result["rows"]:
        of = f"/{row['of']}" if row["of"] else ""
        say(f"  {row['name']:21} {row['points']:>5g}{of:4} {row.get('why', '')}".rstrip())
    say(f"  {'total':21} {result['points']:>5g}/{result['of']}  ({result['status']})")
    told = result.get("debrief")
    if told is None:
        say("\nWhat it was is told by your interviewer.")
        return
    say(f"\nThe case: {told['case']} on {told['program']}: {told['title']}\n\n{told['why']}\n\nRepair: {told['fix']}")
    if told["shown_by"]:
        say(f"Shown by: {', '.join(told['shown_by'])}")
    for other, test in told["look_alikes"].items():
        say(f"Looks like {other}: {test}")
    say(f"\n{told['diff']}")
    if result.get("diff"):
        say(f"What you handed in:\n\n{result['diff']}")


def for_candidate(result: dict[str, Any]) -> dict[str, Any]:
    """A report without what tells the answer: its points, when, and no reasons."""
    kept = ("status", "ticket", "minutes", "seconds", "points", "of", "score", "sure")
    rows = [{name: row[name] for name in ("name", "points", "of")} for row in result.get("rows", ())]
    return {name: result[name] for name in kept if name in result} | {"rows": rows}
