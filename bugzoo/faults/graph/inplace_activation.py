"""The first backward() stops with "one of the variables needed for gradient computation has been modified"."""

from bugzoo.faults import words
from bugzoo.faults.idioms import ACTIVATED, LAYERED
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, either, instead, rewrite

LINE = "$HIDDEN -= $HIDDEN.mean()"
LAYERS = "nn.Sequential($FIRST, nn.Sigmoid(), nn.ReLU(inplace=True), $LAST)"

FAULT = Fault(
    title="In-place operation on a saved activation",
    level=2,
    symptom="crash",
    edits=either(
        after(ACTIVATED, "$RESULT -= $RESULT.mean()"),
        rewrite(LAYERED, PLACE="$NN.Sigmoid(), $NN.ReLU(inplace=True)"),
    ),
    not_on={
        "word_lines": (
            "its run finishes, because backward() does not need the tensor that is changed (measured on 5 seeds)."
        )
    },
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "ReLU saves its output, because its backward pass needs it. An in-place operation then overwrites that "
        "output. Autograd notices this by the tensor's version counter and refuses to compute a wrong gradient."
    ),
    fix="Use the out-of-place form: hidden = hidden - hidden.mean().",
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
    ignore=("dependency",),  # the mean over the batch is intended
    hints=(
        "The error appears in backward(), but look for its cause in the forward pass.",
        (
            "The message names an operation and a version. Which line saved the tensor, and which line changed it "
            "after that?"
        ),
        "Look in the forward pass for an operator or a layer that modifies its input instead of creating a new tensor.",
    ),
    look_alikes=(
        LookAlike(
            "graph/backward_twice",
            "Read the message: is it about a freed graph, or about a tensor's version?",
            "The message is about a version: a saved tensor was changed.",
            "The message is about a freed graph, which backward() had already used.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks",),
    cause=Cause(words.OVERWRITTEN, also=("in place", "inplace", "inplace operation", "in-place operation")),
    terms=("in-place operation",),
)
