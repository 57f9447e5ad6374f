"""Does the validation set share samples with the training set?

Every sample of the loader that the evaluation reads is looked up among those of the loader that the training reads. The model may
have memorized a sample that it was trained on, so this sample says nothing about new data. Short texts and coarse images repeat,
so a few shared samples are usual.
"""

from dataclasses import dataclass

from bugzoo.diagnostics._data import rows, training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import share
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.running.result import Run

COST = 1
VIEW = "evaluation"
TITLE = "Validation examples"
KNOWN_PROBLEMS = (
    "A false positive where the evaluation reads the training loader last on purpose, or where short inputs repeat "
    "in over 40 % of samples. "
    "It compares bytes of the first 4000 samples: near-duplicates, augmented copies and other samples of one patient "
    "stay unseen."
)
_LOADERS = (
    ("import torch\nimport", "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\nimport"),
    ("model = nn", "train_loader = DataLoader(TensorDataset(inputs[:200], targets[:200]), 32, shuffle=True)\n"
     "validation_loader = DataLoader(TensorDataset(inputs[200:], targets[200:]), 32)\nmodel = nn"),
    ("for rows in torch.randperm(256).split(32):", "for some, classes in train_loader:"),
    ("model(inputs[rows])", "model(some)"),
    ("targets[rows])", "classes)"),
    ("        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n",
     "        pass\nmodel.eval()\nwith torch.no_grad():\n    for some, classes in validation_loader:\n"
     "        validation_loss = F.cross_entropy(model(some), classes)\n"),
)  # fmt: skip
HEALTHY = example(*_LOADERS)
SICK = example(*_LOADERS[:5], (_LOADERS[5][0], _LOADERS[5][1].replace("in validation_loader", "in train_loader")))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts, and a share between 0 and 1; `same_loader` is 1 if the evaluation reads the training data set."""

    trained: float = number("training samples that were compared")
    validated: float = number("validation samples that were compared")
    shared: float = number("share of validation samples that are training samples too", (0, 0.1))
    same_loader: float


overlap = Alarm(
    above("shared", 0.4),
    "The training data was searched for {validated:.0f} validation examples. {shared:.0%} of them are there.",
    "At most {limits[shared]:.0%} passes; {usual[shared]} is usual.",
)
ALARMS = (overlap,)


def measure(run: Run) -> Numbers:
    """Shares of samples. Raises NotApplicable where training or evaluation reads no DataLoader with a length."""
    loader = training_loader(run)
    if loader is None:
        raise NotApplicable("the training loop reads no DataLoader, so its samples cannot be listed")
    loaders = evaluated(run).loaders
    if not loaders:
        raise NotApplicable("the evaluation reads no DataLoader, so its samples cannot be listed")
    trained, _ = rows(loader.dataset)
    validated, _ = rows(loaders[-1].dataset)
    if not trained or not validated:
        raise NotApplicable("the training set or the validation set has no samples")
    samples = set(trained)
    return Numbers(
        trained=float(len(trained)),
        validated=float(len(validated)),
        shared=sum(sample in samples for sample in validated) / len(validated),
        same_loader=float(loaders[-1].dataset is loader.dataset),
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires when more than 40 % of the validation samples were trained on."""
    text = (
        f"{share(numbers.shared)} of {numbers.validated:.0f} validation samples are also training samples "
        f"(usually {Numbers.usual('shared')})"
    )
    cause = "fit/metric_on_train_set" if numbers.same_loader else "data/leaky_split"
    suspects = (Suspect(cause, 0.85, text),) if overlap(numbers) else ()
    return Verdict("train_validation_overlap", bool(suspects), text, numbers.labeled(), suspects)
