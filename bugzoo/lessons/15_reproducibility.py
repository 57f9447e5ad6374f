"""Lesson 15: the same run twice, the same run after a stop, and what a fixed seed does not tell."""

# %% [case] incident
# mlp reproducibility/hash_order

# %% [case] second
# digits_cnn reproducibility/seed_inside_loop

# %% [markdown] title
# # 15 · The same run twice
#
# A run that cannot be repeated can be neither debugged nor compared. In this lesson you find the first step at which two runs part, and
# read from it what was different; you write what keeps every generator and what lets a training go on after a stop as if nothing
# had happened; and you find out why two runs with the same seed are still no comparison.
#
# You need about {67 = minutes} minutes, and to know what an optimiser keeps besides the weights. After *Ten millionths of a percent* is a good
# place for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import copy
import json
import math
import os
import random
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

import bugzoo
from bugzoo import lab
from bugzoo.running import run_here

torch.set_num_threads(1)  # sums in one order: you will see what another number does

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("15")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Monday, 08:40.* "The seed is set before anything is drawn. In my notebook the training repeats itself to the last digit, I have
# > run the cell ten times. From the shell each start gives another accuracy. My colleague says: you have not seeded everything, there are
# > four generators and a flag. I have seeded everything."
#
# Both are reporting faithfully. Someone who gets the same numbers in one place and others in another one has been told where to look.

# %% [predict] guess
# A healthy twin runs with the same seed. At which step will the two training curves part?
#
# ( ) At none: in a notebook it repeats itself
#     It repeats *itself*. That it is what the seed promises does not follow.
# (x) At the first
#     Something was different before anything was learnt. Whatever it is, no number of the training itself explains it.
# ( ) Late: a small difference grows
#     Some do, and you will see one. This one is not small.

