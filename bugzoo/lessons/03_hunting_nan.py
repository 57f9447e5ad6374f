"""Lesson 03: a loss that becomes nan at one step, and the way back to the operation that did it."""

# %% [case] incident
# mlp numerics/log_at_step?step=50&eps=0

# %% [case] second
# digits_cnn numerics/log_at_step?step=77&eps=0

# %% [markdown] title
# # 03 · Hunting NaN
#
# Something in a training run is not a number, and you have to find out where it came from. In this lesson you watch it
# happen, put your ear on the layers, replay the one step that matters, repair the program while it stands still, and then
# meet the repair that everybody recommends and that is not one.
#
# About 40 minutes. You should know what a forward and a backward pass are. Wherever it says **before you run**, stop and
# guess: a wrong guess teaches more than a right reading. The cells build on each other: after a restart of the kernel, choose
# *Run* → *Run All Above Selected Cell*.

# %% setup
import warnings

import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

# %% [markdown] incident
# ## The incident
#
# > *Monday, 23:40.* "The digits model trains for a while, then from one step to the next every loss is `nan`. I lowered the
# > learning rate tenfold: the same. The code review is tomorrow at nine."
#
# You know this program: three linear layers, ReLU, cross-entropy, Adam, small pictures of digits. We will not read the code
# yet. Reading code for something you cannot name is slow; first find out *when* and *where*.

# %% [check] guess
# Before you run it: what will you see in the last steps before the loss is nan?
#
# ( ) The loss climbs, faster and faster, until it overflows
#     that is divergence, the most common picture of it. Keep it in mind and compare: does this run climb?
# ( ) The gradient norm grows over some steps while the loss still looks fine
#     a good habit: the gradient often knows first. Here it does know first, but look at how long before.
# (x) Nothing at all: the step before looks like any other
#     as you will see. No number grows; from one step to the next something is not defined any more.

# %% [markdown] live-text
# ## Watch it break
#
# The cell below trains the model twice with the same seed and the same batches: first a healthy twin, drawn behind, then the
# incident in front of it. **Run**, **Pause** and **Stop** work while it trains.

# %% live
incident = lab.case("03/incident")
view = lab.live(incident)

# %% [markdown] numbers-text
# The curve stops because `nan` cannot be drawn. Let us have the numbers around that place. `view.result` waits until the run
# has ended; `trace` is what was recorded while it ran.
#
# **Before you run:** there will be a last good row and a first bad one. How will the last good one look?

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace

print("step   loss     gradient norm   healthy loss")
for step in range(48, 54):
    row = step - 1  # steps count from 1, rows from 0
    print(f"{step:4}   {trace.loss[row]:6.4f}   {trace.grad_norm[row]:13.4f}   {healthy.loss[row]:12.4f}")

same = trace.loss[:50] == healthy.loss[:50]
print("steps 1 to 50 equal the healthy run to the last bit:", same.all())

# %% [proof] table
import re

import numpy as np

from bugzoo.lessons import load

bad_loss, bad_gradient = (int(np.flatnonzero(~np.isfinite(values))[0]) + 1 for values in (trace.loss, trace.grad_norm))
last_good = bad_gradient - 1
loss_good, norm_good, loss_bad = trace.loss[last_good - 1], trace.grad_norm[last_good - 1], trace.loss[last_good]
assert np.isnan(trace.grad_norm[last_good]) and np.isnan(trace.loss[bad_loss - 1])
parted = int(np.flatnonzero(trace.loss != healthy.loss)[0]) + 1
worse = loss_bad > healthy.loss[last_good]
# no number grows before the cliff
assert loss_good < trace.loss[0] and trace.grad_norm[:50].max() < 3 * np.median(trace.grad_norm[20:50])
# a tenth of the learning rate does not help
slower = bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": 1e-4}).run().trace
assert np.isnan(slower.loss[-1]) and np.isnan(slower.grad_norm[50]) and np.isfinite(slower.loss[50])
# nothing is told before it is asked: neither the operation nor what hides it
early = [load("03").questions[name] for name in ("guess", "finite_loss")]
assert not re.search(r"(?i)relu|logarithm|torch\.log", str(early))

