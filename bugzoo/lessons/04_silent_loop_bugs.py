"""Lesson 04: training loops that run to their end, print no warning, and do something else than what was meant."""

# %% [case] incident
# mlp loop/step_every_n_never_zeroed?every=4

# %% [case] quiet
# mlp optimizer/some_parameters_left_out

# %% [case] second
# digits_cnn loop/same_batch_forever

# %% [markdown] title
# # 04 · Silent loop bugs
#
# A training loop is five lines. Leave one out, or put it in the wrong place, and nothing complains: there is a loss, it moves,
# and in the end there is a model. In this lesson you write three checks of ten lines each that any loop has to pass, mend a run
# while it is going on, and try a sentence that everybody repeats about the most famous of all forgotten lines.
#
# You need about {55 = minutes} minutes, and to know what `backward()` and `step()` are for. After *Mend it while it runs* is a good place for a
# pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import bugzoo
from bugzoo import lab
from bugzoo.running import run_here

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("04")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Wednesday, 22:15.* "The GPU here is smaller than ours at home, so I switched the digits model to gradient accumulation: a step
# > at every fourth batch. No error, no warning. But it ends at {81 % = acc_broken} where it used to have {95 % = acc_healthy}, and the loss is restless. My
# > supervisor says that this is the price of fewer steps, and I should train longer."
#
# The supervisor may be right. A step at every fourth batch *is* a quarter of the steps. Before anybody trains longer, find out
# how much of the loss has that price.

# %% [predict] guess
# The run makes a quarter of the steps of its twin. What else will differ, in the numbers of each step?
#
# ( ) Nothing: it is the same curve, only shorter
#     That is what fewer steps alone would look like. It is what the supervisor expects.
# ( ) The loss is higher from the first steps on
#     For ten steps the two losses lie close together. A start tells little about a loop.
# (x) The gradient norm: it climbs all the time, whatever the loss does
#     A gradient should follow the loss. Here it has a life of its own, and that is the first clue.

# %% live
incident = lab.case("04/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("step    loss   gradient norm     twin: loss   gradient norm")
for step in (1, 10, 20, 30, 40, 54):
    row = step - 1
    both = [(one.loss[row], one.grad_norm[row]) for one in (trace, healthy)]
    print(f"{step:4}", *(f"   {loss:5.2f}   {norm:13.2f}      " for loss, norm in both))
print(f"steps: {len(trace.loss)}, twin {len(healthy.loss)}")
print(f"validation accuracy: {trace.metrics['accuracy']:.3f}, twin {healthy.metrics['accuracy']:.3f}")
guess.reveal(f"gradient norm {trace.grad_norm[-1]:.0f} at the end")

# %% [proof] table
acc_broken, acc_healthy = trace.metrics["accuracy"], healthy.metrics["accuracy"]
norm_first, norm_last = trace.grad_norm[0], trace.grad_norm[-1]
steps, steps_healthy = len(trace.loss), len(healthy.loss)
times = trace.grad_norm[-1] / trace.grad_norm[0]
two_hundred = 180 < times < 220
assert abs(trace.loss[9] - healthy.loss[9]) < 0.1
assert (np.diff(trace.grad_norm[:40]) > 0).mean() > 0.9 and trace.loss[53] < trace.loss[0] / 3
twin_norm = healthy.grad_norm[53]

# %% [folded] numbers-read
# After the run: a gradient that does not follow the loss
#
# The loss falls to a third, and the gradient norm goes from {0.37 = norm_first} to {75 = norm_last}: {two hundred times = two_hundred} as long. At the same step the twin has
# {1.4 = twin_norm}. A batch's gradient says how steep the loss is *now*; a model that gets better, on the same data, does not get two
# hundred times steeper. And still nothing broke: the curve alone would not have told you.

# %% [markdown] diary-text
# ## Keep a diary of one step
#
# What lies in the parameters' `.grad`, and when? Four places of a loop deal with it:
#
# | call | reads | writes |
# |---|---|---|
# | `optimizer.zero_grad()` | | `.grad` |
# | `model(inputs)` | the weights | the graph |
# | `loss.backward()` | the graph | `.grad` |
# | `optimizer.step()` | `.grad` | the weights |
#
# The model is called once for each batch, so it is a good place to listen: `handle = model.register_forward_pre_hook(hook)` calls
# `hook(model, inputs)` before each forward pass, and `handle.remove()` ends that.
#
# **Write it:** the length of the whole gradient (all parameters together, as one long vector; `None` counts as zero) at each
# forward pass that happens while `make_step()` runs. One number a forward pass, in a list. Take the hook off at the end.


# %% [task] diary
def diary(model, make_step):
    """Length of all gradients together at each forward pass while make_step() runs: a list of floats."""
    ...  # your code


# %% try-diary
diary = lab.try_out("04/diary", diary)


# %% [solution] diary
def diary(model, make_step):
    """Length of all gradients together at each forward pass while make_step() runs: a list of floats."""
    noted = []

    def hook(model, inputs):
        squares = [p.grad.square().sum() for p in model.parameters() if p.grad is not None]
        noted.append(float(sum(squares)) ** 0.5)

    handle = model.register_forward_pre_hook(hook)
    make_step()
    handle.remove()
    return noted


# %% [judge] diary
import torch
from torch import nn


def judge(answer):
    def tried(grads, wanted, what):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1, bias=False))

        def make_step():
            for given in grads:
                for parameter, number in zip(model.parameters(), given, strict=True):
                    parameter.grad = None if number is None else torch.full_like(parameter, number)
                model(torch.ones(1, 1))

        gave = answer(model, make_step)
        shown = [round(float(x), 3) for x in gave] if isinstance(gave, list) else gave
        good = isinstance(gave, list) and len(gave) == len(wanted)
        good = good and all(abs(float(a) - b) < 1e-4 for a, b in zip(gave, wanted, strict=True))
        left = len(model._forward_pre_hooks) + len(model._forward_hooks)
        return good and not left, f"{what}: {wanted}, yours says {shown}" + (f"; hooks left: {left}" if left else "")

    yield tried([(3.0, 4.0, 12.0)], [13.0], "one batch, three parameters")
    yield tried([(None, None, None)], [0.0], "no gradient is there yet")
    yield tried([(None, 3.0, -4.0), (6.0, None, 8.0)], [5.0, 10.0], "two batches, one parameter without a gradient")