# %% live
incident = lab.case("15/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
repeated = incident.run().trace
print("run again in this kernel, equal to the last bit:", np.array_equal(trace.loss, repeated.loss))
print("its first losses:  ", [round(float(loss), 4) for loss in trace.loss[:4]])
print("the twin's:        ", [round(float(loss), 4) for loss in healthy.loss[:4]])
guess.reveal()

# %% [proof] numbers-proof
assert np.array_equal(trace.loss, repeated.loss) and trace.loss[0] != healthy.loss[0]

# %% [markdown] part-text
# ## At which step do they part?
#
# Two lists of losses hold a surprising amount. *That* they differ says nothing; *where they begin to* says nearly all:
#
# | first step that differs | what was different |
# |---|---|
# | 1 | something before the training: weights, order of the data, the first draw |
# | 2 | the first batch and the weights were the same: what the optimiser made of them was not |
# | the first of an epoch | what happens between epochs: order, schedule, an evaluation |
# | any, by a ten-millionth | nothing: the same sum in another order |
#
# **Write it:** the first step, counted from 1, at which two lists of losses part, and 0 where they don't. A run that was cut short has not
# parted from the longer one. Two nans at the same step are no difference.


# %% [task] parts_at
def parts_at(here, there):
    """The first step, from 1, at which the losses of two runs differ; 0 where those that both made are equal."""
    ...  # your code


# %% try-parts
parts_at = lab.try_out("15/parts_at", parts_at)


# %% [solution] parts_at
def parts_at(here, there):
    """The first step, from 1, at which the losses of two runs differ; 0 where those that both made are equal."""
    for step, (one, other) in enumerate(zip(here, there, strict=False), 1):
        if one != other and not (math.isnan(one) and math.isnan(other)):
            return step
    return 0


# %% [judge] parts_at
import math

import numpy as np


def judge(answer):
    nan = math.nan
    for here, there, wanted, what in (
        ([2.0, 1.5, 1.2], [2.0, 1.5, 1.2], 0, "equal"),
        ([2.0, 1.5, 1.2], [2.1, 1.5, 1.2], 1, "the first differs"),
        ([2.0, 1.5, 1.2, 1.1], [2.0, 1.5, 1.3, 1.1], 3, "they part and meet again"),
        ([2.0, 1.5, 1.2], [2.0, 1.5 + 2**-52, 1.2], 2, "by the last bit"),
        ([2.0, 1.5], [2.0, 1.5, 1.2], 0, "one was cut short"),
        ([2.0, nan, nan], [2.0, nan, nan], 0, "both are nan"),
        ([2.0, 1.5, nan], [2.0, 1.5, 1.2], 3, "one is nan"),
        ([], [2.0], 0, "one has no step"),
    ):
        for kind in (list, np.array):
            gave = answer(kind(here), kind(there))
            yield gave == wanted, f"{what} ({kind.__name__}): {wanted}, yours says {gave}"


def with_arrays(here, there):
    shared = min(len(here), len(there))
    a, b = np.asarray(here, dtype=float)[:shared], np.asarray(there, dtype=float)[:shared]
    apart = np.flatnonzero((a != b) & ~(np.isnan(a) & np.isnan(b)))
    return int(apart[0]) + 1 if len(apart) else 0


def loop(here, there, same=lambda a, b: a == b or (a != a and b != b), start=1):
    for step in range(min(len(here), len(there))):
        if not same(here[step], there[step]):
            return step + start
    return 0


RIGHT = {"with arrays": with_arrays, "by index": loop}
LAZY = {
    "nearly equal is equal": lambda a, b: loop(a, b, lambda x, y: math.isclose(x, y) or (x != x and y != y)),
    "counted from 0": lambda a, b: loop(a, b, start=0),
    "nan differs from nan": lambda a, b: loop(a, b, lambda x, y: x == y),
    "the largest difference": lambda a, b: (
        int(np.argmax(np.abs(np.array(a[: len(b)]) - np.array(b[: len(a)])))) + 1 if len(a) and len(b) else 0
    ),
    "none": lambda a, b: 0,
}

# %% [markdown] fresh-text
# Now where it was complained about. A notebook's kernel is one process, and everything that you run in it shares what that process was
# started with. So start the script as a shell does, twice, each time in a process of its own.

# %% [predict] shell
# Two starts from the shell, same script, same seed. At which step do they part?
#
# ( ) At none
#     Then nobody would have complained.
# (x) At the first
#     As from the twin. Neither start is "the" run; there is none.
# ( ) At about the tenth: the first steps are seeded
#     A seed does not wear off.

# %% shell-run
CHILD = """
import contextlib, json, os, sys
made = []
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    for text, ask in json.load(sys.stdin):
        names = {"__name__": "__main__"}
        exec(text, names)
        made.append(eval(ask, names))
print(json.dumps(made))
"""


def fresh(*scripts, starts=2):
    """For each (text, what to ask at its end): the answers of `starts` processes of their own, which run side by side."""
    around = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"} | {"OMP_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [subprocess.Popen([sys.executable, "-c", CHILD], env=around, **pipes) for _ in range(starts)]
    for child in children:
        child.stdin.write(json.dumps(scripts))
        child.stdin.close()
    answers = [json.loads(child.stdout.read()) for child in children]
    for child in children:
        child.wait()
        child.stdout.close()
    return [list(each) for each in zip(*answers, strict=True)]


everything_seeded = f"""
import random, numpy, torch
random.seed(0), numpy.random.seed(0), torch.manual_seed(0), torch.use_deterministic_algorithms(True)
{incident.source}"""
head = incident.source.partition("# %% Training")[0]  # for the next question; to start Python takes most of the time
ask = "[sum(p.double().abs().sum().item() for p in model.parameters()), next(iter(train_loader))[1][:12].tolist()]"
as_it_is, seeded, found = fresh((incident.source, "losses"), (everything_seeded, "losses"), (head, ask))
print("as it is:                      they part at step", parts_at(*as_it_is))
print("four generators and the flag:  they part at step", parts_at(*seeded))
shell.reveal()

# %% [proof] shell-proof
assert parts_at(*as_it_is) == 1 and parts_at(*seeded) == 1

# %% [folded] shell-read
# After the run: what every list of advice contains, and does not help
#
# Python's generator, NumPy's, torch's and its flag for deterministic kernels: with all of that the two starts part where they parted
# before. It is good advice, and it answers the question "which generator?". Nobody had asked whether it is a generator.

# %% [markdown] before-text
# ## What is there before the first step?
#
# They part at step 1, so look at what exists before it. The two processes were asked that as well: the script up to its training loop, then
# the sum of all weights, and the first labels that the loader deals.

# %% [predict] before
# What will be different?
#
# ( ) The weights
#     They come from torch's generator, which is seeded, and they are the same.
# (x) The first batch
#     The same loader deals other pictures under the same numbers. Torch's shuffle is seeded as well: what it shuffles is not what it was.
# ( ) Both
#     Then the seed would reach nothing. It reaches the weights.

# %% before-run
for weights, first_labels in found:
    print(f"weights {weights:.9f}   first labels {first_labels}")
before.reveal()

# %% [proof] before-proof
assert found[0][0] == found[1][0] and found[0][1] != found[1][1]

# %% [markdown] instrument-text
# The instrument that does this for any step: both runs are kept under `watch(rewind=True)`, and the trace is asked when it began to differ. It
# compares states, bisects, runs single steps again, and names what was different first. From a shell: `bugzoo differ train.py healthy.py`.

# %% instrument
with_states = incident.run(rewind=True).trace, incident.healthy().run(rewind=True).trace
difference = with_states[0].differs_from(with_states[1])
print(difference)
print(incident.diff())

# %% [proof] instrument-proof
assert difference.step == 1 and difference.what == "batch" and difference.by == "kept states"
itself = with_states[0].differs_from(incident.run(rewind=True).trace)
assert not itself

# %% [folded] instrument-read
# After the run: a set has no order, and Python sees to it that you notice
#
# A set of texts is ordered by their hashes, and Python salts those anew in every process. Within one process the order stays, so the notebook
# agrees with itself; the next start has another one. The seeded shuffle shuffles another list.
#
# A [well-known graph network](https://github.com/tkipf/pygcn/issues/41) had it: all seeds set, another result each time, and the
# cause a `set(labels)` that numbered the classes. There it is worse than an order: a checkpoint's classes change places.
#
# And a caution: the instrument runs both scripts in *one* process. Asked whether this script differs from itself, it says no.

# %% [markdown] mend-text
# ## Mend it
#
# An order must come from something that promises one. `sorted(...)` does. A `dict` does too: it keeps the order in which things were put in.

# %% [predict] mended
# `dict.fromkeys(...)` in place of the set. Will two fresh processes agree with the healthy twin in this kernel?
#
# ( ) With one another, not with the twin: another process is another run
#     A process is not a source of randomness. What it was started with may be.
# (x) With one another and with the twin, to the last bit
#     Same numbers in the same order through the same operations. There is nothing left that could differ.
# ( ) With neither: floating point is not exact
#     It is not exact, and it is not random either. The same operations in the same order round the same way.

# %% mended-run
names = '{f"image {row}" for row in train.tolist()}'
assert names in incident.source
kept_order = incident.source.replace(names, f"dict.fromkeys({'[' + names[1:-1] + ']'})")
in_sorted_order = incident.source.replace(names, f"sorted({names})")
by_dict, by_sorting = fresh((kept_order, "losses"), (in_sorted_order, "losses"))
twin_losses = healthy.loss.tolist()
print("dict:    two starts part at", parts_at(*by_dict), "  from the twin at", parts_at(by_dict[0], twin_losses))
print("sorted:  two starts part at", parts_at(*by_sorting), "  from the twin at", parts_at(by_sorting[0], twin_losses))
mended.reveal()

# %% [proof] mended-proof
assert parts_at(*by_dict) == 0 and parts_at(*by_sorting) == 0 and parts_at(by_sorting[0], twin_losses) == 1
assert parts_at(by_dict[0], twin_losses) == 0 and len(twin_losses) == len(by_dict[0])

# %% [folded] mended-read
# After the run: repeatable, and not the old numbers
#
# Both repairs are right: each start is like the other. Sorted, the training sees the data in another order than the twin, and its numbers are
# others. Whoever mends reproducibility must not expect an old number back; it was one draw of many.

# %% [markdown] round-text
# ## Ten millionths of a percent
#
# The last line of the table: *a difference by a ten-millionth*. Add the same numbers in another order, and the last bit of the sum may be
# another one. Two threads in place of one can do that, another processor can, another version of a library can.
#
# There are two sayings about it. *"It is only rounding, it does not matter."* And: *"Training is chaotic; a bit that flips is another run
# after some hundred steps."* Try both: turn each batch round (the last picture first), so that the same mean is added up the other way.

# %% [predict] rounding
# Twelve epochs of the healthy program, each batch turned round. How far apart are the losses at the end?
#
# ( ) As far as with another seed: chaos
#     At ten times the rate, yes. At the program's own, no.
# ( ) Not at all: the mean does not depend on the order
#     The mean does not. Its rounding does, from the first step on.
# (x) It depends on the learning rate: hardly at all with this one, another run with ten times as much
#     Neither saying is true by itself. A step that is small enough pulls two neighbours together as often as apart.

# %% rounding-run
calm = bugzoo.Scenario("mlp", settings={"epochs": 12}).source
wild = bugzoo.Scenario("mlp", settings={"epochs": 12, "learning_rate": 1e-2}).source


def turned(text):
    zero = "        optimizer.zero_grad()\n"
    return text.replace(zero, f"        inputs, targets = inputs.flip(0), targets.flip(0)\n{zero}")


def run(text):
    """(losses, accuracy) of a script, without a watch."""
    names = run_here(text, watch=False).namespace
    return names["losses"], names["metrics"]["accuracy"]


drawn = calm.replace("# %% Training", "torch.rand(1)\n# %% Training")
results = {name: run(text) for name, text in {
    "calm": calm, "calm, turned": turned(calm), "wild": wild, "wild, turned": turned(wild), "drawn": drawn
}.items()}  # fmt: skip
pairs = {
    "rate 1e-3, batches turned": (results["calm, turned"][0], results["calm"][0]),
    "rate 1e-2, batches turned": (results["wild, turned"][0], results["wild"][0]),
    "rate 1e-3, one number more drawn": (results["drawn"][0], results["calm"][0]),
}
for name, (here, there) in pairs.items():
    apart = np.abs(np.array(here) - there) / np.array(there)
    print(
        f"{name:34} part at step {parts_at(here, there)};  in the last epoch apart by {np.median(apart[-36:]):.1e} of the loss"
    )
for name, (_, accuracy) in results.items():
    print(f"accuracy {name:14} {accuracy:.3f}")
rounding.reveal()

# %% rounding-figure
from bugzoo.plots import parting

lab.picture(parting.picture(pairs))

# %% [proof] rounding-proof
ends = {name: float(np.median((np.abs(np.array(h) - t) / np.array(t))[-36:])) for name, (h, t) in pairs.items()}
calm_end, wild_end, drawn_end = ends.values()
steps_made = len(results["calm"][0])
assert parts_at(*pairs["rate 1e-3, batches turned"]) == 1 and calm_end < 1e-6 and drawn_end > 0.1
assert results["calm"][1] == results["calm, turned"][1]
grown = (
    wild_end > 1e4 * calm_end
)  # by how much more, and what becomes of the accuracy, is another processor's own affair
below_millionth = calm_end < 1e-6

# %% [folded] rounding-read
# After the run: chaos is a property of the step, not of the computer
#
# At the program's rate the two runs part at the first step by one rounding, and {432 = steps_made} steps later they are still
# {less than a millionth = below_millionth} apart; the accuracy is the same. At ten times that rate the same change grows to {more than ten thousand times as much = grown}: another run. The third curve is no rounding: one
# number more was drawn before the training, and that is another order of the batches, from step 1 on.
#
# So: if two runs part by a ten-millionth and grow apart quickly, the number of threads is not what ails you. The run stands on an edge,
# and everything moves it. Its learning rate is the first thing to look at.
#
# It also tells what to ask for. *Equal to the last bit* can be had on one machine, with one version and one number of threads. Between two
# machines ask for *equal up to rounding for some steps*, and compare with a tolerance (`bugzoo differ --tolerance`).

# %% [markdown] state-text
# ## What does a generator remember?
#
# A seed is where a generator starts. Its *state* is where it stands. Whoever wants to draw the same numbers again, in the middle of
# something, needs the state of all three: of Python's generator, NumPy's, torch's. One function with two directions:


# %% generators
def generators(state=None):
    """Without an argument: the state of Python's, NumPy's and torch's generator. With it: put that state back."""
    if state is None:
        return random.getstate(), np.random.get_state(), torch.get_rng_state()
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.set_rng_state(state[2])


kept = generators()
first = random.random(), np.random.rand(), torch.rand(1).item()
generators(kept)
print("drawn again:", first == (random.random(), np.random.rand(), torch.rand(1).item()))

# %% [proof] generators-proof
generators(kept)
assert first == (random.random(), np.random.rand(), torch.rand(1).item())

# %% [markdown] resume-text
# ## After a stop, as if nothing had happened
#
# A training is ended in the evening and goes on in the morning. Here is one that stands between two epochs; it draws from two generators, has
# a normalisation, a schedule, and Adam.


# %% training
digits = load_digits()
images, labels = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)


