"""The regression learns nothing but the mean: every patient gets nearly the same number. There is only a warning."""

from bugzoo.faults.idioms import LEARNING_RATE, OTHER_LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.mse_loss($PREDICTIONS, $TARGETS.unsqueeze(1))"

FAULT = Fault(
    title="A column of targets against a row of predictions",
    level=2,
    symptom="plateau",
    edits=rewrite(OTHER_LOSS, TARGETS="($TARGETS).unsqueeze(1)"),
    evidence=("data_inspection.outer_broadcast > 0.5",),
    effect="metrics.r2 < healthy",
    why=(
        "Predictions of shape (B,) and targets of shape (B, 1) are stretched to (B, B): each prediction is compared with every "
        "target of the batch, 16 x 16 pairs in place of 16. What is best against all of them is their mean, whatever the "
        "inputs are. Nothing crashes; torch prints a warning that is easily lost among others."
    ),
    fix="Bring both to one shape, and assert it in the line before the loss.",
    repairs=instead(
        LINE,
        {
            "both columns": "F.mse_loss($PREDICTIONS.unsqueeze(1), $TARGETS.unsqueeze(1))",
            "in the predictions' shape": "F.mse_loss($PREDICTIONS, $TARGETS.view_as($PREDICTIONS))",
            "by hand": "(($PREDICTIONS - $TARGETS) ** 2).mean()",
        },
    ),
    pretences=instead(
        LINE,
        {
            "broadcast on purpose": (
                "F.mse_loss($PREDICTIONS.expand(len($TARGETS), -1), $TARGETS.unsqueeze(1).expand(-1, len($TARGETS)))"
            ),
            "another loss": "F.l1_loss($PREDICTIONS, $TARGETS.unsqueeze(1))",
            "the other way round": "F.mse_loss($PREDICTIONS.unsqueeze(1), $TARGETS)",
        },
    )
    | {
        "warnings off": Swap("step = 0", 'import warnings\n\nwarnings.simplefilter("ignore")\nstep = 0'),
        "a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 5)"),
    },
    shown_by=("overfit_one_batch",),
    hints=(
        "How far apart are the predictions for the first ten samples, and how far apart are their targets?",
        "Print the shapes of both things that enter the loss.",
        "What does a - b give for one of shape (16,) and the other of shape (16, 1)?",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Train on one single sample, again and again, and then on two: what is predicted for each?",
            "One alone is learnt; of two both get the mean.",
            "Each gets the label that it was given.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the shape of what the loss is averaged over, before it is averaged.",
            "A square: `data_inspection.outer_broadcast > 0.5`.",
            "One number for each sample: `data_inspection.outer_broadcast < 0.5`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/16045",
        "https://github.com/pytorch/pytorch/issues/19699",
    ),
)
