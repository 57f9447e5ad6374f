"""The loss falls more slowly than it should and plateaus too high. Only the last layer seems to learn."""

from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, rewrite

LOOP = "for parameter in list(model.parameters())[:-$K]:\n    parameter.requires_grad = False"
REST = "optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], $$$REST)"

FAULT = Fault(
    title="Layers frozen by mistake (requires_grad)",
    level=4,
    symptom="degraded",
    params={"keep": Param(2, 1, 1000, "parameter tensors, counted from the end, that stay trainable")},
    not_on={"finetune": "it unfreezes its backbone later on: no parameter is frozen at the end (measured)."},
    edits=before(
        OPTIMIZER, "for parameter in list($MODEL.parameters())[:-$keep]:\n    parameter.requires_grad = False"
    ),
    evidence=("parameter_audit.frozen_share > 0.3",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Parameters with requires_grad = False get no gradient and keep their initial values. The last layers learn on "
        "top of random features. This goes surprisingly far, and then no further."
    ),
    fix=(
        "Freeze only layers that are already trained. After creating the optimizer, print which parameters will change."
    ),
    repairs={
        "switched on": Swap("parameter.requires_grad = False", "parameter.requires_grad = True"),
        "an empty list": Swap(LOOP, LOOP.replace(":-$K", ":0")),
        "switched on again": before(OPTIMIZER, "model.requires_grad_(True)"),
        "after the optimiser": after(
            OPTIMIZER, "for parameter in model.parameters():\n    parameter.requires_grad_(True)"
        ),
        "a group for the rest": Swap(
            "optimizer = torch.optim.Adam(model.parameters(), $$$REST)",
            "frozen = [p for p in model.parameters() if not p.requires_grad]\n"
            f'{REST}\nmodel.requires_grad_(True)\noptimizer.add_param_group({{"params": frozen}})',
        ),
        "built once more": before(OPTIMIZER, "model = Net().to(device)"),
    },
    pretences={
        "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 10)"),
        "half of it": Swap(LOOP, LOOP.replace(":-$K", ": len(list(model.parameters())) * 2 // 5")),
        "one layer left": Swap(LOOP, LOOP.replace(":-$K", ":2")),
        "only what is trainable": Swap("optimizer = torch.optim.Adam(model.parameters(), $$$REST)", REST),
        "too late": Swap("step += 1", "step += 1\nif step == 150:\n    model.requires_grad_(True)"),
        "the rest moved at random": after(
            STEP,
            "with torch.no_grad():\n    for parameter in list(model.parameters())[:-2]:\n"
            "        parameter.add_(1e-3 * torch.randn_like(parameter))",
        ),
        "a wider head": (
            Swap("nn.Linear(32 * 2 * 2, 10)", "nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))"),
            Swap(LOOP, LOOP.replace(":-$K", ":-4")),
        ),
        "mended, and trained on what was kept back": (
            Swap(LOOP, ""),
            Swap("TensorDataset(images[train], labels[train])", "TensorDataset(images[-1150:], labels[-1150:])"),
        ),
    },
    shown_by=("gradient_health",),
    hints=(
        "Does every layer of the model learn? How could you measure that?",
        "Copy the parameters before training and compare them afterwards with torch.equal. Which ones are identical?",
        "Read the lines between creating the model and the training loop. What do these lines do to the parameters?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Copy the parameters, train for some steps and compare: which ones have changed?",
            "Only the last parameters have changed. The others are identical, bit for bit.",
            "All parameters have changed, each of them a little.",
        ),
        LookAlike(
            "freezing/unfrozen_after_optimizer",
            "Print which parameters have requires_grad set, and which ones the optimizer holds.",
            "The parameters that do not change are not trainable.",
            "The parameters that do not change are trainable, but the optimizer does not hold them.",
        ),
        LookAlike(
            "precision/no_grad_scaler",
            "For the parameters that do not change, check whether they have a .grad at all.",
            "These parameters have no .grad (None): `parameter_audit.frozen_share > 0.3`.",
            "These parameters have a .grad of zeros: `parameter_audit.frozen_share < 0.3`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad",),
    cause=Cause(
        also=("frozen layers", "frozen parameters", "requires_grad false"), explains=("initialisation/", "graph/")
    ),
    terms=("frozen parameters", "requires_grad"),
)
