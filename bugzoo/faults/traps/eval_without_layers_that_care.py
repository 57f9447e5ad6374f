"""The model is evaluated without a call to model.eval(). Can I trust the validation numbers?"""

from bugzoo.faults.idioms import EVAL_MODE, NO_GRAD, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, either, remove

LAST = "return self.head(self.norm(hidden))"
CARES = {
    "checkpointed_mlp": "it has dropout, so the mode changes its outputs.",
    "digits_cnn": "it has dropout and batch norm, so the mode changes its outputs.",
    "sampler": "it has dropout, so the mode changes its outputs.",
    "sentiment_lstm": "it has dropout, so the mode changes its outputs.",
    "sequence_classifier": "it has dropout, so the mode changes its outputs.",
}

FAULT = Fault(
    title="Missing model.eval() without dropout or batch norm",
    level=2,
    symptom="none",
    trap=True,
    edits=remove(EVAL_MODE),
    not_on=CARES,
    evidence=(),
    effect="none",
    why=(
        "model.eval() sets a flag that dropout, batch norm and a few other layers read. Linear layers, convolutions, "
        "embeddings, LayerNorm and ReLU compute the same in train mode and in eval mode. A model with only such "
        "layers gives the same outputs, bit for bit."
    ),
    fix="Nothing needs repair. Call model.eval() anyway: the next layer that you add may be dropout.",
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
        "What would you see if the missing call did harm? Look for exactly that.",
        "Evaluate twice, once in train mode and once in eval mode. Compare the outputs to the last bit.",
        "List the layers with print(model). For which layers does the documentation mention the mode?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Run one batch in train mode and in eval mode, and compare the outputs.",
            "The outputs are the same to the last bit.",
            "The outputs differ.",
        ),
        LookAlike(
            "modes/dropout_in_functional_form",
            "Run the same batch twice in eval mode and compare the outputs.",
            "Both outputs are the same.",
            "The outputs differ each time.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html",),
    terms=("layer norm", "eval mode"),
)
