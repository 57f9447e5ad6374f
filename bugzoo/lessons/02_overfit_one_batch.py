"""Lesson 02: sixteen patients that nobody can learn by heart, how low a loss can go, and what one batch never tells."""

# %% [case] incident
# regression_mlp initialisation/zero_weights

# %% [case] fourth
# mini_transformer attention/causal_mask_missing

# %% [case] second
# sequence_classifier loss/sigmoid_into_bce_with_logits

# %% [markdown] title
# # 02 · Overfit one batch
#
# Take one batch and give it to the training step again and again. A step that works learns it by heart within seconds, and one that does
# not is broken, whatever the data is like. In this lesson you write this test so that it leaves no trace, take a step apart with it,
# work out how low a loss can go at all, and then see how much of what can be wrong it never notices.
#
# You need about {60 = minutes} minutes, and to know what a loss, a batch and an optimiser are. After *A loss that need not go to zero* is a
# good place for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import copy
from collections import defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import bugzoo
from bugzoo import lab

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("02")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Friday, 17:40.* "From ten measurements of a patient I predict how far diabetes has gone on a year later. The loss comes to rest at
# > about {1.0 = rest}, which is what the mean for everybody costs, and R² is {-0.03 = r2_bad}. No error, no nan. {283 = patients} patients are few, and blood
# > values are noisy. My colleague says: ask the clinic for more of them, and take a larger network until they come."
#
# More data takes the clinic three months. Whether data is what is missing can be known in one second.

# %% [predict] guess
# Suppose it is so: the data is noisy and there is too little of it, and all else is in order. The training step is now given the same
# sixteen patients again and again. What does the loss on them do?
#
# ( ) It stays near 1: noise cannot be learnt
#     It cannot be *predicted*. Learnt by heart it can be: the sixteen right answers stand there, and nobody asks for a seventeenth.
# ( ) It falls to about a half, as far as the measurements explain the outcome
#     That is how far it falls on patients that the network has not seen. These sixteen it sees in each step.
# (x) It goes to zero
#     About 1,400 weights for sixteen numbers. So a loss that does *not* go to zero has nothing to do with noise, nor with how many patients there are.

# %% live
incident = lab.case("02/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("the last 30 losses, mean:", trace.loss[-30:].mean().round(3), "  twin:", healthy.loss[-30:].mean().round(3))
print(f"R² on patients it has not seen: {trace.metrics['r2']:.2f}   twin: {healthy.metrics['r2']:.2f}")
guess.reveal()

# %% [proof] numbers-proof
rest, r2_bad, r2_good = float(trace.loss[-30:].mean()), trace.metrics["r2"], healthy.metrics["r2"]
patients = len(view.objects["train"])
weights = sum(one.numel() for one in view.objects["model"].parameters())
assert 1350 < weights < 1450 and abs(rest - 1) < 0.02 and r2_good > 0.4

# %% [folded] numbers-read
# After the run: the same patients, another number
#
# The twin has the same {283 = patients} patients and comes to {0.48 = r2_good}. In real life there is no twin, and nobody to say that the data is good enough. The
# test that you write now asks neither data nor twin.

# %% [markdown] overfit-text
# ## One batch, and no trace
#
# The test must use the loss and the optimiser *of the program*, rate and all; a step that you write nicely yourself tells about yourself. And
# it must leave everything as it was, or the training behind it starts from a model that knows one batch by heart.
#
# What a few steps change is more than the weights: averages in a BatchNorm, moments in the optimiser, the mode, the state of the random
# numbers. Two things help. `copy.deepcopy` copies whatever you give it, and what belongs together has to be given *together*: an optimiser
# holds parameters, and those of a copy are others. `torch.get_rng_state()` and `torch.set_rng_state(state)` keep and put back the dice.
#
# **Write it:** `steps` steps of this optimiser on this batch, in training mode; the loss of each, before its update.


# %% [task] overfit
def overfit(model, batch, loss, optimizer, steps):
    """A list: loss(model, batch) in each of `steps` steps on the one batch. Model, optimiser and dice stay as they were."""
    ...  # your code


# %% try-overfit
overfit = lab.try_out("02/overfit", overfit)


# %% [solution] overfit
def overfit(model, batch, loss, optimizer, steps):
    """A list: loss(model, batch) in each of `steps` steps on the one batch. Model, optimiser and dice stay as they were."""
    dice = torch.get_rng_state()
    model, optimizer = copy.deepcopy((model, optimizer))  # one call: the copied optimiser holds the copied parameters
    model.train()
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(model, batch)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    torch.set_rng_state(dice)
    return losses


# %% [judge] overfit
import copy

import torch
import torch.nn.functional as F
from torch import nn


def squared(model, batch):
    return F.mse_loss(model(batch[0]), batch[1])


def made(*layers, seed=2):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 32), *layers, nn.ReLU(), nn.Linear(32, 1))
    return model, (torch.randn(8, 3), torch.randn(8, 1)), torch.optim.Adam(model.parameters(), lr=3e-2)


