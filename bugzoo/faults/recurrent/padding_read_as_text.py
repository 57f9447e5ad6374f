"""A review's prediction changes beside a longer review. Short reviews get the worst predictions."""

from bugzoo.faults.idioms import PACK
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

READ = "packed = embedded\n_, (hidden, _) = self.lstm(packed)"
PACKED = "nn.utils.rnn.pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)"

FAULT = Fault(
    title="Missing pack_padded_sequence before the LSTM",
    level=3,
    symptom="degraded",
    edits=rewrite(PACK, PLACE="$INPUTS"),
    evidence=("dependency.padding_leak > 0.05",),
    effect="dependency.padding_leak > healthy",
    why=(
        "Without packing, the LSTM also reads the padding tokens. The last state is then the state after the padding, "
        "not the state at the last word. A review of 8 words beside a review of 58 words gets 50 padding tokens. Each "
        "padding token makes the LSTM forget a little. The other reviews in the batch decide how many padding tokens "
        "there are."
    ),
    fix="Pass the lengths with pack_padded_sequence, or take the state at each review's last word.",
    repairs={
        "packed, by its full name": Swap("packed = embedded", f"packed = {PACKED}"),
        "the state at the last word": Swap(
            READ,
            "states, _ = self.lstm(embedded)\n"
            "hidden = states[torch.arange(len(inputs), device=inputs.device), lengths - 1].unsqueeze(0)",
        ),
        "gathered": Swap(
            READ,
            "states, _ = self.lstm(embedded)\n"
            "places = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[2])\n"
            "hidden = states.gather(1, places).transpose(0, 1)",
        ),
    },
    pretences={
        "padding set to zero": Swap("packed = embedded", "packed = embedded * (inputs != 0).unsqueeze(-1)"),
        "always the full length": Swap("inputs[:, : (inputs != 0).sum(1).max()]", "inputs"),
        "the mean of all states": Swap(READ, "states, _ = self.lstm(embedded)\nhidden = states.mean(1).unsqueeze(0)"),
    },
    same_forward=True,
    hints=(
        "What may one review's logits depend on? Compare the review alone with the same review beside a long one.",
        "Pass one short review as it is, then with 20 zeros appended. Compare the logits.",
        "Follow one short row through forward(). At which position is the state that the head reads?",
    ),
    look_alikes=(
        LookAlike(
            "recurrent/last_layer_state_wrong",
            "Compute one short text's logits with and without padding tokens at the end.",
            "The logits change: `dependency.padding_leak > 0.05`.",
            "The logits stay the same: `dependency.padding_leak < 0.05`.",
        ),
        LookAlike(
            "recurrent/padding_row_trained",
            "Print the row of the embedding table that belongs to the padding token.",
            "The row is all zeros.",
            "The row is as large as the row of a word.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Find the layer that reads padding. Does it read step by step or weigh all positions at once?",
            "The layer reads the text step by step.",
            "The layer weighs all positions at once.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
        "https://github.com/bentrevett/pytorch-pos-tagging/issues/8",
    ),
    terms=("padding tokens", "packed sequence"),
    beside={"sentiment_lstm": ("freezing/frozen_layers",)},
)
