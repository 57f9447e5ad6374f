"""Lesson 03: a loss that becomes nan at one step, and how to find the operation that caused it."""

# %% [case] incident
# mlp numerics/log_at_step?step=50&eps=0

# %% [case] second
# digits_cnn numerics/sqrt_at_zero?step=77

# %% [markdown] title
# # 03 · Hunting NaN
#
# Something in a training run is not a number, and you have to find out where it came from. In this lesson you watch it
# happen, write the two searches that find it, and replay the one step that matters. You repair the program while it is
# paused, and meet two popular fixes that do not work.
#
# You need about {70 = minutes} minutes, and to know what a forward and a backward pass are. Halfway, after *Read the line*, is a good place for a
# pause.
#
# Before each result you predict it. Say something, even a guess: it is saved, not graded, and the cell with the result comes
# back to it. Read folded text after the run above it. The cells build on each other. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; your predictions and your code are still there. The [glossary](glossary.ipynb) explains
# words that you do not know.

# %% setup
device = "auto"  # or "cpu", "cuda"

import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("03")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Monday, 23:40.* "The digits model trains for a while, then from one step to the next every loss is `nan`. I lowered the
# > learning rate tenfold: the same. The code review is tomorrow at nine."
#
# The program is an ordinary one: three linear layers, ReLU, cross-entropy, Adam, small pictures of digits. We will not read
# its code yet. Reading code for something you cannot name is slow; first find out *when* and *where*.

# %% [predict] guess
# What will you see in the last steps before the loss is nan?
#
# ( ) The loss climbs, faster and faster, until it overflows
#     A climb is divergence, the most common picture of a nan. This run has none.
# ( ) The gradient norm grows over some steps while the loss still looks fine
#     A good habit: the gradient often knows first. Here it does, but by one single step, and without growing.
# (x) Nothing at all: the step before looks like any other
#     No number grows. From one step to the next an operation has no defined result any more.

# %% [markdown] live-text
# ## Watch it break
#
# The cell below trains the model twice with the same seed and the same batches: first a **healthy twin**, the same program
# without the fault, then the incident. The twin's curve is drawn in the background. **Run**, **Pause** and **Stop** work
# during training. The curve stops where there is no number to draw.

# %% live
incident = lab.case("03/incident")
view = lab.live(incident, explain=False)

# %% [markdown] search-text
# ## When: write the search
#
# `view.result` waits until the run has ended, and its `trace` holds what was recorded: `trace.loss` and `trace.grad_norm`, one
# number for each step. Steps count from 1, rows from 0.
#
# **Write it:** the first step at which *either* of the two is not finite. `nan` and `inf` both count; `math.isfinite(x)` and
# `np.isfinite(x)` tell them from numbers.

# %% [task] first_bad_step
import numpy as np


def first_bad_step(loss, grad_norm):
    """The first step, from 1, whose loss or gradient norm is not finite; None where all of them are."""
    ...  # your code


# %% try-search
first_bad_step = lab.try_out("03/first_bad_step", first_bad_step)

# %% [solution] first_bad_step
import numpy as np


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
        return gave == wanted and gave is not True, f"{what}: step {wanted}, yours says {gave}", hint

    nan, inf = math.nan, math.inf
    late, either = (
        "the loss can show a nan one step after the gradient.",
        "one of the two is enough: join them with `or`.",
    )
    yield tried(
        [2.0, 1.5, 1.2, nan, nan], [1.0, 1.1, nan, nan, nan], 3, "the gradient is lost one step before the loss", late
    )
    yield tried([2.0, nan, 1.2], [1.0, 1.0, 1.0], 2, "a loss is lost and comes back", either)
    infinite = "inf is not nan: `isnan` misses it, `isfinite` does not."
    yield tried([2.0, 1.5, 1.2, 1.1], [1.0, 1.0, 1.0, inf], 4, "the gradient is infinite", infinite)
    yield tried([nan, nan], [nan, nan], 1, "lost from the start", either)
    gave = answer(np.array([2.0, 1.5]), np.array([1.0, 1.1]))
    yield gave is None, f"all finite: None, yours says {gave}", "`argmax` of an array without a True is 0, not None."


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
# There will be a last good row and a first bad one. Which number is lost first?
#
# (x) The gradient, and the loss one step later
#     The optimizer writes the lost gradient into the weights, and the next loss is the first to show it.
# ( ) The loss, and the gradient with it
#     That is how it looks on the curve. Here the two differ by one step, and that step is the lesson.
# ( ) The loss, and the gradient one step later
#     The gradient is computed from the loss: a nan loss has a nan gradient.

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
bad = first_bad_step(trace.loss, trace.grad_norm)

print("step   loss     gradient norm   healthy loss")
for step in range(bad - 3, bad + 3):
    row = step - 1
    print(f"{step:4}   {trace.loss[row]:6.4f}   {trace.grad_norm[row]:13.4f}   {healthy.loss[row]:12.4f}")

same = trace.loss[: bad - 1] == healthy.loss[: bad - 1]
print(f"steps 1 to {bad - 1} equal the healthy run to the last bit:", same.all())
loss, norm = trace.loss[bad - 2], trace.grad_norm[bad - 2]  # of the last good step
guess.reveal(f"loss {loss:.2f} and gradient norm {norm:.2f} in step {bad - 1}")
last_good.reveal(f"step {bad}: loss {trace.loss[bad - 1]:.2f}, gradient {trace.grad_norm[bad - 1]}")

