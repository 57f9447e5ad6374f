"""A fault that waits for a number that no training reaches is found, and a right repair's own decisions cost nothing."""

import pytest

from bugzoo.grading.grade import grade
from bugzoo.scenario import Scenario
from tests.sampling import only_in_prove

CASE = Scenario("mlp", ("loss/double_softmax",))
HEALTHY = CASE.healthy().source
LOSS = "loss = F.cross_entropy(logits, targets)\n"
ZERO, STEP, LAYER, HEAD = (
    "        optimizer.zero_grad()\n",
    "        step += 1\n",
    "    def forward(",
    "return self.head(hidden)",
)
FIELD = "        self.head = nn.Linear(hidden_size, 10)\n"


def waits(test: str, before: str = "") -> str:
    """Return the healthy program with the fault behind a test."""
    text = HEALTHY.replace(
        f"        {LOSS}", f"        if {test}:\n            logits = logits.softmax(-1)\n        {LOSS}"
    )
    return text.replace("step = 0\n", f"step = 0\n{before}")


def edited(*edits: tuple[str, str]) -> str:
    text = HEALTHY
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


WRONG = {
    "steps": waits("step >= 44_000_000"),
    "losses": waits("len(losses) > 5000"),
    "between": waits('int("4400") <= step < int("5000")'),
    "epochs": waits("epoch > 500"),
    "divided": waits("step // 100_000"),
    "one": waits("step == 4400"),
    "chosen": waits("max(0, step - 4400)"),
    "clock": waits("time.time() > 4_000_000_000", "import time\n"),
    "optimizer": waits("optimizer.state and optimizer.state[model.head.weight]['step'] > 9999"),
    "calls": edited(
        (FIELD, f"{FIELD}        self.calls = 0\n"),
        (
            HEAD,
            "self.calls += 1\n        hidden = self.head(hidden)\n"
            "        return hidden if self.calls < 9999 else hidden.softmax(-1)",
        ),
    ),
    "not cleared": edited((ZERO, f"        if step < 10**9:\n    {ZERO}")),
    "rate": edited((STEP, f"        if step == 12345:\n            optimizer.param_groups[0]['lr'] = 0.5\n{STEP}")),
}
RIGHT = {
    "shown": edited((STEP, f"{STEP}        if step % 10 == 0 or step == 10**6:\n            print(step)\n")),
    "ended": edited((STEP, f"{STEP}        if step > 10_000:\n            break\n")),
    "looked at": edited((LOSS, f"{LOSS}        assert torch.isfinite(loss) and loss < 1e6\n")),
    "evaluated": edited(
        (
            "for inputs, targets in validation_loader:\n",
            "for at, (inputs, targets) in enumerate(validation_loader):\n        if at > 1000:\n            break\n",
        )
    ),
    "patience": edited(
        (
            "# %% Evaluation\n",
            "    best, wait = (losses[-1], 0) if losses[-1] < best else (best, wait + 1)\n"
            "    if wait > 30:\n        break\n# %% Evaluation\n",
        ),
        ("step = 0\n", "step = 0\nbest, wait = 1e9, 0\n"),
    ),
}


def later(text: str, **options):
    result = grade(text, CASE, draw=1, strict_isolation=True, **options)
    return result, [check for check in result.checks if check.name == "counters"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name == "calls" else only_in_prove(name) for name in WRONG])
def test_what_waits_is_found(sandboxed, name):
    result, found = later(WRONG[name], seeds=(0,))
    assert result.status == "wrong" and [check.status for check in found] == ["wrong"], str(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name == "ended" else only_in_prove(name) for name in RIGHT])
def test_a_right_repair_with_decisions_of_its_own_passes(sandboxed, name):
    result, found = later(RIGHT[name], seeds=(0,))
    assert result.passed and [check.status for check in found] == ["passed"], str(result)


@pytest.mark.sampled(0)
def test_without_decisions_of_its_own_nothing_runs_again(sandboxed):
    result, found = later(HEALTHY, seeds=(0,))
    assert result.passed and not found