def by_cat(model, make_step):
    noted = []

    def hook(model, inputs):
        parts = [torch.zeros(1), *(p.grad.flatten() for p in model.parameters() if p.grad is not None)]
        noted.append(torch.cat(parts).norm().item())

    handle = model.register_forward_pre_hook(hook)
    try:
        make_step()
    finally:
        handle.remove()
    return noted


def listening(keep, length, where="register_forward_pre_hook"):
    def lazy(model, make_step):
        noted = []
        handle = getattr(model, where)(lambda *_: noted.append(length([p.grad for p in model.parameters()])))
        make_step()
        if not keep:
            handle.remove()
        return noted

    return lazy


def whole(grads):
    return sum(float(g.square().sum()) for g in grads if g is not None) ** 0.5


def added(grads):
    return sum(float(g.norm()) for g in grads if g is not None)


RIGHT = {"one long vector": by_cat, "after the forward pass": listening(False, whole, "register_forward_hook")}
LAZY = {
    "the lengths added up": listening(False, added),
    "the hook stays": listening(True, whole),
    "the largest number": listening(False, lambda grads: max([0.0, *(float(g.max()) for g in grads if g is not None)])),
    "only afterwards": lambda model, make_step: [make_step() or whole([p.grad for p in model.parameters()])],
}

# %% [predict] four
# The run stands still after its 10th step. Four batches go into the 11th. What will the diary say?
#
# ( ) Four zeros
#     So it would be if each batch began with an empty gradient, and then only the last of the four would count.
# ( ) A zero first, then three numbers that grow
#     That is accumulation as it should be: an empty gradient, and each batch adds its own.
# (x) Four numbers, not one of them zero
#     The first batch of the step finds something already, and it is not small.

# %% diary-run
view = lab.LiveView(incident, pause_at=10, show_twin=False).start()
view.wait_pause()
before_11 = diary(view.objects["model"], lambda: view.advance(1))
print("incident, step 11:", [round(length, 2) for length in before_11])
view.stop()

view = lab.LiveView(incident.healthy(), pause_at=10, show_twin=False).start()
view.wait_pause()
twin_11 = diary(view.objects["model"], lambda: view.advance(1))
print("twin,     step 11:", [round(length, 2) for length in twin_11])
four.reveal(f"{before_11[0]:.2f} lies there when the step begins")
view.stop()

# %% [proof] diary-proof
assert len(before_11) == 4 and len(twin_11) == 1 and twin_11[0] == 0
found, found_last = before_11[0], before_11[3]
assert found > 3

# %% [folded] diary-read
# After the run: the first number should be zero
#
# The step begins with {6.6 = found} in its gradient. That is what the *tenth* step had followed: behind a step it is used up, and nobody
# took it away. `backward()` does not write a gradient, it **adds** to the one that is there. This is why accumulation works at
# all: four calls, one sum. And it is why somebody has to say when a new sum begins. PyTorch's maintainers and teachers are
# [asked about it again](https://github.com/jcjohnson/pytorch-examples/issues/31) [and again](https://github.com/salesforce/corr_based_prediction/issues/1).

# %% [markdown] instrument-text
# ## The instrument that keeps the diary of a whole run

# %% instrument
from bugzoo.diagnostics import fresh_gradient

run = lab.LiveView(incident, show_twin=False).start().result
print(fresh_gradient.judge(fresh_gradient.measure(run)).message)
print(incident.diff())

