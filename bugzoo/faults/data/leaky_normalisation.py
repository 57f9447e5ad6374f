"""All columns are standardized, and everything looks right. A reviewer asks if the validation number can be trusted."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "rows = (rows - rows.mean(0)) / rows.std(0)"
WITH = "rows = (rows - rows[{0}].mean(0)) / rows[{0}].std(0)"

FAULT = Fault(
    title="Data leakage: normalization statistics from all rows",
    level=3,
    symptom="too_good",
    edits=Swap(WITH.format("train"), LINE),
    evidence=("normalisation_source.columns > 0.5", "normalisation_source.mean_train > 0.001"),
    effect="normalisation_source.mean_train > healthy",
    why=(
        "Mean and standard deviation are learned from data, like weights. Statistics computed over all 442 rows "
        "contain information about the validation rows and the held-out rows. This information enters every training "
        "input. With so many rows, no column moves by more than a tenth of its standard deviation, so the leak does "
        "not show in the results. With few rows, outliers, or a target encoding, the leak matters."
    ),
    fix=(
        "Split first. Fit the preprocessing (scaler, vocabulary, imputation) on the training rows only: "
        "`rows[train].mean(0)`, `rows[train].std(0)`. Then apply the same preprocessing to all rows."
    ),
    repairs=instead(
        LINE,
        {
            "kept as numbers": "mean, std = rows[train].mean(0), rows[train].std(0)\nrows = (rows - mean) / std",
            "both at once": "std, mean = torch.std_mean(rows[train], 0)\nrows = (rows - mean) / std",
            "by scikit-learn": (
                "from sklearn.preprocessing import StandardScaler\n"
                "rows = torch.tensor(StandardScaler().fit(rows[train].numpy()).transform(rows.numpy()))"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "without the last ones": WITH.format("order"),
            "by the validation rows": WITH.format("validation"),
            "in two steps": "rows = rows - rows.mean(0)\nrows = rows / rows.std(0)",
        },
    ),
    hints=(
        (
            "Which numbers in this script are learned from data, besides the weights? List the rows that each one is "
            "learned from."
        ),
        "Compute the mean of each column over the training rows only. The mean should be 0. Over which rows is it 0?",
        "Read the lines between the split and the loaders. Which rows does each line use?",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Look up each validation sample among the training samples, and count the matches.",
            "No validation sample is among the training samples: `train_validation_overlap.shared < 0.4`.",
            "Many validation samples are among the training samples: `train_validation_overlap.shared > 0.4`.",
        ),
        LookAlike(
            "data/wrong_normalisation",
            "Compare mean and standard deviation of the inputs in training and in evaluation.",
            "Mean and standard deviation are about the same in both.",
            "Mean and standard deviation differ widely.",
        ),
    ),
    shown_by=("data_inspection",),
    sources=("https://scikit-learn.org/stable/common_pitfalls.html", "https://arxiv.org/abs/2207.07048"),
    cause=Cause(words.LEAKAGE, also=("leakage", "leak", "leaked test data")),
    terms=("normalization", "data leakage"),
)
