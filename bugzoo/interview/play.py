"""The interview as lines of text: works at a terminal and from a pipe."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.interview import pages
from bugzoo.interview.lines import Lines, TimeOver
from bugzoo.interview.repair import summary
from bugzoo.interview.requests import BUDGET, LIST, Request, find, listed
from bugzoo.interview.session import GUESSES, Session
from bugzoo.views import views_of

HELP = """\
Type a number or a name to buy that piece of evidence.
  look batch 50     buy the batch of optimizer step 50 (6 points more)
  more NAME         go on with a long view
  list              list the evidence
  diagnose          name the cause, its line and the evidence that shows it
  submit [FILE]     hand in the file (default: train.py), as often as you like
  edit              open the script in $EDITOR
  done              finish and see the score         quit   give up"""

SHOWN = 20
"""Lines of a view that a terminal shows at once."""

Say = Callable[..., None]
"""`print`, or something that is called like it."""


class Talk:
    """One session, line by line."""

    def __init__(self, session: Session, lines: Lines, say: Say) -> None:
        self.session, self.lines, self.say = session, lines, say
        self._typed: list[str] = []
        """Commands that were typed below a page of a list."""
        self._rest: dict[str, list[str]] = {}
        """The lines of each view that were not shown yet."""

    def run(self) -> str:
        """Talk until the end; return how it ended: finished, given up, time over or abandoned (no more input)."""
        try:
            self.listing(HELP)
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
        return f"{self.clock()} > "

    def ask(self, prompt: str) -> str:
        if self._typed:
            return self._typed.pop()
        self.say(prompt, end="" if self.lines.at_terminal else "\n", flush=True)
        return self.lines.next(self.session.deadline).strip()

    def command(self, word: str, rest: str) -> None:
        if word == LIST:
            self.listing()
        elif word in ("look", "l"):
            self.look(rest)
        elif word in ("more", "m"):
            self.more(rest)
        elif word in ("diagnose", "d"):
            self.diagnose()
        elif word in ("submit", "s"):
            self.submit(rest)
        elif word in ("edit", "e"):
            edit(self.session.script, self.say)
        elif counted(word) is not None or word in {request.name for request in listed()} or views_of([word]):
            self.look(f"{word} {rest}")
        elif word:
            self.say(HELP if word in ("help", "h", "?") else f"{word!r} is not a command. {HELP}")

    # ---- lists, in pages below the ticket

    def listing(self, before: str = "") -> None:
        """Show the list of evidence; `before`: a text above it."""
        columns, _ = pages.size()
        typed = self.paged([before.splitlines(), *pages.groups(listed(), self.session.evidence.seen, columns)])
        if typed:
            self._typed.append(typed)

    def paged(self, parts: list[list[str]], last: str = "") -> str:
        """Show parts of a list below the ticket and return what was typed below a page; `last`: the prompt of the last.

        A terminal gets pages that fit, each after Enter. A pipe gets all at once.
        """
        columns, lines = pages.size()
        case = self.session.case
        ticket = pages.ticket(case.ticket, case.fault.report, columns)
        room = lines - len(ticket) - 3  # the clock, an empty line, the prompt
        sheets = pages.pages(parts, room) if self.lines.at_terminal else [[line for part in parts for line in part]]
        for place, page in enumerate(sheets, 1):
            self.say("\n".join(["", *ticket, self.clock(), *page]))
            if place == len(sheets):
                return self.ask(last) if last else ""
            if typed := self.ask(f"Enter: page {place + 1} of {len(sheets)}. {last or 'Or type a command > '}"):
                return typed
        return ""

    def clock(self) -> str:
        left, points = self.session.left(), BUDGET - self.session.evidence.spent
        return f"[{int(left // 60)}:{int(left % 60):02d} left, {points} of {BUDGET} points]"

    # ---- evidence

    def look(self, typed: str) -> None:
        """Buy what was typed, a name or a number and perhaps a step, and show it."""
        name, _, step = typed.strip().partition(" ")
        if not name:
            raise UserError(f"`look` needs a name or a number, such as `look batch`. `{LIST}` shows them.")
        request = find(name)
        if step.strip() and counted(step.strip()) is None:
            raise UserError(f"{step.strip()!r} is not a step. Type a whole number, such as `look batch 50`.")
        self.show(request, self.session.ask(request, counted(step.strip())))

    def show(self, request: Request, text: str) -> None:
        columns, _ = pages.size()
        self._rest[request.name] = [line for part in text.splitlines() for line in pages.wrapped(part, columns)]
        self._go_on(request.name)

    def more(self, name: str) -> None:
        """Show the next lines of a view that was bought."""
        if not name:
            raise UserError("`more` needs the name of a view that you bought, such as `more gradients`.")
        request = find(name)
        if request.name not in self.session.evidence.seen:
            raise UserError(f"You have not bought {request.name}. Type {request.name} to buy it.")
        if not self._rest.get(request.name):
            raise UserError(f"{request.name} has no more lines. Type {request.name} to see it from its start.")
        self._go_on(request.name)

    def _go_on(self, name: str) -> None:
        """Show the next lines; a pipe gets all of them."""
        lines = self._rest[name]
        room = SHOWN if self.lines.at_terminal else len(lines)
        head, rest = (lines, []) if len(lines) <= room else (lines[: room - 1], lines[room - 1 :])
        self._rest[name] = rest
        self.say("\n".join([*head, *([f"… {len(rest)} more: `more {name}`"] if rest else [])]))

    def diagnose(self) -> None:
        self.session.check_guesses()
        causes = self.session.causes()
        titles = [[f"  {n:3}  {cause.title if cause else 'Nothing is wrong'}"] for n, cause in enumerate(causes, 1)]
        prompt = "Which cause? Its number > "
        cause = causes[self.number(prompt, len(causes), self.paged(titles, prompt)) - 1]
        right = self.session.guess(cause)
        line = None
        if cause is not None:
            text = self.ask("Which line of train.py? (empty: unknown) > ")
            line = counted(text)
        evidence = self.named(self.ask("Which evidence shows it? Its number or name (empty: none) > "))
        test = ""
        tests = self.session.tests() if right else []
        if tests:
            for number, sentence in enumerate(tests, start=1):
                self.say(f"  {number:3}  {sentence}")
            chosen = counted(self.ask("Which test tells it from its look-alikes? Its number (empty: unknown) > "))
            test = tests[chosen - 1] if chosen and chosen <= len(tests) else ""
        self.session.support(line, evidence, test)
        if right:
            self.say("That is the cause. Hand in the repair with `submit`." if cause else "Right: nothing is wrong.")
        else:
            left = GUESSES - len(self.session.diagnoses)
            self.say(f"That is not the cause. Guesses left: {left}.")

    def named(self, typed: str) -> str:
        """Return the request with this number or name; "" for one that was not bought, as it does not count."""
        try:
            name = find(typed).name
        except UserError:
            return ""
        return name if name in self.session.evidence.seen else ""

    def number(self, prompt: str, highest: int, text: str) -> int:
        """Return the number that was typed; ask again until there is one. Raises UserError for an empty line."""
        while True:
            number = counted(text)
            if number and number <= highest:
                return number
            if not text:
                raise UserError("No diagnosis was given.")
            self.say(f"Type a number from 1 to {highest}, or nothing to go back.")
            text = self.ask(prompt)

    def submit(self, name: str) -> None:
        self.say("Running the repaired file ...")
        verdict = self.session.submit(Path(os.path.expanduser(name)) if name else None)
        self.say(summary(verdict))


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
