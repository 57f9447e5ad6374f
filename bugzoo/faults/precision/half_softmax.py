"""In mixed precision every loss is NaN and every step is skipped. It began when we sharpened the attention."""

from bugzoo.faults.idioms import LEARNING_RATE, SCALER_UPDATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, remove, rewrite

MADE = "weights = torch.exp($S * scores).to(values.dtype)"
BELOW = "weights = torch.exp($S * (scores - scores.amax(-1, keepdim=True)))"

FAULT = Fault(
    title="Softmax without max subtraction in float16",
    level=2,
    symptom="stuck",
    params={"sharpness": Param(16.0, 12.0, 1000.0, "factor on the attention scores (1 / temperature)")},
    edits=Swap(
        "weights = F.softmax(scores, dim=-1)",
        "weights = torch.exp($sharpness * scores).to(values.dtype)\nweights = weights / weights.sum(-1, keepdim=True)",
    ),
    not_on={
        name: "it computes in float32, where exp() overflows only above 88.7. Nothing overflows here."
        for name in ("mini_transformer", "sampler", "sequence_classifier", "word_lines")
    },
    evidence=("loss_scale.skipped_share > 0.5",),
    effect="loss_scale.skipped_share > healthy",
    why=(
        "float16 ends at 65,504, which is exp(11.09), so exp() of an attention score of 0.7 times 16 is inf. The "
        "attention row becomes inf/inf = NaN, and so does every loss. GradScaler takes the NaN for an overflow of "
        "the gradients, skips the step and halves the loss scale, again and again. A smaller loss scale cannot "
        "help, because the overflow is in the forward pass, before the loss is scaled. On a GPU autocast computes exp() "
        "in float32, and the cast behind it makes the inf. Under autocast, F.softmax runs in float32 and subtracts "
        "the maximum first."
    ),
    fix=(
        "Use F.softmax, which subtracts the maximum. In a hand-written version, subtract the row's maximum and "
        "compute in float32."
    ),
    repairs=instead(
        MADE,
        {
            "the maximum taken off": BELOW,
            "in single precision too": BELOW.replace("scores", "scores.float()"),
        },
    )
    | {
        "torch's own": Swap(
            f"{MADE}\nweights = weights / weights.sum(-1, keepdim=True)",
            "weights = F.softmax($S * scores, dim=-1)",
        ),
    },
    pretences=instead(
        MADE,
        {
            "cast behind it": f"{MADE}.float()",
            "a little less sharp": "weights = torch.exp($S / 1.2 * scores).to(values.dtype)",
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
        "Print the loss of the first step. Is it already NaN before backward(), or do only the gradients overflow?",
        "Call the model once under autocast. Find the first tensor that contains an inf and print its dtype.",
        (
            "Read how the attention weights are computed from the scores. Which intermediate result can exceed "
            "the largest number of that dtype?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "precision/scaler_never_updated",
            "Print the loss scale after each skipped step. Does it change?",
            "The loss scale is halved each time, without success.",
            "The loss scale never changes.",
        ),
        LookAlike(
            "precision/no_grad_scaler",
            "Print the loss of the very first step. Is it a finite number?",
            "The first loss is NaN: `loss_scale.skipped_share > 0.5`.",
            "The first loss is finite: `loss_scale.half_without_scaler > 0.5`.",
        ),
        LookAlike(
            "traps/scaler_skips_now_and_then",
            "Check whether the steps succeed at some value of the loss scale.",
            "The steps fail at every value: `loss_scale.skipped_share > 0.5`.",
            "The steps succeed after a few tries at lower values: `loss_scale.skipped_share < 0.5`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/amp.html", "https://arxiv.org/abs/1710.03740"),
    terms=("autocast", "loss scale", "log-sum-exp", "fp16", "overflow"),
)
