"""The validation data comes sorted by class and is not shuffled. Is the accuracy that it gives to be trusted?"""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, either

PLACE = "validation_loader = DataLoader(TensorDataset($X[validation], $Y[validation]), batch_size=$N{})"
SORTED = "validation = validation[$Y[validation].argsort()]\n"

FAULT = Fault(
    title="Validation data in order, not shuffled",
    level=2,
    symptom="none",
    trap=True,
    edits=Swap(PLACE.format(""), SORTED + PLACE.format(", shuffle=False")),
    evidence=(),
    effect="none",
    why=(
        "Shuffling keeps the steps of a training from leaning to one class for a while. An evaluation makes no steps: its "
        "numbers are sums over all samples, and a sum does not ask for the order. In eval mode no answer depends on its "
        "neighbours in the batch either."
    ),
    fix="Nothing needs repair. A fixed order makes two evaluations easy to compare, sample by sample.",
    repairs={
        "shuffled": Swap(PLACE.format(", shuffle=False"), PLACE.format(", shuffle=True")),
        "sorted the other way": Swap(
            "validation[$Y[validation].argsort()]", "validation[$Y[validation].argsort(descending=True)]"
        ),
    },
    pretences={
        "the training in order as well": either(
            Swap("DataLoader($D, $BATCH, shuffle=True)", "DataLoader($D, $BATCH, shuffle=False)"),
            Swap(
                "DataLoader($D, $BATCH, shuffle=True, $LAST=$GIVEN)",
                "DataLoader($D, $BATCH, shuffle=False, $LAST=$GIVEN)",
            ),
        ),
        "trained on the first half": Swap(
            "TensorDataset($X[train], $Y[train])", "TensorDataset($X[train[:500]], $Y[train[:500]])"
        ),
        "a gradient cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)"),
    },
    shown_by=("batch_mix", "validation_shift"),
    hints=(
        "What would be different if the same samples came in another order? Work it out for two of them.",
        "Shuffle it once and compare the metrics.",
        "Ask which loops of the program take a step after each batch, and which only add something up.",
    ),
    look_alikes=(
        LookAlike(
            "data/no_shuffle",
            "Count the classes in a batch of each of the two loaders.",
            "Training batches hold a bit of everything, only the validation is sorted.",
            "A training batch holds one class or two.",
        ),
        LookAlike(
            "data/ordered_split",
            "Count how often each class comes in the training half and in the other one.",
            "About equally often: `validation_shift.label_distance < 0.3`.",
            "Some classes come in one of them alone: `validation_shift.label_distance > 0.3`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/data.html",),
)
