"""Each dialect makes what it says of a small script and the same numbers come out; combinations are drawn from a seed."""

import ast
import difflib
import random
import re
from itertools import islice

import pytest

from bugzoo import dialects, programs
from bugzoo.errors import UserError
from bugzoo.faults import catalogue
from bugzoo.proving.dialects import LEAST
from bugzoo.running import run_here
from bugzoo.scenario import Scenario, fits
from tests.dialects.scripts import MADE, SMALL

NAMES = dialects.names()


def test_every_dialect_has_its_example_and_says_what_it_rewrites():
    assert set(MADE) == set(NAMES)
    for name in NAMES:
        assert dialects.load(name).KIND in dialects.KINDS and dialects.about(name).endswith(".")
    assert [dialects.load(name).KIND for name in NAMES] == sorted(
        (dialects.load(name).KIND for name in NAMES), key=dialects.KINDS.index
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_it_makes(name: str) -> None:
    before, after = MADE[name]
    assert before in SMALL and not re.search(after, SMALL)
    made = [dialects.rewritten(SMALL, name, seed) or "" for seed in range(12)]
    assert any(re.search(after, text) for text in made)
    for text in made:
        assert not text or dialects.spoilt(SMALL, text) == ""
    assert made == [dialects.rewritten(SMALL, name, seed) or "" for seed in range(12)], "a seed gives one text"


@pytest.fixture(scope="module")
def numbers() -> tuple[list[float], dict[str, float]]:
    return outcome(SMALL)


def outcome(text: str) -> tuple[list[float], dict[str, float]]:
    run = run_here(text)
    assert run.outcome == "finished", run.trace.error
    return list(run.trace.loss), run.trace.metrics


@pytest.mark.parametrize("name", NAMES)
def test_the_same_numbers_come_out(name: str, numbers) -> None:
    text = next(text for seed in range(12) if (text := dialects.rewritten(SMALL, name, seed)))
    assert outcome(text) == numbers


def test_combinations_come_out_the_same_and_differ(numbers) -> None:
    texts = [dialects.apply(SMALL, seed, 14)[0] for seed in range(4)]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert outcome(text) == numbers


def test_a_combination_is_drawn_from_a_seed() -> None:
    text, made = dialects.apply(SMALL, "class of 2026: ada", 8)
    assert (text, made) == dialects.apply(SMALL, "class of 2026: ada", 8)
    assert len(made) == len(set(made)) == 8 and made == [name for name in NAMES if name in made], "in their order"
    assert {dialects.load(name).KIND for name in made} == set(dialects.KINDS), "some of each kind"
    assert text != dialects.apply(SMALL, "class of 2026: bo", 8)[0]
    assert dialects.apply(SMALL, 1, 3, among=["modes", "quotes"])[1] == ["modes", "quotes"]
    assert dialects.apply(SMALL, 1, 0) == (SMALL, [])


@pytest.mark.parametrize("program", programs.names())
def test_at_least_six_fit_every_program(program: str) -> None:
    source = programs.load(program).source
    fit = (name for name in reversed(NAMES) if dialects.rewritten(source, name))
    assert len(list(islice(fit, LEAST))) == LEAST


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs.names())
def test_two_seeds_give_two_texts(program: str) -> None:
    source = programs.load(program).source
    one, two = (dialects.apply(source, seed)[0] for seed in (1, 2))
    assert one != two and not dialects.spoilt(source, one) and not dialects.spoilt(source, two)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", programs.names())
def test_none_spoils_a_program(program: str) -> None:
    """`rewritten` leaves a text alone that a dialect would spoil: nothing of ours may need that."""
    source = Scenario(program).source
    for name in NAMES:
        text = dialects.load(name).rewrite(source, random.Random(f"0:{name}"))
        assert text is None or dialects.spoilt(source, text) == "", name


CELLS = [(fault, program) for fault in sorted(catalogue()) for program in ("mlp", "sampler", "sentiment_lstm")]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("fault", "program"), CELLS)
def test_broken_texts_are_rewritten_as_well(fault: str, program: str) -> None:
    if program not in fits(catalogue()[fault]):
        program = fits(catalogue()[fault])[0]
    broken = Scenario(program, (fault,)).source
    text, made = dialects.apply(broken, fault)
    assert len(made) >= LEAST and text != broken
    changed = [name for name in NAMES if dialects.load(name).rewrite(broken, random.Random(f"0:{name}")) is not None]
    assert all(dialects.rewritten(broken, name) for name in changed), "none spoils it"


def test_two_students_texts_differ_where_the_fault_is() -> None:
    """A diff between two broken texts is no answer: where the fault stands, the texts have other words."""
    broken = Scenario("mlp", ("loss/double_softmax",))
    seen = [dialects.apply(broken.source, f"student {number}")[0] for number in range(6)]
    lines = {next(line.strip() for line in text.splitlines() if "softmax" in line) for text in seen}
    assert len(lines) >= 3
    ours, healthy = set(broken.source.splitlines()), set(dialects.apply(broken.base, "another")[0].splitlines())
    for text in seen:
        assert len(set(text.splitlines()) - healthy) > 5 * len(ours - set(broken.base.splitlines()))


@pytest.mark.parametrize("fault", ["loss/double_softmax", "optimizer/lr_too_high", "freezing/optimizer_on_old_model"])
def test_the_solution_is_written_in_the_same_dialects(fault: str) -> None:
    """Broken and healthy text in the same dialects differ by what the fault changes, and by nothing else."""
    broken = Scenario("digits_cnn", (fault,))
    text, made = dialects.apply(broken.source, "ada")
    solution, again = dialects.apply(broken.base, "ada", len(made), made)
    assert made == again and 0 < changed(solution, text) <= changed(broken.base, broken.source) + 4


def changed(one: str, other: str) -> int:
    lines = difflib.unified_diff(one.splitlines(), other.splitlines(), n=0)
    return sum(line[0] in "+-" and line[:3] not in ("+++", "---") for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_who_takes_the_training_from_the_top_level_says_so(name: str) -> None:
    text = next(text for seed in range(12) if (text := dialects.rewritten(SMALL, name, seed)))
    loops = [node for node in ast.parse(text).body if isinstance(node, ast.For)]
    assert any("backward" in ast.unparse(loop) for loop in loops) or name not in dialects.in_sight()


def test_what_cannot_be_rewritten() -> None:
    assert dialects.fitting("print(1)\n") == [] and dialects.apply("print(1)\n", 3) == ("print(1)\n", [])
    with pytest.raises(UserError, match="no Python"):
        dialects.apply("for x in\n", 1)
    with pytest.raises(UserError, match="Did you mean quotes"):
        dialects.apply(SMALL, 1, among=["quote"])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text + "(", "no Python"),
        (lambda text: text.replace("# %% Data", "# %% data"), "sections"),
        (lambda text: re.sub(r"\bmodel\b", "net", text), "model"),
        (lambda text: text.replace("seed = 0", "seed = int(0)"), "settings"),
        (lambda text: text.replace("train_loader", "loader"), "train_loader"),
    ],
)
def test_what_graders_need_is_looked_after(spoil, said: str) -> None:
    assert said in dialects.spoilt(SMALL, spoil(SMALL))
