"""The model is in evaluation mode, and still the same input gets another answer each time it is asked."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

LINE = "F.dropout($X, dropout)"
COUNTS = "correct, total, summed = 0, 0, 0.0"

FAULT = Fault(
    title="Dropout that does not ask for the mode",
    level=3,
    symptom="noisy_eval",
    edits=either(
        Swap("self.head(self.dropout($X))", "self.head(F.dropout($X, dropout))"),
        Swap("self.dropout($X)", "F.dropout($X, dropout)"),
    ),
    evidence=("mode_watch.drops_in_eval > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "nn.Dropout is told the mode by model.eval(), because it is a module of the model. F.dropout is a function: it knows no "
        "model, and its argument training is True by default. It goes on dropping while the model is judged and used, so that "
        "answers depend on chance, and each is made with a part of the units."
    ),
    fix="nn.Dropout as a layer, or F.dropout(x, p, training=self.training).",
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
    hints=(
        "Evaluate twice, without training in between. Do you get the same number?",
        "Each module says in which mode it is. Is everything random in this model a module?",
        "Read the forward pass for calls that draw random numbers, and ask how each of them learns about the mode.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Ask every layer of the model in which mode it is while the model is evaluated.",
            "In evaluation mode, and it drops all the same: `mode_watch.eval_in_train_mode < 0.5`.",
            "In training mode: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
        LookAlike(
            "data/augmented_validation",
            "Evaluate twice and compare: are the inputs the same, and are the answers to them?",
            "The same inputs get other answers.",
            "The inputs differ already.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/26338",
        "https://github.com/pytorch/pytorch/issues/11999",
        "https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
    ),
)
