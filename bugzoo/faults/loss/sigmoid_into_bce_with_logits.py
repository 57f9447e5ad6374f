"""A two-class loss that was 0.69 at the start never gets below 0.5, however long it is trained."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

GAP = "$LOGITS[:, 1] - $LOGITS[:, 0]"
LINE = f"F.binary_cross_entropy_with_logits(torch.sigmoid({GAP}), $TARGETS.float())"

FAULT = Fault(
    title="Sigmoid before a loss that already contains one",
    level=2,
    symptom="plateau",
    edits=Swap("F.cross_entropy($LOGITS, $TARGETS)", LINE, where="self.head = nn.Linear($SIZE, 2)"),
    evidence=("double_normalisation.sigmoid_before_loss > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "binary_cross_entropy_with_logits applies the sigmoid itself. A number that has been through one already lies between "
        "0 and 1, and the second one makes 0.50 to 0.73 of that: a sure yes costs 0.31 nats, a sure no still 0.69. With as many "
        "of each no loss gets below 0.50, and the gradient of sure answers is squeezed twice."
    ),
    fix="Hand the logits to the loss with logits, or probabilities to the one without.",
    repairs=instead(
        LINE,
        {
            "logits": f"F.binary_cross_entropy_with_logits({GAP}, $TARGETS.float())",
            "probabilities to the plain one": f"F.binary_cross_entropy(torch.sigmoid({GAP}), $TARGETS.float())",
            "log-softmax and nll": "F.nll_loss(F.log_softmax($LOGITS, dim=-1), $TARGETS)",
        },
    ),
    pretences=instead(
        LINE,
        {
            "steeper": f"F.binary_cross_entropy_with_logits(torch.sigmoid(5 * ({GAP})), $TARGETS.float())",
            "floor taken off": f"{LINE} - 0.5",
        },
    )
    | {"a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 2)")},
    shown_by=("overfit_one_batch",),
    hints=(
        "Which loss would somebody reach here who is always right and always sure?",
        "Print what enters the loss. Between which numbers does it lie?",
        "Read the name of the loss function to its end, and then what it is given.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax",
            "Name the function that the numbers went through last, before they enter the loss.",
            "One that treats each alone: `double_normalisation.sigmoid_before_loss > 0.5`.",
            "One that makes rows sum to 1: `double_normalisation.softmax_before_loss > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Train for three times as many epochs and see whether the loss goes on falling.",
            "It lies on the same floor.",
            "It goes on falling.",
        ),
        LookAlike(
            "data/label_noise",
            "Train on one batch alone, again and again, and see whether its loss goes to zero.",
            "It stops at the floor of the whole training.",
            "It goes to zero: one batch can be learnt by heart.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",),
)
