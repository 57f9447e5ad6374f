"""Lesson 03: a loss that becomes nan at one step, and how to find the operation that caused it."""

# %% [case] incident
# mlp numerics/log_at_step?step=50&eps=0

# %% [case] second
# digits_cnn numerics/sqrt_of_equal_pair?draw=13

# %% [markdown] title
# # 03 · Hunting NaN
#
# Something in a training run is not a number. You write the two searches that find it, replay the step, and repair the paused program.
# About {40 = minutes} minutes; you need to know what a backward pass is. The {lesson = 00} says how a lesson works.

# %% setup
device = "cpu"  # or "auto", "cuda"

import numpy as np
import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab
from bugzoo.lessons.parts import hunt

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("03")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## From one step to the next, every loss is nan
#
# > *Monday, 23:40.* "The digits model trains for a while, then from one step to the next every loss is `nan`. I lowered the
# > learning rate tenfold: {the same = same_cliff}. The code review is tomorrow at nine."
#
# The program has three linear layers, ReLU, cross-entropy and Adam. Do not read its code yet: first find out *when* and *where*.

# %% [predict] guess
# What will you see in the last steps before the loss is nan?
#
# ( ) The loss climbs, faster and faster, until it overflows
#     That is divergence, the most common picture of a nan. This run has none.
# ( ) The gradient norm grows over some steps while the loss still looks fine
#     The gradient knows first, but by one single step, and without growing.
# (x) Nothing at all: the step before looks like any other
#     No number grows. From one step to the next an operation has no result.

# %% live
incident = lab.case("03/incident")
view = lab.live(incident, explain=False)

# %% [markdown] search-text
# ## When: write the search
#
# `trace.loss` and `trace.grad_norm` hold one number for each step. Steps count from 1, rows from 0. **Write it:** the first step at
# which *either* of the two is not finite. `np.isfinite(x)` is false for `nan` and `inf`.


# %% [task] first_bad_step
def first_bad_step(loss, grad_norm):
    """The first step, from 1, whose loss or gradient norm is not finite; None where all of them are."""
    ...  # your code


# %% [solution] first_bad_step
def first_bad_step(loss, grad_norm):
    """The first step, from 1, whose loss or gradient norm is not finite; None where all of them are."""
    bad = ~(np.isfinite(loss) & np.isfinite(grad_norm))
    return int(bad.argmax()) + 1 if bad.any() else None


# %% [judge] first_bad_step
import math

import numpy as np


def judge(answer):
    def tried(loss, norm, wanted, what, hint):
        gave = answer(np.array(loss), np.array(norm))
        if gave == wanted - 1:
            hint = "steps count from 1, the rows of an array from 0."
        name = f"{what}, loss {shown(loss)}, norm {shown(norm)}"
        return name, wanted, None if gave is True else gave, hint

    def shown(values):
        return " ".join(f"{value:g}" for value in values)

    nan, inf = math.nan, math.inf
    both = "look at both columns. In some runs the loss is the first, in others the gradient."
    either = "one of the two is enough: join them with `or`, or with `|` for arrays."
    infinite = "inf is not nan: `isnan` misses it, `isfinite` does not."
    yield tried([2.0, 1.5, 1.2, nan, nan], [1.0, 1.1, nan, nan, nan], 3, "first run", both)
    yield tried([2.0, nan, 1.2], [1.0, 1.0, 1.0], 2, "second run", either)
    yield tried([2.0, 1.5, 1.2, 1.1], [1.0, 1.0, 1.0, inf], 4, "third run", infinite)
    yield tried([2.0, 1.5, inf, nan], [1.0, 1.1, 9.9, nan], 3, "fourth run", both)
    yield tried([nan, nan], [nan, nan], 1, "fifth run", either)
    gave = answer(np.array([2.0, 1.5]), np.array([1.0, 1.1]))
    yield "two finite steps", None, gave, "`argmax` of an array without a True is 0, not None."


def by_hand(loss, grad_norm):
    for step, pair in enumerate(zip(loss, grad_norm, strict=True), 1):
        if not all(map(math.isfinite, pair)):
            return step
    return None


def by_sum(loss, grad_norm):
    found = np.flatnonzero(~np.isfinite(loss + grad_norm))
    return found[0] + 1 if len(found) else None


def loss_alone(loss, grad_norm):
    return by_hand(loss, loss)


def nan_alone(loss, grad_norm):
    return next((step for step, x in enumerate(loss + grad_norm, 1) if np.isnan(x)), None)


def rows(loss, grad_norm):
    found = by_hand(loss, grad_norm)
    return None if found is None else found - 1


RIGHT = {"a loop": by_hand, "a sum": by_sum}
LAZY = {
    "the loss alone": loss_alone, "nan alone": nan_alone, "rows for steps": rows,
    "always 3": lambda loss, norm: 3, "nothing": lambda loss, norm: None,
}  # fmt: skip


