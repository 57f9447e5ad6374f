"""Gradient accumulation was added, to step at every fourth batch. The loss now falls slowly and restlessly."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, STEP, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, remove, rewrite

NOW = "if $COUNT % $EVERY == 0:\n    optimizer.step()"

FAULT = Fault(
    title="Steps at every n-th batch and clears the gradients at none",
    level=2,
    symptom="degraded",
    params={"every": Param(4, 2, 64, "batches from one step to the next")},
    edits=(remove(ZERO_GRAD), rewrite(STEP, PLACE="if $COUNT % $every == 0:\n    $PLACE", given=COUNTER)),
    not_on={"amp_transformer": "GradScaler.update() refuses to go on where nothing was stepped: a crash, measured."},
    evidence=("fresh_gradient.stale_share > 0.5", "fresh_gradient.backwards_per_step > 1.5"),
    effect="fresh_gradient.leftover > healthy",
    why=(
        "That backward() adds up is what accumulation lives by: four batches, one step. But behind the step the sum has to be "
        "cleared, and here it never is: step k follows the sum of the first 4k batches, of which only the last four are "
        "news. And there is a step for a quarter of the batches only."
    ),
    fix="Clear the gradients right behind each step, or, where memory is not short, step at every batch.",
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
        "How many batches are in the gradient that the tenth step follows?",
        "Print the norm of the gradient in front of every backward(): when should it be zero?",
        "Which lines should belong to the step and run as often as it does?",
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "Count the calls of backward() between one step of the optimiser and the next.",
            "Several: `fresh_gradient.backwards_per_step > 1.5`.",
            "One: `fresh_gradient.backwards_per_step < 1.5`.",
        ),
        LookAlike(
            "traps/accumulation_on_purpose",
            "Look what lies in the gradients when the first backward() of a step is called.",
            "All that came before: `fresh_gradient.stale_share > 0.5`.",
            "Nothing: `fresh_gradient.stale_share < 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "At one step, compare the gradient at the optimiser with that of the last batch alone.",
            "It holds older batches as well: `fresh_gradient.stale_share > 0.5`.",
            "It is the last batch's alone: `fresh_gradient.stale_share < 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",),
)
