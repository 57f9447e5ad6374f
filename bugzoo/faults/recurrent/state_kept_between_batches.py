"""The same review gets a different prediction each time. The loss depends on what the model saw before."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LAST_STATE, RECURRENT
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, rewrite

READ = "self.lstm(packed, self.state if same else None)"

FAULT = Fault(
    title="LSTM hidden state carried over between independent batches",
    level=4,
    symptom="leak",
    edits=(
        after(RECURRENT, "self.state = None"),
        rewrite(
            LAST_STATE,
            PLACE=(
                "same = self.state is not None and self.state[0].shape[1] == len(inputs)\n"
                "_, ($STATE, cells) = $LSTM($READ, self.state if same else None)"
            ),
        ),
        after(LAST_STATE, "self.state = ($STATE.detach(), cells.detach())"),
    ),
    evidence=("batch_independence.again_gap > 0.001",),
    effect="batch_independence.again_gap > healthy",
    why=(
        "Without an initial state, an LSTM starts from zeros. Here each review starts from the state that another "
        "review left in the same row of the previous batch. The call to detach() keeps the graph short, so nothing "
        "crashes. Shuffled batches are unrelated, so the state that is carried over is noise."
    ),
    fix=(
        "Start every batch of independent texts from zeros: self.lstm(packed). Carry a state only through one long "
        "text."
    ),
    repairs={
        "no state given": Swap(READ, "self.lstm(packed)"),
        "zeros given": Swap(
            READ,
            "self.lstm(packed, tuple(torch.zeros(layers, len(inputs), hidden_size, device=inputs.device) for _ in range(2)))",
        ),
        "never kept": Swap("self.state = ($A, $B)", "self.state = None"),
    },
    pretences={
        "kept a little": Swap("self.state = ($A, $B)", "self.state = (0.5 * $A, 0.5 * $B)"),
        "only the state, not the cells": Swap("self.state = ($A, $B)", "self.state = ($A, torch.zeros_like($B))"),
        "forgotten after each epoch": Swap("model.train()", "model.train()\nmodel.state = None"),
    },
    same_forward=True,
    hints=(
        "What should the model know about a review before the first word?",
        "Pass the same batch twice in a row in eval mode and compare the logits.",
        "Find every value that forward() stores on self. Which of these values does the next call read?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Compute one batch's logits twice in eval mode, without training in between.",
            "The logits differ: `batch_independence.again_gap > 0.001`.",
            "The logits are the same: `batch_independence.again_gap < 0.001`.",
        ),
        LookAlike(
            "recurrent/batch_first_mismatch",
            "Load the model, then compute the logits of one text alone, twice in a row.",
            "The second call gives different logits: `batch_independence.again_gap > 0.001`.",
            "Both calls give the same logits: `batch_independence.again_gap < 0.001`.",
        ),
        LookAlike(
            "graph/backward_twice",
            "Check whether the second backward() call of the run raises an error.",
            "The second backward() raises no error.",
            "The second backward() raises an error, because the graph of the batch before was freed.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
        "https://github.com/rafaljozefowicz/lm/issues/7",
    ),
    cause=Cause(words.HIDDEN_STATE),
    terms=("hidden state", "truncated BPTT"),
    beside={"sentiment_lstm": ("modes/eval_mode_missing",)},
)
