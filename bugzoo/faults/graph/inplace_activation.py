"""The first backward() stops with "one of the variables needed for gradient computation has been modified"."""

from bugzoo.faults.idioms import ACTIVATED, LAYERED
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, either, instead, rewrite

LINE = "$HIDDEN -= $HIDDEN.mean()"
LAYERS = "nn.Sequential($FIRST, nn.Sigmoid(), nn.ReLU(inplace=True), $LAST)"

FAULT = Fault(
    title="An activation is changed in place after autograd saved it",
    level=2,
    symptom="crash",
    edits=either(
        after(ACTIVATED, "$RESULT -= $RESULT.mean()"),
        rewrite(LAYERED, PLACE="$NN.Sigmoid(), $NN.ReLU(inplace=True)"),
    ),
    not_on={
        "word_lines": "its run finishes: what is changed in place is nothing that backward() needs there, measured on 5 seeds."
    },
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "ReLU keeps its output to know later where the gradient passes. An in-place operation overwrites that output; "
        "autograd notices by the tensor's version counter and refuses to compute a wrong gradient."
    ),
    fix="Write the out-of-place form: hidden = hidden - hidden.mean().",
    repairs=instead(
        LINE,
        {
            "taken out": "",
            "a new tensor": "$HIDDEN = $HIDDEN - $HIDDEN.mean()",
            "a clone": f"$HIDDEN = $HIDDEN.clone()\n{LINE}",
        },
    )
    | instead(
        LAYERS,
        {
            "the rectifier alone": "nn.Sequential($FIRST, nn.ReLU(), $LAST)",
            "one that is smooth": "nn.Sequential($FIRST, nn.SiLU(), $LAST)",
        },
    ),
    pretences={
        "under no_grad": Swap(LINE, f"with torch.no_grad():\n    {LINE}"),
        "cut off": Swap(LINE, f"$HIDDEN = $HIDDEN.detach()\n{LINE}"),
        "the graph kept": Swap("$LOSS.backward()", "$LOSS.backward(retain_graph=True)"),
        "the error swallowed": Swap("$LOSS.backward()", "try:\n    $LOSS.backward()\nexcept RuntimeError:\n    pass"),
    },
    own_forward=True,
    ignore=("dependency",),  # the mean of a batch is taken on purpose
    hints=(
        "The error appears in backward(), but its cause lies in the forward pass.",
        "The message names an operation and a version: who saved the tensor, and who changed it after that?",
        "Look in the forward pass for an operator that changes its left side instead of making a new tensor.",
    ),
    look_alikes=(
        LookAlike(
            "graph/backward_twice",
            "Read of what the message speaks: a version of a tensor, or buffers that were freed.",
            "Of a version: somebody changed a saved tensor.",
            "Of buffers: the graph was used up before.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks",),
)