# %% [proof] instrument-proof
verdict = fresh_gradient.judge(fresh_gradient.measure(run))
assert verdict.fired and verdict.suspects[0].cause == "loop/step_every_n_never_zeroed"

# %% [markdown] repair-text
# ## Mend it while it runs
#
# The loop cannot be exchanged while it runs. But its optimiser is a live object, and it has hooks as well: what
# `optimizer.register_step_post_hook(hook)` gets is called as `hook(optimizer, args, kwargs)` behind each step. The next cell pauses the run
# half-way, after step 27, empties the gradient, and clears it behind every step from there on.

# %% [predict] mended
# It was spoilt for 27 steps and has 27 left. Where will it end?
#
# ( ) At {81 % = acc_broken}, as before: the weights are spoilt
#     Weights that are finite are a start like any other. Only nan does not heal.
# (x) Near {89 % = acc_mended}: most comes back, not all
#     The gradient is right at once. What is left of the mistake are the weights, and some memory in Adam.
# ( ) At {95 % = acc_healthy}, like the twin
#     The twin makes four times as many steps. Part of the price is real.

# %% repair
view = lab.LiveView(incident, pause_at=27, show_twin=False).start()
view.wait_pause()
optimizer = view.objects["optimizer"]
optimizer.zero_grad()
optimizer.register_step_post_hook(lambda own, args, kwargs: own.zero_grad())
view.resume()
mended_run = view.result.trace


def ended(name, trace):
    print(f"{name:24} accuracy {trace.metrics['accuracy']:.3f}, gradient norm at the end {trace.grad_norm[-1]:.1f}")


ended("mended after step 27:", mended_run)

text = incident.source
cleared = text.replace("optimizer.step()", "optimizer.step()\n            optimizer.zero_grad()")
right = run_here(cleared).trace
ended("cleared from the start:", right)
mended.reveal(f"accuracy {mended_run.metrics['accuracy']:.3f}")

# %% [proof] repair-proof
acc_mended, acc_right = mended_run.metrics["accuracy"], right.metrics["accuracy"]
price, mistake = 100 * (acc_healthy - acc_right), 100 * (acc_right - acc_broken)
points_price, points_mistake = round(price), round(mistake)
assert len(right.loss) == steps and mended_run.grad_norm[-1] < 5

# %% [folded] repair-read
# After the run: what the supervisor was right about
#
# Of the {14 = points_all} points that were missing, {5 = points_price} are the price of fewer steps, and {9 = points_mistake} are the forgotten line. Both stories were true, and
# only a run with *one* difference tells how much of each. Training longer would have hidden the cheap half and kept the bug.

# %% [proof] points
points_all = round(100 * (acc_healthy - acc_broken))
assert points_all == points_price + points_mistake

# %% [markdown] advice-text
# ## Three repairs that everybody recommends
#
# Post the curve in a forum, without the code, and you get three answers: *divide the loss by 4* (every recipe for accumulation
# says so), *lower the learning rate*, *your gradient explodes: clip it*. Leave the mistake in and try each.

# %% [predict] advice
# The gradients are still never cleared. Which of the three brings the accuracy nearly to that of the true repair?
#
# ( ) The loss divided by 4
#     Adam divides each gradient by its own usual size. A factor of 4 is gone again before it reaches a weight.
# ( ) A tenth of the learning rate
#     The same wrong direction, more slowly: after so few steps it has learnt next to nothing.
# (x) Clipping the gradient at 1
#     It is none of its business, and it works, nearly. It shortens the old sum before each new step, so the old is forgotten
#     little by little. The norm is 1 for ever, and the alarm is off.

# %% advice-runs
repairs = {
    "as it was": text,
    "loss / 4": text.replace("loss.backward()", "(loss / 4).backward()"),
    "lr / 10": text.replace("learning_rate = 1e-3", "learning_rate = 1e-4"),
    "clipped at 1": text.replace(
        "            optimizer.step()",
        "            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n            optimizer.step()",
    ),
    "truly cleared": cleared,
}
advised = {}
for name, changed in repairs.items():
    one = advised[name] = run_here(changed)
    stale = fresh_gradient.measure(one)["stale_share"]
    metrics = one.trace.metrics
    print(
        f"{name:14} accuracy {metrics['accuracy']:.3f}   norm at the end {one.trace.grad_norm[-1]:5.1f}   "
        f"steps that begin with an old gradient {stale:4.0%}"
    )
advice.reveal(f"accuracy {advised['clipped at 1'].trace.metrics['accuracy']:.3f}")

# %% [proof] advice-proof
accuracies = {name: one.trace.metrics["accuracy"] for name, one in advised.items()}
acc_quarter, acc_tenth, acc_clipped = (accuracies[name] for name in ("loss / 4", "lr / 10", "clipped at 1"))
assert acc_quarter == accuracies["as it was"] and acc_tenth < 0.5 and acc_right - acc_clipped < 0.02
assert fresh_gradient.measure(advised["clipped at 1"])["stale_share"] == 1.0
assert fresh_gradient.measure(advised["truly cleared"])["stale_share"] == 0.0
within = abs(acc_right - acc_clipped) < 0.011

