"""The loss is that of guessing and does not fall; the answers become more alike with each epoch."""

from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "-torch.log(F.softmax($LOGITS, dim=-1)).mean()"
ROWS = "torch.arange(len($LOGITS)), targets.flatten()"

FAULT = Fault(
    title="The mean of all log-probabilities in place of the labels' own",
    level=3,
    symptom="stuck",
    edits=rewrite(LOSS, PLACE="-torch.log($F.softmax($LOGITS, dim=-1)).mean()"),
    not_on={
        "amp_transformer": "its loss is a sum over a share of an update, which this edit would make a mean.",
        "data_parallel": "one of several ranks cannot run its step again, which is how this is seen.",
        "sentiment_lstm": "with two classes the wish for both to be alike cannot be told from that for the less likely one.",
        "sequence_classifier": "with two classes the wish for both to be alike cannot be told from that for the less likely one.",
    },
    evidence=("output_gradient.even_share > 0.999",),
    effect="metrics.loss > healthy",
    why=(
        "Cross-entropy is minus the log-probability of the label, one number of each row. The mean over the whole matrix has no "
        "label in it: it is smallest, ln C, where all classes are equally likely, and that is what the model is taught. And the "
        "logarithm of a softmax is -inf as soon as a probability underflows; log_softmax is not."
    ),
    fix="F.cross_entropy(logits, targets); or log_softmax, and of it the numbers at the targets.",
    repairs=instead(
        LINE,
        {
            "cross-entropy": "F.cross_entropy($LOGITS, targets.flatten())",
            "log-softmax and nll": "F.nll_loss(F.log_softmax($LOGITS, dim=-1), targets.flatten())",
            "the labels' own": f"-F.log_softmax($LOGITS, dim=-1)[{ROWS}].mean()",
        },
    ),
    pretences=instead(
        LINE,
        {
            "log_softmax": "-F.log_softmax($LOGITS, dim=-1).mean()",
            "the most likely of each row": "-torch.log(F.softmax($LOGITS, dim=-1)).amin(-1).mean()",
            "the sum of each row": "-torch.log(F.softmax($LOGITS, dim=-1)).sum(-1).mean()",
        },
    )
    | {"a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 10)")},
    shown_by=("overfit_one_batch", "loss_curve"),
    hints=(
        "Exchange the labels of two samples. Does the loss change?",
        "For which answers is this loss as low as it can be?",
        "Read the line of the loss and look for everything that it should depend on.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Give the batch other labels, at random, and compute its loss once more.",
            "It is the same number.",
            "It is another one.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Compare the answers to ten samples before and after the training.",
            "They have become alike: `learning_rate_log.update_ratio > 3e-5`.",
            "They are what they were: `learning_rate_log.update_ratio < 3e-5`.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Ask the gradient of the loss which class it wants to be more likely, in each row.",
            "The least likely ones: `output_gradient.even_share > 0.999`.",
            "The one beside the label: `output_gradient.even_share < 0.999`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",),
)
