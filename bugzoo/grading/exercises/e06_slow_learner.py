"""It learns a little and settles too high."""

from bugzoo.grading.exercises import _texts as t
from bugzoo.grading.model import Answers, Exercise

LOOP = "for parameter in list(model.parameters())[:-2]:\n    parameter.requires_grad = False\n"
BUILD = "optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)"

EXERCISE = Exercise(
    title="It learns, but not as it should",
    story=(
        "A convolutional network for digits used to reach 97 % in a minute. Since the last merge it creeps to 85 % and stays "
        "there. The loss curve is smooth and falling, so the reviewer wrote: *“looks fine, maybe just needs more epochs.”*"
    ),
    program="digits_cnn",
    fault="freezing/frozen_layers",
    answers=Answers(
        cause="parameters that do not learn",
        evidence=("parameter_audit", "gradient_health"),
        tests=(
            "Copy the parameters, train for some steps and compare: which have moved at all?",
            "Train for more epochs",
            "Use a smaller batch",
            "Look at the loss of the first step",
        ),
        test="A",
    ),
    hints=(
        "Does every part of the model take part in the training? How could you tell?",
        "Copy the parameters before training and compare afterwards.",
        "Read what happens between the line that builds the model and the training loop.",
    ),
    solution=((LOOP, ""),),
    correct={
        "switched on": (("parameter.requires_grad = False", "parameter.requires_grad = True"),),
        "switched on again": ((BUILD, f"model.requires_grad_(True)\n{BUILD}"),),
        "after the optimiser": ((BUILD, f"{BUILD}\nfor parameter in model.parameters():\n    parameter.requires_grad_(True)"),),
        "a group for the rest": (
            (
                BUILD,
                "frozen = [p for p in model.parameters() if not p.requires_grad]\n"
                "optimizer = torch.optim.Adam(model.head.parameters(), lr=learning_rate)\nmodel.requires_grad_(True)\n"
                'optimizer.add_param_group({"params": frozen})',
            ),
        ),
        "built once more": ((BUILD, f"model = Net().to(device)\n{BUILD}"),),
        "an empty list": (("[:-2]", "[:0]"),),
    },
    degenerate={
        "higher rate": (("learning_rate = 2e-3", "learning_rate = 2e-2"),),
        "more epochs": (("epochs = 5", "epochs = 25"),),
        "half of it": (("[:-2]", "[:-6]"),),
        "one layer left": (("[:-2]", "[:2]"),),
        "only what is trainable": (
            (BUILD, BUILD.replace("model.parameters()", "[p for p in model.parameters() if p.requires_grad]")),
        ),
        "too late": (
            ("        step += 1\n", "        step += 1\n        if step == 150:\n            model.requires_grad_(True)\n"),
        ),
        "a wider head": (
            ("nn.Linear(32 * 2 * 2, 10)", "nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))"),
            ("[:-2]", "[:-4]"),
        ),
        "mended, and trained on what was kept back": (
            (LOOP, ""),
            ("TensorDataset(images[train], labels[train])", "TensorDataset(images[-1150:], labels[-1150:])"),
        ),
        "the rest moved at random": (
            (
                t.STEP,
                f"{t.STEP}\n        with torch.no_grad():\n            for parameter in list(model.parameters())[:-2]:\n"
                "                parameter.add_(1e-3 * torch.randn_like(parameter))",
            ),
        ),
        "hard-coded": t.HARD_CODED,
    },
)  # fmt: skip
