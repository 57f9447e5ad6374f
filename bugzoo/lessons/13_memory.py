"""Lesson 13: a run that dies at night, a run that never begins, and what each of them kept."""

# %% [case] incident
# mini_transformer memory/outputs_kept

# %% [case] second
# checkpointed_mlp memory/optimizer_state_ignored

# %% [markdown] title
# # 13 · Memory
#
# Memory runs out in two ways. A run that ends at its first step was planned too large; a run that ends after hours keeps something that it
# should have let go. They ask for opposite repairs, and the usual advice mixes them up. In this lesson you count what a training step
# keeps, byte by byte and without a profiler, write the detector that finds what becomes more, and try out the advice.
#
# You need about {55 = minutes} minutes, and to know what `backward()` does. After *What the list really costs* is a good place for a pause. No GPU is
# needed: what a graph keeps is the same on both, and the few things that CUDA adds have a cell of their own.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import copy
import gc
import weakref

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import bugzoo
from bugzoo import lab
from bugzoo.running import run_here

MIB = 2**20

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("13")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Friday, 07:50.* "Third night in a row. The character model has 2 GiB for itself, it starts, it learns, and somewhere around step
# > {11,000 = dies_at} of 20,000 the process is gone. In the first ten minutes, when I look, nothing is wrong. I have put `gc.collect()` behind every step
# > and `empty_cache()` behind that. Tonight I take half the batch. It is the only number that I know for this."
#
# A transformer of two blocks, Adam, batches of 16 windows of 32 characters. We do not have a night. We do not need one either:
# what is gone after ten thousand steps is a little less after each of them.

# %% [predict] curves
# A healthy twin is trained with the same seed and the same batches. How do the losses of this run differ from the twin's?
#
# ( ) They drift apart, as memory becomes scarce
#     Memory is there or it is not. A number that could be stored is stored right.
# (x) Not at all, to the last bit
#     What is kept too long takes part in nothing. That is why no curve ever shows it.
# ( ) They are the same until the last steps before the end
#     The last step is as right as the first. Then the process is gone.