# %% [folded] advice-read
# After the run: a number that recovers proves nothing
#
# The recipe's division changes *nothing*, {0.812 = acc_quarter} against {0.812 = acc_broken}. The tenth of the rate makes it {0.33 = acc_tenth}. And clipping, which has nothing
# to do with the mistake, ends {one point = within} below the true repair. Whoever judges by accuracy merges it. But look at the last column:
# every step still begins with an old gradient, and the norm, which was the alarm, now says 1 for ever. The next person who
# touches the threshold gets the bug back. **Judge a repair by the thing that was wrong, not by the metric.**

# %% [markdown] claim-text
# ## A sentence on trial
#
# You will read this everywhere: *"If you forget zero_grad, gradients add up, so your effective learning rate grows linearly with
# the number of steps."* Try it where nothing else plays a part: plain SGD without momentum, a step for each batch, a small rate,
# `lr=0.01`, and the line left out.

# %% [predict] trial
# Two runs of SGD with `lr=0.01`, six epochs: one clears the gradient, one never does. Which one reads more digits?
#
# ( ) The one that clears: {86 % = acc_kept} against {14 % = acc_cleared}
#     It is the other way round. `lr=0.01` is far too small for this model in so few steps, and the mistake makes up for it.
# (x) The one that never clears: {86 % = acc_kept} against {14 % = acc_cleared}
#     A bug that *helps*. This is how it survives a code review: whoever puts the line back makes the result worse.
# ( ) About the same: `lr=0.01` is too small for either
#     For the one that clears it is. The other one's steps become much longer.

# %% trial-run
adam = "torch.optim.Adam(model.parameters(), lr=learning_rate)"
plain = bugzoo.Scenario("mlp").source
CLEAR = "        optimizer.zero_grad()\n"
assert adam in plain and CLEAR in plain


def with_sgd(options, *, clears=True):
    """The healthy program with another optimiser, with or without the line that clears."""
    made = plain.replace(adam, f"torch.optim.SGD(model.parameters(), {options})")
    return run_here(made if clears else made.replace(CLEAR, ""))


def told(name, one):
    print(f"{name:28} accuracy {one.trace.metrics['accuracy']:.3f}   last loss {one.trace.loss[-1]:.3f}")
    return one


kept = told("rate 0.01, never cleared", with_sgd("lr=0.01", clears=False))
clean = told("rate 0.01, cleared", with_sgd("lr=0.01"))
trial.reveal()
for step in (1, 50, 100, 200):
    print(f"step {step:3}: length of .grad when never cleared {kept.trace.grad_norm[step - 1]:6.2f}")

# %% [proof] trial-proof
acc_kept, acc_cleared = kept.trace.metrics["accuracy"], clean.trace.metrics["accuracy"]
at_50, at_100, at_200 = (kept.trace.grad_norm[step - 1] for step in (50, 100, 200))
linear = abs(at_100 / at_50 - 2) < 0.15 and abs(at_200 / at_100 - 2) < 0.15

# %% [folded] trial-read
# After the run: so far the sentence looks good
#
# {Twice the steps, twice the length = linear}: from step 50 on that is nearly exact. Does it follow that the learning rate grows?

# %% [markdown] twin-text
# If the sentence is true, then there is a loop *with* `zero_grad` that does the same, and its learning rate grows with the steps. Three
# healthy candidates, each of which clears its gradient.

# %% [predict] same_run
# Which of these makes the same run as the one that never clears?
#
# ( ) A learning rate that grows linearly, `lr = 0.01 * step`
#     It dies: loss {2.3 = loss_grown} at the end, which is guessing. The sentence, taken at its word, is another run.
# ( ) A learning rate that is ten times as large, `lr=0.1`
#     It learns well, in its own way. No constant rate is the same.
# (x) `momentum=1.0`
#     To the last bit. Momentum keeps a sum of old gradients and forgets a part of it at each step; at one it forgets nothing.

# %% candidates-run
growing = plain.replace(adam, "torch.optim.SGD(model.parameters(), lr=0.01)").replace(
    "        optimizer.step()", '        optimizer.param_groups[0]["lr"] = 0.01 * (step + 1)\n        optimizer.step()'
)
healthy_runs = {
    "rate 0.01 × step": run_here(growing),
    "rate 0.1": with_sgd("lr=0.1"),
    "momentum 1.0": with_sgd("lr=0.01, momentum=1.0"),
}
for name, one in healthy_runs.items():
    told(name, one)
    same = np.array_equal(one.trace.loss, kept.trace.loss)
    print("   every loss equals that of the run that never clears, to the last bit:", same)
same_run.reveal()