# %% [markdown] numbers-read
# Read it slowly, there are three things in this table.
#
# **Nothing climbs.** Loss {1.38 = loss_good} at step {50 = last_good}, gradient norm {1.06 = norm_good}: an ordinary step. A run that diverges grows for a while before
# it overflows; this one falls off a cliff. That is why a smaller learning rate did not help.
#
# **The twins part at step {51 = parted}.** Up to step {50 = last_good} they are the same run, bit for bit. So whatever is wrong does nothing for fifty
# steps and then sets in. Something in this program looks at the step.
#
# **The loss is a late witness.** At step {51 = bad_gradient} the loss is {1.48 = loss_bad}: {worse = worse} than its twin's, but a number. Its gradient is already
# `nan`. The optimiser writes that gradient into the weights, and the loss of step {52 = bad_loss} is the first to show it. Whoever stares at
# step 52 looks at the wrong step.

# %% [check] finite_loss
# At step {51 = bad_gradient} the loss is {1.48 = loss_bad} and the gradient is nan. How can that be?
#
# ( ) The loss is computed before the gradient, so something broke in the backward pass only
#     it is where the nan appears. But the backward pass only follows the forward pass back: it computes the slopes of
#     what was done there. Which operation can have a slope that does not exist?
# (x) Something on the way forward was not finite, and was hidden again before it reached the loss
#     so it will turn out. It is the more useful suspicion, too: it can be tested. What made the number, and what hid
#     it? Listen to the layers.
# ( ) The optimiser divided by zero
#     the optimiser comes later: the gradient norm in the plot is taken before it does anything.

# %% [markdown] hooks-text
# ## Put your ear on the layers
#
# A **forward hook** is a function that PyTorch calls each time a layer has computed its output. You can hang it on a live
# model and take it off again; the training does not notice.
#
# We run the incident again and let it stand still after step 50, the last good one. The objects that you get are the real
# ones, in the middle of their training.

# %% pause
view = lab.LiveView(incident, pause_at=50).start()
view.wait_pause()

model = view.objects["model"]
print(view)
print(model)
print("all weights finite:", all(weights.isfinite().all().item() for weights in model.parameters()))

# %% [proof] paused
assert all(weights.isfinite().all() for weights in model.parameters()) and len(view.points) == last_good

# %% [markdown] hooks-guess
# **Before you run:** three layers will speak during step 51: `layer1`, `layer2`, `head`. Which one is the first to put out a
# number that is not finite? Decide, then run.

# %% hooks
heard = []


def listen(name):
    def hook(module, inputs, output):
        heard.append((name, output.isfinite().all().item(), output.abs().max().item()))

    return hook


handles = [layer.register_forward_hook(listen(name)) for name, layer in model.named_children()]
view.advance(1)  # step 51, and stand still again
for handle in handles:
    handle.remove()

for name, finite, largest in heard:
    print(f"{name:7} output finite: {finite}   largest value {largest:.2f}")

# %% [proof] nobody-speaks
assert [name for name, *_ in heard] == ["layer1", "layer2", "head"] and all(finite for _, finite, _ in heard)

# %% [markdown] hooks-read
# None of them. If you chose a layer, you are in good company: we expect trouble to sit in a layer. All three put out ordinary
# numbers in the very step that kills the run.
#
# But the step was made, and the optimiser has written its gradient into the weights.
#
# **Before you run:** the next cell counts the weights that are `nan` now. All of them? One layer's?

# %% victims
for name, weights in model.named_parameters():
    print(f"{name:14} {weights.isnan().float().mean().item():6.1%} of {weights.numel():5} weights are nan")

rows = model.layer2.weight.isnan().any(dim=1).sum().item()
print(f"layer2: {rows} of {len(model.layer2.weight)} units is hit")

# %% [proof] footprint
units, one_unit = len(model.layer2.weight), rows == 1
assert model.head.weight.isfinite().all() and model.head.bias.isfinite().all()
mostly = 0.5 < model.layer1.weight.isnan().float().mean().item() < 1

# %% [markdown] victims-read
# This is a footprint, and you can read its direction. The backward pass goes from the head to `layer1`.
#
# - The **head** is clean: up to here the gradient was fine.
# - **`layer2`** has {one bad row = one_unit} out of {128 = units}: *one single unit* received a `nan`.
# - **`layer1`** is {mostly gone = mostly}: everything that this unit listens to was hit on the way back.
#
# So the `nan` was born behind `layer2` and in front of the head, on the way back. Let us catch it in the act, with **backward
# hooks**: `grad_output` is the gradient that arrives at a layer from behind, `grad_input` the one that it passes on.