# %% live
incident = lab.case("13/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("all losses equal the twin's, to the last bit:", np.array_equal(trace.loss, healthy.loss))
print("memory of the process (MiB)   this run   twin")
for step in (1, 26, 51, 101):  # now and then is often enough: asking takes time
    print(f"step {step:4} {trace.memory_mib[step - 1]:28.0f} {healthy.memory_mib[step - 1]:6.0f}")
curves.reveal()

# %% [proof] numbers-proof
assert np.array_equal(trace.loss, healthy.loss) and len(trace.loss) == 120
each_step = 16 * 32 * 96 * 4
dies_at = 0.9 * 2**31 / each_step, 1.1 * 2**31 / each_step
assert [tuple(one.shape) for one in view.result.namespace["outputs"]] == [(16 * 32, 96)] * 120

# %% [markdown] ends-text
# ## Two ways to run out
#
# The column above is the memory of the whole process: Python, torch's own, what the allocator holds in reserve, two runs in one kernel. It wobbles by
# megabytes for reasons that are nobody's fault. It is a witness who was there and remembers little. Before you count properly, though, the time
# of death alone tells you something.

# %% [predict] when
# Two colleagues have the same message, *out of memory*. One run ends at step 1, the other at step 11,000. What do they have in common?
#
# ( ) The batch is too large, in one case by much and in the other by little
#     A step needs what it needs. If step 1 fits, step 11,000 fits as well, unless something has become more in between.
# (x) Nothing but the message
#     The first is a budget: one step wants more than there is. The second is a leak: each step leaves something behind.
# ( ) A leak, in one case a fast one
#     Before the first step there was nobody who could have left anything.

# %% when-run
print(
    "steps made:", len(trace.loss), "  largest reading of the twin at step", int(np.nanargmax(healthy.memory_mib)) + 1
)
when.reveal()

# %% [markdown] kept-text
# ## The budget of one step
#
# Begin with the honest part, what a healthy step needs. Four things are there at once when `backward()` begins or a step later: the **parameters**,
# a **gradient** of the same size, what the **optimiser** remembers (Adam: two numbers for each parameter), and the **activations**, all that the
# forward pass noted down because the backward pass will ask for it.
#
# The first three you can add up with `numel() * element_size()`. The fourth is said to need a profiler. It does not: inside of
# `with torch.autograd.graph.saved_tensors_hooks(pack, unpack):` every tensor that is noted for the way back goes through `pack(tensor)`, and what you return comes
# back through `unpack`. Two things make a naive sum wrong: the same memory may be noted several times, as several views
# (`tensor.untyped_storage()` has a `data_ptr()` and its `nbytes()`), and parameters are noted as well, which are there anyway.
#
# **Write it:** the bytes that `call()` keeps for a backward pass, each piece of memory once, those of the tensors in `besides` left out.


# %% [task] kept_bytes
def kept_bytes(call, besides=()):
    """Bytes of the memory that call() keeps for backward, each piece once, without the memory of the tensors in `besides`."""
    ...  # your code


# %% try-kept
kept_bytes = lab.try_out("13/kept_bytes", kept_bytes)


# %% [solution] kept_bytes
def kept_bytes(call, besides=()):
    """Bytes of the memory that call() keeps for backward, each piece once, without the memory of the tensors in `besides`."""
    known = {tensor.untyped_storage().data_ptr() for tensor in besides}
    noted, alive = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            noted[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)  # memory that is given back may be given out again, under the same address
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = call()
    del result
    return sum(noted.values())


# %% [judge] kept_bytes
import torch
from torch import nn


def judge(answer):
    torch.manual_seed(0)
    x, weight = torch.randn(8, 4), torch.randn(4, 4, requires_grad=True)
    layer = nn.Linear(4, 4)

    def tried(call, besides, wanted, what):
        gave = answer(call, besides)
        return gave == wanted, f"{what}: {wanted} bytes, yours says {gave}"

    yield tried(lambda: (x @ weight).sum(), [weight], 128, "a product keeps its input, 8 x 4 numbers")
    yield tried(lambda: (x @ weight).sum(), [x, weight], 0, "the same, and the input is there anyway")
    yield tried(lambda: (x @ weight).exp().sum(), [weight], 256, "and exp keeps its result")

    def twice():
        hidden = (x @ weight).exp()
        return (hidden.view(4, 8) * 2).sum() + hidden.t().square().sum()

    yield tried(twice, [weight], 256, "the same memory, noted as two views")
    with torch.no_grad():
        yield tried(lambda: layer(x).exp().sum(), [], 0, "nobody wants a gradient")
    yield tried(lambda: layer(x).relu().sum(), list(layer.parameters()), 256, "a linear layer and a ReLU")

    def let_go():
        for _ in range(5):
            (x @ weight).exp().sum()
        return (x @ weight).exp().sum()

    gave = answer(let_go, [weight])
    yield gave >= 256, f"six passes: 256 bytes or more, yours says {gave}"


def with_numbers(call, besides=()):
    """The memory's pieces by their address, in a plain loop over a list."""
    pieces = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: pieces.append(t) or t, lambda t: t):
        kept = call()
    there = [one.untyped_storage().data_ptr() for one in besides]
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in pieces}
    assert kept is None or kept is not None
    return sum(size for place, size in sizes.items() if place not in there)


def naive(distinct=True, leave_out=True, storage=True):
    def made(call, besides=()):
        known, noted = {one.untyped_storage().data_ptr() for one in besides}, []

        def pack(tensor):
            place = tensor.untyped_storage().data_ptr()
            if not (leave_out and place in known):
                size = tensor.untyped_storage().nbytes() if storage else tensor.numel() * tensor.element_size()
                noted.append((place if distinct else len(noted), size))
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            call()
        return sum(dict(noted).values())

    return made


RIGHT = {"a list, then a dict": with_numbers}
LAZY = {
    "views counted twice": naive(distinct=False),
    "parameters counted": naive(leave_out=False),
    "the result's own size": lambda call, besides=(): call().untyped_storage().nbytes(),
    "nothing": lambda call, besides=(): 0,
}

# %% [predict] largest
# The incident's healthy twin: {0.44 = mib_weights} MiB of parameters, batches of 16. Which of the four parts is the largest?
#
# ( ) The optimiser's memory: Adam keeps two numbers for each parameter
#     That is twice the parameters. There is something that does not depend on the parameters at all.
# (x) The activations, by far
#     Each of 512 places notes queries, keys, weights, four times as wide hidden layers, in each block. This is what a batch costs.
# ( ) Parameters and gradients together
#     They are what one thinks of first, because `sum(p.numel() ...)` is easy to type.

# %% largest-run
own = view.objects
model, batch, codes = copy.deepcopy(own["model"]), own["batch"], own["train_codes"]
state = [one for kept in own["optimizer"].state.values() for one in kept.values() if torch.is_tensor(one)]


def size_of(tensors):
    return sum(one.numel() * one.element_size() for one in tensors) / MIB


def loss_on(rows):
    """A function that makes one loss on so many rows; model and rows stay what they are."""
    inputs, targets = batch(codes, rows)
    return lambda: F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