# %% [proof] table
import re

bad_loss, bad_gradient = (int(np.flatnonzero(~np.isfinite(values))[0]) + 1 for values in (trace.loss, trace.grad_norm))
last_step = bad_gradient - 1
loss_good, norm_good, loss_bad = trace.loss[last_step - 1], trace.grad_norm[last_step - 1], trace.loss[last_step]
assert np.isnan(trace.grad_norm[last_step]) and np.isnan(trace.loss[bad_loss - 1]) and bad == bad_gradient
parted = int(np.flatnonzero(trace.loss != healthy.loss)[0]) + 1
worse = loss_bad > healthy.loss[last_step]
# no number grows before the cliff
assert loss_good < trace.loss[0] and trace.grad_norm[:50].max() < 3 * np.median(trace.grad_norm[20:50])
# a tenth of the learning rate does not help
slower = bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": 1e-4}, device=device).run().trace
assert np.isnan(slower.loss[-1]) and np.isnan(slower.grad_norm[50]) and np.isfinite(slower.loss[50])
# nothing is told before it is asked: neither the operation nor what hides it
early = [lesson.questions[name] for name in ("guess", "last_good")]
early += [answer[0] for answer in lesson.questions["finite_loss"].answers]
assert not re.search(r"(?i)relu|logarithm|torch\.log", str(early))

# %% [folded] numbers-read
# After the run: three things in this table
#
# **Nothing climbs.** Loss {1.38 = loss_good} at step {50 = last_step}, gradient norm {1.06 = norm_good}: an ordinary step. A run that diverges grows for a while
# before it overflows; this one falls off a cliff. That is why a smaller learning rate did not help. A cliff has few causes: an
# operation that is not defined for some number, one bad batch, or a number too large for float16. The next question is
# which of them.
#
# **The twins part at step {51 = parted}.** Up to step {50 = last_step} they are the same run, bit for bit. (On a GPU, a kernel may add
# in another order each time, and the last digits differ.) So the fault does nothing for fifty steps and then starts. Both
# runs saw the same batches, and the twin is fine: it is not the batch. The tensors are float32, and no number was large. One suspect is left.
#
# **The loss is a late witness.** At step {51 = bad_gradient} the loss is {1.48 = loss_bad}: {worse = worse} than its twin's, but a number. Its gradient is already
# `nan`. If you look at step {52 = bad_loss}, the first `nan` on the curve, you look at the wrong step.

# %% [predict] finite_loss
# At step {51 = bad_gradient} the loss is {1.48 = loss_bad} and the gradient is nan. How can that be? (The answer comes when an instrument has looked, some cells below.)
#
# ( ) Something broke in the backward pass only: the forward pass is clean
#     It is where the nan appears. But the backward pass only follows the forward pass back: it computes the slopes of what
#     was done there.
# (x) Something on the way forward was not finite, and was hidden again before it reached the loss
#     It is the more useful suspicion, too: it can be tested. What made the number, and what hid it?
# ( ) The optimizer divided by zero when it made this step
#     The optimizer comes later: the gradient norm is measured before its step.

# %% [markdown] hooks-text
# ## Where: forward hooks on the layers
#
# A **forward hook** is a function that PyTorch calls each time a layer has computed its output. You can register it on a live
# model and remove it again; the training does not change:
#
# ```python
# handle = layer.register_forward_hook(hook)  # from now on hook(layer, inputs, output) is called
# handle.remove()                             # from now on it is not called
# ```
#
# `model.named_children()` gives the name and the layer of each, and `output.isfinite().all()` is false if one number in it is
# not finite. Your hook must return nothing: a returned value would replace the output.
#
# **Write it:** register a hook on every layer, make one step, remove the hooks, and return the first layer that reported.


# %% [task] first_to_speak
def first_to_speak(model, make_step):
    """Name of the first layer whose output is not finite while make_step() runs; None where all are finite."""
    ...  # your code


# %% try-hooks
first_to_speak = lab.try_out("03/first_to_speak", first_to_speak)


# %% [solution] first_to_speak
def first_to_speak(model, make_step):
    """Name of the first layer whose output is not finite while make_step() runs; None where all are finite."""
    spoke = []

    def listen(name):
        def hook(layer, inputs, output):
            if not output.isfinite().all():
                spoke.append(name)

        return hook

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
        yield gave == wanted, f"{said}{run}: {wanted}, yours says {told}", misread(gave, values.get(wanted), values)
        count = f"steps made: 1, yours {len(steps)}; hooks left: 0, yours {left}"
        stays = "a hook stays on its layer until `handle.remove()`." if left else ""
        yield (len(steps), left) == (1, 0), f"    with {', '.join(values)}: {count}", stays


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
#     Its inputs are the pictures, and those are clean. Its output is finite.
# ( ) layer2
#     Close. Its output is finite, but something happens to it after the layer.
# ( ) head
#     Its output is the logits, and the loss was finite, so the logits were too.
# (x) None of these layers
#     We expect the trouble in a layer, so this answer is a surprise. All three have finite outputs in the very step that
#     kills the run.