class Training:
    """Digits with dropout (torch draws) and noise (NumPy draws); `epoch()` makes one epoch and returns its losses."""

    def __init__(self, seed):
        torch.manual_seed(seed), np.random.seed(seed), random.seed(seed)
        hidden = nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2)
        self.model = nn.Sequential(*hidden, nn.Linear(64, 10))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 6)

    def epoch(self):
        self.model.train()
        losses = []
        for rows in torch.randperm(1150).split(32):
            noise = torch.tensor(np.random.normal(0, 0.1, (len(rows), 64)), dtype=torch.float32)
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(images[rows] + noise), labels[rows])
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        self.scheduler.step()
        return losses

    def accuracy(self):
        with torch.no_grad():
            return (self.model.eval()(images[1150:1437]).argmax(-1) == labels[1150:1437]).float().mean().item()


# %% [predict] lost
# Three epochs, a stop, three more. One part is not carried over the stop. Which loss shows the loss of the optimiser's state first?
#
# ( ) The first after the stop
#     It is made of the weights and of the batch, and both are right.
# (x) The second after the stop
#     The first loss is right, its gradient is right, and the step that is made of it is not.
# ( ) None: the weights are what counts
#     Adam keeps two numbers for each weight. A new Adam moves each of them by the full rate, as at the very beginning.

