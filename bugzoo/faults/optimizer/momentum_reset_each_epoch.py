"""The loss jumps up a little at the beginning of each epoch, as regularly as a clock."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER, TRAIN_LOOP
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import before, instead, rewrite

AGAIN = "model.train()\noptimizer = $MADE"

FAULT = Fault(
    title="Optimizer re-created every epoch",
    level=4,
    symptom="degraded",
    edits=before(TRAIN_LOOP, "$OPTIMIZER_STATEMENT", given=OPTIMIZER),
    evidence=("learning_rate_log.takeovers > 1.5",),
    effect="learning_rate_log.takeovers > healthy",
    why=(
        "Adam keeps a running mean and mean square of each gradient, and SGD keeps a momentum buffer. A new optimizer "
        "starts with an empty state. Adam's first step then moves every parameter by the full learning rate, however "
        "small or noisy the gradient is. Each epoch throws away the optimizer state of 36 steps. A scheduler still "
        "changes the learning rate of the first optimizer, which the loop no longer uses."
    ),
    fix="Create the optimizer once, before the first epoch, and keep it.",
    repairs=instead(
        AGAIN,
        {
            "for the first epoch only": "model.train()\nif epoch == 0:\n    optimizer = $MADE",
            "where no step was made": "model.train()\nif step == 0:\n    optimizer = $MADE",
        },
    ),
    by_counter=("for the first epoch only", "where no step was made"),
    pretences=instead(
        AGAIN,
        {
            "every second epoch": "model.train()\nif epoch % 2 == 0:\n    optimizer = $MADE",
            "its rate alone handed on": (
                'model.train()\nrate = optimizer.param_groups[0]["lr"]\noptimizer = $MADE\noptimizer.param_groups[0]["lr"] = rate'
            ),
        },
    )
    | {"a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 2)")},
    shown_by=("loss_curve",),
    hints=(
        "At which steps does the loss jump? Count the steps between two jumps.",
        "Besides the gradient and the learning rate, what does the size of one update depend on?",
        (
            "Which objects does the script create inside a loop? Should one of these objects live longer than one pass "
            "of the loop?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Over several epochs, note at which steps of an epoch the loss jumps up.",
            "The loss jumps at the first steps of every epoch: `learning_rate_log.takeovers > 1.5`.",
            "The loss jumps at any step of an epoch: `learning_rate_log.takeovers < 1.5`.",
        ),
        LookAlike(
            "loop/scheduler_never_stepped",
            "In two successive epochs, print id(optimizer): is it still the same object?",
            "Each epoch has another optimizer object: `learning_rate_log.takeovers > 1.5`.",
            "The optimizer is the same object to the end: `learning_rate_log.takeovers < 1.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html",),
    cause=Cause(words.OPTIMIZER_STATE, also=("optimizer state", "momentum")),
    terms=("momentum", "epoch", "optimizer state", "loss curve"),
)
