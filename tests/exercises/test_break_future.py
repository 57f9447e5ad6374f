"""Exercise 29: the future reaches an output past a mask and a softmax that stay, in train mode and in eval mode."""

import json
from typing import Any

import pytest

from bugzoo import programs
from bugzoo.grading import both_modes
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.kinds import Break
from bugzoo.grading.kinds.break_ import verdict as breaking
from bugzoo.grading.model import FOR_A_PERSON, Check
from bugzoo.grading.notebook import build
from bugzoo.grading.repairs import all_made
from bugzoo.grading.texts import broken_text, same_program
from bugzoo.grading.unchanged_parts import changed
from bugzoo.running import run_here

NAME = "29_through_the_wall"
CASES = (NAME, *(f"{NAME}-{number}" for number in (1, 2, 3)))
EXERCISE = load(NAME)
TEXT = EXERCISE.handed_out
TOUCHES = {
    "the mask under another name": "mask",
    "a mask one place too wide": "mask",
    "a softmax over the queries": "softmax",
    "no softmax": "softmax",
}
"""Lazy edit -> the part that it changes. The others leave both parts as they were, and fail by what they do."""
RECORDED = {"dependency": {"future_leak": 0.24}, "both_modes": {"future_leak": 0.24, "later_weight": 0.0}}
"""Numbers of the fault's edit with seed 0."""


def asked_of(name: str) -> Break:
    kind = load(name).kind
    assert isinstance(kind, Break)
    return kind


def failed(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks if not check.passed}


def recorded(**other: float | None) -> dict[str, Any]:
    """The recorded numbers with some of them replaced: `both_modes__later_weight=0.3`; None takes one away."""
    numbers = json.loads(json.dumps(RECORDED))
    for name, value in other.items():
        group, key = name.split("__")
        numbers[group].pop(key) if value is None else numbers[group].update({key: value})
    return {"metrics": {}, "numbers": numbers}


def test_what_the_fault_measures_passes() -> None:
    kind = asked_of(NAME)
    checks = breaking.claims(kind, recorded())
    assert len(checks) == len(kind.must) and not failed(checks)


@pytest.mark.parametrize(
    ("numbers", "name", "said", "passes"),
    [
        ({"dependency__future_leak": 0.0}, "dependency.future_leak", "View `influence`", "Above 0.01 passes."),
        (
            {"both_modes__future_leak": 0.0},
            "both_modes.future_leak",
            "train mode and in eval mode: smaller change of earlier outputs 0.",
            "Above 0.01",
        ),
        ({"both_modes__later_weight": 0.31}, "both_modes.later_weight", "position 0.31.", "At most 0 passes."),
        ({"both_modes__later_weight": None}, "both_modes.later_weight", "was not measured.", "At most 0 passes."),
    ],
)
def test_what_is_not_there_is_told_with_its_number(numbers: Any, name: str, said: str, passes: str) -> None:
    [check] = failed(breaking.claims(asked_of(NAME), recorded(**numbers))).values()
    assert check.name == name and said in check.saw and check.expected.startswith(passes)
    assert name not in str(check) and "_" not in str(check).partition(":")[0], "a title in plain words"


def renamed(text: str) -> str:
    """Another name for the mask's variable, for each argument that hands it on, and for the weights; a comment, a layout."""
    for before, after in (
        ("def forward(self, x, mask):", "def forward(self, x, seen):"),
        ("self.attention(x, mask)", "self.attention(x, seen)"),
        ("masked_fill(mask == 0,", "masked_fill(\n            seen == 0,  # mine\n           "),
        ("        mask = self.mask[:time, :time]", "        seen = self.mask[:time, :time]"),
        ("weights", "shares"),
        ("scores", "products"),
    ):
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize("part", ["mask", "softmax"])
@pytest.mark.parametrize("program", ["mini_transformer", "word_lines", "sequence_classifier"])
def test_a_renamed_argument_is_no_change(program: str, part: str) -> None:
    text = programs.load(program).source
    assert not same_program(renamed(text), text) and changed(part, renamed(text), text) == ""


@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        ("mask", "torch.tril(", "torch.triu("),
        ("mask", "torch.ones(context, context)))", "torch.ones(context, context)))\n        self.mask.fill_(1)"),
        ("mask", "self.mask[:time, :time]", "self.mask[:time, :time] + 1"),
        ("mask", 'float("-inf")', "0.0"),
        ("mask", "mask == 0", "mask < 0"),
        ("mask", "        weights =", "        other = mask\n        weights ="),
        ("mask", '        scores = scores.masked_fill(mask == 0, float("-inf"))\n', ""),
        ("mask", "# %% Training", "for buffer in model.buffers():\n    buffer.fill_(1)\n\n# %% Training"),
        ("mask", "# %% Training", "model.blocks[0].attention.mask.fill_(1)\n\n# %% Training"),
        ("softmax", "F.softmax(scores, dim=-1)", "torch.sigmoid(scores)"),
        ("softmax", "F.softmax(scores, dim=-1)", "F.softmax(scores * 0, dim=-1)"),
        ("softmax", "dim=-1)\n        attended", "dim=-2)\n        attended"),
        ("softmax", "        attended = weights", "        weights = weights + 0.1\n        attended = weights"),
        ("softmax", "attended = weights @ values", "attended = torch.softmax(queries @ keys.mT, -1) @ values"),
        ("softmax", "attended = weights @ values", "attended = F.scaled_dot_product_attention(queries, keys, values)"),
    ],
)
def test_mask_and_softmax_are_watched(part: str, before: str, after: str) -> None:
    assert before in TEXT
    other = {"mask": "softmax", "softmax": "mask"}[part]
    edited = TEXT.replace(before, after, 1)
    assert changed(part, edited, TEXT) != "" and changed(other, edited, TEXT) == ""


