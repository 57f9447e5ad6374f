"""The model is in eval mode, and still the same input gives a different output each time."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

LINE = "F.dropout($X, dropout)"
COUNTS = "correct, total, summed = 0, 0, 0.0"

FAULT = Fault(
    title="F.dropout without training=self.training",
    level=3,
    symptom="noisy_eval",
    edits=either(
        Swap("self.head(self.dropout($X))", "self.head(F.dropout($X, dropout))"),
        Swap("self.dropout($X)", "F.dropout($X, dropout)"),
    ),
    evidence=("mode_watch.drops_in_eval > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "model.eval() reaches nn.Dropout, because nn.Dropout is a module of the model. F.dropout is a function: it "
        "does not know the model, and its argument training is True by default. So F.dropout keeps dropping units "
        "during validation and inference. The outputs depend on chance, and each one uses only a part of the units."
    ),
    fix="Use nn.Dropout as a layer, or F.dropout(x, p, training=self.training).",
    repairs=instead(
        LINE,
        {
            "the mode handed over": "F.dropout($X, dropout, training=self.training)",
            "asked for the mode": "(F.dropout($X, dropout) if self.training else $X)",
            "by hand": ("($X * (torch.rand_like($X) > dropout) / (1 - dropout) if self.training else $X)"),
        },
    ),
    pretences=instead(
        LINE,
        {
            "less of it": "F.dropout($X, dropout / 4)",
            "only in evaluation": "F.dropout($X, dropout, training=not self.training)",
            "the gradient asked": "F.dropout($X, dropout, training=torch.is_inference_mode_enabled() is False)",
        },
    )
    | {"eval() once more": Swap(COUNTS, f"for part in model.modules():\n    part.eval()\n{COUNTS}")},
    shown_by=("batch_independence", "reported_metric"),
    hints=(
        "Evaluate twice, without training in between. Do you get the same number?",
        "Print .training for every module. Is everything random in this model a module?",
        (
            "Find the calls in forward() that draw random numbers. How does each call know whether the model is in "
            "eval mode?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "During the evaluation, print .training for every module of the model.",
            "The modules are in eval mode, but dropout is active: `mode_watch.eval_in_train_mode < 0.5`.",
            "The modules are in train mode: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
        LookAlike(
            "data/augmented_validation",
            "Evaluate the same weights twice. Compare the inputs, then the outputs, of both evaluations.",
            "The same inputs give different outputs.",
            "The inputs already differ.",
        ),
        LookAlike(
            "reproducibility/one_generator_unseeded",
            "Run the script twice, and compare the losses of both runs step by step.",
            "Both runs have the same losses: `determinism.first_difference < 0.5`.",
            "The losses differ: `determinism.first_difference > 0.5`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/26338",
        "https://github.com/pytorch/pytorch/issues/11999",
        "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
    ),
    terms=("dropout",),
)
