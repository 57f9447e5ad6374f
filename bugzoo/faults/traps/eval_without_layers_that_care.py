"""The model is evaluated, and nobody called eval() before. Are the numbers worth anything?"""

from bugzoo.faults.idioms import EVAL_MODE, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, remove

COUNTS = "correct, total, summed = 0, 0, 0.0"
CARES = {
    "checkpointed_mlp": "it has dropout: there it matters.",
    "digits_cnn": "it has dropout and BatchNorm: there it matters.",
    "sampler": "it has dropout: there it matters.",
    "sentiment_lstm": "it has dropout: there it matters.",
    "sequence_classifier": "it has dropout: there it matters.",
}

FAULT = Fault(
    title="No eval() where no layer cares",
    level=2,
    symptom="none",
    trap=True,
    edits=remove(EVAL_MODE),
    not_on=CARES,
    evidence=(),
    effect="none",
    why=(
        "eval() sets a flag that dropout, BatchNorm and a few others read. Linear layers, convolutions, embeddings, LayerNorm "
        "and ReLU compute the same in both modes, so without one of the former the flag changes not a bit of any answer."
    ),
    fix="Nothing needs repair. Calling eval() all the same is a good habit: the next layer that is added may care.",
    repairs={
        "train(False)": Swap(COUNTS, f"model.train(False)\n{COUNTS}"),
        "each module": Swap(COUNTS, f"for part in model.modules():\n    part.training = False\n{COUNTS}"),
    },
    pretences={
        "dropout, so that it matters": Swap("hidden = F.relu(hidden)", "hidden = F.dropout(F.relu(hidden), 0.5)"),
        "a layer that cares": Swap(
            "hidden = F.relu($LAYER(inputs))",
            "hidden = F.relu(F.batch_norm($LAYER(inputs), None, None, training=True))",
        ),
        "a gradient cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)"),
    },
    shown_by=("mode_watch",),
    hints=(
        "What would you see if it did harm? Try whether you see it.",
        "Evaluate twice, once in each mode, and compare the answers to the last bit.",
        "List the layers of the model, and for each whether its documentation mentions the mode.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Ask one batch in both modes and lay the answers side by side.",
            "They are the same to the last bit.",
            "They differ.",
        ),
        LookAlike(
            "modes/dropout_in_functional_form",
            "Ask the same batch twice in evaluation mode and compare the answers.",
            "The same twice.",
            "Others each time.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html",),
)