# %% [markdown] pause-text
# Now use the real model. The incident runs again and pauses after step 50, the last good one. You get the live objects, in
# the middle of their training. Your function makes step 51 with its hooks.

# %% hooks
view = lab.LiveView(incident, pause_at=50).start()
view.wait_pause()
model = view.objects["model"]
print("all weights finite:", all(weights.isfinite().all().item() for weights in model.parameters()))

spoke = first_to_speak(model, lambda: view.advance(1))  # step 51, then pause again
print("first to speak:", spoke)
speaker.reveal(f"your function says {spoke}")

# %% [proof] nobody-speaks
assert spoke is None and [name for name, _ in model.named_children()] == ["layer1", "layer2", "head"]
assert len(view.points) == bad_gradient

# %% [predict] victims
# The step was made, and the optimizer has written its gradient into the weights. Which of them are nan now?
#
# (x) Most of layer1, very little of layer2, nothing of the head
#     So the nan came in between layer2 and the head, and spread from there toward the input.
# ( ) All of them
#     That would point to the loss, after the last layer: the gradient of every layer passes through it. Remember this one.
# ( ) Those of the head, which is next to the loss
#     The head is clean: up to there the gradient was fine.

# %% victims-run
from bugzoo.plots import footprint

lab.picture(footprint.picture(model))
for name, weights in model.named_parameters():
    print(f"{name:14} {weights.isnan().float().mean().item():6.1%} of {weights.numel():5} weights are nan")
victims.reveal()

# %% [proof] footprint-numbers
rows = model.layer2.weight.isnan().any(dim=1)
units, one_unit = len(rows), rows.sum().item() == 1
assert model.head.weight.isfinite().all() and model.head.bias.isfinite().all()
share = model.layer1.weight.isnan().float().mean()

# %% [folded] victims-read
# After the run: read the footprint
#
# The backward pass goes from the head to `layer1`, so read the picture from the right.
#
# - The **head** is clean: up to here the gradient was fine.
# - **`layer2`** has {one bad row = one_unit} out of {128 = units}: *one single unit* received a `nan`.
# - **`layer1`** has `nan` in {82 % = share} of its weights: nearly all of this unit's inputs. Why not all? In a moment.
#
# So the `nan` appeared in the backward pass, between the head and `layer2`.

# %% [markdown] backward-text
# Catch it with **backward hooks**: `grad_output` is the gradient that arrives at a layer from the loss, `grad_input` the one
# that it passes on. A forward hook keeps the outputs of `layer1` and `layer2`, for the question of the {82 % = share}.

# %% backward-hooks
view.restart()  # from the start; it pauses after step 50 again
view.wait_pause()
model = view.objects["model"]
heard, outputs = [], {}


def listen_back(name):
    def hook(layer, grad_input, grad_output):
        heard.append((name, grad_output[0].isnan().sum().item(), grad_input[0].isnan().sum().item()))

    return hook


def keep_output(name):
    def hook(layer, inputs, output):
        outputs[name] = output.detach()

    return hook


layers = dict(model.named_children())
handles = [layers[name].register_full_backward_hook(listen_back(name)) for name in ("head", "layer2")]
handles += [layers[name].register_forward_hook(keep_output(name)) for name in ("layer1", "layer2")]
view.advance(1)
for handle in handles:
    handle.remove()

for name, arriving, leaving in heard:
    print(f"{name:7} nan in the gradient that arrives: {arriving:3}   in the one that leaves: {leaving:3}")

# %% [proof] between-two-layers
assert heard[0][0] == "head" and heard[0][1:] == (0, 0) and heard[1][0] == "layer2"
arrives, leaves = heard[1][1:]
only_one = arrives == 1

# %% [check] between
# The gradient that leaves the head is finite; the one that arrives at layer2 has a nan. Where did the nan come from?
#
# ( ) In layer2
#     layer2 received it: its grad_output is the gradient of what comes after layer2.
# ( ) In the head
#     the gradient that leaves the head was finite. The head is innocent.
# (x) In the code between layer2 and the head, which is not a module
#     yes. Hooks are on modules; a function called in forward has none. This is where people lose an hour.

# %% [predict] spared
# {One nan = only_one} arrives at layer2, and {128 = leaves} leave it: one for each unit of layer1. Yet some of layer1's units are clean. What spared them?
#
# ( ) Their inputs were 0: those pixels are black
#     nan times 0 is nan, so a black pixel spares nothing. If a unit has nan, all of its weights have it.
# (x) Their ReLU was off for that one picture
#     The backward pass of ReLU does not multiply by 0, it writes a 0: even a nan ends there.
# ( ) The optimizer skipped them
#     Adam skips nothing: every value of the gradient goes into the weights.

# %% spared-run
minimum = outputs["layer2"] == outputs["layer2"].min()
picture, unit = minimum.nonzero()[0].tolist()
active = outputs["layer1"][picture] > 0  # units of layer1 that were on for this one picture
lost = model.layer1.weight.isnan().any(dim=1)

print(f"layer2's smallest output: picture {picture} of the batch, unit {unit}")
print(f"layer1: {active.sum()} of {len(active)} units are on for that picture, {lost.sum()} hold nan")
print("the same units:", active.equal(lost))
spared.reveal(f"{len(lost) - lost.sum()} units were off for picture {picture}, and just these are clean")
view.stop()

