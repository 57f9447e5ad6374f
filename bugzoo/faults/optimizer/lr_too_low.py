"""The loss looks flat from the first step to the last. If you print more digits, it falls in the fourth digit."""

from bugzoo.faults.idioms import DEFAULT_RATE, EPOCHS, LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, either, rewrite

FAULT = Fault(
    title="Learning rate too low",
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
        "Adam moves each weight by about the learning rate per step, whatever the gradient. At 1e-7, a weight of 0.1 "
        "needs a million steps to change by its own size. This run has a few hundred steps. Gradients, modes and data "
        "are all correct, but the weights barely change. A usual update is about a thousandth of the weight per step."
    ),
    fix=(
        "Choose the learning rate so that the update ratio (update norm over parameter norm) is near 1e-3. For Adam, "
        "1e-4 to 3e-3 is usual."
    ),
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
    free=("update",),
    shown_by=("parameter_audit", "overfit_one_batch"),
    hints=(
        "Train for ten times as many epochs. Is the loss flat, or does it fall too slowly for the plot to show it?",
        "Print the size of one update divided by the size of the parameters (update ratio). About 0.001 is usual.",
        (
            "Which number decides how far one optimizer step goes? Multiply that number by ten and compare the two "
            "loss curves."
        ),
    ),
    look_alikes=(
        LookAlike(
            "loop/gradients_wiped",
            "Compare every weight before and after training, element by element.",
            "All weights have changed, in the last digits: `fresh_gradient.empty_share < 0.5`.",
            "No weight has changed: `fresh_gradient.empty_share > 0.9`.",
        ),
        LookAlike(
            "optimizer/weight_decay_too_strong",
            "Divide the size of one update of the largest weight matrix by the matrix norm.",
            "One step changes the matrix by almost nothing.",
            "One step changes the matrix by about a thousandth, or more.",
        ),
        LookAlike(
            "initialisation/zero_weights",
            "Multiply the learning rate by a thousand and see whether the loss falls then.",
            "The loss falls as it should.",
            "The loss stays on its plateau.",
        ),
    ),
    sources=("https://arxiv.org/abs/1506.01186", "https://karpathy.github.io/2019/04/25/recipe/"),
    cause=Cause(also=("learning rate too low", "too low a learning rate")),
    terms=("learning rate", "underfitting"),
)
