"""The model learns a little. A review's prediction depends on which reviews come before it in the batch."""

from bugzoo.faults import words
from bugzoo.faults.idioms import PACK, RECURRENT
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, rewrite

LAYER = "self.lstm = nn.LSTM($A, $B, $C)"
WITH = "self.lstm = nn.LSTM($A, $B, $C, batch_first=True)"
READ = "states, _ = self.lstm(embedded)"

FAULT = Fault(
    title="Missing batch_first=True in nn.LSTM",
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
    evidence=("batch_independence.alone_gap > 0.01",),
    effect="batch_independence.alone_gap > healthy",
    why=(
        "Without batch_first=True, an LSTM reads the first axis as time. It treats the first words of all reviews in "
        "the batch as one sequence, and the second words as another. The LSTM never connects a word with the next "
        "word of the same review. Each hidden state also contains information from the earlier reviews in the batch. "
        "The shapes still fit, so PyTorch raises no error."
    ),
    fix=(
        "Pass batch_first=True to nn.LSTM when the batch axis comes first. Or transpose the input to (time, batch, "
        "width)."
    ),
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
        "Pass one review alone, then as the last row of a batch. Are the review's logits the same?",
        "Change one review of a batch and run the forward pass again. Which other rows get new logits?",
        (
            "Write the shape next to every line of forward(), and what each axis means. Compare with each layer's "
            "documentation."
        ),
    ),
    look_alikes=(
        LookAlike(
            "recurrent/lengths_out_of_order",
            "Compute one text's logits alone, then as the first row of a batch of longer texts.",
            "The logits stay the same, because no text comes before the first row.",
            "The first row gets the logits of another text.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Remove the padding tokens from a text that is alone in its batch. Do the logits change?",
            "The logits stay the same.",
            "The logits change.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html",),
    cause=Cause(words.DIMENSION),
    terms=("hidden state",),
)
