"""A penalty on the directions of the answers is added, and from that step on every loss is nan."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, LOSS, OTHER_LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, either, instead

# which way the answers of a batch lie, seen from the first of them; they should not all lie the same way
SPREAD = (
    "if $COUNT >= $step:\n"
    "    answers = {answers}\n"
    "    away = answers - answers[0]\n"
    "    directions = away / away.norm(dim=-1, keepdim=True)\n"
    "    $RESULT = $RESULT + $weight * (directions @ directions.T).mean()"
)
LINE = "directions = away / away.norm(dim=-1, keepdim=True)"

FAULT = Fault(
    title="A vector of length zero is divided by its length",
    level=2,
    symptom="non_finite",
    params={
        "step": Param(15, 0, 100_000, "optimiser steps that are done before the penalty sets in"),
        "weight": Param(1e-3, 0.0, 1.0, "of the mean cosine between two directions, in the loss"),
    },
    edits=either(
        after(LOSS, SPREAD.format(answers="($LOGITS)[:16]"), given=COUNTER),
        after(OTHER_LOSS, SPREAD.format(answers="($PREDICTION)[:16].reshape(-1, 1)"), given=COUNTER),
    ),
    not_on={
        "amp_transformer": "The gradient scaler leaves out every step whose gradient is not finite: no loss is lost, nothing is "
        "learnt any more. That is another symptom.",
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "Seen from the first answer, the first answer lies nowhere: its difference is the zero vector, and 0/0 is nan. One "
        "such row makes the mean nan, the loss, and with the next step every weight. In other programs the zero vector comes "
        "once in a thousand batches: a row of padding, a unit that is off for a sample, a picture that is all black."
    ),
    fix="Divide by max(norm, eps), as F.normalize does: the zero vector stays zero, and its slope is finite.",
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
        "Which is the first number that is not finite, and is it made on the way forward or on the way back?",
        "Print each thing that is added to the loss in that step, row by row.",
        "Read every division behind that step: for which row is there nothing to divide by?",
    ),
    look_alikes=(
        LookAlike(
            "numerics/sqrt_at_zero",
            "At the step where it sets in, look whether the loss itself is still an ordinary number.",
            "It is nan already.",
            "It is an ordinary number, and its gradient is not.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Lower the learning rate by ten and see whether a loss is lost at the same step as before.",
            "At the same step, whatever the rate: `first_non_finite.found > 0.5`.",
            "None is lost, before and after, it swings less: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/nan_in_data",
            "Look for numbers that are not finite in the inputs of the batch where it sets in.",
            "All inputs are finite.",
            "One of them is not.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html",),
)
