"""After ten epochs nearly all training samples are right, but half the validation samples are wrong. Why train on?"""

from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE, STEP, TRAIN_LOOP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, rewrite

LOADER = "validation_loader = DataLoader(TensorDataset($PAIRS[validation], $SUMS[validation]), $$$REST)"
RIGHT = """


@torch.no_grad()
def right(some):
    return (model($PAIRS[some].to(device)).argmax(-1) == $SUMS[some].to(device)).float().mean().item()"""
LOOK = (
    "if epoch % 5 == 4:\n"
    '    print(f"epoch {epoch + 1}: {right(train):.2f} right in training, {right(validation):.2f} in validation")'
)

FAULT = Fault(
    title="Grokking: validation accuracy catches up late",
    level=4,
    symptom="none",
    trap=True,
    edits=(Swap(LOADER, LOADER + RIGHT, where="torch.cartesian_prod($$$TABLES)"), after(TRAIN_LOOP, LOOK)),
    evidence=(),
    effect="none",
    why=(
        "Memorizing a table of sums is quick, while learning its rule needs smaller weights. Both ways fit the "
        "training data. Weight decay decides: once the training loss is almost zero, it keeps shrinking what is only "
        "memorized. So validation accuracy rises later (grokking): 0.50 against 0.90 in training after ten epochs, "
        "1.00 for both after thirty. Judge the gap at the last epoch, not at an early one."
    ),
    fix="Nothing needs repair. Train to the end: do not stop early, and do not shrink the model.",
    repairs={
        "not printed": Swap("if epoch % 5 == 4:\n    $SAID", "pass"),
        "in every epoch": Swap("epoch % 5 == 4", "epoch >= 0"),
    },
    by_counter=("in every epoch",),
    pretences={
        "stopped early": rewrite(EPOCHS, COUNT="12"),
        "a quarter of the rate": rewrite(LEARNING_RATE, LR="fold($LR * 0.25)"),
        # not the usual limit of 0.1: Adam divides by the size of the gradient, so 0.1 does no harm here
        "clipping": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-8)"),
        "a narrower network": Swap("width = $WIDTH", "width = fold($WIDTH // 2)"),
    },
    shown_by=("generalisation", "loss_curve"),
    hints=(
        "How do the two accuracies continue from there? Do not judge by one epoch.",
        "Plot both accuracies over the epochs, up to the last one.",
        "What still changes the weights when the training loss is almost zero?",
    ),
    look_alikes=(
        LookAlike(
            "fit/no_regularisation",
            "Compare training and validation accuracy once more after the last epoch.",
            "The two accuracies are equal or nearly equal: `generalisation.gap < 0.35`.",
            "The two accuracies are as far apart as before: `generalisation.gap > 0.35`.",
        ),
        LookAlike(
            "data/ordered_split",
            "Count how often each class appears in the training set and in the validation set.",
            "Each class appears about equally often in both.",
            "Some classes appear in only one of the two sets.",
        ),
    ),
    sources=("https://arxiv.org/abs/2201.02177",),
    terms=("generalization gap", "overfitting"),
)
