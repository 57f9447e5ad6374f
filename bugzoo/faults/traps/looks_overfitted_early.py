"""After ten epochs the training data is all but known by heart, and half of the validation data is wrong. Why go on?"""

from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE, STEP, TRAIN_LOOP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, rewrite

LOADER = "validation_loader = DataLoader(TensorDataset($PAIRS[validation], $SUMS[validation]), $$$REST)"
RIGHT = """


@torch.no_grad()
def right(some):
    return (model($PAIRS[some]).argmax(-1) == $SUMS[some]).float().mean().item()"""
LOOK = (
    "if epoch % 5 == 4:\n"
    '    print(f"epoch {epoch + 1}: {right(train):.2f} right in training, {right(validation):.2f} in validation")'
)

FAULT = Fault(
    title="Overfitted at first, and right in the end",
    level=4,
    symptom="none",
    trap=True,
    edits=(Swap(LOADER, LOADER + RIGHT, where="torch.cartesian_prod($$$TABLES)"), after(TRAIN_LOOP, LOOK)),
    evidence=(),
    effect="none",
    why=(
        "A table of sums can be learnt in two ways: by heart, which is quick, and by its rule, which needs smaller weights. "
        "The training data does not tell the two apart, weight decay does: it goes on taking from what is by heart when the "
        "loss has nothing left to say. So the accuracy on new pairs climbs behind that on known ones: after ten epochs 0.50 "
        "against 0.90, after thirty 1.00 both. The gap of an early epoch is no verdict; that of the last one is."
    ),
    fix="Nothing needs repair but patience: neither a stop nor a smaller model.",
    repairs={
        "not printed": Swap("if epoch % 5 == 4:\n    $SAID", "pass"),
        "in every epoch": Swap("epoch % 5 == 4", "epoch >= 0"),
    },
    pretences={
        "stopped early": rewrite(EPOCHS, COUNT="12"),
        "a quarter of the rate": rewrite(LEARNING_RATE, LR="fold($LR * 0.25)"),
        # in place of everybody's limit of 0.1: Adam divides by the size of the gradient, and that one does no harm here
        "clipping": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-8)"),
        "a narrower network": Swap("width = $WIDTH", "width = fold($WIDTH // 2)"),
    },
    shown_by=("generalisation", "loss_curve"),
    hints=(
        "How do the two accuracies go on from there? Do not judge by one epoch.",
        "Draw both over the epochs, to the end.",
        "Ask what still pulls at the weights when the training loss is almost nothing.",
    ),
    look_alikes=(
        LookAlike(
            "fit/no_regularisation",
            "Compare the two accuracies once more after the last epoch.",
            "They have met, or nearly: `generalisation.gap < 0.35`.",
            "They lie as far apart as before: `generalisation.gap > 0.35`.",
        ),
        LookAlike(
            "data/ordered_split",
            "Count how often each class comes in the training half and in the other one.",
            "About equally often.",
            "Some classes come in one of them alone.",
        ),
    ),
    sources=("https://arxiv.org/abs/2201.02177",),
)