# %% backward-hooks
view.restart()  # from the start; it stands still after step 50 again
view.wait_pause()
model = view.objects["model"]
heard = []


def listen_back(name):
    def hook(module, grad_input, grad_output):
        heard.append((name, grad_output[0].isnan().sum().item(), grad_input[0].isnan().sum().item()))

    return hook


handles = [layer.register_full_backward_hook(listen_back(name)) for name, layer in list(model.named_children())[1:]]
view.advance(1)
for handle in handles:
    handle.remove()

for name, arriving, leaving in heard:
    print(f"{name:7} nan in the gradient that arrives: {arriving:3}   in the one that leaves: {leaving:3}")
view.stop()

# %% [proof] between-two-layers
assert heard[0][0] == "head" and heard[0][2] == 0 and heard[1][0] == "layer2" and heard[1][1] > 0

# %% [check] between
# The gradient that leaves the head is finite; the one that arrives at layer2 holds a nan. Where was it made?
#
# ( ) In layer2
#     layer2 received it: its grad_output is the gradient of what comes after layer2.
# ( ) In the head
#     what leaves the head on the way back was finite. The head is innocent.
# (x) In the code between layer2 and the head, which is no module
#     yes. Hooks sit on modules; a function called in forward has none. This is where people lose an hour.

# %% [markdown] instrument-text
# ## The instrument that does this for you
#
# What you have just done by hand, step by step and layer by layer, an instrument reads out of the trace of the first run. It
# looked at every step, and nobody had to know beforehand which one would matter.

# %% instrument
from bugzoo.diagnostics import first_non_finite

run = lab.LiveView(incident, show_twin=False).start().result
numbers = first_non_finite.measure(run)
print(first_non_finite.judge(numbers).message)

# %% [proof] first
event = run.trace.first_non_finite()
assert (event.step, event.data["op"], event.data["direction"]) == (bad_gradient, "log", "forward")

# %% [markdown] instrument-read
# There is the thing that no hook on a layer could hear: not a module but a *function*, called inside `forward`, between two
# layers. Its output was not finite already on the way **forward**, one moment before the backward pass you caught. You heard
# nothing then because a ReLU stands behind it. Hold that thought.

# %% [markdown] replay-text
# ## One step again, under the magnifying glass
#
# PyTorch's **anomaly mode** remembers for every operation where it was called, and raises when a backward function returns
# `nan`. It makes every step slower, for this model about twice, so nobody leaves it on for a whole training. But one
# step is enough: the trace keeps snapshots, so you can go back before step 51 and make that single step again, with everything
# switched on.
#
# **Before you run:** the program has about {90 = lines} lines. In which section will the line be: Data, Model, Training?

# %% replay
replay = run.trace.replay(51)
print(replay.message)
print("the same step to the last bit:", replay.faithful)

# %% [proof] the-line
assert replay.faithful and "torch.log" in replay.first["code"]
lines = len(incident.source.splitlines()) - 7, len(incident.source.splitlines()) + 7

# %% [markdown] reveal-text
# File, line, operation, and we have not read the program yet. Now read it, but only that place; this is what was done to the
# healthy program.

# %% reveal
print(incident.diff())

# %% [markdown] arithmetic-text
# ## Why the loss kept quiet
#
# `hidden - hidden.min()` is exactly zero at its smallest element, in every batch. Do it with three numbers. **Before you
# run:** what is the gradient at the first one?

# %% arithmetic
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
logarithm = torch.log(x - x.min())
rectified = F.relu(logarithm)
rectified.sum().backward()

print("log :", logarithm.tolist())
print("relu:", rectified.tolist())
print("grad:", x.grad.tolist())

# %% [proof] lengths
import math

assert logarithm[0] == -math.inf and rectified[0] == 0 and x.grad[0].isnan()


def slope(length):
    """(the length of a zero vector, whether its gradient is nan)"""
    zeros = torch.zeros(2, requires_grad=True)
    length(zeros).backward()
    return length(zeros).item(), zeros.grad.isnan().all().item()


written_out = slope(lambda vector: (vector**2).sum().sqrt()) == (0, True)
taught = slope(lambda vector: vector.norm()) == (0, False)