weights, remembered = size_of(model.parameters()), size_of(state)
print("rows   parameters   gradients   optimiser   activations (MiB)")
parts = {}
for rows in (1, 4, 16, 64):
    noted = (kept_bytes(loss_on(rows), list(model.parameters())) or 0) / MIB
    parts[f"batch of {rows}"] = {
        "parameters": weights, "gradients": weights, "optimiser": remembered, "activations": noted
    }  # fmt: skip
    print(f"{rows:4} {weights:12.2f} {weights:11.2f} {remembered:11.2f} {noted:12.2f}")
largest.reveal(f"{parts['batch of 16']['activations']:.1f} MiB of activations for 16 rows")

# %% largest-figure
from bugzoo.plots import budget

lab.picture(budget.picture(parts))

# %% [proof] largest-proof
mib_weights = weights
noted_by = {bar: sizes["activations"] for bar, sizes in parts.items()}
mib_sixteen, mib_one = noted_by["batch of 16"], noted_by["batch of 1"]
per_row_same = abs(noted_by["batch of 64"] / 64 - mib_one) < 0.01 * mib_one
eleven_times = 10.5 < mib_sixteen / weights < 12.5
assert 1.95 < remembered / weights < 2.05

# %% [folded] largest-read
# After the run: two kinds of bytes
#
# {4.97 = mib_sixteen} MiB of activations, {eleven times = eleven_times} the parameters. And they grow with the batch: {0.31 = mib_one} MiB for each row,
# {with one row as with sixty-four = per_row_same}. The other three do not care what you feed them.
#
# So a budget that is too small has two different cures. If the fixed part does not fit, no batch size in the world helps: take a smaller model, a leaner
# optimiser, or several machines. If the part that grows does not fit, everything else may stay as it is. Which one it is, a plan
# of four additions tells before the first run.

# %% [predict] evaluating
# The evaluation of a model calls `model.eval()`. What does its forward pass keep for a backward pass that never comes, 16 rows at a time?
#
# ( ) Nothing: `eval()` says that nobody trains
#     It says how dropout and batch normalisation behave. Autograd does not ask it.
# (x) The same {4.97 = mib_sixteen} MiB, to the byte
#     Only `torch.no_grad()` or `torch.inference_mode()` tells autograd that nobody will come back.
# ( ) About half: it notes the results and no gradients
#     There are no gradients in either case yet. What is noted are the numbers that they would need.

# %% evaluating-run
sixteen = loss_on(16)
model.eval()
print("eval():       ", kept_bytes(sixteen, list(model.parameters())), "bytes")
with torch.no_grad():
    print("and no_grad():", kept_bytes(sixteen, list(model.parameters())), "bytes")
model.train()
evaluating.reveal()

# %% [proof] evaluating-proof
model.eval()
assert kept_bytes(sixteen, list(model.parameters())) == round(mib_sixteen * MIB)
model.train()

# %% [markdown] leak-text
# ## What becomes more?
#
# Back to the night. This run's first step fits, so the budget is fine, and something is left behind by each step. Do not guess what:
# let it tell its own size. `gc.get_objects()` lists all objects that Python's collector knows, tensors among them; whoever leaks is there once
# more after each step.
#
# Three things make such a count lie. Garbage in a circle lives until `gc.collect()`, and is no leak. The first step makes things that stay for good (Adam's memory),
# and is no leak either. And what lives by chance while you look should not count: a leak is there *every* time.
#
# **Write it:** call `step()` once so that all is in place, then `times` more; return the shapes of which each call has left at least one more tensor behind.


# %% [task] more_of
def more_of(step, times=5):
    """{shape as a tuple: tensors more a call} for each shape of which step() leaves at least one behind at every call."""
    ...  # your code; issubclass(type(one), torch.Tensor) asks an object without waking it


# %% try-more
more_of = lab.try_out("13/more_of", more_of)


# %% [solution] more_of
from collections import Counter


def more_of(step, times=5):
    """{shape as a tuple: tensors more a call} for each shape of which step() leaves at least one behind at every call."""

    def shapes():
        gc.collect()
        return Counter(tuple(one.shape) for one in gc.get_objects() if issubclass(type(one), torch.Tensor))

    step()
    before = shapes()
    for _ in range(times):
        step()
    more = shapes()
    more.subtract(before)
    return {shape: count / times for shape, count in more.items() if count >= times}


# %% [judge] more_of
import gc
from collections import Counter

import torch


