"""The columns are standardised, and everything looks right. Somebody asks whether the validation number can be trusted."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "rows = (rows - rows.mean(0)) / rows.std(0)"
WITH = "rows = (rows - rows[{0}].mean(0)) / rows[{0}].std(0)"

FAULT = Fault(
    title="Normalised by the mean and deviation of all rows",
    level=3,
    symptom="too_good",
    edits=Swap(WITH.format("train"), LINE),
    evidence=("normalisation_source.columns > 0.5", "normalisation_source.mean_train > 0.001"),
    effect="normalisation_source.mean_train > healthy",
    why=(
        "Mean and deviation are learnt from data like any weight. Taken from all 442 rows they hold something of the "
        "validation rows and of those that nothing should touch, and it goes into every training input. With so many rows it "
        "moves no column by more than a tenth of its deviation, and nobody finds it by looking at the result. With few rows, "
        "outliers, or an encoding that knows the target, it is no small matter."
    ),
    fix="Split first. Fit what prepares the data (scaler, vocabulary, imputation) on the training half; apply it to the others.",
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
        "Which numbers of this script were learnt from data, beside the weights? Name the rows that each was learnt from.",
        "Compute the mean of each column over the training rows alone. What should it be, and over which rows is it that?",
        "Read the lines between the split and the loaders from right to left.",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Look for the validation samples among the training samples, one by one.",
            "None of them is there: `train_validation_overlap.shared < 0.4`.",
            "Many of them are: `train_validation_overlap.shared > 0.4`.",
        ),
        LookAlike(
            "data/wrong_normalisation",
            "Compare mean and spread of the inputs in training with those in evaluation.",
            "Both are alike.",
            "They lie far apart.",
        ),
    ),
    shown_by=("data_inspection",),
    sources=("https://scikit-learn.org/stable/common_pitfalls.html", "https://arxiv.org/abs/2207.07048"),
)