def reference(model, batch, optimizer, steps):
    model, optimizer = copy.deepcopy((model, optimizer))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = squared(model, batch)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def judge(answer):
    model, batch, optimizer = made()
    right = reference(model, batch, optimizer, 60)
    gave = answer(model, batch, squared, optimizer, 60)
    gave = [float(one) for one in gave] if isinstance(gave, list | tuple) else []
    yield len(gave) == 60, f"60 steps, 60 losses: yours has {len(gave)}"
    shown = f"{gave[0]:.4f} to {gave[-1]:.4f}" if gave else "nothing"
    off = max((abs(a - b) for a, b in zip(gave, right, strict=False)), default=9.0)
    yield off < 1e-3, f"plain layers: from {right[0]:.4f} to {right[-1]:.4f}, yours {shown}"

    model, batch, optimizer = made(nn.BatchNorm1d(32), nn.Dropout(0.2))
    for _ in range(3):
        optimizer.zero_grad()
        squared(model, batch).backward()
        optimizer.step()
    model.eval()
    model[2].train()
    modes = [module.training for module in model.modules()]
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    dice, heard = torch.get_rng_state(), []

    def listening(model, batch):
        heard.append(all(module.training for module in model.modules()))
        return squared(model, batch)

    answer(model, batch, listening, optimizer, 20)
    yield heard == [True] * 20, f"20 losses computed in training mode: yours {sum(heard)} of {len(heard)}"
    weights = all(torch.equal(a, b) for a, b in zip(before[0].values(), model.state_dict().values(), strict=True))
    yield weights, f"weights and BatchNorm's averages as before: True, yours {weights}"
    after = optimizer.state_dict()["state"]
    moments = all(
        torch.equal(torch.as_tensor(value), torch.as_tensor(after[number][key]))
        for number, one in before[1]["state"].items()
        for key, value in one.items()
    )
    yield moments, f"the optimiser's moments as before: True, yours {moments}"
    kept = [module.training for module in model.modules()]
    yield kept == modes, f"modes as before: {modes}, yours {kept}"
    rolled = torch.equal(dice, torch.get_rng_state())
    yield rolled, f"the random numbers go on where they were: True, yours {rolled}"
    begun = model[0].weight.clone()
    optimizer.zero_grad()
    squared(model, batch).backward()
    optimizer.step()
    moved = not torch.equal(begun, model[0].weight)
    yield moved, f"the optimiser still moves this model: True, yours {moved}"