def judge(answer):
    keep, table = [], {}
    weights = torch.zeros(
        3, 7, requires_grad=True
    )  # one, made once: a graph keeps its leaves, and they would be counted too

    def outputs():
        keep.append(weights * 2)

    def scalars():
        keep.append(weights.sum())
        keep.append(weights.mean())

    def overwritten():
        table["last"] = torch.zeros(2, 13)

    def first_only():
        if "state" not in table:
            table["state"] = [torch.zeros(4, 17) for _ in range(20)]

    def circle():
        one = {"numbers": torch.zeros(6, 19)}
        one["self"] = one

    def tried(step, wanted, what):
        gave = answer(step, 4)
        gave = gave if gave is None else {tuple(shape): float(count) for shape, count in dict(gave).items()}
        return gave == wanted, f"{what}: {wanted}, yours says {gave}"

    yield tried(outputs, {(3, 7): 1.0}, "a list of outputs")
    yield tried(lambda: (outputs(), overwritten()), {(3, 7): 1.0}, "and something that is written over")
    yield tried(overwritten, {}, "written over, nothing kept")
    yield tried(first_only, {}, "made at the first call, for good")
    gc.disable()
    try:
        yield tried(circle, {}, "circles, which the collector may take")
    finally:
        gc.enable()
    gave = answer(scalars, 4) or {}
    count = {tuple(shape): one for shape, one in dict(gave).items()}.get((), 0)
    yield count == 2, f"two losses at each call: 2 of shape (), yours says {count:g}"


def by_identity(step, times=5):
    def there():
        gc.collect()
        return [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]

    step()
    held = there()  # kept alive: an identity of what is gone is given to another one
    old = {id(one) for one in held}
    for _ in range(times):
        step()
    new = Counter(tuple(one.shape) for one in there() if id(one) not in old)
    return {shape: count / times for shape, count in new.items() if count >= times}


def lazy(collect=True, warm=True, every=True):
    def made(step, times=5):
        def shapes():
            if collect:
                gc.collect()
            return Counter(tuple(one.shape) for one in gc.get_objects() if issubclass(type(one), torch.Tensor))

        if warm:
            step()
        before = shapes()
        for _ in range(times):
            step()
        after = shapes()
        least = times if every else 1
        return {s: (after[s] - before[s]) / times for s in after if after[s] - before[s] >= least}

    return made


RIGHT = {"new ones by identity": by_identity}
LAZY = {
    "nothing collected": lazy(collect=False),
    "no first call": lazy(warm=False),
    "nothing": lambda step, times=5: {},
    "all that is there": lambda step, times=5: dict(
        Counter(tuple(one.shape) for one in gc.get_objects() if issubclass(type(one), torch.Tensor))
    ),
}

# %% more-run
sound = lab.LiveView(incident.healthy(), pause_at=10, show_twin=False).start()
sound.wait_pause()
print("the twin:", more_of(lambda: sound.advance(1)))
sound.stop()
stand = lab.LiveView(incident, pause_at=10, show_twin=False).start()
stand.wait_pause()
leaves = more_of(lambda: stand.advance(1))
print("this run:", leaves)
stand.stop()

# %% [proof] more-proof
assert leaves[(512, 96)] == 1 and (5056,) in leaves

# %% [check] shape
# One shape is left behind by both: (5056,). It is the state of torch's random generator, which bugzoo notes at each step so that it can rewind
# this run. The other one is new: (512, 96). What is it?
#
# ( ) A gradient: 512 of 96
#     a gradient has the shape of a parameter. No parameter of this model has 512 rows: look at what the batch is.
# (x) The model's answers: 16 windows of 32 places, a number for each of 96 characters
#     yes. Someone keeps whole answers, one table a step. Where one finds (512, 96) in the code, one finds the line.
# ( ) The activations of a block
#     their last axis would be the width, 64, or four times that.

# %% [markdown] instrument-text
# The instruments that do both over a whole run, and what was done to the healthy program:

# %% instrument
from bugzoo.diagnostics import held_tensors, memory_audit

for one in (memory_audit, held_tensors):
    print(one.judge(one.measure(view.result)).message, "\n")
print(incident.diff())

# %% [proof] instrument-proof
assert held_tensors.judge(held_tensors.measure(view.result)).suspects[0].cause == "memory/outputs_kept"
assert memory_audit.judge(memory_audit.measure(view.result)).fired

# %% [markdown] advice-text
# ## The advice
#
# Somebody wanted the accuracy over the epoch, and appended the answers to a list. Ask around what to do, and you hear five things.

# %% [predict] advice
# Which of these leaves nothing that grows? `gc.collect()` and `empty_cache()` behind each step; half the batch; `outputs.append(logits.detach())`; keep the number of right answers.
#
# ( ) The first and the last two
#     The collector takes what nobody can reach. A list is the very thing that can be reached.
# ( ) The last two: without its graph an answer is small
#     Without its graph it is {0.19 = mib_list_step} MiB. With it, it was hardly more.
# (x) The last one only
#     It keeps what is wanted, one whole number a step. All others keep answers.

