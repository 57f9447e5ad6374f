"""The loss is flat. With much patience one sees that it falls, in the fourth digit."""

from bugzoo.faults.idioms import DEFAULT_RATE, EPOCHS, LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, either, rewrite

FAULT = Fault(
    title="Learning rate far too low",
    level=2,
    symptom="stuck",
    params={"factor": Param(1e-4, 1e-9, 3e-4, "what the healthy learning rate is multiplied by")},
    edits=either(
        rewrite(LEARNING_RATE, LR="fold($LR * $factor)"),
        rewrite(DEFAULT_RATE, PARAMETERS="$PARAMETERS, lr=fold(1e-3 * $factor)"),
    ),
    evidence=("learning_rate_log.update_ratio < 3e-5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "With Adam a step moves each number by about the learning rate, whatever the gradient. A weight of 0.1 needs a million "
        "steps of 1e-7 to change by as much as itself; this training has some hundreds. Everything is right, gradients, "
        "modes, data, and nothing happens: usual is a change of about a thousandth per step."
    ),
    fix="Look at update over parameter, and choose the rate so that it is near 1e-3; 1e-4 to 3e-3 is usual for Adam.",
    repairs={
        "multiplied in place": rewrite(LEARNING_RATE, LR="$LR / $factor"),
        "where it is used": rewrite(OPTIMIZER, LR="learning_rate / $factor"),
        "afterwards": after(OPTIMIZER, 'for group in optimizer.param_groups:\n    group["lr"] /= $factor'),
    },
    pretences={
        "three times": rewrite(LEARNING_RATE, LR="fold($LR * 3)"),
        "a louder loss": Swap("$LOSS.backward()", "(100 * $LOSS).backward()"),
        "later in full": Swap("step += 1", 'step += 1\nif step == 20:\n    optimizer.param_groups[0]["lr"] *= 30'),
        "ten times the epochs": rewrite(EPOCHS, COUNT="fold($COUNT * 10)"),
    },
    shown_by=("parameter_audit", "overfit_one_batch"),
    hints=(
        "Train for ten times as long. Is it flat, or does it fall so slowly that one does not see it?",
        "How large is one update compared with the parameters that it changes? About 0.001 is usual.",
        "Which number decides how far a step goes?",
    ),
    look_alikes=(
        LookAlike(
            "loop/gradients_wiped",
            "Compare all weights before and after the training, number by number.",
            "All have changed, in the last digits: `fresh_gradient.empty_share < 0.5`.",
            "None has changed: `fresh_gradient.empty_share > 0.9`.",
        ),
        LookAlike(
            "optimizer/weight_decay_too_strong",
            "Print by how much of its size one step changes the largest weight matrix.",
            "By next to nothing.",
            "By about a thousandth, or more.",
        ),
        LookAlike(
            "initialisation/zero_weights",
            "Multiply the learning rate by a thousand and see whether the loss falls then.",
            "It falls well.",
            "It lies where it lay.",
        ),
    ),
    sources=("https://arxiv.org/abs/1506.01186", "https://karpathy.github.io/2019/04/25/recipe/"),
)
