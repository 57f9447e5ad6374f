"""What a verdict says of an instrument that fires: the data and the evaluation."""

from bugzoo.grading.alarms import More, Table, above, always, below, both, measured

_LABELS = "The labels of similar examples were compared."
_ACCURACY = "The script's result was computed again on the same data."
_BATCHES = "The batches of the training were compared."

TABLE: Table = {
    "data_inspection": (
        "Inputs and labels",
        [
            (
                above("non_finite_share"),
                "The batches were inspected. {non_finite_share:.2%} of the inputs are NaN or infinite.",
                "All of them should be finite (0%).",
            ),
            (
                above("outer_broadcast"),
                "The shapes in the loss were compared. The loss compares each output with more than 1 target.",
                "Each output should be compared with 1 target.",
            ),
            (
                above("mask_stretched"),
                "The shapes in the loss were compared. Each loss counts more than 1 time.",
                "Each loss should count 1 time.",
            ),
            (
                both(measured("neighbour_agreement", "chance_agreement"), below("agreement_over_chance", 0.06)),
                f"{_LABELS} {{agreement:.0%}} of near neighbors share their target ({{chance_agreement:.0%}} by "
                "chance), and the loss ends at {final_loss:.3g}.",
                "More neighbors should share it, or the loss should end lower.",
            ),
            (
                always,
                "The batches were inspected. The inputs lie between {min:.3g} and {max:.3g}.",
                "Inputs should reach at least 0.1.",
            ),
        ],
    ),
    "batch_order": (
        "Order of the batches",
        [
            (
                above("same_batch_share", 0.9),
                f"{_BATCHES} {{same_batch_share:.0%}} of them repeat the first one.",
                "At most 90% passes; 0% is usual.",
            ),
            (
                below("mixed", 0.5),
                "The labels in each batch were counted. A batch has {classes_in_batch:.1f} of {classes:.0f} classes "
                "on average.",
                "At least half the variety of a random batch passes.",
            ),
            (
                always,
                f"{_BATCHES} The last epoch repeats {{repeated_epoch_share:.0%}} of the first one's, in the same order.",
                "At most 90% passes; 0% is usual.",
            ),
        ],
    ),
    "feature_leak": (
        "Input columns",
        [
            (
                always,
                "Each input column was compared with the target. {copies:.0f} of {columns:.0f} columns are equal to it.",
                "No column should be equal to it (0).",
            )
        ],
    ),
    "input_detail": (
        "Detail of the inputs",
        [
            (
                always,
                "Distinct numbers were counted. The inputs have {values:.0f}, and the raw data has {held:.0f}.",
                "More than a third of the raw data's passes.",
            )
        ],
    ),
    "normalisation_source": (
        "Scale of the inputs",
        [
            (
                always,
                "Each input column was averaged over the training rows. In {columns:.0f} columns the mean is up to "
                "{mean_train:.2g}.",
                "It should be 0 there; up to 0.001 passes.",
            )
        ],
    ),
    "class_balance": (
        "Rare classes",
        [
            (
                always,
                "The recall of each class was measured. It is {rare_recall:.0%} for {rare_classes:.0f} rare classes and "
                "{common_recall:.0%} for the others.",
                "A gap of at most 20 percentage points passes.",
            )
        ],
    ),
    "train_validation_overlap": (
        "Validation examples",
        [
            (
                always,
                "The training data was searched for {validated:.0f} validation examples. {shared:.0%} of them are there.",
                "At most 40% passes; about 0% is usual.",
            )
        ],
    ),
    "validation_shift": (
        "Validation data",
        [
            (
                above("label_distance", 0.3),
                "The labels of training and validation data were counted. {label_distance:.0%} must change until both "
                "match.",
                "At most 30% passes; about 0% is usual.",
            ),
            (
                above("redrawn"),
                "The evaluation ran 2 times. {redrawn:.0%} of its inputs changed.",
                "Its inputs should not change (0%).",
            ),
            (
                always,
                "Training and validation inputs were compared. The means are {mean_shift:.2g} training spreads apart, "
                "and the "
                "spread is {spread_ratio:.2g} times as large.",
                "Up to 0.3 spreads and 0.5 to 2 times pass.",
            ),
        ],
    ),
    "untrained_rows": (
        "Words of the evaluation",
        [
            (
                always,
                "The {read:.0f} words of the evaluation were looked up. For {untrained_share:.0%} of them no gradient "
                "reached "
                "the row.",
                "At most 2% passes.",
            )
        ],
    ),
    "reported_metric": (
        "Result that the script reports",
        [
            (
                both(measured("reported", "recomputed"), above("gap", 1e-4)),
                f"{_ACCURACY} It reports an accuracy of {{reported:.4f}}, and {{recomputed:.4f}} is right.",
                "The two should be equal, up to 0.0001.",
            ),
            (
                measured("reported_loss", "recomputed_loss"),
                f"{_ACCURACY} It reports a loss of {{reported_loss:.4g}}, and {{recomputed_loss:.4g}} is right.",
                "The two should be equal, up to 0.1%.",
            ),
        ],
    ),
    "generalisation": (
        "Training and validation accuracy",
        [
            (
                always,
                "The accuracy was measured on both sets. It is {train_accuracy:.0%} on training data and "
                "{validation_accuracy:.0%} on validation data.",
                "Training accuracy from 18 points below to 35 above passes.",
            )
        ],
    ),
    "kept_weights": (
        "Final weights",
        [
            (
                above("better", 0.01),
                "The evaluation ran with each copy of the weights. Its loss is {kept_loss:.4g} with one copy and "
                "{loss:.4g} with "
                "the final weights.",
                "The final weights may be worse by at most 1%.",
            ),
            (
                always,
                "The data that selected the final weights was recorded. It is the reported data, and 0 other held-out sets "
                "are read.",
                "Other held-out data should select them.",
            ),
        ],
    ),
}

MORE: More = {"data_inspection": lambda numbers: {"agreement": numbers.get("neighbour_agreement", 0.0)}}
"""Instrument -> further numbers for its sentences."""
