"""The loss falls a little, then plateaus far above zero. Accuracy looks fine, and more epochs do not help."""

from bugzoo.faults.idioms import LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.cross_entropy(F.softmax($LOGITS, dim=-1), $$$REST)"
BARE = "F.cross_entropy(F.softmax($LOGITS, dim=-1), $TARGETS)"

FAULT = Fault(
    title="Softmax before cross-entropy",
    level=2,
    symptom="plateau",
    edits=rewrite(LOSS, LOGITS=("$F.softmax($LOGITS, dim=-1)", "($LOGITS).softmax(dim=-1)")),
    evidence=("double_normalisation.softmax_before_loss > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Cross-entropy expects logits and applies log-softmax itself. Probabilities are between 0 and 1, so the "
        "second softmax can favor one class by at most a factor e. The loss cannot fall below ln(e + C - 1) - 1: "
        "0.313 nats for two classes, 1.461 for ten. The ranking of the classes is kept, so accuracy may look fine. "
        "The gradient shrinks in both softmaxes and vanishes for confident rows, right or wrong."
    ),
    fix=(
        "Pass the logits to F.cross_entropy, and use softmax only where you read probabilities. F.log_softmax with "
        "F.nll_loss works too."
    ),
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
        (
            "Which loss would a perfect classifier reach? Which loss does this model reach when you train on a "
            "single batch?"
        ),
        "Print the tensor that enters the loss. In which range are its values, and what does each row sum to?",
        "Read the line that computes the loss, next to what its documentation asks for.",
    ),
    look_alikes=(
        LookAlike(
            "data/label_noise",
            "Train on one batch only, again and again, and check whether its loss goes to zero.",
            "The loss of one batch stops at the same floor as the whole training.",
            "The loss of one batch goes to zero: the model can memorize it.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Train for three times as many epochs and check whether the loss keeps falling.",
            "The loss stays at the same floor.",
            "The loss keeps falling.",
        ),
        LookAlike(
            "traps/log_softmax_first",
            "Sum each row of the tensor that enters the loss, as it is and after exp().",
            "The rows sum to 1 as they are: `double_normalisation.softmax_before_loss > 0.5`.",
            "The rows sum to 1 after exp(): `double_normalisation.softmax_before_loss < 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
    cause=Cause(
        also=("double softmax", "softmax twice", "softmax before cross entropy"),
        explains=("optimizer/", "initialisation/"),
    ),
    terms=("cross-entropy", "logits", "plateau", "probabilities", "softmax"),
    beside={
        "mlp": (
            "data/labels_out_of_sync",
            "freezing/frozen_layers",
            "freezing/frozen_layers + memory/losses_kept_with_graph",
        )
    },
)
