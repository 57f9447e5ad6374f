"""The first backward() stops with "element 0 of tensors does not require grad and does not have a grad_fn"."""

from bugzoo.faults.idioms import BACKWARD, LOSS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead, rewrite

LINE = "F.mse_loss(($LOGITS).argmax(-1).float(), $TARGETS.float())"
BARE = "F.mse_loss($LOGITS.argmax(-1).float(), $TARGETS.float())"

FAULT = Fault(
    title="Loss computed on argmax instead of logits",
    level=1,
    symptom="crash",
    edits=rewrite(LOSS, PLACE="$F.mse_loss(($LOGITS).argmax(-1).float(), $TARGETS.float())"),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "argmax returns the index of a class, which is an integer. A small change of a logit does not change the "
        "index, so there is no gradient, and torch ends the computation graph there. The distance between class "
        "indices has no meaning either: a 7 is not closer to an 8 than to a 1."
    ),
    fix="Pass the logits of all classes to F.cross_entropy. Use argmax only where you count correct predictions.",
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
        "The message is about the loss. Which of the tensors that go into it require a gradient?",
        "Print grad_fn of the loss, then grad_fn of each tensor that goes into it, one by one.",
        "Look at the line that computes the loss. Which of its operations are differentiable?",
    ),
    look_alikes=(
        LookAlike(
            "graph/leaf_changed_in_place",
            "Read the message: is it about a tensor without a grad_fn, or about a changed tensor?",
            "The message is about a tensor without a grad_fn.",
            "The message is about a parameter that was changed.",
        ),
        LookAlike(
            "graph/inplace_activation",
            "Print loss.grad_fn right before backward(). Is it None or an operation?",
            "The loss has no grad_fn (None).",
            "The loss has a grad_fn, but a tensor that backward() needs was overwritten.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/1339",
        "https://github.com/LZGMatrix/BOP19_CDPN_2019ICCV/issues/4",
    ),
    terms=("detach",),
)