# %% advice-run
keeps = "outputs.append(logits.flatten(0, 1))"
assert incident.source.count(keeps) == 1
CLEAN = "    optimizer.step()\n    import gc; gc.collect(); torch.cuda.empty_cache()\n"
ways = {
    "as it is": incident.source,
    "collected each step": incident.source.replace("    optimizer.step()\n", CLEAN),
    "half the batch": incident.source.replace("batch_size = 16", "batch_size = 8"),
    "detached": incident.source.replace(keeps, "outputs.append(logits.detach().flatten(0, 1))"),
    "right answers": incident.source.replace(keeps, "outputs.append((logits.argmax(-1) == targets).sum().item())"),
}
tried = {}
gc.freeze()  # what this notebook holds already is not looked through 120 times: that alone would take half a minute
print("                      graphs kept   MiB in the list   rows seen")
for name, text in ways.items():
    run = run_here(text)
    held = sum(one.untyped_storage().nbytes() for one in run.namespace["outputs"] if torch.is_tensor(one)) / MIB
    graphs = memory_audit.measure(run)["graphs_kept"]
    rows = len(run.trace.loss) * run.namespace["batch_size"]
    tried[name] = graphs, held, rows
    print(f"{name:21} {graphs:11.0f} {held:17.1f} {rows:11}")
gc.unfreeze()
advice.reveal()

# %% [proof] advice-proof
assert tried["collected each step"][1] == tried["as it is"][1] and tried["collected each step"][0] > 40
assert tried["detached"][1] == tried["as it is"][1] and tried["detached"][0] == 0
assert tried["right answers"][1] == 0 and tried["right answers"][0] == 0
per_row = {name: held / rows for name, (_, held, rows) in tried.items()}
same_per_row = abs(per_row["half the batch"] - per_row["as it is"]) < 1e-6
mib_list_step = tried["as it is"][1] / 120
mib_list = tried["as it is"][1]
half_dies_at = 1.8 * 2**31 / each_step, 2.2 * 2**31 / each_step

# %% [folded] advice-read
# After the run: five ways to go on leaking
#
# **Collecting** changes nothing: the list is no garbage. `empty_cache()` gives back to the driver what nobody uses; what somebody uses it cannot touch.
#
# **Half the batch** leaves half as much at each step, and needs twice as many steps: per row seen it is {the same to the last byte = same_per_row}. The run
# dies at step {22,000 = half_dies_at} in place of 11,000. It is the same night.
#
# **`detach()`** is what everybody says. It does let the graphs go, and the list is as long and as heavy as before: {22.5 = mib_list} MiB. So was the graph nothing?

# %% [predict] empty
# A list keeps one answer of each training step, with its graph. `backward()` has been through that graph. How much of the {4.97 = mib_sixteen} MiB does the graph still hold?
#
# ( ) All of it: a graph that is alive keeps what it noted
#     So it is said, and so it would be without the `backward()`.
# ( ) About half
#     There is no half-way. What backward has passed, it has let go.
# (x) Nothing
#     backward() empties each node as it passes. What stays is a chain of small empty objects.


# %% empty-run
class Note:
    """What a graph holds in place of the tensor; it lives as long as the graph wants it."""

    def __init__(self, tensor):
        self.tensor = tensor


def still_held(backward=None):
    """MiB that the graph of a kept answer still holds after `backward(loss)`; weights left out."""
    known, notes = {one.data_ptr() for one in model.parameters()}, []

    def pack(tensor):
        note = Note(tensor)
        notes.append((weakref.ref(note), tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()))
        return note

    inputs, targets = batch(codes, 16)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda note: note.tensor):
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    outputs = [logits]  # the list
    if backward is not None:
        backward(loss)
    del loss, logits
    gc.collect()
    held = {place: size for note, place, size in notes if note() is not None and place not in known}
    model.zero_grad()
    assert outputs
    return sum(held.values()) / MIB


after = {
    "training, after backward()": still_held(lambda loss: loss.backward()),
    "evaluation without no_grad, never backward()": still_held(),
    "backward(retain_graph=True)": still_held(lambda loss: loss.backward(retain_graph=True)),
}
for name, held in after.items():
    print(f"{name:46} {held:.2f} MiB")
empty.reveal()

# %% [proof] empty-proof
trained, never, twice_asked = after.values()
assert trained == 0 and never > 0.9 * mib_sixteen and twice_asked > 0.9 * mib_sixteen
times_dearer = 20 < never / mib_list_step < 32

