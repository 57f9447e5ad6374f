"""The first step works, the second one stops with "Trying to backward through the graph a second time"."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, LOSS, OTHER_LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, either, instead, rewrite

AVERAGE = "average = $RESULT if $COUNT == 0 else 0.5 * average + 0.5 * $RESULT"
LINE = "average = $LOSS if $COUNT == 0 else 0.5 * average + 0.5 * $LOSS"

FAULT = Fault(
    title="Something is carried on from the step before, with its graph",
    level=2,
    symptom="crash",
    edits=either(
        (after(LOSS, AVERAGE, given=COUNTER), rewrite(BACKWARD, LOSS="average")),
        (after(OTHER_LOSS, AVERAGE, given=COUNTER), rewrite(BACKWARD, LOSS="average")),
    ),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "The running average still hangs on the graph of the step before. backward() frees the buffers of the graph that it went "
        "through, so at the second step it comes to a part that has been used up. Kept alive with retain_graph, the graph would "
        "grow with every step and meet weights that the optimiser has changed since. A hidden state that is carried from batch "
        "to batch does the same."
    ),
    fix="Detach what is carried from one step to the next: average.detach(), hidden.detach().",
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
    hints=(
        "The first step works and the second does not. What does the second one hold that the first did not?",
        "Draw what the loss of the second step is computed from. Does everything belong to this batch?",
        "Which variable of the loop is read before it is assigned, and so comes from the step before?",
    ),
    look_alikes=(
        LookAlike(
            "graph/inplace_activation",
            "Read of what the message speaks: a graph that was used up, or a tensor's version.",
            "Of a graph that was used up, at the second step.",
            "Of a version, at the first step.",
        ),
        LookAlike(
            "memory/losses_kept_with_graph",
            "Look whether what is kept from step to step enters the next backward().",
            "It does, and backward() stops there.",
            "It is kept only, and the memory grows.",
        ),
    ),
    sources=(
        "https://github.com/MorvanZhou/PyTorch-Tutorial/issues/57",
        "https://github.com/davda54/sam/issues/45",
    ),
)