# %% [proof] same-proof
loss_grown = healthy_runs["rate 0.01 × step"].trace.loss[-20:].mean()
assert np.array_equal(healthy_runs["momentum 1.0"].trace.loss, kept.trace.loss)
assert not np.array_equal(healthy_runs["rate 0.1"].trace.loss, kept.trace.loss)
weights = [healthy_runs[name].trace.metrics == kept.trace.metrics for name in healthy_runs]
assert weights == [False, False, True]
last = len(kept.trace.loss)

# %% [folded] same-read
# After the run: what really grows is the say of the oldest batch
#
# Write out what has been added to the weights after {216 = last} steps. The first batch's gradient lies in `.grad` at every one of them,
# so it was followed {216 = last} times. The last batch's was followed once, with `lr=0.01`, exactly as if the line had been there.
# **The rate of what is new never grows. What grows is the weight of what is old**, and the oldest gradient, taken from random
# weights, has the loudest voice. A larger rate would have it the other way round.
#
# `momentum=1.0` is a ball without friction: it rolls through the valley, up the other side, and back. That is why such a loss swings,
# and why a smaller rate only makes the swing slower.

# %% [markdown] others-text
# And with other optimisers? SGD with `momentum=0.9` has a memory of its own. Adam divides by the size of the gradient.

# %% [predict] others
# With Adam, the length of what lies in `.grad` grows several hundred times. What about its steps?
#
# ( ) They grow just as much
#     That is SGD. Adam's step is about the rate times a direction, however long the gradient is.
# (x) They do not grow: only their direction is old
#     Nothing explodes, so nothing is noticed. It is the optimiser that hides this mistake longest.
# ( ) They shrink to nothing: a long gradient is divided by its own length
#     Divided by its own length it has length one. What shrinks is the share that the newest batch has in it.

# %% others-run
pairs = {
    "SGD, rate 0.01": (clean, kept),
    "SGD, momentum 0.9": (with_sgd("lr=0.01, momentum=0.9"), with_sgd("lr=0.01, momentum=0.9", clears=False)),
    "Adam, rate 0.001": (run_here(plain), run_here(plain.replace(CLEAR, ""))),
}
for name, (first, other) in pairs.items():
    print(name)
    told("   cleared", first)
    told("   never cleared", other)
    length, move = other.trace.grad_norm, other.trace.update_ratio
    longer, farther = length[199] / length[0], move[199] / move[0]
    print(f"   never cleared, step 200: .grad {longer:4.0f} times as long, the move of a step {farther:5.1f} times")
others.reveal()

# %% others-figure
from bugzoo.plots import kept_gradient

lab.picture(kept_gradient.picture(pairs))

# %% [proof] others-proof
ratios = {
    name: (
        other.trace.grad_norm[199] / other.trace.grad_norm[0],
        other.trace.update_ratio[199] / other.trace.update_ratio[0],
    )
    for name, (_, other) in pairs.items()
}
longer_sgd, longer_momentum, longer_adam = (pair[0] for pair in ratios.values())
move_sgd, move_momentum, move_adam = (pair[1] for pair in ratios.values())
assert move_adam < 1 < 10 < move_sgd
mom_acc = pairs["SGD, momentum 0.9"][1].trace.metrics["accuracy"]
mom_clean = pairs["SGD, momentum 0.9"][0].trace.metrics["accuracy"]
mom_loss = pairs["SGD, momentum 0.9"][1].trace.metrics["loss"]
adam_acc = pairs["Adam, rate 0.001"][1].trace.metrics["accuracy"]
moved = pairs["SGD, momentum 0.9"][1].trace.update_ratio
peak = np.nanmax(moved) / moved[0]
three_hundred = 250 < peak < 450

# %% [folded] others-read
# After the run: one mistake, three illnesses
#
# Upper row: the length of `.grad`; the dotted line is the sentence. Lower row: how far a step moves the weights.
#
# - **SGD**: the length grows along the dotted line, and at step 200 a step moves {29 = move_sgd} times as far. {86 % = acc_kept} instead of {14 % = acc_cleared}: the mistake looks like a gift.
# - **SGD with `momentum=0.9`**: a sum of sums. The move of a step becomes {about three hundred times = three_hundred} what it was; the run goes from {91 % = mom_clean} to {11 % = mom_acc}, with a
#   loss of {16 = mom_loss}. Only here does the mistake blow up.
# - **Adam**: `.grad` is {375 = longer_adam} times as long at step 200, and the step's move is {0.5 = move_adam} of the first one's. Nothing explodes. The
#   model reads {62 % = adam_acc}, and no number that people usually plot says why.
#
# The verdict: *the length grows linearly* is true for SGD here, at this small rate; at ten times the rate it is not (`bugzoo claims`).
# *The learning rate grows* is not true for any of them.

# %% [markdown] accumulate-text
# ## Accumulation, this time right
#
# A batch goes through the model in parts because it does not fit at once. The one test that such a loop has to pass: **the step is that of
# the whole batch.** Every recipe says *divide each part's loss by the number of parts*.