# %% [folded] empty-read
# After the run: What the list really costs
#
# After `backward()` the graph is an empty house. A list of answers costs their own size, {0.19 = mib_list_step} MiB here, and a list of *losses* next to nothing for each
# step; both kill a run in the end, one in a night and the other in a month.
#
# The same list in an *evaluation* is another matter. Without `no_grad()` and without a `backward()` each answer keeps all that its forward pass noted:
# {about twenty-five times = times_dearer} as much for each batch. So the same mistake ends a run in its third week or in its first evaluation, and it is the presence of a `backward()` that decides.

# %% [markdown] live-text
# ## Mend it while it runs
#
# Once more to its 60th step. What it needs is the number of right answers, so put something in the list's place that counts and keeps nothing else.

# %% mend-run
stand = lab.LiveView(incident, pause_at=60, show_twin=False).start()
stand.wait_pause()
names = stand.objects


class RightAnswers(list):
    def append(self, logits):
        super().append(int((logits.argmax(-1) == names["targets"].flatten()).sum()))


print("in the list until now:", f"{size_of(names['outputs']):.1f} MiB")
names["outputs"] = RightAnswers()
print("left behind by a step:", more_of(lambda: stand.advance(1)))
stand.resume()
stand.wait(120)
print("ended:", stand.result.trace.metrics, "\ntwin: ", healthy.metrics)
share = sum(names["outputs"]) / (512 * len(names["outputs"]))
print(f"right answers in training, from the list: {share:.3f}")

# %% [proof] mend-proof
assert stand.result.trace.metrics == healthy.metrics
assert all(isinstance(one, int) for one in names["outputs"]) and 0.2 < share < 0.4
assert names["losses"] == view.objects["losses"]

# %% [markdown] parts-text
# ## When the budget is too small
#
# Now the other kind. Suppose that 16 rows do not fit and 4 do, and that you want the training which 16 rows give. The gradient of a mean over 16 rows is the mean
# of four gradients of 4 rows, so go through them one after the other and let `.grad` add up. `backward()` behind *each* part is what makes it cheap.
#
# **Write it:** leave in every parameter's `.grad` what `loss_of(model(inputs), targets).backward()` would leave for the whole batch, with at most `rows` rows in the
# model at a time. `loss_of` is a mean over its rows. The last part may be shorter than the others.


# %% [task] in_parts
def in_parts(model, loss_of, inputs, targets, rows):
    """Each parameter's .grad is the whole batch's, whatever was there before; the model sees at most `rows` rows at once."""
    ...  # your code


# %% try-parts
in_parts = lab.try_out("13/in_parts", in_parts)


# %% [solution] in_parts
def in_parts(model, loss_of, inputs, targets, rows):
    """Each parameter's .grad is the whole batch's, whatever was there before; the model sees at most `rows` rows at once."""
    model.zero_grad()
    for part, wanted in zip(inputs.split(rows), targets.split(rows), strict=True):
        loss = loss_of(model(part), wanted) * (len(part) / len(inputs))
        loss.backward()


# %% [judge] in_parts
import torch
import torch.nn.functional as F
from torch import nn


def judge(answer):
    torch.manual_seed(0)
    inputs, targets = torch.randn(10, 6), torch.randint(0, 3, (10,))

    def fresh():
        torch.manual_seed(1)
        return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).double()

    inputs = inputs.double()
    for rows in (5, 4, 10, 3):
        whole, model = fresh(), fresh()
        F.cross_entropy(whole(inputs), targets).backward()
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 7.0)
        seen, held, most = [], {}, [0]
        model.register_forward_pre_hook(lambda own, given, seen=seen: seen.append(len(given[0])))

        def pack(tensor, held=held, most=most):
            note = _Note(tensor, held)
            most[0] = max(most[0], sum(held.values()))
            return note

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda note: note.tensor):
            answer(model, F.cross_entropy, inputs, targets, rows)
        pairs = list(zip(whole.parameters(), model.parameters(), strict=True))
        off = max((float((a.grad - b.grad).abs().max()) if b.grad is not None else float("inf")) for a, b in pairs)
        what = f"10 rows, {rows} at a time"
        yield off < 1e-9, f"{what}: gradients off by 0, yours by {off:.3g}"
        yield bool(seen) and max(seen) <= rows, f"    rows at once: at most {rows}, yours {max(seen, default=0)}"
        yield most[0] <= 40 * rows, f"    numbers kept at once: at most {40 * rows}, yours {most[0]}"


class _Note:
    """A noted tensor; of those that live, the numbers for each row are added up."""

    def __init__(self, tensor, held):
        self.tensor, self.held = tensor, held
        if tensor.dim() == 2 and (not tensor.is_leaf or tensor.shape[-1] == 6):
            held[id(self)] = tensor.numel()

    def __del__(self):
        self.held.pop(id(self), None)


