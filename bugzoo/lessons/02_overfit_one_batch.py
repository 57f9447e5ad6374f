"""Lesson 02: a review classifier that does not learn, the test of one batch, and whose tensors an optimizer moves."""

# %% [case] incident
# sentiment_lstm freezing/optimizer_on_old_model

# %% [case] second
# regression_mlp loss/target_column_broadcast

# %% [markdown] title
# # 02 · Overfit one batch
#
# Take one batch and train on it again and again. A training step that works brings the loss near zero within seconds. One that
# cannot is broken, whatever the rest of the data is like. In this lesson you write this test, find out which tensors an optimizer
# moves, repair a run while it is paused, and measure how many bugs the test finds.
#
# You need about {55 = minutes} minutes, and to know what a loss, a batch and an optimizer are. Halfway, after *Look at it*, is a good
# place for a pause.
#
# Predict before each result, even by a guess: it is saved, not graded. Read folded text after the run above it. After a restart
# of the kernel choose *Run* → *Run All Above Selected Cell*. The [glossary](glossary.ipynb) explains words.

# %% setup
device = "cpu"  # or "auto", "cuda"

import copy

import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("02")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Friday, 16:10.* "The review classifier does not learn any more. The loss is about {0.7 = ill_late} from the first step to the last. I tried
# > learning rates from {0.0001 = low_rate} to {0.5 = top_rate}: {the same = all_stuck}. There are gradients, no layer is frozen, and this morning it worked."
#
# The program reads film reviews and says *positive* or *negative*. An embedding turns words into vectors, an LSTM of two layers
# reads them, and a linear layer gives two logits. The reviews are generated, with traps such as "not good". In
# {4 of 100 = turned} the label is wrong on purpose, so no model can honestly get more than {0.96 = honest} of them right. Its healthy
# version gets {0.77 to 0.82 = well_accuracy} after {150 = length} steps.

# %% [predict] first_loss
# Two classes, and a model that knows nothing yet. What is the loss of the very first batch?
#
# (=) {0.693 = ln_2} +- 0.05
#     A model that knows nothing gives each class the probability 1/2, and the loss is -ln(1/2) = ln 2.
# (~) 0.5 +- 0.04
#     That is the probability of each class. The loss is its negative logarithm, ln 2.
# (~) 1 +- 0.05
#     That is the answer in bits. PyTorch's cross-entropy counts in nats, with the natural logarithm: ln 2.
# (~) else
#     Each class gets the probability 1/2, and the loss is its negative logarithm: ln 2.

# %% [markdown] live-text
# ## Watch it
#
# The cell below trains the model twice on the same batches: first a **healthy twin**, the same program without the fault, then
# the incident. Faint lines are what was measured, strong ones the mean of the last steps.

