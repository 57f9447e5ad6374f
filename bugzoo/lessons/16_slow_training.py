"""Lesson 16: where the time of a step goes, how to ask without a stopwatch, and what does not make it faster."""

# %% [case] incident
# image_pipeline speed/starved_loader

# %% [case] second
# word_lines speed/anomaly_mode_left_on

# %% [markdown] title
# # 16 · Slow training
#
# A slow run gives no error and no wrong number, so it is the bug that is lived with longest. In this lesson you take a step apart with a stopwatch of
# your own, work out what a faster machine would bring before it is bought, listen for what makes a GPU wait, count what `torch.compile` makes of a
# model, and try what everybody recommends.
#
# You need about {49 = minutes} minutes, and to know what a `DataLoader` does. After *Workers* is a good place for a pause. Seconds differ from machine to
# machine and from hour to hour, so this lesson shows shares, ratios and counts; the seconds on your screen are your own.
#
# All was measured on a CPU, which waits for nobody. With an NVIDIA GPU, `lab.device("cuda")` in the first cell runs the programs there, and what is
# only counted here costs time as well: each wait that you will count, and a stopwatch that forgets to wait. A dated trace of such a run is
# not part of this lesson yet.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import itertools
import logging
import time
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import bugzoo
from bugzoo import lab

torch.set_num_threads(1)  # threads that wait for one another make a busy machine slow

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("16")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Monday, 09:30.* "We were given a GPU that does our convolutions ten times as fast as the old one. An epoch takes as long as it took. The panel says
# > *utilisation* `12 %`. The losses are fine. I have asked for a second one of these."
#
# Small pictures are enlarged, blurred and reduced, three convolutions name the digit. The run here is on a CPU, and the question is the same: of the time of a
# step, how much is the model's?

# %% [predict] faster
# Suppose that nine tenths of a step pass before the model sees its batch. The new machine does the model's part ten times as fast. How much faster is a step?
#
# ( ) Ten times
#     Only a tenth of it became faster.
# ( ) About twice
#     Half of a step would have to be the model's for that.
# (x) One tenth at most: {9.9 % = amdahl} more steps an hour
#     `0.9` stays, `0.1` becomes `0.01`. What is not made faster sets the bound, whatever is bought.

