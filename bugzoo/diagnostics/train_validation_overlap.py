"""Does the validation set share samples with the training set?

Every sample of the loader that the evaluation reads is looked up among those of the loader that the training reads. The model may
have memorized a sample that it was trained on, so this sample says nothing about new data. Short texts and coarse images repeat,
so a few shared samples are usual.
"""

from typing import Any

from bugzoo.diagnostics._data import rows, training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "shared": ("share of validation samples that are training samples too", "0 to 0.1"),
    "validated": ("validation samples that were compared", ""),
    "trained": ("training samples that were compared", ""),
}
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
MUCH = 0.4


def measure(run: Run) -> dict[str, Any]:
    """Shares of samples. Raises NotApplicable where training or evaluation reads no DataLoader with a length."""
    loader = training_loader(run)
    if loader is None:
        raise NotApplicable("the training loop reads no DataLoader, so its samples cannot be listed")
    found = evaluated(run).loaders
    if not found:
        raise NotApplicable("the evaluation reads no DataLoader, so its samples cannot be listed")
    known, _ = rows(loader.dataset)
    asked, _ = rows(found[-1].dataset)
    if not known or not asked:
        raise NotApplicable("the training set or the validation set has no samples")
    trained = set(known)
    return {
        "shared": sum(one in trained for one in asked) / len(asked),
        "same_loader": float(found[-1].dataset is loader.dataset),
        "validated": float(len(asked)),
        "trained": float(len(known)),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when more than 40 % of the validation samples were trained on."""
    shown = pick(numbers, "shared", "validated", "trained")
    text = (
        f"{share(numbers['shared'])} of {numbers['validated']:.0f} validation samples are also training samples "
        "(usually near 0)"
    )
    if numbers["shared"] <= MUCH:
        return Verdict("train_validation_overlap", False, text, shown)
    cause = "fit/metric_on_train_set" if numbers["same_loader"] else "data/leaky_split"
    return Verdict("train_validation_overlap", True, text, shown, (Suspect(cause, 0.85, text),))