# %% [predict] recipe
# 32 rows in parts of 8, 8, 8, 8, then 30 rows in parts of 14, 14, 2. Is the recipe's gradient that of the whole batch?
#
# ( ) Both times
#     The mean of means is the mean only where all parts are equally large.
# (x) The first time only
#     With parts of 14, 14 and 2 each row of the last part counts seven times as much as one of the others.
# ( ) Neither time: four passes are never one
#     Where no layer looks across the batch, they are: a sum of gradients is the gradient of the sum.

# %% recipe-run
torch.manual_seed(0)
small = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
pictures, digits = torch.rand(32, 64), torch.randint(10, (32,))


def gradient_of(loss):
    return torch.cat([one.flatten() for one in torch.autograd.grad(loss, list(small.parameters()))])


for sizes in ((8, 8, 8, 8), (14, 14, 2)):
    rows = sum(sizes)
    together = gradient_of(F.cross_entropy(small(pictures[:rows]), digits[:rows]))
    parts = zip(pictures[:rows].split(sizes), digits[:rows].split(sizes), strict=True)
    summed = sum(gradient_of(F.cross_entropy(small(x), y) / len(sizes)) for x, y in parts)
    print(f"parts of {sizes}: off by {(summed - together).norm() / together.norm():.1%} of the gradient's length")
recipe.reveal()

# %% [proof] recipe-proof
off = float((summed - together).norm() / together.norm())
assert off > 0.1

# %% [folded] recipe-read
# After the run: (x₁/n₁ + x₂/n₂) / 2 is not (x₁ + x₂) / (n₁ + n₂)
#
# Off by {89 % = off} of its length, from one short last part. In October 2024 this was found in the trainers that half of the field uses,
# years after they were written: with texts of different lengths the "rows" are tokens, and no two parts have equally many
# ([asked in 2023](https://github.com/huggingface/transformers/issues/24725), [repaired in one of them](https://github.com/meta-pytorch/torchtune/pull/1875) "in honor of the day" that the formula above
# was rediscovered). The loss curves looked fine all the time.

# %% [markdown] accumulate-task
# **Write it:** one step of the optimiser from a list of parts, `[(inputs, targets), ...]`, such that the weights afterwards are those
# that the whole batch at once would have given, however the parts are cut, and whatever lay in `.grad` before. The loss is
# `F.cross_entropy`, a mean over the batch.


# %% [task] accumulate
def accumulate(model, optimizer, parts):
    """One step, as if all parts had come as one batch."""
    ...  # your code


# %% try-accumulate
accumulate = lab.try_out("04/accumulate", accumulate)


# %% [solution] accumulate
def accumulate(model, optimizer, parts):
    """One step, as if all parts had come as one batch."""
    rows = sum(len(targets) for _, targets in parts)
    optimizer.zero_grad()
    for inputs, targets in parts:
        loss = F.cross_entropy(model(inputs), targets, reduction="sum") / rows
        loss.backward()
    optimizer.step()


# %% [judge] accumulate
import copy

import torch
import torch.nn.functional as F
from torch import nn


def judge(answer):
    torch.manual_seed(0)
    begun = nn.Linear(4, 3)
    inputs, targets = torch.randn(12, 4), torch.randint(3, (12,))

    def after(make):
        model = copy.deepcopy(begun)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        steps = []
        optimizer.register_step_pre_hook(lambda *_: steps.append(1))
        gave = make(model, optimizer)
        return nn.utils.parameters_to_vector(model.parameters()).detach(), len(steps), gave

    def together(model, optimizer):
        F.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    wanted, _, _ = after(together)
    moved = (wanted - nn.utils.parameters_to_vector(begun.parameters()).detach()).norm()
    for sizes, dirty in (((4, 4, 4), False), ((5, 5, 2), False), ((12,), False), ((1, 11), False), ((6, 6), True)):
        parts = list(zip(inputs.split(sizes), targets.split(sizes), strict=True))

        def make(model, optimizer, parts=parts, dirty=dirty):
            if dirty:
                model.weight.grad = torch.full_like(model.weight, 3.0)
            return answer(model, optimizer, parts)

        got, steps, _ = after(make)
        off = float((got - wanted).norm() / moved)
        what = f"parts of {sizes}" + (", with something old in .grad" if dirty else "")
        yield off < 1e-4, f"{what}: off by 0 %, yours by {off:.1%}"
        yield steps == 1, f"    steps made: 1, yours {steps}"


def by_share(model, optimizer, parts):
    model.zero_grad()
    total = sum(len(y) for _, y in parts)
    for x, y in parts:
        (F.cross_entropy(model(x), y) * len(y) / total).backward()
    optimizer.step()


def one_loss(model, optimizer, parts):
    optimizer.zero_grad()
    logits = torch.cat([model(x) for x, _ in parts])
    F.cross_entropy(logits, torch.cat([y for _, y in parts])).backward()
    optimizer.step()