# %% live
incident = lab.case("16/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
first_epoch = len(view.objects["train_loader"])
alike = np.array_equal(trace.loss[:first_epoch], healthy.loss[:first_epoch])
print("losses of the first epoch equal to the twin's, to the last bit:", alike)
print(f"a step of 0.9 + 0.1, with the 0.1 ten times as fast: {1 / (0.9 + 0.01):.3f} times as many")
faster.reveal()

# %% [proof] numbers-proof
amdahl = 1 / (0.9 + 0.01) - 1
assert np.array_equal(trace.loss[:first_epoch], healthy.loss[:first_epoch]) and first_epoch == 8
assert not np.array_equal(trace.loss, healthy.loss)

# %% [folded] numbers-read
# After the run: the same losses, and then others
#
# In the first epoch every loss is the twin's. Behind it the batches come in another order, and that is no sign of illness: the blur asks the random generator for
# its strength, even where there is only one to choose from. The twin blurs each picture once and remembers it, so it asks less often. Two healthy programs need not draw the same numbers.

# %% [markdown] watch-text
# ## A stopwatch
#
# Two stretches make a step: from the end of the last one until the batch is there, and the work on it. A stopwatch can lie in three ways. The first steps warm up caches
# and are slower. A mean is moved by a single step in which the machine did something else; a median is not. And on CUDA a call returns when the work has been *asked for*,
# not when it is done, so that a stopwatch has to wait for `torch.cuda.synchronize()` at both ends of what it measures.
#
# **Write it:** go through the batches, do the work on each, and return the two medians, the first `skip` steps left out. Read the time from `clock()`, as it may be a GPU's.


# %% [task] stretches
def stretches(batches, work, clock=time.perf_counter, skip=2):
    """(median time until a batch is there, median time of work(batch)), the first `skip` batches not counted."""
    ...  # your code


# %% try-stretches
stretches = lab.try_out("16/stretches", stretches)


# %% [solution] stretches
def stretches(batches, work, clock=time.perf_counter, skip=2):
    """(median time until a batch is there, median time of work(batch)), the first `skip` batches not counted."""
    waited, worked = [], []
    begin = clock()
    for batch in batches:
        there = clock()
        work(batch)
        end = clock()
        waited.append(there - begin)
        worked.append(end - there)
        begin = end
    return float(np.median(waited[skip:])), float(np.median(worked[skip:]))


# %% [judge] stretches
import statistics


def judge(answer):
    for waits, works in (
        ([9, 9, 3, 3, 4, 90, 3], [7, 7, 1, 1, 1, 1, 50]),
        ([0, 0, 0, 0, 5], [2, 2, 8, 8, 8]),
        ([1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]),
    ):
        now, seen = [0.0], []

        def batches(now=now, waits=waits):
            for number, wait in enumerate(waits):
                now[0] += wait
                yield number

        def work(batch, now=now, works=works, seen=seen):
            seen.append(batch)
            now[0] += works[batch]

        gave = answer(batches(), work, lambda now=now: now[0], 2)
        wanted = statistics.median(waits[2:]), statistics.median(works[2:])
        gave = gave if gave is None else tuple(float(one) for one in gave)
        yield gave == wanted, f"fetching {waits}, working {works}: {wanted}, yours says {gave}"
        yield seen == list(range(len(waits))), f"    every batch is worked on, once: {len(waits)}, yours {len(seen)}"


def by_iter(batches, work, clock=None, skip=2):
    source, waited, worked, number = iter(batches), [], [], 0
    while True:
        begin = clock()
        try:
            batch = next(source)
        except StopIteration:
            break
        there = clock()
        work(batch)
        if number >= skip:
            waited.append(there - begin)
            worked.append(clock() - there)
        number += 1
    return statistics.median(waited), statistics.median(worked)


def lazy(middle=statistics.median, skipping=True, fetching=True):
    def made(batches, work, clock=None, skip=2):
        waited, worked = [], []
        begin = clock()
        for batch in batches:
            there = clock() if fetching else begin
            work(batch)
            end = clock()
            waited.append(there - begin)
            worked.append(end - there)
            begin = end
        start = skip if skipping else 0
        return middle(waited[start:]), middle(worked[start:])

    return made


RIGHT = {"with next()": by_iter}
LAZY = {
    "a mean": lazy(statistics.fmean),
    "the first steps counted": lazy(skipping=False),
    "all of it is work": lazy(fetching=False),
    "the list made first": lambda batches, work, clock=None, skip=2: lazy()(list(batches), work, clock, skip),
}

# %% [predict] share
# The incident: which share of a step goes by until its batch is there?
#
# ( ) About a tenth
#     Then the panel would not say `12 %`.
# ( ) About a half
#     Fetching 32 pictures takes longer than you think: each is blown up to 256 x 256 and blurred, every time.
# (x) Four fifths or more
#     Most of what this program does is blurring pictures that it has blurred before.

# %% share-run
own = view.objects
model, optimizer = own["model"], own["optimizer"]


def work(batch):
    optimizer.zero_grad()
    F.cross_entropy(model(batch[0]), batch[1]).backward()
    optimizer.step()


def with_cache(loader):
    """Its batches, each picture prepared once for good."""
    kept = list(loader)
    return [kept[number % len(kept)] for number in range(12)]


model.train()
found = {}
for name, batches in (
    ("incident", itertools.islice(own["train_loader"], 8)),
    ("prepared before", with_cache(own["train_loader"])),
):
    measured = stretches(batches, work) or (0.0, 1.0)
    found[name] = measured[0] / sum(measured)
    print(f"{name:16} of a step {found[name]:.0%} is waiting for the batch")
share.reveal(f"{found['incident']:.0%}")

# %% [proof] share-proof
four_fifths = found["incident"] > 0.75
assert found["prepared before"] < 0.2 and four_fifths

# %% [markdown] instrument-text
# The instrument that does this over a whole run, and what was done to the healthy program:

# %% instrument
from bugzoo.diagnostics import step_timeline

print(step_timeline.judge(step_timeline.measure(view.result)).message)
print(incident.diff())

# %% [proof] instrument-proof
timeline = step_timeline.measure(view.result)
assert timeline["data_share"] > 0.6 and timeline["data_ms"] > 8

# %% [markdown] workers-text
# ## Workers
#
# *"Set `num_workers=4` and `pin_memory=True`, then the GPU is busy again."* The sentence stands under every question of this kind. What can be expected of it is arithmetic. With no worker
# a step is fetching *plus* computing. With workers beside the trainer it is whichever takes longer: computing, or fetching shared among them. And one thing more: if fetching and
# computing both need processors, and there are only so many, then a step cannot be shorter than all of its work divided by all of the processors.
#
# **Write it:** the time of a step, once it goes on evenly. `cores` is the number of processors, or None where they are not what limits.


# %% [task] step_time
def step_time(fetch, compute, workers, cores=None):
    """Time of a step in the long run: `fetch` and `compute` are one batch's; each worker fetches one batch at a time."""
    ...  # your code


# %% try-step
step_time = lab.try_out("16/step_time", step_time)


# %% [solution] step_time
def step_time(fetch, compute, workers, cores=None):
    """Time of a step in the long run: `fetch` and `compute` are one batch's; each worker fetches one batch at a time."""
    if workers == 0:
        return fetch + compute
    bounds = [compute, fetch / workers]
    if cores is not None:
        bounds.append((fetch + compute) / cores)
    return max(bounds)


# %% [judge] step_time
def judge(answer):
    for fetch, compute, workers, cores, wanted in (
        (9, 1, 0, None, 10), (9, 1, 1, None, 9), (9, 1, 3, None, 3), (9, 1, 9, None, 1), (9, 1, 20, None, 1),
        (1, 9, 0, None, 10), (1, 9, 4, None, 9), (9, 1, 4, 2, 5), (9, 1, 4, 8, 2.25), (6, 6, 2, 1, 12), (9, 1, 0, 8, 10),
    ):  # fmt: skip
        gave = answer(fetch, compute, workers, cores)
        about = f"fetch {fetch}, compute {compute}, {workers} workers" + (f", {cores} processors" if cores else "")
        yield gave is not None and abs(gave - wanted) < 1e-9, f"{about}: {wanted}, yours says {gave}"


def by_simulation(fetch, compute, workers, cores=None):
    if not workers:
        return fetch + compute
    steps, ready, free = 4000, [0.0] * workers, 0.0
    for step in range(steps):
        ready[step % workers] += fetch
        free = max(free, ready[step % workers]) + compute
    evenly = round(free / steps, 2)
    return max(evenly, (fetch + compute) / cores) if cores else evenly


RIGHT = {
    "the largest of three": lambda f, c, w, cores=None: f + c if not w else max(c, f / w, (f + c) / (cores or 10**9)),
}
LAZY = {
    "always the sum": lambda f, c, w, cores=None: f + c,
    "workers divide all": lambda f, c, w, cores=None: (f + c) / max(1, w),
    "no bound by the processors": lambda f, c, w, cores=None: f + c if not w else max(c, f / w),
    "no bound by the computing": lambda f, c, w, cores=None: f + c if not w else f / w,
}

# %% pipeline-figure
from bugzoo.plots import pipeline

lab.picture(pipeline.picture(fetch=3, compute=1, workers=(0, 1, 3)))
for workers in (0, 1, 3, 9):
    print(
        f"{workers} workers, processors enough: {step_time(9, 1, workers)}   with two processors: {step_time(9, 1, workers, 2)}"
    )

# %% [predict] four
# Fetching 9, computing 1, two processors, both done by the processors. Four workers: how much faster than none, at the very best?
#
# ( ) Four times: four fetch at once
#     On two processors two fetch at once, and one of them should compute.
# (x) Twice
#     Ten units of work, two processors: five. Whatever the number of workers, it does not become less work.
# ( ) Nine times: then fetching keeps up with computing
#     With nine processors more it would.

# %% four-run
from bugzoo import claims

measured = claims.read("four_workers")  # 15 runs, made once and not by everybody who reads this: seven minutes
rows = measured["numbers"]
print("measured by `bugzoo claims run four_workers`:", measured["machine"])
for name, row in rows.items():
    times = row["seconds"] / rows["no worker"]["seconds"]
    print(f"{name:18} {times:5.2f} times as long as without workers; waiting {row['waiting']:.0%} of the time")
four.reveal()

# %% [proof] four-proof
base = rows["no worker"]["seconds"]
slower = all(rows[name]["seconds"] > base for name in ("2 workers", "4 workers", "4 workers, pinned"))
eighth = rows["a cache"]["seconds"] < base / 7
assert slower and eighth and step_time(9, 1, 4, 2) == 5

# %% [folded] four-read
# After the run: a repair that everybody recommends
#
# Twice would have been the most. On the machine where it was measured, with two processors, workers made the same program {slower = slower}: each has to be started anew in every epoch,
# and what they fetch is sent from process to process. Pinned memory helps a copy to a GPU, and there was none. Remembering the prepared pictures took {less than a seventh = eighth} of the time: the work was
# not moved but left undone.
#
# On a machine with many processors and a GPU the same sentence can be right, and then the formula says how many workers are enough: the fetching time divided by the computing
# time, rounded up. More than that buys nothing.

# %% [markdown] live-text
# ## Mend it while it runs
#
# The run once more, paused behind its first epoch. The healthy program's `Digits` remembers what it prepared; give that class to the run.

# %% [predict] when
# The repair comes in front of epoch 2 of 3. From which step on is fetching fast?
#
# ( ) From the next one
#     The next batch holds pictures that the cache has not seen.
# (x) From epoch 3 on
#     In epoch 2 each picture comes once more and is prepared once more, this time to stay. A cache pays from the second use.
# ( ) Not at all in this run: the loader was made before
#     The loader asks its dataset anew for each picture, and the dataset has a new method.

# %% mend-run
stand = lab.LiveView(incident, pause_at=first_epoch, show_twin=False).start()
stand.wait_pause()
print("exchanged:", stand.patch(incident.healthy().source))
stand.resume()
stand.wait(240)
fetched = np.asarray(stand.result.trace.data_ms)
epochs = [np.median(fetched[start + 1 : start + first_epoch]) for start in range(0, len(fetched), first_epoch)]
for number, one in enumerate(epochs, 1):
    print(f"epoch {number}: fetching takes {one / epochs[0]:.3f} of what it took in epoch 1")
when.reveal()
stand.stop()

# %% [proof] mend-proof
assert len(epochs) == 3 and epochs[2] < 0.1 * epochs[0] and epochs[1] > 0.3 * epochs[0]

# %% [markdown] waits-text
# ## What makes a GPU wait
#
# On CUDA there is a second kind of slowness, which a stopwatch around the phases shows in the wrong place. Python only *asks* for operations; the GPU works
# through what it was asked while Python goes on asking. Whoever wants a *number* in Python, by `.item()`, `float(x)`, `if x > 0`, `.cpu()`, `.tolist()`, makes it wait until all that was asked for is done, and the GPU idle until Python has asked anew.
# One a step, for the loss, is usual. You cannot see this on a CPU, but you can *hear* it on any machine: a `TorchFunctionMode` gets every call that is made with a tensor.
#
# **Write it:** how often does `call()` ask a tensor for its number?


# %% [task] numbers_asked
def numbers_asked(call):
    """How often call() makes Python wait for a tensor's number: item, tolist, numpy, cpu, float(), int(), bool() and if."""
    ...  # your code; in a torch.overrides.TorchFunctionMode: def __torch_function__(self, function, types, args=(), kwargs=None)


# %% try-asked
numbers_asked = lab.try_out("16/numbers_asked", numbers_asked)


# %% [solution] numbers_asked
from torch.overrides import TorchFunctionMode


def numbers_asked(call):
    """How often call() makes Python wait for a tensor's number: item, tolist, numpy, cpu, float(), int(), bool() and if."""
    waits = {"item", "tolist", "numpy", "cpu", "__float__", "__int__", "__bool__", "__index__"}

    class Listening(TorchFunctionMode):
        count = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            self.count += getattr(function, "__name__", "") in waits
            return function(*args, **(kwargs or {}))

    with Listening() as heard:
        call()
    return heard.count


# %% [judge] numbers_asked
import torch
from torch import nn


def judge(answer):
    x, model = torch.tensor([2.0, 3.0]), nn.Linear(2, 2)
    once = torch.tensor(4.0)

    def tried(call, wanted, what):
        gave = answer(call)
        return gave == wanted, f"{what}: {wanted}, yours says {gave}"

    yield tried(lambda: once.item(), 1, ".item()")
    yield tried(lambda: float(once) + int(once), 2, "float() and int()")
    yield tried(lambda: 1 if once > 0 else 0, 1, "a tensor behind if")
    yield tried(lambda: (x.tolist(), x.cpu(), x.numpy()), 3, "tolist, cpu, numpy")
    yield tried(lambda: model(x).sum().backward(), 0, "a model forwards and backwards")
    yield tried(lambda: [p.detach().norm().item() for p in model.parameters()], 2, "the norm of each of two parameters")
    yield tried(
        lambda: torch.stack([p.detach().norm() for p in model.parameters()]).tolist(), 1, "the same, fetched at once"
    )
    kept = torch.Tensor.item
    answer(lambda: once.item())
    yield torch.Tensor.item is kept, "torch is afterwards as it was"


def by_function(call):
    """The functions themselves, in place of their names."""
    from torch.overrides import TorchFunctionMode

    tensor = torch.Tensor
    waits = [tensor.item, tensor.tolist, tensor.numpy, tensor.cpu, tensor.__float__, tensor.__int__, tensor.__bool__]

    class Listening(TorchFunctionMode):
        heard = ()

        def __torch_function__(self, function, types, args=(), kwargs=None):
            if any(function == one for one in waits):
                self.heard = (*self.heard, function)
            return function(*args, **(kwargs or {}))

    with Listening() as listening:
        call()
    return len(listening.heard)


def only(*names):
    def made(call):
        from torch.overrides import TorchFunctionMode

        class Listening(TorchFunctionMode):
            count = 0

            def __torch_function__(self, function, types, args=(), kwargs=None):
                self.count += not names or getattr(function, "__name__", "") in names
                return function(*args, **(kwargs or {}))

        with Listening() as heard:
            call()
        return heard.count

    return made


RIGHT = {"by the functions themselves": by_function}
LAZY = {
    "item alone": only("item"),
    "what one writes, but not if": only("item", "tolist", "numpy", "cpu", "__float__", "__int__"),
    "every call": only(),
    "none": lambda call: 0,
}

# %% [predict] waits
# A progress bar shows the loss, the accuracy, the gradient's norm and whether all weights are finite (one `if` for each of 8 parameters). How many waits does it add to each step?
#
# ( ) One: the bar is drawn once
#     Drawing costs nothing. Each number that is drawn was waited for.
# ( ) Four, one for each thing that is shown
#     Look at how the fourth is asked.
# (x) Eleven
#     Three numbers, and eight times `if`. With `torch.stack` all of them come at once.

# %% bar-run
inputs, targets = next(iter(own["validation_loader"]))


def bar():
    logits = model(inputs)
    loss = F.cross_entropy(logits, targets)
    norm = torch.stack([parameter.detach().norm() for parameter in model.parameters()]).norm()
    shown = [loss.item(), float((logits.argmax(-1) == targets).float().mean()), norm.item()]
    for parameter in model.parameters():
        if not parameter.isfinite().all():
            shown.append("lost")
    return shown


def at_once():
    logits = model(inputs)
    loss = F.cross_entropy(logits, targets)
    norm = torch.stack([parameter.detach().norm() for parameter in model.parameters()]).norm()
    finite = torch.stack([parameter.isfinite().all() for parameter in model.parameters()]).all()
    return torch.stack([loss.detach(), (logits.argmax(-1) == targets).float().mean(), norm, finite]).tolist()


print("number by number:", numbers_asked(bar), "  all at once:", numbers_asked(at_once))
bar_waits = numbers_asked(bar)
if torch.cuda.is_available():
    torch.cuda.synchronize()
    print("on this machine with a GPU, torch.cuda.set_sync_debug_mode('warn') names each of them as it happens")
waits.reveal()

# %% [proof] bar-proof
assert bar_waits == 3 + len(list(model.parameters())) == 11 and numbers_asked(at_once) == 1

# %% [markdown] compile-text
# ## What a compiler makes of it
#
# `torch.compile` promises to take Python out of the step. It reads the model's code, makes one graph of it, and makes new code of the graph, for the shapes that it has seen. Two things spoil it, and both can be
# counted without a stopwatch. Where Python must look at a *number* (again), the graph is cut in two, with Python in between. And a shape that it has not seen is compiled anew.

# %% [predict] shapes
# A model is compiled with `dynamic=False` and then gets batches of 16 different lengths, as with texts. How many times is it compiled?
#
# ( ) Once: compiled is compiled
#     It was compiled for the length that it saw.
# ( ) 16 times, once for each
#     There is a limit, so that nobody compiles for ever. What happens behind it?
# (x) {8 = limit} times, and then never again: from there on it runs uncompiled
#     It gives up, with one line in the log. A program that was to be made fast has then paid for compiling and gets nothing.

# %% compile-run
torch._logging.set_logs(dynamo=logging.ERROR)


class Small(nn.Module):
    def __init__(self, careful=False):
        super().__init__()
        self.first, self.second, self.careful = nn.Linear(8, 8), nn.Linear(8, 2), careful

    def forward(self, x):
        hidden = F.relu(self.first(x))
        if self.careful and not torch.isfinite(hidden).all():
            raise ValueError("a hidden value is not finite")
        return self.second(hidden)


def compiled_graphs(model, lengths, **options):
    """How many graphs are compiled while the model gets batches of these lengths. Nothing is generated: it only counts."""
    torch._dynamo.reset()
    made = []

    def counting(graph, examples):
        made.append(graph)
        return graph.forward

    fast = torch.compile(model, backend=counting, **options)
    for length in lengths:
        fast(torch.randn(length, 8))
    return len(made)


many = range(3, 19)
counts = {
    "one length": compiled_graphs(Small(), [4] * 16, dynamic=False),
    "16 lengths, dynamic=False": compiled_graphs(Small(), many, dynamic=False),
    "16 lengths, as it comes": compiled_graphs(Small(), many),
    "16 lengths, dynamic=True": compiled_graphs(Small(), many, dynamic=True),
    "one length, with a check inside": compiled_graphs(Small(careful=True), [4] * 16, dynamic=False),
}
for name, count in counts.items():
    print(f"{name:34} {count} compiled")
shapes.reveal()

# %% [proof] compile-proof
limit = counts["16 lengths, dynamic=False"]
second_try = counts["16 lengths, as it comes"] == 2
cut_in_two = counts["one length, with a check inside"] == 2
assert counts["one length"] == counts["16 lengths, dynamic=True"] == 1 and second_try and cut_in_two

# %% [folded] compile-read
# After the run: count before you measure
#
# As it comes, torch compiles for the first length, sees a second one, and makes the {second graph for any length = second_try}. A check that somebody put inside for safety {cuts the graph in two = cut_in_two}. All of
# it is the same on every machine, so it can stand in a test, which a number of seconds cannot. `torch._dynamo.explain(model)(inputs)` tells each cut with its line; bugzoo's instrument for it is `compiled_graphs`.
#
# Whether compiling pays is another question: it costs seconds once and saves some part of each step. Divide, and you have the number of steps from which it pays; for the small programs of this course it is more than they make.

# %% [markdown] break-text
# ## Break it yourself
#
# The starved run, with sliders.
#
# - `size` is the side of the reduced picture. With 32, what becomes of the model's part, what of the fetching, and what of the share?
# - Does a larger batch help? Work out what you expect before you press Run.

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("image_pipeline", ("speed/starved_loader",), {"epochs": 1}), settings=("seed", "size", "batch_size")
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"A model that guesses the next word. Last week I hunted a nan in it, found it, mended it, and everything is as it was, each loss to the last digit. Only
# the evening run is not through by morning any more. Nothing waits for data: the batches lie in memory."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = replace(lab.case("16/second"), settings={"epochs": 2})  # long enough to see it
turn_run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                    the program; lines count from 1
#   turn_run.trace.forward_ms[:10], turn_run.trace.backward_ms[:10]     which part of a step?
#   numbers_asked(lambda: ...)                              your own instrument

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
assert np.array_equal(turn_run.trace.loss, second.healthy().run().trace.loss)
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "set_detect_anomaly" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said
slow = [numbers["ratio"] for numbers in claims.read("anomaly_mode_slow")["numbers"].values()]
slow_least, slow_most = min(slow), max(slow)

# %% [folded] turn-read
# After you have handed in: a tool that was left in the wound
#
# Anomaly mode notes for every operation where in Python it was called, and looks at every gradient for nan. Measured on this course's programs it makes a step {1.4 = slow_least} to {7.4 = slow_most} times as long: most where many
# small operations make the step, least where few large ones do (`bugzoo claims` has the table). No loss tells of it. Use it as a `with` block around the step that you hunt in, and it cannot be left on.

# %% [check] recap_check
# The GPU's utilisation is at a fifth. What do you do first?
#
# ( ) Set num_workers to the number of processors
#     it may help, it may make it slower, and either way you know no more than before.
# (x) Measure which part of a step is waiting, with the GPU synchronised at both ends of what you measure
#     yes. Fetching, numbers that are fetched, many small operations, a model that is too small for the GPU: four causes, four cures.
# ( ) Compile the model
#     what is compiled is the model's part. If four fifths are not the model's, the most that it can bring is a fifth.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 16` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="16")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Ask whose time it is before you make anything faster.** What is not the bottleneck brings at most its own share. *Fails when* two parts overlap: then the longer one hides the other.
# 2. **Work that is left undone beats work that is moved.** Remember, prepare once, make it smaller; then add workers, as many as the formula says. *Fails when* each epoch must see something new, as with augmentation.
# 3. **Count what makes Python wait.** Fetch numbers together, and seldom. *Fails when* the number decides what comes next; then it has to be known.
# 4. **A compiler's cuts and recompilations are counts,** and counts can be tested. *Fails when* the counts are fine and it is slow all the same; then only a profile helps.
#
# **Next:** repair one yourself: [exercise 46, *the same losses, and later at home*](../exercises/46_evenings.ipynb), find
# [a gap in the middle of the bar](../exercises/47_a_gap.ipynb), and break one:
# [exercise 48, *the long way to the model*](../exercises/48_the_long_way.ipynb). What is handed in is judged by what your program does. The same
# instruments work on your own script, without changing it: `bugzoo checkup train.py`.
