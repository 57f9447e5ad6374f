"""Quick checks and predictions: a question, several answers and an explanation for each. No answer is preselected.

A quick check says at once whether the answer is right. A prediction is asked before a run and only saved; the cell with
the result reveals it: the learner's answer, the right answer, and why.
"""

from dataclasses import dataclass, field
from typing import Any

from bugzoo import choices, record
from bugzoo.errors import UserError, unknown
from bugzoo.lab.frontend import headless, kernel
from bugzoo.lab.quiz_widgets import LETTERS, ask, inline, plain, status
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

    def index(self, letter: str) -> int:
        """Return the index of the answer with this letter. Raises UserError for an unknown letter."""
        found = LETTERS.find(letter.strip().lower() or "?")
        if not 0 <= found < len(self.answers):
            allowed = ", ".join(LETTERS[: len(self.answers)])
            raise UserError(f"There is no answer {letter!r}. The answers are {allowed}.")
        return found

    def lines(self) -> str:
        """Return the question with lettered answers, as text."""
        listed = [f"  {LETTERS[i]}) {plain(answer.text)}" for i, answer in enumerate(self.answers)]
        return "\n".join([plain(self.text), *listed])


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
    drawn = choices.causes(fault, params, key) if what == "cause" else choices.choices(fault, key)
    if not drawn.texts:
        raise UserError('This fault has no look-alike, so it needs no test. Ask for "cause".')
    right = choices.LETTERS.index(drawn.letter)
    answers = (Answer(text, why, i == right) for i, (text, why) in enumerate(zip(drawn.texts, drawn.whys, strict=True)))
    return Question(ASKED[what], tuple(answers))


@dataclass
class QuickCheck:
    """A question with a learner's answers. `tries`: letters chosen so far; `solved`: the right one was chosen."""

    question: Question
    key: str = ""
    tries: list[str] = field(default_factory=list)

    @property
    def solved(self) -> bool:
        return any(self.question.answers[LETTERS.index(letter)].right for letter in self.tries)

    def answer(self, letter: str) -> str:
        """Answer by letter; return the explanation. Raises UserError for an unknown letter."""
        index = self.question.index(letter)
        chosen = self.question.answers[index]
        self.tries.append(LETTERS[index])
        if self.key:
            record.keep("quick check", self.key, {"tries": self.tries, "solved": self.solved})
        return f"{'Right' if chosen.right else 'Not quite'}: {chosen.why}"

    def show(self) -> "QuickCheck":
        """Show radio buttons, or the question as text without a front end."""
        if headless():
            print(self.text())
            return self
        answers = [answer.text for answer in self.question.answers]
        self.choice, self.told = ask(self.question.text, answers, lambda letter: inline(self.answer(letter)))
        return self

    def text(self) -> str:
        """Return the question with lettered answers."""
        return self.question.lines() + '\n  answer with check.answer("a"), or another letter'

    def __repr__(self) -> str:
        return f"<QuickCheck {self.key or self.question.text[:30]!r}: {'solved' if self.solved else 'open'}>"


@dataclass
class Prediction:
    """What the learner expects of a run. `said`: a letter, empty before a choice; it may change until reveal()."""

    question: Question
    key: str = ""
    said: str = ""
    revealed: bool = False
    choice: Any = None

    def __post_init__(self) -> None:
        kept = record.kept("prediction", self.key) if self.key else None
        self.said = self.said or (kept or {}).get("said", "")  # restored after a kernel restart

    def say(self, letter: str) -> str:
        """Save an answer, by letter; return the reply. Raises UserError for an unknown letter."""
        index = self.question.index(letter)
        if self.revealed:
            return "You have already seen the result. Your first answer stays."
        self.said = LETTERS[index]
        self._keep()
        return f"Saved: {self.said}). The cell with the result comes back to it."

    def reveal(self, saw: str = "") -> None:
        """Show the learner's answer, the right answer, and why; call it after the result. `saw`: this run's number."""
        self.revealed = True
        self._keep()
        if self.choice is not None:
            self.choice.disabled = True
        if kernel() is None or headless():
            print("\n".join(plain(line) for line in self._told(saw)))
            return
        from IPython.display import display

        lines = self._told(saw)
        shown = status("<br>".join(inline(line) for line in lines))
        display({"text/html": shown, "text/plain": "\n".join(map(plain, lines))}, raw=True)

    def _told(self, saw: str) -> list[str]:
        answers = self.question.answers
        right = next(i for i, answer in enumerate(answers) if answer.right)
        was = f"**It was:** {LETTERS[right]}) {answers[right].text}" + (f" ({saw})" if saw else "")
        if not self.said:
            return ["**You said** nothing before the run.", was, answers[right].why]
        mine = LETTERS.index(self.said)
        said = f"**You said:** {self.said}) {answers[mine].text}"
        if mine == right:
            return [said, was, answers[right].why]
        return [said, answers[mine].why, was, answers[right].why]  # each reason below its answer

    def _keep(self) -> None:
        if self.key:
            right = bool(self.said) and self.question.answers[LETTERS.index(self.said)].right
            record.keep("prediction", self.key, {"said": self.said, "revealed": self.revealed, "right": right})

    def show(self) -> "Prediction":
        """Show radio buttons, or the question as text without a front end."""
        if headless():
            print(self.question.lines() + '\n  call say("a"), or another letter, before you run the next cell')
            return self
        answers = [answer.text for answer in self.question.answers]
        self.choice, told = ask(self.question.text, answers, lambda letter: inline(self.say(letter)), self.said)
        if self.said:
            told.value = status("This is your earlier answer.")
        return self

    def __repr__(self) -> str:
        return f"<Prediction {self.key or self.question.text[:30]!r}: {self.said or 'open'}>"
