"""No answer is given away: strategies that know nothing of the subject score what chance gives, over the whole course.

`pytest -s tests/lessons/test_blind.py` prints the table.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from bugzoo import course
from bugzoo.course.questions import Choices
from bugzoo.course.source import Lesson, read
from bugzoo.lab.quiz_widgets import plain

LEAST = 0.01
"""A strategy is at chance unless so many hits or more, or so few or fewer, are this improbable."""
LONGER, SHORT = 2.5, 12
"""Options differ in length by at most this factor, unless the shortest has fewer characters than `SHORT`."""


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", plain(text).lower()))


STRATEGIES: dict[str, Callable[[list[str], str], Sequence[float]]] = {
    "the longest": lambda answers, above: [len(one) for one in answers],
    "the shortest": lambda answers, above: [-len(one) for one in answers],
    "the most digits": lambda answers, above: [len(re.findall(r"\d", one)) for one in answers],
    "the most words in common with the text above": lambda answers, above: [
        len(words(one) & words(above)) for one in answers
    ],
    "always the first": lambda answers, above: [-place for place in range(len(answers))],
    "always the second": lambda answers, above: [place == 1 for place in range(len(answers))],
    "always the last": lambda answers, above: [*range(len(answers))],
}
"""Name -> a score for each answer. The highest is chosen; where all are equal, the strategy says nothing."""


def asked(lessons: Iterable[Lesson]) -> list[tuple[str, Choices, str]]:
    """(key, question, the lesson's text above it) of each question with answers to choose from."""
    questions = []
    for lesson in lessons:
        for place, cell in enumerate(lesson.cells):
            question = lesson.questions.get(cell.name) if cell.kind in ("check", "predict") else None
            if isinstance(question, Choices):
                above = "\n".join(
                    earlier.shown for earlier in lesson.cells[:place] if earlier.kind in ("markdown", "folded", "code")
                )
                questions.append((f"{lesson.number}/{cell.name}", question, above))
    return questions


def tail(chances: list[float], hits: int) -> float:
    """The exact probability of so many hits or more, with these chances of each."""
    exactly = [1.0]
    for chance in chances:
        missed, hit = [*exactly, 0.0], [0.0, *exactly]
        exactly = [(1 - chance) * a + chance * b for a, b in zip(missed, hit, strict=True)]
    return sum(exactly[hits:])


def low_tail(chances: list[float], hits: int) -> float:
    """The exact probability of so many hits or fewer."""
    return tail([1 - chance for chance in chances], len(chances) - hits)


def play(strategy: str, questions: list[tuple[str, Choices, str]]) -> tuple[list[float], int]:
    """(the chance of a hit on each question on which the strategy says something, its hits). Ties are drawn by the key."""
    chances, hits = [], 0
    for key, question, above in questions:
        scores = STRATEGIES[strategy]([text for text, *_ in question.answers], above)
        best = [place for place, score in enumerate(scores) if score == max(scores)]
        if len(best) < len(scores):
            chances.append(1 / len(scores))
            hits += question.answers[random.Random(f"{strategy} {key}").choice(best)][2]
    return chances, hits


def table(lessons: Iterable[Lesson]) -> str:
    """Each strategy: on how many questions it says something, its hits, by chance, and how improbable so many and so few are."""
    questions, rows = asked(lessons), [f"{'strategy':46} played  hits  by chance   many    few"]
    for name in STRATEGIES:
        chances, hits = play(name, questions)
        many, few = tail(chances, hits), low_tail(chances, hits)
        rows.append(f"{name:46} {len(chances):6} {hits:5} {sum(chances):10.1f} {many:6.3f} {few:6.3f}")
    return "\n".join(rows)


def all_lessons() -> list[Lesson]:
    return [course.load(name) for name in course.files()]


def test_the_table() -> None:
    text = table(all_lessons())
    assert len(text.splitlines()) == len(STRATEGIES) + 1
    print(f"\n{text}")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_that_knows_nothing_is_at_chance(strategy: str) -> None:
    chances, hits = play(strategy, asked(all_lessons()))
    assert chances, "it says something on no question"
    assert tail(chances, hits) > LEAST, f"{hits} of {len(chances)}, by chance {sum(chances):.1f}: reword some answers"
    message = f"only {hits} of {len(chances)}, by chance {sum(chances):.1f}: a learner avoids this answer"
    assert low_tail(chances, hits) > LEAST, f"{message}. Move or reword some"


GIVEN_AWAY = """
# %% [markdown] title
# # 07 · Small
#
# The optimizer kept the parameters of the model before.
"""
ANSWER = """
# %% [check] q{number}
# Why?
#
# ( ) Chance
#     no.
# (x) The optimizer still holds the 2 parameters of the first model
#     yes.
# ( ) A learning rate
#     no.
"""


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ("the longest", True), ("the most digits", True), ("the most words in common with the text above", True),
        ("the shortest", False), ("always the first", False), ("always the second", True), ("always the last", False),
    ],
)  # fmt: skip
def test_a_lesson_that_gives_its_answers_away_is_noticed(tmp_path: Path, strategy: str, told: bool) -> None:
    (tmp_path / "07_small.py").write_text(GIVEN_AWAY + "".join(ANSWER.format(number=n) for n in range(5)))
    chances, hits = play(strategy, asked([read(tmp_path / "07_small.py")]))
    assert (tail(chances, hits) <= LEAST) is told


def test_a_place_that_is_never_right_is_noticed(tmp_path: Path) -> None:
    """ "Not the first" is a strategy, too: in lesson 03 the first answer was right once in 17 questions."""
    for count, noticed in ((17, True), (5, False)):
        (tmp_path / "07_small.py").write_text(GIVEN_AWAY + "".join(ANSWER.format(number=n) for n in range(count)))
        chances, hits = play("always the first", asked([read(tmp_path / "07_small.py")]))
        assert hits == 0 and (low_tail(chances, hits) <= LEAST) is noticed


def test_the_probability_is_exact() -> None:
    assert tail([0.5] * 3, 3) == 0.125 and tail([0.5] * 3, 0) == 1 and tail([], 0) == 1
    assert tail([0.25, 0.5], 1) == pytest.approx(1 - 0.75 * 0.5)
    assert low_tail([0.5] * 3, 0) == 0.125 and low_tail([0.5] * 3, 3) == 1
    assert low_tail([0.25, 0.5], 1) == pytest.approx(1 - 0.25 * 0.5)


@pytest.mark.parametrize("name", course.files())
def test_options_have_one_length(name: str) -> None:
    """A right answer is not the careful one, and no wrong one is a filler."""
    uneven = []
    for key, question, _ in asked([course.load(name)]):
        lengths = [len(plain(text)) for text, *_ in question.answers]
        if min(lengths) >= SHORT and max(lengths) > LONGER * min(lengths):
            uneven.append(f"{key}: {lengths}")
    assert not uneven
