"""Validation numbers are worse than they should be and change when the same model is evaluated again."""

from bugzoo.faults.idioms import EVAL_MODE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import remove

FAULT = Fault(
    title="Evaluation in training mode",
    level=1,
    symptom="noisy_eval",
    edits=remove(EVAL_MODE),
    not_on={
        name: "it has neither dropout nor BatchNorm, and no other layer cares for the mode."
        for name in ("amp_transformer", "data_parallel", "image_pipeline", "mini_transformer", "mlp", "regression_mlp")
    },
    evidence=("mode_watch.eval_in_train_mode > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "Without eval() dropout goes on dropping units and BatchNorm normalises with the statistics of whatever batch "
        "comes, and stores them. The numbers depend on chance and on the neighbours in the batch."
    ),
    fix="model.eval() before evaluating, model.train() before training goes on.",
    hints=(
        "Evaluate twice, without training in between. Do you get the same number?",
        "Some layers behave differently in training and evaluation. Which are in this model, and in which mode are they?",
        "Compare the lines before the evaluation loop with those before the training loop.",
    ),
    look_alikes=(
        LookAlike("modes/dropout_in_functional_form", "There the model is in eval mode and dropout acts all the same."),
        LookAlike("data/augmented_validation", "There the inputs differ from one pass to the next, not the layers."),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval",),
)