# %% lost-run
whole = Training(0)
unbroken = [loss for _ in range(6) for loss in whole.epoch()]


def went_on(*left_out):
    """(losses of both halves, accuracy just after the stop and at the end) of a training resumed without these parts."""
    first = Training(0)
    losses = [loss for _ in range(3) for loss in first.epoch()]
    dice = generators()
    second = Training(0)
    weights = first.model.state_dict()
    if "running averages" in left_out:
        weights = dict(first.model.named_parameters())
    second.model.load_state_dict(weights, strict=False)
    for part in ("optimizer", "scheduler"):
        if part not in left_out:
            getattr(second, part).load_state_dict(getattr(first, part).state_dict())
    fresh_dice = generators()
    kept = [
        new if name in left_out else old
        for name, old, new in zip(("random", "NumPy", "torch"), dice, fresh_dice, strict=True)
    ]
    generators(tuple(kept))
    at_once = second.accuracy()
    return losses + [loss for _ in range(3) for loss in second.epoch()], at_once, second.accuracy()


stop, rows = len(unbroken) // 2, {}
print(f"stopped after step {stop}; {len(unbroken)} steps; accuracy without a stop {whole.accuracy():.3f}")
for part in ("nothing", "optimizer", "scheduler", "torch", "NumPy", "running averages"):
    losses, at_once, accuracy = went_on(part)
    step = parts_at(losses, unbroken)
    rows[part] = step and step - stop, accuracy, at_once
    where = f"loss {step - stop} after the stop" if step else "no loss"
    print(f"left out: {part:17} {where:23} accuracy just after it {at_once:.3f}, at the end {accuracy:.3f}")
lost.reveal(f"loss {rows['optimizer'][0]} after the stop")

# %% [proof] lost-proof
per_epoch = stop // 3
assert rows["nothing"][0] == 0 and rows["nothing"][1] == whole.accuracy()
assert rows["optimizer"][0] == 2 and rows["torch"][0] == 1 and rows["NumPy"][0] == 1
next_epoch = rows["scheduler"][0]
assert next_epoch == per_epoch + 2
assert rows["running averages"][0] == 0
acc_whole, acc_averages, acc_stop = whole.accuracy(), rows["running averages"][2], rows["nothing"][2]
assert acc_averages < acc_stop - 0.02 and rows["running averages"][1] == acc_whole
within = max(abs(rows[part][1] - acc_whole) for part in ("optimizer", "scheduler", "torch", "NumPy"))
within_points = 100 * within < 3

# %% [folded] lost-read
# After the run: each part has a step of its own
#
# A generator shows at the first loss after the stop, the optimiser at the second. The schedule shows at loss {38 = next_epoch}, more than an epoch later: the
# optimiser had brought its rate along, and only the next `scheduler.step()` makes a wrong one of it. Read backwards, that is a
# diagnosis: count from the stop. [People notice](https://github.com/r9y9/wavenet_vocoder/issues/132) that the loss became
# restless, and ask whether that is to be expected.
#
# And look at the accuracies at the end: {all within three points = within_points}. No metric finds any of these. Nor does any loss find the last line. Running averages take
# no part in training mode, so every training loss is right; an evaluation just after the stop says {75 % = acc_averages} in place of {97 % = acc_stop}, and three
# epochs later the averages have been collected anew and nothing is left to be seen.

# %% [markdown] live-text
# ## Mend it while it stands still
#
# The healthy program on a live run, stopped in front of its fourth epoch. `optimizer.state.clear()` is what a resume without the
# optimiser's state amounts to. Once without, once with a repair.