# %% [proof] spared-proof
hit, clean = int(lost.sum()), int((~lost).sum())
assert active.equal(lost) and model.layer1.weight[lost].isnan().all() and minimum.sum() == 1
assert int(model.layer2.weight.isnan().any(dim=1).nonzero()) == unit

# %% [folded] spared-read
# After the run: why {82 % = share}
#
# One unit of `layer2`, for one picture of the batch, got the `nan`. Its inputs are all {128 = units} units of `layer1`, so a `nan` goes back
# to each. But there is a ReLU between the two layers. Where it was off for that picture, its backward pass writes a 0, whatever
# arrives: {23 = clean} units are spared. The other {105 = hit} get the `nan` into every one of their weights, because `nan` times any pixel,
# black ones too, is `nan`. {105 = hit} of {128 = units} is {82 % = share}.
#
# And it was not just any unit: it has the *smallest* output of `layer2`. Remember that.

# %% [markdown] instrument-text
# ## The instrument that does this for you
#
# You did this by hand, step by step and layer by layer. An instrument does it from the trace of the first run. It covers every
# step, and functions as well as layers, so you need not know in advance which one matters. Is your answer to *how can that
# be?* still the same? You may change it above until you run this.

# %% instrument
from bugzoo.diagnostics import first_non_finite

run = lab.LiveView(incident, show_twin=False).start().result
numbers = first_non_finite.measure(run)
print(first_non_finite.judge(numbers).message)
finite_loss.reveal(f"{numbers['op']}, {numbers['direction']}")

# %% [proof] first
event = run.trace.first_non_finite()
assert (event.step, event.data["op"], event.data["direction"]) == (bad_gradient, "log", "forward")

# %% [folded] instrument-read
# After the run: what no hook could see
#
# It is not a module but a *function*, called inside `forward`, between two layers. Its output was already non-finite in the
# **forward** pass, just before the backward pass that you caught. Your hooks missed it because a ReLU follows it. Remember
# that too.

# %% [markdown] replay-text
# ## Replay one step in anomaly mode
#
# PyTorch's **anomaly mode** records where every operation was called, and raises an error when a backward function returns
# `nan`. It makes every step slower, for this model about twice, so you would not leave it on for a whole training. But one
# step is enough: the trace keeps snapshots, so you can go back before step 51 and repeat that single step in anomaly mode.

# %% [predict] section
# The program has about {90 = lines} lines, in sections. In which of them will the line be?
#
# ( ) Data
#     The twin read the same data and is fine.
# (x) Model
#     Inside forward, between two layers, as the hooks said.
# ( ) Training
#     The hooks pointed between layer2 and the head, and both are called in forward.

# %% replay
replay = run.trace.replay(51)
print(replay.message)
print("the same step to the last bit:", replay.faithful)
section.reveal(f"line {replay.first['line']}")

# %% [proof] the-line
assert replay.faithful and "torch.log" in replay.first["code"]
count = len(incident.source.splitlines())
lines = count - 7, count + 7
heads = [line for line in incident.source.splitlines()[: replay.first["line"]] if line.startswith("# %%")]
assert heads[-1] == "# %% Model"

# %% [markdown] reveal-text
# ## Read the line
#
# You have file, line and operation without reading the program. Now read it, but only that place. This is the change to the
# healthy program.

# %% reveal
print(incident.diff())

# %% [proof] counters
assert "if step >= 50:" in incident.source and incident.source.index("step += 1") > incident.source.index(
    "optimizer.step()\n"
)

# %% [folded] reveal-read
# `step >= 50`, and yet step 51?
#
# The program counts the steps that are *done*: `step` is 0 during the first one and is raised at its end. So `step >= 50`
# holds for the first time in the 51st step. The table and the instruments count from 1. When you report a step, say which of
# the two you mean; half of all "off by one" quarrels are this.

# %% [markdown] arithmetic-text
# ## Why the loss stayed finite
#
# `hidden - hidden.min()` is exactly zero at its smallest element, in every batch. Do it with three numbers: subtract the
# smallest, take the logarithm, then the ReLU that follows it.

# %% [predict] slope_at_zero
# What is the gradient at the smallest of the three?
#
# ( ) 0: the ReLU is off there, and lets nothing through
#     The ReLU passes on 0, that is true. Then the logarithm multiplies it by its own slope, which is infinite there.
# ( ) inf: the slope of the logarithm at 0
#     Its slope is infinite, that is true. But what arrives from the ReLU is 0, and the product is neither.
# (x) nan
#     0 from the ReLU times the infinite slope of the logarithm: 0 · ∞ has no value, and the name for that is nan.

# %% arithmetic
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
logarithm = torch.log(x - x.min())
rectified = F.relu(logarithm)
rectified.sum().backward()

print("log :", logarithm.tolist())
print("relu:", rectified.tolist())
print("grad:", x.grad.tolist())
slope_at_zero.reveal(f"x.grad[0] is {x.grad[0].item()}")

# %% slope-figure
from bugzoo.plots import slope

lab.picture(slope.picture({"log(x)": torch.log, "relu(log(x))": lambda x: F.relu(torch.log(x))}))

# %% [proof] at-zero
import math

