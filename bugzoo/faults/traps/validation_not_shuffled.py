"""The validation data is sorted by class and is not shuffled. Can I trust the accuracy?"""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, either

PLACE = "validation_loader = DataLoader(TensorDataset($X[validation], $Y[validation]), batch_size=$N{})"
SORTED = "validation = validation[$Y[validation].argsort()]\n"

FAULT = Fault(
    title="Validation loader with shuffle=False",
    level=2,
    symptom="none",
    trap=True,
    edits=Swap(PLACE.format(""), SORTED + PLACE.format(", shuffle=False")),
    evidence=(),
    effect="none",
    why=(
        "Shuffling matters in training: without it, many steps in a row pull the model toward one class. Evaluation "
        "takes no steps, and its metrics are sums over all samples. A sum does not depend on the order. In eval mode "
        "a sample's output does not depend on the rest of its batch either."
    ),
    fix="Nothing needs repair. With a fixed order you can compare two evaluations sample by sample.",
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
    shown_by=("batch_order", "validation_shift"),
    hints=(
        "What would change if the same samples came in another order? Try two samples on paper.",
        "Put the validation samples in a random order once and compare the metrics.",
        "Which loops of the script take a step after each batch, and which only add something up?",
    ),
    look_alikes=(
        LookAlike(
            "data/no_shuffle",
            "Count the classes in one batch of each of the two loaders.",
            "Training batches contain many classes. Only the validation batches are sorted.",
            "A training batch contains one or two classes.",
        ),
        LookAlike(
            "data/ordered_split",
            "Count how often each class appears in the training set and in the validation set.",
            "Each class appears about equally often in both: `validation_shift.label_distance < 0.3`.",
            "Some classes appear in only one of the two sets: `validation_shift.label_distance > 0.3`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/data.html",),
    terms=("false positive", "shuffle", "validation set"),
)
