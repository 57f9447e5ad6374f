"""The loss falls more slowly than it should and settles too high; only the last layer seems to learn."""

from bugzoo.faults.idioms import OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import before

FAULT = Fault(
    title="Layers that should learn are frozen",
    level=2,
    symptom="degraded",
    params={"keep": Param(2, 1, 1000, "parameter tensors, counted from the end, that stay trainable")},
    edits=before(
        OPTIMIZER, "for parameter in list($MODEL.parameters())[:-$keep]:\n    parameter.requires_grad = False"
    ),
    evidence=("parameter_audit.frozen_share > 0.3",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Parameters with requires_grad = False get no gradient and stay as they were initialised. What is left learns on "
        "top of random features, which goes surprisingly far and then no further."
    ),
    fix="Freeze only what has been trained before; ask after building the optimiser which parameters will change.",
    hints=(
        "Does every part of the model take part in training? How could you tell?",
        "Copy the parameters before training and compare afterwards: which of them have moved?",
        "Read what happens between building the model and building the optimiser.",
    ),
    look_alikes=(
        LookAlike("freezing/unfrozen_after_optimizer", "There parameters are trainable but in no optimiser group."),
        LookAlike(
            "optimizer/lr_too_low", "With a low rate every parameter moves a little; frozen ones do not move at all."
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad",),
)
