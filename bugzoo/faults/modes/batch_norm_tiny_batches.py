"""Since the batch goes through the model in small parts, so that it fits into memory, the validation loss is worse."""

from bugzoo.faults.idioms import EPOCHS
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, rewrite

PARTS = "zip($INPUTS.split($ROWS), $TARGETS.split($ROWS), strict=True)"
SUMMED = """$LOSS = torch.zeros(())
for part, answers in zip($INPUTS.split($rows), $TARGETS.split($rows), strict=True):
    share = F.cross_entropy($MODEL(part), answers) * len(part) / len($INPUTS)
    share.backward()
    $LOSS += share.detach()"""

FAULT = Fault(
    title="BatchNorm over parts of a few rows",
    level=4,
    symptom="degraded",
    params={"rows": Param(2, 1, 2, "rows in a part; one is loudest")},
    edits=Swap(
        "$LOGITS = $MODEL($INPUTS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)\n$LOSS.backward()",
        SUMMED,
        where="self.$NORM = nn.BatchNorm2d($$$SIZE)",
    ),
    evidence=("batch_statistics.rows < 3",),
    effect="metrics.loss > healthy",
    why=(
        "BatchNorm takes its means and variances from the rows that it gets at once. The optimiser's step is that of all 32, "
        "and each pair is normalised by itself: its variances lie 0.3 from those of the average (as a logarithm) instead of "
        "0.13. The answer for an image depends on the one beside it, and what is learnt so does not fit the average that "
        "evaluation uses. Summed gradients are those of the whole batch only where no layer looks across rows. DataParallel "
        "on 16 devices does the same to it."
    ),
    fix="Give BatchNorm more rows at once: larger parts, SyncBatchNorm over devices; or choose GroupNorm from the start.",
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
        "Which layers of this model treat a row differently according to what else is in its batch?",
        "Count the rows that such a layer sees in one call, and compare its numbers for one call with those that it keeps.",
        "Look at the line that calls the model while it trains, and at how often it calls it in one step.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Evaluate the same weights twice, the second time with the validation rows in another order.",
            "Both times the same: `mode_watch.eval_in_train_mode < 0.5`.",
            "Another number: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Count how many rows the model is called with, at once, while it trains.",
            "Two, though the batch has 32.",
            "As many as the batch has.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1803.08494",
        "https://github.com/pytorch/pytorch/issues/19916",
        "https://github.com/microsoft/CNTK/issues/905",
    ),
)