# %% [markdown] arithmetic-read
# Forward: log(0) is `-inf`, and the ReLU turns `-inf` into a harmless 0. Nobody downstream can see that anything happened. This
# is why the head was clean and the loss was finite.
#
# Backward: the ReLU passes on a gradient of 0 for that element, and the logarithm multiplies it by its slope, 1/0 = ∞. And
# 0 · ∞ is not 0, nor ∞. It has no value, and the name for that is `nan`.
#
# Remember the pattern: **a harmless value with an infinite slope.** `sqrt` at 0 is the plain case: a length written out as
# `(x ** 2).sum().sqrt()` is 0 for a zero vector, and its gradient is {`nan` = written_out}. (`x.norm()` {has been taught = taught} to return 0 there; your
# own formula has not.) Masking the bad value *afterwards* (`where`, ReLU, multiplying by 0) rescues the forward pass and never
# the backward pass.
#
# Anomaly mode says it in its own words, and now you can read them:

# %% anomaly
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
try:
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")  # in real life, read it: it is the traceback of the forward call
        F.relu(torch.log(x - x.min())).sum().backward()
except RuntimeError as error:
    print(error)

# %% [markdown] fix-text
# ## Repair it while it stands still
#
# The run below stands still after step 50. We hand it a program without the logarithm: the class is exchanged under the live
# model, the weights and the optimiser stay as they are, and it goes on.
#
# **Before you run:** how near to the healthy run will it come?

# %% fix
view = lab.live(incident, pause_at=50)
view.wait_pause()
print("exchanged:", view.patch(incident.healthy().source))
view.resume()

repaired, healthy = view.result.trace.metrics, view.healthy.trace.metrics
print("repaired:", repaired)
print("healthy: ", healthy)
print("equal to the last bit:", repaired == healthy)

# %% [proof] repaired
equal = repaired == healthy

# %% [markdown] fix-read
# Not near: *{equal = equal}*. Until step 50 the two were the same run, and from there on they are the same program.

# %% [check] too_late
# Suppose you pause after step 51 instead, repair the code there and go on. What happens?
#
# ( ) It recovers: the code is right now
#     the code is, the weights are not. Most of layer1 is nan already, and nan times anything is nan.
# (x) It stays nan
#     yes. A repair does not heal weights: go back to a checkpoint from before the step, or start again.
# ( ) It needs a few steps and then recovers
#     each update is computed from the weights. Nan minus a small step is nan.

# %% too-late-run
late = lab.LiveView(incident, pause_at=51).start()
late.wait_pause()
late.patch(incident.healthy().source)  # the same repair, one step later
late.resume()
print(late.result.outcome, late.result.trace.metrics)

# %% [proof] stays-nan
assert np.isnan(late.result.trace.loss[51:]).all()

# %% [markdown] eps-text
# ## The repair that everybody recommends
#
# Ask around what to do about log(0), and the answer is: add a small `eps`. Very well.

# %% [check] eps_guess
# The usual advice is to add a small eps inside the logarithm. With eps = 1e-9, what will the run do?
#
# ( ) The same, only later
#     try it: not one nan in the whole run. log(1e-9) is {-20.7 = log_eps}, an ordinary number.
# (x) Finish, with about the accuracy of the healthy run
#     yes, about {0.95 = accuracy} like the healthy one. The logarithm is still there and nothing reports it any more. Whether that
#     is a repair is the next question.
# ( ) Finish, but with a useless model, as log(1e-9) is a huge negative number
#     log(1e-9) is only {-20.7 = log_eps}, and the ReLU behind it turns it into 0.


# %% eps-run
def try_eps(eps):
    case = bugzoo.Scenario("mlp", faults=(f"numerics/log_at_step?step=50&eps={eps}",))
    run = lab.LiveView(case, show_twin=False).start().result
    lost = sum(1 for loss in run.trace.loss if loss != loss)  # nan is the only number that differs from itself
    print(f"eps = {eps:5}  {lost:3} of {len(run.trace.loss)} losses are nan   {on_validation(run.trace.metrics)}")


def on_validation(metrics):
    return f"accuracy {metrics['accuracy']:.3f}   validation loss {metrics['loss']:.3f}"


for eps in ("0", "1e-9"):
    try_eps(eps)
print("the healthy run".ljust(37), on_validation(view.healthy.trace.metrics))
print(f"log(1e-9) = {torch.tensor(1e-9).log().item():.1f}")