def steps_of(model, batch, loss, optimizer, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(model, batch)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def by_states(model, batch, loss, optimizer, steps):
    """Keeps what there was, trains the model itself, and puts all back."""
    modes = [(module, module.training) for module in model.modules()]
    kept = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    with torch.random.fork_rng():
        losses = steps_of(model.train(), batch, loss, optimizer, steps)
    model.load_state_dict(kept[0])
    optimizer.load_state_dict(kept[1])
    for module, mode in modes:
        module.training = mode
    return losses


def trains_it(model, batch, loss, optimizer, steps):
    return steps_of(model.train(), batch, loss, optimizer, steps)


def copied_apart(model, batch, loss, optimizer, steps):
    with torch.random.fork_rng():
        return steps_of(copy.deepcopy(model).train(), batch, loss, copy.deepcopy(optimizer), steps)


def optimiser_s_own(model, batch, loss, optimizer, steps):
    with torch.random.fork_rng():
        model = copy.deepcopy(model).train()
        return steps_of(model, batch, loss, torch.optim.Adam(model.parameters()), steps)


def rolls_on(model, batch, loss, optimizer, steps):
    model, optimizer = copy.deepcopy((model, optimizer))
    return steps_of(model.train(), batch, loss, optimizer, steps)


def as_it_stands(model, batch, loss, optimizer, steps):
    with torch.random.fork_rng():
        model, optimizer = copy.deepcopy((model, optimizer))
        return steps_of(model, batch, loss, optimizer, steps)


def weights_only(model, batch, loss, optimizer, steps):
    kept, was = copy.deepcopy(model.state_dict()), model.training
    with torch.random.fork_rng():
        losses = steps_of(model.train(), batch, loss, optimizer, steps)
    model.load_state_dict(kept)
    model.train(was)
    return losses


RIGHT = {"kept and put back": by_states}
LAZY = {
    "trains the model itself": trains_it, "two copies": copied_apart, "an optimiser of its own": optimiser_s_own,
    "the dice roll on": rolls_on, "in whatever mode": as_it_stands, "weights put back only": weights_only,
}  # fmt: skip

# %% [predict] where
# The incident's own step, 300 times on its first sixteen patients. At which loss does it end?
#
# ( ) At zero
#     Then data or noise could still be to blame. The twin goes there.
# ( ) Where it began: nothing moves
#     Something does: a little of it falls, and then no more.
# (x) At the variance of the sixteen targets
#     The best that can be done with *one* answer for everybody. It has found the mean, and nothing else.


# %% where-run
def at_start(scenario):
    """The names of a run that stands still behind its first step."""
    stand = lab.LiveView(scenario, pause_at=1, show_twin=False).start()
    stand.wait_pause()
    names = dict(stand.objects)
    stand.stop()
    return names


def squared_error(model, batch):
    return F.mse_loss(model(batch[0]), batch[1])  # the program's own line


ill, well = at_start(incident), at_start(incident.healthy())
batch = ill["inputs"], ill["targets"]
for name, run in (("incident", ill), ("twin", well)):
    losses = overfit(run["model"], batch, squared_error, run["optimizer"], 300)
    print(f"{name:10} first {losses[0]:.4f}   after 100: {losses[99]:.4f}   after 300: {losses[-1]:.8f}")
    if run is ill:
        stops = losses[-1]
variance = batch[1].var(correction=0).item()
print(f"variance of the sixteen targets: {variance:.4f}")
where.reveal(f"{stops:.4f}")

# %% [proof] where-proof
begins, twin_ends = overfit(ill["model"], batch, squared_error, ill["optimizer"], 1)[0], losses[-1]
stops_at, variance_of = stops, variance
assert twin_ends < 1e-5 and abs(stops - variance) < 1e-4 and len(batch[1]) == 16

# %% [folded] where-read
# After the run: where a loss stops is a measurement
#
# {1.2088 = stops_at}, and the variance is {1.2088 = variance_of}: not about the same, the same. A loss that stops somewhere stops there for a reason, and the
# place often names it. What you have here is the price of the best *constant*. For classes it would be the entropy of the labels in the batch.
#
# So the clinic need not be asked. Sixteen patients are too many already.

# %% [markdown] swap-text
# ## Three parts, one at a time
#
# A step has three parts: a **loss**, a **model**, an **update**. Exchange one at a time for something that certainly works, and see
# which exchange sets the batch free.
#
# A loss is tried without a model: hand it a table of free numbers, each of which may become whatever it likes. Nothing is easier to
# train. If even these do not get down, it is the loss that has a floor.
#
# **Write it:** the lowest value to which Adam gets `loss(numbers)` with free numbers of this shape, which begin at zero.


# %% [task] without_model
def without_model(loss, shape, steps=300):
    """The lowest loss(numbers) that is met, where `numbers` is a tensor of free numbers of this shape, trained by Adam."""
    ...  # your code; a rate of 0.1 to 0.3 does it


# %% try-without
without_model = lab.try_out("02/without_model", without_model)


# %% [solution] without_model
import math


def without_model(loss, shape, steps=300):
    """The lowest loss(numbers) that is met, where `numbers` is a tensor of free numbers of this shape, trained by Adam."""
    numbers = torch.zeros(shape, requires_grad=True)
    optimizer = torch.optim.Adam([numbers], lr=0.2)
    lowest = math.inf
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(numbers)
        value.backward()
        optimizer.step()
        lowest = min(lowest, value.item())
    return lowest


# %% [judge] without_model
import math

import torch
import torch.nn.functional as F


def judge(answer):
    generator = torch.Generator().manual_seed(2)
    values = torch.randn(16, generator=generator)
    five, two = torch.randint(5, (40,), generator=generator), torch.arange(40) % 2
    shapes = []

    def squared(numbers):
        shapes.append(tuple(numbers.shape))
        return F.mse_loss(numbers, values)

    gave = float(answer(squared, (16,)))
    yield gave < 1e-2, f"squared error of 16 values: 0.000, yours {gave:.3f}"
    yield set(shapes) == {(16,)}, f"    the numbers have the shape (16,): yours {sorted(set(shapes))}"
    for loss, shape, right, what in (
        (lambda z: F.cross_entropy(z, five), (40, 5), 0.0, "cross-entropy of five classes"),
        (lambda z: F.cross_entropy(z.tanh(), five), (40, 5), math.log1p(4 * math.exp(-2)), "logits through a tanh"),
        (lambda z: F.mse_loss(z.sigmoid(), 2.0 * two), (40,), 0.5, "targets that a sigmoid cannot reach"),
        (lambda z: F.mse_loss(z.expand(2, 3), torch.arange(6.0).view(2, 3)), (2, 1), 2 / 3, "one number for three"),
    ):
        gave = float(answer(loss, shape))
        yield abs(gave - right) < 0.015, f"{what}: {right:.3f}, yours {gave:.3f}"


def by_lbfgs(loss, shape, steps=300):
    numbers = torch.zeros(shape).requires_grad_()
    optimizer, seen = torch.optim.Adam([numbers], lr=0.3), []
    for _ in range(steps):
        value = loss(numbers)
        (numbers.grad,) = torch.autograd.grad(value, numbers)
        optimizer.step()
        seen.append(float(value.detach()))
    return min(seen)


def at_once(loss, shape, steps=300):
    return loss(torch.zeros(shape)).item()


def one_for_all(loss, shape, steps=300):
    one = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.Adam([one], lr=0.2)
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(one.expand(shape))
        value.backward()
        optimizer.step()
    return value.item()


def few(loss, shape, steps=300):
    numbers = torch.zeros(shape, requires_grad=True)
    optimizer = torch.optim.Adam([numbers], lr=1e-3)
    for _ in range(20):
        optimizer.zero_grad()
        value = loss(numbers)
        value.backward()
        optimizer.step()
    return value.item()


RIGHT = {"with autograd.grad": by_lbfgs}
LAZY = {
    "one number for all": one_for_all, "the first loss": at_once, "twenty small steps": few,
    "zero is the floor": lambda loss, shape, steps=300: 0.0,
}  # fmt: skip

# %% [predict] swap
# The first exchange clears the loss: free numbers go to zero. Which other one sets the incident's batch free?
#
# ( ) Another optimiser, with a higher rate
#     The optimiser has found the best constant, to four digits. It moves what it can.
# ( ) Only both together: another model and another optimiser
#     That happens when two parts are broken. Here one is.
# (x) Another model, with the program's own loss and optimiser settings
#     A second optimiser stops at the very same number, and a fresh model is free at once.

# %% swap-run
kind = type(ill["optimizer"])
rate = ill["optimizer"].param_groups[0]["lr"]
fresh = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
ends = {
    "as it is": stops,
    "the loss alone, free numbers": without_model(lambda numbers: F.mse_loss(numbers, batch[1]), batch[1].shape),
    "another optimiser": overfit(
        ill["model"], batch, squared_error, torch.optim.SGD(ill["model"].parameters(), lr=0.1), 300
    )[-1],
    "another model": overfit(fresh, batch, squared_error, kind(fresh.parameters(), lr=rate), 300)[-1],
}
for name, value in ends.items():
    print(f"{name:30} {value:.6f}")
swap.reveal()

# %% [proof] swap-proof
assert ends["the loss alone, free numbers"] < 1e-6 and abs(ends["another optimiser"] - variance) < 1e-4
assert ends["another model"] < 0.01

# %% [folded] swap-read
# After the run: the model, and in it?
#
# Loss and update are cleared; it is the model. That a constant is all that it learns says more: what comes in at the bottom does not come
# out at the top. Somewhere between, sixteen patients become one.

# %% look-inside
spread = {}


def heard(name):
    def hook(layer, inputs, output):
        spread[name] = inputs[0].std(0).mean().item(), output.std(0).mean().item(), layer.weight.abs().max().item()

    return hook


looked = copy.deepcopy(ill["model"])
for name, layer in looked.named_children():
    layer.register_forward_hook(heard(name))
looked(batch[0])
print("how far the patients lie apart   in       out     largest weight")
for name, (before, behind, largest) in spread.items():
    print(f"{name:30} {before:7.3f}  {behind:7.3f}  {largest:10.6f}")

# %% [proof] look-proof
assert spread["layer1"][0] > 0.5 and spread["layer1"][1] == 0 == spread["head"][2]

# %% [markdown] instrument-text
# The instruments that do this over a whole run, and what was done to the healthy program:

# %% instrument
from bugzoo.diagnostics import activation_stats, overfit_one_batch

for instrument in (overfit_one_batch, activation_stats):
    verdict = instrument.judge(instrument.measure(view.result))
    print(f"{verdict.instrument}: {verdict.message}")
print(incident.diff())

# %% [proof] instrument-proof
assert overfit_one_batch.judge(overfit_one_batch.measure(view.result)).fired

# %% [folded] instrument-read
# After the run: what zeros do
#
# All weights are zero, and a ReLU hands on no gradient at zero, nor does a product with a weight of zero. The one parameter that is not cut off is
# the bias of the head, and with that you get the mean. Somebody with a regression network that had learnt the mean of its targets
# [wrote to PyTorch](https://github.com/pytorch/pytorch/issues/17923) that it felt *as if the weights were set to zero and only biases were
# learnt*. (There they were not zero; something else kept the inputs out.) A sentence like that is worth more than a hundred runs, and a test on one batch gives it to you.

# %% [markdown] advice-text
# ## What would have been tried
#
# The larger network, and what else one tries on a Friday evening. None of it needs the test; all of it takes time.

# %% [predict] advice
# Eight times as many units, a hundred times the rate, twice the epochs: which of the three brings R² up to {0.4 = useful} or more?
#
# ( ) The larger network
#     Each of the new units is as dead as the old ones.
# ( ) The higher rate
#     A rate is a factor in front of a gradient. This one is zero.
# (x) None of them
#     Each is a good idea for a step that learns too little, and this one learns nothing. Ask first which of the two it is.

# %% advice-run
tried = {}
for settings in ({}, {"hidden_size": 256}, {"learning_rate": 0.1}, {"epochs": 20}):
    run = bugzoo.Scenario(incident.program, incident.faults, settings=settings).run()
    tried[str(settings)] = run.trace.metrics["r2"]
    print(f"{settings!s:24} R² {run.trace.metrics['r2']:.3f}")
advice.reveal()

# %% [proof] advice-proof
useful = 0.4
assert len(tried) == 4 and max(tried.values()) < 0.01 and r2_good > useful

# %% [markdown] repair-text
# ## Mend it while it stands still
#
# The run again, and halfway it is stopped. Each linear layer draws its weights anew; nothing else is touched.

# %% repair
view = lab.LiveView(incident, pause_at=90, show_twin=False).start()
view.wait_pause()
torch.manual_seed(0)
for layer in view.objects["model"].modules():
    if isinstance(layer, nn.Linear):
        layer.reset_parameters()
view.resume()
print(f"mended in step 90: R² {view.result.trace.metrics['r2']:.2f}   twin: {healthy.metrics['r2']:.2f}")

# %% [proof] repair-proof
r2_mended = view.result.trace.metrics["r2"]
assert 0.35 < r2_mended <= r2_good

# %% [markdown] smooth-text
# ## A loss that need not go to zero
#
# *"Your one-batch loss stops at {0.50 = half_nat}, so there is a bug."* Not always. A digits program smooths its targets: the right one of ten classes gets
# `0.91`, each other `0.01`. The lowest loss against such a target is its own entropy, the sum of `-p * log(p)`: to answer exactly what is asked.

# %% [predict] smooth
# The digits program with `label_smoothing=0.1`, one batch of 32, 300 steps. Where does its loss end?
#
# ( ) Below `0.1`, if only slowly
#     No answer of any network gets there. Work it out: nine times `0.01`, and once `0.91`.
# (x) A little above {0.50 = entropy}
#     {0.086 = right_part} for the right class and nine times {0.046 = other_part} for the others. It cannot go lower, and it is not meant to.
# ( ) At ln 10, {2.30 = ln_ten}, minus a tenth
#     The scale of guessing is one thing, the floor another. Smoothing moves the floor.

# %% smooth-run
digits = at_start(bugzoo.Scenario("mlp"))
pictures = digits["inputs"], digits["targets"]


def smoothed(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1], label_smoothing=0.1)


