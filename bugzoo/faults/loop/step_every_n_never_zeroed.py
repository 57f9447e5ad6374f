"""To save memory, the optimizer now steps only at every fourth batch. The loss falls slowly and jumps around."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, COUNTER, STEP, ZERO_GRAD
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, remove, rewrite

NOW = "if $COUNT % $EVERY == 0:\n    optimizer.step()"

FAULT = Fault(
    title="Gradient accumulation without zero_grad()",
    level=2,
    symptom="degraded",
    params={"every": Param(4, 2, 64, "batches from one optimizer step to the next")},
    edits=(remove(ZERO_GRAD), rewrite(STEP, PLACE="if $COUNT % $every == 0:\n    $PLACE", given=COUNTER)),
    not_on={"amp_transformer": "GradScaler.update() raises an error when no step was recorded: a crash (measured)."},
    evidence=("fresh_gradient.stale_share > 0.5", "fresh_gradient.backwards_per_step > 1.5"),
    effect="fresh_gradient.leftover > healthy",
    why=(
        "Gradient accumulation relies on backward() adding to .grad: four batches, one step. But you must clear the "
        "sum after each step, and this loop never does. Step k follows the sum of the first 4k batches, of which "
        "only the last four are new. The optimizer also makes only a quarter of the steps."
    ),
    fix=(
        "Call optimizer.zero_grad() right after each optimizer.step(). Or, if memory allows, step at every batch "
        "and clear the gradients each time."
    ),
    repairs={
        "a step and a clearing for each batch": Swap(NOW, "optimizer.step()\noptimizer.zero_grad()"),
        "cleared in front of backward": (Swap(NOW, "optimizer.step()"), before(BACKWARD, "optimizer.zero_grad()")),
        "the model's own": (Swap(NOW, "optimizer.step()"), before(BACKWARD, "model.zero_grad()")),
    },
    pretences={
        "the loss divided": rewrite(BACKWARD, LOSS="($LOSS / $every)"),
        "cleared now and then": after(COUNTER, "if step % 50 == 0:\n    optimizer.zero_grad()"),
        "a step for each batch": Swap(NOW, "optimizer.step()"),
        "cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    },
    shown_by=("gradient_health", "loss_curve"),
    hints=(
        "How many batches are in the gradient of the tenth optimizer step?",
        "Print the gradient norm before every backward() call. At which batches should the norm be zero?",
        "Which lines belong to the optimizer step and should run as often as it does?",
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "Count the backward() calls from one optimizer.step() to the next.",
            "There are several backward() calls per step: `fresh_gradient.backwards_per_step > 1.5`.",
            "There is one backward() call per step: `fresh_gradient.backwards_per_step < 1.5`.",
        ),
        LookAlike(
            "traps/accumulation_on_purpose",
            "Print the norm of .grad right before the first backward() of a step.",
            "The gradients of all earlier batches are still there: `fresh_gradient.stale_share > 0.5`.",
            "No old gradient is left: `fresh_gradient.stale_share < 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "At one step, compare the gradient before optimizer.step() with that of the last batch alone.",
            "The gradient also contains older batches: `fresh_gradient.stale_share > 0.5`.",
            "The gradient comes from the last batch alone: `fresh_gradient.stale_share < 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",),
    cause=Cause(words.STALE, explains=("optimizer/", "clipping/", "initialisation/")),
    terms=("gradient accumulation", "zero_grad"),
)
