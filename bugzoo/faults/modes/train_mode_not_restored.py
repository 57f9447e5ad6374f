"""Since the training shows how it is doing now and then, the loss falls faster than ever, and it helps nobody."""

from bugzoo.faults.idioms import TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, remove

KEPT = "losses.append(loss.item())"
LOOK = (
    "if step % $every == 0:\n"
    "    model.eval()\n"
    "    with torch.no_grad():\n"
    "        hits = (model(inputs).argmax(-1) == targets).float().mean().item()"
)
FOUND = LOOK.replace("$every", "$EVERY")
ASKED = "hits = (model(inputs).argmax(-1) == targets).float().mean().item()"

FAULT = Fault(
    title="After a look at the model it stays in evaluation mode",
    level=3,
    symptom="degraded",
    params={"every": Param(20, 1, 100, "optimiser steps between two looks at the model")},
    edits=(remove(TRAIN_MODE), Swap(KEPT, f"{KEPT}\n{LOOK}")),
    not_on={
        name: "it has neither dropout nor BatchNorm, and no other layer cares for the mode."
        for name in (
            "amp_transformer",
            "data_parallel",
            "finetune",
            "image_pipeline",
            "mini_transformer",
            "mlp",
            "modular_addition",
            "regression_mlp",
        )
    },
    evidence=("mode_watch.train_in_eval_share > 0.3",),
    effect="mode_watch.train_in_eval_share > healthy",
    why=(
        "eval() holds until train() is called. A look at the model after 20 steps turns it, train() stood before the loop or "
        "nowhere, and all steps that follow are made in evaluation mode: dropout no longer drops, and BatchNorm normalises with "
        "statistics that it stopped to collect after 20 batches. What was to keep the model from learning by heart is off."
    ),
    fix="model.train() at the top of every epoch, or right behind every evaluation in the loop.",
    repairs=instead(
        FOUND,
        {
            "back behind the look": f"{FOUND}\n    model.train()",
            "the mode kept": FOUND.replace("    model.eval()", "    mode = model.training\n    model.eval()")
            + "\n    model.train(mode)",
            "a copy is looked at": (
                "if step % $EVERY == 0:\n    with torch.no_grad():\n"
                f"        other = Net().to(device).eval()\n        other.load_state_dict(model.state_dict())\n"
                f"        {ASKED.replace('model(', 'other(')}"
            ),
        },
    )
    | {"at every step": Swap("optimizer.zero_grad()", "model.train()\noptimizer.zero_grad()")},
    pretences=instead(
        FOUND,
        {
            "a look more seldom": FOUND.replace("step % $EVERY == 0", "step == $EVERY"),
            "train() too early": FOUND.replace("    model.eval()", "    model.train()\n    model.eval()"),
            "only its last layer": f"{FOUND}\n    model.head.train()",
        },
    )
    | {"once before the loop": Swap("losses = []", "losses = []\nmodel.train()")},
    hints=(
        "What else changes when a model is looked at, besides what is printed?",
        "Write down model.training at every step, and look when it changes.",
        "Which calls of the loop turn a switch of the model, and which turn it back?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Write down the mode of the model at every step of the training and in the evaluation.",
            "In training it is off: `mode_watch.train_in_eval_share > 0.3`.",
            "In the evaluation it is on: `mode_watch.train_in_eval_share < 0.3`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Ask the layers that drop at random in which mode they are during a training step.",
            "There are some, and they are in evaluation mode.",
            "There are none.",
        ),
    ),
    sources=("https://github.com/knazeri/edge-connect/issues/9", "https://github.com/pytorch/tutorials/issues/1624"),
)
