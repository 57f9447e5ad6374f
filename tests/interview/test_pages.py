"""A terminal of 24 lines: the ticket stands above every page of a list, and a long view is shown in parts."""

import os
import time
from collections.abc import Iterator
from itertools import chain

import pytest

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.interview import pages
from bugzoo.interview.lines import Lines
from bugzoo.interview.play import HELP, SHOWN, Talk
from bugzoo.interview.requests import find, listed
from bugzoo.interview.session import Session


class Terminal:
    """A real terminal device: what is typed comes to a Talk, and each answer stands between two prompts."""

    def __init__(self, session: Session, device: int, stream) -> None:
        self._device, self._said = device, ""
        self.talk = Talk(session, Lines(stream), self._say)

    def _say(self, text: str = "", end: str = "\n", flush: bool = False) -> None:
        self._said += text + end

    def play(self, *typed: str) -> list[str]:
        """Return the screens: all that was said up to each prompt."""
        self.talk.session.deadline = time.monotonic() + 60
        os.write(self._device, "".join(f"{line}\n" for line in (*typed, "done")).encode())
        ask, screens = self.talk.ask, []

        def asked(prompt: str) -> str:
            self._said, before = "", self._said
            answer = ask(prompt)
            if before + self._said:  # nothing is asked for a command that was typed below a page
                screens.append(before + self._said)
            self._said = ""
            return answer

        self.talk.ask = asked
        assert self.talk.run() == "finished"
        return screens


@pytest.fixture
def terminal(session, monkeypatch) -> Iterator[Terminal]:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    device, side = os.openpty()
    with open(side, encoding="utf-8") as stream:
        yield Terminal(session, device, stream)
    os.close(device)


def screen_lines(screen: str) -> int:
    """Lines that a screen of 80 columns needs."""
    return sum(max(1, -(-len(line) // 80)) for line in screen.split("\n"))


def test_the_list_comes_in_pages_below_the_ticket(terminal, session):
    screens = terminal.play("", "", "list", "")
    assert "page 2 of 3" in screens[0] and "page 3 of 3" in screens[1], "with the commands"
    assert "page 2 of 2" in screens[3] and len(screens) == 5
    report = " ".join(session.case.fault.report.split())
    for screen in screens:
        assert screen_lines(screen) <= 24, screen
        assert f"Ticket {session.case.ticket}: " in screen and report in " ".join(screen.split())
        assert "left, 30 of 30 points]" in screen
    for part in (screens[:3], screens[3:]):
        every = "\n".join(part)
        assert [request.name for request in listed() if f"  {request.name}  " not in every] == [], "no view is left out"
    assert all(line in screens[0] for line in HELP.splitlines())


def test_a_command_below_a_page_is_done(terminal, session):
    screens = terminal.play("gradients", "list", "", "memory")
    assert "gradients: How long is" in screens[1] and "memory: How much" in "\n".join(screens[3:])
    assert session.evidence.seen == ["gradients", "memory"]


def test_a_long_view_goes_on_with_more(terminal):
    screens = terminal.play("weights", "more weights", "more weights", "more", "more time", "weights")
    first, rest, over, empty, unseen, again = screens[1:7]
    left = int(first.split("… ")[1].split(" more")[0])
    assert screen_lines(first) <= SHOWN + 1 and first.splitlines()[-2] == f"… {left} more: `more weights`"
    assert len(rest.splitlines()) == left + 1 and "head.bias" in rest
    assert "weights has no more lines" in over and "needs the name of a view" in empty
    assert "You have not bought time" in unseen and again == first


def test_the_causes_come_in_pages_too(terminal, session):
    causes = [cause.title for cause in session.causes() if cause]
    right = causes.index(faults.load("loop/stale_gradients").title) + 1
    screens = terminal.play("gradients", "diagnose", "", str(right), "60", "gradients", "1")
    page, second = screens[2:4]
    for screen in (page, second):
        assert screen_lines(screen) <= 24 and f"Ticket {session.case.ticket}" in screen
    assert causes[0] in page and "Which cause? Its number" in page and causes[0] not in second
    assert session.found and session.diagnoses[0].evidence == "gradients"


def test_every_report_fits_above_a_page():
    for fault in faults.catalogue().values():
        lines = pages.ticket("S-BJCM-V982", fault.report, 80)
        assert len(lines) <= 2 and "…" not in lines[-1] and max(map(len, lines)) < 80, fault.id


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_page_holds_whole_headings(columns):
    groups = pages.groups(listed(), ["gradients"], columns)
    sheets = pages.pages(groups, 19)
    assert all(len(page) <= 19 for page in sheets) and list(chain(*sheets)) == list(chain(*groups))
    assert all(len(line) < columns for page in sheets for line in page)
    assert sum("seen  gradients" in line for page in sheets for line in page) == 1
    starts = [page[0] for page in sheets]
    if columns > 40:  # there a heading may be longer than a page
        assert all(start in {group[0] for group in groups} for start in starts)
    assert pages.pages([["a"] * 45], 19) == [["a"] * 19, ["a"] * 19, ["a"] * 7]


def test_a_page_is_never_higher_than_24_lines(monkeypatch):
    for lines, height in (("60", 24), ("24", 24), ("12", 12), ("3", pages.LEAST)):
        monkeypatch.setenv("LINES", lines)
        monkeypatch.setenv("COLUMNS", "100")
        assert pages.size() == (100, height)


def test_a_step_that_is_no_number_is_answered(terminal, session):
    screens = terminal.play("batch -3", "look", "look batch fifty", "look batch 5 6")
    text = "\n".join(screens)
    assert "'-3' is not a step" in text and "`look` needs a name" in text and "'5 6' is not a step" in text
    assert session.evidence.spent == 0


def test_what_is_refused_is_not_shown(session):
    for name in ("batch", "outputs", "one_batch", "evaluation", "gradients", "updates", "loss_curve", "memory"):
        session.ask(find(name))
    assert "of 30 are left. Ask for less" in session.ask(find("layers"))
    assert "layers" not in session.evidence.seen
    with pytest.raises(UserError, match="no piece of evidence"):
        find("nothing")
