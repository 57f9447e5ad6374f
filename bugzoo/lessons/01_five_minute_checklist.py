"""Lesson 01: what can be known about a training before its first epoch is over, and what cannot."""

# %% [case] incident
# mlp loop/gradients_wiped

# %% [case] second
# sentiment_lstm recurrent/batch_first_mismatch

# %% [markdown] title
# # 01 · The five-minute checklist
#
# Some mistakes of a training are there in its first second, and are noticed in the morning. In this lesson you write three
# checks of five lines each and make two more by hand. You run them on a training that stands still, mend it while it runs, put
# a sentence of the best-known recipe on trial, and count what such a checklist catches, and what it never can.
#
# You need about {60 = minutes} minutes. You should have trained a network once, and know what `backward()` and `step()` are
# called for. After *Mend it while it runs* is a good place for a pause.
#
# This is how all lessons here go. A run is broken on purpose, by a change of a line or two, and beside it runs its **healthy
# twin**: the same program without that change, on the same seed. Before each result you are asked what it will be. Say
# something, even at a guess: it is kept, graded by nobody, and the cell with the result comes back to it. Text that is folded
# belongs behind the run above it. Run the cells from top to bottom with *Shift* + *Enter*; after a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*. What you said and wrote is still there.

# %% setup
import math

import numpy as np
import torch

import bugzoo
from bugzoo import lab
from bugzoo.running import run_here

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("01")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Tuesday, 08:30.* "Handwritten digits, three linear layers, Adam, the loop from the tutorial. The loss begins at
# > {2.30 = first} and ends at {2.31 = ended}; it reads {7 % = acc_broken} of the digits. Over the night I tried a hundred times
# > the learning rate and a network four times as wide. The same. Is my data too hard?"
#
# A night is a high price for two guesses. In
# [a thread on such a result](https://github.com/rasbt/deeplearning-models/issues/76) somebody names four reasons for a loss
# that stays at ln 10, and adds that they all look the same. They do, on the curve. So look at something else than the curve.

# %% [predict] guess
# The broken run and its healthy twin begin with the same weights and the same batch. What about the loss of their first step?
#
# ( ) The broken one's is higher
#     A run that learns nothing need not begin badly. This one begins like any other.
# ( ) Both are high, the twin's falls at once
#     The second half is so. But neither is high: it is what a model has to have that knows nothing yet.
# (x) The two are equal, to the last bit
#     So whatever is wrong does not touch the way from a picture to its loss. One number has halved the places to look at.

# %% [markdown] live-text
# `lab.case` fetches a broken program, `lab.live` runs it: the healthy twin is drawn behind, the broken run in front of it.
# **Run**, **Pause** and **Stop** work while it trains. `view.result` waits for its end, and `view.result.trace` is what was
# recorded, one number a step.