assert logarithm[0] == -math.inf and rectified[0] == 0 and x.grad[0].isnan()
times_zero = (torch.log(torch.zeros(1)) * 0).isnan().item()
_, (at_zero, beyond) = slope.measure(lambda x: F.relu(torch.log(x)), np.array([0.0, 0.25]))
assert math.isnan(at_zero) and beyond == 0

# %% [folded] arithmetic-read
# After the run: a harmless value with an infinite slope
#
# **Forward,** on the left: log(0) is `-inf`, and the ReLU turns `-inf` into a harmless 0. The layers after it see nothing
# unusual. This is why the head was clean and the loss was finite.
#
# **Backward,** on the right: the nearer to 0, the steeper the logarithm; at 0 its slope, 1/x, is infinite. The ReLU hands on a
# gradient of 0, and the logarithm *multiplies* it by that slope. 0 · ∞ is not 0, nor ∞. It is `nan`.
#
# (In the forward pass the same rule bites: `log(0) * 0` is {nan = times_zero}. ReLU, `where` and `masked_fill` choose, and so they can throw a bad
# value away. Multiplying by a mask of zeros cannot.)

# %% [markdown] fix-text
# ## Repair it during a pause
#
# The run below pauses after step 50. We give it a program without the logarithm: the class of the live model is replaced, the
# weights and the optimizer stay as they are, and the run resumes.

# %% [predict] how_near
# How close to the healthy run will it get?
#
# (x) The same run, to the last bit
#     Until step 50 they were the same run, and from there on they are the same program. (On a GPU the last digits may
#     differ, as a kernel may add in another order each time.)
# ( ) It dies as well: the damage is done before step 50
#     Up to step 50 the logarithm had done nothing: the two were one run.
# ( ) About as good, some digits differ
#     Most repairs end there. Here nothing differs.

# %% fix
view = lab.live(incident, pause_at=50)
view.wait_pause()
print("exchanged:", view.patch(incident.healthy().source))
view.resume()

repaired, healthy = view.result.trace.metrics, view.healthy.trace.metrics
print("repaired:", repaired)
print("healthy: ", healthy)
print("equal to the last bit:", repaired == healthy)
how_near.reveal()

# %% [proof] repaired-proof
assert repaired == healthy

# %% [predict] too_late
# Suppose you pause after step 51 instead, repair the code there and resume. What happens?
#
# (x) It stays nan in all later steps
#     A repair does not heal weights: go back to a checkpoint from before the step, or start again.
# ( ) It recovers: the code is right now
#     The code is, the weights are not. Most of layer1 is nan already, and nan times anything is nan.
# ( ) It needs a few steps and then recovers
#     Each update is computed from the weights. nan minus a small step is nan.

# %% too-late-run
late = lab.LiveView(incident, pause_at=51).start()
late.wait_pause()
late.patch(incident.healthy().source)  # the same repair, one step later
late.resume()
print(late.result.outcome, late.result.trace.metrics)
too_late.reveal(f"validation loss {late.result.trace.metrics['loss']}")

# %% [proof] stays-nan
assert np.isnan(late.result.trace.loss[51:]).all()

# %% [markdown] mask-text
# ## The first fix that does not work: mask it
#
# Suppose the logarithm is wanted. The colleague's pull request says: "`-inf` is the problem, so I replace it with 0, right
# after the logarithm."
#
# ```python
# hidden = torch.log(hidden - hidden.min())
# hidden = torch.where(hidden.isfinite(), hidden, 0.0)
# ```
#
# It reads well, and after it no number of the forward pass is infinite any more.

# %% [predict] masked
# We put this into the run that is paused after step 50. What will it do?
#
# ( ) Finish about as well as the healthy one: the infinity is gone
#     It is gone from the forward pass, where it did no harm. The nan appears in the backward pass: `where` passes a 0 to the
#     logarithm, as the ReLU did, and the logarithm multiplies it by its infinite slope.
# ( ) Exactly what it did before: nan in every loss from step {52 = bad_loss} on
#     The gradient of step {51 = bad_gradient} is nan as before, and so are the weights. But now the mask hides them, too.
# (x) Die at step {51 = bad_gradient} as before, and report a finite loss
#     The worst of the three. The weights are nan, the mask turns all their outputs into 0, and the head guesses: the
#     loss is log 10 = {2.30 = guessing}. The alarm is off and the model is dead.

# %% mask-run
log_line = "hidden = torch.log(hidden - hidden.min() + 0.0)"
assert incident.source.count(log_line) == 1


def continued(new_line, **names):
    """The incident from step 50 on, with another line in the place of the logarithm."""
    view = lab.LiveView(incident, pause_at=50, show_twin=False).start()
    view.wait_pause()
    view.objects.update(names)
    view.patch(incident.source.replace(log_line, new_line))
    view.resume()
    return view.result.trace


masked_run = continued(
    "hidden = torch.log(hidden - hidden.min())\n            hidden = torch.where(hidden.isfinite(), hidden, 0.0)"
)
lost_at = first_bad_step(masked_run.loss, masked_run.grad_norm)
for row in (lost_at - 2, lost_at - 1, lost_at, len(masked_run.loss) - 1):
    print(f"step {row + 1:3}: loss {masked_run.loss[row]:.3f}   gradient norm {masked_run.grad_norm[row]:.3f}")