target = torch.full((10,), 0.01)
target[0] = 0.91
print(f"entropy of the target       {-(target * target.log()).sum():.4f}")
free = without_model(lambda z: F.cross_entropy(z, pictures[1], label_smoothing=0.1), (32, 10))
print(f"free numbers                {free:.4f}")
losses = overfit(digits["model"], pictures, smoothed, digits["optimizer"], 300)
print(f"the program's step, 300 x   {losses[-1]:.4f}")
smooth.reveal(f"{losses[-1]:.3f}")

# %% [proof] smooth-proof
right_part, other_part = -0.91 * math.log(0.91), -0.01 * math.log(0.01)
entropy, ln_ten, half_nat = right_part + 9 * other_part, math.log(10), 0.5
assert entropy < losses[-1] < entropy + 0.01 and abs(free - entropy) < 0.002

# %% [markdown] five-text
# ## Five curves
#
# Five programs, each with one batch, 200 times. Four of them are in order.
#
# | | program | what is particular |
# |---|---|---|
# | A | digits, linear layers | smoothed targets, as above |
# | B | digits, convolutions | dropout, and the pictures are moved about anew in each step |
# | C | a model that predicts the next character | 32 windows of four characters; it may look back, not ahead |
# | D | the same, as somebody else wrote it | the same 32 windows |
# | E | digits, linear layers | a tenth of the usual rate |