def recipe(scale, clears=True, every=False):
    def lazy(model, optimizer, parts):
        if clears:
            optimizer.zero_grad()
        for x, y in parts:
            (F.cross_entropy(model(x), y) / scale(parts)).backward()
            if every:
                optimizer.step()
        if not every:
            optimizer.step()

    return lazy


RIGHT = {"each its share": by_share, "one loss of all": one_loss}
LAZY = {
    "divided by the number of parts": recipe(len),
    "not divided": recipe(lambda parts: 1),
    "never cleared": recipe(len, clears=False),
    "a step a part": recipe(len, every=True),
}

# %% [markdown] quiet-text
# ## What does the optimiser hold?
#
# One more complaint, of the quiet kind: *"{92 % = acc_left} instead of {95 % = acc_healthy}. I would not have noticed without the old log."* The gradients are
# fresh, each step has one backward, the order is right.
#
# An optimiser moves the tensors that it was given, and no others. They stand in `optimizer.param_groups`, a list of dictionaries, each with a
# list `"params"`. It knows no names and no model: what counts is whether it is *the same object*.
#
# **Write it:** the names of all trainable parameters of a model that are in no group of the optimiser.


# %% [task] not_held
def not_held(model, optimizer):
    """Names of the model's trainable parameters that the optimiser does not hold, in the model's order."""
    ...  # your code


# %% try-held
not_held = lab.try_out("04/not_held", not_held)


# %% [solution] not_held
def not_held(model, optimizer):
    """Names of the model's trainable parameters that the optimiser does not hold, in the model's order."""
    held = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    return [
        name for name, parameter in model.named_parameters() if parameter.requires_grad and id(parameter) not in held
    ]


# %% [judge] not_held
import copy

import torch
from torch import nn


def judge(answer):
    def network():
        return nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1))

    def sgd(*groups):
        return torch.optim.SGD([{"params": list(group)} for group in groups], lr=0.1)

    one, part, groups, other, frozen = (network() for _ in range(5))
    frozen[0].requires_grad_(False)
    old = copy.deepcopy(other)
    both = ["0.weight", "0.bias", "1.weight", "1.bias", "2.weight", "2.bias"]
    for model, optimizer, wanted, what in (
        (one, sgd(one.parameters()), [], "all are held"),
        (part, sgd(part[1:].parameters()), ["0.weight", "0.bias"], "the first layer was left out"),
        (
            groups,
            sgd(groups[0].parameters(), groups[2].parameters()),
            ["1.weight", "1.bias"],
            "two groups, one layer in none",
        ),
        (other, sgd(old.parameters()), both, "it holds a copy of the model, with the same numbers"),
        (frozen, sgd(frozen[1:].parameters()), [], "the first layer is frozen on purpose"),
    ):
        gave = answer(model, optimizer)
        gave = gave if gave is None else list(gave)
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}"


def by_is(model, optimizer):
    held = [p for group in optimizer.param_groups for p in group["params"]]
    return [n for n, p in model.named_parameters() if p.requires_grad and not any(p is q for q in held)]


def by_address(model, optimizer):
    held = {p.data_ptr() for group in optimizer.param_groups for p in group["params"]}
    return [n for n, p in model.named_parameters() if p.requires_grad and p.data_ptr() not in held]


def by_value(model, optimizer):
    held = [p for group in optimizer.param_groups for p in group["params"]]
    same = lambda p: any(p.shape == q.shape and torch.equal(p, q) for q in held)  # noqa: E731
    return [n for n, p in model.named_parameters() if p.requires_grad and not same(p)]


def first_group(model, optimizer):
    held = {id(p) for p in optimizer.param_groups[0]["params"]}
    return [n for n, p in model.named_parameters() if p.requires_grad and id(p) not in held]


def frozen_too(model, optimizer):
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return [n for n, p in model.named_parameters() if id(p) not in held]


def by_gradient(model, optimizer):
    return [n for n, p in model.named_parameters() if not p.requires_grad]


RIGHT = {"is": by_is, "the address of the numbers": by_address}
LAZY = {
    "equal numbers": by_value, "the first group alone": first_group, "frozen ones as well": frozen_too,
    "who wants a gradient": by_gradient,
}  # fmt: skip

# %% [predict] random_layer
# Suppose it is the whole first layer that never moves: random numbers, from the first step to the last. How much can the model read then?
#
# ( ) About a tenth: what comes out of it is noise
#     Random is not the same as useless: it mixes the pixels, and a mixture can still be told apart.
# ( ) About a half
#     The layers above have more to work with than one would think.
# (x) More than nine in ten
#     This is why such a mistake is silent. The layers above learn to live with whatever comes.