# %% live
incident = lab.case("01/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("first loss:", trace.loss[0], " twin:", healthy.loss[0])
print("steps", len(trace.loss), " lowest loss", round(trace.loss.min(), 2), " highest", round(trace.loss.max(), 2))
print("mean loss of each epoch:", *(f"{epoch.mean():.4f}" for epoch in trace.loss.reshape(6, -1)))
print("the twin's:             ", *(f"{epoch.mean():.4f}" for epoch in healthy.loss.reshape(6, -1)))
print(f"validation accuracy: {trace.metrics['accuracy']:.3f}, twin {healthy.metrics['accuracy']:.3f}")
guess.reveal(f"{trace.loss[0]:.4f} both times")

# %% [proof] numbers-proof
first, ended = trace.loss[0], trace.loss[-10:].mean()
acc_broken, acc_healthy = trace.metrics["accuracy"], healthy.metrics["accuracy"]
low, high = trace.loss.min(), trace.loss.max()
epoch_means = trace.loss.reshape(6, -1).mean(1)
mean_loss = epoch_means.mean()
thousandth = float(np.ptp(epoch_means)) < 0.001
assert trace.loss[0] == healthy.loss[0] and len(trace.loss) == 216
for change in (("learning_rate = 1e-3", "learning_rate = 1e-1"), ("hidden_size = 128", "hidden_size = 512")):
    assert incident.source.count(change[0]) == 1
    assert run_here(incident.source.replace(*change)).trace.loss[-36:].mean() > 2.29

# %% [folded] numbers-read
# After the run: a loss that moves without learning
#
# From step to step the loss goes up and down between {2.27 = low} and {2.34 = high}, which looks like a training that tries.
# Batches differ, so it would do that without any training. An epoch sees every picture once, and its mean is
# {2.304 = mean_loss} each time: six epochs do {not differ by a thousandth = thousandth}. **Compare epochs, not steps**, and you
# know within a minute that nothing is learnt. What you do not know is why.

# %% [markdown] first-text
# ## Check 1: does it begin where guessing begins?
#
# Cross-entropy is -ln of the probability that the model gives to the right class. Somebody who knows nothing and says so gives
# each of C classes the same probability, and pays ln C. That is what a new model should pay. Somebody who knows how often each
# class comes, and nothing else, pays the entropy of these shares, -Σ p ln p. That is the price of ignoring the input, and the
# first thing that a model learns.
#
# **Write it:** both prices, in nats. `targets` holds class numbers, `(batch,)`. A class that does not occur adds nothing.


# %% [task] guessing
def guessing(targets, classes):
    """(loss of whoever gives each class the same probability, loss of whoever knows the shares in targets), in nats."""
    ...  # your code


# %% try-guessing
guessing = lab.try_out("01/guessing", guessing)


# %% [solution] guessing
def guessing(targets, classes):
    """(loss of whoever gives each class the same probability, loss of whoever knows the shares in targets), in nats."""
    shares = torch.bincount(targets, minlength=classes) / len(targets)
    shares = shares[shares > 0]
    return math.log(classes), -(shares * shares.log()).sum().item()


# %% [judge] guessing
import math

import torch


def judge(answer):
    def tried(counts, wanted, what):
        targets = torch.cat([torch.full((many,), number) for number, many in enumerate(counts)])
        gave = answer(targets, len(counts))
        try:
            mine = [float(one) for one in gave]
        except TypeError:
            mine = []
        good = len(mine) == 2 and all(abs(a - b) < 1e-3 for a, b in zip(mine, wanted, strict=True))
        shown = tuple(round(one, 3) for one in mine) or gave
        return good, f"{what}: {tuple(round(one, 3) for one in wanted)}, yours says {shown}"

    yield tried([7] * 10, (math.log(10), math.log(10)), "ten classes, equally frequent")
    yield tried([90, 10], (math.log(2), 0.32508), "two classes, nine to one")
    yield tried([5, 0, 5], (math.log(3), math.log(2)), "three classes, one of which does not occur")


def by_cross_entropy(targets, classes):
    shares = torch.bincount(targets, minlength=classes).double() / len(targets)
    same = torch.nn.functional.cross_entropy(torch.zeros(len(targets), classes), targets)
    return same.item(), torch.special.entr(shares).sum().item()


def by_hand(targets, classes):
    counts = [targets.tolist().count(number) for number in range(classes)]
    return -math.log(1 / classes), sum(-n / len(targets) * math.log(n / len(targets)) for n in counts if n)


def in_bits(targets, classes):
    return tuple(one / math.log(2) for one in by_hand(targets, classes))


def those_seen(targets, classes):
    return math.log(len(targets.unique())), by_hand(targets, classes)[1]


RIGHT = {"cross_entropy of zeros": by_cross_entropy, "counted by hand": by_hand}
LAZY = {
    "in bits": in_bits,
    "always ln C": lambda targets, classes: (math.log(classes), math.log(classes)),
    "of the classes seen": those_seen,
    "one number": lambda targets, classes: math.log(classes),
}

# %% [markdown] first-try-text
# The incident begins at {2.305 = first_three}, so its first loss is in order. Is the check worth anything, then? Here are three
# other mistakes in the same program, one line each. `source` is the healthy program's text, and `run_here` runs a text.

# %% [predict] which_first
# Three mistakes: the loss is summed over the batch; every target is moved by one class; a softmax stands in front of the loss.
# Which first losses are not those of guessing?
#
# ( ) All three
#     A loss that asks for the wrong class costs a guesser just as much as one that asks for the right class.
# (x) The sum's alone
#     It is 32 times too high. The other two begin as they should, and one of them reads fewer digits than somebody who guesses.
# ( ) The sum's, and that with the softmax
#     At the first step the logits are near 0, their probabilities near a tenth, and equal numbers stay equal in a second
#     softmax.

# %% first-run
source = bugzoo.Scenario("mlp").source
LOSS = "        loss = F.cross_entropy(logits, targets)\n"
mistakes = {
    "healthy": LOSS,
    "summed": LOSS.replace("targets)", 'targets, reduction="sum")'),
    "moved by one": LOSS.replace("targets)", "(targets + 1) % 10)"),
    "softmax before it": LOSS.replace("logits,", "logits.softmax(-1),"),
}
assert source.count(LOSS) == 1
cost, _ = guessing(torch.arange(10), 10)
began = {}
print(f"guessing costs {cost:.3f}, and ln 10 is {math.log(10):.3f}")
print("                     first loss   last loss   accuracy")
for name, line in mistakes.items():
    one = began[name] = run_here(source.replace(LOSS, line)).trace
    print(f"{name:20} {one.loss[0]:10.3f} {one.loss[-10:].mean():11.3f} {one.metrics['accuracy']:10.3f}")
which_first.reveal(f"{began['summed'].loss[0]:.1f}")

# %% [proof] first-proof
first_three, sum_first = float(trace.loss[0]), began["summed"].loss[0]
acc_sum, acc_moved, acc_soft = (began[name].metrics["accuracy"] for name in list(mistakes)[1:])
last_moved = began["moved by one"].loss[-10:].mean()
last_healthy = began["healthy"].loss[-10:].mean()
thirty_two = abs(sum_first / began["healthy"].loss[0] - 32) < 0.01
near_ln = all(
    abs(began[name].loss[0] - math.log(10)) < 0.02 for name in ("healthy", "moved by one", "softmax before it")
)
assert near_ln and acc_moved < 0.1 and acc_soft < acc_healthy
as_well = abs(acc_sum - acc_healthy) < 0.005

# %% [folded] first-read
# After the run: a check that rings is no verdict, and silence is none either
#
# The sum begins at {74 = sum_first}, {32 rows times ln 10 = thirty_two}: caught at once. And then it reads {95.5 % = acc_sum},
# {as well as its twin = as_well}, as Adam divides each gradient by its own usual size. With SGD the rate would be 32 times too
# high. The check is right, the damage waits for the day when somebody changes the optimiser.
#
# The moved targets are the opposite: first loss right, last loss {0.18 = last_moved} where the twin has {0.16 = last_healthy},
# a curve to be proud of, and {1 % = acc_moved} of the digits. It has learnt very well to say the next one. **A first loss tells
# about the scale of what comes out, not about what is asked for.**

# %% [markdown] look-text
# ## Check 2: look at a batch, as the model gets it
#
# Not at the files, and not at the dataset: at the tensors that are about to enter the model, behind all loading and scaling. A
# paused run holds them. `pause_at=1` stops behind the first step, and `view.objects` are the script's own names.

# %% [predict] batch
# What will you see in the batch of the incident?
#
# (x) Digits between 0 and 1, each with its own name
#     Range, shape, kind and label are in order. With a check that passes you have not found the mistake; you know where it is
#     not.
# ( ) Pictures whose labels are those of others
#     It would give the same flat curve, at first. Here every picture has its own label.
# ( ) Numbers of another size than the layers expect
#     Inputs should be about as large as 1, and these are.

# %% look
view = lab.LiveView(incident, pause_at=1, show_twin=False).start()
view.wait_pause()
inputs, targets = view.objects["inputs"], view.objects["targets"]
print(
    f"inputs  {tuple(inputs.shape)} {inputs.dtype}, {inputs.min():.2f} to {inputs.max():.2f}, mean {inputs.mean():.2f}"
)
print(f"targets {tuple(targets.shape)} {targets.dtype}, how many of each: {torch.bincount(targets).tolist()}\n")
shades = [[" .:*#"[int(value * 4.99)] for value in picture] for picture in inputs[:6]]
for row in range(8):
    print("   ".join("".join(2 * shade for shade in one[8 * row : 8 * row + 8]) for one in shades))
print("   ".join(f"{f'this is a {label}':16}" for label in targets[:6].tolist()))
batch.reveal()

# %% [proof] look-proof
things = view.objects
assert inputs.min() == 0 and inputs.max() == 1 and inputs.shape == (32, 64)
pictures = {tuple(row.tolist()): int(label) for row, label in zip(things["images"], things["labels"], strict=True)}
assert all(pictures[tuple(row.tolist())] == int(label) for row, label in zip(inputs, targets, strict=True))

# %% [markdown] still-text
# ## Check 3: does every parameter move?
#
# After a step, each parameter that is to be trained is another tensor of numbers than before. If one is not, it got no
# gradient, or nobody stepped it. Which of the two comes next; first find out who.
#
# **Write it:** the names of all parameters that are the same, number for number, before and after `make_step()`.
# `model.named_parameters()` gives names and tensors. A step changes a tensor *in place*, so that a name for it is no memory of
# it: `.clone()` is.


# %% [task] stands_still
def stands_still(model, make_step):
    """Names of the parameters that make_step() leaves as they were, in the model's order."""
    ...  # your code


# %% try-still
stands_still = lab.try_out("01/stands_still", stands_still)


# %% [solution] stands_still
def stands_still(model, make_step):
    """Names of the parameters that make_step() leaves as they were, in the model's order."""
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    make_step()
    return [name for name, parameter in model.named_parameters() if torch.equal(parameter, before[name])]


# %% [judge] stands_still
import copy

import torch
from torch import nn


def judge(answer):
    def tried(moves, wanted, what):
        torch.manual_seed(0)
        model, steps = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)), []

        def make_step():
            steps.append(1)
            with torch.no_grad():
                for name, by in moves.items():
                    parameter = model.get_parameter(name)
                    parameter.grad = torch.ones_like(parameter)
                    parameter.view(-1)[-1] += by

        gave = answer(model, make_step)
        gave = gave if gave is None else list(gave)
        return gave == wanted and len(steps) == 1, f"{what}: {wanted}, yours says {gave}; steps made: {len(steps)}"

    everything = ["0.weight", "0.bias", "1.weight", "1.bias"]
    yield tried(dict.fromkeys(everything, 0.5), [], "all move")
    yield tried({}, everything, "none moves")
    yield tried({"0.weight": 1e-6, "1.bias": -0.5}, ["0.bias", "1.weight"], "one moves by a millionth")
    yield tried({"0.weight": 0.0, "0.bias": 0.5}, ["0.weight", "1.weight", "1.bias"], "one has a gradient and stays")


