"""Lesson 02: a review classifier that does not learn, the test of one batch, and whose tensors an optimizer moves."""

# %% [case] incident
# sentiment_lstm freezing/optimizer_on_old_model

# %% [case] second
# regression_mlp loss/target_column_broadcast

# %% [markdown] title
# # 02 · Overfit one batch
#
# A training step that works brings the loss of one batch near zero within seconds. You write this test, and measure how many bugs
# it finds. About {40 = minutes} minutes; you need to know what a batch and an optimizer are. The {lesson = 00} says how a lesson works.

# %% setup
device = "cpu"  # or "auto", "cuda"

import copy

import torch

import bugzoo
from bugzoo import lab
from bugzoo.lessons.parts import one_batch

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("02")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The loss ends where it began
#
# > *Friday, 16:10.* "The review classifier does not learn any more. The loss stays where it begins. I tried learning rates from
# > {0.0001 = low_rate} to {0.5 = top_rate}: {the same = all_stuck}. There are gradients, no layer is frozen, and this morning it worked."
#
# The program reads film reviews: an embedding, an LSTM of two layers, and a linear layer. In {4 of 100 = turned} the label is wrong. Its healthy version gets {0.77 to 0.82 = well_accuracy} of them right after {150 = length} steps.

# %% [predict] first_loss
# Two classes, and a model that knows nothing yet. What is the loss of the very first batch?
#
# (=) {0.693 = ln_2} +- 0.05
#     A model that knows nothing gives each class the probability 1/2, and the loss is -ln(1/2) = ln 2.
# (~) 0.5 +- 0.04
#     That is the probability of each class. The loss is its negative logarithm, ln 2.
# (~) 1 +- 0.05
#     That is the answer in bits. PyTorch's cross-entropy counts in nats: ln 2.
# (~) else
#     Each class gets the probability 1/2, and the loss is its negative logarithm: ln 2.

# %% live
incident = lab.case("02/incident")
view = lab.live(incident, explain=False, reference={"ln 2": torch.tensor(2.0).log().item()})

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
first_loss.reveal(f"{trace.loss[0]:.3f}")

# %% [proof] numbers-proof
import math

import numpy as np
import torch.nn.functional as F

from bugzoo import programs

ln_2, ln_10, ln_words = (math.log(number) for number in (2, 10, 30_000))
facts = programs.load("sentiment_lstm").facts
turned, length = abs(facts["bayes"] - 0.96) < 1e-9, len(trace.loss)
begin, ill_late, ill_early = trace.loss[0], trace.loss[-20:].mean(), trace.loss[:20].mean()
well_late, well_accuracy = healthy.loss[-20:].mean(), healthy.metrics["accuracy"]
assert abs(begin - 0.693) < 0.05 and abs(ill_late - 0.693) < 0.05 and abs(ill_early - ill_late) < 0.02
no_norm = bool(np.isnan(trace.grad_norm).all()) and bool(np.isfinite(healthy.grad_norm).all())

# %% [folded] numbers-read
# After the run: what the first loss says
#
# The first loss is {0.681 = begin}, about ln 2: the first guess is a fair one. The last 20 average {0.71 = ill_late}: {150 = length} steps have taught it nothing.
# Its norm is {`nan`: no gradient reached the optimizer = no_norm}. Yet there are gradients?

# %% [check] classes
# The first loss of a new classifier tells how many classes it guesses among. Which belongs to which?
#
# {0.693 = ln_2} -> 2 classes, such as praise and blame
# {2.303 = ln_10} -> 10 classes, such as digits
# {10.31 = ln_words} -> 30,000 classes, such as the words of a vocabulary
#     exp(loss) is the number of classes, as long as the first guess is a fair one.

# %% [markdown] overfit-text
# ## One batch, again and again
#
# Take 8 reviews and train on them for 200 steps, with the loss and the optimizer **of the program**, and **leave no trace**. Copy model
# and optimizer *together*, in one call of `copy.deepcopy`: the copied optimizer then holds the copied parameters.
#
# **Write it:** the loss of every tenth step, in training mode.


