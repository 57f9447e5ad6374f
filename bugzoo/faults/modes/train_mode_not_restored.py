"""Since the script prints accuracy during training, the training loss falls faster, but validation is no better."""

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
    title="Missing model.train() after evaluation",
    level=3,
    symptom="degraded",
    params={"every": Param(20, 1, 100, "optimizer steps between two evaluations in the training loop")},
    edits=(remove(TRAIN_MODE), Swap(KEPT, f"{KEPT}\n{LOOK}")),
    not_on={
        name: "it has neither dropout nor BatchNorm, and no other layer depends on train mode or eval mode."
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
        "model.eval() holds until model.train() is called. An evaluation inside the training loop calls model.eval() "
        "after 20 steps, and no model.train() follows. All later steps run in eval mode: dropout is off, and BatchNorm "
        "uses running statistics that it stopped updating after 20 batches. The regularization that should keep the "
        "model from overfitting is off."
    ),
    fix=(
        "Call model.train() right after every evaluation in the loop. For an evaluation between epochs, model.train() "
        "at the top of every epoch is enough."
    ),
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
        "What else changes when the script evaluates the model, besides what it prints?",
        "Print model.training at every step. At which step does the value change?",
        "Which calls in the loop change the mode of the model, and which calls change it back?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Print model.training at every training step, and during the evaluation.",
            "The model is in eval mode during training: `mode_watch.train_in_eval_share > 0.3`.",
            "The model is in train mode during the evaluation: `mode_watch.train_in_eval_share < 0.3`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "During a training step, print .training for every dropout layer of the model.",
            "The model has dropout layers, and they are in eval mode.",
            "The model has no dropout layers.",
        ),
    ),
    sources=("https://github.com/knazeri/edge-connect/issues/9", "https://github.com/pytorch/tutorials/issues/1624"),
    terms=("train mode",),
)
