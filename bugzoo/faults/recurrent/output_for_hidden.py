"""A review that is scored well alone gets another score in a batch, unless it is the longest one there."""

from bugzoo.faults.idioms import LAST_STATE, PACK
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, rewrite

PADDED = "states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)"

FAULT = Fault(
    title="The output at the last place is taken for the last state",
    level=3,
    symptom="degraded",
    edits=(
        rewrite(LAST_STATE, PLACE="states, ($STATE, _) = $LSTM($READ)", given=PACK),
        after(LAST_STATE, PADDED),
        Swap("hidden[-1]", "states[:, -1]"),
    ),
    evidence=("company.alone_gap > 0.01",),
    effect="company.alone_gap > healthy",
    why=(
        "Behind the packing the outputs are padded again, with zeros, to the longest review of the batch. Its last place holds "
        "the last word of that review alone; to the 31 others of a batch of 32 it says nothing but zeros, so that they are "
        "judged without having been read in order. Alone, each is the longest, and read."
    ),
    fix="Take hidden[-1], or the output at each review's own last word.",
    repairs={
        "the last state": Swap("states[:, -1]", "hidden.select(0, -1)"),
        "the output at the last word": Swap(
            "states[:, -1]", "states[torch.arange(len(inputs), device=inputs.device), lengths - 1]"
        ),
        "gathered": Swap(
            "states[:, -1]", "states.gather(1, (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[2])).squeeze(1)"
        ),
    },
    pretences={
        "the mean of all places": Swap("states[:, -1]", "states.mean(1)"),
        "the last but one": Swap("states[:, -1]", "states[:, -2]"),
        "always the full length": Swap("inputs[:, : (inputs != 0).sum(1).max()]", "inputs"),
    },
    same_forward=True,
    hints=(
        "What may the score of a text depend on, and what else can reach it in a batch?",
        "Score one short text alone and beside a long one, and print what goes into the last layer.",
        "Whose word stands at the last place of a padded batch?",
    ),
    look_alikes=(
        LookAlike(
            "recurrent/padding_read_as_text",
            "Look at what the recurrent layer gives at places behind the end of a text.",
            "Zeros.",
            "States, which go on changing.",
        ),
        LookAlike(
            "recurrent/padding_row_trained",
            "Score one text with ten and with forty blanks behind it: from where on do the numbers differ?",
            "Behind the recurrent layer, if at all.",
            "Where the words are looked up.",
        ),
        LookAlike(
            "recurrent/last_layer_state_wrong",
            "Score one short text alone, and then beside a long one.",
            "Beside the long one it changes: `company.alone_gap > 0.01`.",
            "It stays what it was: `company.alone_gap < 0.01`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_packed_sequence.html",
        "https://github.com/thtrieu/qclass_dl/issues/1",
    ),
)