# %% live
incident = lab.case("02/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("              first loss   steps 1 to 20   last 20 steps   validation accuracy")
for name, one in (("incident", trace), ("healthy twin", healthy)):
    early, late = one.loss[:20].mean(), one.loss[-20:].mean()
    print(f"{name:12}   {one.loss[0]:9.3f}   {early:13.3f}   {late:13.3f}   {one.metrics['accuracy']:19.3f}")
first_loss.reveal(f"{trace.loss[0]:.3f}")

# %% [proof] numbers-proof
import math

import numpy as np

from bugzoo import programs

ln_2, ln_10, ln_words = (math.log(number) for number in (2, 10, 30_000))
facts = programs.load("sentiment_lstm").facts
honest, turned, length = facts["bayes"], abs(facts["bayes"] - 0.96) < 1e-9, len(trace.loss)
begin, ill_late, ill_early = trace.loss[0], trace.loss[-20:].mean(), trace.loss[:20].mean()
well_late, well_accuracy, ill_accuracy = (
    healthy.loss[-20:].mean(),
    healthy.metrics["accuracy"],
    trace.metrics["accuracy"],
)
assert abs(begin - 0.693) < 0.05 and abs(ill_late - 0.693) < 0.05 and abs(ill_early - ill_late) < 0.02
torch.manual_seed(0)
body, guesses = torch.randn(1000, 56), torch.randint(2, (1000,))
plain_head, large_head = torch.nn.Linear(56, 2), torch.nn.Linear(56, 2)
with torch.no_grad():
    large_head.weight *= 10
    first = [
        F.cross_entropy(logits, guesses).item()
        for logits in (plain_head(0.1 * body), torch.nn.BatchNorm1d(2)(plain_head(0.1 * body)), large_head(0.1 * body))
    ]
not_there = abs(first[0] - ln_2) < 0.02 and first[1] > ln_2 + 0.05 and first[2] > ln_2 + 0.05

# %% [folded] numbers-read
# After the run: what the first loss says
#
# The first loss is {0.681 = begin}, about ln 2. So the loss function gets logits and labels, and the first guess is a fair one. The last
# 20 steps cost {0.71 = ill_late} on average: {150 = length} steps have taught it nothing.
#
# Not every model begins there: BatchNorm on the logits, or large weights in the head, {raise the first loss = not_there}.
# What a confident mistake costs is counted in {lesson = 06}.
#
# What do you do next: data, rate, model? The loss curve does not say. The next test rules out all the data in seconds.

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
# Take 8 reviews and train on them for 200 steps, with nothing else: no shuffling, no loader, no validation. Two rules make
# this a test of *your* training:
#
# - Use the loss and the optimizer **of the program**, with its learning rate. A loop with a new optimizer tests the new optimizer.
# - **Leave no trace.** Otherwise your training starts from a model that has memorized 8 reviews. An optimizer
#   holds parameters, so copy model and optimizer *together*, in one call of `copy.deepcopy`: the copied optimizer then holds
#   the copied parameters.
#
# **Write it:** the loss of every tenth step, in training mode. `loss_of(model, batch)` is the loss.


# %% [task] overfit
def overfit(model, optimizer, loss_of, batch, steps=200):
    """Losses of steps 10, 20, ... on this batch; model and optimizer stay as they are."""
    ...  # your code


# %% try-overfit
overfit = lab.try_out("02/overfit", overfit)


# %% [solution] overfit
def overfit(model, optimizer, loss_of, batch, steps=200):
    """Losses of steps 10, 20, ... on this batch; model and optimizer stay as they are."""
    model, optimizer = copy.deepcopy((model, optimizer))
    model.train()
    losses = []
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            losses.append(loss.item())
    return losses


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
    yield (
        len(gave) == 6,
        f"60 steps give 6 losses, one for every tenth step: yours gives {len(gave)}",
        "The loss of step 10 is the first in the list.",
    )
    stranger = torch.optim.Adam(nn.Linear(3, 1).parameters(), lr=1e-2)
    flat = answer(model, stranger, squared, batch, 20)
    flat = [float(one) for one in flat] if isinstance(flat, list | tuple) else []
    yield (
        len(flat) == 2 and abs(flat[0] - flat[1]) < 1e-6,
        f"with an optimizer of another model the loss stays where it is: yours {'stays' if len(set(flat)) < 2 else 'moves'}",
        "Use the optimizer that you were given. A new one inside the function would hide the bug that this test is for.",
    )
    falls = len(gave) == 6 and gave[-1] < gave[0] - 1e-3
    yield (
        falls,
        f"with its own optimizer the loss falls: yours {'falls' if falls else 'does not'}",
        "Copy model and optimizer in one call, or the copied optimizer holds the parameters of the original.",
    )
    near = len(gave) == 6 and max(abs(a - b) for a, b in zip(gave, right, strict=True)) < 1e-4
    shown = ", ".join(f"{one:.3f}" for one in gave[:3])
    yield (
        near,
        f"the first losses are {', '.join(f'{one:.3f}' for one in right[:3])}: yours are {shown or 'none'}",
        "Clear the gradients in each step, and use this one batch in each of them.",
    )
    kept = all(torch.equal(a, b) for a, b in zip(before[0].values(), model.state_dict().values(), strict=True))
    yield (
        kept,
        f"the weights stay as they are: True, yours {kept}",
        "Train a copy. state_dict() alone is no copy: it refers to the weights.",
    )
    after = optimizer.state_dict()["state"]
    same = all(
        torch.equal(torch.as_tensor(value), torch.as_tensor(after[number][key]))
        for number, one in before[1].items()
        for key, value in one.items()
    )
    yield (
        same,
        f"the optimizer's averages stay as they are: True, yours {same}",
        "Adam keeps averages of its own, so the optimizer needs a copy too.",
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

# %% [draw] one_batch
# Draw the loss of a program that works: 8 reviews, the same ones in each of 200 steps. Drag the three points before you run it.
#
# step: 10, 50, 200
# loss (nats): 0.00001 to 1, log


# %% one-batch-run
def at_start(scenario):
    """The variables of a program that is paused after its first step."""
    view = lab.LiveView(scenario, pause_at=1, show_twin=False).start()
    view.wait_pause()
    names = dict(view.objects)
    view.stop()
    view.wait()
    return names


right = []


def loss_of(model, batch):
    logits = model(batch[0])
    right.append((logits.argmax(1) == batch[1]).sum().item())
    return F.cross_entropy(logits, batch[1])  # as the program has it


torch.manual_seed(0)  # dropout draws random numbers
ill, well = at_start(incident), at_start(incident.healthy())
reviews, labels = (one.to(device) for one in well["train_loader"].dataset.tensors)
batch = reviews[:8], labels[:8]
steps = list(range(10, 201, 10))
curves = {}
for name, run in (("healthy twin", well), ("incident", ill)):
    curves[name] = overfit(run["model"], run["optimizer"], loss_of, batch)
    told = "  ".join(f"{steps[at]}: {curves[name][at]:.5f}" for at in (0, 5, 10, 15))
    print(f"{name:12} {told}  right at the end: {right[-1]} of 8")
one_batch.reveal({name: (steps, losses) for name, losses in curves.items()})

# %% [proof] one-batch-proof
well_end, ill_end, well_50 = curves["healthy twin"][-1], curves["incident"][-1], curves["healthy twin"][4]
ill_begin = curves["incident"][0]
below, all_right, ill_right = well_50 < 0.01, set(right[-300:-200]) == {8}, right[-1]
assert ill_right < 8
assert well_end < 1e-3 and abs(ill_end - ill_begin) < 0.1 and ill_end > 0.5

# %% [folded] one-batch-read
# After the run: the data is innocent
#
# The healthy program is {below 0.01 = below} after 50 steps, and has {all eight right = all_right} at the end. The incident stays at {0.6 = ill_end}. Shuffling, loader,
# other labels and validation played no part. A model memorizes eight reviews even if their labels are wrong. So the
# fault is in the step itself: model, loss, gradient or optimizer.

# %% [check] outcomes
# Four outcomes of the test, and what to look at next. Which belongs to which?
#
# It stays where it began -> Which tensors does the step move, and does a gradient reach them?
# It falls, then stops far above zero -> Is there a floor: equal inputs with different labels, or a softmax too many?
# It jumps up and down and ends nowhere -> Is the learning rate too high for this model?
# It is nan after a few steps -> Which operation gave the first number that is not finite?
#     A flat line, a floor, a swing and a cliff have different causes. Say which one you have before you change anything.

# %% [predict] suspects
# A course hands out this test with three suspects for a loss that stays up: a frozen layer, a learning rate that is too low, a loss
# that is summed where it should be averaged. Which one is it here?
#
# ( ) A frozen layer
#     All tensors are trainable, as the ticket says. It is a good first look, as it costs one line.
# ( ) The learning rate
#     The ticket tried rates up to {0.5 = top_rate}. With fifty times the program's rate the loss does not fall either.
# ( ) The sum in place of the mean
#     The sum is 8 times the mean, and so is its gradient. Adam divides by the size of the gradient, so it hardly notices.
# (x) None of the three
#     A list of suspects is where a search begins. All three can be ruled out in one line each, and then the list is empty.


# %% suspects-run
def summed(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1], reduction="sum")


def with_rate(run, factor):
    """Model and optimizer of a paused program, with another learning rate."""
    model, optimizer = copy.deepcopy((run["model"], run["optimizer"]))
    for group in optimizer.param_groups:
        group["lr"] *= factor
    return model, optimizer


def plain_sgd(rate, loss_of):
    torch.manual_seed(0)
    return overfit(well["model"], torch.optim.SGD(well["model"].parameters(), lr=rate), loss_of, batch)[-1]


weights = list(ill["model"].parameters())
print(f"1  trainable tensors: {sum(w.requires_grad for w in weights)} of {len(weights)}")
print(f"2  fifty times the rate: {overfit(*with_rate(ill, 50), loss_of, batch)[-1]:.3f}")
print(f"3  the loss summed:      {overfit(ill['model'], ill['optimizer'], summed, batch)[-1] / 8:.3f}")
healthy_sum = overfit(well["model"], well["optimizer"], summed, batch)[-1] / 8
print(f"   in the healthy twin, averaged {curves['healthy twin'][-1]:.5f}, summed {healthy_sum:.5f}")
sgd = plain_sgd(0.01, summed) / 8, plain_sgd(0.08, loss_of), plain_sgd(0.01, loss_of)
print(f"   with plain SGD summed {sgd[0]:.5f}; averaged, rate times 8 {sgd[1]:.5f}; averaged {sgd[2]:.5f}")
suspects.reveal()

# %% [proof] suspects-proof
rate_50 = overfit(*with_rate(ill, 50), loss_of, batch)[-1]
ill_sum = overfit(ill["model"], ill["optimizer"], summed, batch)[-1] / 8
rate = ill["optimizer"].param_groups[0]["lr"]
low_rate, top_rate = rate / 100, rate * 50
assert all(w.requires_grad for w in weights) and rate_50 > 0.5 and ill_sum > 0.5
both_learn = healthy_sum < 1e-3
sgd_sum, sgd_mean, sgd_alike = sgd[0], sgd[2], abs(sgd[0] - sgd[1]) < 0.01 < sgd[2] - sgd[0]
count = len(weights)

# %% [measured] other-rates
stuck = []
for tried in (1e-4, 0.5):
    slow = bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": tried}, device=device).run().trace.loss
    stuck.append(abs(slow[-20:].mean() - 0.7) < 0.03)
all_stuck = all(stuck)

# %% [folded] suspects-read
# After the run: three suspects, none of them guilty
#
# All {11 = count} tensors are trainable. The rate makes no difference, and neither does the sum. In the healthy twin {both losses go to zero = both_learn},
# averaged or summed: **Adam divides each gradient by its own size**, so a factor of 8 disappears. Under plain SGD the sum {is a learning
# rate 8 times as high = sgd_alike}: the loss ends at {0.19 = sgd_sum} either way, and with the mean alone at {0.45 = sgd_mean}.

# %% [markdown] moved-text
# ## Who moved?
#
# A step has three parts: the loss, its gradient, the update. Is there a gradient, and does the update change the
# model? Compare the weights before a step with those after it.
#
# **Write it:** the names of the tensors that changed at all. A change in the last bit counts: a tensor that moves too slowly is
# another bug than one that does not move.


# %% [task] moved
def moved(before, after):
    """Names whose tensors differ, in the order of `before`. Both map a name to a tensor."""
    ...  # your code


# %% try-moved
moved = lab.try_out("02/moved", moved)


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
    yield "last" in gave, f"zeros that became ones have changed: yours says {'last' in gave}"
    yield (
        "still" not in gave,
        f"equal numbers in another tensor have not changed: yours says they have {'still' in gave}",
        "Two tensors can hold the same numbers. Compare the numbers, not the objects.",
    )
    yield (
        "tiny" in gave,
        f"one number moved by 0.0000002, which is a change: yours says {'tiny' in gave}",
        "allclose has a tolerance, and a learning rate that is far too low hides in it.",
    )
    yield (
        "turned" in gave,
        f"1, 2, 3 became 3, 2, 1, which is a change: yours says {'turned' in gave}",
        "A norm or a sum forgets where a number stands.",
    )
    yield (
        gave == ["last", "tiny", "turned", "number"],
        f"in the order of `before`: last, tiny, turned, number; yours gives {', '.join(map(str, gave))}",
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
#     That is what a learning rate near zero looks like. Then each tensor differs in some bits.
# (x) None of them, although all have a gradient
#     The gradient is full and the step is made. So what does the step change?
# ( ) Those of the head, but not the LSTM
#     That is what frozen layers look like. Then the loss falls a little, as the head learns alone.
# ( ) None of them, as the gradient is zero
#     Gradients are there, as the ticket says: each tensor has one, and it is not zero.


# %% who-run
def weights_of(model):
    """A copy of each weight: state_dict() alone would show the new numbers after the step as well."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


for name, scenario in (("incident", incident), ("healthy twin", incident.healthy())):
    run = lab.LiveView(scenario, pause_at=1, show_twin=False).start()
    run.wait_pause()
    model = run.objects["model"]
    before = weights_of(model)
    run.advance(1)
    filled = [
        key for key, weight in model.named_parameters() if weight.grad is not None and weight.grad.abs().sum() > 0
    ]
    changed = moved(before, weights_of(model))
    print(f"{name:12}  tensors {len(before)}   with a gradient {len(filled)}   changed {len(changed)}")
    run.stop()
    if scenario is incident:
        result = len(filled), len(changed)
who.reveal(f"{result[0]} of {len(before)} have a gradient, {result[1]} changed")

# %% [proof] who-proof
assert result == (len(before), 0) and len(changed) == len(before)
all_filled, tensors = result[0] == len(before), len(before)

# %% [markdown] outsiders-text
# ## Whose tensors?
#
# `optimizer.step()` knows no model. It changes the tensors that it was given when it was made:
#
# ```python
# for group in optimizer.param_groups:
#     for tensor in group["params"]: ...
# ```
#
# **Write it:** the names of the model's parameters that are in no group.


# %% [task] outsiders
def outsiders(model, optimizer):
    """Names of the model's parameters that the optimizer does not hold, in the model's order."""
    ...  # your code; model.named_parameters() gives names and parameters


# %% try-outsiders
outsiders = lab.try_out("02/outsiders", outsiders)


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
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}", hint


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
    names = outsiders(run["model"], run["optimizer"])
    print(
        f"{name:12}  not in the optimizer: {len(names)} of {len(list(run['model'].parameters()))}  {', '.join(names[:3])}"
    )
print(incident.diff())

# %% [proof] outsiders-proof
no_norm = bool(np.isnan(trace.grad_norm).all()) and bool(np.isfinite(healthy.grad_norm).all())
all_outside = (
    len(outsiders(ill["model"], ill["optimizer"])) == count and outsiders(well["model"], well["optimizer"]) == []
)

# %% [folded] outsiders-read
# After the run: an optimizer for a model that is gone
#
# The optimizer holds {none of the model's tensors = all_outside}. The line with `+` makes the model a second time, *after* the optimizer. From there on
# the optimizer steps the old one, which the loop never calls.
#
# Look again at the plot at the top. Its lower half has no line for the incident: it shows the gradient that the *optimizer*
# gets, and this one {got none = no_norm}. You can see that only if you miss something that should be there.
#
# In a notebook you need no extra line for this: run the cell of the model again, and not the cell of the optimizer. It
# happened in a well-known tutorial
# ([spro/practical-pytorch, issue 9](https://github.com/spro/practical-pytorch/issues/9)).

# %% [predict] which_number
# You will see this program's run in a view with a dozen numbers. Which one number shows this fault at a glance?
#
# (x) The share of parameters that no optimizer holds
#     Every tensor of the model counts here, and none in the healthy run.
# ( ) The validation accuracy at the end
#     It is that of a guess. So is the accuracy of many other faults.
# ( ) The share of tensors that are frozen
#     It is zero here, as in the healthy run. Frozen tensors would be held, and not trainable.
# ( ) The learning rate of each group
#     It is what the program asks for. It moves tensors of another model.

# %% [markdown] look-text
# ## Look at it
#
# What you did by hand is a view: `weights` lists each tensor with its owner and its movement, `one_batch` runs your test with
# the program's own loop. First the incident, then the healthy twin: a look is worth something if it can come out otherwise.

# %% look
well_run = incident.healthy().run()
looks = {}
for view_name in ("weights", "one_batch"):
    for name, run in (("incident", view.result), ("healthy twin", well_run)):
        print(f"--- {name}")
        looks[view_name, name] = lab.look(view_name, run)
which_number.reveal()

# %% [proof] look-proof
held = "{label = weights.outside_and_untouched_share}"
still = "{label = one_batch.ratio}"
half = abs(looks["weights", "incident"][held] - 0.5) < 0.01 and looks["weights", "healthy twin"][held] == 0
assert looks["one_batch", "incident"][still] == 1 and looks["one_batch", "healthy twin"][still] < 0.2
tensors_twice = looks["weights", "incident"]["parameter tensors"]
flat = (
    looks["one_batch", "incident"]["{label = one_batch.best_loss}"]
    == looks["one_batch", "incident"]["{label = one_batch.highest_loss}"]
)

# %% [folded] look-read
# After the run: half of the parameters
#
# The view counts {22 = tensors_twice} tensors in the incident, as two models were alive: {half of the elements = half} are trainable and held by no optimizer. In
# the twin the share is 0. `one_batch` repeats the program's own loop with the same random numbers, so the incident's loss is
# {the same in each step = flat}, to the last digit. (On a GPU the last digits may differ.)

# %% [predict] repaired
# The incident is paused after step 40 and gets a new optimizer for the model that it trains. What happens to its curve?
#
# ( ) It becomes the healthy twin's, to the last bit
#     Forty steps are lost, and the second model began with other weights than the first. It cannot be the same run.
# ( ) It stays where it is, as the model has been spoiled
#     Nothing has touched the model: that was the fault. It is as fresh as at step 1.
# (x) It falls from there, and ends a little behind the twin
#     The model was untouched, and now it learns. It has {110 = rest} of {150 = length} steps left.

# %% [markdown] repair-text
# ## Repair the running program
#
# `view.objects` are the variables of the paused program. A new optimizer takes the place of the old one.

# %% repair
view = lab.live(incident, pause_at=40, explain=False)
view.wait_pause()
model = view.objects["model"]
view.objects["optimizer"] = torch.optim.Adam(model.parameters(), lr=1e-2)
view.mark(40, "a new optimizer")
print("not in the optimizer:", outsiders(model, view.objects["optimizer"]))
view.resume()

# %% repair-numbers
mended = view.result.trace
print(f"last 20 steps: {mended.loss[-20:].mean():.3f}   healthy twin {healthy.loss[-20:].mean():.3f}")
print(f"validation accuracy: {mended.metrics['accuracy']:.3f}   healthy twin {healthy.metrics['accuracy']:.3f}")
repaired.reveal(f"accuracy {mended.metrics['accuracy']:.3f}")

# %% [proof] repair-proof
rest = length - 40
assert mended.loss[:40].mean() > 0.65 > mended.loss[-20:].mean() > healthy.loss[-20:].mean()

# %% [markdown] habits-text
# ## Two habits that go with it
#
# **Save the weights before the first step.** It is one line, and it answers "did anything move, ever?" even after a night.
# **Train on 100 samples first.** A whole training, with loader and validation, then takes seconds.

# %% habits
import tempfile
from pathlib import Path

folder, zeros = Path(tempfile.mkdtemp()), {}
settings = {"reviews": 125, "epochs": 20, "batch_size": 20}
for name, case in (("incident", incident), ("healthy twin", incident.healthy())):
    source = bugzoo.Scenario(case.program, case.faults, settings, device=device).source
    save = f"torch.save(model.state_dict(), {str(folder / 'step_0.pt')!r})"  # in the program, before its loop
    run = lab.LiveView(source.replace("# %% Training", f"{save}\n\n# %% Training"), show_twin=False).start()
    losses, model = run.result.trace.loss, run.objects["model"]
    zero = copy.deepcopy(model)
    zero.load_state_dict(torch.load(folder / "step_0.pt"))
    zeros[name] = moved(weights_of(zero), weights_of(model))
    told = f"100 reviews, {len(losses)} steps: loss {losses[:5].mean():.2f} to {losses[-5:].mean():.2f}"
    print(f"{name:12}  {told}   moved since step 0: {len(zeros[name])} tensors")

# %% [proof] habits-proof
assert losses[-5:].mean() < 0.3 and [len(names) for names in zeros.values()] == [0, count]

# %% [predict] share
# "The single-batch test catches four of five bugs." Here are six: wiped gradients, stale gradients, noisy labels, a leaky split, some
# parameters without an optimizer, a learning rate far too low. In how many does the test raise an alarm?
#
# ( ) In none: each of these programs has a loss and a gradient
#     Two of the six hardly move a weight.
# (x) In two
#     Wiped gradients and the low rate do not learn at all. The other four learn, in part the wrong thing.
# ( ) In five, as the sentence has it
#     Noisy labels and leaked rows can be memorized, too.
# ( ) In all six
#     A split plays no part on one batch.

# %% [markdown] caught-text
# ## How many bugs does it catch?
#
# The six faults in a program that reads digits, and the test on the first batch of each. The last line counts all proved faults,
# each in every program that it fits. (Their results are in the repository, not in an installed package.)

# %% caught-run
from bugzoo import diagnostics
from bugzoo.proving import ledger

caught = {}
for fault in (
    "loop/gradients_wiped", "loop/stale_gradients", "data/label_noise", "data/leaky_split",
    "optimizer/some_parameters_left_out", "optimizer/lr_too_low",
):  # fmt: skip
    run = bugzoo.Scenario("mlp", (fault,), settings={"epochs": 1}, device=device).run()
    numbers = diagnostics.read("overfit_one_batch", run).numbers
    caught[fault] = diagnostics.instrument("overfit_one_batch").judge(numbers).fired
    print(
        f"{'caught' if caught[fault] else 'passes':7} loss {numbers['first_loss']:.2f} to {numbers['best_loss']:.2f}  {fault}"
    )
share.reveal(f"{sum(caught.values())} of these 6")

bugs = [
    ledger.read("faults", name).get("cells", {}) for name in ledger.names("faults") if not name.startswith("traps/")
]
if proved := [pair for pairs in bugs for pair in pairs.values() if not pair["problems"]]:
    print(f"all: {sum('overfit_one_batch' in pair['fired'] for pair in proved)} of {len(proved)} pairs caught")

# %% [proof] caught-proof
assert [name for name, one in caught.items() if one] == ["loop/gradients_wiped", "optimizer/lr_too_low"]
many_pairs, pairs_share = len(proved) > 800, sum("overfit_one_batch" in pair["fired"] for pair in proved) / len(proved)
one_in_seven = 0.12 < pairs_share < 0.17

# %% [folded] caught-read
# After the run: a sharp test for a small group
#
# Of {more than 800 pairs = many_pairs} of fault and program, it catches {about one in seven = one_in_seven}. It fires where a step cannot learn; most mistakes let it
# learn the wrong thing.

# %% [markdown] figure-text
# ## Five ways through one batch
#
# Five trainings on the same eight reviews. One of them has the first suspect of the list: everything is frozen but the head.

# %% [predict] frozen
# Embedding and LSTM are frozen at random weights; the head can learn. What does the loss on 8 reviews do in 200 steps?
#
# ( ) It stays at ln 2, as random features say nothing
#     Random features are still different for different reviews. The head can tell 8 points apart.
# (x) It falls, but it is far from zero after 200 steps
#     Eight points in {56 = features} dimensions can be separated, and the head works on it.
# ( ) It goes to zero as fast as in the healthy program
#     The head has only {114 = head_size} weights to do it with, and the features do not come to meet it.

# %% figure
from bugzoo.plots import one_batch_lines


def head_only(run):
    """A copy of the model with a frozen body, and an optimizer for its head."""
    model = copy.deepcopy(run["model"])
    for name, weight in model.named_parameters():
        weight.requires_grad = name.startswith("head")
    return model, torch.optim.Adam(model.head.parameters(), lr=1e-2)


def drawn_anew(model, batch):
    """Labels that are drawn again in each step: nothing can be memorized."""
    return F.cross_entropy(model(batch[0]), torch.randint(2, batch[1].shape, device=device))


ways = {
    "healthy": curves["healthy twin"],
    "optimizer of another model": curves["incident"],
    "rate 1000 times too low": overfit(*with_rate(well, 1e-3), loss_of, batch),
    "only the head learns": overfit(*head_only(well), loss_of, batch),
    "labels drawn in each step": overfit(well["model"], well["optimizer"], drawn_anew, batch),
}
lab.picture(one_batch_lines.picture({name: (steps, losses) for name, losses in ways.items()}))
for name, losses in ways.items():
    print(f"{name:27} ends at {losses[-1]:.5f}")
many, more = (reviews[:64], labels[:64]), {}
for name, pair in (("healthy", (well["model"], well["optimizer"])), ("only the head learns", head_only(well))):
    more[name] = overfit(*pair, loss_of, many)[-1]
    print(f"{name:27} ends at {more[name]:.5f} with 64 reviews")
frozen.reveal(f"{ways['only the head learns'][-1]:.3f}")

# %% [proof] figure-proof
ends = {name: losses[-1] for name, losses in ways.items()}
assert ends["healthy"] < 0.001 and all(end > 0.03 for name, end in ends.items() if name != "healthy"), ends
head_size, features = sum(one.numel() for one in well["model"].head.parameters()), well["model"].head.in_features
last_hundred = np.mean(ways["only the head learns"][-10:])
falls = 0.05 < last_hundred < 0.6 * ways["only the head learns"][0]
gets_stuck = more["only the head learns"] > 0.4 > 0.01 > more["healthy"]
alike = [ends[name] for name in ("optimizer of another model", "rate 1000 times too low", "labels drawn in each step")]
near_first = all(abs(end - 0.69) < 0.15 for end in alike)

# %% [folded] figure-read
# After the run: read the end, and name who moved
#
# Only the healthy line leaves the shaded region. Three lines {stay near the first loss = near_first}: they need a second look. `moved` tells the optimizer
# of another model from the rate that is too low, and a look at the labels tells the third.
#
# The frozen body {keeps falling = falls}: eight points can be separated, whatever the features. With 64 reviews it {gets stuck = gets_stuck},
# and the healthy model does not. So take a batch that is not trivial, ask for a loss near **zero**, and compare with a run that works.

# %% [markdown] play-text
# ## Play
#
# How many reviews can a half-frozen model memorize? Move the sliders and press **Run**. Begin with a guess: from how many
# items on does the head alone fail?

# %% play


def memorize(items, learning_tensors):
    """The loss on the first `items` reviews, when only the last tensors learn."""
    model = copy.deepcopy(well["model"])
    parameters = list(model.parameters())
    for weight in parameters[: len(parameters) - learning_tensors]:
        weight.requires_grad = False
    optimizer = torch.optim.Adam([weight for weight in parameters if weight.requires_grad], lr=1e-2)
    losses = overfit(model, optimizer, loss_of, (reviews[:items], labels[:items]))
    print(f"{items} reviews, {learning_tensors} of {len(parameters)} tensors learn: loss {losses[-1]:.4f}")
    return one_batch_lines.picture(
        {"this choice": (steps, losses), "healthy, 8 reviews": (steps, curves["healthy twin"])}
    )


play = lab.play(memorize, items=(2, 64, 8), learning_tensors=(1, 11, 2))

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"From ten measurements of a patient I predict how far diabetes has progressed after a year. The
# loss comes to rest at {about 1 = turn_rest}, and R² is {0.02 = turn_r2}; it used to be {0.48 = turn_well}. Blood values are noisy and we have few patients. The clinic can send more in three
# months."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike. The clock starts when the run is
# over. You have six minutes, and three hints.

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
# your own look at it; some ways to begin:
#   lab.lines(second)                                         the program with its line numbers
#   patients = at_start(second)                              its variables after the first step
#   sixteen = patients["inputs"], patients["targets"]
#   overfit(patients["model"], patients["optimizer"], lambda model, batch: ..., sixteen)[-1]
#   lab.look("outputs", turn_run)

# %% [proof] turn-one-batch
patients = at_start(second)
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
    print("Hand in the form first, then run this cell: it grades your diagnosis and shows the answer.")

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
# One batch of {16 = patients_in_batch} patients stops as well, and noise can be memorized. So it is not the clinic's data. The loss stops at
# {the variance of the targets = at_floor}: the price of one answer for all. A column of targets against a row of predictions makes a table of all
# pairs, and the best answer to a table of all pairs is the mean. Torch warns of it once; in a long log it is easy to miss.

# %% [check] recap_check
# One batch reaches zero within seconds, and the full training learns nothing. Where do you look first?
#
# ( ) At the learning rate, with a tenth of it
#     this rate has just learned a batch. It may still be wrong for many batches, but there are cheaper looks.
# ( ) At the model, which is too small for the data
#     possible, and then the training loss is high too. First look whether the data says anything.
# (x) At what lies between the batches: labels, order, split, modes
#     yes. Loss, gradient and optimizer have been acquitted together. Print ten samples beside their labels.

# %% [markdown] recap
# ## What to take with you
#
# 1. **One batch to zero before anything else.** It takes seconds and needs no validation. *Fails when* dropout or noise sets a floor:
#    then compare with a run that works.
# 2. **Zero acquits loss, gradient and optimizer.** *Fails when* the fault lies between the batches, or when the batch is so small that
#    a frozen model learns it.
# 3. **A flat line: ask which tensors moved.** An optimizer steps the tensors it was given, not your model. *Fails when* they move, but
#    only by rounding: then the rate is too low.
# 4. **Compare the first loss with ln C.** *Fails when* classes are unbalanced or the first guess is a confident one.
#
# **Next:** repair one yourself, in {exercise = 04}. The same views work on your own
# script, without changing it: `bugzoo checkup train.py`.

# %% [proof] own-reviews
with tempfile.TemporaryDirectory() as place:
    file = Path(place) / "reviews.csv"
    file.write_text("text,label\n" + "what a lovely film,1\nnot worth the money,0\n" * 50)
    about = {"data": str(file), "longest": 200, "epochs": 10, "batch_size": 20}
    own = bugzoo.Scenario("sentiment_lstm", (), about, device=device).run().trace
assert own.outcome == "finished" and own.loss[-1] < 0.3 and len(own.loss) == 40, (own.outcome, own.loss)

# %% [folded] appendix
# Appendix, for the curious: your own reviews
#
# This program reads a CSV with a text and a label column, or a folder with `pos/` and `neg/`. Put your path in the place of `file`:
#
# ```python
# file = Path(tempfile.mkdtemp()) / "reviews.csv"
# file.write_text("text,label\n" + "what a lovely film,1\nnot worth the money,0\n" * 50)
# settings = {"data": str(file), "longest": 200, "epochs": 10, "batch_size": 20}
# own = bugzoo.Scenario("sentiment_lstm", (), settings, device=device)
# lab.LiveView(own, show_twin=False).start()
# ```
#
# `longest` is the number of words that it reads of each review. A fifth of the reviews is for validation, so these hundred make
# 40 steps. For a larger model there are `width` and `hidden_size`.