print(f"accuracy {masked_run.metrics['accuracy']:.3f}; a loss of log 10 = {np.log(10):.3f} is that of guessing")
masked.reveal(f"loss {masked_run.loss[-1]:.2f} at the end")

# %% [proof] mask-proof
assert (
    lost_at == bad_gradient
    and np.isfinite(masked_run.loss).all()
    and np.isnan(masked_run.grad_norm[lost_at - 1 :]).all()
)
assert abs(masked_run.loss[lost_at:].mean() - math.log(10)) < 0.03 and masked_run.metrics["accuracy"] < 0.2
guessing = math.log(10)

# %% [markdown] safe-text
# ## Write an operation that is safe
#
# Keep the value away from the infinite slope **before** the logarithm, not after it. Where the argument is 0, give the
# logarithm a 1 instead: its slope is then an ordinary number, and its value is not used. Then choose the 0.
#
# **Write it.** Use two `where`, or whatever you like; values and slopes are checked.


# %% [task] safe_log
def safe_log(x):
    """log(x) where x > 0, and 0 elsewhere; its slope is 1/x where x > 0, and 0 elsewhere."""
    ...  # your code


# %% try-safe
safe_log = lab.try_out("03/safe_log", safe_log)


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
        saw = f"value at {at:g}: {right:.4g}, yours gives {value:.4g}"
        hint = "log1p, log2 and log10 are other functions." if at else "an eps or a clamp moves log(0), but not to 0."
        yield abs(value - right) <= 1e-4 * max(1, abs(right)), saw, hint
    (slopes,) = torch.autograd.grad(gave.sum(), x)
    for at, steep in zip(x.tolist(), slopes.tolist(), strict=True):
        right = 1 / at if at else 0.0
        saw = f"slope at {at:g}: {right:.4g}, yours gives {steep:.4g}"
        hint = (
            "what `detach` or `clamp` cuts off has no slope."
            if at
            else "`where` after the logarithm mends only the value."
        )
        yield abs(steep - right) <= 1e-3 * max(1, right), saw, hint


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

# %% [predict] safe_is
# The same run from step 50 on, now with safe_log in place of torch.log. Will it be as good as the healthy one?
#
# ( ) It is lost again, only later
#     No number is lost: the slope is an ordinary number everywhere.
# (x) It finishes, and is worse than the healthy one
#     No nan is left. But the network still computes something unintended, and the validation loss shows it.
# ( ) It finishes, as good as the healthy one
#     Look at both numbers: the accuracy comes close, the validation loss does not.

# %% safe-run
safe_run = continued("hidden = safe_log(hidden - hidden.min())", safe_log=safe_log)
print("first step that is not finite:", first_bad_step(safe_run.loss, safe_run.grad_norm))


def on_validation(metrics):
    return f"accuracy {metrics['accuracy']:.3f}   validation loss {metrics['loss']:.3f}"


print("safe_log:", on_validation(safe_run.metrics))
print("healthy: ", on_validation(healthy))
safe_is.reveal(f"validation loss {safe_run.metrics['loss']:.2f} against {healthy['loss']:.2f}")

# %% [proof] safe-proof
assert first_bad_step(safe_run.loss, safe_run.grad_norm) is None
assert safe_run.metrics["loss"] > 1.3 * healthy["loss"]

# %% [markdown] eps-text
# ## The second fix that does not work: add an eps
#
# The usual advice on log(0) is to add a small `eps`. Try it.

# %% [predict] eps_guess
# The usual advice is to add a small eps inside the logarithm. With eps = 1e-9, what will the run do?
#
# (x) Finish, with about the accuracy of the healthy run
#     About {0.95 = accuracy}, like the healthy one. The logarithm is still there and nothing reports it any more. Whether that is a
#     repair is the next question.
# ( ) The same: nan in every loss, only some steps later
#     Not one nan in the whole run: log(1e-9) is {-20.7 = log_eps}, an ordinary number.
# ( ) Finish, but with a useless model, as log(1e-9) is a huge negative number
#     log(1e-9) is only {-20.7 = log_eps}, and the ReLU after it turns it into 0.


# %% eps-run
def try_eps(eps):
    case = bugzoo.Scenario("mlp", faults=(f"numerics/log_at_step?step=50&eps={eps}",), device=device)
    run = lab.LiveView(case, show_twin=False).start().result
    lost = sum(1 for loss in run.trace.loss if loss != loss)  # nan is the only number that differs from itself
    print(f"eps = {eps:5}  {lost:3} of {len(run.trace.loss)} losses are nan   {on_validation(run.trace.metrics)}")
    return run.trace.metrics


for eps in ("0", "1e-9"):
    with_eps = try_eps(eps)
print("the healthy run".ljust(37), on_validation(healthy))
eps_guess.reveal(f"accuracy {with_eps['accuracy']:.3f}")

# %% [proof] alarm


def with_slider(eps, step=50):
    """The run with another eps."""
    return bugzoo.Scenario("mlp", (f"numerics/log_at_step?step={step}&eps={eps}",), device=device).run()