def by_state(model, make_step):
    before = copy.deepcopy(model.state_dict())
    make_step()
    return [name for name, p in model.named_parameters() if not (p != before[name]).any()]


def by_lists(model, make_step):
    before = [p.tolist() for p in model.parameters()]
    make_step()
    return [name for (name, p), old in zip(model.named_parameters(), before, strict=True) if p.tolist() == old]


def no_memory(model, make_step):
    before = dict(model.named_parameters())
    make_step()
    return [name for name, p in model.named_parameters() if torch.equal(p, before[name])]


def nearly(model, make_step):
    before = copy.deepcopy(model.state_dict())
    make_step()
    return [name for name, p in model.named_parameters() if torch.allclose(p, before[name], atol=1e-4)]


def without_gradient(model, make_step):
    make_step()
    return [name for name, p in model.named_parameters() if p.grad is None]


RIGHT = {"the state": by_state, "lists of numbers": by_lists}
LAZY = {
    "without a copy": no_memory,
    "nearly the same": nearly,
    "without a gradient": without_gradient,
    "no step": lambda model, make_step: [],
}

# %% [predict] who
# One more step of the paused run, and one of its twin. Which parameters stand still?
#
# ( ) In the incident the first layer, which is farthest from the loss
#     So it is where a graph is cut, or a layer was left out of the optimiser. Here it is not a part.
# (x) In the incident all six, in the twin none
#     The loop makes steps, and no step moves anything. It is not a matter of how hard the data are.
# ( ) None in either, but in the incident they move too little to be seen
#     Then an epoch's mean would creep. It did not by a thousandth, and the check compares number for number.

# %% still-run
still = stands_still(view.objects["model"], lambda: view.advance(1))
print("incident:", still)
view.stop()
twin_view = lab.LiveView(incident.healthy(), pause_at=1, show_twin=False).start()
twin_view.wait_pause()
twin_still = stands_still(twin_view.objects["model"], lambda: twin_view.advance(1))
print("twin:    ", twin_still)
twin_view.stop()
who.reveal(f"{len(still)} of 6")

# %% [proof] still-proof
assert len(still) == 6 and twin_still == []