# %% [proof] alarm


def with_slider(eps, step=50):
    """The run with another eps."""
    return bugzoo.Scenario("mlp", (f"numerics/log_at_step?step={step}&eps={eps}",)).run()


quiet, well = with_slider("1e-9").trace, view.healthy.trace
assert np.isfinite(quiet.loss).all() and len(quiet.loss) == len(well.loss)
accuracy, accuracy_healthy = quiet.metrics["accuracy"], well.metrics["accuracy"]
twice = 1.5 < quiet.metrics["loss"] / well.metrics["loss"] < 2
log_eps, log_tiny = torch.tensor(1e-9).log(), math.log(1e-50)
thousand_million = torch.tensor(1e-9).reciprocal().item() > 0.99e9

# %% [markdown] eps-read
# Not one `nan`, and an accuracy of about {0.95 = accuracy}, as the healthy run has. You may meet exactly this line, with 1e-9, as *the
# example of a layer that produces nan*. It does not. log(1e-9) is {-20.7 = log_eps}, the ReLU makes 0 of it, and on the way back 0 times a
# slope of {a thousand million = thousand_million} is still 0.
#
# So is it repaired? The logarithm is still there, the network computes something that nobody intended, and no instrument for
# `nan` will ever ring again. Look at the last column: the validation loss is {almost twice = twice} the healthy one. By itself the curve
# looks fine; you see it only because there is a healthy twin to lay beside it. **An eps does not repair the computation; it
# repairs the alarm.** Whether the logarithm should be there is a question about the model, not about numerics.
#
# And was it really eps that saved the run? Two things stand between that zero and the weights: the eps, and the ReLU. Take the
# ReLU away, from the first step on, and try both values of eps again.
#
# **Before you run:** one of the two runs dies. Which, and at which step does its *loss* show it?

# %% without-relu
from bugzoo.running import run_here

with_eps = bugzoo.Scenario("mlp", faults=("numerics/log_at_step?step=50&eps=1e-9",)).source
for text, eps in ((with_eps, "1e-9"), (incident.source, "0")):
    bare = text.replace("        hidden = F.relu(hidden)\n", "")
    assert bare != text
    run = run_here(bare)
    print(f"no ReLU, eps = {eps}: {run.outcome}, accuracy {run.trace.metrics['accuracy']:.3f}")
    for row in (49, 50, 51):
        print(f"   step {row + 1}: loss {run.trace.loss[row]:.3f}   gradient norm {run.trace.grad_norm[row]:.3f}")

# %% [proof] without-relu-proof
bare_nan = int(np.flatnonzero(~np.isfinite(run.trace.loss))[0]) + 1  # the run with eps = 0 is the last one
survivor = run_here(with_eps.replace("        hidden = F.relu(hidden)\n", ""))
assert survivor.outcome == "finished" and "F.relu(hidden)\n" in with_eps
steep_before, steep_after = survivor.trace.grad_norm[49], survivor.trace.grad_norm[50]
four_times = 3.5 < steep_after / steep_before < 4.8

# %% [markdown] without-relu-read
# Without the ReLU and with eps = 0, the `-inf` walks straight into the head, and now the loss is `nan` *at* step {51 = bare_nan}. The ReLU
# had delayed the news by one step. With eps = 1e-9 the run survives again, but its gradient norm becomes {four times = four_times} as large
# from one step to the next, about {0.9 = steep_before} and then {3.9 = steep_after}: the logarithm is steep where its argument is small, and nothing flattens it
# any more. It lives, and it is not well.

# %% [check] float32
# And eps = 1e-50? It is not zero.
#
# ( ) Fine: log(1e-50) is {-115 = log_tiny}, finite
#     in Python's 64-bit floats it is. The tensor holds 32-bit floats, whose smallest positive number is about {1e-45 = smallest}:
#     there 1e-50 is 0.
# (x) Nan, exactly as with eps = 0
#     yes. float32 cannot hold 1e-50, so the sum is 0. In float16 the same happens to 1e-9.
# ( ) An error: float32 cannot hold it
#     that would be kind. It is rounded to 0 without a word.

# %% float32-run
try_eps("1e-50")
for number in (torch.float32, torch.float16):
    held = [torch.tensor(eps, dtype=number).item() for eps in (1e-9, 1e-50)]
    print(f"{number}: 1e-9 is kept as {held[0]:g}, 1e-50 as {held[1]:g}")

