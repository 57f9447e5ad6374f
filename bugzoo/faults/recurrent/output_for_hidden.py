"""A review gets a good prediction alone. In a batch the prediction changes, except for the longest review."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LAST_STATE, PACK
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, rewrite

PADDED = "states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)"

FAULT = Fault(
    title="Last output after pad_packed_sequence used as hidden state",
    level=3,
    symptom="degraded",
    edits=(
        rewrite(LAST_STATE, PLACE="states, ($STATE, _) = $LSTM($READ)", given=PACK),
        after(LAST_STATE, PADDED),
        Swap("hidden[-1]", "states[:, -1]"),
    ),
    evidence=("batch_independence.alone_gap > 0.01",),
    effect="batch_independence.alone_gap > healthy",
    why=(
        "pad_packed_sequence pads the outputs with zeros up to the longest review of the batch. Only the longest "
        "review has a real output at the last position. The 31 other reviews of a batch of 32 have zeros there, so "
        "the head gets nothing from the LSTM for them. A review alone is the longest of its batch, so it works."
    ),
    fix="Use hidden[-1], or index the outputs at each review's own last word (lengths - 1).",
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
        "What may one review's logits depend on? Compare the review alone with the same review in a batch.",
        "Pass one short review alone, then beside a long one. Print the input of the final linear layer both times.",
        "Which position of each row does the head read? Print what a short row contains there.",
    ),
    look_alikes=(
        LookAlike(
            "recurrent/padding_read_as_text",
            "Print the recurrent layer's output at the positions after the end of a short text.",
            "All outputs after the end are zero.",
            "The outputs after the end keep changing from position to position.",
        ),
        LookAlike(
            "recurrent/padding_row_trained",
            "Append ten padding tokens to one text, then forty. Which layer's outputs differ first?",
            "The outputs differ only after the recurrent layer, if at all.",
            "The outputs of the embedding layer differ.",
        ),
        LookAlike(
            "recurrent/last_layer_state_wrong",
            "Compute one short text's logits alone, then beside a long text.",
            "The logits change beside the long text: `batch_independence.alone_gap > 0.01`.",
            "The logits stay the same: `batch_independence.alone_gap < 0.01`.",
        ),
        LookAlike(
            "modes/eval_mode_missing",
            "Give the trained model the same batch twice, and compare the logits.",
            "They are the same both times.",
            "They differ, for each review of the batch.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_packed_sequence.html",
        "https://github.com/thtrieu/qclass_dl/issues/1",
    ),
    cause=Cause(either={words.POSITION: {}}),
    terms=("packed sequence", "hidden state"),
)
