"""The loss of a batch barely falls, although each review is read correctly when it is scored alone."""

from bugzoo.faults.idioms import PACK
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, rewrite

SORTED = "longest_first, rows = lengths.sort(descending=True)"
READ = "_, (hidden, _) = self.lstm(packed)"

FAULT = Fault(
    title="Sorted by length for packing, and never put back",
    level=3,
    symptom="degraded",
    edits=(
        before(PACK, "longest_first, rows = lengths.sort(descending=True)"),
        rewrite(PACK, PLACE="pack_padded_sequence($INPUTS[rows], longest_first.cpu(), batch_first=True)"),
    ),
    evidence=("dependency.batch_leak > 0.01",),
    effect="dependency.batch_leak > healthy",
    why=(
        "pack_padded_sequence used to demand the longest sequence first, and still does unless told enforce_sorted=False. Who "
        "sorts the reviews gets their states in that order; beside labels in the old one, 31 of 32 states of a batch belong to "
        "another review. Alone, in a batch of one, a review is scored correctly, which is how it is usually tried."
    ),
    fix="enforce_sorted=False, which sorts and puts back; or put the states back: hidden[:, rows.argsort()].",
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
        "Which row of the answer belongs to which row of the question?",
        "Score two texts in both orders. Do the scores change places with them?",
        "Mark in the forward pass every line that changes the order of the rows, and the one that undoes it.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Score one text alone, and then as one of a batch of others.",
            "The score is another one.",
            "The score is the same.",
        ),
        LookAlike(
            "recurrent/batch_first_mismatch",
            "Score a text alone, and then as the first of a batch that is longer than it is.",
            "It gets the score of another one.",
            "The score stays: nothing stands before it.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
        "https://github.com/pytorch/pytorch/issues/4927",
    ),
)
