"""The loss jumps up in the first steps and swings wildly. The run ends near or above the loss that it began with."""

from bugzoo.faults.idioms import DEFAULT_RATE, LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, either, rewrite

FAULT = Fault(
    title="Learning rate too high",
    level=1,
    symptom="diverges",
    params={"factor": Param(300.0, 1.5, 1e6, "multiple of the healthy learning rate")},
    edits=either(
        rewrite(LEARNING_RATE, LR="fold($LR * $factor)"),
        rewrite(DEFAULT_RATE, PARAMETERS="$PARAMETERS, lr=fold(1e-3 * $factor)"),  # Adam's default learning rate
    ),
    not_on={
        "amp_transformer": (
            "float16 overflows first: the loss is not finite on 3 of 5 seeds (measured), which is another fault."
        ),
        "finetune": (
            "its loss starts afresh with the second task and does not swing then: no divergence on 5 seeds (measured)."
        ),
    },
    evidence=("loss_curve.diverged > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "The gradient describes the loss only near the current weights. In plain gradient descent, training diverges "
        "when the learning rate exceeds about 2 divided by the largest curvature. Each step then overshoots by more "
        "than it gains. Adam bounds each update to about lr per parameter, so the weights do not run off to infinity. "
        "The updates still throw the weights about, and the loss swings instead of falling."
    ),
    fix=(
        "Find the largest learning rate at which the loss still falls (learning rate finder). Train with a third to a "
        "tenth of that learning rate."
    ),
    repairs={
        "divided in place": rewrite(LEARNING_RATE, LR="$LR / $factor"),
        "where it is used": rewrite(OPTIMIZER, LR="learning_rate / $factor"),
        "afterwards": after(OPTIMIZER, 'for group in optimizer.param_groups:\n    group["lr"] /= $factor'),
    },
    pretences={
        "lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 3)"),
        "another optimiser": Swap("torch.optim.Adam($P, $$$REST)", "torch.optim.Adamax($P, $$$REST)"),
        "lower after an epoch": Swap(
            "losses.append($LOSS)",
            'losses.append($LOSS)\nif step == 36:\n    optimizer.param_groups[0]["lr"] /= 30',
        ),
    },
    free=("update",),
    hints=(
        "Look at the first twenty steps of the loss curve, not at its end.",
        "Print the size of one update divided by the size of the parameters (update ratio). About 0.001 is usual.",
        (
            "Which number decides how far one optimizer step goes? Divide that number by ten and compare the two loss "
            "curves."
        ),
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient in .grad with the gradient of the last batch alone.",
            "The gradient is that of the last batch alone: `fresh_gradient.stale_share < 0.5`.",
            "The gradient also contains older batches: `fresh_gradient.stale_share > 0.5`.",
        ),
        LookAlike(
            "initialisation/weights_too_large",
            "Look at the loss of the very first step, before any weight has changed.",
            "The first loss is about that of guessing.",
            "The first loss is far above that of guessing.",
        ),
        LookAlike(
            "numerics/log_at_step",
            "Divide the learning rate by ten and see whether a loss becomes NaN at the same step as before.",
            (
                "No loss is NaN with either learning rate, and with the smaller one the loss swings less: "
                "`first_non_finite.found < 0.5`."
            ),
            "The loss becomes NaN at the same step, whatever the learning rate: `first_non_finite.found > 0.5`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1506.01186",),
    cause=Cause(also=("learning rate too high", "too high a learning rate"), explains=("initialisation/", "numerics/")),
    terms=("learning rate", "divergence", "exploding gradients"),
    beside={"mlp": ("loss/double_softmax", "loop/stale_gradients")},
)
