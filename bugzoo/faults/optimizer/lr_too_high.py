"""The loss jumps up in the first steps, swings wildly and ends near or above where it began."""

from bugzoo.faults.idioms import DEFAULT_RATE, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import either, rewrite

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
        "amp_transformer": "float16 overflows first: the loss is no number on 3 of 5 seeds, measured; that is another fault."
    },
    evidence=("loss_curve.diverged > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "A step is only as good as the straight-line picture of the loss that it follows. Beyond about two over the "
        "largest curvature each step overshoots by more than it gains. Adam bounds a step to about lr per parameter, so "
        "it does not run off to infinity, but it throws the weights about just as well."
    ),
    fix="Find the largest rate at which the loss still falls (a rate finder), and take a third to a tenth of it.",
    hints=(
        "Look at the first twenty steps, not at the end.",
        "How large is one update compared with the parameters that it changes? About 0.001 is usual.",
        "Which number decides how far a step goes?",
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "There the gradient at step() contains older batches; here it is the last batch's alone.",
        ),
        LookAlike("initialisation/weights_too_large", "That shows at step 0, before any update."),
    ),
    sources=("https://arxiv.org/abs/1506.01186",),
)