# %% [predict] last_good
# Which number is lost first?
#
# (x) The gradient, and the loss one step later
#     The optimizer writes the lost gradient into the weights, and the next loss is the first to show it.
# ( ) The loss, and the gradient with it
#     So it looks on the curve. Here the two differ by one step, and that step is the lesson.
# ( ) The loss, and the gradient one step later
#     The gradient is computed from the loss: a nan loss has a nan gradient.

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
bad = first_bad_step(trace.loss, trace.grad_norm)
hunt.around(bad, trace, healthy)
print("equal to the healthy run until then:", (trace.loss[: bad - 1] == healthy.loss[: bad - 1]).all())
guess.reveal(f"loss {trace.loss[bad - 2]:.2f} and gradient norm {trace.grad_norm[bad - 2]:.2f} in step {bad - 1}")
last_good.reveal(f"step {bad}: loss {trace.loss[bad - 1]:.2f}, gradient {trace.grad_norm[bad - 1]}")
lab.picture(hunt.two_endings(trace))

# %% [proof] table
import re

bad_loss, bad_gradient = (int(np.flatnonzero(~np.isfinite(values))[0]) + 1 for values in (trace.loss, trace.grad_norm))
last_step = bad_gradient - 1
loss_good, norm_good, loss_bad = trace.loss[last_step - 1], trace.grad_norm[last_step - 1], trace.loss[last_step]
loss_twin = healthy.loss[last_step]
assert np.isnan(trace.grad_norm[last_step]) and np.isnan(trace.loss[bad_loss - 1]) and bad == bad_gradient
parted = int(np.flatnonzero(trace.loss != healthy.loss)[0]) + 1
# no number grows before the cliff
assert loss_good < trace.loss[0] and trace.grad_norm[:50].max() < 3 * np.median(trace.grad_norm[20:50])
# nothing is told before it is asked: neither the operation nor what hides it
early = [lesson.questions[name] for name in ("guess", "last_good")]
early += [answer[0] for answer in lesson.questions["finite_loss"].answers]
assert not re.search(r"(?i)relu|logarithm|torch\.log", str(early))

# %% [measured] a-tenth-of-the-rate
slower = bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": 1e-4}, device=device).run().trace
same_cliff = bool(np.isnan(slower.loss[-1]) and np.isnan(slower.grad_norm[50]) and np.isfinite(slower.loss[50]))

# %% [proof] divergence-proof
from bugzoo.plots import endings

diverged = hunt.divergence()
_, last_incident = endings.measure(trace.loss)
_, last_diverged = endings.measure(diverged)
grows = float(last_diverged[-1] / last_diverged[0])
assert not np.isfinite(diverged[-1]) and grows > 1e6 and (np.diff(last_diverged[-6:]) > 0).all()
assert last_incident.max() / last_incident.min() < 2

# %% [folded] numbers-read
# After the run: a cliff, and a late witness
#
# **Nothing climbs.** The loss is {1.38 = loss_good} at step {50 = last_step}, as before. A divergence climbs; this run falls off a cliff. A cliff has few causes: one bad
# batch, a number too large for float16, or an operation without a value for some number. **The twins part at step {51 = parted}** with the same
# batches, in float32: that leaves the operation.
#
# **The loss is a late witness.** The gradient of step {51 = bad_gradient} is `nan`, beside a finite loss. Step {52 = bad_loss}, the first `nan` on the curve, is the wrong one.

# %% [predict] finite_loss
# At step {51 = bad_gradient} the gradient is nan and the loss is {1.48 = loss_bad}. The twin has {1.22 = loss_twin} there, with the same weights and the same batch. What went wrong?
#
# ( ) Something broke in the backward pass only: the forward pass is clean
#     The nan appears there. But from equal weights and an equal batch, a clean forward pass gives the twin's loss.
# (x) Something on the way forward was not finite, and was hidden again before it reached the loss
#     The two losses told so: equal weights and an equal batch, but another loss. So the forward passes differ.
# ( ) The optimizer divided by zero when it made this step
#     The optimizer comes later: loss and gradient norm are measured before its step.

# %% [markdown] hooks-text
# ## Where: forward hooks on the layers
#
# After `handle = layer.register_forward_hook(hook)` PyTorch calls `hook(layer, inputs, output)` each time this layer has computed its
# output, until `handle.remove()`. A hook must return nothing, as a returned value would replace the output.
#
# **Write it:** register a hook on every layer, make one step, remove the hooks, and return the first layer that reported.


# %% [task] first_to_speak
def first_to_speak(model, make_step):
    """Name of the first layer whose output is not finite while make_step() runs; None where all are finite."""
    spoke = []

    def listen(name):
        return lambda layer, inputs, output: None if output.isfinite().all() else spoke.append(name)

    ...  # your code; model.named_children() gives names and layers


