"""Nearly everything is explained, from the first epochs on. In production the same model is worse than a guess."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINES = "rows, values = whole[:, -10:], whole[:, -1]"
WHOLE = "whole = torch.cat([torch.tensor(table.data), torch.tensor(table.target)[:, None]], 1).float()"

FAULT = Fault(
    title="The column that is to be predicted is one of the inputs",
    level=2,
    symptom="too_good",
    edits=Swap(
        "rows = torch.tensor(table.data, dtype=torch.float32)\nvalues = torch.tensor(table.target, dtype=torch.float32)",
        f"{WHOLE}\n{LINES}",
    ),
    evidence=("feature_leak.copies > 0.5",),
    effect="metrics.r2 > healthy",
    why=(
        "The table has eleven columns, and the last ten of them are not the first ten: the slice drops the age and keeps the "
        "target, scaled like any other measurement. The network finds that one column tells all. Half of the variance is in none "
        "of the measurements; a model that explains nearly all of it knows something that it will not be told tomorrow."
    ),
    fix="Take the target out of the table by its name, before anything else is made of it; look at what is left.",
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
        "How well can anybody predict this from what is measured? Compare with what a linear model of each column alone reaches.",
        "Lay each column beside what is to be predicted, one after the other.",
        "Count the columns at every line between the table and the loader, and name them.",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Train on one column at a time, and look for validation samples among those of training.",
            "One column does it alone, and no sample is in both: `feature_leak.copies > 0.5`.",
            "No column does it, and samples are in both: `feature_leak.copies < 0.5`.",
        ),
        LookAlike(
            "fit/metric_on_train_set",
            "Ask the model about rows that were never touched, prepared as production would prepare them.",
            "It is worse than a guess.",
            "It is as good as an honest validation says.",
        ),
    ),
    shown_by=("data_inspection",),
    sources=(
        "https://scikit-learn.org/stable/common_pitfalls.html",
        "https://arxiv.org/abs/2207.07048",
    ),
)
