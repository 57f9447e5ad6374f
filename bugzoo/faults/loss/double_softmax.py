"""The loss goes down a little and then lies flat, far above zero. Accuracy looks fair, and more epochs do not help."""

from bugzoo.faults.idioms import LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.cross_entropy(F.softmax($LOGITS, dim=-1), $$$REST)"
BARE = "F.cross_entropy(F.softmax($LOGITS, dim=-1), $TARGETS)"

FAULT = Fault(
    title="Softmax before a loss that already contains one",
    level=2,
    symptom="plateau",
    edits=rewrite(LOSS, LOGITS=("$F.softmax($LOGITS, dim=-1)", "($LOGITS).softmax(dim=-1)")),
    evidence=("double_normalisation.softmax_before_loss > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Cross-entropy takes logits and applies log-softmax itself. Fed with probabilities, which lie between 0 and 1, "
        "its own softmax can spread C classes by at most a factor e, so the loss cannot fall below "
        "ln(e + C - 1) - 1: 0.313 nats for two classes, 1.461 for ten. The ranking of the classes is kept, which is why "
        "accuracy may look fine, but the gradient is squeezed twice and vanishes for confident rows, right or wrong."
    ),
    fix="Hand the logits to cross-entropy; use softmax only where probabilities are read. Or log-softmax with NLL loss.",
    repairs=instead(
        LINE,
        {
            "log-softmax and nll": "F.nll_loss(F.log_softmax($LOGITS, dim=-1), $$$REST)",
            "log of softmax and nll": "F.nll_loss(torch.log(F.softmax($LOGITS, dim=-1) + 1e-12), $$$REST)",
        },
    )
    | instead(
        BARE,
        {
            "by hand": "(torch.logsumexp($LOGITS, 1) - $LOGITS.gather(1, ($TARGETS)[:, None]).squeeze(1)).mean()",
            "probabilities as targets": "F.cross_entropy($LOGITS, torch.eye($LOGITS.shape[-1])[$TARGETS])",
            "a distribution": "-torch.distributions.Categorical(logits=$LOGITS).log_prob($TARGETS).mean()",
        },
    )
    | {
        "criterion object": (
            Swap("step = 0", "criterion = nn.CrossEntropyLoss()\nstep = 0"),
            Swap(BARE, "criterion($LOGITS, $TARGETS)"),
        ),
        "the model gives log-probabilities": (
            Swap("return self.head($H)", "return F.log_softmax(self.head($H), dim=-1)"),
            Swap(LINE, "F.nll_loss($LOGITS, $$$REST)"),
        ),
    },
    pretences=instead(
        LINE,
        {
            "sharper": "F.cross_entropy(F.softmax(4 * $LOGITS, dim=-1), $$$REST)",
            "floor taken off": f"{LINE} - 1.461",
            "the same in other words": "F.cross_entropy($LOGITS.exp() / $LOGITS.exp().sum(-1, keepdim=True), $$$REST)",
            "a sigmoid": "F.cross_entropy(torch.sigmoid($LOGITS), $$$REST)",
        },
    ),
    shown_by=("initial_loss", "overfit_one_batch"),
    hints=(
        "Which loss would a perfect classifier reach, and which does this one reach on a single batch?",
        "Print the numbers that enter the loss. In which range do they lie, and what does a row add up to?",
        "Read the line in the training loop that computes the loss, next to what its documentation asks for.",
    ),
    look_alikes=(
        LookAlike(
            "data/label_noise",
            "Train on one batch alone, again and again, and see whether its loss goes to zero.",
            "It stops at the floor of the whole training.",
            "It goes to zero: one batch can be learnt by heart.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Train for three times as many epochs and see whether the loss goes on falling.",
            "It lies on the same floor.",
            "It goes on falling.",
        ),
        LookAlike(
            "traps/log_softmax_first",
            "Add up the rows of what enters the loss, as they are and after exp().",
            "As they are they add up to 1: `double_normalisation.softmax_before_loss > 0.5`.",
            "After exp() they do: `double_normalisation.softmax_before_loss < 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
)