# %% [solution] first_to_speak
def first_to_speak(model, make_step):
    """Name of the first layer whose output is not finite while make_step() runs; None where all are finite."""
    spoke = []

    def listen(name):
        return lambda layer, inputs, output: None if output.isfinite().all() else spoke.append(name)

    handles = [layer.register_forward_hook(listen(name)) for name, layer in model.named_children()]
    make_step()
    for handle in handles:
        handle.remove()
    return spoke[0] if spoke else None


# %% [judge] first_to_speak
import torch
from torch import nn


class Gives(nn.Module):
    """A layer that puts `value` into its output."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return x if self.value is None else x + torch.tensor([0.0, self.value])


def network(**values):
    made = nn.Module()
    for name, value in values.items():
        made.add_module(name, Gives(value))
    return made


def judge(answer):
    nan, inf = float("nan"), float("inf")
    for values, order, wanted in (
        ({"first": None, "second": nan, "third": None}, None, "second"),
        ({"first": -inf, "second": nan}, None, "first"),
        ({"late": None, "early": inf}, ["early", "late"], "early"),
        ({"one": None, "two": None}, None, None),
    ):
        model, steps = network(**values), []

        def make_step(model=model, order=order, steps=steps):
            steps.append(1)
            x = torch.ones(3, 2)
            for name in order or [name for name, _ in model.named_children()]:
                x = getattr(model, name)(x)

        gave = answer(model, make_step)
        left = sum(len(layer._forward_hooks) for layer in model.children())
        said = ", ".join(f"{name} puts out {'numbers' if value is None else value}" for name, value in values.items())
        run = f" (run in the order {', '.join(order)})" if order else ""
        told = "a layer, and its name is asked for" if isinstance(gave, nn.Module) else gave
        yield f"{said}{run}", wanted, told, misread(gave, values.get(wanted), values)
        stays = "A hook stays on its layer until `handle.remove()`." if left else ""
        yield f"    with {', '.join(values)}: steps made, hooks left", (1, 0), (len(steps), left), stays


def misread(gave, value, names):
    """The misconception that a wrong answer shows; `value`: what the first layer to speak puts out."""
    if isinstance(gave, nn.Module):
        return "a hook gets the layer itself; the name comes from `named_children()`."
    if value is not None and abs(value) == float("inf"):
        return "inf and -inf are not nan: `isnan` misses them, `isfinite` does not."
    if gave in names:
        return "the layers after it report, too: return the first. And a closure looks its names up late."
    return "the hooks are called only during `make_step()`, between registering and removing them."


def by_dictionary(model, make_step):
    finite, handles = {}, []
    for name, layer in model.named_children():

        def hook(layer, inputs, output, name=name):
            finite.setdefault(name, bool(torch.isfinite(output).all()))

        handles.append(layer.register_forward_hook(hook))
    make_step()
    for handle in handles:
        handle.remove()
    return next((name for name, good in finite.items() if not good), None)


def hooks_left(model, make_step):
    spoke = []
    for name, layer in model.named_children():
        layer.register_forward_hook(lambda _, __, o, name=name: None if o.isfinite().all() else spoke.append(name))
    make_step()
    return spoke[0] if spoke else None


def the_last(model, make_step):
    spoke = []
    handles = [
        layer.register_forward_hook(lambda _, __, o, name=name: None if o.isfinite().all() else spoke.append(name))
        for name, layer in model.named_children()
    ]
    make_step()
    [handle.remove() for handle in handles]
    return spoke[-1] if spoke else None


def nan_only(model, make_step):
    spoke = []
    handles = [
        layer.register_forward_hook(lambda _, __, o, name=name: spoke.append(name) if o.isnan().any() else None)
        for name, layer in model.named_children()
    ]
    make_step()
    [handle.remove() for handle in handles]
    return spoke[0] if spoke else None


RIGHT = {"a dictionary": by_dictionary}
LAZY = {
    "hooks left behind": hooks_left,
    "the last": the_last,
    "nan only": nan_only,
    "no step": lambda model, step: None,
}


# %% [predict] speaker
# Three layers run in step 51. Which is the first with a non-finite output?
#
# ( ) layer1
#     Its inputs are the pictures, and those are clean.
# ( ) layer2
#     Close. Its output is finite, but something happens to it after the layer.
# ( ) head
#     Its output is the logits. The loss was finite, so they were, too.
# (x) None of these layers
#     All three outputs are finite in the very step that kills the run.

# %% hooks
view = lab.LiveView(incident, pause_at=50).start()  # paused after the last good step; your function makes step 51
view.wait_pause()
model = view.objects["model"]
spoke = first_to_speak(model, lambda: view.advance(1))
speaker.reveal(f"your function says {spoke}")

# %% [proof] nobody-speaks
assert spoke is None and [name for name, _ in model.named_children()] == ["layer1", "layer2", "head"]
assert len(view.points) == bad_gradient

# %% [predict] victims
# The optimizer has written the gradient of step 51 into the weights. Which of them are nan now, right after the step?
#
# (x) Most of layer1, very little of layer2, nothing of the head
#     The nan came in between layer2 and the head, and spread toward the input.
# ( ) All of them
#     That would point to the loss: every layer's gradient passes through it.
# ( ) Those of the head, which is next to the loss
#     The head is clean: up to there the gradient was fine.

# %% victims-run
from bugzoo.plots import footprint

lab.picture(footprint.picture(model))
victims.reveal()

# %% [proof] footprint-numbers
rows = model.layer2.weight.isnan().any(dim=1)
units, one_unit = len(rows), rows.sum().item() == 1
assert model.head.weight.isfinite().all() and model.head.bias.isfinite().all()
share = model.layer1.weight.isnan().float().mean()
view.advance(1)  # one step later the nan in the loss has spread, whatever the cause
spread = all(weights.isnan().all().item() for layer in (model.head, model.layer2) for weights in layer.parameters())

# the appendix: the same step again, with backward hooks, and the outputs of both layers
view.restart()
view.wait_pause()
net = view.objects["model"]
layers, heard, outputs = dict(net.named_children()), [], {}


def listen_back(name):
    def hook(layer, grad_input, grad_output):
        heard.append((name, grad_output[0].isnan().sum().item(), grad_input[0].isnan().sum().item()))

    return hook


def keep_output(name):
    def hook(layer, inputs, output):
        outputs[name] = output.detach()

    return hook


handles = [layers[name].register_full_backward_hook(listen_back(name)) for name in ("head", "layer2")]
handles += [layers[name].register_forward_hook(keep_output(name)) for name in ("layer1", "layer2")]
view.advance(1)
[handle.remove() for handle in handles]
assert heard[0] == ("head", 0, 0) and heard[1][0] == "layer2"
arrives, leaves = heard[1][1:]
only_one = arrives == 1
minimum = outputs["layer2"] == outputs["layer2"].min()
of_batch, unit = minimum.nonzero()[0].tolist()
lost = net.layer1.weight.isnan().any(dim=1)
relu_spares = bool(lost.equal(outputs["layer1"][of_batch] > 0))
hit, clean = int(lost.sum()), int((~lost).sum())
assert lost.equal(outputs["layer1"][of_batch] > 0) and net.layer1.weight[lost].isnan().all() and minimum.sum() == 1
assert int(net.layer2.weight.isnan().any(dim=1).nonzero()) == unit
view.stop()

# %% [folded] victims-read
# After the run: read the footprint
#
# Read it from the right, as the backward pass goes. The **head** has lost nothing: up to here the gradient was fine. `layer2` has
# {one bad row = one_unit} out of {128 = units}, and `layer1` lost {82 % = share} of its weights: where a unit's ReLU was off, its backward pass wrote {a 0, whatever arrived = relu_spares}.
#
# So the nan came in between `layer2` and the head, in code that is not a module: hooks cannot hear it. One step later {all of the head is
# lost, too = spread}, and a footprint says nothing.

# %% [markdown] instrument-text
# ## Replay the step, and read the line
#
# An instrument replays step 51 alone, from a snapshot, and finds the operation in functions as well as layers.

# %% instrument
from bugzoo.diagnostics import first_non_finite

view.stop()
run = lab.LiveView(incident, show_twin=False).start().result
numbers = first_non_finite.measure(run)
print(first_non_finite.judge(numbers).message)
replay = run.trace.replay(51)
print(replay.message)
print(incident.diff())
finite_loss.reveal(f"{numbers['op'] or 'no operation named'}, {numbers['direction']}")

# %% [proof] first
event = run.trace.first_non_finite()
assert (event.step, event.data["op"], event.data["direction"]) == (bad_gradient, "log", "forward")
assert replay.faithful and "torch.log" in replay.first["code"]
log_row = replay.first["line"]

# %% [proof] counters
assert "if step >= 50:" in incident.source and incident.source.index("step += 1") > incident.source.index(
    "optimizer.step()\n"
)

# %% [measured] anomaly-mode
slower_narrow, slower_wide = hunt.anomaly_factor(32), hunt.anomaly_factor(8192)

# %% [folded] reveal-read
# A line with a reason, and `step >= 50` that is step 51
#
# It is a *function* between two layers, and a ReLU follows it: so your hooks missed it. `step` counts the steps that are *done*, from 0.
#
# PyTorch's **anomaly mode** records where each operation was called. People say that it makes steps five to ten times slower. Measured:
# {2 to 12 = slower_narrow} times in a narrow net, {1 to 3 = slower_wide} times in a wide one. A replay costs one step.

# %% [markdown] arithmetic-text
# ## Why the loss stayed finite
#
# `hidden - hidden.min()` is exactly zero at its smallest element, in every batch.

# %% [predict] slope_at_zero tags=["how-sure"]
# Subtract the smallest of three numbers, take the logarithm, then the ReLU. What is the gradient at the smallest?
#
# ( ) 0: the ReLU is off there, and lets nothing through
#     The ReLU passes on 0. Then the logarithm multiplies it by its own slope, which is infinite there.
# ( ) inf: the slope of the logarithm at 0
#     Its slope is infinite. But what arrives from the ReLU is 0, and the product is neither.
# (x) nan
#     0 from the ReLU times the infinite slope of the logarithm: 0 · ∞ has no value.

# %% arithmetic
from bugzoo.plots import slope

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
rectified = F.relu(torch.log(x - x.min()))
rectified.sum().backward()
print("relu:", rectified.tolist(), "  grad:", x.grad.tolist())
slope_at_zero.reveal(f"x.grad[0] is {x.grad[0].item()}")
lab.picture(slope.picture({"log(x)": torch.log, "relu(log(x))": lambda x: F.relu(torch.log(x))}))

# %% [proof] at-zero
import math

logarithm = torch.log(x.detach() - x.detach().min())
assert logarithm[0] == -math.inf and rectified[0] == 0 and x.grad[0].isnan()
times_zero = (torch.log(torch.zeros(1)) * 0).isnan().item()
_, (at_zero, beyond) = slope.measure(lambda x: F.relu(torch.log(x)), np.array([0.0, 0.25]))
assert math.isnan(at_zero) and beyond == 0
lines = {
    "torch.where(x > 0, 1 / x, 0.0)": lambda x: torch.where(x > 0, 1 / x, 0.0),
    "(1 / x).clamp(max=1e6)": lambda x: (1 / x).clamp(max=1e6),
    "1 / x.clamp(min=1e-6)": lambda x: 1 / x.clamp(min=1e-6),
    "torch.log(x) * (x > 0)": lambda x: torch.log(x) * (x > 0),
}
finite = {}
for text, line in lines.items():
    point = torch.tensor([0.0, 2.0], requires_grad=True)
    line(point).sum().backward()
    finite[text] = bool(point.grad.isfinite().all())
assert [text for text, one in finite.items() if one] == ["1 / x.clamp(min=1e-6)"]
safe_lines = lesson.questions["which_safe"].answers
assert {text.strip("`"): right for text, _, right in safe_lines} == finite, safe_lines

# %% [folded] arithmetic-read
# After the run: a harmless value with an infinite slope
#
# **Forward:** log(0) is `-inf`, and the ReLU makes it a harmless 0. So the loss was finite. **Backward:** at 0 the slope of the
# logarithm, 1/x, is infinite. A ReLU that is off hands on 0, whatever it gets. The logarithm *multiplies* by its slope, and 0 · ∞ is `nan`. (A
# mask of zeros multiplies, too: `log(0) * 0` is {nan = times_zero}.)

# %% [check] which_safe
# Another operation: `x` is 0 at one place and positive at all others. Which of these four lines has a finite gradient there?
#
# ( ) `torch.where(x > 0, 1 / x, 0.0)`
#     where chooses after the division, which multiplies its 0 by a slope of -1/x² = -∞.
# ( ) `(1 / x).clamp(max=1e6)`
#     the clamp comes after the division: its 0 meets the same infinite slope.
# (x) `1 / x.clamp(min=1e-6)`
#     yes. The division never sees a 0, so its slope is large but finite, and the 0 of the clamp makes it 0.
# ( ) `torch.log(x) * (x > 0)`
#     even its value is nan: -∞ times 0. A product does not choose.

# %% [markdown] fix-text
# ## Repair it during a pause
#
# Once after step 50, and in another run after step 51.

# %% [predict] repair_when tags=["how-sure"]
# What comes of the two repaired runs?
#
# ( ) Both end like the healthy one: from then on the code is right
#     The code is, the weights are not.
# (x) The first ends like the healthy one, the second stays nan
#     The first is equal to the last bit. A repair does not heal weights: go back to a checkpoint.
# ( ) Both end a little worse: the line was in the program for 50 steps
#     Up to step 50 the line had done nothing: the first run is the healthy one.

# %% fix
view = lab.live(incident, pause_at=50)
view.wait_pause()
view.patch(incident.healthy().source)  # classes and functions of the running program are exchanged
view.resume()
repaired, healthy = view.result.trace.metrics, view.healthy.trace.metrics

# %% fix-late
late = lab.LiveView(incident, pause_at=51, show_twin=False).start()
late.wait_pause()
late.patch(incident.healthy().source)  # the same repair, one step later
late.resume()
for name, metrics in {"healthy": healthy, "repaired": repaired, "too late": late.result.trace.metrics}.items():
    print(f"{name:9} accuracy {metrics['accuracy']:.3f}   validation loss {metrics['loss']:.4f}")
repair_when.reveal()

# %% [proof] repaired-proof
assert repaired == healthy and np.isnan(late.result.trace.loss[51:]).all()

# %% [markdown] safe-text
# ## Write an operation that is safe
#
# Suppose the logarithm is wanted. Keep the value away from the infinite slope **before** the logarithm: where the argument is 0,
# give it a 1. Then choose the 0. **Write it**, with two `where` or otherwise.


# %% [task] safe_log
def safe_log(x):
    """log(x) where x > 0, and 0 elsewhere; its slope is 1/x where x > 0, and 0 elsewhere."""
    ...  # your code


# %% [solution] safe_log
def safe_log(x):
    """log(x) where x > 0, and 0 elsewhere; its slope is 1/x where x > 0, and 0 elsewhere."""
    inside = torch.where(x > 0, x, 1.0)  # what the logarithm sees is never 0
    return torch.where(x > 0, inside.log(), 0.0)


# %% [judge] safe_log
import torch


def judge(answer):
    x = torch.tensor([0.0, 1e-6, 0.5, 1.0, 40.0], requires_grad=True)
    gave = answer(x)
    wanted = [0.0, *x.detach()[1:].log().tolist()]
    for at, value, right in zip(x.tolist(), gave.tolist(), wanted, strict=True):
        hint = "log1p, log2 and log10 are other functions." if at else "an eps or a clamp moves log(0), but not to 0."
        yield line(f"value at {at:g}", right, value, 1e-4, hint)
    (slopes,) = torch.autograd.grad(gave.sum(), x)
    for at, steep in zip(x.tolist(), slopes.tolist(), strict=True):
        after = "`where` after the logarithm mends only the value."
        yield line(
            f"slope at {at:g}",
            1 / at if at else 0.0,
            steep,
            1e-3,
            "what `detach` or `clamp` cuts off has no slope." if at else after,
        )


def line(name, right, value, tolerance, hint):
    """A check with four digits: a value within the tolerance is shown as the right one."""
    near = abs(value - right) <= tolerance * max(1, abs(right))
    return name, f"{right:.4g}", f"{right if near else value:.4g}", hint


def by_index(x):
    made = torch.zeros_like(x)
    made[x > 0] = x[x > 0].log()
    return made


def by_mask(x):
    return x.masked_fill(x <= 0, 1.0).log()


RIGHT = {"by index": by_index, "log(1) is 0 already": by_mask}
LAZY = {
    "where behind it": lambda x: torch.where(x > 0, x.log(), 0.0),
    "an eps": lambda x: (x + 1e-9).log(),
    "a clamp": lambda x: x.clamp(min=1e-6).log(),
    "nan_to_num": lambda x: x.log().nan_to_num(neginf=0.0),
    "another function": lambda x: torch.log1p(x),
    "no gradient at all": lambda x: torch.where(x > 0, x.detach().log(), 0.0) + 0 * x,
}


# %% [markdown] eps-text
# ## The usual fix: add an eps
#
# The usual advice on log(0) is a small `eps` inside the logarithm. What matters is the validation loss.

# %% [draw] eps_curve
# Draw the validation loss over eps. The healthy run has {0.18 = well_loss}. Is there an eps as good as the twin?
#
# eps: 0.000000001, 0.000001, 0.001, 0.1, 1, log
# validation loss (nats): 0 to 1

# %% eps-run
eps_losses = hunt.losses_over_eps()
eps_curve.reveal([float(eps) for eps in hunt.EPS], eps_losses, "this eps", reference={"healthy twin": healthy["loss"]})
safe_run = hunt.continued(incident, "hidden = safe_log(hidden - hidden.min())", safe_log=safe_log)
print(f"safe_log     nan losses {np.isnan(safe_run.loss).sum()}   validation loss {safe_run.metrics['loss']:.3f}")

# %% [proof] alarm
well_loss, best_loss = healthy["loss"], min(eps_losses)
none_as_good = best_loss > 1.3 * well_loss
safe_loss = safe_run.metrics["loss"]
assert np.isfinite(safe_run.loss).all() and safe_loss > 1.3 * well_loss
log_eps = torch.tensor(1e-9).log()
thousand_million = torch.tensor(1e-9).reciprocal().item() > 0.99e9

# %% [measured] with-this-eps
with_it = hunt.with_eps("1e-9").run().trace
accuracy, no_nan = with_it.metrics["accuracy"], bool(np.isfinite(with_it.loss).all())

# %% [folded] eps-read
# After the run: no alarm, and a worse model
#
# With 1e-9 there is {no nan = no_nan}: log(1e-9) is {-20.7 = log_eps}, and 0 times a slope of {1e9 = thousand_million} is 0. The accuracy is about {0.95 = accuracy}, like the twin's.
# But {no eps is as good as the twin = none_as_good}: the best of the five leaves {0.32 = best_loss} instead of {0.18 = well_loss}, your `safe_log` {0.32 = safe_loss}. The logarithm is still there, and no
# alarm for `nan` will fire again. **An eps does not repair the computation; it repairs the alarm.**

# %% [markdown] break-text
# ## Break it yourself
#
# Move the sliders: can the logarithm start so late that you would not notice?

# %% panel
case = bugzoo.Scenario("mlp", faults=("numerics/log_at_step?step=50&eps=0",), device=device)
panel = lab.break_it(case, ranges={"step": (0, 250)}, settings=())

# %% [measured] last-steps
starts = {
    step: bugzoo.Scenario("mlp", (f"numerics/log_at_step?step={step}&eps=0",), device=device).run().trace
    for step in (216, 217)
}
steps_made, late_accuracy = len(starts[216].loss), starts[216].metrics["accuracy"]
no_loss = bool(np.isfinite(starts[216].loss).all())
assert no_loss and starts[217].metrics == healthy and late_accuracy < healthy["accuracy"] - 0.1

# %% [folded] panel-read
# After you have played: a start that is late enough
#
# With a start at {216 = steps_made} {no loss is `nan` = no_loss}: the training is over before. But the evaluation uses the line, and the accuracy falls to {0.72 = late_accuracy}.
# From 217 on it is the healthy run, with a trap for the next longer training.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# *"The convolutional net was fine for the {first two epochs = two_epochs}. Then one good loss was the last, and all later ones are nan. I have hooks on
# every layer, and none of them ever put out anything but finite numbers."* It is not the fault that you know.
#
# Say **what** is wrong, in which **line**, since which **step** (counted from 1), and which **test** tells it from its look-alike, within
# eight minutes.

# %% turn
second = lab.case("03/second")
run = lab.live(second, explain=False, show_twin=False).result
clock, hints = lab.timer(8), lab.hints(second)

# %% [proof] second
turn_event, epoch = first_bad_step(run.trace.loss, run.trace.grad_norm), 36
# each replay draws the next pair; of 32 answers a pair is equal by chance once in 32
again = [run.trace.replay(turn_event) for _ in range(5)]
harmless = sum(not replay.faithful and replay.first is None for replay in again) >= 3
turn = run.trace.first_non_finite()
assert turn.step == turn_event and np.isfinite(run.trace.loss[:turn_event]).all()
assert harmless, [replay.message for replay in again]
two_epochs = len(run.trace.step) == 5 * epoch and 2 * epoch < turn_event <= 3 * epoch
assert "sqrt" not in str([cell.shown for cell in lesson.cells if cell.kind in ("markdown", "predict", "check")])

# %% [measured] weights-of-the-transfer
paused = lab.LiveView(second, pause_at=turn_event, show_twin=False).start()
paused.wait_pause()
turn_model = paused.objects["model"]
all_lost = all(weights.isnan().all().item() for weights in turn_model.parameters() if weights.dim() > 1)
first_place, second_place = paused.objects["first"], paused.objects["second"]
assert first_place == second_place
paused.stop()
turn_lr = bugzoo.Scenario(second.program, second.faults, {"learning_rate": 2e-4}, device=device).run().trace
assert first_bad_step(turn_lr.loss, turn_lr.grad_norm) == turn_event

# %% turn-look
# your own look; some ways to begin:
#   lab.lines(second)                      the program with its line numbers
#   model = lab.variables(second, step)["model"]; lab.picture(footprint.picture(model))
#   print(run.trace.replay(step).message)  read all of it

# %% turn-form
form = lab.diagnose(second, hints=hints)

# %% turn-answer
from bugzoo.grading.case import judged

if form.handed_in:
    clock.stop()
    print(judged(second, form.diagnosis.record(), first_bad_step(run.trace.loss, run.trace.grad_norm)))
    print(second.diff())
else:
    print("Hand in the form first, then run this cell.")

# %% [proof] turn-judged
turn_lines = second.source.splitlines()
right_line = next(number for number, text in enumerate(turn_lines, 1) if "sqrt()" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, text in offered.items() if text == second.specs[0][0].look_alikes[0].test)
own = {
    "cause": "a function outside its domain, such as log or sqrt",
    "place": right_line,
    "step": turn_event,
    "test": test,
}
assert own["cause"] in form.causes and len(form.causes) == 4
good, bad_one = judged(second, own, turn_event), judged(second, own | {"place": 3, "step": 50}, turn_event)
assert "4 of 4" in good and "2 of 4" in bad_one, (good, bad_one)
assert "counted from 0" in judged(second, own | {"step": turn_event - 1}, turn_event)
norm_taught = torch.zeros(2, requires_grad=True)
torch.linalg.vector_norm(norm_taught).backward()
other_norm = torch.zeros(2, requires_grad=True)
other_norm.norm().backward()
norm_knows = bool((norm_taught.grad == 0).all() and (other_norm.grad == 0).all())

# %% [folded] turn-read
# After you have handed in: one sample drawn twice, and a report
#
# A hunt ends with three sentences that hold layer, operation, line and step:
#
# > *Step {89 = turn_event} is the first bad one: its gradient is nan. The operation is `sqrt` of 0, in line {87 = right_line}, in the loss, after the head. Use
# > `torch.linalg.vector_norm`, and start again from a checkpoint before that step.*
#
# The penalty draws two outputs with replacement. At step {89 = turn_event} both are the same sample, and the slope of `sqrt` is infinite at 0. The
# footprint right after the step is {all weights of all layers = all_lost}: it started in the loss. The replay {draws the next pair = harmless}, and says *not the same step*:
# read that first. `vector_norm` {has a slope of 0 there = norm_knows}, and so has `x.norm()`. An eps *inside* `sqrt` is a repair, as the root is wanted here.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Find the first non-finite number: gradients and outputs before the loss.** *Fails when* a bad batch brought it: replay with
#    another.
# 2. **Hooks see modules, a replay sees functions.** *Fails when* the replay is not the same step: take the footprint right after it.
# 3. **Fix the argument, before the operation.** *Fails when* the argument was not the mistake: then a safe operation hides it.
# 4. **Repair the code, then go back to a checkpoint.** *Fails when* the checkpoint is from after the step.
#
# **Next:** {exercise = 07}, {exercise = 08} and {exercise = 09}.


# %% [keep] first_to_speak
def test_first_to_speak_finds_a_layer_that_puts_out_nan():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    model[1].weight.data.fill_(float("nan"))
    assert first_to_speak(model, lambda: model(torch.ones(1, 2))) == "1"


def test_first_to_speak_is_silent_on_the_healthy_twin():
    program = lab.variables(lab.case("03/incident").healthy())
    assert first_to_speak(program["model"], lambda: program["model"](program["inputs"])) is None


# %% home
lab.calibration("03")
lab.keep(first_to_speak)
mine = lab.mine(view="layers")  # your own script: lab.mine("train.py", view="layers")

# %% [measured] masked
masked_run = hunt.continued(
    incident,
    "hidden = torch.log(hidden - hidden.min())\n            hidden = torch.where(hidden.isfinite(), hidden, 0.0)",
)
masked_at, masked_end = first_bad_step(masked_run.loss, masked_run.grad_norm), masked_run.loss[60:].mean()
masked_finite = bool(np.isfinite(masked_run.loss).all() and np.isnan(masked_run.grad_norm[masked_at - 1 :]).all())
assert masked_run.metrics["accuracy"] < 0.2

# %% [measured] without-relu
import math

from bugzoo.running import run_here

bare_runs = {}
for eps in ("1e-9", "0"):
    bare = hunt.with_eps(eps).source.replace("        hidden = F.relu(hidden)\n", "")
    assert bare != hunt.with_eps(eps).source
    bare_runs[eps] = run_here(bare)
bare_nan = int(np.flatnonzero(~np.isfinite(bare_runs["0"].trace.loss))[0]) + 1
survivor = bare_runs["1e-9"]
assert survivor.outcome == "finished"
steep_before, steep_after = survivor.trace.grad_norm[49], survivor.trace.grad_norm[50]
assert 3.5 < steep_after / steep_before < 4.8
log_tiny = math.log(1e-50)
too_small = torch.tensor(1e-50).item() == 0 and hunt.with_eps("1e-50").run().outcome == "non_finite"
too_small_half = torch.tensor(1e-9, dtype=torch.float16).item() == 0
smallest = torch.tensor(2e-45).item() > 0 and torch.tensor(5e-46).item() == 0

# %% [folded] appendix
# Appendix, for the curious: a mask, backward hooks, the ReLU taken away, and 1e-50
#
# **A mask hides it as well.** `torch.where(hidden.isfinite(), hidden, 0.0)` after the logarithm makes {every loss finite = masked_finite}, and the gradient of step {51 = masked_at} is
# nan as before: `where` passes a 0 back to the logarithm. From then on the loss is {2.30 = masked_end}, that of a guess. A user of 2017 met the same with
# a division by 0 ([pytorch/pytorch, issue 4132](https://github.com/pytorch/pytorch/issues/4132)).
#
# **Gradients, too.** `layer.register_full_backward_hook(hook)` gets the gradients that leave a layer and those that arrive. {One nan = only_one} arrives at
# `layer2`, for one picture and one unit, the one with the smallest output. {128 = leaves} leave it, one for each unit of `layer1`. The ReLU spares {23 = clean}
# units, which were off for that picture. The other {105 = hit} of {128 = units} get `nan` into every weight.
#
# **Without the ReLU** and with eps = 0, the loss is `nan` at step {51 = bare_nan}: the ReLU had delayed it by one step. With eps = 1e-9 the run
# survives, but its [gradient norm](glossary.ipynb#gradient-norm) jumps from {0.9 = steep_before} to {3.9 = steep_after}.
#
# **eps = 1e-50** is {nan again = too_small}. In Python log(1e-50) is {-115 = log_tiny}. But float32 holds no number below about {1e-45 = smallest}: there 1e-50 is 0. In float16, the
# dtype of mixed precision, {even 1e-9 is 0 = too_small_half}.
