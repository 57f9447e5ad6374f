"""With a sharper attention, written out by hand, mixed precision learns nothing: every loss is nan, and no step is taken."""

from bugzoo.faults.idioms import LEARNING_RATE, SCALER_UPDATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, remove, rewrite

MADE = "weights = torch.exp($S * scores)"
BELOW = "weights = torch.exp($S * (scores - scores.amax(-1, keepdim=True)))"

FAULT = Fault(
    title="exp() of attention scores in half precision",
    level=2,
    symptom="stuck",
    params={"sharpness": Param(16.0, 12.0, 1000.0, "what the scores are multiplied by: one over a temperature")},
    edits=Swap(
        "weights = F.softmax(scores, dim=-1)",
        "weights = torch.exp($sharpness * scores)\nweights = weights / weights.sum(-1, keepdim=True)",
    ),
    not_on={
        name: "it computes in float32, where exp() may be given numbers up to 88.7: nothing overflows."
        for name in ("mini_transformer", "sampler", "sequence_classifier")
    },
    evidence=("scale_watch.skipped_share > 0.5",),
    effect="scale_watch.skipped_share > healthy",
    why=(
        "float16 ends at 65,504, which is exp(11.09): a score of 0.7 times 16 is more. The row then holds inf/inf, which is nan, "
        "and so does every loss. The scaler takes the nan for an overflow of the gradient, leaves the step out and halves its "
        "factor, again and again; but the factor is applied behind the loss, and what overflows lies in front of it. Autocast "
        "runs torch's own softmax in float32, and that one takes the largest score off first."
    ),
    fix="F.softmax, which subtracts the maximum; where it is written by hand, in float32 and with the maximum taken off.",
    repairs=instead(
        MADE,
        {
            "the maximum taken off": BELOW,
            "in single precision too": BELOW.replace("scores", "scores.float()"),
        },
    )
    | {
        "torch's own": Swap(
            "weights = torch.exp($S * scores)\nweights = weights / weights.sum(-1, keepdim=True)",
            "weights = F.softmax($S * scores, dim=-1)",
        ),
    },
    pretences=instead(
        MADE,
        {
            "cast behind it": f"{MADE}.float()",
            "a little less sharp": "weights = torch.exp($S / 1.2 * scores)",
            "an eps on top": f"{MADE} + 1e-6",
        },
    )
    | {
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 10)"),
        "a smaller scale": Swap("torch.amp.GradScaler(device)", "torch.amp.GradScaler(device, init_scale=2.0)"),
        "never told": remove(SCALER_UPDATE),
    },
    own_forward=True,
    shown_by=("loss_curve",),
    hints=(
        "Is it the gradient that overflows, or was something not finite before there was a gradient?",
        "Call the model once, under autocast, and look for the first tensor that holds an inf. Which type has it?",
        "Read how the weights of the attention come from its scores, with the largest number of the format in mind.",
    ),
    look_alikes=(
        LookAlike(
            "precision/scaler_never_updated",
            "Look whether the scaler changes its factor when it leaves a step out.",
            "It does, each time, and to no end.",
            "It never does.",
        ),
        LookAlike(
            "precision/no_grad_scaler",
            "Look whether the loss of the very first step is finite.",
            "It is not: `scale_watch.skipped_share > 0.5`.",
            "It is: `scale_watch.half_without_scaler > 0.5`.",
        ),
        LookAlike(
            "traps/scaler_skips_now_and_then",
            "Look whether a factor is found with which the steps go well.",
            "None is: `scale_watch.skipped_share > 0.5`.",
            "One is, after a few steps: `scale_watch.skipped_share < 0.5`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/amp.html", "https://arxiv.org/abs/1710.03740"),
)