# %% five-run
def next_character(model, batch):
    return F.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())


def classes(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1])


def moved_about(model, batch):
    return F.cross_entropy(model(cnn["normalise"](cnn["augment"](batch[0]))), batch[1])


short = {"context": 4, "batch_size": 32}
cnn = at_start(bugzoo.Scenario("digits_cnn"))
one = at_start(bugzoo.Scenario("mini_transformer", settings=short))
other = at_start(bugzoo.Scenario("mini_transformer", lab.case("02/fourth").faults, settings=short))
slow = torch.optim.Adam(digits["model"].parameters(), lr=1e-4)
windows = one["inputs"], one["targets"]  # (32, 4) each, the second one character ahead
curves = {
    "A": overfit(digits["model"], pictures, smoothed, digits["optimizer"], 200),
    "B": overfit(cnn["model"], (cnn["inputs"], cnn["targets"]), moved_about, cnn["optimizer"], 200),
    "C": overfit(one["model"], windows, next_character, one["optimizer"], 200),
    "D": overfit(other["model"], windows, next_character, other["optimizer"], 200),
    "E": overfit(digits["model"], pictures, classes, slow, 200),
}
for name, losses in curves.items():
    print(
        name,
        f"  mean of the last 20: {np.mean(losses[-20:]):.4f}   from {min(losses[-20:]):.4f} to {max(losses[-20:]):.4f}",
    )

# %% five-figure
from bugzoo.plots import one_batch

lab.picture(one_batch.picture(curves))

# %% [predict] five
# Which of the five is ill?
#
# ( ) B: it is restless, and does not come to rest at zero
#     Each step moves its pictures elsewhere and drops other units. It learns 32 pictures in endless versions, and still comes down. That is health.
# ( ) C: it stands still far above zero, and the same program can do better, as D shows
#     So it looks, and so it is usually judged. But can *anybody* do better than C, with what C may look at?
# (x) D: it is too good
#     Its loss is below the lowest that is possible for whoever looks back only. It sees what it should predict.
# ( ) E: it has learnt hardly anything
#     It is on its way, and nothing holds it up. A curve that still falls has not answered yet: give it more steps.

# %% [markdown] floor-text
# ## How low can it go?
#
# C is given four characters and is asked for the next one behind each. Behind the first it knows one character only; and if two windows begin with an `e`, and
# one goes on with `r`, the other with `n`, then nobody can be sure of both. The best is to answer as often as it is so: half and half, which costs ln 2.
#
# The floor of any batch is found like that: put together what *looks the same* to the model, and take the entropy of the answers in each group. What looks the
# same is called the key. In C the key of a place is all characters up to it. To a model that sees nothing, everything looks the same.
#
# **Write it:** the mean loss, in nats, of somebody who knows by heart how often each target came with each key.


# %% [task] floor
def floor(keys, targets):
    """The lowest mean cross-entropy (nats) for whoever sees of each sample its key alone; two lists of one length."""
    ...  # your code; collections.Counter counts, and a key may be any tuple


# %% try-floor
floor = lab.try_out("02/floor", floor)


# %% [solution] floor
import math
from collections import Counter


def floor(keys, targets):
    """The lowest mean cross-entropy (nats) for whoever sees of each sample its key alone; two lists of one length."""
    groups = defaultdict(Counter)
    for key, target in zip(keys, targets, strict=True):
        groups[key][target] += 1
    cost = 0.0
    for counts in groups.values():
        cost -= sum(count * math.log(count / counts.total()) for count in counts.values())
    return cost / len(targets)


