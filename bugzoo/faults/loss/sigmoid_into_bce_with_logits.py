"""The two-class loss starts at 0.69 and never falls below 0.5, however long the model trains."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

GAP = "$LOGITS[:, 1] - $LOGITS[:, 0]"
LINE = f"F.binary_cross_entropy_with_logits(torch.sigmoid({GAP}), $TARGETS.float())"

FAULT = Fault(
    title="Sigmoid before BCEWithLogitsLoss",
    level=2,
    symptom="plateau",
    edits=Swap("F.cross_entropy($LOGITS, $TARGETS)", LINE, where="self.head = nn.Linear($SIZE, 2)"),
    evidence=("double_normalisation.sigmoid_before_loss > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "binary_cross_entropy_with_logits applies the sigmoid itself. A first sigmoid already gives values between "
        "0 and 1, and the second one maps these to 0.50 to 0.73. A confident yes costs 0.31 nats, and a confident "
        "no still costs 0.69. With balanced classes no loss gets below 0.50. The gradient of confident outputs "
        "shrinks in both sigmoids."
    ),
    fix="Pass the logits to F.binary_cross_entropy_with_logits, or pass probabilities to F.binary_cross_entropy.",
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
        "Which loss would a model reach here if it were always right and always confident?",
        "Print the tensor that enters the loss. Between which values is it?",
        "Read the name of the loss function to its end. Then look at the tensor that the function gets.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax",
            "Name the last function that the outputs go through before they enter the loss.",
            "The function acts on each value alone: `double_normalisation.sigmoid_before_loss > 0.5`.",
            "The function makes each row sum to 1: `double_normalisation.softmax_before_loss > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Train for three times as many epochs and check whether the loss keeps falling.",
            "The loss stays at the same floor.",
            "The loss keeps falling.",
        ),
        LookAlike(
            "data/label_noise",
            "Train on one batch only, again and again, and check whether its loss goes to zero.",
            "The loss of one batch stops at the same floor as the whole training.",
            "The loss of one batch goes to zero: the model can memorize it.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",),
    cause=Cause(also=("double sigmoid", "sigmoid twice")),
    terms=("binary cross-entropy (BCE)", "logits"),
)
