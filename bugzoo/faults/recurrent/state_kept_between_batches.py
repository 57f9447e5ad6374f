"""The same review gets another score each time it is asked for, and the losses depend on what came before."""

from bugzoo.faults.idioms import LAST_STATE, RECURRENT
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, rewrite

READ = "self.lstm(packed, self.state if same else None)"

FAULT = Fault(
    title="The state of the last batch is the beginning of the next one",
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
    evidence=("company.again_gap > 0.001",),
    effect="company.again_gap > healthy",
    why=(
        "An LSTM that is given no state begins with zeros. Here each review begins with what another one, of the same row of "
        "the batch before, has left behind; detach() keeps the graph short and the mistake silent. Shuffled batches have "
        "nothing to do with one another, so that what is carried over is noise."
    ),
    fix="Begin every batch of independent texts with zeros: self.lstm(packed). Carry a state only through one long text.",
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
        "What does the model know of a review before it has read its first word?",
        "Give it one batch, and at once the same batch again, and lay the answers side by side.",
        "Look for what the model writes into itself while it answers.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Ask for the score of one batch twice, in eval mode, without training in between.",
            "It differs: `company.again_gap > 0.001`.",
            "It is the same: `company.again_gap < 0.001`.",
        ),
        LookAlike(
            "recurrent/batch_first_mismatch",
            "Score a text twice, alone both times, in a model that has just been loaded.",
            "The second score is another one: `company.again_gap > 0.001`.",
            "Both are the same: `company.again_gap < 0.001`.",
        ),
        LookAlike(
            "graph/backward_twice",
            "Look whether the second backward() of the run raises an error.",
            "It does not.",
            "It does: the graph of the batch before was freed.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
        "https://github.com/rafaljozefowicz/lm/issues/7",
    ),
)
