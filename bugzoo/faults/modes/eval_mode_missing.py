"""Validation metrics are worse than they should be, and they change when the same model is evaluated again."""

from bugzoo.faults.idioms import EVAL_MODE
from bugzoo.faults.model import Either, Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, remove

COUNTS, SEEDED = "correct, total, summed = 0, 0, 0.0", "torch.manual_seed(seed + 1)"


def begun(text: str) -> Either:
    """Replace the first line of the evaluation with `text`, in which @ means that line."""
    return either(*(Swap(line, text.replace("@", line)) for line in (COUNTS, SEEDED)))


FAULT = Fault(
    title="Missing model.eval() before validation",
    level=4,
    symptom="noisy_eval",
    edits=remove(EVAL_MODE),
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
    evidence=("mode_watch.eval_in_train_mode > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "Without model.eval(), dropout keeps dropping units. BatchNorm normalizes with the statistics of the current "
        "batch and updates its running statistics. The metrics then depend on chance and on the other rows of the "
        "batch."
    ),
    fix="Call model.eval() before evaluating, and model.train() before training goes on.",
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
        (
            "Some layers behave differently in train mode and in eval mode. Which layers of this model do, and in "
            "which mode are they?"
        ),
        "Compare the lines before the evaluation loop with those before the training loop.",
    ),
    look_alikes=(
        LookAlike(
            "modes/dropout_in_functional_form",
            "During the evaluation, print .training for every module of the model.",
            "The modules are in train mode.",
            "The modules are in eval mode, but dropout is active.",
        ),
        LookAlike(
            "data/augmented_validation",
            "Evaluate the same weights twice. Compare the inputs, then the outputs, of both evaluations.",
            "The same inputs give different outputs.",
            "The inputs already differ.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Predict one short text twice in a batch of its own, then once next to a long text.",
            "The outputs differ even when the text has a batch of its own: `mode_watch.eval_in_train_mode > 0.5`.",
            "The outputs are the same when the text has a batch of its own: `mode_watch.eval_in_train_mode < 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval",),
    terms=("eval mode", "running statistics", "train mode", "dropout", "batch norm"),
    beside={
        "digits_cnn": (
            "data/labels_out_of_sync",
            "loss/double_softmax",
            "loop/stale_gradients",
            "freezing/frozen_layers + loss/double_softmax",
            "data/no_shuffle",
            "data/labels_out_of_sync + loop/stale_gradients",
            "data/no_shuffle + freezing/frozen_layers",
        )
    },
)