# %% [task] overfit
def overfit(model, optimizer, loss_of, batch, steps=200):
    """Losses of steps 10, 20, ... on this batch, by loss_of(model, batch); model and optimizer stay as they are."""
    losses = []
    for _ in range(steps):
        ...  # your code


# %% [solution] overfit
def overfit(model, optimizer, loss_of, batch, steps=200):
    """Losses of steps 10, 20, ... on this batch, by loss_of(model, batch); model and optimizer stay as they are."""
    model, optimizer = copy.deepcopy((model, optimizer))
    model.train()
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[9::10]


# %% [judge] overfit
import copy

import torch
import torch.nn.functional as F
from torch import nn


def squared(model, batch):
    return F.mse_loss(model(batch[0]), batch[1])


def made():
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    batch = torch.randn(8, 3), torch.randn(8, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    squared(model, batch).backward()
    optimizer.step()
    return model, optimizer, batch


def steps_of(model, optimizer, loss_of, batch, steps, clear=True):
    losses = []
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def judge(answer):
    model, optimizer, batch = made()
    right = steps_of(*copy.deepcopy((model, optimizer)), squared, batch, 60)[9::10]
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict()["state"]))
    gave = answer(model, optimizer, squared, batch, 60)
    gave = [float(one) for one in gave] if isinstance(gave, list | tuple) else []
    yield "losses of 60 steps, one for every tenth", 6, len(gave), "The loss of step 10 is the first in the list."
    stranger = torch.optim.Adam(nn.Linear(3, 1).parameters(), lr=1e-2)
    flat = answer(model, stranger, squared, batch, 20)
    flat = [float(one) for one in flat] if isinstance(flat, list | tuple) else []
    yield (
        "with an optimizer of another model the loss", "stays", "stays" if len(flat) == 2 and abs(flat[0] - flat[1]) < 1e-6 else "moves",
        "Use the optimizer that you were given. A new one inside the function would hide the bug that this test is for.",
    )  # fmt: skip
    falls = len(gave) == 6 and gave[-1] < gave[0] - 1e-3
    yield (
        "with its own optimizer the loss", "falls", "falls" if falls else "does not fall",
        "Copy model and optimizer in one call, or the copied optimizer holds the parameters of the original.",
    )  # fmt: skip
    near = len(gave) == 6 and max(abs(a - b) for a, b in zip(gave, right, strict=True)) < 1e-4
    expected, got = (", ".join(f"{loss:.3f}" for loss in losses[:3]) for losses in (right, gave))
    yield (
        "the first losses", expected, expected if near else got or "none",
        "Clear the gradients in each step, and use this one batch in each of them.",
    )  # fmt: skip
    same = all(torch.equal(a, b) for a, b in zip(before[0].values(), model.state_dict().values(), strict=True))
    yield (
        "the weights stay as they are",
        True,
        same,
        "Train a copy. state_dict() alone is no copy: it refers to the weights.",
    )
    after = optimizer.state_dict()["state"]
    same = all(
        torch.equal(torch.as_tensor(value), torch.as_tensor(after[number][key]))
        for number, one in before[1].items()
        for key, value in one.items()
    )
    yield (
        "the optimizer's averages stay as they are",
        True,
        same,
        "Adam keeps averages, so the optimizer needs a copy, too.",
    )


def by_states(model, optimizer, loss_of, batch, steps=200):
    kept = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    losses = steps_of(model.train(), optimizer, loss_of, batch, steps)
    model.load_state_dict(kept[0])
    optimizer.load_state_dict(kept[1])
    return losses[9::10]


def trains_it(model, optimizer, loss_of, batch, steps=200):
    return steps_of(model, optimizer, loss_of, batch, steps)[9::10]


def copied_apart(model, optimizer, loss_of, batch, steps=200):
    return steps_of(copy.deepcopy(model), copy.deepcopy(optimizer), loss_of, batch, steps)[9::10]


def own_optimizer(model, optimizer, loss_of, batch, steps=200):
    model = copy.deepcopy(model)
    return steps_of(model, torch.optim.Adam(model.parameters(), lr=1e-2), loss_of, batch, steps)[9::10]