quiet, well = with_slider("1e-9").trace, view.healthy.trace
assert np.isfinite(quiet.loss).all() and len(quiet.loss) == len(well.loss)
accuracy, accuracy_healthy = quiet.metrics["accuracy"], well.metrics["accuracy"]
twice = 1.5 < quiet.metrics["loss"] / well.metrics["loss"] < 2
log_eps, log_tiny = torch.tensor(1e-9).log(), math.log(1e-50)
thousand_million = torch.tensor(1e-9).reciprocal().item() > 0.99e9

# %% [folded] eps-read
# After the run: it repairs the alarm
#
# There is no `nan`, and the accuracy is about {0.95 = accuracy}, like the healthy run's. log(1e-9) is {-20.7 = log_eps}, and the ReLU turns it into 0. In the
# backward pass 0 times a slope of {a thousand million = thousand_million} is still 0.
#
# So is it repaired? The logarithm is still there, the network computes something unintended, and no instrument for `nan`
# will fire again. The validation loss is {almost twice = twice} the healthy one. By itself the curve looks fine; you see the difference
# only because there is a healthy twin beside it. **An eps does not repair the computation; it repairs the alarm.** Whether
# the logarithm should be there is a question about the model, not about numerics.

# %% [markdown] bare-text
# Was it really eps that saved the run? Two things are between that zero and the weights: the eps and the ReLU. Remove the
# ReLU, from the first step on, and try both values of eps again.

# %% [predict] bare
# One of the two runs dies. At which step does its loss show it?
#
# (x) With eps = 0, at step {51 = bare_nan}
#     The -inf goes straight into the head. The ReLU had delayed the nan loss by one step.
# ( ) With eps = 0, at step {52 = bad_loss}, as before
#     It was the ReLU that hid the -inf from the loss of that step. Without it the loss shows it at once.
# ( ) With eps = 1e-9, at step {51 = bare_nan}
#     {-20.7 = log_eps} is an ordinary number, with or without a ReLU after it.

# %% without-relu
from bugzoo.running import run_here

bare_runs = {}
for eps in ("1e-9", "0"):
    text = bugzoo.Scenario("mlp", faults=(f"numerics/log_at_step?step=50&eps={eps}",), device=device).source
    no_relu = text.replace("        hidden = F.relu(hidden)\n", "")
    assert no_relu != text
    run = bare_runs[eps] = run_here(no_relu)
    print(f"no ReLU, eps = {eps}: {run.outcome}, accuracy {run.trace.metrics['accuracy']:.3f}")
    for row in (49, 50, 51):
        print(f"   step {row + 1}: loss {run.trace.loss[row]:.3f}   gradient norm {run.trace.grad_norm[row]:.3f}")
bare.reveal()

# %% [proof] without-relu-proof
bare_nan = int(np.flatnonzero(~np.isfinite(bare_runs["0"].trace.loss))[0]) + 1
survivor = bare_runs["1e-9"]
assert survivor.outcome == "finished"
steep_before, steep_after = survivor.trace.grad_norm[49], survivor.trace.grad_norm[50]
four_times = 3.5 < steep_after / steep_before < 4.8

# %% [folded] without-relu-read
# After the run: it survives, but it is not healthy
#
# Without the ReLU and with eps = 0, the loss is `nan` *at* step {51 = bare_nan}. With eps = 1e-9 the run survives again, but its gradient norm
# becomes {four times = four_times} as large from one step to the next, about {0.9 = steep_before} and then {3.9 = steep_after}: the logarithm is steep where its argument is
# small, and the ReLU no longer flattens it.

# %% [predict] float32
# And eps = 1e-50? It is not zero.
#
# ( ) Fine: log(1e-50) is {-115 = log_tiny}, finite
#     In Python's 64-bit floats it is. The tensor holds 32-bit floats, whose smallest positive number is about {1e-45 = smallest}: there
#     1e-50 is 0.
# (x) Nan, exactly as with eps = 0
#     float32 cannot hold 1e-50, so the sum is 0. In float16 the same happens to 1e-9.
# ( ) An error: float32 cannot hold it
#     That would help. But it is rounded to 0 without a warning.

# %% float32-run
try_eps("1e-50")
for number in (torch.float32, torch.float16):
    held = [torch.tensor(eps, dtype=number).item() for eps in (1e-9, 1e-50)]
    print(f"{number}: 1e-9 is kept as {held[0]:g}, 1e-50 as {held[1]:g}")
float32.reveal()

# %% [proof] formats
assert torch.tensor(1e-50).item() == 0 and torch.tensor(1e-9, dtype=torch.float16).item() == 0
assert with_slider("1e-50").outcome == "non_finite"
smallest = torch.tensor(2e-45).item() > 0 and torch.tensor(5e-46).item() == 0

# %% [folded] float32-read
# After the run: an eps that underflows in the dtype has no effect
#
# In float32 numbers below about {1e-45 = smallest} underflow to 0. In float16, the dtype of mixed precision, even 1e-9 is 0, and the line
# that was safe on your laptop is log(0) on the GPU.

# %% [markdown] break-text
# ## Break it yourself
#
# Move the sliders, press **Run**, and try to be wrong about what comes:
#
# - Can the logarithm start so early or so late that you would not notice?
# - Move `eps` one notch away from 0: with {that one, the slider's smallest = silent}, no loss is `nan`. Is there one with which the run is as good as its
#   twin?
# - Does a tenth of the learning rate help? (The ticket said no. Check it.)

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mlp", faults=("numerics/log_at_step?step=50&eps=0",), device=device),
    ranges={"step": (0, 250)},
)

