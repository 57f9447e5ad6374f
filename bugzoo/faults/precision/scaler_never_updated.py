"""The second step stops with "step() has already been called since the last update()"."""

from bugzoo.faults import words
from bugzoo.faults.idioms import SCALED_STEP, SCALER_UPDATE, ZERO_GRAD
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, remove

FAULT = Fault(
    title="Missing scaler.update()",
    level=1,
    symptom="crash",
    edits=remove(SCALER_UPDATE),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "scaler.step() records whether a gradient was infinite, and skips the optimizer step if so. Then "
        "scaler.update() reads that record and clears it. The call also halves the loss scale after an overflow "
        "and raises it after 2000 good steps. Without update() the loss scale would stay at 65,536. The scaler "
        "cannot tell two steps apart either, so the second scaler.step() raises an error."
    ),
    fix="Call scaler.update() once after scaler.step(optimizer), at every step, skipped or not.",
    repairs={
        "behind the step": after(SCALED_STEP, "scaler.update()"),
        "in front of the next one": before(ZERO_GRAD, "if step > 0:\n    scaler.update()"),
        "with the factor given": after(SCALED_STEP, "scaler.update(2.0**16)"),
    },
    by_counter=("in front of the next one",),
    pretences={
        "every second step": after(SCALED_STEP, "if step % 2:\n    scaler.update()"),
        "once in front of the loop": Swap("losses = []", "losses = []\nscaler.update()"),
        "the error swallowed": Swap(
            "scaler.step($OPTIMIZER)", "try:\n    scaler.step($OPTIMIZER)\nexcept RuntimeError:\n    pass"
        ),
        "the step twice": after(SCALED_STEP, "optimizer.step()"),
    },
    ignore=("loss_scale",),
    hints=(
        "The first step works and the second does not. What state did the first step leave in the scaler?",
        "Which three calls does a gradient scaler need at each step? Which of them are in the loop?",
        "Compare the lines from the loss to the optimizer step with the recipe in PyTorch's AMP notes.",
    ),
    look_alikes=(
        LookAlike(
            "graph/backward_twice",
            "Read the traceback of the second step. Which call raises: the scaler or backward()?",
            "The scaler raises the error.",
            "backward() raises the error.",
        ),
        LookAlike(
            "precision/no_grad_scaler",
            "Count the scaler's calls between one batch and the next. There should be three.",
            "There are two: scale() and step().",
            "There are no calls of a scaler.",
        ),
    ),
    sources=("https://github.com/Azure/MS-AMP/pull/45", "https://pytorch.org/docs/stable/notes/amp_examples.html"),
    cause=Cause(words.LOSS_SCALE),
    terms=("GradScaler", "loss scale"),
)
