"""The loss jumps up in the first steps, swings wildly and ends near or above where it began."""

from bugzoo.faults.idioms import DEFAULT_RATE, LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, either, rewrite

FAULT = Fault(
    title="Learning rate far too high",
    level=1,
    symptom="diverges",
    params={"factor": Param(300.0, 1.5, 1e6, "how many times the healthy learning rate")},
    edits=either(
        rewrite(LEARNING_RATE, LR="fold($LR * $factor)"),
        rewrite(DEFAULT_RATE, PARAMETERS="$PARAMETERS, lr=fold(1e-3 * $factor)"),  # the default of the Adams
    ),
    not_on={
        "amp_transformer": "float16 overflows first: the loss is no number on 3 of 5 seeds, measured; that is another fault.",
        "finetune": "its loss starts anew with the second task and does not swing then: no divergence on 5 seeds, measured.",
    },
    evidence=("loss_curve.diverged > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "A step is only as good as the straight-line picture of the loss that it follows. Beyond about two over the "
        "largest curvature each step overshoots by more than it gains. Adam bounds a step to about lr per parameter, so "
        "it does not run off to infinity, but it throws the weights about just as well."
    ),
    fix="Find the largest rate at which the loss still falls (a rate finder), and take a third to a tenth of it.",
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
    hints=(
        "Look at the first twenty steps, not at the end.",
        "How large is one update compared with the parameters that it changes? About 0.001 is usual.",
        "Which number decides how far a step goes?",
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient at the optimiser with that of the last batch alone.",
            "It is the last batch's alone: `fresh_gradient.stale_share < 0.5`.",
            "It holds older batches as well: `fresh_gradient.stale_share > 0.5`.",
        ),
        LookAlike(
            "initialisation/weights_too_large",
            "Look at the loss of the very first step, before anything in the model was changed.",
            "It is that of guessing.",
            "It is far above that of guessing.",
        ),
        LookAlike(
            "numerics/log_at_step",
            "Lower the learning rate by ten and see whether a loss is lost at the same step as before.",
            "None is lost, before and after, it swings less: `first_non_finite.found < 0.5`.",
            "At the same step, whatever the rate: `first_non_finite.found > 0.5`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1506.01186",),
)
