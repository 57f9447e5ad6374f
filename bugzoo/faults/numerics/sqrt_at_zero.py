"""For some epochs all is well, then a loss is nan, and every weight of the model with it."""

from bugzoo.faults.idioms import BACKWARD, BATCH_COUNTER, COUNTER, EVAL_MODE, LOSS, OTHER_LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, either, instead

# how far two answers of a batch lie apart, for every pair; sixteen answers are enough, a text has thousands
GAPS = (
    "if {late}:\n"
    "    answers = {answers}\n"
    "    gaps = answers.unsqueeze(1) - answers.unsqueeze(0)\n"
    "    $RESULT = $RESULT + $weight * (gaps**2).sum(-1).sqrt().mean()"
)
LATE = "$COUNT >= $step"

LINE = "$LOSS = $LOSS + $W * ($GAPS**2).sum(-1).sqrt().mean()"

FAULT = Fault(
    title="Square root of zero in a penalty that starts late",
    level=2,
    symptom="non_finite",
    params={
        "step": Param(50, 0, 100_000, "optimiser steps that are done before the penalty sets in"),
        "weight": Param(1e-3, 0.0, 1.0, "of the mean distance between two answers, in the loss"),
    },
    edits=either(
        after(LOSS, GAPS.format(late=LATE, answers="($LOGITS)[:16]"), given=COUNTER),
        after(OTHER_LOSS, GAPS.format(late=LATE, answers="($PREDICTION)[:16].reshape(-1, 1)"), given=COUNTER),
        after(LOSS, GAPS.format(late=LATE, answers="($LOGITS)[:16]"), given=BATCH_COUNTER),
    ),
    not_on={
        "amp_transformer": "The gradient scaler leaves out every step whose gradient is not finite: no loss is lost, nothing is "
        "learnt any more. That is another symptom.",
        "image_pipeline": "Its tiny run ends before the step at which this sets in: nothing is seen on 5 of 5 seeds, measured.",
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "Each answer is also compared with itself: that distance is 0, and so is its square. The square root of 0 is 0, "
        "so the loss of that step is an ordinary number; but the slope of the root there is 1/0 = inf, times the 0 that "
        "comes from the square, which is nan. It is made behind the last layer, so the optimiser writes it into every "
        "parameter, and the next loss is nan."
    ),
    fix=(
        "Where the distance is wanted, write one whose slope is defined at 0: torch.cdist and torch.linalg.vector_norm give "
        "0 there, or add an eps inside the root that is small against the distances and not against the number format. "
        "Mending the value behind the root does not mend its slope."
    ),
    repairs=instead(
        LINE,
        {
            "a norm that knows zero": "$LOSS = $LOSS + $W * torch.linalg.vector_norm($GAPS, dim=-1).mean()",
            "an eps inside the root": "$LOSS = $LOSS + $W * (($GAPS**2).sum(-1) + 1e-12).sqrt().mean()",
            "a clamp inside the root": "$LOSS = $LOSS + $W * ($GAPS**2).sum(-1).clamp(min=1e-12).sqrt().mean()",
            "the pairs that differ": (
                "squares = ($GAPS**2).sum(-1)\n$LOSS = $LOSS + $W * squares[squares > 0].sqrt().sum() / squares.numel()"
            ),
            "without the penalty": "pass",
        },
    ),
    pretences=instead(
        LINE,
        {
            "nan turned to zero": "$LOSS = $LOSS + $W * torch.nan_to_num(($GAPS**2).sum(-1).sqrt()).mean()",
            "chosen behind the root": (
                "squares = ($GAPS**2).sum(-1)\n"
                "$LOSS = $LOSS + $W * torch.where(squares > 0, squares.sqrt(), torch.zeros_like(squares)).mean()"
            ),
            "an eps outside the root": "$LOSS = $LOSS + $W * (($GAPS**2).sum(-1).sqrt() + 1e-8).mean()",
            "a smaller weight": "$LOSS = $LOSS + 1e-12 * ($GAPS**2).sum(-1).sqrt().mean()",
        },
    )
    | {
        "gradients mended": before(
            STEP,
            "for parameter in model.parameters():\n    parameter.grad = torch.nan_to_num(parameter.grad, 0.0, 0.0, 0.0)",
        ),
        "bad steps left out": Swap(
            "optimizer.step()",
            "if all(torch.isfinite(p.grad).all() for p in model.parameters()):\n    optimizer.step()",
        ),
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss)"),
        "early stop": before(BACKWARD, "if step >= $step:\n    break"),
        "weights of before": (
            Swap(
                "losses.append(loss.item())",
                "losses.append(loss.item())\nif step == fold($step - 1):\n"
                "    kept = {name: value.clone() for name, value in model.state_dict().items()}",
            ),
            before(EVAL_MODE, "model.load_state_dict(kept)\nstep = 0"),
        ),
    },
    shown_by=("replay", "gradient_health"),
    hints=(
        "The first nan in the loss is not the first number that is not finite. Which number was, and on the way forward or back?",
        "Count the nan in each layer's weights right after that step. Which way did it come, and where must it have begun?",
        "Read what is added to the loss: for which input does each function have no slope?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Lower the learning rate by ten and see whether a loss is lost at the same step as before.",
            "At the same step, whatever the rate: `first_non_finite.found > 0.5`.",
            "None is lost, before and after, it swings less: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/log_at_step",
            "Make the step again and see which weights are nan behind it: those of the head too?",
            "All of them: it was made behind the head, in the loss.",
            "Those in front of the place: the head is clean.",
        ),
        LookAlike(
            "numerics/nan_in_data",
            "Look for numbers that are not finite in the inputs of the batch where it sets in.",
            "All inputs are finite.",
            "One of them is not.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/2421",
        "https://github.com/pytorch/pytorch/issues/6394",
    ),
)
