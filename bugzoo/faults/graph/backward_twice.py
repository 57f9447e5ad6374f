"""The first step works. The second one stops with "Trying to backward through the graph a second time"."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, COUNTER, LOSS, OTHER_LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, either, instead, rewrite

AVERAGE = "average = $RESULT if $COUNT == 0 else 0.5 * average + 0.5 * $RESULT"
LINE = "average = $LOSS if $COUNT == 0 else 0.5 * average + 0.5 * $LOSS"

FAULT = Fault(
    title="Tensor carried to the next step without detach()",
    level=2,
    symptom="crash",
    edits=either(
        (after(LOSS, AVERAGE, given=COUNTER), rewrite(BACKWARD, LOSS="average")),
        (after(OTHER_LOSS, AVERAGE, given=COUNTER), rewrite(BACKWARD, LOSS="average")),
    ),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "The running average is still connected to the computation graph of the previous step. Once backward() "
        "has gone through a graph, it frees the buffers. At the second step backward() reaches a part that is "
        "already freed, and raises an error. With retain_graph=True the graph would grow with every step and meet "
        "weights that the optimizer has changed since. A hidden state that is carried from batch to batch causes "
        "the same error."
    ),
    fix="Detach what you carry from one step to the next: average.detach() or hidden.detach().",
    repairs=instead(
        LINE,
        {
            "detached": "average = $LOSS if $COUNT == 0 else 0.5 * average.detach() + 0.5 * $LOSS",
            "as a number": "average = $LOSS if $COUNT == 0 else 0.5 * average.item() + 0.5 * $LOSS",
            "the loss of this batch": "average = $LOSS",
            "no memory": "average = 0.5 * $LOSS + 0.5 * $LOSS",
        },
    ),
    pretences={
        "retain_graph, as the message says": either(
            Swap("average.backward()", "average.backward(retain_graph=True)"),
            Swap("scaler.scale(average).backward()", "scaler.scale(average).backward(retain_graph=True)"),
        ),
        "a clone": Swap(LINE, LINE.replace("* average", "* average.clone()")),
        "only where it works": Swap(
            "average.backward()", "try:\n    average.backward()\nexcept RuntimeError:\n    continue"
        ),
        "all of it detached": Swap(LINE, f"{LINE}\naverage = average.detach()"),
    },
    free=("length",),
    hints=(
        "The first step works and the second does not. What does the second one hold that the first did not?",
        "Draw what the loss of the second step is computed from. Does all of it belong to this batch?",
        "Find the variable of the loop that is read before it is assigned in the same step. Print its grad_fn.",
    ),
    look_alikes=(
        LookAlike(
            "graph/inplace_activation",
            "Read the message: is it about a freed graph, or about a tensor's version?",
            "The message is about a freed graph, at the second step.",
            "The message is about a tensor's version, at the first step.",
        ),
        LookAlike(
            "memory/losses_kept_with_graph",
            "Find the tensor that is kept from step to step. Does it enter the next backward()?",
            "The kept tensor enters backward(), which raises an error.",
            "The kept tensor is only stored, and the memory grows.",
        ),
    ),
    sources=(
        "https://github.com/MorvanZhou/PyTorch-Tutorial/issues/57",
        "https://github.com/davda54/sam/issues/45",
    ),
    cause=Cause(words.HIDDEN_STATE, also=("hidden state", "state not detached")),
    terms=("truncated BPTT", "retain_graph"),
)