# %% [judge] floor
import math
from collections import Counter

ln2, ln3 = math.log(2), math.log(3)
MIXED = (["a", "a", "b", "b", "b", "b", "c"], [1, 2, 5, 5, 5, 6, 7])


def judge(answer):
    for keys, targets, right, what in (
        ([1, 2, 3, 4], [5, 5, 6, 7], 0.0, "all keys differ"),
        ([(0, 1)] * 4, [1, 1, 2, 2], ln2, "one key, two targets as often"),
        ([0] * 6, [1, 2, 3, 1, 2, 3], ln3, "one key, three targets as often"),
        (["e", "e", "x", "y"], ["r", "n", "r", "n"], ln2 / 2, "half of the samples share a key"),
        (["a"] * 4, [9] * 4, 0.0, "one key, one target"),
        (*MIXED, (2 * ln2 + 3 * math.log(4 / 3) + math.log(4)) / 7, "groups of 2, 4 and 1"),
    ):
        gave = float(answer(keys, targets))
        yield math.isclose(gave, right, rel_tol=1e-4, abs_tol=1e-6), f"{what}: {right:.4f}, yours {gave:.4f}"


def by_pairs(keys, targets):
    pairs, alone = Counter(zip(keys, targets, strict=True)), Counter(keys)
    return -sum(n * math.log(n / alone[key]) for (key, _), n in pairs.items()) / len(targets)


def of(counts):
    return -sum(n / sum(counts) * math.log(n / sum(counts)) for n in counts)


def blind(keys, targets):
    return of(list(Counter(targets).values()))


def groups_alike(keys, targets):
    groups = {key: Counter(t for k, t in zip(keys, targets, strict=True) if k == key) for key in keys}
    return sum(of(list(one.values())) for one in groups.values()) / len(groups)


def in_bits(keys, targets):
    return by_pairs(keys, targets) / ln2


def errors(keys, targets):
    groups = {key: Counter(t for k, t in zip(keys, targets, strict=True) if k == key) for key in keys}
    return 1 - sum(max(one.values()) for one in groups.values()) / len(targets)


def summed(keys, targets):
    return by_pairs(keys, targets) * len(targets)


RIGHT = {"counting pairs": by_pairs}
LAZY = {
    "of the targets alone": blind, "every group counts alike": groups_alike, "in bits": in_bits, "share of errors": errors,
    "a sum": summed, "always 0": lambda keys, targets: 0.0,
}  # fmt: skip

# %% floors
rows, answers = windows[0].tolist(), windows[1].flatten().tolist()
behind = [tuple(row[: place + 1]) for row in rows for place in range(len(row))]  # what may be seen at each place
whole = [(tuple(row), place) for row in rows for place in range(len(row))]  # the whole window
honest = floor(behind, answers)
print(f"looking back:     {honest:.4f}      C ends at {curves['C'][-1]:.4f}, D at {curves['D'][-1]:.4f}")
print(f"the whole window: {floor(whole, answers):.4f}")
print(f"nothing at all:   {floor([0] * len(answers), answers):.4f}")
lab.picture(one_batch.picture(curves, {"A": free, "C": honest, "D": honest}))
five.reveal(f"D is at {curves['D'][-1]:.3f}, and the floor at {honest:.3f}")

# %% [proof] floors-proof
honest_floor, whole_window = honest, floor(whole, answers)
at_c, at_d, blind_floor = curves["C"][-1], curves["D"][-1], floor([0] * len(answers), answers)
assert honest < at_c < honest + 0.01 and at_d < honest / 5
low_b, high_b = min(curves["B"][-20:]), max(curves["B"][-20:])
assert high_b > 2 * low_b and np.mean(curves["B"][-20:]) < 0.2 and curves["E"][-1] < curves["E"][-30] - 0.02
letter = lesson.question("five").text + str([cell.shown for cell in lesson.cells if cell.name == "five-text"])
assert "mask" not in letter and "leak" not in letter

# %% [folded] floors-read
# After the run: the healthy one stands still, the ill one goes to zero
#
# C stops at {0.229 = at_c}, and the floor is {0.227 = honest_floor}: as good as can be. D reaches {0.013 = at_d}, which nobody can who does not look ahead: whoever sees the whole
# window can come to {0.011 = whole_window}. There is no mask in its attention. By
# the rule *it must go to zero* you would have kept D and repaired C.
#
# So the rule is: it must go to **its floor**. Above it, something does not learn. On it, all is well. *Below* it, somebody cheats, and that is the
# one kind of leak that one batch shows. For digits the floor is zero as soon as no two pictures are the same.

# %% [check] stands_still
# A classifier's one-batch loss stops at `2.14`. The batch has 32 pictures of ten digits, and the entropy of its labels is `2.14`. What follows?
#
# ( ) The rate is too low
#     then it would be on its way somewhere, and not on this very number.
# (x) It answers the same for every picture
#     yes. It knows how often each digit comes and nothing else: the inputs do not get through.
# ( ) The loss line has a floor
#     it may have one, but hardly this one by chance. Free numbers in place of the model would tell.
# ( ) Nothing: it is near ln 10, and so it has learnt nothing at all
#     it has learnt the frequencies. That is the one thing that can be learnt without looking.

