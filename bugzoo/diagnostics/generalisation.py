"""How right is the model on what it was trained on, and how right on what it never saw?

Both in eval mode, on the weights at the end: the kept training batches with the labels that they were trained with, and the
script's own evaluation. A little better in training is usual. Far better in training: it learns by heart. Better on data that
it never saw: the labels that it was trained with are worse than those that it is judged by.
"""

from typing import Any

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, model_of, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
WHOLE = True  # of a training that was cut short it says nothing
SHOWN = {
    "train_accuracy": ("accuracy on training batches", "about the next number, or a little above"),
    "validation_accuracy": ("accuracy in the evaluation", ""),
    "gap": ("the first less the second", "0 to 0.1"),
}
_TAIL = """\
model.eval()
with torch.no_grad():
    validation_loss = F.cross_entropy(model(inputs), right)
"""
_LAST = "        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n"
_NOISE = "right = targets.clone()\ntargets[:160] = torch.randint(3, (160,))\nmodel = nn"
_PLANE = (("randn(256, 8)", "randn(256, 2)"), ("Linear(8, 32)", "Linear(2, 32)"))
HEALTHY = example((_LAST, _LAST + _TAIL), ("model = nn", "right = targets\nmodel = nn"))
SICK = example((_LAST, _LAST + _TAIL), *_PLANE, ("model = nn", _NOISE))
LEAST, BELOW, ABOVE = 100, -0.18, 0.35


def measure(run: Run) -> dict[str, Any]:
    """Two accuracies and their difference. Raises NotApplicable without class numbers on both sides."""
    found = evaluated(run)
    if not found.pairs or not found.classifies or any(y.ndim != 1 for _, y in found.pairs):
        raise NotApplicable("its evaluation computes no cross-entropy with a class number for each row")
    right = total = 0
    for batch in batches(run):
        y = batch.targets
        if y is None or y.ndim != 1 or y.is_floating_point():
            continue
        with quiet(model_of(run, batch)) as model:
            answers = call(model, batch.args, batch.kwargs)
        if answers.ndim == 2 and len(answers) == len(y):
            right, total = right + int((answers.argmax(-1) == y).sum()), total + len(y)
    if total < LEAST:
        raise NotApplicable(f"{total} training samples with a class number were kept, and {LEAST} are needed")
    train, validation = right / total, found.accuracy()
    return {
        "train_accuracy": train,
        "validation_accuracy": validation,
        "gap": train - validation,
        "samples": float(total),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when the model is right in training 0.18 less often, or 0.35 more often, than in the evaluation."""
    shown = pick(numbers, "train_accuracy", "validation_accuracy", "gap")
    train, validation, gap = (numbers[name] for name in ("train_accuracy", "validation_accuracy", "gap"))
    text = f"in eval mode it is right on {train:.0%} of the training samples, on {validation:.0%} of the evaluation"
    if gap < BELOW:
        text += ": better where it never was, so that many of the labels it was trained with are wrong"
        return Verdict("generalisation", True, text, shown, (Suspect("data/label_noise", 0.75, text),))
    if gap > ABOVE:
        text += ": what it learnt by heart does not carry over"
        suspects = (Suspect("fit/no_regularisation", 0.5, text), Suspect("data/ordered_split", 0.3, text))
        return Verdict("generalisation", True, text, shown, suspects)
    return Verdict("generalisation", False, text, shown)
