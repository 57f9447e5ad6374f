"""The same review gets other logits with more zeros at its end, although the LSTM stops at the last word."""

from bugzoo.faults.model import Fault, LookAlike, Swap

TABLE = "self.words = nn.Embedding(len(vocabulary) + 2, width)"
LOOKED_UP = "embedded = self.dropout(self.words(inputs))"

FAULT = Fault(
    title="Missing padding_idx in nn.Embedding",
    level=3,
    symptom="degraded",
    edits=Swap("nn.Embedding($COUNT, $WIDTH, padding_idx=$ROW)", "nn.Embedding($COUNT, $WIDTH)"),
    evidence=("dependency.padding_leak > 0.05",),
    effect="dependency.padding_leak > healthy",
    why=(
        "Without padding_idx, the embedding of the padding token starts at random and is trained like any other row. "
        "A sum over all positions then adds this row once for each padding token. A review of 8 words in a batch of "
        "58 positions gets the row 50 times. The 50 copies outweigh the words."
    ),
    fix=(
        "Use nn.Embedding(..., padding_idx=0): the row is zero and stays zero. Or mask the padding tokens out of "
        "every sum."
    ),
    repairs={
        "said to the table": Swap(TABLE, "self.words = nn.Embedding(len(vocabulary) + 2, width, padding_idx=0)"),
        "taken out of the sum": Swap(
            LOOKED_UP, "embedded = self.dropout(self.words(inputs)) * (inputs != 0).unsqueeze(-1)"
        ),
        "filled with zeros": Swap(
            LOOKED_UP, "embedded = self.dropout(self.words(inputs)).masked_fill((inputs == 0).unsqueeze(-1), 0.0)"
        ),
    },
    pretences={
        "divided by all places": Swap("embedded.sum(1) / lengths.unsqueeze(1)", "embedded.mean(1)"),
        "small at the start": Swap(TABLE, f"{TABLE}\nnn.init.normal_(self.words.weight, std=0.1)"),
        "always the full length": Swap("inputs[:, : (inputs != 0).sum(1).max()]", "inputs"),
    },
    own_forward=True,  # the reference also adds up the padding row, if the row is not zero
    hints=(
        "What should a position after the last word add to the logits?",
        "Append ten zeros to one review, then forty. How do the logits change?",
        "Print row 0 of the table of word vectors, before and after training.",
    ),
    look_alikes=(
        LookAlike(
            "recurrent/padding_read_as_text",
            "Print the row of the embedding table that belongs to the padding token.",
            "The row is as large as the row of a word.",
            "The row is all zeros.",
        ),
        LookAlike(
            "recurrent/output_for_hidden",
            "Append ten padding tokens to one text, then forty. Which layer's outputs differ first?",
            "The outputs of the embedding layer differ.",
            "The outputs differ only after the recurrent layer, if at all.",
        ),
        LookAlike(
            "recurrent/last_layer_state_wrong",
            "Compare one text's logits with no padding tokens, with ten and with forty.",
            "The logits differ: `dependency.padding_leak > 0.05`.",
            "The logits are the same: `dependency.padding_leak < 0.05`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
        "https://github.com/facebookresearch/pytext/pull/840",
    ),
    terms=("padding tokens",),
)