# %% [markdown] gradient-text
# ## Who lost the gradient?
#
# Nothing moves: either no gradient arrives, or no step is made of it. Listen at both ends. PyTorch calls what
# `parameter.register_post_accumulate_grad_hook` was given as soon as `backward()` has written that parameter's `.grad`; and
# what `optimizer.register_step_pre_hook` was given when a step begins. Both hooks hang on live objects of a paused run.

# %% [predict] ends
# What will be heard, for the weight of the last layer?
#
# ( ) `backward()` writes nothing, and the step finds nothing
#     Then the way from the loss to the weight would be cut. It is not.
# (x) `backward()` writes a gradient, and the step finds none
#     Between the two is one line of the loop. Who takes a gradient away, and is called in every loop?
# ( ) Both have it, and the step does not use it
#     So it is with a rate of zero, or with an optimiser that holds another model's parameters.

# %% ends-run
view = lab.LiveView(incident, pause_at=1, show_twin=False).start()
view.wait_pause()
weight, heard = view.objects["model"].head.weight, []


def length(gradient):
    return 0.0 if gradient is None else gradient.norm().item()


handles = [
    weight.register_post_accumulate_grad_hook(lambda own: heard.append(("backward has written", length(own.grad)))),
    view.objects["optimizer"].register_step_pre_hook(lambda *_: heard.append(("the step finds", length(weight.grad)))),
]
view.advance(2)
for handle in handles:
    handle.remove()
view.stop()
for what, found in heard:
    print(f"{what:22} a gradient of length {found:.3f}")
ends.reveal()

# %% [proof] ends-proof
assert [what.split()[0] for what, _ in heard] == ["backward", "the"] * 2
assert heard[0][1] > 0.05 and heard[1][1] == 0

# %% [markdown] instrument-text
# Instruments do the same over a whole run. `parameter_audit` is your check of what moves; `fresh_gradient` compares what the
# step finds with what was written. And this is the change that was made to the healthy program:

# %% instrument
from bugzoo.diagnostics import fresh_gradient, parameter_audit

run = lab.LiveView(incident, show_twin=False).start().result
for instrument in (parameter_audit, fresh_gradient):
    print(instrument.judge(instrument.measure(run)).message)
print(incident.diff())

# %% [proof] instrument-proof
assert fresh_gradient.judge(fresh_gradient.measure(run)).suspects[0].cause == "loop/gradients_wiped"
assert parameter_audit.judge(parameter_audit.measure(run)).fired

# %% [markdown] repair-text
# ## Mend it while it runs
#
# `zero_grad()` stands between `backward()` and `step()`, and wipes what was just written. The loop is running, its text cannot
# be exchanged any more. But the optimiser is a live object: the next cell pauses the run after its first epoch, takes the
# method's effect away, and clears the gradient *behind* each step.

# %% [predict] mended
# One epoch of six is lost, five are left. Where will it end?
#
# ( ) At {7 % = acc_broken}: too late
#     Nothing was spoilt. The weights are those of the beginning, and a beginning can be begun from.
# ( ) At about a half: it needs the epochs that it lost
#     It lost one of six.
# (x) A point or two below the twin's {95 % = acc_healthy}
#     An epoch less, and nothing else. A run that stands still keeps its weights clean.

# %% repair
view = lab.LiveView(incident, pause_at=36, show_twin=False).start()
view.wait_pause()
optimizer, model = view.objects["optimizer"], view.objects["model"]
optimizer.zero_grad = lambda: None  # what the loop calls at the wrong place
optimizer.register_step_post_hook(lambda *_: model.zero_grad())
view.resume()
late = view.result.trace
print("mean loss of each epoch:", *(f"{epoch.mean():.3f}" for epoch in late.loss.reshape(6, -1)))
mended.reveal(f"accuracy {late.metrics['accuracy']:.3f}")

# %% [proof] repair-proof
acc_late = late.metrics["accuracy"]
assert acc_healthy - 0.03 < acc_late < acc_healthy and np.array_equal(late.loss[:36], trace.loss[:36])

# %% [markdown] advice-text
# ## Three answers from a forum
#
# Post the flat curve, without the code, and you get: *raise the learning rate*, *make the model larger*. Post the loop, and
# somebody says: *delete the line that wipes*. Two of these were tried in the night. Now all three, beside the line at its
# place.

# %% [predict] advice
# Which of the three brings the accuracy to that of the twin?
#
# ( ) A hundred times the learning rate
#     A hundred times nothing is nothing. Every loss of the run is the same as before, to the last bit.
# ( ) The wiping line deleted
#     It learns, and it reads {62 % = acc_deleted}. Now nobody clears, each step follows the sum of all gradients so far, and a
#     new mistake looks like a success.
# (x) None of them
#     The line is needed, at another place. Deleting it trades a mistake that is seen at once for one that looks like slow
#     progress.

# %% advice-run
WIPES = "        optimizer.zero_grad()\n"
text = incident.source
assert text.count(WIPES) == 1 and text.count("        optimizer.step()\n") == 1
repairs = {
    "as it was": text,
    "rate × 100": text.replace("learning_rate = 1e-3", "learning_rate = 1e-1"),
    "four times as wide": text.replace("hidden_size = 128", "hidden_size = 512"),
    "line deleted": text.replace(WIPES, ""),
    "line behind the step": text.replace(WIPES, "").replace(
        "        optimizer.step()\n", "        optimizer.step()\n" + WIPES
    ),
}
advised = {}
for name, changed in repairs.items():
    one = advised[name] = run_here(changed)
    parts = fresh_gradient.measure(one)
    print(
        f"{name:22} accuracy {one.trace.metrics['accuracy']:.3f}   steps without a gradient {parts['empty_share']:4.0%}   "
        f"with an old one in it {parts['stale_share']:4.0%}"
    )