# %% [proof] formats
assert torch.tensor(1e-50).item() == 0 and torch.tensor(1e-9, dtype=torch.float16).item() == 0
assert with_slider("1e-50").outcome == "non_finite"
smallest = torch.tensor(2e-45).item() > 0 and torch.tensor(5e-46).item() == 0

# %% [markdown] float32-read
# An eps that the number format cannot see is no eps. In float32 that begins at about {1e-45 = smallest}; in float16, the format of mixed
# precision, already 1e-9 is 0, and the line that was safe on your laptop is log(0) on the GPU.

# %% [markdown] break-text
# ## Break it yourself
#
# Move the sliders, press **Run**, and try to be wrong about what comes:
#
# - Can the logarithm set in so early or so late that nobody notices?
# - With {the smallest eps above 0 = silent} no loss is `nan`. Is there one with which the run is as good as its twin?
# - Does a tenth of the learning rate help? (The ticket said no. Check it.)

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mlp", faults=("numerics/log_at_step?step=50&eps=0",)),
    ranges={"step": (0, 250)},
)

# %% [proof] sliders
tried = [with_slider(value).trace for value in ("1e-12", "1e-6", "1e-3", "1e-2", "1e-1", "1.0")]
silent = bool(np.isfinite(tried[0].loss).all())
assert all(trace.metrics["loss"] > 1.5 * well.metrics["loss"] for trace in tried), "none is as good as its twin"

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The convolutional net was fine for the {first two epochs = two_epochs}."* Find the step, the operation
# and the line. You know the way: when, then where, then one step again. The instruments are the same, `second.run()` gives
# you a run with its trace, and there are three hints if you are stuck. Run their cell in any case: it opens none by itself, and
# the form below counts them.
#
# Five minutes. The clock interrupts nobody; it is there so that you notice where the time goes.

# %% turn
clock = lab.timer(5)
second = lab.case("03/second")
run = second.run()
print(run)

# %% [proof] second
turn, epoch = run.trace.first_non_finite(), len(run.trace.step) / 5
assert turn.data["op"] == "log" and np.isfinite(run.trace.loss[: turn.step]).all()
again = run.trace.replay(turn.step)
assert again.faithful and "torch.log" in again.first["code"] and second.ticket != incident.ticket
two_epochs = 2 * epoch < turn.step <= 3 * epoch

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it, for example
# run.trace.loss[...], first_non_finite.measure(run), run.trace.replay(...).message; print(second.source) is the program

# %% turn-form
form = lab.diagnose(second.ticket, hints=hints)

# %% [markdown] turn-read
# When you have handed in, compare. The diff is the place; the step is where the two runs part.

# %% turn-answer
clock.stop()
if form.handed_in:
    print(form.diagnosis.record())
    print(second.diff())
else:
    print("The answer is shown once the form is handed in.")

# %% [check] recap_check
# A colleague's loss is nan at step 4,000. What do you look at first?
#
# ( ) A smaller learning rate
#     it may hide this for a while, and it costs a run to try. First find out which number was the first.
# ( ) The loss function at step 4,000
#     the loss is the messenger. It is usually one step late.
# (x) The step before: the first gradient or output that is not finite, and the operation that made it
#     yes. With a replay of that one step you have file and line within seconds.

# %% [markdown] recap
# ## What to take with you
#
# 1. **The first `nan` in the loss is late.** Ask for the first number of the whole run that is not finite: gradient and outputs
#    before the loss.
# 2. **Growth or cliff?** Growth over many steps is divergence. A cliff is an operation outside its domain.
# 3. **Hooks hear modules, not functions.** If every layer is innocent, look between them.
# 4. **Replay one step** under anomaly mode: it gives file and line. Do not leave it on.
# 5. **A harmless value can have an infinite slope.** Hiding the value afterwards does not save the gradient.
# 6. **Weights that are `nan` stay `nan`.** Repair the code, then go back to a checkpoint.
# 7. **An eps repairs the alarm.** Ask whether the operation belongs there; if it does, keep its argument away from zero by
#    more than the number format's smallest step.
#
# The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
#
# Now repair one yourself: `exercises/03_sudden_nan.ipynb` belongs to this lesson, and the result is judged by what your program
# does.
