"""A model explains nearly all variance from the first epochs on. In production the same model is worse than a guess."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINES = "rows, values = whole[:, -10:], whole[:, -1]"
WHOLE = "whole = torch.cat([torch.tensor(table.data), torch.tensor(table.target)[:, None]], 1).float()"

FAULT = Fault(
    title="Target leakage: target column among the inputs",
    level=2,
    symptom="too_good",
    edits=Swap(
        "rows = torch.tensor(table.data, dtype=torch.float32)\nvalues = torch.tensor(table.target, dtype=torch.float32)",
        f"{WHOLE}\n{LINES}",
    ),
    evidence=("feature_leak.copies > 0.5",),
    effect="metrics.r2 > healthy",
    why=(
        "The table has eleven columns, and the last one is the target. The slice takes the last ten columns: it "
        "drops the age and keeps the target, scaled like any other column. The network learns to copy the target. "
        "The ten measurements explain only half of the variance, so a model that explains nearly all of it uses the "
        "target. In production that column does not exist."
    ),
    fix=(
        "Take the target out of the table by its name, before any other step. Here: "
        "`rows, values = whole[:, :-1], whole[:, -1]`. Then print which columns are left."
    ),
    repairs=instead(
        LINES,
        {
            "the first ten": "rows, values = whole[:, :10], whole[:, -1]",
            "all but the last": "rows, values = whole[:, :-1], whole[:, -1]",
            "split in two": "rows, values = whole.split([10, 1], 1)\nvalues = values[:, 0]",
        },
    ),
    pretences=instead(
        LINES,
        {
            "in other units": "rows, values = whole[:, -10:] / 10, whole[:, -1]",
            "a little noise": "rows, values = whole[:, -10:] + 0.01 * torch.randn(442, 10), whole[:, -1]",
            "a copy of it": "rows, values = whole[:, -10:].clone(), whole[:, -1].clone()",
            "weak for training": f"{LINES}\nrows[:, -1] = rows[:, -1].sqrt()",
        },
    ),
    hints=(
        "How well can these measurements predict the value at all? Fit a linear model on each column alone.",
        "Plot each input column against the value to predict, one after the other.",
        "Count the columns after every line between the table and the loader, and name them.",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Train on one column at a time. Then look up the validation samples in the training set.",
            "One column alone is enough, and the two sets share no sample: `feature_leak.copies > 0.5`.",
            "No column alone is enough, and the two sets share samples: `feature_leak.copies < 0.5`.",
        ),
        LookAlike(
            "fit/metric_on_train_set",
            "Evaluate the model on held-out rows, prepared in the way production would prepare them.",
            "The model is worse than a guess.",
            "The model is as good as an honest validation set says.",
        ),
    ),
    shown_by=("data_inspection",),
    sources=(
        "https://scikit-learn.org/stable/common_pitfalls.html",
        "https://arxiv.org/abs/2207.07048",
    ),
    cause=Cause(words.LEAKAGE, also=("target leakage",)),
    terms=("data leakage",),
)