same = np.array_equal(advised["as it was"].trace.loss, advised["rate × 100"].trace.loss)
print("with a hundred times the rate every loss is the same, to the last bit:", same)
advice.reveal(f"the deleted line ends at {advised['line deleted'].trace.metrics['accuracy']:.3f}")

# %% [proof] advice-proof
acc_deleted, acc_right = (advised[name].trace.metrics["accuracy"] for name in ("line deleted", "line behind the step"))
assert same and acc_right == acc_healthy and acc_deleted < 0.7
stale = fresh_gradient.measure(advised["line deleted"])["stale_share"]
assert stale > 0.9 and fresh_gradient.measure(advised["line behind the step"])["stale_share"] == 0

# %% [folded] advice-read
# After the run: look at the thing that was wrong
#
# By the accuracy, deleting the line is a repair: from {7 % = acc_broken} to {62 % = acc_deleted}. By the gradient it is another
# illness, which [lesson 04](04_silent_loop_bugs.ipynb) is about. **Repeat the check that rang, after each repair.** The number
# at the end tells that something is better; the check tells whether it is right.

# %% [markdown] company-text
# ## Check 4: does an answer depend on its own sample alone?
#
# In a batch, 32 pictures go through the model side by side, and nothing in the shapes stops them from meeting. Autograd knows
# whether they do: ask how one answer changes with each input. Where the gradient is not zero, there is a way.
#
# **Write it:** the numbers of all rows of `inputs` that the answer to row `row` depends on.
# `torch.autograd.grad(number, inputs)` gives the gradient and leaves no `.grad` behind; `inputs` must be asked to want one, on
# a copy. One trap: an answer may be probabilities, whose sum is 1 whatever goes in.


# %% [task] reached
def reached(model, inputs, row):
    """Rows of inputs, as a list of numbers, that the model's answer to `row` depends on."""
    ...  # your code


# %% try-reached
reached = lab.try_out("01/reached", reached)


# %% [solution] reached
def reached(model, inputs, row):
    """Rows of inputs, as a list of numbers, that the model's answer to `row` depends on."""
    asked = inputs.detach().clone().requires_grad_()
    answer = model(asked)[row].square().sum()
    (gradient,) = torch.autograd.grad(answer, asked)
    return gradient.flatten(1).abs().sum(1).nonzero().flatten().tolist()


# %% [judge] reached
import torch
from torch import nn


class Made(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.layer, self.own = nn.Linear(3, 4), forward

    def forward(self, x):
        return self.own(self.layer(x))


def judge(answer):
    def tried(forward, row, wanted, what):
        torch.manual_seed(0)
        model, inputs = Made(forward), torch.randn(5, 3)
        gave = answer(model, inputs, row)
        gave = gave if gave is None else [int(one) for one in gave]
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}"
        left = sum(p.grad is not None for p in model.parameters()) + inputs.requires_grad
        yield not left, f"    gradients left behind: 0, yours {int(left)}"

    yield from tried(lambda x: x.tanh(), 3, [3], "each row for itself, row 3")
    yield from tried(lambda x: x - x.mean(0), 1, [0, 1, 2, 3, 4], "less the mean of the batch, row 1")
    yield from tried(lambda x: x.roll(1, 0), 0, [4], "every answer is its neighbour's, row 0")
    yield from tried(lambda x: x.softmax(-1), 2, [2], "probabilities, row 2")


def by_change(model, inputs, row):
    with torch.no_grad():
        before, found = model(inputs)[row], []
        for other in range(len(inputs)):
            changed = inputs.clone()
            changed[other] += 1.0
            if (model(changed)[row] != before).any():
                found.append(other)
    return found


def by_largest(model, inputs, row):
    asked = inputs.clone().requires_grad_()
    out = model(asked)[row]
    (gradient,) = torch.autograd.grad(out.max(), asked)
    return [number for number, one in enumerate(gradient) if one.any()]


def in_grad(model, inputs, row):
    asked = inputs.clone().requires_grad_()
    model(asked)[row].square().sum().backward()
    return [number for number, one in enumerate(asked.grad) if one.any()]


def everything(model, inputs, row):
    asked = inputs.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(asked).square().sum(), asked)
    return [number for number, one in enumerate(gradient) if one.any()]


RIGHT = {"each row changed": by_change, "of the largest number": by_largest}
LAZY = {
    "its own row, always": lambda model, inputs, row: [row],
    "of all answers": everything,
    "gradients left behind": in_grad,
    "all rows": lambda model, inputs, row: list(range(len(inputs))),
}

# %% [predict] on_whom
# The healthy convolutional network has batch normalisation, and 32 rows. On how many does its answer to row 3 depend?
#
# ( ) On one, or it would not be healthy
#     In evaluation mode so it is. In training mode meeting the others is the very purpose of the layer.
# ( ) On 32, always
#     Only as long as the layer takes mean and variance from the batch. In evaluation mode it uses averages that it has kept.
# (x) On 32 in training mode, on one in evaluation mode
#     So the check has to be made in evaluation mode, and it says, in passing, whether the switch works.

# %% on-whom-run
print("incident:                     ", reached(view.objects["model"], view.objects["inputs"], 3))
cnn = lab.LiveView(bugzoo.Scenario("digits_cnn"), pause_at=1, show_twin=False).start()
cnn.wait_pause()
network, pixels = cnn.objects["model"], cnn.objects["inputs"]
in_training = reached(network, pixels, 3)
network.eval()
in_evaluation = reached(network, pixels, 3)
cnn.stop()
print(f"convolutions, training mode:    {len(in_training)} rows")
print("convolutions, evaluation mode:", in_evaluation)
on_whom.reveal()