# %% [markdown] noise-text
# ## What can be learnt by heart
#
# One batch goes to zero: what do you know then? A checklist [recommends](https://errorhandle.ai/sanity-check-for-training-phase-of-an-algorithm) the
# other side of the test: with labels at random the model *should fail to learn*, and if it does not, there may be a leak.

# %% [predict] noise
# The digits program: 32 real pictures with their labels, 32 real pictures with labels that were dealt anew, and 32 pictures of pure noise
# with labels at random. How many steps until the loss is below `0.1`?
#
# ( ) The real ones about 70, the other two never
#     Then learning by heart would need sense. It needs weights.
# ( ) The real ones about 70, noise three times as many
#     Noise is no harder. Every picture is far from every other, which is all that a memory wants.
# (x) All between 60 and 110, and noise as fast as the truth
#     Only dealt labels take longer: two pictures that are alike now want different answers. Noise is not even like itself.

# %% noise-run
dice = torch.Generator().manual_seed(0)
images, labels = pictures
dealt = labels[torch.randperm(32, generator=dice)]
static = images.mean() + images.std() * torch.randn(images.shape, generator=dice)
random_labels = torch.randint(10, (32,), generator=dice)
needed = {}
for name, pair in {
    "true labels": pictures, "labels dealt anew": (images, dealt), "noise, random labels": (static, random_labels)
}.items():  # fmt: skip
    losses = overfit(digits["model"], pair, classes, digits["optimizer"], 200)
    needed[name] = 1 + int(np.argmax(np.array(losses) < 0.1))
    print(f"{name:22} below 0.1 in step {needed[name]:3}   after 200: {losses[-1]:.4f}")
noise.reveal(str(needed))

# %% [proof] noise-proof
truth, shuffled, static_steps = needed.values()
assert abs(truth - static_steps) < 12 and truth < shuffled < 120 and 55 < truth < 85 and losses[-1] < 0.01
alike = abs(truth - static_steps) < 12

# %% [folded] noise-read
# After the run: a memory asks for no sense
#
# {About as many = alike} steps for noise as for digits. It is [long known](https://arxiv.org/abs/1611.03530) that whole training sets with random labels can be learnt by
# heart. So a batch that goes to zero says: loss, model and update work together. It says nothing about what the labels *mean*, whether they belong to their inputs, which
# samples come, or how it is measured afterwards. Of all that it asks nothing.

# %% [markdown] catch-text
# ## How much does it catch?
#
# *"Overfitting one batch catches 80 percent of the bugs."* Six faults in the digits program, and the test in its strict form: the program's whole loop body on
# its first batch, with all that stands in it.

# %% [predict] six
# Gradients wiped before the step, gradients never cleared, an update only in every fourth step, labels that belong to other pictures, training pictures
# among the validation, layers that no optimiser holds. How many of the six does it catch?
#
# ( ) All but the validation
#     Then it would look at what lies *between* batches, and at what labels mean. It sees one batch and one step.
# ( ) About half
#     Which half? Go through them: in which can 32 pictures not be learnt by heart?
# (x) One
#     Wiped gradients: nothing moves. The others learn their batch, the one that updates in every fourth step more slowly.

# %% six-run
caught = {}
for fault in (
    "loop/gradients_wiped", "loop/stale_gradients", "loop/step_every_n_never_zeroed", "data/labels_out_of_sync",
    "data/leaky_split", "optimizer/some_parameters_left_out",
):  # fmt: skip
    run = bugzoo.Scenario("mlp", (fault,), settings={"epochs": 1}).run()
    verdict = overfit_one_batch.judge(overfit_one_batch.measure(run))
    caught[fault] = verdict.fired
    print(f"{'caught' if verdict.fired else 'passed':8} {fault:34} {verdict.message}")
six.reveal(f"{sum(caught.values())} of {len(caught)}")

# %% [proof] six-proof
assert [name for name, fired in caught.items() if fired] == ["loop/gradients_wiped"]

# %% [predict] share
# And of the whole catalogue, some 150 faults on fourteen programs, each proved to do harm: of how many does the test notice anything?
#
# ( ) About 80 in 100
#     So it is told. Nobody who tells it says of which faults.
# ( ) About half
#     Half of those that *stand still*. But most faults do not stand still.
# (x) About {one in ten = tenth}
#     It fires where a step cannot learn. Most mistakes let a step learn the wrong thing.

# %% share-run
from bugzoo import faults as catalogue
from bugzoo.claims.one_batch_catches_most import proved

by_symptom = defaultdict(lambda: [0, 0])
for fault, cells in proved().items():
    fired = ["overfit_one_batch" in cell["fired"] for cell in cells.values() if not cell["problems"]]
    if fired:
        count = by_symptom[catalogue.load(fault).symptom]
        count[0] += 1
        count[1] += 2 * sum(fired) >= len(fired)  # on at least half of its programs
print("what one sees        faults   caught")
for symptom, (number, seen) in sorted(by_symptom.items(), key=lambda item: -item[1][1]):
    print(f"{symptom:20} {number:6} {seen:8}")
every, seen = (sum(count[place] for count in by_symptom.values()) for place in (0, 1))
share.reveal(f"{seen} of {every}")

