"""Training goes well for some epochs. Then the loss is NaN, and so is every weight of the model."""

from bugzoo.faults.idioms import BACKWARD, BATCH_COUNTER, COUNTER, EVAL_MODE, LOSS, OTHER_LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, either, instead

# mean distance between two outputs, over all pairs; sixteen outputs are enough, a batch of text has thousands
GAPS = (
    "if {late}:\n"
    "    answers = {answers}\n"
    "    gaps = answers.unsqueeze(1) - answers.unsqueeze(0)\n"
    "    $RESULT = $RESULT + $weight * (gaps**2).sum(-1).sqrt().mean()"
)
LATE = "$COUNT >= $step"

LINE = "$LOSS = $LOSS + $W * ($GAPS**2).sum(-1).sqrt().mean()"

FAULT = Fault(
    title="Infinite gradient of sqrt() at zero",
    level=2,
    symptom="non_finite",
    params={
        "step": Param(50, 0, 100_000, "number of optimizer steps before the penalty starts"),
        "weight": Param(1e-3, 0.0, 1.0, "weight of the mean distance between two outputs in the loss"),
    },
    edits=either(
        after(LOSS, GAPS.format(late=LATE, answers="($LOGITS)[:16]"), given=COUNTER),
        after(OTHER_LOSS, GAPS.format(late=LATE, answers="($PREDICTION)[:16].reshape(-1, 1)"), given=COUNTER),
        after(LOSS, GAPS.format(late=LATE, answers="($LOGITS)[:16]"), given=BATCH_COUNTER),
    ),
    not_on={
        "amp_transformer": (
            "GradScaler skips every step whose gradient is not finite. No loss becomes NaN, but the model stops "
            "learning. That is a different symptom."
        ),
        "image_pipeline": "its tiny run ends before the penalty starts. Nothing is seen on 5 of 5 seeds (measured).",
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "Each output is also compared with itself, so one distance is sqrt(0) = 0. The loss of that step is still "
        "an ordinary number. But the slope of sqrt() at 0 is 1/0 = inf. The backward pass multiplies that slope "
        "by the 0 that comes from the square, and inf * 0 is NaN. That NaN starts after the last layer, so the "
        "optimizer writes it into every parameter, and the next loss is NaN."
    ),
    fix=(
        "If you want the distance, use torch.cdist or torch.linalg.vector_norm, whose slope at 0 is 0. Or add an "
        "eps inside the square root, small compared with the distances but large enough for the dtype. Correcting "
        "the value after the square root does not correct its slope."
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
        (
            "The first NaN in the loss is not the first bad number. Which number is, and is it in the forward or "
            "the backward pass?"
        ),
        "Right after that step, count the NaN in each layer's weights. Where must the NaN have started?",
        "Read the term that is added to the loss. For which input does each function have no finite slope?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Divide the learning rate by ten and see whether a loss becomes NaN at the same step as before.",
            "The loss becomes NaN at the same step, whatever the learning rate: `first_non_finite.found > 0.5`.",
            "No loss is NaN, before or after, and the loss swings less: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/log_at_step",
            "Replay the bad step and list the weights that are NaN afterwards. Is the head among them?",
            "All weights are NaN, because the NaN starts after the head, in the loss.",
            "Only the weights before the bad operation are NaN, and the head is clean.",
        ),
        LookAlike(
            "numerics/nan_in_data",
            "Check the inputs of the first bad batch for NaN and inf, before the model sees them.",
            "All inputs are finite.",
            "One input is not finite.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/2421",
        "https://github.com/pytorch/pytorch/issues/6394",
    ),
    terms=("inf",),
)