# %% [proof] on-whom-proof
assert len(in_training) == len(pixels) == 32 and in_evaluation == [3]
assert reached(view.objects["model"], view.objects["inputs"], 3) == [3]

# %% [markdown] trial-text
# ## A sentence on trial
#
# The best-known recipe for training, [Karpathy's of 2019](https://karpathy.github.io/2019/04/25/recipe/), recommends this very
# check. Somebody uses `view` where he should have used `permute`, and mixes information across the batch. The network, it says,
# will typically *still train okay*, because it *learns to ignore* data from the other examples.
#
# Three ways to mix, in the middle of our small model, each beside the line that was meant:
#
# | | meant | written |
# |---|---|---|
# | *lost* | `self.layer2(hidden)` | `self.layer2(hidden).view(hidden_size, -1).T` |
# | *beside* | `hidden + self.layer2(hidden)` | `hidden + self.layer2(hidden).view(hidden_size, -1).T` |
# | *scaled* | less the row's mean, over its deviation | less the *column's* mean, over its deviation |
#
# In *lost*, nothing but scrambled numbers come through. In *beside*, each picture's own numbers pass as well. In *scaled* every
# row keeps its own numbers, measured against those of the others.

# %% [predict] ignored
# Which of the three trains well, because it learns to ignore the others?
#
# ( ) *beside* and *scaled*, as the sentence says
#     Both train. Look at the last columns: one has learnt to ignore a third of it, the other one nothing at all.
# ( ) All three
#     *lost* has nothing else to look at: what it would have to ignore is everything.
# (x) None, taken at its word
#     *lost* does not train. *beside* trains and ignores a part. And the best one of all ignores nothing: it uses the others.

# %% ignored-run
MIDDLE = "        hidden = self.layer2(hidden)\n"
SCALED = "        hidden = (hidden - hidden.mean({0}, keepdim=True)) / (hidden.std({0}, keepdim=True, correction=0) + 1e-5)\n"
mixed = {
    "lost": "        hidden = self.layer2(hidden).view(hidden_size, -1).T\n",
    "beside": "        hidden = hidden + self.layer2(hidden).view(hidden_size, -1).T\n",
    "scaled": MIDDLE + SCALED.format(0),
}
meant = {
    "lost": MIDDLE,
    "beside": "        hidden = hidden + self.layer2(hidden)\n",
    "scaled": MIDDLE + SCALED.format(1),
}


def from_others(model, inputs):
    """Share of an answer's gradient that lies on other rows than its own, mean over the rows."""
    asked = inputs.detach().clone().requires_grad_()
    answers, shares = model(asked), []
    for row, answer in enumerate(answers):
        (gradient,) = torch.autograd.grad(answer.square().sum(), asked, retain_graph=True)
        sizes = gradient.norm(dim=1)
        shares.append(1 - sizes[row] / sizes.sum())
    return float(sum(shares) / len(shares))


def read_alone(own, rows=1):
    """Validation accuracy when so many pictures are shown at a time."""
    model, chosen = own["model"].eval(), own["validation"]
    with torch.no_grad():
        answers = torch.cat([model(part) for part in own["images"][chosen].split(rows)])
    return (answers.argmax(-1) == own["labels"][chosen]).float().mean().item()


trial = {}
print("          accuracy   as meant   one at a time   from others: at first   trained")
for name, line in mixed.items():
    own = (one := run_here(source.replace(MIDDLE, line))).trace.live.namespace
    right = run_here(source.replace(MIDDLE, meant[name])).trace.metrics["accuracy"]
    some = own["images"][own["train"]][:32]
    torch.manual_seed(0)
    shares = from_others(own["Net"](), some), from_others(own["model"].eval(), some)
    trial[name] = one.trace.metrics["accuracy"], right, read_alone(own), *shares
    print(f"{name:10} {trial[name][0]:7.3f} {right:10.3f} {trial[name][2]:12.3f} {shares[0]:18.0%} {shares[1]:15.0%}")
ignored.reveal()

# %% [proof] ignored-proof
acc_lost, acc_beside, acc_scaled = (trial[name][0] for name in mixed)
meant_beside, meant_scaled = trial["beside"][1], trial["scaled"][1]
alone_scaled = trial["scaled"][2]
share_beside, share_beside_end, share_scaled, share_scaled_end = *trial["beside"][3:], *trial["scaled"][3:]
assert 4.5 < 100 * (meant_beside - acc_beside) < 6.5
assert acc_lost < 0.15 and acc_beside > 0.85 and acc_scaled >= meant_scaled
assert share_beside_end > 0.3 and abs(share_scaled_end - share_scaled) < 0.05
not_above_guessing = alone_scaled <= 0.12


def with_seed(seed):
    """{name: (accuracy over that of what was meant, fall of the share that comes from others)} of the two that train."""
    by_seed, found = bugzoo.Scenario("mlp", seed=seed).source, {}
    for kind in ("beside", "scaled"):
        mixing = run_here(by_seed.replace(MIDDLE, mixed[kind])).trace
        as_meant = run_here(by_seed.replace(MIDDLE, meant[kind])).trace.metrics["accuracy"]
        there = mixing.live.namespace
        torch.manual_seed(0)
        fall = from_others(there["Net"](), some) - from_others(there["model"].eval(), some)
        found[kind] = mixing.metrics["accuracy"] - as_meant, fall
    return found


others_seeds = [with_seed(1), with_seed(2)]
seeds_agree = all(
    one["beside"][0] < -0.03
    and 0.15 < one["beside"][1] < 0.35
    and one["scaled"][0] >= 0
    and abs(one["scaled"][1]) < 0.05
    for one in others_seeds
)

