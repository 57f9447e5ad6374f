"""What an assignment may be made of; everything else is refused with the value, what is allowed and what to type."""

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import Assignment
from bugzoo.instructor.model import ungradable

STALE, SOFT = "loop/stale_gradients", "loss/double_softmax"

REFUSED = {
    "unknown program": (("mini_transfromer", (STALE,)), ["'mini_transfromer'", "mini_transformer", "bugzoo list"]),
    "unknown fault": (("mlp", ("loop/stale_gradient",)), ["'loop/stale_gradient'", "loop/stale_gradients"]),
    "unfitting fault": (
        ("mlp", ("attention/causal_mask_missing",)),
        ["attention/causal_mask_missing", "mlp", "mini_transformer"],
    ),
    "one place": (
        ("mini_transformer", ("attention/mask_after_softmax", "attention/causal_mask_missing")),
        ["attention/mask_after_softmax", "attention/causal_mask_missing", "line", "cannot be combined"],
    ),
    "twice": (("mlp", (STALE, STALE)), [STALE, "twice"]),
    "none": (("mlp", ()), ["0 faults", "has 1 to 3"]),
    "too many": (("mlp", (STALE, SOFT, "numerics/log_at_step", "optimizer/lr_too_high")), ["4 faults", "has 1 to 3"]),
    "bad parameter": (("mlp", ("numerics/log_at_step?step=-4",)), ["step", "-4"]),
    "trap": (("mlp", ("traps/log_softmax_first",)), ["traps/log_softmax_first", "trap", "nothing to repair"]),
    "own conditions": (("mini_transformer", ("memory/batch_too_large",)), ["memory/batch_too_large", "sandbox"]),
    "crash": (("mlp", ("graph/inplace_activation",)), ["graph/inplace_activation", "outcome == crashed"]),
    "a hang": (("data_parallel", ("distributed/skipped_batch",)), ["distributed/skipped_batch", "sandbox"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    (program, specs), words = REFUSED[name]
    with pytest.raises(UserError) as caught:
        Assignment(program, specs)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**31}, str(2**31 - 1)),
        ({"points": (0, 3)}, "above 0"),
        ({"points": (7, 2000)}, "1000"),
        ({"title": "!!!"}, "'!!!'"),
    ],
)
def test_refused_fields(fields: dict, word: str) -> None:
    with pytest.raises(UserError, match=word.replace("(", r"\(")):
        Assignment("mlp", (STALE,), **fields)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("data_parallel", STALE),
        ("image_pipeline", STALE),
        ("regression_mlp", STALE),
        ("mlp", "reproducibility/unseeded"),
    ],
)
def test_any_task_any_ranks_and_two_runs_can_be_assigned(program: str, fault: str) -> None:
    assignment = Assignment(program, (fault,))
    assert assignment.source != assignment.solution and ("Ranks" in assignment.source) == (program == "data_parallel")


def test_name_of_files() -> None:
    title = "Week 3: Two at once? Ünïcode / ../etc"
    assert Assignment("mlp", (STALE,), title=title).name == "week_3_two_at_once_n_code_etc"
    assert len(Assignment("mlp", (STALE,), title="a" * 300).name) == 60


def test_texts(draft: Assignment) -> None:
    """A half-repair holds the other fault alone; the solution none; the handed-out program both."""
    alone = {fault: Assignment("mini_transformer", (fault,), seed=7, title="x").source for fault in draft.ids}
    assert len({draft.source, draft.solution, *alone.values()}) == 4
    for fault, other in zip(draft.ids, reversed(draft.ids), strict=True):
        from bugzoo.grading.texts import tidy

        assert tidy(draft.half(fault).source) == alone[other]
        assert draft.half(fault, seed=3).seed == 3
    assert "seed = 7" in draft.source and "seed = 7" in draft.solution


def test_all_gradable_faults_say_so() -> None:
    """Every fault of the catalogue is either assignable or says in a sentence why not."""
    from bugzoo import faults

    answers = {name: ungradable(fault) for name, fault in faults.catalogue().items()}
    assert sum(not why for why in answers.values()) >= 10
    assert all(len(why) > 10 for why in answers.values() if why)