# %% repair
half = len(healthy.loss) // 2
ends_as = {}
for mend in (False, True):
    view = lab.LiveView(incident.healthy(), pause_at=half, show_twin=False).start()
    view.wait_pause()
    optimizer = view.objects["optimizer"]
    kept = copy.deepcopy(optimizer.state_dict())
    optimizer.state.clear()
    if mend:
        optimizer.load_state_dict(kept)
    view.resume()
    ends_as[mend] = view.result.trace
    where = parts_at(ends_as[mend].loss, healthy.loss)
    print(
        "state put back:" if mend else "state lost:    ", f"parts from the twin at step {where}, stopped after {half}"
    )

# %% [proof] repair-proof
assert parts_at(ends_as[False].loss, healthy.loss) == half + 2
assert np.array_equal(ends_as[True].loss, healthy.loss) and ends_as[True].metrics == healthy.metrics

# %% [markdown] everything-text
# **Write it:** again one function with two directions. `everything(training)` gives all that a training needs to go on;
# `everything(training, saved)` puts it into another one. What is saved must not change when the training goes on, nor when it is put
# into a training that then goes on: somebody may resume twice. Your `generators` is at hand.


# %% [task] everything
def everything(training, saved=None):
    """Without `saved`: all that `training` needs to go on, for keeps. With it: put that into `training`."""
    ...  # your code; copy.deepcopy copies what a state_dict only points to


# %% try-everything
everything = lab.try_out("15/everything", everything)


# %% [solution] everything
def everything(training, saved=None):
    """Without `saved`: all that `training` needs to go on, for keeps. With it: put that into `training`."""
    names = ("model", "optimizer", "scheduler")
    if saved is None:
        parts = {name: copy.deepcopy(getattr(training, name).state_dict()) for name in names}
        return parts | {"dice": (random.getstate(), np.random.get_state(), torch.get_rng_state())}
    for name in names:
        getattr(training, name).load_state_dict(copy.deepcopy(saved[name]))
    random.setstate(saved["dice"][0])
    np.random.set_state(saved["dice"][1])
    torch.set_rng_state(saved["dice"][2])


# %% [judge] everything
import copy
import io
import random

import numpy as np
import torch
from torch import nn

PARTS = ("model", "optimizer", "scheduler")


class Small:
    """A training of four steps an epoch that draws from all three generators."""

    def __init__(self, seed):
        torch.manual_seed(seed), np.random.seed(seed), random.seed(seed)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.3), nn.Linear(4, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.05)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda epoch: 0.5**epoch)

    def epochs(self, count):
        losses = []
        for _ in range(4 * count):
            batch = torch.randn(8, 3) + torch.tensor(np.random.normal(size=(8, 3)), dtype=torch.float32)
            loss = (self.model(batch * (1 + random.random())) - batch[:, :1]).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            if len(losses) % 4 == 0:
                self.scheduler.step()
        with torch.no_grad():
            losses.append(self.model.eval()(torch.ones(1, 3)).item())
        self.model.train()
        return losses


def judge(answer):
    outside = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        whole = Small(1)
        whole.epochs(2)
        wanted = whole.epochs(3)
        begun = Small(1)
        begun.epochs(2)
        saved = answer(begun)
        mine = begun.epochs(3)
        yield mine == wanted, f"saving changes nothing: goes on with {wanted[0]:.6f}, yours {mine[0]:.6f}"
        for time in ("resumed", "resumed a second time"):
            other = Small(9)
            other.epochs(1)
            answer(other, saved)
            mine = other.epochs(3)
            apart = [n for n, (a, b) in enumerate(zip(mine, wanted, strict=True), 1) if a != b]
            what = "its evaluation" if apart == [len(wanted)] else f"loss {apart[0]}" if apart else "none"
            yield not apart, f"{time}: first number that differs: none, yours {what}"
    finally:
        random.setstate(outside[0]), np.random.set_state(outside[1]), torch.set_rng_state(outside[2])


class Resumable:
    """As somebody would write it; what it leaves out makes it a lazy one."""

    def __init__(self, parts=PARTS, dice=(0, 1, 2), copies=(True, True), buffers=True):
        self.parts, self.dice, self.copies, self.buffers = parts, dice, copies, buffers

    def __call__(self, training, saved=None):
        gets = random.getstate, np.random.get_state, torch.get_rng_state
        puts = random.setstate, np.random.set_state, torch.set_rng_state
        if saved is None:
            made = {name: getattr(training, name).state_dict() for name in self.parts}
            if not self.buffers:
                made["model"] = dict(training.model.named_parameters())
            made = copy.deepcopy(made) if self.copies[0] else made
            return made | {"dice": [gets[n]() for n in self.dice]}
        for name in self.parts:
            state = copy.deepcopy(saved[name]) if self.copies[1] else saved[name]
            getattr(training, name).load_state_dict(state, **({"strict": False} if name == "model" else {}))
        for n, state in zip(self.dice, saved["dice"], strict=True):
            puts[n](state)


def in_a_file(training, saved=None):
    dice = (random.getstate, np.random.get_state, torch.get_rng_state)
    if saved is None:
        file = io.BytesIO()
        torch.save([[getattr(training, name).state_dict() for name in PARTS], [get() for get in dice]], file)
        return file.getvalue()
    states, kept = torch.load(io.BytesIO(saved), weights_only=False)
    for name, state in zip(PARTS, states, strict=True):
        getattr(training, name).load_state_dict(state)
    random.setstate(kept[0]), np.random.set_state(kept[1]), torch.set_rng_state(kept[2])


RIGHT = {"part by part": Resumable(), "through a file": in_a_file}
LAZY = {
    "without the optimiser": Resumable(parts=("model", "scheduler")),
    "without the schedule": Resumable(parts=("model", "optimizer")),
    "torch's generator alone": Resumable(dice=(2,)),
    "parameters, and no buffers": Resumable(buffers=False),
    "saved without a copy": Resumable(copies=(False, True)),
    "put in without a copy": Resumable(copies=(True, False)),
}

