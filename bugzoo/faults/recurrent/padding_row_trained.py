"""The same review scores differently with more blanks behind it, although the reading stops at its last word."""

from bugzoo.faults.model import Fault, LookAlike, Swap

TABLE = "self.words = nn.Embedding(len(vocabulary) + 2, width)"
LOOKED_UP = "embedded = self.dropout(self.words(inputs))"

FAULT = Fault(
    title="Padding has a vector of its own, and it is trained",
    level=3,
    symptom="degraded",
    edits=Swap("nn.Embedding($COUNT, $WIDTH, padding_idx=$ROW)", "nn.Embedding($COUNT, $WIDTH)"),
    evidence=("dependency.padding_leak > 0.05",),
    effect="dependency.padding_leak > healthy",
    why=(
        "Without padding_idx the row of the table that stands for padding is drawn like any other and learns like any other. "
        "A sum over all places then holds it once for each blank: a review of 8 words in a batch of 58 places gets it 50 "
        "times, which outweighs its words."
    ),
    fix="nn.Embedding(..., padding_idx=0): the row is zero and stays zero. Or take the padding out of every sum.",
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
    own_forward=True,  # with a row that is not zero the reference adds it up as well
    hints=(
        "What should a blank add to the meaning of a text?",
        "Lengthen one text by blanks only, by ten and then by forty, and follow its score.",
        "Print the first row of the table of word vectors, before and after training.",
    ),
    look_alikes=(
        LookAlike(
            "recurrent/padding_read_as_text",
            "Look at the vector that stands for padding in the table of words.",
            "It is as large as that of a word.",
            "It is zero.",
        ),
        LookAlike(
            "recurrent/output_for_hidden",
            "Score one text with ten and with forty blanks behind it: from where on do the numbers differ?",
            "Where the words are looked up.",
            "Behind the recurrent layer, if at all.",
        ),
        LookAlike(
            "recurrent/last_layer_state_wrong",
            "Score one text with no blanks behind it, with ten and with forty.",
            "The scores differ: `dependency.padding_leak > 0.05`.",
            "They agree: `dependency.padding_leak < 0.05`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
        "https://github.com/facebookresearch/pytext/pull/840",
    ),
)
