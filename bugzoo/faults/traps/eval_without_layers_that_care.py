"""The model is evaluated, and nobody called eval() before. Are the numbers worth anything?"""

from bugzoo.faults.idioms import EVAL_MODE, NO_GRAD, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, either, remove

LAST = "return self.head(self.norm(hidden))"
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
        "train(False)": before(NO_GRAD, "model.train(False)"),
        "each module": before(NO_GRAD, "for part in model.modules():\n    part.training = False"),
    },
    pretences={
        "dropout, so that it matters": either(
            Swap("hidden = F.relu(hidden)", "hidden = F.dropout(F.relu(hidden), 0.5)"),
            Swap("hidden = F.relu($LAYER(hidden))", "hidden = F.dropout(F.relu($LAYER(hidden)), 0.5)"),
            Swap(LAST, "return self.head(F.dropout(self.norm(hidden), 0.5))"),
        ),
        "a layer that cares": either(
            *(
                Swap(
                    f"hidden = F.relu($LAYER({name}))",
                    f"hidden = F.relu(F.batch_norm($LAYER({name}), None, None, training=True))",
                )
                for name in ("inputs", "hidden")
            )
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
