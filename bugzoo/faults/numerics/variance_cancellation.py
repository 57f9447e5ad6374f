"""Every loss is NaN, from the very first one. The table has no missing value and no constant column: I checked."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead

READ = "rows = torch.tensor(table.data, dtype=torch.float32)"
WHOLE = "rows = (rows - rows[train].mean(0)) / rows[train].std(0)"
SPREAD = "(((rows[train] ** 2).sum(0) - count * mean**2) / (count - 1)).sqrt()"
LINE = f"rows = (rows - mean) / {SPREAD}"
OTHER = "rows = (rows - mean) / {}"

FAULT = Fault(
    title="Catastrophic cancellation in the variance",
    level=2,
    symptom="non_finite",
    params={"offset": Param(20_000, 16_000, 60_000, "zero point added to the readings, in the unit of each column")},
    edits=(
        Swap(READ, f"{READ} + $offset"),
        Swap(WHOLE, f"count, mean = len(train), rows[train].mean(0)\n{LINE}"),
    ),
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "On paper, the mean of the squares minus the square of the mean is the variance. Readings of 20,000 have "
        "squares of 4e8, where neighboring float32 numbers are 32 apart. A column with a variance of 0.3 gets "
        "plus or minus some tens instead, depending on the rounding. The square root of a negative result is NaN, "
        "and one NaN column makes every output NaN. The positive results are equally wrong, without any warning."
    ),
    fix=(
        "Subtract the mean first, then square, as std() does. Or sum in float64, or subtract the zero point at "
        "the very start."
    ),
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
        "Does the model produce the first number that is not finite, or is it already in the inputs?",
        "Print each number that a column is divided by. Compute one of them by hand.",
        "How many digits does float32 hold? How many does each term of the formula need?",
    ),
    look_alikes=(
        LookAlike(
            "numerics/nan_in_data",
            "Count the columns of a batch in which every single number is NaN.",
            "Some columns are NaN from top to bottom, in every batch.",
            "No column is all NaN, because only one sample is bad.",
        ),
        LookAlike(
            "numerics/sqrt_at_zero",
            "Print the loss of the very first step. Is it a finite number?",
            "The first loss is NaN.",
            "The first loss is finite, and so are many after it.",
        ),
    ),
    sources=(
        "https://github.com/neuraloperator/neuraloperator/issues/329",
        "https://github.com/meta-pytorch/tnt/issues/47",
        "https://www.johndcook.com/blog/standard_deviation/",
    ),
    cause=Cause(either={words.DTYPE: {}}),
    terms=("machine epsilon",),
)
