"""A step is one batch. Right repairs in other forms pass: several optimizers, steps within backward, torch.func, by hand."""

import pytest

from tests.grading.attempt import failed, must_fail, must_pass
from tests.grading.test_outside import FUNCTIONAL, trained_by
from tests.grading.tricks import BACK, BROKEN, MENDED, STEP, ZERO, apply

MADE = "optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)\n"
TWO = MADE.replace("model.parameters()", "[*model.layer1.parameters(), *model.layer2.parameters()]") + (
    "head_optimizer = torch.optim.Adam(model.head.parameters(), lr=learning_rate)\n"
)
EACH = """\
optimizers = {p: torch.optim.Adam([p], lr=learning_rate) for p in model.parameters()}


def step_now(p):
    optimizers[p].step()
    CLEAR


for p in model.parameters():
    p.register_post_accumulate_grad_hook(step_now)
"""
ADAM_BY_HAND = """\
        gradients = {name: gradient.detach() for name, gradient in gradients.items()}
        step += 1
        with torch.no_grad():
            for name, p in model.named_parameters():
                mean, square = moments.setdefault(name, (torch.zeros_like(p), torch.zeros_like(p)))
                mean.lerp_(gradients[name], 0.1)
                square.lerp_(gradients[name] ** 2, 0.001)
                p -= learning_rate * (mean / (1 - 0.9**step)) / ((square / (1 - 0.999**step)).sqrt() + 1e-8)
        losses.append(loss.item())
"""
HEAD_STEP, HEAD_ZERO = (line.replace("optimizer", "head_optimizer") for line in (STEP, ZERO))
ASSIGNED = "            parameter.grad = gradients[name].detach()\n"
BY_HAND = "\nmoments = {}" + FUNCTIONAL.split("        for name, parameter")[0] + ADAM_BY_HAND


def with_two(*edits: tuple[str, str]) -> str:
    return apply(BROKEN, ((MADE, TWO), (STEP, STEP + HEAD_STEP), *edits))


def within_backward(clear: str) -> str:
    return apply(BROKEN, ((MADE, EACH.replace("CLEAR", clear)), (STEP, "")))


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        with_two((BACK, ZERO + HEAD_ZERO + BACK)),
        within_backward("optimizers[p].zero_grad()"),
        trained_by(FUNCTIONAL),
        trained_by(BY_HAND),
    ],
    ids=["two optimizers", "within backward", "torch.func", "torch.func, by hand"],
)
def test_a_right_repair_passes_in_any_form(source):
    must_pass(source)


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        with_two(),
        with_two((BACK, ZERO + BACK)),
        within_backward("pass"),
        trained_by(FUNCTIONAL.replace(ASSIGNED, (
            "            new = gradients[name].detach()\n"
            "            parameter.grad = new if parameter.grad is None else parameter.grad + new\n"
        ))),
    ],
    ids=["two optimizers", "one of two", "within backward", "torch.func"],
)  # fmt: skip
def test_and_a_wrong_one_in_none(source):
    assert {"fresh_gradient", "symptom"} <= failed(must_fail(source))


@pytest.mark.slow
def test_a_sum_of_all_gradients_by_hand_does_not_pass():
    added = (
        "        kept = {name: gradients[name] + kept.get(name, 0) for name in gradients}\n        gradients = kept\n"
    )
    source = trained_by(BY_HAND.replace("moments = {}", "moments = {}\nkept = {}").replace(
        "        step += 1\n", added + "        step += 1\n"
    ))  # fmt: skip
    assert "accuracy" in failed(must_fail(source))


def test_there_are_no_second_edits_without_effect():
    assert len({MENDED, BROKEN, with_two(), within_backward("pass"), trained_by(FUNCTIONAL), trained_by(BY_HAND)}) == 6
    assert ASSIGNED in FUNCTIONAL
