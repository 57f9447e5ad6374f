"""It does worse than a network of its size should, and a whole layer is the same after training as before."""

from bugzoo.faults.idioms import EPOCHS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="The state of the first layer is read instead of the last one's",
    level=3,
    symptom="degraded",
    edits=Swap("$STATE[-1]", "$STATE[0]", where="_, ($STATE, _) = $LSTM($$$)"),
    evidence=("parameter_audit.unchanged_share > 0.1",),
    effect="parameter_audit.unchanged_share > healthy",
    why=(
        "The states come as (layers, batch, size), the first layer first. Who reads index 0 of two layers builds the answer on "
        "the lower one; the upper one is computed, costs its time, and gets a gradient of zero: a fifth to a half of the "
        "weights stay what chance made them."
    ),
    fix="hidden[-1], or hidden.view(layers, directions, batch, size)[-1] where there are several directions.",
    repairs={
        "the last one by its number": Swap("hidden[0]", "hidden[layers - 1]"),
        "by what the layer knows": Swap("hidden[0]", "hidden[self.lstm.num_layers - 1]"),
        "unbound": Swap("hidden[0]", "hidden.unbind(0)[-1]"),
    },
    pretences={
        "the memory cells": Swap("_, (hidden, _) = self.lstm(packed)", "_, (_, hidden) = self.lstm(packed)"),
        "a longer training": rewrite(EPOCHS, COUNT="epochs + 2"),
        "the first one, made larger": Swap("hidden[0]", "2 * hidden[0]"),
    },
    same_forward=True,
    hints=(
        "Does every part of the network take part in the answer?",
        "Copy the weights before training and compare afterwards, tensor by tensor.",
        "Ask the documentation of the layer in which order its states come, and read the line that picks one.",
    ),
    look_alikes=(
        LookAlike(
            "graph/detached_activation",
            "List which weights never move, and see where they lie on the way from the input to the answer.",
            "Behind what is used: the answer does not depend on them.",
            "Before what is used: the answer does depend on them.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Score one short text alone, and then with zeros behind it.",
            "It stays what it was: `dependency.padding_leak < 0.05`.",
            "The score changes: `dependency.padding_leak > 0.05`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html",),
)
