"""Quick checks and predictions: a question, and an explanation for each answer. No answer is preselected.

A quick check says at once whether the answer is right. A prediction is asked before a run and only saved; the cell with
the result reveals it: the learner's answer, the right answer, and why.

`choice` asks for one of several answers, `number` for a number, `arrange` for lines to match or to order.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from bugzoo import record
from bugzoo.course import questions
from bugzoo.errors import UserError
from bugzoo.lab.arrange import MatchQuestion, OrderQuestion
from bugzoo.lab.calibration import GRAINS
from bugzoo.lab.choice import Answer, Question
from bugzoo.lab.frontend import headless
from bugzoo.lab.number import NumberQuestion
from bugzoo.lab.quiz_widgets import ask_sure, inline, show_lines, status


class Asked(Protocol):
    """A question of any kind. `said` is an answer as it is kept: a letter, letters, or a number as text."""

    @property
    def text(self) -> str: ...
    @property
    def how(self) -> str: ...
    def read(self, given: Any) -> str: ...
    def right(self, said: str) -> bool: ...
    def reply(self, said: str) -> str: ...
    def lines(self) -> str: ...
    def ask(self, chosen: Callable[[Any], str], said: str) -> Any: ...


def from_lesson(asked: questions.Question, key: str) -> Question | NumberQuestion | MatchQuestion | OrderQuestion:
    """Return a lesson's question; its shuffled lines depend on `key`."""
    if isinstance(asked, questions.Number):
        return NumberQuestion(asked)
    if isinstance(asked, questions.Match):
        return MatchQuestion(asked, key)
    if isinstance(asked, questions.Order):
        return OrderQuestion(asked, key)
    return Question(asked.text, tuple(Answer(*answer) for answer in asked.answers))


class Unasked:
    """In place of a question that a lesson no longer asks, so that a notebook of an earlier version continues."""

    def reveal(self, *_: Any, **__: Any) -> None:
        """Show nothing."""

    say = answer = reveal


def _restored(question: Asked, said: list[Any]) -> list[str]:
    """Return the kept answers that the question, which may have changed since, still understands."""
    answers = []
    for answer in said:
        try:
            answers.append(question.read(answer))
        except UserError:
            continue
    return answers


@dataclass
class QuickCheck:
    """A question with a learner's answers. `tries`: the answers so far, as kept; `solved`: one of them was right."""

    question: Asked
    key: str = ""
    tries: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        entry = record.kept("quick check", self.key) if self.key else None
        self.tries = self.tries or _restored(self.question, (entry or {}).get("tries", []))

    @property
    def solved(self) -> bool:
        return any(self.question.right(answer) for answer in self.tries)

    def answer(self, given: Any) -> str:
        """Answer; return the reply. `given`: a letter, a number, or a letter for each line. Raises UserError."""
        answer = self.question.read(given)
        self.tries.append(answer)
        if self.key:
            record.keep("quick check", self.key, {"tries": self.tries, "solved": self.solved})
        return self.question.reply(answer)

    def show(self) -> "QuickCheck":
        """Show the question's widgets, or its text without a front end."""
        if headless():
            print(self.text())
            return self
        self.choice, self.told = self.question.ask(lambda given: inline(self.answer(given)), "")
        return self

    def text(self) -> str:
        """Return the question, and what to type."""
        return f"{self.question.lines()}\n  answer with check.answer{self.question.how}"

    def __repr__(self) -> str:
        return f"<QuickCheck {self.key or self.question.text[:30]!r}: {'solved' if self.solved else 'open'}>"


@dataclass
class Prediction:
    """What the learner expects of a run. `said`: a letter or a number, empty at first; it may change until reveal().

    `asks_sure`: the question also asks how sure the learner is; `sure` is one of `calibration.GRAINS`, empty at first.
    """

    question: Question | NumberQuestion
    key: str = ""
    said: str = ""
    revealed: bool = False
    choice: Any = None
    asks_sure: bool = False
    sure: str = ""
    sureness: Any = None

    def __post_init__(self) -> None:
        entry = record.kept("prediction", self.key) if self.key else None
        before = _restored(self.question, [(entry or {}).get("said") or "?"])  # after a kernel restart
        self.said = self.said or "".join(before)
        self.sure = self.sure or str((entry or {}).get("sure") or "")

    def say(self, given: Any, sure: str = "") -> str:
        """Save an answer, a letter or a number, and how sure it is; return the reply. Raises UserError for another one."""
        if sure:
            self.say_sure(sure)
        answer = self.question.read(given)
        if self.revealed:
            return "You have already seen the result. Your first answer stays."
        self.said = answer
        self._keep()
        label = f"{answer})." if isinstance(self.question, Question) else f"{answer}."
        return f"Saved: {label} The cell with the result comes back to it."

    def say_sure(self, sure: str) -> None:
        """Save how sure the learner is. Raises UserError for another word."""
        if sure not in GRAINS:
            raise UserError(f"{sure!r} is not a degree of sureness. Use one of {', '.join(GRAINS)}; nothing was saved.")
        if not self.revealed:
            self.sure = sure
            self._keep()

    def reveal(self, saw: str = "") -> None:
        """Show the learner's answer, the right answer, and why; call it after the result. `saw`: this run's number."""
        self.revealed = True
        self._keep()
        for control in filter(None, (self.choice, self.sureness)):
            control.disabled = True
        show_lines(self._told(saw))

    def _told(self, saw: str) -> list[str]:
        right = self.question.answer
        was = f"**It was:** {self.question.named(right)}" + (f" ({saw})" if saw else "")
        if not self.said:
            return ["**You said** nothing before the run.", was, self.question.why(right)]
        guess = f"**You said:** {self.question.named(self.said)}"
        if self.question.right(self.said):
            return [guess, was, self.question.why(right)]
        return [guess, self.question.why(self.said), was, self.question.why(right)]  # each reason below its answer

    def _keep(self) -> None:
        if self.key:
            right = bool(self.said) and self.question.right(self.said)
            sure = {"sure": self.sure} if self.asks_sure else {}
            record.keep("prediction", self.key, {"said": self.said, "revealed": self.revealed, "right": right, **sure})

    def show(self) -> "Prediction":
        """Show the question's widgets, or its text without a front end."""
        if headless():
            sure = (
                f"\n  and how sure you are: say(..., sure={GRAINS[0]!r}), or {GRAINS[1]!r}, {GRAINS[2]!r}"
                * self.asks_sure
            )
            print(f"{self.question.lines()}\n  call say{self.question.how}, before you run the next cell{sure}")
            return self
        self.choice, message = self.question.ask(lambda given: inline(self.say(given)), self.said)
        if self.said:
            message.value = status("This is your earlier answer.")
        if self.asks_sure:
            self.sureness = ask_sure(GRAINS, self.say_sure, self.sure)
        return self

    def __repr__(self) -> str:
        return f"<Prediction {self.key or self.question.text[:30]!r}: {self.said or 'open'}>"
