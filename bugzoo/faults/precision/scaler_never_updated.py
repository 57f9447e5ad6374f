"""The second step stops with "step() has already been called since the last update()"."""

from bugzoo.faults.idioms import SCALED_STEP, SCALER_UPDATE, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, remove

FAULT = Fault(
    title="The gradient scaler is never updated",
    level=1,
    symptom="crash",
    edits=remove(SCALER_UPDATE),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "step() of the scaler notes whether a gradient was infinite and skips the optimiser then; update() reads that note, "
        "halves the factor or lets it grow after 2000 good steps, and clears it. Without it the factor would stay at 65536 for "
        "ever, and the scaler, which cannot tell two steps apart, refuses the second one."
    ),
    fix="scaler.update() once behind scaler.step(optimizer), at every step, skipped or not.",
    repairs={
        "behind the step": after(SCALED_STEP, "scaler.update()"),
        "in front of the next one": before(ZERO_GRAD, "if step > 0:\n    scaler.update()"),
        "with the factor given": after(SCALED_STEP, "scaler.update(2.0**16)"),
    },
    pretences={
        "every second step": after(SCALED_STEP, "if step % 2:\n    scaler.update()"),
        "once in front of the loop": Swap("losses = []", "losses = []\nscaler.update()"),
        "the error swallowed": Swap(
            "scaler.step($OPTIMIZER)", "try:\n    scaler.step($OPTIMIZER)\nexcept RuntimeError:\n    pass"
        ),
        "the step twice": after(SCALED_STEP, "optimizer.step()"),
    },
    ignore=("scale_watch",),
    hints=(
        "The first step works and the second does not. What was left behind by the first?",
        "Which three calls does a gradient scaler ask for at each step, and which are here?",
        "Lay the lines from the loss to the optimiser beside the recipe in PyTorch's own notes on this way of training.",
    ),
    look_alikes=(
        LookAlike(
            "graph/backward_twice",
            "Read who complains at the second step: the scaler or backward().",
            "The scaler.",
            "backward().",
        ),
        LookAlike(
            "precision/no_grad_scaler",
            "Count the calls of the scaler between one batch and the next: there should be three.",
            "There are two: scale() and step().",
            "There is none.",
        ),
    ),
    sources=("https://github.com/Azure/MS-AMP/pull/45", "https://pytorch.org/docs/stable/notes/amp_examples.html"),
)
