"""Accuracy is lower than a model of this size should reach. One whole layer is unchanged after training."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EPOCHS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="LSTM hidden state taken from the wrong layer",
    level=3,
    symptom="degraded",
    edits=Swap("$STATE[-1]", "$STATE[0]", where="_, ($STATE, _) = $LSTM($$$)"),
    evidence=("parameter_audit.unchanged_share > 0.1",),
    effect="parameter_audit.unchanged_share > healthy",
    why=(
        "nn.LSTM returns its states as (layers, batch, size), with the first layer at index 0. Code that reads index "
        "0 of two layers uses the lower layer and ignores the upper one. The upper layer still runs and costs time, "
        "but its gradient is zero. A fifth to a half of the weights keep their random initial values."
    ),
    fix="Use hidden[-1]. With several directions, use hidden.view(layers, directions, batch, size)[-1].",
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
        "Does every parameter affect the logits? Print parameter.grad.norm() for each one after backward().",
        "Copy the weights before training and compare them after, tensor by tensor.",
        "Look up in which order nn.LSTM returns its states. Then read the line of forward() that picks one.",
    ),
    look_alikes=(
        LookAlike(
            "graph/detached_activation",
            "List the weights that never change. Perturb one of them and see whether the logits change.",
            "The logits do not change.",
            "The logits change.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Compute one short text's logits with and without padding tokens at the end.",
            "The logits stay the same: `dependency.padding_leak < 0.05`.",
            "The logits change: `dependency.padding_leak > 0.05`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html",),
    cause=Cause(words.POSITION),
    terms=("hidden state",),
)