# %% [check] alias
# A checkpoint is kept in memory as `saved = model.state_dict()`. Training goes on, gets worse, and `model.load_state_dict(saved)` is called. What happens?
#
# ( ) The model is as it was when it was saved
#     so it is meant, and so it is when the checkpoint goes through a file.
# (x) Nothing: the model stays as it is
#     yes. A state_dict points to the living tensors. What was kept went on training; `copy.deepcopy` makes a checkpoint of it.
# ( ) An error: tensors that need a gradient cannot be copied
#     a state_dict holds detached tensors, and load_state_dict copies them without a word.

# %% everything-run
stopped = Training(0)
losses = [loss for _ in range(3) for loss in stopped.epoch()]
saved = everything(stopped)
stopped.epoch()  # it goes on by itself for a while; nobody minds
for attempt in ("resumed", "resumed again"):
    going_on = Training(123)
    everything(going_on, saved)
    rest = [loss for _ in range(3) for loss in going_on.epoch()]
    print(attempt, "- parts from the run without a stop at", parts_at(losses + rest, unbroken), "- accuracy", end=" ")
    print(f"{going_on.accuracy():.3f}, without a stop {whole.accuracy():.3f}")

# %% [proof] everything-proof
assert parts_at(losses + rest, unbroken) == 0 and len(losses + rest) == len(unbroken)
assert going_on.accuracy() == whole.accuracy()

# %% [markdown] fair-text
# ## Fix the seed, and compare
#
# Now it repeats to the last bit, before a stop and after it. So the question that all this is for can be asked: does a change help?
# *"Fix the seed, run it before and after, and every difference is due to your change."* So it is taught.
#
# Here is a change that does nothing: between split and model, one picture is drawn at random, for a look. To see more than one
# pair of runs, the next cell trains a small network with twenty seeds, all at once.


# %% many
def many(rate=1e-3, look=False, own=False, seeds=range(20), width=64):
    """(losses, accuracies) on validation: one small network for each seed, six epochs, all trained side by side.

    `look`: draw one picture for a look. `own`: weights and order of the batches come from generators of their own.
    """
    weights, epochs, held = [], [], []
    for seed in seeds:
        torch.manual_seed(seed)
        order = torch.randperm(1437)
        if look:
            images[torch.randint(1437, (1,))]
        if own:
            torch.manual_seed(seed + 1000)
        layers = nn.Linear(64, width), nn.Linear(width, width), nn.Linear(width, 10)
        weights.append([value for layer in layers for value in (layer.weight.detach().t(), layer.bias.detach()[None])])
        chance = torch.Generator().manual_seed(seed + 2000) if own else torch.default_generator
        epochs.append(torch.stack([order[torch.randperm(1150, generator=chance)] for _ in range(6)]))
        held.append(order[1150:])
    w = [torch.stack(values).requires_grad_() for values in zip(*weights, strict=True)]  # each (seeds, in, out)
    optimizer = torch.optim.Adam(w, lr=rate)

    def each_loss(rows):  # (seeds, batch) -> mean loss and accuracy of each network
        x = torch.baddbmm(w[1], images[rows], w[0]).relu()
        x = torch.baddbmm(w[5], torch.baddbmm(w[3], x, w[2]).relu(), w[4])
        losses = F.cross_entropy(x.transpose(1, 2), labels[rows], reduction="none")
        return losses.mean(1), (x.argmax(-1) == labels[rows]).float().mean(1)

    for epoch in torch.stack(epochs, 1):
        for rows in epoch.split(32, 1):
            optimizer.zero_grad()
            each_loss(rows)[0].sum().backward()
            optimizer.step()
    with torch.no_grad():
        losses, accuracies = each_loss(torch.stack(held))
    return losses.double().numpy(), accuracies.double().numpy()


# %% [predict] harmless
# Seed 0 before, seed 0 after. The line in between draws a picture and throws it away. By how much may the accuracy change?
#
# ( ) Not at all: the same seed, and nothing else was changed
#     The weights are drawn after the picture. They are others, and so is the order of the batches.
# ( ) In the last bits
#     No sum is rounded differently. Another number is drawn, and everything that is drawn behind it is another one.
# (x) By up to three points, up or down
#     It is another seed, by another name. With a fixed seed, before and after, this line would have been called an improvement, or a regression.

# %% harmless-run
base_loss, base_accuracy = many()
look_loss, look_accuracy = many(look=True)
gained = 100 * (look_accuracy - base_accuracy)
print("points gained by looking at a picture, seed by seed:")
print("  ".join(f"{points:+.1f}" for points in gained))
print(f"from {gained.min():+.1f} to {gained.max():+.1f};  spread between seeds: {100 * base_accuracy.std(ddof=1):.1f}")
harmless.reveal()

# %% [proof] harmless-proof
gain_max, gain_min, spread = float(gained.max()), float(-gained.min()), float(100 * base_accuracy.std(ddof=1))
moved_seeds = int((np.abs(gained) >= 1).sum())
assert gain_max > 1.5 and gain_min > 1

# %% [folded] harmless-read
# After the run: a seed names a sequence, not a run
#
# By up to {3.1 = gain_max} points up and {1.4 = gain_min} down, with the seed fixed. By one point or more in {12 = moved_seeds} of 20 pairs. A fixed seed makes *one script*
# repeat itself. Between two scripts it promises something only as long as both draw the same numbers in the same order for the
# same purpose, and a change that adds a dropout, a layer or a look does not.

