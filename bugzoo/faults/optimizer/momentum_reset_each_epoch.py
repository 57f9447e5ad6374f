"""At the beginning of every epoch the loss jumps up a little, as regularly as a clock."""

from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER, TRAIN_LOOP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead, rewrite

AGAIN = "model.train()\noptimizer = $MADE"

FAULT = Fault(
    title="A new optimiser for every epoch",
    level=4,
    symptom="degraded",
    edits=before(TRAIN_LOOP, "$OPTIMIZER_STATEMENT", given=OPTIMIZER),
    evidence=("learning_rate_log.takeovers > 1.5",),
    effect="learning_rate_log.takeovers > healthy",
    why=(
        "An optimiser is more than a rate: Adam keeps a mean and a mean square of each number's gradient, SGD its momentum. "
        "A new one knows one gradient, and its first step moves every parameter by the full learning rate, however small or "
        "noisy that gradient is. What was gathered over 36 steps is thrown away each epoch, and a scheduler goes on turning "
        "the rate of the first one, which nobody uses any more."
    ),
    fix="Make the optimiser once, before the first epoch, and keep it.",
    repairs=instead(
        AGAIN,
        {
            "for the first epoch only": "model.train()\nif epoch == 0:\n    optimizer = $MADE",
            "where no step was made": "model.train()\nif step == 0:\n    optimizer = $MADE",
        },
    ),
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
        "At which steps does the loss jump? Count how many lie between two of them.",
        "What does a step depend on, apart from the gradient and the rate?",
        "Which objects are made inside of a loop here, and should they live longer than it?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Look at which steps of an epoch the loss jumps up, over several epochs.",
            "At the first ones, each time: `learning_rate_log.takeovers > 1.5`.",
            "At any: `learning_rate_log.takeovers < 1.5`.",
        ),
        LookAlike(
            "loop/scheduler_never_stepped",
            "Ask at two epochs whether the optimiser that steps is still the same object.",
            "It is another one each time: `learning_rate_log.takeovers > 1.5`.",
            "It is the same to the end: `learning_rate_log.takeovers < 1.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html",),
)