def another_batch(model, optimizer, loss_of, batch, steps=200):
    model, optimizer = copy.deepcopy((model, optimizer))
    losses = []
    for _ in range(steps):
        fresh = torch.randn_like(batch[0]), torch.randn_like(batch[1])
        losses += steps_of(model, optimizer, loss_of, fresh, 1)
    return losses[9::10]


def never_cleared(model, optimizer, loss_of, batch, steps=200):
    return steps_of(*copy.deepcopy((model, optimizer)), loss_of, batch, steps, clear=False)[9::10]


RIGHT = {"states kept and put back": by_states}
LAZY = {
    "trains the model itself": trains_it, "two copies": copied_apart, "an optimizer of its own": own_optimizer,
    "a new batch in each step": another_batch, "gradients never cleared": never_cleared,
}  # fmt: skip

# %% [draw] eight
# Draw the loss of a program that works: 8 reviews, the same ones in each of 200 steps.
#
# step: 10, 50, 100, 150, 200
# loss (nats): 0.00001 to 1, log

# %% one-batch-run
ill, well = lab.variables(incident), lab.variables(incident.healthy())
batch, curves = one_batch.first_reviews(well), {}
for name, run in (("healthy twin", well), ("incident", ill)):
    curves[name] = overfit(run["model"], run["optimizer"], one_batch.loss_of, batch)
eight.reveal({name: (list(range(10, 201, 10)), losses) for name, losses in curves.items()})

# %% [proof] one-batch-proof
well_end, ill_end, well_50 = curves["healthy twin"][-1], curves["incident"][-1], curves["healthy twin"][4]
ill_begin, below = curves["incident"][0], well_50 < 0.01
assert well_end < 1e-3 and abs(ill_end - ill_begin) < 0.1 and ill_end > 0.5

# %% [folded] one-batch-read
# After the run: the data is innocent
#
# The healthy program is {below 0.01 = below} after 50 steps. The incident stays at {0.6 = ill_end}, and wobbles only as dropout
# draws anew in each step. So the fault is in the step: model, loss, gradient or optimizer.

# %% [check] outcomes
# Four outcomes of the test, and what to look at next. Which belongs to which?
#
# It stays where it began -> Which tensors does the step move, and does a gradient reach them?
# It falls, then stops far above zero -> Is there a floor: equal inputs with different labels, or a softmax too many?
# It jumps up and down and ends nowhere -> Is the learning rate too high for this model?
# It is nan after a few steps -> Which operation gave the first number that is not finite?
#     A flat line, a floor, a swing and a cliff have different causes. Say which one you have before you change anything.

# %% [predict] suspects
# A course gives three suspects for a loss that stays up on one batch. Which one is it here?
#
# ( ) A frozen layer
#     All tensors are trainable, as the ticket says.
# ( ) The learning rate
#     With fifty times the program's rate the loss does not fall either.
# ( ) A sum, not a mean
#     The gradient is 8 times as large, and Adam divides by its size.
# (x) None of the three
#     Each can be ruled out in one line.

# %% suspects-run
weights = list(ill["model"].parameters())
print(f"1  trainable tensors: {sum(weight.requires_grad for weight in weights)} of {len(weights)}")
print(f"2  fifty times the rate: {overfit(*one_batch.with_rate(ill, 50), one_batch.loss_of, batch)[-1]:.3f}")
print(f"3  the loss summed:      {overfit(ill['model'], ill['optimizer'], one_batch.summed, batch)[-1] / 8:.3f}")
healthy_sum = overfit(well["model"], well["optimizer"], one_batch.summed, batch)[-1] / 8
print(f"   in the healthy twin, averaged {curves['healthy twin'][-1]:.5f}, summed {healthy_sum:.5f}")
suspects.reveal()

# %% [proof] suspects-proof
rate_50 = overfit(*one_batch.with_rate(ill, 50), one_batch.loss_of, batch)[-1]
ill_sum = overfit(ill["model"], ill["optimizer"], one_batch.summed, batch)[-1] / 8
rate = ill["optimizer"].param_groups[0]["lr"]
low_rate, top_rate = rate / 100, rate * 50
assert all(weight.requires_grad for weight in weights) and rate_50 > 0.5 and ill_sum > 0.5
both_learn = healthy_sum < 1e-3
count = len(weights)