def by_sum(model, loss_of, inputs, targets, rows):
    for parameter in model.parameters():
        parameter.grad = None
    for start in range(0, len(inputs), rows):
        part = slice(start, start + rows)
        (loss_of(model(inputs[part]), targets[part]) * len(inputs[part])).backward()
    for parameter in model.parameters():
        parameter.grad /= len(inputs)


def lazy(clear=True, weigh="rows", late=False, whole=False):
    def made(model, loss_of, inputs, targets, rows):
        if clear:
            model.zero_grad()
        total, parts = 0.0, inputs.split(len(inputs) if whole else rows)
        for part, wanted in zip(parts, targets.split(len(inputs) if whole else rows), strict=True):
            share = {"rows": len(part) / len(inputs), "parts": 1 / len(parts), "none": 1.0}[weigh]
            loss = loss_of(model(part), wanted) * share
            if late:
                total = total + loss
            else:
                loss.backward()
        if late:
            total.backward()

    return made


RIGHT = {"a sum, divided at the end": by_sum}
LAZY = {
    "not divided": lazy(weigh="none"),
    "divided by the number of parts": lazy(weigh="parts"),
    "what was there is kept": lazy(clear=False),
    "one backward for all": lazy(late=True),
    "all rows at once": lazy(whole=True),
}

# %% [predict] again
# There is a second way: keep only what goes *into* each block, and compute the inside once more on the way back (`torch.utils.checkpoint`). What does it do to the gradient?
#
# ( ) It is an approximation: what was not kept is estimated
#     Nothing is estimated. The same numbers are computed twice.
# (x) Nothing, to the last bit
#     The second pass makes the same numbers from the same input. What you pay is time: each block runs forward twice.
# ( ) It is exact only without dropout
#     It would be so if the dice fell otherwise the second time. The function puts the random generator back first, unless one forbids it.


# %% again-run
inputs, targets = batch(codes, 16)
blocks_run = []
handles = [block.register_forward_pre_hook(lambda block, given: blocks_run.append(block)) for block in model.blocks]


def with_checkpoints():
    hidden = model.characters(inputs) + model.positions(torch.arange(inputs.shape[1]))
    for block in model.blocks:
        hidden = checkpoint(block, hidden, use_reentrant=False)
    return F.cross_entropy(model.head(model.norm(hidden)).flatten(0, 1), targets.flatten())


def gradients():
    found = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    model.zero_grad()
    return found


def plain_loss():
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def mean_loss(logits, wanted):
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten())


kept, slopes, runs = {}, {}, {}
for name, loss_of in (("as it is", plain_loss), ("a checkpoint round each block", with_checkpoints)):
    kept[name] = (kept_bytes(loss_of, list(model.parameters())) or 0) / MIB
    blocks_run.clear()
    loss_of().backward()
    runs[name], slopes[name] = len(blocks_run), gradients()
if in_parts(model, mean_loss, inputs, targets, 4) is None and model.head.weight.grad is not None:
    kept["four rows at a time"] = (
        kept_bytes(lambda: mean_loss(model(inputs[:4]), targets[:4]), list(model.parameters())) or 0
    ) / MIB
    slopes["four rows at a time"] = gradients()
for handle in handles:
    handle.remove()
for name in kept:
    off = (slopes[name] - slopes["as it is"]).abs().max() / slopes["as it is"].abs().max()
    print(f"{name:32} {kept[name]:5.2f} MiB   gradient off by {off:.1e}   blocks run forward: {runs.get(name, '-')}")
again.reveal()

# %% [proof] again-proof
mib_plain, mib_check, mib_four = kept.values()
assert torch.equal(slopes["as it is"], slopes["a checkpoint round each block"])
assert float((slopes["four rows at a time"] - slopes["as it is"]).abs().max()) < 1e-6
seventh = 6 < mib_plain / mib_check < 8.5
fourth = 3.9 < mib_plain / mib_four < 4.1
assert runs["as it is"] == 2 and runs["a checkpoint round each block"] == 4

# %% [folded] again-read
# After the run: memory for time
#
# Checkpoints take the {4.97 = mib_plain} MiB to {0.70 = mib_check}, {a seventh = seventh} (while one block is gone through again, that block's own notes come on top), and each block runs twice. Four rows
# at a time take {a quarter = fourth}, run nothing twice, and give the gradient up to rounding; but many small products use a GPU worse than a few large ones, and
# a batch normalisation would see four rows in place of sixteen. The first is exact and slower, the second is simple and has one trap. Neither does anything for the fixed part.

