"""With another optimizer, whose settings are all usual, the first losses jump up. The run ends at the loss of a guess."""

from bugzoo.faults.idioms import LEARNING_RATE, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, instead, rewrite

LINE = "torch.optim.RMSprop($P, lr=$LR, momentum=0.9)"

FAULT = Fault(
    title="Learning rate too high for RMSprop with momentum",
    level=2,
    symptom="diverges",
    params={"rate": Param(0.02, 0.02, 0.1, "learning rate of RMSprop; torch's default is 0.01")},
    edits=(
        # in a perceptron or a CNN a tenth of the learning rate repairs it, so it would be its own pretence
        Swap("torch.optim.Adam($P, lr=$LR)", LINE, where="nn.LayerNorm(width)"),
        rewrite(LEARNING_RATE, LR="$rate"),
    ),
    not_on=dict.fromkeys(
        ("mini_transformer", "sampler", "word_lines"),
        "the loss jumps in the first steps and then falls below that of a guess: no divergence on 5 of 5 seeds (measured).",
    ),
    evidence=("loss_curve.diverged > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "RMSprop divides each gradient by a running root mean square, so a weight moves by about the learning rate in a step. "
        "Momentum 0.9 adds up about ten such steps: up to 0.2 per step at a learning rate of 0.02. At the start it is worse. "
        "The running mean begins at 0, and RMSprop does not correct for that as Adam does. With alpha = 0.99 the first step is "
        "ten times too large. Weights of 0.1 are lost in two or three steps. Each number on that line is usual alone."
    ),
    fix=(
        "Lower the learning rate by the factor that momentum adds, and by that of the first steps: 0.0005 here. Or go back to "
        "Adam, which corrects the bias of its running means. Then check the update ratio of the first steps."
    ),
    repairs={
        "a fortieth of it": rewrite(LEARNING_RATE, LR="fold($LR / 40)"),
        "where it is used": Swap(LINE, "torch.optim.RMSprop($P, lr=$LR / 40, momentum=0.9)"),
        "Adam again": Swap(LINE, "torch.optim.Adam($P, lr=$LR / 4)"),
    },
    pretences=instead(
        LINE,
        {
            "centered": "torch.optim.RMSprop($P, lr=$LR, momentum=0.9, centered=True)",
            "a shorter mean": "torch.optim.RMSprop($P, lr=$LR, momentum=0.9, alpha=0.9)",
        },
    )
    | {"clipped": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)")},
    free=("update",),
    hints=(
        "Look at the first twenty steps of the loss curve, not at its end.",
        "Print the size of one update divided by the size of the parameters (update ratio). About 0.001 is usual.",
        "How far does one weight move in the first step, and in the tenth? Work it out from the optimizer's formula.",
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient in .grad with the gradient of the last batch alone.",
            "The gradient is that of the last batch alone: `fresh_gradient.stale_share < 0.5`.",
            "The gradient also contains older batches: `fresh_gradient.stale_share > 0.5`.",
        ),
        LookAlike(
            "initialisation/weights_too_large",
            "Look at the loss of the very first step, before any weight has changed.",
            "The first loss is about that of guessing.",
            "The first loss is far above that of guessing.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/generated/torch.optim.RMSprop.html",
        "https://arxiv.org/abs/1412.6980",
    ),
    cause=Cause(also=("learning rate too high", "too high a learning rate"), explains=("initialisation/", "numerics/")),
    terms=("learning rate", "divergence"),
)
