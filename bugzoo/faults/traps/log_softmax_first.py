"""The logits go through F.log_softmax() and then into F.cross_entropy(). Is that a double softmax?"""

from bugzoo.faults.idioms import LOSS, OPTIMIZER, STEP, TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, rewrite

LINE = "F.cross_entropy(F.log_softmax($LOGITS, dim=-1), $$$REST)"

FAULT = Fault(
    title="log_softmax before cross-entropy",
    level=3,
    symptom="none",
    trap=True,
    edits=rewrite(LOSS, LOGITS=("$F.log_softmax($LOGITS, dim=-1)", "($LOGITS).log_softmax(dim=-1)")),
    evidence=(),
    effect="none",
    why=(
        "log_softmax is idempotent. The output already sums to one after exp, so the second log_softmax, inside "
        "cross-entropy, subtracts log 1 = 0. The loss and its gradient are the same up to rounding. Only a little "
        "time is lost."
    ),
    fix="Nothing needs repair. Removing the extra call saves a kernel launch.",
    repairs={
        "nll": Swap(LINE, "F.nll_loss(F.log_softmax($LOGITS, dim=-1), $$$REST)"),
        "a look at the validation data": before(
            TRAIN_MODE,
            "if step:\n    model.eval()\n    with torch.no_grad():\n"
            "        right = sum((model(x).argmax(-1) == y).sum().item() for x, y in validation_loader)\n"
            "    print(right / len(validation))",
        ),
        "three times": Swap(LINE, LINE.replace("$LOGITS", "F.log_softmax($LOGITS, dim=-1)")),
    },
    by_counter=("a look at the validation data",),
    pretences={
        "softmax instead": Swap(LINE, "F.cross_entropy(F.softmax($LOGITS, dim=-1), $$$REST)"),
        "weight decay": rewrite(OPTIMIZER, LR="learning_rate, weight_decay=0.1"),
        "a gradient cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)"),
    },
    shown_by=("double_normalisation", "loss_curve"),
    hints=(
        "How would you know that a run is healthy? Write down the signs before you look for a bug.",
        (
            "Run the script with and without the line that you suspect, with the same seed. Compare the losses step "
            "by step."
        ),
        "Work out on paper what the line that looks wrong does to the logits of two classes.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax",
            "Compare the losses step by step with those of a run that is surely correct, with the same seed.",
            "The losses agree up to rounding: `double_normalisation.softmax_before_loss < 0.5`.",
            "The losses soon differ: `double_normalisation.softmax_before_loss > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",),
    terms=("false positive", "cross-entropy", "NLL loss"),
)
