"""The interview as lines of text: works at a terminal and from a pipe."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bugzoo import diagnostics
from bugzoo.errors import UserError
from bugzoo.interview.evidence import BUDGET
from bugzoo.interview.lines import Lines, TimeOver
from bugzoo.interview.session import GUESSES, Session

HELP = """\
Type a number to buy that piece of evidence.
  list              list the evidence
  diagnose          name the cause, its line and the evidence that shows it
  submit [FILE]     hand in the repaired file (default: train.py in the folder); may be repeated
  edit              open the script in $EDITOR
  done              finish and see the score         quit   give up"""

Say = Callable[..., None]
"""`print`, or something that is called like it."""


class Talk:
    """One session, line by line."""

    def __init__(self, session: Session, lines: Lines, say: Say) -> None:
        self.session, self.lines, self.say = session, lines, say

    def run(self) -> str:
        """Talk until the end; return how it ended: finished, given up, time over or abandoned (no more input)."""
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
            # a script that ends after handing in is done
            self.say("No more input.")
            return "finished" if self.session.repair or self.session.found else "abandoned"

    def prompt(self) -> str:
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
            self.say(HELP if word in ("help", "h", "?") else f"{word!r} is not a command. {HELP}")

    def listing(self) -> None:
        seen = self.session.evidence.seen
        for request in self.session.evidence.requests():
            mark = "seen" if request.name in seen else f"{request.price}"
            self.say(f"  {request.number:3}  {mark:>4}  {request.name:22} {request.about}")

    def evidence(self, number: int) -> None:
        requests = self.session.evidence.requests()
        if not 1 <= number <= len(requests):
            raise UserError(f"There is no evidence {number}. Choose from 1 to {len(requests)}.")
        self.say(self.session.ask(requests[number - 1]))

    def diagnose(self) -> None:
        if not self.session.may_guess:
            raise UserError(
                "You have already found the cause." if self.session.found else f"All {GUESSES} guesses are used."
            )
        causes = self.session.causes()
        for number, cause in enumerate(causes, start=1):
            self.say(f"  {number:3}  {cause.title if cause else 'Nothing is wrong'}")
        cause = causes[self.number("Which cause? Its number > ", len(causes)) - 1]
        right = self.session.guess(cause)
        line = None
        if cause is not None:
            text = self.ask("Which line of train.py? (empty: unknown) > ")
            line = counted(text)
        requests = self.session.evidence.requests()
        chosen = counted(self.ask("Which evidence shows it? Its number (empty: none) > "))
        shown = requests[chosen - 1].name if chosen and chosen <= len(requests) else ""
        if shown not in self.session.evidence.seen:
            shown = ""  # evidence that was not bought does not count
        test = ""
        tests = self.session.tests() if right else []
        if tests:
            for number, one in enumerate(tests, start=1):
                self.say(f"  {number:3}  {one}")
            chosen = counted(self.ask("Which test tells it from its look-alikes? Its number (empty: unknown) > "))
            test = tests[chosen - 1] if chosen and chosen <= len(tests) else ""
        self.session.support(line, shown, test)
        if right:
            self.say("That is the cause. Hand in the repair with `submit`." if cause else "Right: nothing is wrong.")
        else:
            left = GUESSES - len(self.session.diagnoses)
            self.say(f"That is not the cause. Guesses left: {left}.")

    def number(self, prompt: str, highest: int) -> int:
        while True:
            text = self.ask(prompt)
            number = counted(text)
            if number and number <= highest:
                return number
            if not text:
                raise UserError("No diagnosis was given.")
            self.say(f"Type a number from 1 to {highest}, or nothing to go back.")

    def submit(self, name: str) -> None:
        self.say("Running the repaired file ...")
        found = self.session.submit(Path(os.path.expanduser(name)) if name else None)
        # name the failed check, not its instruments' numbers: those would be free evidence
        failed = [check["check"] for check in found["checks"] if not check["passed"]]
        failed = list(dict.fromkeys("an instrument" if name in diagnostics.names() else name for name in failed))
        self.say(f"Not healthy yet. Failed: {', '.join(failed)}." if failed else "The repaired program is healthy.")


def counted(text: str) -> int | None:
    """Return the typed number, or None; other Unicode digits and very long numbers do not count."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def edit(script: Path, say: Say) -> None:
    """Open the script in `$EDITOR`; without one, print its path."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        say(f"$EDITOR is not set. The script is {script}")
        return
    try:
        subprocess.run([*shlex.split(editor), str(script)], check=False)
    except (OSError, ValueError) as error:
        say(f"{editor} could not be started ({error}). The script is {script}")


def debrief(result: dict[str, Any], say: Say) -> None:
    """Print the rubric and the solution of the case."""
    say("")
    for row in result["rows"]:
        of = f"/{row['of']}" if row["of"] else ""
        say(f"  {row['name']:20} {row['points']:>5g}{of:4} {row['why']}")
    say(f"  {'total':20} {result['points']:>5g}/{result['of']}  ({result['status']})")
    told = result["debrief"]
    say(f"\nThe case: {told['case']} on {told['program']}: {told['title']}\n\n{told['why']}\n\nRepair: {told['fix']}")
    if told["shown_by"]:
        say(f"Shown by: {', '.join(told['shown_by'])}")
    for other, test in told["look_alikes"].items():
        say(f"Looks like {other}: {test}")
    say(f"\n{told['diff']}")