# %% [predict] separate
# The remedy: a generator for each purpose, one for the weights, one for the order. The picture is looked at again. The accuracy?
#
# ( ) Still another one, but less
#     What is drawn for the look no longer moves anything else. There is no less.
# (x) The same to the last bit, with all twenty seeds
#     The look has become what it is, without effect. And other changes can be seen with that much less noise.
# ( ) Worse: too many generators make the numbers less random
#     Each is as good as the one.

# %% separate-run
own_loss, own_accuracy = many(own=True)
own_look_loss, _ = many(own=True, look=True)
print("equal to the last bit with all seeds:", np.array_equal(own_loss, own_look_loss))
separate.reveal()

# %% [proof] separate-proof
assert np.array_equal(own_loss, own_look_loss)

# %% [markdown] sign-text
# ## How many seeds?
#
# Now a change that does something: the learning rate `1.2e-3` in place of `1e-3`, on the same twenty seeds. Nothing is drawn otherwise, so each pair
# has the same split, the same weights, the same batches.
#
# To judge pairs you need hardly any statistics. If the change did nothing, each pair would be a coin: won or lost. How surprising
# are so many heads? **Write it:** `(wins, losses, p)` of two lists of accuracies, pair by pair. Ties are left out. `p` is the
# probability that so many coins fall at least so unevenly, to either side; never above 1. `math.comb(n, k)` counts ways.


# %% [task] sign_test
def sign_test(before, after):
    """(pairs in which `after` is higher, in which it is lower, two-sided probability of that by chance)."""
    ...  # your code


# %% try-sign
sign_test = lab.try_out("15/sign_test", sign_test)


# %% [solution] sign_test
def sign_test(before, after):
    """(pairs in which `after` is higher, in which it is lower, two-sided probability of that by chance)."""
    wins = sum(b > a for a, b in zip(before, after, strict=True))
    losses = sum(b < a for a, b in zip(before, after, strict=True))
    coins = wins + losses
    tail = sum(math.comb(coins, heads) for heads in range(max(wins, losses), coins + 1)) / 2**coins
    return int(wins), int(losses), min(1.0, 2 * tail)


# %% [judge] sign_test
import math

import numpy as np


def judge(answer):
    for wins, losses, ties, p in (
        (5, 0, 0, 1 / 16), (0, 5, 0, 1 / 16), (6, 0, 4, 1 / 32), (3, 3, 1, 1.0), (9, 1, 0, 22 / 1024), (1, 0, 0, 1.0),
        (0, 0, 3, 1.0), (2, 1, 0, 1.0),
    ):  # fmt: skip
        before = [0.9] * (wins + losses + ties)
        after = [0.91] * wins + [0.88] * losses + [0.9] * ties
        gave = answer(before, after)
        gave = tuple(gave) if isinstance(gave, tuple | list) and len(gave) == 3 else (None, None, math.nan)
        text = f"{wins} up, {losses} down, {ties} equal: {(wins, losses, round(p, 4))}, yours says {gave}"
        yield gave[:2] == (wins, losses) and abs(gave[2] - p) < 1e-9, text
    gave = answer(np.array([0.9, 0.5, 0.7]), np.array([0.6, 0.91, 0.8]))
    gave = tuple(gave) if isinstance(gave, tuple | list) and len(gave) == 3 else (None, None, math.nan)
    yield gave[:2] == (2, 1), f"in the order of the pairs: (2, 1), yours says {gave[:2]}"


def with_scipy(before, after):
    from scipy.stats import binomtest

    apart = np.subtract(after, before)
    wins, losses = int((apart > 0).sum()), int((apart < 0).sum())
    return wins, losses, float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def lazy(ties=False, two=2, cap=True, sort=False):
    def made(before, after):
        if sort:
            before, after = sorted(before), sorted(after)
        wins, losses = (
            sum(b > a for a, b in zip(before, after, strict=True)),
            sum(b < a for a, b in zip(before, after, strict=True)),
        )
        coins = len(before) if ties else wins + losses
        tail = sum(math.comb(coins, k) for k in range(max(wins, losses), coins + 1)) / 2**coins
        return wins, losses, min(1.0, two * tail) if cap else two * tail

    return made


RIGHT = {"SciPy's": with_scipy, "by counting": lazy()}
LAZY = {
    "ties are coins": lazy(ties=True), "one side only": lazy(two=1), "above 1": lazy(cap=False), "not in pairs": lazy(sort=True),
    "never surprised": lambda before, after: (0, 0, 1.0),
}  # fmt: skip

# %% [predict] rate
# Rate `1.2e-3` against `1e-3`. How often does the better rate win, with the same seed in both, and with two different ones?
#
# ( ) About as often: a better rate is a better rate
#     The gain is the same. What lies beside it is not.
# (x) With the same seed nearly always, with two different ones little more often than a coin
#     The spread between seeds is several times the gain. Pairs do not have that spread: it is in both, and falls out.
# ( ) With different seeds more often: they are independent
#     Independence is what costs here. It puts both spreads into the difference.

