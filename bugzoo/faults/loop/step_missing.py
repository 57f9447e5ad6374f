"""Training runs through all epochs without an error. Afterwards the model is exactly as good as before: it guesses."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, LEARNING_RATE, STEP, TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Missing optimizer.step()",
    level=3,
    symptom="stuck",
    edits=remove(STEP),
    not_on={"amp_transformer": "GradScaler.update() raises an error when no step was recorded: a crash (measured)."},
    evidence=("fresh_gradient.never_stepped > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "backward() only computes gradients and writes them into .grad. optimizer.step() reads .grad and changes "
        "the weights. Without step(), every epoch runs the same untrained model. The loss still moves around ln C, "
        "because the batches differ."
    ),
    fix="Call optimizer.step() once per batch, after loss.backward().",
    repairs={
        "when it is counted": before(COUNTER, "optimizer.step()"),
        "with a closure": after(BACKWARD, "optimizer.step(lambda: loss)"),
        "last thing of the step": after(COUNTER, "optimizer.step()"),
    },
    pretences={
        "once an epoch": after(TRAIN_MODE, "optimizer.step()"),
        "a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 10)"),
        "every second batch": before(COUNTER, "if step % 2:\n    optimizer.step()"),
        "only gradients": before(COUNTER, "for parameter in model.parameters():\n    parameter.grad.mul_(10)"),
    },
    shown_by=("parameter_audit", "overfit_one_batch"),
    hints=(
        "Copy one weight before training, and compare the copy with the weight afterwards.",
        "The gradients are there and have a usual size. Which call should read them?",
        "Go through the loop line by line. What does each line do to the model's weights?",
    ),
    look_alikes=(
        LookAlike(
            "loop/step_before_backward",
            "Count the steps that the optimizer makes over the whole run.",
            "The optimizer makes no step: `fresh_gradient.never_stepped > 0.5`.",
            "The optimizer makes one step per batch: `fresh_gradient.empty_share > 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy all weights before training and compare them with torch.equal afterwards.",
            "No weight has changed by any amount.",
            "All weights have changed, in the last digits.",
        ),
        LookAlike(
            "freezing/optimizer_on_old_model",
            "Compare the tensors that the optimizer holds before and after one epoch.",
            "The optimizer's tensors have not changed.",
            "The optimizer's tensors have changed, but the model does not use them.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#taking-an-optimization-step",),
    terms=("optimizer.step()", "training step"),
    beside={"mlp": ("data/labels_out_of_sync", "memory/losses_kept_with_graph")},
)
