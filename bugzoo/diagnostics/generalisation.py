"""How far apart are training accuracy and validation accuracy?

Both are measured in eval mode with the final weights. Training accuracy comes from the kept batches with the labels used in
training, validation accuracy from the script's own evaluation. Usually training accuracy is a little higher. Far higher: the
model overfits. Lower than validation accuracy: the labels in training are worse than those in validation.
"""

from dataclasses import dataclass

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
VIEW = "evaluation"
TITLE = "Training and validation accuracy"
WHOLE = True  # it cannot judge a training that was cut short
KNOWN_PROBLEMS = (
    "A false positive for strong augmentation, which lowers training accuracy, and for pretraining and a new head in the "
    "same script. "
    "It says nothing about evaluations without cross-entropy or nll_loss, labels that are not one per row, or fewer than "
    "100 kept training labels."
)
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
LEAST = 100


@dataclass(kw_only=True)
class Numbers(Measured):
    """Accuracies between 0 and 1; `samples` is the number of training labels."""

    train_accuracy: float = number("accuracy on the last training batches", "that of the evaluation, or a little above")
    validation_accuracy: float = number("accuracy in the script's evaluation")
    gap: float = number("training accuracy minus validation accuracy", (-0.15, 0.25))
    samples: float


lower = below("gap", -0.18)
higher = above("gap", 0.35)
apart = Alarm(
    lower | higher,
    "The accuracy was measured on both sets. It is {train_accuracy:.0%} on training data and {validation_accuracy:.0%} "
    "on validation data.",
    f"Training accuracy from {-100 * lower.limits['gap']:.0f} points below to {100 * higher.limits['gap']:.0f} above "
    "passes.",
)
ALARMS = (apart,)


def measure(run: Run) -> Numbers:
    """Two accuracies and their difference. Raises NotApplicable without class labels in training and evaluation."""
    evaluation = evaluated(run)
    if not evaluation.pairs or not evaluation.classifies or any(y.ndim != 1 for _, y in evaluation.pairs):
        raise NotApplicable("the script's evaluation computes no cross-entropy with one class label per row")
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
        raise NotApplicable(f"{total} training samples with a class label were kept, and {LEAST} are needed")
    train, validation = right / total, evaluation.accuracy()
    return Numbers(train_accuracy=train, validation_accuracy=validation, gap=train - validation, samples=float(total))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if training accuracy is 0.18 below, or 0.35 above, validation accuracy."""
    text = f"in eval mode accuracy is {numbers.train_accuracy:.0%} on training data "
    text += f"and {numbers.validation_accuracy:.0%} on validation data"
    suspects: tuple[Suspect, ...] = ()
    if lower(numbers):
        text += f" (usually a gap of {Numbers.usual('gap')}): many training labels are wrong"
        suspects = (Suspect("data/label_noise", 0.75, text),)
    elif higher(numbers):
        text += f" (usually a gap of {Numbers.usual('gap')}): the model memorizes its training data"
        suspects = (Suspect("fit/no_regularisation", 0.5, text), Suspect("data/ordered_split", 0.3, text))
    return Verdict("generalisation", bool(suspects), text, numbers.labeled(), suspects)