# %% [measured] plain-sgd
sgd_sum, sgd_eight, sgd_mean = (
    one_batch.plain_sgd(overfit, well, batch, rate, loss)
    for rate, loss in ((0.01, one_batch.summed), (0.08, one_batch.loss_of), (0.01, one_batch.loss_of))
)
sgd_sum /= 8
sgd_alike = abs(sgd_sum - sgd_eight) < 0.01 < sgd_mean - sgd_sum

# %% [measured] other-rates
stuck = []
for tried in (1e-4, 0.5):
    slow = bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": tried}, device=device).run().trace.loss
    stuck.append(abs(slow[-20:].mean() - 0.7) < 0.03)
all_stuck = all(stuck)

# %% [folded] suspects-read
# After the run: three suspects, none of them guilty
#
# In the healthy twin {both losses go to zero = both_learn}, averaged or summed: **Adam divides each gradient by its own size**. Under plain SGD the
# sum {acts as 8 times the learning rate = sgd_alike}: both end at {0.19 = sgd_sum}, the mean at {0.45 = sgd_mean}.

# %% [markdown] moved-text
# ## Who moved?
#
# Compare the weights before a step with those after it. **Write it:** the names of the tensors that changed, if only in the last bit.


# %% [task] moved
def moved(before, after):
    """Names whose tensors differ, in the order of `before`. Both map a name to a tensor."""
    ...  # your code


# %% [solution] moved
def moved(before, after):
    """Names whose tensors differ, in the order of `before`. Both map a name to a tensor."""
    return [name for name, tensor in before.items() if not torch.equal(tensor, after[name])]


# %% [judge] moved
import torch


def judge(answer):
    one, tiny = torch.ones(3), torch.ones(3)
    tiny[1] += 2e-7
    turned = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([3.0, 2.0, 1.0])
    before = {"still": one, "last": torch.zeros(2), "tiny": one, "turned": turned[0], "number": torch.tensor(3)}
    after = {"tiny": tiny, "still": one.clone(), "turned": turned[1], "last": torch.ones(2), "number": torch.tensor(4)}
    gave = answer(before, after)
    gave = list(gave) if isinstance(gave, list | tuple | set) else []
    yield "zeros that became ones have changed", True, "last" in gave
    yield (
        "equal numbers in another tensor have changed", False, "still" in gave,
        "Two tensors can hold the same numbers. Compare the numbers, not the objects.",
    )  # fmt: skip
    yield (
        "one number that moved by 0.0000002 has changed", True, "tiny" in gave,
        "allclose has a tolerance, and a learning rate that is far too low hides in it.",
    )  # fmt: skip
    yield "1, 2, 3 that became 3, 2, 1 has changed", True, "turned" in gave, "A norm forgets where a number stands."
    yield (
        "in the order of `before`",
        ["last", "tiny", "turned", "number"],
        gave,
        "Go through `before`, not through `after`.",
    )


def by_difference(before, after):
    return [name for name in before if (before[name] != after[name]).any()]


RIGHT = {"by differences": by_difference}
LAZY = {
    "norms": lambda b, a: [n for n in b if b[n].float().norm() != a[n].float().norm()],
    "allclose": lambda b, a: [n for n in b if not torch.allclose(b[n].float(), a[n].float())],
    "is": lambda b, a: [n for n in b if b[n] is not a[n]],
    "order of after": lambda b, a: [n for n in a if not torch.equal(a[n], b[n])],
}  # fmt: skip


# %% [predict] who
# One step of the incident: backward, then optimizer.step(). Which of the model's tensors change?
#
# ( ) All of them, but far too little
#     With a learning rate near zero each tensor differs in some bits.
# (x) None of them, although all have a gradient
#     The gradient is full and the step is made. So what does the step change?
# ( ) Those of the head, but not the LSTM
#     That is what frozen layers look like: then the head learns alone.
# ( ) None of them, as the gradient is zero
#     Each tensor has a gradient, and it is not zero.

# %% who-run
for name, program in (("incident", incident), ("healthy twin", incident.healthy())):
    before, after = (lab.variables(program, step)["model"] for step in (1, 2))
    changed = moved(before.state_dict(), after.state_dict())
    filled = [key for key, weight in before.named_parameters() if weight.grad is not None and weight.grad.any()]
    print(f"{name:12}  tensors {len(before.state_dict())}   with a gradient {len(filled)}   changed {len(changed)}")