# %% rate-run
fast_loss, fast_accuracy = many(rate=1.2e-3)
wins, losses_, p = sign_test(base_accuracy, fast_accuracy)
across = fast_accuracy[:, None] - base_accuracy[None, :]
different = across[~np.eye(20, dtype=bool)]
print(f"mean gain {100 * (fast_accuracy - base_accuracy).mean():.2f} points")
print(f"same seed:        won {wins}, lost {losses_}, equal {20 - wins - losses_}   p = {p:.5f}")
shares = 100 * (different > 0).mean(), 100 * (different < 0).mean()
print("different seeds:  won {:.0f} %, lost {:.0f} %, of {} pairs".format(*shares, math.perm(20, 2)))
rng = np.random.default_rng(0)
table = {}
print("\nseeds   the better rate has the higher mean: same seeds   other seeds")
for count in (1, 2, 3, 5, 10):
    chosen = [(rng.choice(20, count, False), rng.choice(20, count, False)) for _ in range(4000)]
    same = np.mean([(fast_accuracy[a] - base_accuracy[a]).mean() > 0 for a, _ in chosen])
    other = np.mean([fast_accuracy[a].mean() > base_accuracy[b].mean() for a, b in chosen])
    table[count] = same, other
    print(f"{count:5} {100 * same:52.0f} % {100 * other:12.0f} %")
rate.reveal()

# %% [proof] rate-proof
gain = float(100 * (fast_accuracy - base_accuracy).mean())
won_same, lost_same, won_other = wins, losses_, float((different > 0).mean())
three_same, three_other, ten_other = (float(x) for x in (table[3][0], table[3][1], table[10][1]))
wins_look, losses_look, p_look = sign_test(base_accuracy, look_accuracy)
assert lost_same <= 2 and p < 0.01 and p_look > 0.05 and three_same > 0.95 and three_other < 0.85

# %% [folded] rate-read
# After the run: pair them, and count
#
# The gain is {0.8 = gain} points where seeds differ by {1.7 = spread}. Paired, the better rate wins {16 = won_same} of 20 and loses {0 = lost_same}; with different seeds it wins {61 % = won_other}. Three pairs
# name the better rate in {99 % = three_same} of all choices of three seeds, three and three others in {73 % = three_other}, and ten and ten others in {93 % = ten_other}.
#
# And the look at a picture? {11 = wins_look} won, {7 = losses_look} lost: a coin. The test says so, and one pair of runs with a fixed seed could have said anything.
#
# Where a change cannot be paired (another width draws other weights), give each purpose its own generator, so that at least split and
# order are shared, and take more seeds. Five pairs that all agree are p = 1/16; fewer than six can't be called surprising at the usual
# one in twenty, whatever they show.

# %% [check] seeds_check
# A colleague reports: "Seed 42, before and after: one point better." What do you ask?
#
# ( ) Nothing, if the seed was fixed in both
#     it was fixed, and the number may still be that of another draw.
# (x) The pairs of six seeds or more, and whether the change draws anything
#     yes. If it draws nothing, pairs tell quickly. If it does, the fixed seed pairs nothing but the split.
# ( ) Whether the kernels were deterministic
#     rounding moved the accuracy above by nothing at all. A draw moved it by points.

# %% [markdown] break-text
# ## Break it yourself
#
# The incident with sliders. The twin behind it has the order that the seed gives.
#
# - Move `seed`. Is the run above its twin as often as below?
# - Move `learning_rate` up. Do two orders of the same data end further apart?

# %% panel
panel = lab.break_it(incident, settings=("seed", "learning_rate"))

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"Since somebody made the script repeat itself properly, the training loss falls as never before, and
# validation is a ruin. It overfits, obviously, so I doubled the augmentation and then the dropout. Neither did anything. Two starts agree to the last bit, in the
# shell as well."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("15/second")
seen = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                      the program; lines count from 1
#   print(seen.trace.metrics, seen.trace.loss[-5:])
#   own = seen.trace.live.namespace                           the script's own names: own["model"], own["inputs"]
#   stand = lab.LiveView(second, pause_at=40, show_twin=False).start()      and print what a step draws

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
right_line = next(
    number for number, line in enumerate(second.source.splitlines(), 1) if line.startswith("        torch.manual_seed")
)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said
acc_second, loss_second = seen.trace.metrics["accuracy"], float(np.mean(seen.trace.loss[-36:]))
assert acc_second < 0.6 and loss_second < 0.3

# %% [folded] turn-read
# After you have handed in: noise that is always the same is no noise
#
# A seed in the loop puts the generator back before each step. Every batch is moved by the same shift, dropout leaves out the same units, and from the
# second epoch on the batches come in the same order. The model learns *that* shift: the training loss ends at {0.15 = loss_second} and validation, which is not
# moved, at {45 % = acc_second}. More augmentation means a larger shift that is always the same.
#
# "Repeats itself" was true of it, and no virtue. Seed once, in front of the first draw.

# %% [check] recap_check
# A run that was stopped and resumed parts from the one without a stop at the second loss after the stop, by a few percent. What was lost?
#
# ( ) The generator's state
#     then the first loss after the stop would be another one: other batch, other units left out.
# (x) What the optimiser keeps
#     yes. Weights and batch were right, so the first loss is. The step that was made of it is not.
# ( ) Nothing: it is rounding
#     a rounding is a ten-millionth, not a few percent.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 15` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="15")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Ask for the first step that differs; it names the part.** *Fails when* the part takes no part in the loss, as running averages: then
#    compare states, or an evaluation.
# 2. **Repeat it in a fresh process.** *Fails when* both were started alike, with the same hash seed, machine and threads.
# 3. **Resume, and ask for equality to the last bit.** *Fails when* the machine or the number of threads changes: then ask for it up to rounding.
# 4. **Compare pairs, six or more, with a generator for each purpose.** *Fails when* the seeds were chosen after the numbers were seen.
#
# **Next:** repair one yourself: [exercise 43, *two nights instead of one*](../exercises/43_overnight.ipynb), then
# [exercise 44, *table three*](../exercises/44_table_three.ipynb). The result is judged by what your program does. The same instruments work on your own script, without changing it:
# `bugzoo checkup train.py`, `bugzoo differ train.py yesterday.py`.
