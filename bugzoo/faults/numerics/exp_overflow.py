"""Training goes well, and the better the model gets, the nearer is the step at which its loss becomes infinite."""

from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE, LOSS
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, instead, rewrite

LINE = "$PENALTY = torch.log(torch.exp($S * $LOGITS).sum(-1)).mean()"

FAULT = Fault(
    title="exp() of large numbers without taking the maximum off",
    level=2,
    symptom="non_finite",
    params={
        "sharpness": Param(50.0, 40.0, 1e4, "what the logits are multiplied by inside exp(): one over a temperature"),
        "weight": Param(1e-4, 0.0, 1.0, "of the penalty, in the loss"),
    },
    edits=after(
        LOSS,
        "largest = torch.log(torch.exp($sharpness * $LOGITS).sum(-1)).mean()\n$RESULT = $RESULT + $weight * largest",
    ),
    not_on={
        "amp_transformer": "The gradient scaler leaves out every step whose gradient is not finite: no loss is lost, nothing is "
        "learnt any more. That is another symptom.",
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "The logarithm of a sum of exponentials is a soft maximum, here of the logits at a low temperature. exp() of more than "
        "88.7 is infinite in float32: a logit of 1.8 is enough, and a model that learns gets there. The logarithm of infinity is "
        "infinity, and on the way back inf/inf is nan. In float16 the limit is 11.1."
    ),
    fix="Take the maximum off before exp() and add it again behind log(): torch.logsumexp does both.",
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
        "Look at the largest logit of each step, up to the one where the loss is lost.",
        "Which function of the program grows fastest, and what is the largest number that it may be given?",
        "Read what is added to the loss from the inside out, with the largest logit of that step in hand.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Follow the plain loss, without what is added to it, up to the step before it is lost.",
            "It falls well to the end: `first_non_finite.found > 0.5`.",
            "It swings, and nothing is lost: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/zero_norm_division",
            "Divide all logits by a hundred and see whether a loss is lost all the same.",
            "No longer: it was their size.",
            "Just as before.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.logsumexp.html",),
)
