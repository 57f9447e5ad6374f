"""The plot of the loss begins at three hundred thousand, and the validation says that the model is as good as ever."""

from bugzoo.faults.idioms import SCALED_BACKWARD
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

MADE, BEGUN = "scaler = torch.amp.GradScaler(device)", "$LOSS = scaler.scale($LOSS)\n$LOSS.backward()"
LOGGED = "losses.append(loss.item() * tokens_per_update / targets.numel())"

FAULT = Fault(
    title="The loss that is logged carries the scaler's factor",
    level=3,
    symptom="degraded",
    edits=rewrite(SCALED_BACKWARD, PLACE="$LOSS = $SCALER.scale($LOSS)\n$LOSS.backward()"),
    evidence=("kept_losses.ratio > 100",),
    effect="kept_losses.kept_first > healthy",
    why=(
        "scale() gives the loss times the scaler's factor, 65536 at first, and it was given the name of the loss. The gradients "
        "are divided again before the step, so that the model learns as it should; the number that is written down is not. The "
        "curve looks like a divergence, and halves or doubles with the factor: a fall that is none. Whoever stops early, picks "
        "a checkpoint or tells a spike by it goes by the factor."
    ),
    fix="Keep the loss under its own name, log that, and go backward from scaler.scale(loss).",
    repairs=instead(
        BEGUN,
        {
            "a name of its own": "scaled = scaler.scale($LOSS)\nscaled.backward()",
            "by autograd": "torch.autograd.backward(scaler.scale($LOSS))",
            "the gradient is scaled": "$LOSS.backward(scaler.scale(torch.ones_like($LOSS)))",
        },
    ),
    pretences={
        "a smaller factor": Swap(MADE, "scaler = torch.amp.GradScaler(device, init_scale=2.0**12)"),
        "detached": Swap(LOGGED, LOGGED.replace("loss.item()", "loss.detach().float().item()")),
        "smoothed": Swap(LOGGED, f"{LOGGED}\nlosses[-1] = sum(losses[-5:]) / len(losses[-5:])"),
        "rounded": Swap(LOGGED, f"{LOGGED}\nlosses[-1] = round(losses[-1], 1)"),
    },
    hints=(
        "Take the first number of the plot: what should it be, for a model that guesses among 96 characters?",
        "By what is it too large? Divide, and look whether you know the quotient.",
        "Follow the name that is written down at the end of a step back to the line where it got its value last.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/confident_head",
            "Work the loss of the first batch out by hand, from the model's answers, and compare.",
            "It is that of guessing.",
            "It is as large as the log says.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the validation beside the curve: is the model as bad as the log of the training says?",
            "It is as good as ever; only the log is off.",
            "It is as bad.",
        ),
    ),
    sources=(
        "https://github.com/fastai/fastai/pull/3049",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/2564",
        "https://github.com/meta-pytorch/tnt/pull/354",
    ),
)
