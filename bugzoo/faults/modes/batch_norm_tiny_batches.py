"""Since the batch goes through the model in small parts, to fit into memory, the validation loss is worse."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EPOCHS
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, rewrite

PARTS = "zip($INPUTS.split($ROWS), $TARGETS.split($ROWS), strict=True)"
SUMMED = """$LOSS = torch.zeros((), device=$INPUTS.device)
for part, answers in zip($INPUTS.split($rows), $TARGETS.split($rows), strict=True):
    share = F.cross_entropy($MODEL(part), answers) * len(part) / len($INPUTS)
    share.backward()
    $LOSS += share.detach()"""

FAULT = Fault(
    title="BatchNorm on tiny micro-batches",
    level=4,
    symptom="degraded",
    params={"rows": Param(2, 1, 2, "rows in a micro-batch (the effect is strongest with 1)")},
    edits=Swap(
        "$LOGITS = $MODEL($INPUTS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)\n$LOSS.backward()",
        SUMMED,
        where="self.$NORM = nn.BatchNorm2d($$$SIZE)",
    ),
    evidence=("batch_statistics.rows < 3",),
    effect="metrics.loss > healthy",
    why=(
        "BatchNorm computes mean and variance from the rows of one forward call: here two, while the optimizer step "
        "uses all 32. The log variances of two rows are 0.3 away from the running average, instead of 0.13. The output "
        "for an image depends on the image beside it, and the learned weights do not fit the running statistics of "
        "eval mode. Gradient accumulation equals one full batch only if no layer mixes rows. DataParallel on 16 "
        "devices has the same effect."
    ),
    fix=(
        "Give BatchNorm more rows per call: larger micro-batches, or SyncBatchNorm across devices. Or use GroupNorm "
        "from the start."
    ),
    repairs=instead(
        PARTS,
        {
            "two halves": "zip($INPUTS.chunk(2), $TARGETS.chunk(2), strict=True)",
            "sixteen at once": PARTS.replace("$ROWS", "16"),
            "all at once": "[($INPUTS, $TARGETS)]",
        },
    )
    | {
        "groups of channels": (
            Swap("self.norm1 = nn.BatchNorm2d($N)", "self.norm1 = nn.GroupNorm(4, $N)"),
            Swap("self.norm2 = nn.BatchNorm2d($N)", "self.norm2 = nn.GroupNorm(4, $N)"),
        )
    },
    pretences=instead(
        PARTS,
        {
            "each by itself": PARTS.replace("$ROWS", "1"),
            "other neighbours": "zip($INPUTS.flip(0).split($ROWS), $TARGETS.flip(0).split($ROWS), strict=True)",
        },
    )
    | {
        "a slower average": (
            Swap("self.norm1 = nn.BatchNorm2d($N)", "self.norm1 = nn.BatchNorm2d($N, momentum=0.01)"),
            Swap("self.norm2 = nn.BatchNorm2d($N)", "self.norm2 = nn.BatchNorm2d($N, momentum=0.01)"),
        ),
        "longer": rewrite(EPOCHS, COUNT="fold($COUNT * 2)"),
        "less dropout": Swap("dropout = 0.4", "dropout = 0.2"),
    },
    own_forward=True,
    hints=(
        "Which layers of this model treat a row differently depending on what else is in its batch?",
        (
            "Count the rows that such a layer sees in one training call. Compare the mean and variance of those rows "
            "with the running statistics."
        ),
        "Find the line that calls the model during training. How often does this line run within one optimizer step?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Evaluate the same weights twice, the second time with the validation rows in another order.",
            "Both evaluations give the same number: `mode_watch.eval_in_train_mode < 0.5`.",
            "The second evaluation gives another number: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Count the rows that the model gets in one forward call during training.",
            "The model gets two rows, though the batch has 32.",
            "The model gets as many rows as the batch has.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1803.08494",
        "https://github.com/pytorch/pytorch/issues/19916",
        "https://github.com/microsoft/CNTK/issues/905",
    ),
    cause=Cause(words.NORMALIZATION, also=("normalisation", "normalization", "batch norm")),
    terms=("micro-batch", "batch norm", "running statistics"),
    beside={"digits_cnn": ("traps/validation_not_shuffled",)},
)