# %% [folded] ignored-read
# After the run: train okay, yes; ignore, no
#
# *lost* stays at {6 % = acc_lost}. *beside* comes near what the sentence says: {91 % = acc_beside} in place of
# {96 % = meant_beside}, and the share of the gradient that lies on other pictures goes from {71 % = share_beside} to
# {48 % = share_beside_end}. That is a third ignored, and five points are gone.
#
# And *scaled*, a mean over axis 0 where axis 1 was meant, reads {98.6 % = acc_scaled}, more than the line that was meant with
# its {97.9 % = meant_scaled}. Its share does not fall, {59 % = share_scaled}, then {58 % = share_scaled_end}: the network
# *lives on* its neighbours. Every curve and every table recommends it. Then shown one picture at a time, it reads
# {7 % = alone_scaled}, {no more than guessing = not_above_guessing}, as a single picture less its own mean is nothing. **The
# recipe's check is worth more than the recipe's reason for it**: no number at the end would have told you.
# ({Two more seeds say the same = seeds_agree}.)

# %% [markdown] two-text
# ## Check 5: can it learn two pictures by heart?
#
# A model that has a thousand times more numbers than the task should bring the loss of two pictures to nothing. If it does not,
# look at the step, not at the data. [Lesson 02](02_overfit_one_batch.ipynb) is about this check alone; here you ask which
# mistakes it lets through.

# %% [predict] by_heart
# The incident, the summed loss, the targets moved by one, and the softmax before the loss. Which of them can learn two pictures
# by heart?
#
# ( ) None: that is what the check is for
#     Two can. It asks whether a step does what the loss says, and not whether the loss says the right thing.
# (x) The summed loss, and the targets moved by one
#     Any two pictures can be learnt by heart with any labels, wrong ones as well.
# ( ) All but the incident
#     With the softmax the loss stops far above zero: that one is caught.

# %% by-heart-run
TRAIN = "train, validation = order[:1150], order[1150:]"
assert source.count(TRAIN) == 1
two = {}
for name, changed in {
    "incident": text,
    **{name: source.replace(LOSS, line) for name, line in mistakes.items()},
}.items():
    changed = changed.replace(TRAIN, "train, validation = order[:2].repeat(575), order[1150:]")
    two[name] = run_here(changed.replace("epochs = 6", "epochs = 2")).trace.loss[-1]
    print(f"{name:20} loss of two pictures, after 72 steps: {two[name]:.4f}")
by_heart.reveal()

# %% [proof] by-heart-proof
assert two["incident"] > 2 and two["healthy"] < 0.01 and two["moved by one"] < 0.01 and two["summed"] < 0.3
two_soft = two["softmax before it"]
assert two_soft > 1.4

# %% [markdown] count-text
# ## What does it catch?
#
# You have five checks: first loss, the batch, what moves, company, two pictures. They take five minutes. It is often said that
# such a list catches most mistakes. This lab has a catalogue of {151 = many} faults, each proved on one or more programs, and
# for each it is on record which instruments rang. Five of them ask what you asked; let them answer for all {151 = many}.

# %% [predict] caught
# How many of the {151 = many} faults are caught by one of the five checks?
#
# ( ) About {120 = four_fifths}: most mistakes show early
#     Most mistakes that one remembers show early. The others are put down to the data.
# ( ) About {75 = half}
#     It would be a good bargain. Look which families are empty.
# (x) {40 = caught_all}
#     And {35 = single} of these by one check alone: no check makes another one superfluous.

# %% caught-run
import json

from bugzoo import material
from bugzoo.plots import checklist

counted = json.loads((material.root() / "proofs/claims/checklist_catches_most.json").read_text())["numbers"]
for name, number in (counted["all"] | counted["checks"]).items():
    print(f"{name:28} {number:4}")
caught.reveal(f"{counted['all']['caught']} of {counted['all']['faults']}")
lab.picture(checklist.picture(counted["families"]))

# %% [proof] caught-proof
every = counted["all"]
many, caught_all, stopping, single = (
    every["faults"],
    every["caught"],
    every["stops"],
    every["caught by one check alone"],
)
four_fifths, half = (0.7 * many, 0.9 * many), (0.45 * many, 0.55 * many)
share_caught = caught_all / many
silent = [name for name, (found, _, _) in counted["families"].items() if not found]
assert {"clipping", "metrics", "reproducibility", "resume", "speed", "generation"} <= set(silent)
moves, one_batch = counted["checks"]["what moves"], counted["checks"]["one batch learnt"]
assert counted["checks"]["first loss"] <= min(moves, one_batch)
kept = sorted((material.root() / "tests/benchmarks/results").glob("checklist_cpu_*.json"))[-1]
more = json.loads(kept.read_text())["results"]
again_caught, again_of = more["all"]["caught"], more["all"]["faults"]
empty_families = len(silent)

# %% [folded] caught-read
# After the run: one in four, and which
#
# {40 = caught_all} of {151 = many}, {26 % = share_caught}; {11 = stopping} more stop by themselves, with a message. The checks
# that earn most are *what moves*, with {13 = moves}, and a *batch learnt by heart*, with {15 = one_batch}. In
# {10 = empty_families} families nothing rings: clipping, metrics, resuming, speed, several processes. What they spoil begins
# later, elsewhere, or in a number that no check looked at.
#
# Two reservations. The catalogue is no sample of the mistakes that people make, and an eye sees more in a batch than an
# instrument does. And there are checklists of another kind: five *more runs*, with a tenth of the rate, clipped gradients, full
# precision, two samples, another seed. Of {40 = again_of} faults drawn for our small model these helped to tell
# {2 = again_caught}.
#
# So why make it? It costs five minutes, and what it catches costs a night. **It is made to rule out, not to find**: whoever has
# made it knows that the mistake is elsewhere.

