"""Validation numbers are worse than they should be and change when the same model is evaluated again."""

from bugzoo.faults.idioms import EVAL_MODE
from bugzoo.faults.model import Either, Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, remove

COUNTS, SEEDED = "correct, total, summed = 0, 0, 0.0", "torch.manual_seed(seed + 1)"


def begun(text: str) -> Either:
    """`text`, in which @ is the line that the evaluation begins with, in its place."""
    return either(*(Swap(line, text.replace("@", line)) for line in (COUNTS, SEEDED)))


FAULT = Fault(
    title="Evaluation in training mode",
    level=4,
    symptom="noisy_eval",
    edits=remove(EVAL_MODE),
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
    evidence=("mode_watch.eval_in_train_mode > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "Without eval() dropout goes on dropping units and BatchNorm normalises with the statistics of whatever batch "
        "comes, and stores them. The numbers depend on chance and on the neighbours in the batch."
    ),
    fix="model.eval() before evaluating, model.train() before training goes on.",
    repairs={
        "train(False)": begun("model.train(False)\n@"),
        "each module": begun("for part in model.modules():\n    part.training = False\n@"),
        "after the counts": begun("@\nmodel = model.eval()"),
    },
    pretences={
        "train() once more": begun("model.train()\n@"),
        "only its last layer": begun("model.head.eval()\n@"),
        "larger batches": Swap(
            "validation_loader = DataLoader($DATA, batch_size=$N)",
            "validation_loader = DataLoader($DATA, batch_size=fold($N * 2))",
        ),
        "after the evaluation": Swap("print(metrics)", "model.eval()\nprint(metrics)"),
    },
    hints=(
        "Evaluate twice, without training in between. Do you get the same number?",
        "Some layers behave differently in training and evaluation. Which are in this model, and in which mode are they?",
        "Compare the lines before the evaluation loop with those before the training loop.",
    ),
    look_alikes=(
        LookAlike(
            "modes/dropout_in_functional_form",
            "Ask every layer of the model in which mode it is while the model is evaluated.",
            "In training mode.",
            "In evaluation mode, and dropout acts all the same.",
        ),
        LookAlike(
            "data/augmented_validation",
            "Evaluate twice and compare: are the inputs the same, and are the answers to them?",
            "The same inputs get other answers.",
            "The inputs differ already.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Score one short text twice when it is alone, and then once more beside a long one.",
            "It differs even when alone: `mode_watch.eval_in_train_mode > 0.5`.",
            "Alone it stays the same: `mode_watch.eval_in_train_mode < 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval",),
)