# %% [markdown] cuda-text
# ## What CUDA adds
#
# All that was counted here is the same on a GPU: the hooks count tensors, wherever they lie. Three things come on top. PyTorch keeps freed memory in a cache of its own, so `nvidia-smi` shows
# what was *once* needed and not what is; ask `torch.cuda.memory_allocated()`. The cache can be in pieces none of which is large enough; the message then says
# how much is *reserved but unallocated*. And there is a recorder: [a snapshot](https://docs.pytorch.org/docs/stable/torch_cuda_memory.html) shows each block with the stack that asked for it.
# The numbers of this lesson were measured on a CPU; the next cell measures them on your GPU, if there is one. A dated trace of such a run is not
# part of this lesson yet.

# %% cuda-run
if torch.cuda.is_available():
    there = copy.deepcopy(model).cuda()
    rows, wanted = inputs.cuda(), targets.cuda()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    loss = mean_loss(there(rows), wanted)
    print(f"noted by the forward pass: {(torch.cuda.memory_allocated() - before) / MIB:.2f} MiB")
    loss.backward()
    print(f"the highest point: {(torch.cuda.max_memory_allocated() - before) / MIB:.2f} MiB above the start")
    print(f"reserved by the cache: {torch.cuda.memory_reserved() / MIB:.0f} MiB")
else:
    print(
        "No GPU here. With one, this cell would print memory_allocated() around the forward pass, the peak, and the cache."
    )

# %% [markdown] break-text
# ## Break it yourself
#
# The night run, with sliders. The instrument's line stands below the curve when it is done.
#
# - Double `batch_size`: what becomes of the number of graphs that are kept, and what of the bytes?
# - Which of the settings changes what a step leaves behind, and which changes only what it needs for itself?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mini_transformer", ("memory/outputs_kept",)), settings=("seed", "batch_size", "width")
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"I have made our digits network wider. I tried it first: one batch went through, forwards and backwards, and there was room left. The training
# ends before its first loss all the same: it could not allocate {268,435,456 = asked} bytes. So it is the batch. I have taken a quarter of it, and the message is the same."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("13/second")
turn_run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                          the program; lines count from 1
#   print(turn_run.trace.error["traceback"])                      in which call did it end?
#   4 * (64 * 1024 + 1024 * 1024)                                 add up the parts of the budget

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
import re

assert turn_run.outcome == "out_of_memory" and len(turn_run.trace.loss) == 0
asked = int(re.search(r"allocate (\d+) bytes", turn_run.trace.error["message"])[1])
wide = int(np.sqrt(asked / 4))
assert asked == 4 * wide * wide and "optimizer.step()" in turn_run.trace.error["traceback"]
mib_each = asked / MIB
right_line = next(
    number for number, line in enumerate(second.source.splitlines(), 1) if line.startswith("hidden_size =")
)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said

# %% [folded] turn-read
# After you have handed in: the part that comes a step later
#
# {8,192 = wide} x {8,192 = wide} numbers in float32 are {256 = mib_each} MiB: the weights of the wide layer. The trial run showed weights and gradients. Adam makes its two tables at its *first step*, each as large
# again, so the plan was half of what is needed. A smaller batch changes the part that grows, and here it is the fixed part that does not fit. Sixteen
# bytes for each parameter under Adam in float32: write that number down before the first run.

# %% [check] recap_check
# A run ends with *out of memory* in its first evaluation, after an hour of training without trouble. The batches of the evaluation are as large as those of the training. What do you look at first?
#
# ( ) The batch size of the evaluation
#     the same batch went forwards *and* backwards for an hour. One forward pass needs less, if nothing is kept from batch to batch.
# (x) Whether the evaluation runs under no_grad, and what it collects
#     yes. Without a backward pass nothing is let go, so a list of answers keeps all that was noted for each of them.
# ( ) Whether the training leaks, so that the evaluation was only the last straw
#     possible, and quickly told: does the memory rise from step to step, or from batch to batch of the evaluation?

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 13` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="13")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **The time of death tells the kind.** Step 1 is a budget, any later step a leak. *Fails when* batches differ in length: then the longest one decides, and it may come late.
# 2. **Add up four parts before the first run;** only one of them grows with the batch. *Fails when* something outside the step keeps as much: a second model, an average of the weights.
# 3. **Let the leak tell its shape.** Count what becomes more from step to step, after a collection and after a first step. *Fails when* what grows is no tensor, or lies in another process.
# 4. **Keep numbers, not tensors.** `detach()` lets go of the graph and keeps the answers. *Fails when* you need the answers; then count what they cost and put them where there is room.
#
# **Next:** repair one yourself: [exercise 37, *same numbers*](../exercises/37_same_numbers.ipynb), then
# [exercise 38, *after the last epoch*](../exercises/38_after_the_last_epoch.ipynb), and break one: [exercise 39, *it grows*](../exercises/39_it_grows.ipynb). What is
# judged is what your program does. The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
