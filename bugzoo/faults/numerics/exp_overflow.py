"""Training goes well at first. Once the model is good enough, its loss becomes infinite."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, instead, rewrite

LINE = "$PENALTY = torch.log(torch.exp($S * $LOGITS).sum(-1)).mean()"

FAULT = Fault(
    title="log(exp(x).sum()) instead of torch.logsumexp()",
    level=2,
    symptom="non_finite",
    params={
        "sharpness": Param(50.0, 10.0, 1e4, "factor on the logits inside exp() (1 / temperature)"),
        "weight": Param(1e-4, 0.0, 1.0, "weight of the penalty in the loss"),
    },
    edits=after(
        LOSS,
        "largest = torch.log(torch.exp($sharpness * $LOGITS).sum(-1)).mean()\n$RESULT = $RESULT + $weight * largest",
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
        "The logarithm of a sum of exponentials is a soft maximum, here of the logits at a low temperature. In "
        "float32 exp() of more than 88.7 is inf. At a factor of 20 a logit of 4.4 is enough, at 50 one of 1.8. A "
        "model that learns gets there. log(inf) is inf, and in the backward pass inf/inf is NaN. In float16 the "
        "limit is 11.1."
    ),
    fix="Use torch.logsumexp(). By hand, subtract the maximum before exp() and add it again after log().",
    repairs=instead(
        LINE,
        {
            "logsumexp": "$PENALTY = torch.logsumexp($S * $LOGITS, dim=-1).mean()",
            "the maximum taken off": (
                "top = ($S * $LOGITS).amax(-1, keepdim=True)\n"
                "$PENALTY = (torch.log(torch.exp($S * $LOGITS - top).sum(-1)) + top.squeeze(-1)).mean()"
            ),
            "two at a time": (
                "$PENALTY = $S * $LOGITS.flatten(0, -2)[:, 0]\n"
                "for column in $LOGITS.flatten(0, -2).unbind(-1)[1:]:\n"
                "    $PENALTY = torch.logaddexp($PENALTY, $S * column)\n"
                "$PENALTY = $PENALTY.mean()"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "infinity turned to a number": (
                "$PENALTY = torch.nan_to_num(torch.log(torch.exp($S * $LOGITS).sum(-1)), posinf=89.0).mean()"
            ),
            "cut behind exp()": "$PENALTY = torch.log(torch.exp($S * $LOGITS).clamp(max=1e30).sum(-1)).mean()",
            "an eps in the logarithm": "$PENALTY = torch.log(torch.exp($S * $LOGITS).sum(-1) + 1e-8).mean()",
        },
    )
    | {
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss, posinf=1.0)"),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 3)"),
        "bad steps left out": Swap(
            "optimizer.step()",
            "if all(torch.isfinite(p.grad).all() for p in model.parameters()):\n    optimizer.step()",
        ),
    },
    shown_by=("replay",),
    hints=(
        "Plot the largest logit of each step, up to the first step whose loss is not finite.",
        "Which function of the program grows fastest? What is the largest input that it can handle?",
        "Read the term that is added to the loss, from the inside out. Insert the largest logit of that step.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Plot the main loss without the added term, up to the last finite step.",
            "The main loss falls well to the end: `first_non_finite.found > 0.5`.",
            "The loss swings, but stays finite: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/zero_norm_division",
            "Divide all logits by a hundred. Does the loss still become NaN or inf?",
            "The loss stays finite, so the logits were too large.",
            "The loss becomes NaN as before.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.logsumexp.html",),
    cause=Cause(either={words.DTYPE: {}}),
    terms=("inf", "log-sum-exp", "overflow"),
)
