"""We added a penalty on the directions of the outputs. From the step where it starts, every loss is NaN."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, LOSS, OTHER_LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, either, instead

# direction from the first output of a batch to each other one; the directions should not all be the same
SPREAD = (
    "if $COUNT >= $step:\n"
    "    answers = {answers}\n"
    "    away = answers - answers[0]\n"
    "    directions = away / away.norm(dim=-1, keepdim=True)\n"
    "    $RESULT = $RESULT + $weight * (directions @ directions.T).mean()"
)
LINE = "directions = away / away.norm(dim=-1, keepdim=True)"

FAULT = Fault(
    title="Zero vector divided by its norm",
    level=2,
    symptom="non_finite",
    params={
        "step": Param(15, 0, 100_000, "number of optimizer steps before the penalty starts"),
        "weight": Param(1e-3, 0.0, 1.0, "weight of the mean cosine between two directions in the loss"),
    },
    edits=either(
        after(LOSS, SPREAD.format(answers="($LOGITS)[:16]"), given=COUNTER),
        after(OTHER_LOSS, SPREAD.format(answers="($PREDICTION)[:16].reshape(-1, 1)"), given=COUNTER),
    ),
    not_on={
        "amp_transformer": (
            "GradScaler skips every step whose gradient is not finite. The weights stay finite, but the model "
            "stops learning. That is a different symptom."
        ),
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "The difference between the first output and itself is the zero vector, and 0/0 is NaN. One such row "
        "makes the mean NaN, then the loss, and after the next step every weight. In other programs a zero vector "
        "appears once in a thousand batches. Examples are a row of padding, a unit that is off for a sample, and "
        "an image that is all black."
    ),
    fix="Divide by max(norm, eps), as F.normalize does. The zero vector then stays zero, and its gradient is finite.",
    repairs=instead(
        LINE,
        {
            "normalised by torch": "directions = F.normalize(away, dim=-1)",
            "never less than an eps": "directions = away / away.norm(dim=-1, keepdim=True).clamp(min=1e-12)",
            "an eps beside the norm": "directions = away / (away.norm(dim=-1, keepdim=True) + 1e-6)",
            "without the first": "directions = away[1:] / away[1:].norm(dim=-1, keepdim=True)",
        },
    ),
    pretences=instead(
        LINE,
        {
            "nan turned to zero": "directions = torch.nan_to_num(away / away.norm(dim=-1, keepdim=True))",
            "chosen behind the division": (
                "length = away.norm(dim=-1, keepdim=True)\n"
                "directions = torch.where(length > 0, away / length, torch.zeros_like(away))"
            ),
            "an eps too small for its format": "directions = away / (away.norm(dim=-1, keepdim=True) + 1e-50)",
        },
    )
    | {
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss)"),
        "bad steps left out": Swap(
            "optimizer.step()",
            "if all(torch.isfinite(p.grad).all() for p in model.parameters()):\n    optimizer.step()",
        ),
        "gradients mended": before(
            STEP,
            "for parameter in model.parameters():\n    parameter.grad = torch.nan_to_num(parameter.grad, 0.0, 0.0, 0.0)",
        ),
    },
    shown_by=("replay",),
    hints=(
        "Which number is the first that is not finite? Is it in the forward or in the backward pass?",
        "Print each term that is added to the loss in that step, row by row.",
        "Find every division in the terms that are added from that step on. Print the denominator of each row.",
    ),
    look_alikes=(
        LookAlike(
            "numerics/sqrt_at_zero",
            "At the first bad step, look whether the loss itself is still a finite number.",
            "The loss is already NaN.",
            "The loss is finite, and only its gradient is NaN.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Divide the learning rate by ten and see whether a loss becomes NaN at the same step as before.",
            "The loss becomes NaN at the same step, whatever the learning rate: `first_non_finite.found > 0.5`.",
            "No loss is NaN, before or after, and the loss swings less: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/nan_in_data",
            "Check the inputs of the first bad batch for NaN and inf, before the model sees them.",
            "All inputs are finite.",
            "One input is not finite.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html",),
    terms=("NaN",),
)