# %% [proof] sliders
tried = [with_slider(value).trace for value in ("1e-12", "1e-6", "1e-3", "1e-2", "1e-1", "1.0")]
silent = bool(np.isfinite(tried[0].loss).all())
assert all(trace.metrics["loss"] > 1.5 * well.metrics["loss"] for trace in tried), "none is as good as its twin"

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The convolutional net was fine for the {first two epochs = two_epochs}, then nan. I have hooks on
# every layer, and not one of them ever put out anything but finite numbers."* It is not the fault that you know.
#
# Say **what** is wrong, in which **line**, since which **step** (counted from 1), and which **test** would tell it from its
# look-alike. You know the way: when, then where, then replay one step. You have your two functions and all instruments; a
# cell below shows some ways to begin. There are three hints if you are stuck. Run their cell in any case; it opens no hint by
# itself. The next cell trains first, for some seconds, and the clock starts when the run is over. You have eight minutes. The
# clock interrupts nothing; it shows you where the time goes. Your diagnosis is graded part by part.

# %% turn
second = lab.case("03/second")
run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(8)

# %% [proof] second
turn, epoch = run.trace.first_non_finite(), 36
assert (turn.data["op"], turn.data["direction"]) == ("sqrt", "backward") and np.isfinite(
    run.trace.loss[: turn.step]
).all()
again = run.trace.replay(turn.step)
assert again.faithful and "sqrt" in again.first["code"] and second.ticket != incident.ticket
two_epochs = len(run.trace.step) == 5 * epoch and 2 * epoch < turn.step <= 3 * epoch
assert "sqrt" not in str([cell.shown for cell in lesson.cells if cell.kind in ("markdown", "predict", "check")])

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                         the program; lines count from 1
#   first_bad_step(run.trace.loss, run.trace.grad_norm)
#   print(run.trace.replay(7).message)                           replay one step; which one?
#   lab.picture(footprint.picture(run.trace.live.models[0]))

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
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "sqrt()" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, text in offered.items() if text == second.specs[0][0].look_alikes[0].test)
own = {
    "cause": "a function outside its domain, such as log or sqrt",
    "place": right_line,
    "step": turn.step,
    "test": test,
}
assert own["cause"] in form.causes and len(form.causes) == 4
good, bad_one = judged(second, own), judged(second, own | {"place": 3, "step": 50})
assert "4 of 4" in good and "2 of 4" in bad_one, (good, bad_one)
turn_event = turn.step
norm_taught = torch.zeros(2, requires_grad=True)
torch.linalg.vector_norm(norm_taught).backward()
norm_knows = bool((norm_taught.grad == 0).all())

# %% [folded] turn-read
# After you have handed in: the same fault in another place
#
# The loss has a penalty on the distance between two outputs of a batch, written out as square, sum, `sqrt`. Each output is
# also compared with itself. That distance is 0, a harmless value, but the slope of `sqrt` at 0 is infinite. In the backward
# pass the square contributes a 0, and 0 · ∞ is `nan`. Step {78 = turn_event} is the first, and the program's `step >= 77` is the same step.
#
# The difference: nothing was infinite in the forward pass, so the hooks were right and useless. And the footprint covers
# everything, the head too: the `nan` came from the loss, after the last layer.
#
# The repair: `torch.linalg.vector_norm` {gives a slope of 0 there = norm_knows}, your own formula does not. And here an eps *inside* `sqrt` is a
# repair: the penalty is wanted, and 1e-12 is small against the distances but not too small for float32.

# %% [check] recap_check
# A colleague's loss is nan at step 4,000. What do you look at first?
#
# ( ) A new run with a tenth of the learning rate
#     it may hide the nan for a while, and it costs a run to try. First find the first non-finite number.
# ( ) The loss function, and what it was given at step 4,000
#     the loss shows the nan, usually one step late.
# (x) The step before: the first non-finite gradient or output, and its operation
#     yes. With a replay of that one step you have file and line within seconds.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Find the first non-finite number of the run: gradients and outputs before the loss.** Growth before it is
#    divergence; a cliff is an operation outside its domain. *Fails when* a cliff has another cause: one bad batch (replay the
#    step with another batch), or a number too large for float16 (replay it in float32).
# 2. **Hooks see modules, replay sees functions.** If every layer is innocent, replay that one step in anomaly mode: it gives
#    file and line. *Fails when* the replay is not bitwise exact: then the first culprit may be another.
# 3. **A harmless value can have an infinite slope, so fix the argument, before the operation.** After it, no `where` and no
#    ReLU saves the gradient. *Fails when* the argument was not the mistake: then a safe operation only hides the wrong one.
# 4. **Repair the code, then go back to a checkpoint. An eps is a repair only if the operation is wanted.** *Fails when* the
#    eps underflows in the dtype, or when the checkpoint is from after the step.
#
# **Next:** in [exercise 07](../exercises/07_sudden_nan.ipynb) a loss falls and then ends as nan, in
# [exercise 08](../exercises/08_nan_from_the_start.ipynb) it is nan from the first step. They are graded by what your program does. The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