# %% held-run
quiet = lab.case("04/quiet")
view = lab.LiveView(quiet, pause_at=100, show_twin=False).start()
view.wait_pause()
left_out = not_held(view.objects["model"], view.objects["optimizer"])
print("in no group:", left_out)
by_name = dict(view.objects["model"].named_parameters())
view.objects["optimizer"].add_param_group({"params": [by_name[name] for name in left_out]})
view.resume()
given = view.result.trace.metrics["accuracy"]
never = run_here(quiet.source).trace.metrics["accuracy"]
print(
    f"accuracy: never held {never:.3f}, held from step 101 on {given:.3f}, the healthy twin {healthy.metrics['accuracy']:.3f}"
)
random_layer.reveal(f"accuracy {never:.3f}")

# %% [proof] held-proof
acc_left, acc_given = never, given
assert left_out == ["layer1.weight", "layer1.bias"] and acc_given > acc_left

# %% [markdown] break-text
# ## Break it yourself
#
# Move the sliders, press **Run**, and try to be wrong about what comes. `every` is the number of batches from one step to the next,
# and the gradient is never cleared.
#
# - Is there a value of `every` at which the forgotten line does no harm? (Fewer steps leave fewer old gradients. And fewer steps.)
# - Does a smaller learning rate ever win, if only the loss counts?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mlp", faults=("loop/step_every_n_never_zeroed?every=4",)),
    ranges={"every": (2, 32)},
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The convolutional net learns faster than ever, the training loss is nearly gone. On
# validation data it got much worse: {75 % = acc_second}, and it had {94 % = acc_second_twin}. My loop passes every check of this lesson."*
#
# It does. Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. There is a fifth part of a
# loop that you have not looked at yet. Three hints stand below; run their cell in any case, it opens none by itself. The next
# cell trains first; the clock starts when the run is over. Eight minutes: it interrupts nobody. What you hand in is judged, part
# by part.

# %% turn
second = lab.case("04/second")
run = lab.live(second, explain=False).result
clock = lab.timer(8)

# %% [proof] turn-proof
acc_second = run.trace.metrics["accuracy"]
acc_second_twin = bugzoo.Scenario("digits_cnn").run().trace.metrics["accuracy"]
assert not fresh_gradient.judge(fresh_gradient.measure(run)).fired and second.ticket != incident.ticket
assert not_held(run.trace.live.models[0], run.trace.live.optimizers[0]) == []

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                 the program; lines count from 1
#   view = lab.LiveView(second, pause_at=3).start(); view.wait_pause(); view.objects["targets"]
#   view.advance(1); view.objects["targets"]             and what is there one step later
#   view.stop()

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
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "[batch]" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
print(form.causes, offered)
own = {"cause": form.causes[0], "place": right_line, "test": test}
print([judged(second, own | {"cause": cause}) for cause in form.causes])
assert len(form.causes) == 4
best = max((judged(second, own | {"cause": cause}) for cause in form.causes), key=lambda said: said.count("ok "))
assert best.count("NOT") == 0, best

# %% [folded] turn-read
# After you have handed in: what goes in
#
# Every call is there, in the right order, on the right parameters, and the gradient is fresh: it is that of the one batch which the
# loop ever sees. `next(iter(loader))` begins a *new* pass and takes its first batch. Somebody fetched it to try whether the model can
# learn one batch by heart, which is a good test, and left it in.
#
# None of your three checks could hear it. What could: two batches laid side by side. `targets` is the same at every step.

# %% [check] recap_check
# A colleague's Adam run ends worse than last week's; the loss falls, a bit restlessly. Which look costs least and excludes most?
#
# ( ) A run with a smaller learning rate
#     it costs a run, and if it helps you know nothing: a smaller rate hides half of the mistakes of this lesson for a while.
# (x) The length of .grad at the beginning of a step, over some steps
#     yes. It should be zero, each time. That is one hook, ten steps, and a number whose right value you know beforehand.
# ( ) The loss curve, drawn over last week's
#     it says that something is worse. You knew that.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a loop each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 04` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="04")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **A step begins with an empty gradient: look, do not read.** One hook and ten steps tell it for sure. *Fails when* parts are
#    accumulated on purpose: then only the first of them has to begin empty.
# 2. **A forgotten zero_grad is `momentum=1.0`, not a growing learning rate.** SGD may even gain from it, momentum blows up, Adam hides it.
#    *Fails when* something else shortens the gradient, as clipping does: then it forgets, a little, and looks mended.
# 3. **Parts of a batch have to give the step of the whole batch: weigh each by its rows, or tokens.** *Fails when* a layer looks
#    across the batch, as BatchNorm does: then no weighting makes the two equal.
# 4. **What moves is what the optimiser holds, by identity.** Compare once, before the first step. *Fails when* a layer is frozen on
#    purpose, or made later: then compare again.
#
# **Next:** repair one yourself: [exercise 10, *restless loss*](../exercises/10_restless_loss.ipynb), then
# [exercise 11, *waves*](../exercises/11_waves.ipynb). The result is judged by what your program does. The same instruments work on your own
# script, without changing it: `bugzoo checkup train.py`.
