"""The first backward() stops with "element 0 of tensors does not require grad and does not have a grad_fn"."""

from bugzoo.faults.idioms import BACKWARD, LOSS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead, rewrite

LINE = "F.mse_loss(($LOGITS).argmax(-1).float(), $TARGETS.float())"
BARE = "F.mse_loss($LOGITS.argmax(-1).float(), $TARGETS.float())"

FAULT = Fault(
    title="The loss is taken of the chosen class, not of the scores",
    level=1,
    symptom="crash",
    edits=rewrite(LOSS, PLACE="$F.mse_loss(($LOGITS).argmax(-1).float(), $TARGETS.float())"),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "argmax gives the number of a class, an integer: moving a score a little does not move it, so that there is no slope, "
        "and torch ends the graph there. The distance between class numbers says nothing besides: a 7 is not nearer to an 8 "
        "than to a 1."
    ),
    fix="Give the scores of all classes to cross-entropy; take argmax where answers are counted.",
    repairs=instead(
        BARE,
        {
            "cross-entropy": "F.cross_entropy($LOGITS, $TARGETS)",
            "log-softmax and nll": "F.nll_loss(F.log_softmax($LOGITS, dim=-1), $TARGETS)",
            "by hand": "($LOGITS.logsumexp(-1) - $LOGITS.gather(-1, $TARGETS.unsqueeze(-1)).squeeze(-1)).mean()",
        },
    ),
    pretences=instead(
        BARE,
        {
            "the largest score instead of its place": "F.mse_loss($LOGITS.max(-1).values, $TARGETS.float())",
            "asked for gradients": f"{BARE}.requires_grad_()",
            "a loss of ones and zeros": "F.l1_loss(F.one_hot($LOGITS.argmax(-1)).float().sum(-1), $TARGETS.float())",
        },
    )
    | {
        "the loss asked for gradients": before(BACKWARD, "loss.requires_grad_(True)"),
    },
    hints=(
        "The message is about the loss. Which of the things it was made of knows where it came from?",
        "Print grad_fn of the loss, then of what went into it, one by one.",
        "Look at the line that computes the loss, and ask of each operation in it what its slope is.",
    ),
    look_alikes=(
        LookAlike(
            "graph/leaf_changed_in_place",
            "Read what the message is about: something without a history, or something that was changed.",
            "Something without a history.",
            "A parameter that was changed.",
        ),
        LookAlike(
            "graph/inplace_activation",
            "Look whether the loss has a grad_fn when backward() is called.",
            "It has none.",
            "It has one, and what it needs was overwritten.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/1339",
        "https://github.com/LZGMatrix/BOP19_CDPN_2019ICCV/issues/4",
    ),
)
