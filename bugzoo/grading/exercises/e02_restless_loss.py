"""The loss falls at first and then wanders."""

from bugzoo.grading.exercises import _texts as t
from bugzoo.grading.model import Answers, Exercise

BACK = "        loss.backward()"
EACH = "        for parameter, gradient in zip(model.parameters(), gradients):\n            parameter"

EXERCISE = Exercise(
    title="A start like any other, and then it wanders",
    story=(
        "The first few dozen steps look promising. Then the loss turns round, swings and climbs. With a learning rate ten "
        "times smaller it does the same, only later: *“it behaves like a ball that nobody brakes.”*"
    ),
    program="mlp",
    fault="loop/stale_gradients",
    answers=Answers(
        cause="a gradient that is older than its batch",
        evidence=("fresh_gradient", "gradient_health", "replay"),
        tests=(
            "Halve the learning rate and see whether it still wanders",
            "Train with half of the images",
            "At one step, compare the gradient at the optimiser with that of the last batch alone",
            "Look at the accuracy on the training images",
        ),
        test="C",
    ),
    hints=(
        "Follow the size of the gradient over the steps. Does it shrink while the model learns?",
        "Take one step apart: what lies in a parameter's .grad just before backward() is called?",
        "List what a training loop does between two optimiser steps and tick off what you find here.",
    ),
    solution=((BACK, f"        optimizer.zero_grad()\n{BACK}"),),
    correct={
        "the model's own": ((BACK, f"        model.zero_grad()\n{BACK}"),),
        "set to None": (
            (BACK, f"        for parameter in model.parameters():\n            parameter.grad = None\n{BACK}"),
        ),
        "zeros": ((BACK, f"        optimizer.zero_grad(set_to_none=False)\n{BACK}"),),
        "after the step": ((t.STEP, f"{t.STEP}\n        optimizer.zero_grad()"),),
        "asked for and assigned": (
            (BACK, f"        gradients = torch.autograd.grad(loss, list(model.parameters()))\n{EACH}.grad = gradient"),
        ),
        "a hook behind the step": (
            ("losses = []", "losses = []\noptimizer.register_step_post_hook(lambda own, *_: own.zero_grad())"),
        ),
    },
    degenerate={
        "lower rate": t.LOWER_RATE,
        "clipping": t.CLIP,
        "another optimiser": (
            ("torch.optim.Adam(model.parameters(), lr=learning_rate)", "torch.optim.SGD(model.parameters(), lr=1e-3)"),
        ),
        "once an epoch": (("    model.train()\n", "    model.train()\n    optimizer.zero_grad()\n"),),
        "divided by the step": (
            (t.STEP, f"        for parameter in model.parameters():\n            parameter.grad /= step + 1\n{t.STEP}"),
        ),
        "early stop": ((BACK, f"        if step >= 40:\n            break\n{BACK}"),),
        "asked for and added": (
            (
                BACK,
                f"        gradients = torch.autograd.grad(loss, list(model.parameters()))\n{EACH}.grad = (\n"
                "                gradient if parameter.grad is None else parameter.grad + gradient\n            )",
            ),
        ),
        "every second step": ((t.STEP, f"{t.STEP}\n        if step % 2:\n            optimizer.zero_grad()"),),
        "hard-coded": t.HARD_CODED,
        "half forgotten": (
            (t.STEP, f"{t.STEP}\n        for parameter in model.parameters():\n            parameter.grad *= 0.5"),
        ),
    },
)
