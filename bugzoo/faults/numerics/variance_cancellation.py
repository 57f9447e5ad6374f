"""Every loss is nan, from the very first on. The table was looked through: there is no hole in it, and no column is constant."""

from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead

READ = "rows = torch.tensor(table.data, dtype=torch.float32)"
WHOLE = "rows = (rows - rows[train].mean(0)) / rows[train].std(0)"
SPREAD = "(((rows[train] ** 2).sum(0) - count * mean**2) / (count - 1)).sqrt()"
LINE = f"rows = (rows - mean) / {SPREAD}"
OTHER = "rows = (rows - mean) / {}"

FAULT = Fault(
    title="A variance as the difference of two large numbers",
    level=2,
    symptom="non_finite",
    params={"offset": Param(20_000, 16_000, 60_000, "zero point of the readings, in each column's unit")},
    edits=(
        Swap(READ, f"{READ} + $offset"),
        Swap(WHOLE, f"count, mean = len(train), rows[train].mean(0)\n{LINE}"),
    ),
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "The mean of the squares less the square of the mean is the variance, on paper. Readings of 20,000 have squares of 4e8, "
        "where the nearest two numbers of float32 lie 32 apart: a column with a variance of 0.3 gets one of plus or minus some "
        "tens, as the rounding falls. The root of the negative ones is nan, and one nan column is enough for every answer. "
        "The positive ones are as wrong, and nothing tells."
    ),
    fix="Take the mean off first and square then (std() does), or sum in float64, or take the zero point off before all else.",
    repairs=instead(
        LINE,
        {
            "in two passes": OTHER.format("(((rows[train] - mean) ** 2).sum(0) / (count - 1)).sqrt()"),
            "torch's own": OTHER.format("rows[train].std(0)"),
            "in double precision": (
                "exact = rows[train].double()\n"
                "spread = (((exact**2).sum(0) - count * exact.mean(0) ** 2) / (count - 1)).sqrt()\n"
                "rows = (rows - mean) / spread.float()"
            ),
        },
    )
    | {"the zero point taken off": Swap(f"{READ} + $OFFSET", READ)},
    pretences=instead(
        LINE,
        {
            "never below a little": OTHER.format(SPREAD.replace(".sqrt()", ".clamp(min=1e-6).sqrt()")),
            "without its sign": OTHER.format(SPREAD.replace(".sqrt()", ".abs().sqrt()")),
            "a little on top": OTHER.format(f"({SPREAD} + 1e-6)"),
            "nan made zero": f"{LINE}\nrows = rows.nan_to_num(0.0, 0.0, 0.0)",
        },
    ),
    shown_by=("data_inspection",),
    hints=(
        "Is the first number that is not finite made by the model, or does it come to the model?",
        "Print each number that a column is divided by, and work one of them out by hand.",
        "How many digits does float32 hold, and how many does each term of the formula need?",
    ),
    look_alikes=(
        LookAlike(
            "numerics/nan_in_data",
            "Count the columns of a batch in which every single number is nan.",
            "Whole columns are, whichever batch it is.",
            "None is: it is one sample.",
        ),
        LookAlike(
            "numerics/sqrt_at_zero",
            "Look whether the loss of the very first batch is a number or none.",
            "It is none.",
            "It is a number, and so are many after it.",
        ),
    ),
    sources=(
        "https://github.com/neuraloperator/neuraloperator/issues/329",
        "https://github.com/meta-pytorch/tnt/issues/47",
        "https://www.johndcook.com/blog/standard_deviation/",
    ),
)
