"""The model is in eval mode, every module of it says so, and still the same input gives a different output each time."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

MADE = "self.dropouts = [nn.Dropout(dropout)]"
PAIR = "self.dropouts = [nn.Dropout(dropout), nn.Dropout(dropout)]"
COUNTS = "correct, total, summed = 0, 0, 0.0"

FAULT = Fault(
    title="Dropout layers in a Python list instead of nn.ModuleList",
    level=3,
    symptom="noisy_eval",
    edits=either(
        (
            Swap("self.dropout = nn.Dropout(dropout)", f"{PAIR}  # of the words, of what the head reads"),
            Swap("self.dropout(self.words($X))", "self.dropouts[0](self.words($X))"),
            Swap("self.head(self.dropout($X))", "self.head(self.dropouts[1]($X))"),
        ),
        (
            Swap("self.dropout = nn.Dropout(dropout)", MADE),
            Swap("self.dropout($X)", "self.dropouts[0]($X)"),
        ),
    ),
    evidence=("mode_watch.drops_in_eval > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "model.eval() walks through the registered modules. A module in a plain list is not registered, so its flag "
        "`training` stays True and it keeps dropping units in validation and inference. Dropout has no parameters, so "
        "nothing is missing from the optimizer or the checkpoint: only the outputs depend on chance. Printing the model, or "
        "`.training` of all `model.modules()`, does not list it either."
    ),
    fix="Use nn.ModuleList, or an attribute for each layer. Then evaluate one input twice and compare the outputs.",
    repairs=instead(MADE, {"a module list": "self.dropouts = nn.ModuleList([nn.Dropout(dropout)])"})
    | instead(PAIR, {"a list of modules": "self.dropouts = nn.ModuleList([nn.Dropout(dropout), nn.Dropout(dropout)])"})
    | {
        "the mode handed on": Swap(COUNTS, f"for part in model.dropouts:\n    part.train(model.training)\n{COUNTS}"),
    },
    pretences={
        "eval() once more": Swap(COUNTS, f"for part in model.modules():\n    part.eval()\n{COUNTS}"),
    }
    | instead(
        MADE,
        {
            "a tuple": "self.dropouts = (nn.Dropout(dropout),)",
            "less of it": "self.dropouts = [nn.Dropout(dropout / 4)]",
        },
    )
    | instead(PAIR, {"a pair": "self.dropouts = (nn.Dropout(dropout), nn.Dropout(dropout))"}),
    shown_by=("batch_independence", "reported_metric"),
    hints=(
        "Evaluate twice, without training in between. Do you get the same number?",
        "Which parts of forward() draw random numbers? Print `.training` of each, from inside forward().",
        "Print the model. Is everything that forward() calls listed there?",
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
    ),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html",),
    terms=("dropout",),
)