# %% [check] misses
# Your checklist is silent. The validation accuracy is far below last week's, the training loss is as good. What is left?
#
# ( ) Nothing: then the model is worse than last week's
#     the checklist asked five questions about a step. Where do validation numbers come from?
# (x) What is not in a step: how the data were split, in which mode it is evaluated, how the metric is computed, what was loaded
#     yes. None of the five checks ever looked at it.
# ( ) The learning rate
#     it has to be looked at, but the training loss is as good as it was, and that is what a rate would have changed first.

# %% [markdown] break-text
# ## Break it yourself
#
# Move the slider, press **Run**, and try to be wrong about what comes. Here every weight of the new model is `factor` times too
# large, so that it is certain before it has seen anything.
#
# - By how much does the first loss grow when the factor is doubled? (There are three layers, one behind the other.)
# - The summed loss also began too high, and read as well as its twin. Does this one? Say why before you look.

# %% panel
panel = lab.break_it(bugzoo.Scenario("mlp", faults=("initialisation/weights_too_large?factor=40",)))

# %% [proof] panel-proof
large = [
    bugzoo.Scenario("mlp", (f"initialisation/weights_too_large?factor={factor}",)).run().trace for factor in (40, 80)
]
assert 7 < large[1].loss[0] / large[0].loss[0] < 9, "two times two times two"
assert all(one.metrics["accuracy"] < acc_healthy - 0.1 for one in large)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The model that tells praise from blame in film reviews read {nearly eight in ten = nearly_eight} of
# them. I tidied up its forward pass. No error, every shape is as it was, and now it is at {50 % = acc_second}: heads or
# tails."*
#
# You have a checklist. Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it.
# Three hints stand below; run their cell in any case, it opens none by itself. The next cell trains first, for some seconds;
# the clock starts when the run is over. Eight minutes: it interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("01/second")
run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(8)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                         the program; lines count from 1
#   run.trace.loss[0], guessing(torch.tensor([0, 1]), 2)         check 1
#   view = lab.LiveView(second, pause_at=3, show_twin=False).start(); view.wait_pause(); own = view.objects
#   own["inputs"][:2], own["targets"][:2]                        check 2: reviews are numbers of words, 0 is no word
#   stands_still(own["model"], lambda: view.advance(1))          check 3
#   reached(...) takes numbers with a slope, and words have none: change one review, and see which answers change; in eval mode

# %% turn-form
form = lab.diagnose(second, hints=hints)

# %% turn-answer
from bugzoo.grading.case import judged

if form.handed_in:
    clock.stop()
    print(judged(second, form.diagnosis.record()))
    print(second.diff())
else:
    print("Hand in the form first, then run this cell: it judges what you said and shows the answer.")

# %% [proof] turn-judged
acc_second = run.trace.metrics["accuracy"]
nearly_eight = 0.74 < bugzoo.Scenario("sentiment_lstm").run().trace.metrics["accuracy"] < 0.82
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "nn.LSTM(" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said
assert abs(run.trace.loss[0] - math.log(2)) < 0.02
reader, seen = run.trace.live.models[0].eval(), run.trace.live.namespace["inputs"][:8]
with torch.no_grad():
    another = seen.clone()
    another[0] = 5
    moved = (reader(another) != reader(seen)).any(1)
others_move = bool(moved[1:].any())
held = lab.LiveView(second, pause_at=2, show_twin=False).start()
held.wait_pause()
assert stands_still(held.objects["model"], lambda: held.advance(1)) == []
held.stop()

# %% [folded] turn-read
# After you have handed in: the fourth check
#
# First loss ln 2, words and labels in order, every parameter moves. Then change one review:
# {the answers to others change = others_move}. Unless it is told `batch_first=True`, an LSTM takes the first axis for the time.
# It reads the first words of all reviews as one text, the second words as another. No shape complains.
#
# It is the sentence on trial once more. Somebody who found the same in a published network was
# [astonished that it learns all the same](https://github.com/AndersonJo/dqn-pytorch/issues/1); somebody else's
# [stayed at guessing](https://github.com/yunjey/pytorch-tutorial/issues/196). The mean of each review's own words goes past the
# LSTM to the head, so there is something to learn from. In this short training the model does not learn to ignore the rest.

# %% [check] recap_check
# A colleague starts a training that will take two days. You have five minutes before it does. What do you ask for?
#
# ( ) The curve of the first hundred steps
#     a curve tells that something is wrong after it went wrong, and most of the mistakes here leave it as it is.
# (x) The first loss beside ln C, a batch, two steps with a list of what moved, and one answer alone and in company
#     yes. Each has a right value that is known beforehand, which a curve has not.
# ( ) A smaller learning rate, to be safe
#     it makes the two days four, and hides what it does not mend.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a
# terminal `bugzoo cards --lesson 01` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="01")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Ask for numbers whose right value you know beforehand.** First loss ln C, every parameter moves, an answer depends on its
#    own sample. *Fails when* the start is no guess, as with pretrained weights, or a head whose bias knows the shares.
# 2. **A check that passes tells where the mistake is not; one that rings need not be the damage.** *Fails when* you stop at the
#    first one that rings.
# 3. **After a repair, repeat the check that rang, not the accuracy alone.** *Fails when* the repair moves the mistake to where
#    this check does not look.
# 4. **An answer alone and in company must be the same.** *Fails when* the others are wanted, as BatchNorm wants them in
#    training: ask in evaluation mode.
#
# **Next:** repair one yourself: [exercise 01, *standing still*](../exercises/01_standing_still.ipynb), then
# [exercise 02, *a tall start*](../exercises/02_tall_start.ipynb). The result is judged by what your program does. The same
# checks, and many more, work on your own script, without changing it: `bugzoo checkup train.py`.