# %% [proof] share-proof
tenth = 0.07 < seen / every < 0.14 and 130 < every < 250
still = [sum(by_symptom[symptom][place] for symptom in ("stuck", "plateau")) for place in (0, 1)]
half_of_still = 0.4 < still[1] / still[0] < 0.65
worse_none = by_symptom["degraded"][1] == by_symptom["too_good"][1] == by_symptom["leak"][1] == 0
most_degraded = by_symptom["degraded"][0] > 0.35 * every

# %% [folded] share-read
# After the run: a narrow test, and a sharp one
#
# Of the faults whose loss stands still it catches {about half = half_of_still}. Of those that only make a model worse, {the largest group by far = most_degraded}, and of those that
# make it too good, it catches {none = worse_none}: the instrument knows no floors, and D would have passed. The faults of a catalogue are no sample of what people do wrong; but eighty is far off. (`bugzoo claims` holds this
# and other claims to their word.)
#
# That is no argument against it. It takes a second, needs no twin, no validation and no idea, and when it fires it has cleared the data and all that comes behind the step. Read it
# in this one direction. *Learnt by heart* is where the search begins, not where it ends.

# %% [markdown] break-text
# ## Move the floor
#
# The digits program with smoothed targets, in full training, and sliders for the smoothing and the rate.
#
# - Take a smoothing of `0.2` and work out the floor before you press Run: the right class gets `0.82`, each other `0.02`.
# - Find a rate at which the loss ends at `1.0` *without* having reached its floor. How would you tell the two from the curve alone?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mlp", ("traps/smoothed_targets?smoothing=0.1",)), settings=("seed", "learning_rate")
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"A small encoder sorts film reviews into praise and blame. Its loss stops at {0.6 = loss_turn}, and it gets {seven in ten = seven_in_ten} of the reviews right
# where it used to get {nearly eight = nearly_eight}. I know why the loss stays high: reviews are a matter of taste. You cannot learn noise."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("02/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                   the program; lines count from 1
#   own = at_start(second)                                 its names behind the first step
#   review_batch = own["inputs"], own["targets"]
#   overfit(own["model"], review_batch, lambda model, batch: ..., own["optimizer"], 100)[-1]
#   without_model(lambda numbers: ..., (len(own["targets"]), 2))

# %% [proof] turn-proof
loss_turn, acc_turn = float(turn_run.trace.loss[-20:].mean()), turn_run.trace.metrics["accuracy"]
acc_before = second.healthy().run().trace.metrics["accuracy"]
seven_in_ten, nearly_eight = 0.66 < acc_turn < 0.75 < acc_before, acc_before < 0.82
reviews = at_start(second)
turn_targets = reviews["targets"]
turn_loss = lambda z: F.binary_cross_entropy_with_logits(torch.sigmoid(z[:, 1] - z[:, 0]), turn_targets.float())  # noqa: E731
turn_free = without_model(turn_loss, (len(turn_targets), 2))
praise = turn_targets.float().mean().item()
turn_floor = praise * math.log1p(math.exp(-1)) + (1 - praise) * math.log(2)
floors_agree = abs(turn_free - turn_floor) < 0.01
sure_yes, sure_no = math.log1p(math.exp(-1)), math.log(2)
one_review_batch = overfit(
    reviews["model"],
    (reviews["inputs"], turn_targets),
    lambda m, b: turn_loss(m(b[0])),
    reviews["optimizer"],
    150,
)[-1]
assert abs(one_review_batch - turn_floor) < 0.03 and floors_agree

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
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "with_logits(" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said

# %% [folded] turn-read
# After you have handed in: taste has nothing to do with it
#
# On one batch the loss stops as well, and noise can be learnt by heart, so it is not noise. Free numbers in place of the model stop {at the same height = floors_agree}: it is the loss
# line. `binary_cross_entropy_with_logits` has a sigmoid in it, and what it is given has been through one. A sure yes costs {0.31 = sure_yes}, a sure no
# {0.69 = sure_no}, and with as many of each that makes about a half. Lesson 06 looks closer at such floors.

# %% [check] recap_check
# One batch goes to its floor within seconds, and the full training comes to nothing. Where do you look first?
#
# ( ) At the rate: take a tenth of it
#     this rate has just learnt a batch. It may still be wrong for a thousand of them, but there are cheaper questions.
# (x) At what one batch does not show: do inputs and labels belong together, what comes between the batches, how is it measured?
#     yes. Loss, model and update have been cleared together. Print ten samples with their labels, as the model gets them.
# ( ) At the model: it is too small for so much data
#     possible, and then the training loss is high too. But first make sure that there is something to learn.
# ( ) Nowhere: it is proved that the program is right
#     it is proved that it can learn noise.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 02` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="02")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **A step that cannot learn one batch by heart is broken, whatever the data is like.** *Fails when* dropout or augmentation make each repetition another
#    batch: then expect a restless loss, and give it time.
# 2. **Exchange one part at a time: loss, model, update.** *Fails when* two of them are broken.
# 3. **Work out the floor before you judge.** On it is well, above it something does not learn, below it somebody cheats. *Fails when* the floor is zero: nothing is below.
# 4. **Learnt by heart is where the search begins.** It says nothing about labels, order, validation or speed.
#
# **Next:** repair one yourself, [exercise 04, *all night*](../exercises/04_all_night.ipynb), and tell the ill one of five,
# [exercise 05, *a matter of taste*](../exercises/05_matter_of_taste.ipynb). The same instruments work on your own script, without changing it:
# `bugzoo checkup train.py`.
