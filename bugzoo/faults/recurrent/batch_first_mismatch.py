"""It learns a little, and the answer to a review depends on which others happen to stand before it in the batch."""

from bugzoo.faults.idioms import PACK, RECURRENT
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, rewrite

LAYER = "self.lstm = nn.LSTM($A, $B, $C)"
WITH = "self.lstm = nn.LSTM($A, $B, $C, batch_first=True)"
READ = "states, _ = self.lstm(embedded)"

FAULT = Fault(
    title="The layer expects the time first and gets the batch first",
    level=3,
    symptom="degraded",
    edits=either(
        (
            rewrite(RECURRENT, PLACE="$NN.$KIND($IN, $SIZE, $LAYERS)", given=PACK),
            Swap(
                "packed = pack_padded_sequence($X, $$$)\n_, (hidden, _) = self.lstm(packed)",
                "states, _ = self.lstm($X)",
            ),
            Swap("hidden[-1]", "states[torch.arange(len(inputs), device=inputs.device), lengths - 1]"),
        ),
        Swap("nn.LSTM($$$A, batch_first=True)", "nn.LSTM($$$A)"),
        Swap("nn.GRU($$$A, batch_first=True)", "nn.GRU($$$A)"),
    ),
    evidence=("company.alone_gap > 0.01",),
    effect="company.alone_gap > healthy",
    why=(
        "Unless told batch_first=True, an LSTM takes the first axis for the time. It then reads the first words of all reviews "
        "of the batch as one sequence, the second words as another: no word ever meets the next one of its own review, and "
        "every answer holds something of the reviews that stand before it. The shapes fit all the same."
    ),
    fix="batch_first=True where the batch comes first, or hand the layer (time, batch, width).",
    repairs={
        "said to the layer": Swap(LAYER, WITH),
        "turned there and back": Swap(READ, "states = self.lstm(embedded.transpose(0, 1))[0].transpose(0, 1)"),
        "packed": Swap(
            READ,
            "packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)\n"
            "states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)",
        ),
    },
    pretences={
        "the axes of the result turned": Swap(
            READ,
            "states = self.lstm(embedded.reshape(embedded.shape[1], -1, embedded.shape[2]))[0].reshape(*embedded.shape[:2], -1)",
        ),
        "the last place": Swap("states[torch.arange(len(inputs), device=inputs.device), lengths - 1]", "states[:, -1]"),
        "a larger layer": Swap(LAYER, "self.lstm = nn.LSTM($A, $B, $C, dropout=0.1)"),
    },
    same_forward=True,
    hints=(
        "Whose words may the answer to a review depend on?",
        "Change one review of a batch and ask for all answers again. Which of them move?",
        "Write the shape beside every line of the forward pass, and what each axis is.",
    ),
    look_alikes=(
        LookAlike(
            "recurrent/lengths_out_of_order",
            "Score a text alone, and then as the first of a batch that is shorter than it is.",
            "The score stays: nothing stands before it.",
            "The score stays too; as the first of longer ones it gets the score of another.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Cut the blanks off a text that is alone in its batch and see whether its score moves.",
            "It stays.",
            "It moves.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html",),
)
