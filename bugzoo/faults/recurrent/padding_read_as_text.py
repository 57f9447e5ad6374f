"""A review is judged otherwise beside a long one than alone, and short reviews come out worst."""

from bugzoo.faults.idioms import PACK
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

READ = "packed = embedded\n_, (hidden, _) = self.lstm(packed)"
PACKED = "nn.utils.rnn.pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)"

FAULT = Fault(
    title="The last state is taken behind the padding",
    level=3,
    symptom="degraded",
    edits=rewrite(PACK, PLACE="$INPUTS"),
    evidence=("dependency.padding_leak > 0.05",),
    effect="dependency.padding_leak > healthy",
    why=(
        "An LSTM reads what it is given, padding too. The state behind the last place is then not the one at the last word: "
        "a review of 8 words beside one of 58 has been read over by 50 zeros, each of which makes it forget a little, and how "
        "many they are the neighbours in the batch decide."
    ),
    fix="Tell the LSTM how long each review is (pack_padded_sequence), or take the state at each review's last word.",
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
        "What may the score of a text depend on, and what else can reach it in a batch?",
        "Give it a short text with zeros behind it and without, and compare the two scores.",
        "Follow one short row through the forward pass: at which place is the state from which the answer is made?",
    ),
    look_alikes=(
        LookAlike(
            "recurrent/last_layer_state_wrong",
            "Score one short text alone, and then with zeros behind it.",
            "The score changes: `dependency.padding_leak > 0.05`.",
            "It stays what it was: `dependency.padding_leak < 0.05`.",
        ),
        LookAlike(
            "recurrent/padding_row_trained",
            "Look at the vector that stands for padding in the table of words.",
            "It is zero.",
            "It is as large as that of a word.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Which part of the model sees the padding: one that reads in order, or one that weighs all places?",
            "The one that reads place by place.",
            "The one that weighs all places.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
        "https://github.com/bentrevett/pytorch-pos-tagging/issues/8",
    ),
)
