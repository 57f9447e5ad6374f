"""The regression learns only the mean: every patient gets nearly the same number. The only sign is a warning."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, OTHER_LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.mse_loss($PREDICTIONS, $TARGETS.unsqueeze(1))"

FAULT = Fault(
    title="Targets (B, 1) broadcast against predictions (B,)",
    level=2,
    symptom="plateau",
    edits=rewrite(OTHER_LOSS, TARGETS="($TARGETS).unsqueeze(1)"),
    evidence=("data_inspection.outer_broadcast > 0.5",),
    effect="metrics.r2 < healthy",
    why=(
        "Predictions of shape (B,) and targets of shape (B, 1) broadcast to (B, B). Each prediction is compared "
        "with every target of the batch, 16 x 16 pairs instead of 16. The best prediction against all targets is "
        "their mean, whatever the inputs are. Nothing crashes, and PyTorch's warning is easily lost among others."
    ),
    fix=(
        "Give both the same shape, for example with targets.view_as(predictions). Write assert predictions.shape == "
        "targets.shape before the loss."
    ),
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
        "How far apart are the predictions for the first ten samples, and how far apart are the true values?",
        "Print the shapes of the two tensors that enter the loss.",
        "Compute a - b for one tensor of shape (16,) and one of shape (16, 1). Which shape is the result?",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Train on one single sample, then on two, and print the prediction for each.",
            "The model learns one sample alone, but two samples both get their mean.",
            "Each sample gets the label that it was given.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the shape of the tensor that the loss averages, right before the mean.",
            "The shape is a square: `data_inspection.outer_broadcast > 0.5`.",
            "The tensor has one number per sample: `data_inspection.outer_broadcast < 0.5`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/16045",
        "https://github.com/pytorch/pytorch/issues/19699",
    ),
    cause=Cause(words.DIMENSION, also=("broadcasting", "wrong shape", "shapes")),
    terms=("broadcasting", "one-batch overfit test"),
)
