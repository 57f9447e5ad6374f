"""The training loss barely falls. A review alone in a batch still goes through the model correctly."""

from bugzoo.faults import words
from bugzoo.faults.idioms import PACK
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, rewrite

SORTED = "longest_first, rows = lengths.sort(descending=True)"
READ = "_, (hidden, _) = self.lstm(packed)"

FAULT = Fault(
    title="Missing unsort after sorting for pack_padded_sequence",
    level=3,
    symptom="degraded",
    edits=(
        before(PACK, "longest_first, rows = lengths.sort(descending=True)"),
        rewrite(PACK, PLACE="pack_padded_sequence($INPUTS[rows], longest_first.cpu(), batch_first=True)"),
    ),
    evidence=("batch_independence.batch_leak > 0.01",),
    effect="batch_independence.batch_leak > healthy",
    why=(
        "pack_padded_sequence expects the longest sequence first, unless you pass enforce_sorted=False. Code that "
        "sorts the reviews gets the hidden states in sorted order. The labels keep the old order, so 31 of 32 states "
        "in a batch belong to another review. A batch of one review is always in order. So a manual test with one "
        "review finds nothing wrong."
    ),
    fix=(
        "Pass enforce_sorted=False: PyTorch then sorts and restores the order itself. Or restore the order yourself: "
        "hidden[:, rows.argsort()]."
    ),
    repairs={
        "put back": Swap(READ, f"{READ}\nhidden = hidden[:, rows.argsort()]"),
        "put back by an index": Swap(
            READ,
            f"{READ}\nback = torch.empty_like(rows)\nback[rows] = torch.arange(len(rows))\nhidden = hidden[:, back]",
        ),
        "not sorted": (
            Swap(SORTED, ""),
            Swap(
                "pack_padded_sequence($X[rows], longest_first.cpu(), batch_first=True)",
                "pack_padded_sequence($X, lengths.cpu(), batch_first=True, enforce_sorted=False)",
            ),
        ),
    },
    pretences={
        "sorted once more": Swap(READ, f"{READ}\nhidden = hidden[:, rows]"),
        "turned round": Swap(READ, f"{READ}\nhidden = hidden.flip(1)"),
        "shortest first": Swap(READ, f"{READ}\nhidden = hidden[:, lengths.argsort()]"),
    },
    same_forward=True,
    hints=(
        "Which input row does each row of the logits belong to?",
        "Pass two reviews of different lengths in both orders. Do the logits swap places too?",
        "Mark every line of forward() that changes the order of the rows. Which line changes it back?",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Compute one text's logits alone, then inside a batch of other texts.",
            "The logits change.",
            "The logits stay the same.",
        ),
        LookAlike(
            "recurrent/batch_first_mismatch",
            "Compute one text's logits alone, then as the first row of a batch of longer texts.",
            "The first row gets the logits of another text.",
            "The logits stay the same, because no text comes before the first row.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
        "https://github.com/pytorch/pytorch/issues/4927",
    ),
    cause=Cause(words.DATA),
    terms=("packed sequence", "collate function"),
)
