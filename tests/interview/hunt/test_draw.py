"""What is drawn: different kinds, what the level says, and the same in spite of a new fault."""

from dataclasses import replace
from itertools import islice

import pytest

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.interview.hunt import draw, proof, recipe


def test_a_draw_holds_what_was_asked_for() -> None:
    hard = {name: (kind, value) for name, kind, value in draw.candidates("mlp")}
    for level in recipe.LEVELS:
        low, high = draw.SPAN[level]
        for ids in islice(draw.drawn("mlp", 4, level, 3), 3):
            kinds = [hard[name][0] for name in ids]
            assert len(ids) == 4 and len(set(kinds)) >= 3 and kinds.count("crash") <= 1
            assert all(kind == "crash" or low <= value <= high for kind, value in (hard[name] for name in ids))


def test_what_cannot_be_told_in_one_run_is_not_planted() -> None:
    for name, _, _ in draw.candidates("mlp"):
        fault = faults.load(name)
        assert not fault.trap and not fault.needs and fault.symptom not in ("drift", "hang", "oom")


def test_a_new_fault_leaves_most_draws_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [next(draw.drawn("mlp", 3, 2, seed)) for seed in range(60)]
    more = (*draw.candidates("mlp"), ("loop/invented", "silent", 0.4))
    monkeypatch.setattr(draw, "candidates", lambda program: tuple(sorted(more)))
    monkeypatch.setattr(
        draw, "together", lambda program, ids, seed: "loop/invented" in ids or together(program, ids, seed)
    )
    after = [next(draw.drawn("mlp", 3, 2, seed)) for seed in range(60)]
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert all("loop/invented" in new for new in changed)
    assert len(changed) <= 12


together = draw.together


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nothing", 3, 20, 1), "no program"),
        (("mlp", 2, 20, 1), "from 3 to 6"),
        (("mlp", 7, 90, 1), "from 3 to 6"),
        (("mlp", None, 30, 1), "20, 45, 90"),
        (("mlp", None, 20, 4), "it is 1"),
        (("data_parallel", None, 20, 1), "several processes"),
    ],
)
def test_bad_words(asked: tuple, said: str) -> None:
    with pytest.raises(UserError, match=said):
        draw.check(*asked)


def test_the_list_is_of_today() -> None:
    found = recipe.published()
    assert len(found) >= 60
    assert len({one.name for one in found}) == len({(one.program, one.faults, one.seed) for one in found}) == len(found)
    for one in found:
        assert sorted(name for wave in one.waves for name in wave) == sorted(one.ids)
        assert one.key == one.now(), f"{one.name}: run `bugzoo hunt prove`"
    assert {one.minutes for one in found} == set(recipe.LENGTHS) and {one.level for one in found} == set(recipe.LEVELS)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [one.name for one in recipe.published()])
def test_a_proved_hunt_is_proved_again(name: str) -> None:
    one = recipe.named(name)
    again = proof.proved(replace(one, waves=(), healthy=(), key=""))
    assert again.waves == one.waves


@pytest.mark.slow
def test_what_hides_its_repair_is_refused() -> None:
    """Two crashes: with one repaired the other still ends the run, so that nobody can tell."""
    one = recipe.Recipe(
        "x", "mlp", ("graph/argmax_in_forward", "graph/leaf_changed_in_place", "data/leaky_split"), 0, 20, 1
    )
    with pytest.raises(proof.Hidden, match="it looks as if it were not"):
        proof.proved(one)
