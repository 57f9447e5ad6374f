"""A question with several answers, exactly one of them right: of a lesson, or drawn from a fault's look-alikes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bugzoo import choices
from bugzoo.errors import UserError, unknown
from bugzoo.lab.quiz_widgets import LETTERS, ask, plain
from bugzoo.scenario import Scenario

ASKED = {"cause": "What is wrong with this run?", "test": "Which test tells it from its closest look-alike?"}


@dataclass(frozen=True)
class Answer:
    """One choice; `why` is shown when it is chosen, right or wrong."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question with exactly one right answer."""

    text: str
    answers: tuple[Answer, ...]

    def __post_init__(self) -> None:
        if sum(answer.right for answer in self.answers) != 1:
            raise ValueError(f"a question needs exactly one right answer: {self.text}")

    how = '("a"), or another letter'
    """What to type without a front end."""

    @property
    def answer(self) -> str:
        """The letter of the right answer."""
        return next(LETTERS[i] for i, answer in enumerate(self.answers) if answer.right)

    def read(self, given: Any) -> str:
        """Return the letter of an answer. Raises UserError for an unknown one."""
        letter = str(given).strip().lower()
        if len(letter) != 1 or letter not in LETTERS[: len(self.answers)]:
            allowed = ", ".join(LETTERS[: len(self.answers)])
            raise UserError(f"There is no answer {given!r}. The answers are {allowed}.")
        return letter

    def right(self, said: str) -> bool:
        """Return whether it is the letter of the right answer."""
        return said == self.answer

    def why(self, said: str) -> str:
        """Return the explanation of an answer."""
        return self.answers[LETTERS.index(said)].why

    def reply(self, said: str) -> str:
        """Return the verdict and the explanation."""
        return f"{'Right' if self.right(said) else 'Not quite'}: {self.why(said)}"

    def named(self, said: str) -> str:
        """Return the letter with the answer's text."""
        return f"{said}) {self.answers[LETTERS.index(said)].text}"

    def lines(self) -> str:
        """Return the question with lettered answers, as text."""
        listed = [f"  {LETTERS[i]}) {plain(answer.text)}" for i, answer in enumerate(self.answers)]
        return "\n".join([plain(self.text), *listed])

    def ask(self, chosen: Callable[[Any], str], said: str) -> Any:
        """Show radio buttons. Return (them, the reply below them)."""
        return ask(self.text, [answer.text for answer in self.answers], chosen, said)


def about(scenario: Scenario, what: str = "cause") -> Question:
    """Return a question on a broken run: its `cause`, or the `test` that confirms it. Answers come from look-alikes.

    Raises UserError for another `what`, and for a run without a fault or without look-alikes.
    """
    if what not in ("cause", "test"):
        raise unknown("question", what, ("cause", "test"), "help(bugzoo.lab.quiz)")
    if not scenario.specs:
        raise UserError("This scenario has no fault, so there is nothing to choose from.")
    fault, params = scenario.specs[0]
    key = scenario.ticket
    offer = choices.causes(fault, params, key) if what == "cause" else choices.choices(fault, key)
    if not offer.texts:
        raise UserError('This fault has no look-alike, so it needs no test. Ask for "cause".')
    right = choices.LETTERS.index(offer.letter)
    answers = (Answer(text, why, i == right) for i, (text, why) in enumerate(zip(offer.texts, offer.whys, strict=True)))
    return Question(ASKED[what], tuple(answers))