def test_the_line_that_is_told_is_the_one_that_was_written() -> None:
    edited = all_made(TEXT, asked_of(NAME).lazy, {})["the mask under another name"]
    assert "`hidden = mask`" in changed("mask", edited, TEXT)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_edits_that_count_touch_neither_and_lazy_ones_what_they_say(name: str) -> None:
    case, kind = load(name), asked_of(name)
    healthy = case.handed_out
    for title, text in case.kind.accepted(case).items():
        assert not same_program(text, healthy) and not failed(breaking.unchanged(kind, text, healthy)), title
    for title, text in all_made(healthy, kind.lazy, {}).items():
        expected = {f"unchanged {TOUCHES[title]}"} if title in TOUCHES else set()
        assert failed(breaking.unchanged(kind, text, healthy)).keys() == expected, title


def test_the_notebook_opens_the_views_of_its_symptom() -> None:
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(build(EXERCISE))["cells"]}
    assert '("loss_curve", "influence", "evaluation")' in cells["look-first"]
    assert "in train mode and in eval mode" in cells["grading-text"] and "own copy" not in cells["grading-text"]


SCRIPT = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(20, (64, 13))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.dropout, self.head = nn.Embedding(20, 16), nn.Dropout(0.3), nn.Linear(16, 20)

    def forward(self, x):
        values = self.dropout(self.embedding(x))
        scores = values @ values.mT
        hidden = scores.masked_fill(torch.ones(12, 12).triu(1) > 0, float("-inf"))
        return self.head(hidden.softmax(-1) @ values)


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for rows in torch.randperm(64).split(16):
    x, y = tokens[rows, :-1], tokens[rows, 1:]
    loss = F.cross_entropy(model(x).reshape(-1, 20), y.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
AHEAD = "values.roll(-1, 1)"


@pytest.mark.parametrize(
    ("before", "after", "leaks", "weighs"),
    [
        ("", "", False, False),
        ("@ values)", f"@ {AHEAD})", True, False),
        ("@ values)", f"@ ({AHEAD} if self.training else values))", False, False),
        ("@ values)", f"@ (values if self.training else {AHEAD}))", False, False),
        ("@ values)", f"@ ({AHEAD} if torch.is_grad_enabled() else values))", False, False),
        ("@ values)", f"@ (values if torch.is_grad_enabled() else {AHEAD}))", False, False),
        ("@ values)", f"@ (values if torch.is_inference_mode_enabled() else {AHEAD}))", False, False),
        ("hidden.softmax", "scores.softmax", True, True),
        ("hidden.softmax", "(scores if self.training else hidden).softmax", False, True),
    ],
)
def test_each_number_is_the_worst_of_all_modes(before: str, after: str, leaks: bool, weighs: bool) -> None:
    """Dropout alone is no leak: it drops the same units before and after a change."""
    numbers = both_modes.measure(run_here(SCRIPT.replace(before, after, 1) if before else SCRIPT))
    assert (numbers["future_leak"] > 0.01, numbers["later_weight"] > 0) == (leaks, weighs), numbers
    assert leaks or numbers["future_leak"] == 0
    assert (numbers["grad_gap"] > both_modes.SAME) == ("enabled" in after), numbers


def test_there_is_no_leak_where_no_later_token_is_the_target() -> None:
    numbers = both_modes.measure(run_here(SCRIPT.replace("tokens[rows, 1:]", "tokens[rows, :-1]")))
    assert numbers.keys() == {"grad_gap"} and numbers["grad_gap"] == 0


def test_a_person_looks_where_the_outputs_with_gradients_and_without_were_not_measured() -> None:
    assert [breaking._gradients(gap).status for gap in (None, 0.0, 0.1)] == [FOR_A_PERSON, "passed", "wrong"]


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "by"),
    [
        ("only in eval mode", {"both_modes.future_leak"}),
        ("only without gradients", {"both_modes.future_leak", "both_modes.grad_gap"}),
    ],
)
def test_a_leak_in_the_evaluation_alone_passes_every_other_check(title: str, by: set[str]) -> None:
    lazy = all_made(TEXT, asked_of(NAME).lazy, {})
    result = grade_exercise(NAME, lazy[title], seeds=(0,))
    assert result.status == "wrong" and failed(result.checks).keys() == by, str(result)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_leak_that_begins_after_the_training_is_for_a_person() -> None:
    text = TEXT.replace("attended = weights @ values", "attended = weights @ (values.roll(-1, 2) if late else values)")
    text = text.replace("\n# %% Model", "\nlate = False\n\n# %% Model").replace(
        "\n# %% Evaluation", "\nlate = True\n\n# %% Evaluation"
    )
    result = grade_exercise(NAME, text, seeds=(0,))
    assert result.status == FOR_A_PERSON and failed(result.checks).keys() == {"steps"}, str(result)
    assert result.points == 0 and "have the gradient of the training" in result.message


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_the_faults_edit_passes() -> None:
    passed = grade_exercise(NAME, broken_text(EXERCISE), seeds=(0,))
    assert passed.status == "passed" and passed.points == 10, str(passed)


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize("title", ["the scores before the mask", "samples of a batch mixed", "targets as inputs"])
def test_what_touches_neither_part_fails_by_what_it_does(title: str) -> None:
    seen_by = {
        "the scores before the mask": {"both_modes.later_weight"},
        "samples of a batch mixed": {"dependency.future_leak", "both_modes.future_leak"},
    }
    result = grade_exercise(NAME, all_made(TEXT, asked_of(NAME).lazy, {})[title], seeds=(0,))
    assert result.status == "wrong" and result.points == 0
    assert seen_by.get(title, set()) <= failed(result.checks).keys(), str(result)