who.reveal()

# %% [proof] who-proof
assert len(changed) == len(filled) == count
ill_before, ill_after = (lab.variables(incident, step)["model"] for step in (1, 2))
assert moved(ill_before.state_dict(), ill_after.state_dict()) == []
assert all(weight.grad is not None and weight.grad.any() for weight in ill_before.parameters())

# %% [markdown] outsiders-text
# ## Whose tensors?
#
# `optimizer.step()` knows no model. It changes the tensors that it was given: those in `group["params"]` of each of its
# `optimizer.param_groups`. **Write it:** the names of the model's parameters that are in no group.


# %% [task] outsiders
def outsiders(model, optimizer):
    """Names of the model's parameters that the optimizer does not hold, in the model's order."""
    ...  # your code; model.named_parameters() gives names and parameters


# %% [solution] outsiders
def outsiders(model, optimizer):
    """Names of the model's parameters that the optimizer does not hold, in the model's order."""
    held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    return [name for name, parameter in model.named_parameters() if id(parameter) not in held]


# %% [judge] outsiders
import copy

import torch
from torch import nn


class Tied(nn.Module):
    """A model that uses one matrix for its first and its last layer."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)
        self.last.weight = self.first.weight


def judge(answer):
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    names = [name for name, _ in model.named_parameters()]
    half = torch.optim.SGD([{"params": model[1].parameters()}, {"params": [model[0].bias]}], lr=0.1)
    for what, of, optimizer, wanted, hint in (
        ("an optimizer of this model", model, torch.optim.SGD(model.parameters(), lr=0.1), [], ""),
        ("two groups without the first weight", model, half, ["0.weight"], "Look into every group."),
        (
            "the optimizer of another model with equal shapes", model,
            torch.optim.SGD(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)).parameters(), lr=0.1), names,
            "Every copy of a model has the same shapes. A shape does not say which tensor it is.",
        ),
        (
            "the optimizer of a copy with equal numbers", model,
            torch.optim.SGD(copy.deepcopy(model).parameters(), lr=0.1), names,
            "Equal numbers are not the same tensor. Ask with `is`, or compare id().",
        ),
        ("one matrix used twice", (tied := Tied()), torch.optim.SGD(tied.parameters(), lr=0.1), [], ""),
    ):  # fmt: skip
        gave = answer(of, optimizer)
        gave = list(gave) if isinstance(gave, list | tuple) else gave
        yield what, wanted, gave, hint


def by_is(model, optimizer):
    held = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    return [name for name, one in model.named_parameters() if not any(one is tensor for tensor in held)]


def by_numbers(model, optimizer):
    held = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    return [
        name for name, one in model.named_parameters()
        if not any(one.shape == tensor.shape and torch.equal(one, tensor) for tensor in held)
    ]  # fmt: skip


def by_shapes(model, optimizer):
    held = [tensor.shape for group in optimizer.param_groups for tensor in group["params"]]
    return [name for name, one in model.named_parameters() if one.shape not in held]


def first_group(model, optimizer):
    held = {id(tensor) for tensor in optimizer.param_groups[0]["params"]}
    return [name for name, one in model.named_parameters() if id(one) not in held]


RIGHT = {"with is": by_is}
LAZY = {"equal numbers": by_numbers, "equal shapes": by_shapes, "the first group": first_group, "none": lambda m, o: []}


# %% outsiders-run
for name, run in (("incident", ill), ("healthy twin", well)):
    print(f"{name:12}  not in the optimizer: {outsiders(run['model'], run['optimizer'])}")
print(incident.diff())

# %% [proof] outsiders-proof
all_outside = (
    len(outsiders(ill["model"], ill["optimizer"])) == count and outsiders(well["model"], well["optimizer"]) == []
)

# %% [folded] outsiders-read
# After the run: an optimizer for a model that is gone
#
# The optimizer holds {none of the model's tensors = all_outside}. The line with `+` makes the model a second time, *after* the optimizer: no optimizer
# moves the tensors that get the gradients.
#
# It happened in a tutorial
# ([spro/practical-pytorch, issue 9](https://github.com/spro/practical-pytorch/issues/9)).

# %% [predict] which_number
# Which number of the view `weights` tells this run from one with a *frozen* model?
#
# (x) The share of parameters that no optimizer holds
#     Frozen tensors are held, and not trainable.
# ( ) The count of tensors that did not move
#     They do not move in either of the two.
# ( ) The validation accuracy at the end
#     It is that of a guess in both.
# ( ) The learning rate of each group
#     It is the same in both.

# %% [markdown] look-text
# ## Two views do this by themselves
#
# `weights` lists each tensor with its owner. `one_batch` runs your test with the program's own loop.

# %% look
well_run = incident.healthy().run()
looks = {name: lab.look(name, view.result, beside=well_run) for name in ("weights", "one_batch")}
which_number.reveal()

# %% [proof] look-proof
half = abs(looks["weights"]["{label = weights.outside_and_untouched_share}"] - 0.5) < 0.01
assert looks["one_batch"]["{label = one_batch.ratio}"] == 1
tensors_twice = looks["weights"]["parameter tensors"]
flat = looks["one_batch"]["{label = one_batch.best_loss}"] == looks["one_batch"]["{label = one_batch.highest_loss}"]

# %% [folded] look-read
# After the run: half of the parameters
#
# The view counts {22 = tensors_twice} tensors, as two models were alive: {half of the elements = half} are trainable and held by no optimizer. `one_batch` repeats the random
# numbers, too: the loss is {the same in each step = flat}.

# %% [predict] repaired tags=["how-sure"]
# The incident is paused after step 40 and gets a new optimizer for the model that it trains. What happens to its curve?
#
# ( ) It becomes the healthy twin's, to the last bit
#     Forty steps are lost.
# ( ) It stays where it is, as the model has been spoiled
#     Nothing has touched the model.
# (x) It falls from there, and ends above the twin's
#     The model was untouched, and now it learns. It has {110 = rest} of {150 = length} steps left.

# %% [markdown] repair-text
# ## Repair the running program

# %% repair
view = lab.live(incident, pause_at=40, explain=False)
view.wait_pause()
model = view.objects["model"]  # a variable of the paused program
view.objects["optimizer"] = torch.optim.Adam(model.parameters(), lr=1e-2)
view.mark(40, "a new optimizer")
view.resume()

# %% repair-numbers
mended = view.result.trace
for name, run in (("repaired", mended), ("healthy twin", healthy)):
    print(f"{name:12}  last 20 losses {run.loss[-20:].mean():.3f}   validation accuracy {run.metrics['accuracy']:.3f}")
repaired.reveal(f"accuracy {mended.metrics['accuracy']:.3f}")

# %% [proof] repair-proof
rest = length - 40
assert mended.loss[:40].mean() > 0.65 > mended.loss[-20:].mean() > healthy.loss[-20:].mean()

# %% [draw] faults_caught
# "The single-batch test catches four of five bugs", people say. Take two faults of each kind in a program that reads digits:
# 1 optimizer, 2 loss, 3 loop, 4 data, 5 metrics. How many of each two does the test catch?
#
# kind: 1, 2, 3, 4, 5
# faults caught, of 2: 0 to 2

# %% [markdown] caught-text
# ## How many bugs does it catch?
#
# *Caught* means: repeating one batch does not halve its loss.

# %% caught-run
counts = one_batch.caught()
faults_caught.reveal([1, 2, 3, 4, 5], list(counts.values()), "caught")
caught, pairs = one_batch.of_all()
print(f"{sum(counts.values())} of 10; of all pairs of fault and program that were proved: {caught} of {pairs}")

# %% [proof] caught-proof
three_of_ten = list(counts.values()) == [1, 1, 1, 0, 0]
many_pairs, one_in_seven = pairs > 800, 0.12 < caught / pairs < 0.17
assert three_of_ten

# %% [folded] caught-read
# After the run: a sharp test for a small group
#
# {Three of these ten = three_of_ten}; of {more than 800 pairs = many_pairs} of fault and program {about one in seven = one_in_seven}. The test fires where a step cannot learn. Most mistakes let it
# learn the wrong thing.

# %% [predict] frozen tags=["how-sure"]
# Embedding and LSTM are frozen at random weights; the head can learn. What does the loss on 8 reviews do in 200 steps?
#
# ( ) It stays at ln 2, as random features say nothing
#     Random features still differ for different reviews.
# (x) It falls, but it is far from zero after 200 steps
#     Eight points in {56 = features} dimensions can be separated, and the head works on it.
# ( ) It goes to zero as fast as in the healthy program
#     The head has only {114 = head_size} weights.

# %% [markdown] figure-text
# ## Five ways through one batch
#
# Healthy, the incident, a rate far too low, the head alone, and labels drawn anew in each step.

# %% figure
ways = one_batch.five_ways(overfit, ill, well)
lab.picture(one_batch.picture(ways))
many = one_batch.first_reviews(well, 64)
for name, pair in (
    ("healthy", (well["model"], well["optimizer"])),
    ("only the head learns", one_batch.last_tensors(well)),
):
    print(f"{name:21} ends at {overfit(*pair, one_batch.loss_of, many)[-1]:.4f} with 64 reviews")
frozen.reveal(f"{ways['only the head learns'][-1]:.3f}")

# %% [proof] figure-proof
ends = {name: losses[-1] for name, losses in ways.items()}
assert ends["healthy"] < 0.001 and all(end > 0.03 for name, end in ends.items() if name != "healthy"), ends
head_size, features = sum(part.numel() for part in well["model"].head.parameters()), well["model"].head.in_features
falls = 0.05 < np.mean(ways["only the head learns"][-10:]) < 0.6 * ways["only the head learns"][0]
more = [
    overfit(*pair, one_batch.loss_of, many)[-1]
    for pair in ((well["model"], well["optimizer"]), one_batch.last_tensors(well))
]
gets_stuck = more[1] > 0.4 > 0.01 > more[0]
near = [
    ends[name]
    for name in ("incident: optimizer of another model", "rate 1000 times too low", "labels drawn in each step")
]
near_first = all(abs(end - 0.69) < 0.15 for end in near)

# %% [folded] figure-read
# After the run: read the end, and name who moved
#
# Three lines {stay near the first loss = near_first}. The frozen body {keeps falling = falls} on eight reviews. With 64 it {gets stuck = gets_stuck},
# and the healthy model does not. So take a batch that is not trivial.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# *"From ten measurements of a patient I predict how far diabetes has progressed after a year. The loss comes to rest at {about 1 = turn_rest}, and R² is
# {0.02 = turn_r2}; it used to be {0.48 = turn_well}. Blood values are noisy, so we wait for more patients."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike, within six minutes.

# %% turn
second = lab.case("02/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock, hints = lab.timer(6), lab.hints(second)

# %% [proof] turn-proof
turn_rest, turn_r2 = turn_run.trace.loss[-20:].mean(), turn_run.trace.metrics["r2"]

# %% [measured] twin-of-the-transfer
turn_well = second.healthy().run().trace.metrics["r2"]
assert abs(turn_rest - 1) < 0.05

# %% turn-look
# your own look; some ways to begin:
#   lab.lines(second)                  the program with its line numbers
#   patients = lab.variables(second)   its variables after the first step
#   sixteen = patients["inputs"], patients["targets"]
#   overfit(patients["model"], patients["optimizer"], lambda model, batch: ..., sixteen)[-1]

# %% [proof] turn-one-batch
patients = lab.variables(second)
sixteen = patients["inputs"], patients["targets"]


def as_written(model, batch):
    return F.mse_loss(model(batch[0]), batch[1].unsqueeze(1))


import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns of the shapes; the program's reader may have overlooked it
    turn_floor = overfit(patients["model"], patients["optimizer"], as_written, sixteen, 400)[-1]
turn_variance = sixteen[1].var(correction=0).item()
assert abs(turn_floor - turn_variance) < 0.02, (turn_floor, turn_variance)
at_floor, patients_in_batch = abs(turn_floor - turn_variance) < 0.02, len(sixteen[1])

# %% turn-form
form = lab.diagnose(second, hints=hints)

# %% turn-answer
from bugzoo.grading.case import judged

if form.handed_in:
    clock.stop()
    print(judged(second, form.diagnosis.record()))
    print(second.diff())
else:
    print("Hand in the form first, then run this cell.")

# %% [proof] turn-judged
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "unsqueeze" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
graded = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in graded) == 0, graded

# %% [folded] turn-read
# After you have handed in: a floor is arithmetic
#
# One batch of {16 = patients_in_batch} patients stops as well, at {the variance of the targets = at_floor}: the price of one answer for all. A column of targets against a row of
# predictions makes a table of all pairs, and the best answer to it is the mean. Torch warns of it once.

# %% [markdown] recap
# ## What to take with you
#
# 1. **One batch to zero before anything else.** *Fails when* dropout or noise sets a floor.
# 2. **Near zero: the step can learn.** *Fails when* it learns the wrong thing, such as labels moved by one.
# 3. **A flat line: ask which tensors moved.** *Fails when* they move, but only by rounding.
# 4. **Compare the first loss with ln C**, if classes are balanced.
#
# **Next:** {exercise = 04}, {exercise = 05}, {exercise = 06}.


# %% [keep] outsiders
def test_outsiders_speaks_on_the_incident():
    program = lab.variables(lab.case("02/incident"))
    assert outsiders(program["model"], program["optimizer"])


def test_outsiders_is_silent_on_the_healthy_twin():
    program = lab.variables(lab.case("02/incident").healthy())
    assert outsiders(program["model"], program["optimizer"]) == []


# %% home
lab.calibration("02")
lab.keep(outsiders)
mine = lab.mine(view="weights")  # your own script: lab.mine("train.py", view="weights")

# %% [measured] habits
import tempfile
from pathlib import Path

folder, zeros = Path(tempfile.mkdtemp()), {}
settings = {"reviews": 125, "epochs": 20, "batch_size": 20}
for label, case in (("incident", incident), ("healthy twin", incident.healthy())):
    source = bugzoo.Scenario(case.program, case.faults, settings, device=device).source
    save = f"torch.save(model.state_dict(), {str(folder / 'step_0.pt')!r})"  # in the program, before its loop
    saving = lab.LiveView(source.replace("# %% Training", f"{save}\n\n# %% Training"), show_twin=False).start()
    losses, trained = saving.result.trace.loss, saving.objects["model"]
    zero = copy.deepcopy(trained)
    zero.load_state_dict(torch.load(folder / "step_0.pt"))
    zeros[label] = moved(zero.state_dict(), trained.state_dict())
none_moved = zeros["incident"] == [] and len(zeros["healthy twin"]) == len(weights)
hundred_learn, steps_of_100 = losses[-5:].mean() < 0.3, len(losses)

# %% [proof] own-reviews
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as place:
    file = Path(place) / "reviews.csv"
    file.write_text("text,label\n" + "what a lovely film,1\nnot worth the money,0\n" * 50)
    about = {"data": str(file), "longest": 200, "epochs": 10, "batch_size": 20}
    own = bugzoo.Scenario("sentiment_lstm", (), about, device=device).run().trace
assert own.outcome == "finished" and own.loss[-1] < 0.3 and len(own.loss) == 40, (own.outcome, own.loss)

# %% [folded] appendix
# Appendix, for the curious: two habits, and your own reviews
#
# **Save the weights before the first step**: `torch.save(model.state_dict(), "step_0.pt")` above the loop. It tells even after a night whether
# anything moved. In the incident {nothing had = none_moved}. **Train on 100 samples first**: with loader and validation that takes {100 = steps_of_100} steps and seconds,
# and the healthy program {learns them = hundred_learn}.
#
# The program also reads a CSV with a text and a label column, or a folder with `pos/` and `neg/`:
#
# ```python
# settings = {"data": "reviews.csv", "longest": 200, "epochs": 10, "batch_size": 20}
# own = bugzoo.Scenario("sentiment_lstm", (), settings, device=device)
# lab.LiveView(own, show_twin=False).start()
# ```
#
# `longest` is the number of words that it reads of each review. A fifth of the reviews is for validation. For a larger model there
# are `width` and `hidden_size`.
