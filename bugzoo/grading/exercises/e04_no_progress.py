"""The loss stays near where it began, though nothing is missing."""

from bugzoo.grading.model import Answers, Exercise

BACK, STEP = "    loss.backward()\n", "    optimizer.step()\n"
ADAM = "model.parameters(), lr=learning_rate, eps=1e-15)"
FACTOR = "    for parameter in model.parameters():\n        parameter.grad /= 2.0**16\n"
CLIPPED = "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"

EXERCISE = Exercise(
    title="Quick, and hardly learning",
    story=(
        "A character model was made faster over the weekend. Each step takes less time, and the loss has hardly moved since: "
        "the same model learnt well on Friday. *“No error, no nan, nothing in the logs. Some layers just seem asleep.”*"
    ),
    program="amp_transformer",
    fault="precision/no_grad_scaler",
    answers=Answers(
        cause="a number format that is too small",
        evidence=("scale_watch", "gradient_health", "replay"),
        tests=(
            "Raise the learning rate by ten and see whether the loss moves",
            "Train on another text",
            "Look at the parameters that are frozen",
            "Count gradient elements that are exactly zero, here and in single precision on the same batch",
        ),
        test="D",
    ),
    hints=(
        "Which numbers can be written in the format of this run, and which gradients occur in it?",
        "Count, layer by layer, the gradient elements that are exactly zero.",
        "Lay the lines from the loss to the optimiser beside the recipe in PyTorch's own notes on this way of training.",
    ),
    solution=(
        (BACK, "    scaler.scale(loss).backward()\n"),
        (STEP, "    scaler.step(optimizer)\n    scaler.update()\n"),
    ),
    correct={
        "bfloat16": (
            ("    with torch.autocast(device, dtype=torch.float16):\n        logits = model(inputs)\n        loss",
             "    with torch.autocast(device, dtype=torch.bfloat16):\n        logits = model(inputs)\n        loss"),
        ),
        "single precision": (
            ("    with torch.autocast(device, dtype=torch.float16):\n        logits = model(inputs)\n        loss",
             "    with torch.autocast(device, enabled=False):\n        logits = model(inputs)\n        loss"),
        ),
        "constant factor": (
            (BACK, f"    (loss * 2.0**16).backward()\n{FACTOR}"),
        ),
        "mean over the batch": (
            ('reduction="sum") / tokens_per_update', 'reduction="mean")'),
            (" * tokens_per_update / targets.numel())  #", ")  #"),
            (BACK, "    scaler.scale(loss).backward()\n"),
            (STEP, "    scaler.step(optimizer)\n    scaler.update()\n"),
        ),
        "asked for in single precision": (
            ("    with torch.autocast(device, dtype=torch.float16):\n        logits = model(inputs)\n        loss",
             "    with torch.autocast(device, enabled=False):\n        logits = model(inputs)\n        loss"),
            (BACK, "    gradients = torch.autograd.grad(loss, list(model.parameters()))\n"
                   "    for parameter, gradient in zip(model.parameters(), gradients):\n        parameter.grad = gradient\n"),
        ),
        "scaler with unscale": (
            (BACK, "    scaler.scale(loss).backward()\n    scaler.unscale_(optimizer)\n"),
            (STEP, "    scaler.step(optimizer)\n    scaler.update()\n"),
        ),
    },
    degenerate={
        "higher rate": (("learning_rate = 3e-3", "learning_rate = 3e-2"),),
        "clipping": ((STEP, CLIPPED + STEP),),
        "another optimiser": ((f"torch.optim.Adam({ADAM}", "torch.optim.SGD(model.parameters(), lr=learning_rate)"),),
        "larger eps": (("eps=1e-15", "eps=1e-8"),),
        "more steps": (("steps = 60", "steps = 240"),),
        "gradients stretched afterwards": (
            (STEP, f"    for parameter in model.parameters():\n        parameter.grad *= 1000\n{STEP}"),
        ),
        "a scaler that scales by one": (
            ("GradScaler(device)", "GradScaler(device, init_scale=1.0)"),
            (BACK, "    scaler.scale(loss).backward()\n"),
            (STEP, "    scaler.step(optimizer)\n    scaler.update()\n"),
        ),
        "only the loss in single precision": (
            ("        loss = F.cross_entropy(logits.flatten(0, 1), targets",
             "    loss = F.cross_entropy(logits.flatten(0, 1).float(), targets"),
        ),
        "mended, and the report written by hand": (
            (BACK, "    scaler.scale(loss).backward()\n"),
            (STEP, "    scaler.step(optimizer)\n    scaler.update()\n"),
            ('"accuracy": correct / total', '"accuracy": 0.9'),
        ),
        "hard-coded": (('"loss": summed / total', '"loss": 2.5'),),
    },
    about=(
        "The character language model of `mini_transformer`, as it was made faster.\n\n"
        "The loss of a batch is divided by the tokens of one whole update, half a million as for the smallest GPT-3, of which\n"
        "this process holds its share."
    ),
    ignore=("scale_watch", "initial_loss"),  # a constant factor is a repair that both take for the illness
    seeds=(0, 1),
)  # fmt: skip
