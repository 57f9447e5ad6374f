"""The model trains for all its epochs, and afterwards it is exactly as good as before: at guessing."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, LEARNING_RATE, STEP, TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="The optimiser never steps",
    level=3,
    symptom="stuck",
    edits=remove(STEP),
    not_on={"amp_transformer": "GradScaler.update() refuses to go on where nothing was stepped: a crash, measured."},
    evidence=("fresh_gradient.never_stepped > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "backward() only measures: it writes into .grad how the loss would change with each weight. It is step() that reads "
        "it and changes the weights. Without it each epoch asks the same untrained model, and the loss moves around ln C "
        "with the batches alone."
    ),
    fix="Call optimizer.step() once for each batch, behind backward().",
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
        "Keep a copy of a weight before the training and compare it with what is there afterwards.",
        "There are gradients, and of a usual size. Who should read them?",
        "Say aloud what each line of the loop does to the model's weights.",
    ),
    look_alikes=(
        LookAlike(
            "loop/step_before_backward",
            "Count the steps that the optimiser makes over the whole run.",
            "None: `fresh_gradient.never_stepped > 0.5`.",
            "As many as there are batches: `fresh_gradient.empty_share > 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Compare all weights before and after the training, number by number.",
            "Not one has changed, by any amount.",
            "All have changed, in the last digits.",
        ),
        LookAlike(
            "freezing/optimizer_on_old_model",
            "Compare the tensors that the optimiser holds before and after one epoch.",
            "They are as before.",
            "They have moved, and are not the model's.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#taking-an-optimization-step",),
)
