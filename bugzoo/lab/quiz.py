"""Quick checks: a question, several answers, an explanation for each of them. Nothing is chosen beforehand."""

import html
from dataclasses import dataclass, field
from typing import Any

from bugzoo import choices, record
from bugzoo.errors import UserError, unknown
from bugzoo.lab.frontend import headless
from bugzoo.scenario import Scenario

LETTERS = "abcdefgh"
ASKED = {"cause": "What is wrong with this run?", "test": "Which test tells it from what looks most like it?"}


@dataclass(frozen=True)
class Answer:
    """One choice; `why` is shown to whoever chooses it, right or wrong."""

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


def about(scenario: Scenario, what: str = "cause") -> Question:
    """A question on a broken run, its answers drawn from what looks like it: the `cause`, or the `test` that tells.

    Raises UserError for another `what`, and for a run in which nothing is broken or nothing looks like it.
    """
    if what not in ("cause", "test"):
        raise unknown("question", what, ("cause", "test"), "help(bugzoo.lab.quiz)")
    if not scenario.specs:
        raise UserError("Nothing here is broken on purpose, so there is nothing to choose from.")
    fault, params = scenario.specs[0]
    key = scenario.ticket
    drawn = choices.causes(fault, params, key) if what == "cause" else choices.choices(fault, key)
    if not drawn.texts:
        raise UserError('Nothing looks like this, so no test is needed to tell it apart. Ask for "cause".')
    right = choices.LETTERS.index(drawn.letter)
    answers = (Answer(text, why, i == right) for i, (text, why) in enumerate(zip(drawn.texts, drawn.whys, strict=True)))
    return Question(ASKED[what], tuple(answers))


@dataclass
class QuickCheck:
    """A question as the learner meets it. `tries` are the letters answered so far; `solved` once the right one came."""

    question: Question
    key: str = ""
    tries: list[str] = field(default_factory=list)

    @property
    def solved(self) -> bool:
        return any(self.question.answers[LETTERS.index(letter)].right for letter in self.tries)

    def answer(self, letter: str) -> str:
        """Answer by letter; returns the explanation. Raises UserError for a letter that is not there."""
        index = LETTERS.find(letter.strip().lower() or "?")
        if not 0 <= index < len(self.question.answers):
            allowed = ", ".join(LETTERS[: len(self.question.answers)])
            raise UserError(f"There is no answer {letter!r}; the answers are {allowed}.")
        chosen = self.question.answers[index]
        self.tries.append(LETTERS[index])
        if self.key:
            record.keep("quick check", self.key, {"tries": self.tries, "solved": self.solved})
        return f"{'Right' if chosen.right else 'Not quite'}: {chosen.why}"

    def show(self) -> "QuickCheck":
        """Radio buttons, or the question as text where nobody looks."""
        if headless():
            print(self.text())
            return self
        import ipywidgets as w
        from IPython.display import display

        options = [(f"{LETTERS[i]}) {answer.text}", LETTERS[i]) for i, answer in enumerate(self.question.answers)]
        asked = w.HTML(f'<div class="bugzoo-status"><b>{html.escape(self.question.text)}</b></div>')
        choice = w.RadioButtons(options=options, value=None, layout={"width": "max-content"})
        told = w.HTML()

        def chosen(change: Any) -> None:
            if change["new"] is not None:
                told.value = f'<div class="bugzoo-status">{html.escape(self.answer(change["new"]))}</div>'

        choice.observe(chosen, "value")
        self.choice, self.told = choice, told
        box = w.VBox([asked, choice, told])
        box.add_class("bugzoo-check")
        display(box)
        return self

    def text(self) -> str:
        """The question with lettered answers."""
        lines = [self.question.text]
        lines += [f"  {LETTERS[i]}) {answer.text}" for i, answer in enumerate(self.question.answers)]
        return "\n".join([*lines, '  answer with check.answer("a"), or with the letter you choose'])

    def __repr__(self) -> str:
        return f"<QuickCheck {self.key or self.question.text[:30]!r}: {'solved' if self.solved else 'open'}>"
