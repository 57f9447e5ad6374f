"""Lesson 14: errors that say where they were noticed, and shapes that say nothing at all."""

# %% [case] incident
# regression_mlp graph/backward_twice

# %% [case] flat
# digits_cnn shape/flatten_eats_batch

# %% [case] quiet
# sequence_classifier shape/view_instead_of_permute

# %% [case] second
# finetune graph/numpy_round_trip

# %% [markdown] title
# # 14 · Autograd errors and shapes
#
# A run that raises is a run that helps you: it stopped before it did harm, and it says where. In this lesson you learn what such a message
# knows and what it cannot know, write the detector that knows the rest, and see three ways in which the alarm is switched off and the harm
# is done all the same. The second half is about shapes: those that raise, and those that fit.
#
# You need about {64 = minutes} minutes, and to know what `backward()` does. After *Mend it while it runs* is a good place for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import copy
import warnings

import torch
import torch.nn.functional as F
from torch import nn

import bugzoo
from bugzoo import lab
from bugzoo.running import run_here

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("14")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Tuesday, 17:40.* "The loss of our small regression is restless, so I train on a smoothed one. It makes one step and then it raises. The message
# > even says what to do, so I did that, and now it is another message, which says what to do as well. I have been through four of
# > them. The last version raises nothing. It does not learn anything either."
#
# Three linear layers, ten measurements of a patient, Adam. The ticket is the traceback.

# %% live
incident = lab.case("14/incident")
view = lab.live(incident, explain=False)

# %% ticket
error = view.result.trace.error
print(error["traceback"])
print(f"line {error['line']}:", incident.source.splitlines()[error["line"] - 1].strip())

# %% [proof] ticket-proof
trace, healthy = view.result.trace, view.healthy.trace
assert trace.outcome == "crashed" and len(trace.loss) == 1 and "second time" in error["message"]
r2_healthy = healthy.metrics["r2"]

# %% [markdown] ends-text
# ## From which end?
#
# A traceback has three ends, and people read the wrong one. The **last line** is the message. The **last frame** lies deep in torch, and there is
# nothing to repair there. The **last frame in a file of your own** is the place at which something was *noticed*. With a shape this is
# mostly the place where it was done. With autograd it is nearly always the line with `backward()`, which is innocent: the graph was
# built before, in the forward pass, and somebody spoilt it between there and here.
#
# So the line is of no use, and the message is all there is. It says: *Specify retain_graph=True*.

# %% [predict] advice
# You do what the message advises: `backward(retain_graph=True)`. What happens?
#
# ( ) It trains: the graph is kept, and that was what it lacked
#     It is kept. But the graph of step 1 was built with the weights of step 1.
# (x) It raises again, at the same step, with another message
#     The graph is still there, and what it needs is not: the optimiser has overwritten the weights that it remembers.
# ( ) It trains, and needs more and more memory
#     So it would be, if nothing stopped it. You will see such a run below.

# %% advice-run
kept = incident.source.replace("average.backward()", "average.backward(retain_graph=True)")
second_error = run_here(kept).trace.error
print(second_error["message"])
advice.reveal()

# %% [proof] advice-proof
assert kept != incident.source and "inplace operation" in second_error["message"]
assert run_here(kept).outcome == "crashed"

# %% [markdown] hint-text
# The second message has a hint as well: *enable anomaly detection to find the operation that failed to compute its gradient*. In anomaly mode every
# operation of the forward pass notes where it was called. Do that.

# %% [predict] named
# Anomaly mode names a line of the forward pass. Which one?
#
# ( ) The line that changed a tensor in place
#     Read the hint once more: the operation that *failed to compute its gradient*. It is the victim, not the one who did it.
# (x) A line of the model which is right, and which nobody changed
#     It needs the tensor that was changed. Who changed it is nowhere noted: "in there or anywhere later. Good luck!"
# ( ) None: it says only that there is a problem
#     It names one. It is even precise.

# %% named-run
watched_text = kept.replace("import torch\n", "import torch\n\ntorch.autograd.set_detect_anomaly(True)\n", 1)
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    watched_error = run_here(watched_text).trace.error
said_by_torch = "\n".join(str(one.message) for one in heard)
lines = watched_text.splitlines()
numbers = [int(part.split(",")[0]) for part in said_by_torch.split('train.py", line ')[1:]]
for number in numbers:
    print(f"noted: line {number}: {lines[number - 1].strip()}")
print("...", watched_error["message"][-160:])
named.reveal()

# %% [proof] named-proof
assert any("self.head(hidden)" in lines[number - 1] for number in numbers)
assert not any("optimizer.step" in lines[number - 1] for number in numbers)
assert "Good luck" in watched_error["message"]

import json
from pathlib import Path

from bugzoo.proving import ledger

ratios = [one["ratio"] for one in ledger.read("claims", "anomaly_mode_slow")["numbers"].values()]
slow_least, slow_most = round(min(ratios), 1), round(max(ratios), 1)
results = Path(bugzoo.__file__).parents[1] / "tests" / "benchmarks" / "results"
facts = json.loads(sorted(results.glob("crashes_cpu_*.json"))[-1].read_text(encoding="utf-8"))
facts = facts["results"]["all"]
facts_all, facts_plain, facts_checkup = facts["facts"], facts["traceback"], facts["checkup"]
facts_anomaly = facts["with anomaly detection"]

# %% [folded] named-read
# After the run: what anomaly mode tells
#
# It names the line of the *last* layer, `self.head(hidden)`, of the step before. Nothing is wrong there. It is the operation which wanted the
# weight of the head for its gradient and found another one. The hint once promised more: when the version numbers came into the message, it was
# to find ["the forward pass operation which modified it"](https://github.com/pytorch/pytorch/pull/18523), and
# [so it was recommended](https://github.com/pytorch/pytorch/issues/15803). It does not do that.
#
# We took ten crashes and wrote down {34 = facts_all} facts that one needs to repair them. The traceback holds {15 = facts_plain} of them, anomaly mode {16 = facts_anomaly}: one more.
# And it has its price: a step takes {1.4 = slow_least} to {7.4 = slow_most} times as long (`bugzoo claims` has the table). Where it earns its money is `nan`, in lesson 03.

# %% [markdown] versions-text
# ## Versions
#
# How did torch know? Each tensor counts how often it was changed in place: `tensor._version`. When an operation keeps a tensor for its gradient, it
# notes the number; when the gradient is due, it compares. `weight *= 0.9` adds one, `hidden += 1` adds one, `optimizer.step()` adds some to every parameter,
# and `weight = weight * 0.9` adds nothing, as it makes another tensor.
#
# You can listen to this. Inside of `with torch.autograd.graph.saved_tensors_hooks(pack, unpack):` each tensor that is kept goes through `pack(tensor)`, and what you return goes
# through `unpack` when it is needed.
#
# **Write it:** run `forward()`, then hand its result to `meanwhile`, and return those tensors which `forward` kept and `meanwhile` changed.


# %% [task] changed_since
def changed_since(forward, meanwhile):
    """Tensors that were kept while result = forward() ran and whose version is another one after meanwhile(result)."""
    ...  # your code


# %% try-changed
changed_since = lab.try_out("14/changed_since", changed_since)


# %% [solution] changed_since
def changed_since(forward, meanwhile):
    """Tensors that were kept while result = forward() ran and whose version is another one after meanwhile(result)."""
    noted = []

    def pack(tensor):
        noted.append((tensor, tensor._version))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = forward()
    meanwhile(result)
    return [tensor for tensor, version in noted if tensor._version != version]


# %% [judge] changed_since
import torch


def judge(answer):
    weight, inputs = torch.ones(3, 2, requires_grad=True), torch.ones(4, 3)
    kept = {}

    def forward():
        kept["hidden"] = torch.sigmoid(inputs @ weight)  # keeps inputs, weight's inputs, and its own result
        kept["out"] = kept["hidden"] * 2
        return kept["out"]

    def step(result):
        with torch.no_grad():
            inputs.add_(1)

    def early():
        result = forward()
        with torch.no_grad():
            result.add_(1)  # nobody kept this one
        return result

    cases = (
        ("nothing is changed", forward, lambda result: None, []),
        ("its inputs are changed", forward, step, [(4, 3)]),
        ("a result that was kept is changed", forward, lambda result: kept["hidden"].sub_(1), [(4, 2)]),
        ("one that nobody kept is changed", forward, lambda result: kept["out"].mul_(3), []),
        ("a new tensor is made of it", forward, lambda result: kept["hidden"] - 1, []),
        ("changed inside of forward only", early, lambda result: None, []),
    )
    for what, first, then, wanted in cases:
        gave = answer(first, then)
        gave = None if gave is None else [tuple(tensor.shape) for tensor in gave]
        yield gave == wanted, f"{what}: shapes {wanted}, yours {gave}"


def with_lists(forward, meanwhile):
    tensors, versions = [], []

    def pack(tensor):
        tensors.append(tensor)
        versions.append(tensor._version)
        return len(tensors) - 1

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda number: tensors[number]):
        result = forward()
    meanwhile(result)
    return [one for one, version in zip(tensors, versions, strict=True) if one._version > version]


def any_version(forward, meanwhile):
    noted = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: noted.append(t) or t, lambda t: t):
        meanwhile(forward())
    return [tensor for tensor in noted if tensor._version]


def all_kept(forward, meanwhile):
    noted = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: noted.append(t) or t, lambda t: t):
        meanwhile(forward())
    return noted


def result_only(forward, meanwhile):
    result = forward()
    version = result._version
    meanwhile(result)
    return [result] if result._version != version else []


RIGHT = {"two lists": with_lists}
LAZY = {
    "all that were ever changed": any_version,
    "all that were kept": all_kept,
    "the result alone": result_only,
    "none": lambda forward, meanwhile: [],
}

# %% [predict] which
# In the healthy program, ask which tensors of the forward pass are changed by `backward()` and `step()`. How many of its six parameters are among them?
#
# ( ) All six: the optimiser changes all
#     It does. But not all of them are *needed* for a gradient.
# (x) Two
#     To go on downwards, a linear layer needs its weight. A bias only adds, and the first layer has nobody below to whom it would send a gradient.
# ( ) None: this program is healthy
#     They are changed there as well, in each step. It does no harm, as nobody asks that graph again.

# %% which-run
stand = lab.LiveView(incident.healthy(), pause_at=1, show_twin=False).start()
stand.wait_pause()
own = stand.objects


def one_loss():
    return F.mse_loss(own["model"](own["inputs"]), own["targets"])


def one_step(loss):
    loss.backward()
    own["optimizer"].step()


found = changed_since(one_loss, one_step)
owners = {parameter.data_ptr(): name for name, parameter in own["model"].named_parameters()}
names = [owners.get(tensor.data_ptr(), "no parameter") for tensor in found]
print("kept by the forward pass, changed afterwards:", names)
which.reveal()
stand.stop()

# %% [proof] which-proof
assert names == ["layer2.weight", "head.weight"], names

# %% [markdown] instrument-text
# Now you know more than the message: the tensor has a name, and whoever changes *it* between two lines is soon found. It is the optimiser. Not its
# step is wrong, though. Wrong is that a graph lives longer than the weights it was built with. The instrument looks for what the loop carries over:

# %% instrument
from bugzoo.diagnostics import crash

for text in (incident.source, kept):
    verdict = crash.judge(crash.measure(run_here(text)))
    print(verdict.message, "\n")
print(incident.diff())

# %% [proof] instrument-proof
suspects = [crash.judge(crash.measure(run_here(text))).suspects[0].cause for text in (incident.source, kept)]
assert suspects[0] == "graph/backward_twice", suspects
assert "average" in crash.judge(crash.measure(run_here(incident.source))).message

# %% [folded] instrument-read
# After the run: one line more than the traceback
#
# `bugzoo checkup` says this behind every crash: the variable that is carried over from the step before, the module with the shapes on its way in, the line that
# changed a tensor. Of the {34 = facts_all} facts above it holds {34 = facts_checkup}. (They were chosen by the people who wrote it.)

# %% [markdown] silence-text
# ## Three ways to silence it
#
# "Modified by an in-place operation" is the most asked question about autograd. Here are answers that are given to it. A sigmoid's
# result is changed in place, and then its gradient is wanted.

# %% [predict] silenced
# The check compares versions. Your own detector handed each tensor through `pack` and `unpack`, unchanged. What does the check do while somebody listens like that?
#
# ( ) It raises as before: listening changes nothing
#     So one would think. But what comes out of `unpack` is yours, and torch cannot know which version it ought to have.
# (x) Nothing: there is no error, and the gradient is wrong
#     With hooks the check is off. The gradient is computed from numbers that have been overwritten.
# ( ) Nothing, and the gradient is right, as the hooks have kept a copy
#     They kept the same tensor. A copy would help: `tensor.clone()` in pack.


# %% silenced-run
def slope_of(way):
    """The gradient of sum((sigmoid(x w) - 0.5)²), with the subtraction made in some way; or the error."""
    torch.manual_seed(0)
    weight, inputs = torch.randn(3, 4, requires_grad=True), torch.randn(5, 3)
    listening = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    copying = torch.autograd.graph.allow_mutation_on_saved_tensors()
    with listening if way == "with hooks" else copying if way == "with copies" else warnings.catch_warnings():
        hidden = torch.sigmoid(inputs @ weight)
        if way == "a new tensor":
            hidden = hidden - 0.5
        elif way == "through .data":
            hidden.data -= 0.5
        elif way == "through .detach()":
            part = hidden.detach()
            part -= 0.5
        else:
            hidden -= 0.5
        try:
            hidden.square().sum().backward()
        except RuntimeError as error:
            return f"error: {str(error)[:64]}..."
    return weight.grad


true_slope, agree = slope_of("a new tensor"), {}
for way in ("in place", "through .detach()", "through .data", "with hooks", "with copies"):
    slope = slope_of(way)
    if isinstance(slope, str):
        agree[way] = slope
    else:
        agree[way] = F.cosine_similarity(slope.flatten(), true_slope.flatten(), dim=0).item()
    print(
        f"{way:18}",
        agree[way] if isinstance(slope, str) else f"no error; cosine with the true gradient {agree[way]:.2f}",
    )
silenced.reveal()

# %% [proof] silenced-proof
cos_data, cos_hooks = agree["through .data"], agree["with hooks"]
assert isinstance(agree["in place"], str) and isinstance(agree["through .detach()"], str)
assert cos_hooks < -0.5 and abs(cos_data - cos_hooks) < 1e-6 and torch.equal(slope_of("with copies"), true_slope)

# %% [folded] silenced-read
# After the run: no error is no proof
#
# `.data` and listening take the alarm away and leave the fire: the gradient points {the wrong way = wrong_way}, with a cosine of {-0.61 = cos_data}. `.detach()`
# shares the version counter, `.data` has one of its own; that is all the difference between them. One of the answers is right to the last bit:
# `torch.autograd.graph.allow_mutation_on_saved_tensors()` copies whatever is overwritten. The other right one is not to work in place.

# %% [proof] wrong-way
wrong_way = cos_data < 0

# %% [markdown] old-text
# ## An older silence
#
# Until version `1.5` torch's own optimisers changed the weights through `.data`. So *"modified by an in-place operation"* did not come up for weights, and
# `retain_graph=True` with an old graph simply trained. Since it is
# noticed, scripts raise that make a step between two backward passes through one graph, [those of GANs above all](https://github.com/leftthomas/SRGAN/issues/89). The next cell goes back to that time: the incident, with `retain_graph=True` and an SGD that
# writes through `.data`.

# %% [predict] old_world
# Every step goes backwards through the graphs of all steps before, with weights that are no longer those of that time. How does it end?
#
# ( ) It diverges: the gradients are wrong
#     They are wrong by what the weights moved in one step, and that is little; older steps count for less and less.
# ( ) It learns half as well
#     It would be something that one notices.
# (x) As well as the repaired one, and each step is slower than the one before
#     No number that one looks at tells them apart. Only the graph behind the loss grows, step by step.


# %% old-world-run
def nodes(loss):
    """Operations in the graph behind a loss."""
    seen, waiting = set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [before for before, _ in node.next_functions]
    return len(seen)


BY_HAND = """for parameter in model.parameters():
            parameter.data -= 0.15 * parameter.grad"""
detached = incident.source.replace("0.5 * average +", "0.5 * average.detach() +")
old = {}
for name, text in (("graph kept", kept), ("detached", detached)):
    stood = run_here(text.replace("optimizer.step()", BY_HAND).replace("batch_size = 16", "batch_size = 32"))
    loss = stood.namespace["average"]
    old[name] = stood.namespace["metrics"]["r2"], nodes(loss)
    print(f"{name:12} r2 {old[name][0]:.3f}   operations behind the last loss: {old[name][1]}")
old_world.reveal()

# %% [proof] old-world-proof
r2_kept, r2_detached = old["graph kept"][0], old["detached"][0]
nodes_kept, nodes_detached = old["graph kept"][1], old["detached"][1]
assert BY_HAND.count("data") and abs(r2_kept - r2_detached) < 0.03 and min(r2_kept, r2_detached) > 0.35
assert detached != incident.source and nodes_kept > 50 * nodes_detached

# %% [folded] old-world-read
# After the run: a wrong gradient and a right number
#
# An r2 of {0.49 = r2_kept} against {0.50 = r2_detached}, and {1173 = nodes_kept} operations behind the last loss in place of {18 = nodes_detached}. If nothing raised, you would merge it. This is what an error is worth: it
# told of a run that no metric would have told of.

# %% [predict] last_try
# The fourth answer of the incident's author: `average = average.detach().requires_grad_()` in front of `backward()`. It asks for a gradient, so backward() is content. What does it learn?
#
# ( ) As much as the detached one: there is a detach() in it
#     It stands at another place. There it cut off the past, here it cuts off the model.
# (x) Nothing: r2 is about {0.00 = r2_cut}
#     The gradient goes to the loss itself and no further. No parameter has one, and Adam passes over all of them.
# ( ) It raises: a leaf has no graph
#     A leaf that wants a gradient is all that backward() asks for.

# %% last-try-run
cut = incident.source.replace(
    "average.backward()", "average = average.detach().requires_grad_()\n        average.backward()"
)
cut_run = run_here(cut)
print("r2:", round(cut_run.trace.metrics["r2"], 3), "  healthy:", round(view.healthy.trace.metrics["r2"], 3))
print("parameters with a gradient:", sum(p.grad is not None for p in cut_run.namespace["model"].parameters()), "of 6")
last_try.reveal()

# %% [proof] last-try-proof
r2_cut = cut_run.trace.metrics["r2"]
assert abs(r2_cut) < 0.05 and all(p.grad is None for p in cut_run.namespace["model"].parameters())

# %% [markdown] repair-text
# ## Mend it while it runs
#
# What is carried from step to step must be a number without a past. `tensor.detach_()` cuts a tensor off in place. The run stands still after its first step, right
# where its next one would raise; you cut the old average off, let it make a step, and so on.

# %% repair
mending = lab.LiveView(incident, pause_at=1, show_twin=False).start()
mending.wait_pause()
mending.objects["average"].detach_()
while mending.advance():
    mending.objects["average"].detach_()
by_text = run_here(detached).trace.metrics
print("mended while it ran:", mending.result.trace.metrics)
print("mended in the text: ", by_text)

# %% [proof] repair-proof
assert mending.result.trace.metrics == by_text and abs(by_text["r2"] - r2_healthy) < 0.02

# %% [check] carried
# A recurrent network is handed the state that the last batch left, and raises at the second batch: *Trying to backward through the graph a second time*. What is the repair?
#
# ( ) `retain_graph=True`
#     the state was made with weights that the optimiser has overwritten since. You know the next message.
# (x) `state = state.detach()` before the next batch
#     yes: its numbers go on, its past does not. For an LSTM that is both of its tensors.
# ( ) Set the state to zero
#     it runs, and it forgets what it was to remember.

# %% [markdown] shapes-text
# ## Shapes that raise
#
# The loud ones need little. A linear layer multiplies the last axis of what comes, and the message gives both shapes of the product: *what came*, and *what the
# layer is*, turned round. One of the two belongs to the layer. Take the other apart: into batch, channels, height, width.

# %% flat-run
flat = lab.case("14/flat")
flat_run = run_here(flat.source)
print(flat_run.trace.error["message"])
print(flat.source.splitlines()[flat_run.trace.error["line"] - 1].strip() if flat_run.trace.error["line"] else "")

# %% [check] product
# What came is 1 x 4096, the layer takes 128, and a batch has 32 pictures. What happened?
#
# ( ) The layer is too small: it should take 4096
#     then 32 pictures get one answer. And it raises again where the loss is computed, or worse, it does not.
# (x) The batch was flattened too: 32 times 128 is 4096
#     yes. `flatten()` begins at axis 0, `flatten(1)` and `nn.Flatten()` at axis 1.
# ( ) The pictures are larger than they should be
#     then the number would not be 32 times what the layer takes.

# %% [proof] flat-proof
assert "1x4096 and 128x10" in flat_run.trace.error["message"] and 32 * 128 == 4096

# %% [markdown] fitted-text
# Somebody repairs it as one does at night: turns and reshapes until the shapes fit. `flatten().reshape(-1, len(hidden)).T` is (32, 128), as the layer wants it.

# %% [predict] fitted
# All shapes are right, nothing raises. What accuracy will it reach, where {94 % = acc_digits} is healthy?
#
# ( ) {94 % = acc_digits}: the head learns any order of its inputs
#     Within one picture it would: a fixed order is as good as any other. This one takes each row from many pictures.
# ( ) About {80 % = eighty}
#     There is not enough of its own picture left in a row.
# (x) About {8 % = acc_fitted}: guessing
#     A row holds four numbers of each of 32 pictures. The loss compares it with the label of one of them.

# %% fitted-run
fitted_text = flat.source.replace("hidden.flatten()", "hidden.flatten().reshape(-1, len(hidden)).T")
fitted_run = run_here(fitted_text)
sound_run = run_here(flat.healthy().source)
print("reshaped until it fits:", fitted_run.trace.metrics)
print("healthy:               ", sound_run.trace.metrics)
fitted.reveal(f"{fitted_run.trace.metrics['accuracy']:.3f}")

# %% [proof] fitted-proof
acc_fitted, acc_digits, eighty = fitted_run.trace.metrics["accuracy"], sound_run.trace.metrics["accuracy"], 0.8
assert fitted_text != flat.source and fitted_run.outcome == "finished"

# %% [markdown] hears-text
# ## Who hears whom?
#
# A shape says how many numbers there are, and not whose. What tells is the gradient itself: send one backwards from *one* output, and see at which inputs it
# arrives. The answer for picture 3 may depend on picture 3.
#
# One trap: do not send a sum backwards. Outputs that always add up to one (after a softmax, say) have a sum that depends on nothing. Weigh them at random.
#
# **Write it:** the table of who hears whom. Leave no gradient behind in the model.


# %% [task] hears
def hears(call, inputs):
    """(n, n): how strongly output i of call(inputs) depends on input j, as the largest slope; 0 where it does not.

    inputs: (n, ...) floats, the outputs (n, ...). No parameter of a model has another .grad afterwards.
    """
    ...  # your code; torch.autograd.grad(number, inputs, retain_graph=True) returns a tuple


# %% try-hears
hears = lab.try_out("14/hears", hears)


# %% [solution] hears
def hears(call, inputs):
    """(n, n): how strongly output i of call(inputs) depends on input j, as the largest slope; 0 where it does not.

    inputs: (n, ...) floats, the outputs (n, ...). No parameter of a model has another .grad afterwards.
    """
    inputs = inputs.detach().clone().requires_grad_()
    rows = []
    for output in call(inputs):
        (slopes,) = torch.autograd.grad((output * torch.randn_like(output)).sum(), inputs, retain_graph=True)
        rows.append(slopes.flatten(1).abs().amax(1))
    return torch.stack(rows)


# %% [judge] hears
import torch
from torch import nn


class Mixing(nn.Module):
    """A linear layer, and then something."""

    def __init__(self, then):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.then = nn.Linear(3, 4), then

    def forward(self, inputs):
        return self.then(self.layer(inputs))


def judge(answer):
    torch.manual_seed(1)
    inputs, full = torch.randn(4, 3), torch.ones(4, 4)
    for what, then, wanted in (
        ("each row for itself", torch.tanh, torch.eye(4)),
        ("rows that add up to one", lambda x: x.softmax(-1), torch.eye(4)),
        ("a softmax over the rows", lambda x: x.softmax(0), full),
        ("a sum over the rows before", lambda x: x.cumsum(0), full.tril()),
        ("in the opposite order", lambda x: x.flip(0), torch.eye(4).flip(0)),
    ):
        model = Mixing(then)
        gave = answer(model, inputs)
        right = gave is not None and gave.shape == wanted.shape and torch.equal(gave > 1e-9, wanted > 0)
        shown = "nothing" if gave is None else (gave > 1e-9).int().tolist()
        yield right, f"{what}: {wanted.int().tolist()}, yours {shown}"
        left = sum(parameter.grad is not None for parameter in model.parameters())
        yield not left, f"    parameters with a gradient afterwards: 0, yours {left}"


def by_jacobian(call, inputs):
    slopes = torch.autograd.functional.jacobian(call, inputs)
    outputs = slopes.dim() - inputs.dim()
    slopes = slopes.movedim(outputs, 1).flatten(2)
    return slopes.abs().amax(-1)


def by_change(call, inputs):
    with torch.no_grad():
        before, columns = call(inputs), []
        for number in range(len(inputs)):
            other = inputs.clone()
            other[number] += torch.randn_like(other[number])
            columns.append((call(other) - before).flatten(1).abs().amax(1))
    return torch.stack(columns, 1)


def of_sums(call, inputs):
    inputs = inputs.clone().requires_grad_()
    found = [torch.autograd.grad(one.sum(), inputs, retain_graph=True)[0] for one in call(inputs)]
    return torch.stack([slopes.flatten(1).abs().amax(1) * (slopes.flatten(1).abs().amax(1) > 1e-6) for slopes in found])


def by_backward(call, inputs):
    rows = []
    for number in range(len(inputs)):
        again = inputs.clone().requires_grad_()
        out = call(again)[number]
        (out * torch.randn_like(out)).sum().backward()
        rows.append(again.grad.flatten(1).abs().amax(1))
    return torch.stack(rows)


RIGHT = {"the whole Jacobian": by_jacobian, "by changing an input": by_change}
LAZY = {
    "sums": of_sums,
    "gradients left behind": by_backward,
    "turned round": lambda call, inputs: by_change(call, inputs).T,
    "always itself": lambda call, inputs: torch.eye(len(inputs)),
}

# %% hears-run
torch.manual_seed(0)
normalise = sound_run.namespace["normalise"]
pictures = normalise(next(iter(sound_run.namespace["validation_loader"]))[0][:6])
tables = {}
for name, one in (("healthy", sound_run), ("reshaped until it fits", fitted_run)):
    tables[name] = hears(copy.deepcopy(one.namespace["model"]).eval(), pictures) > 0
    print(name, tables[name].int().numpy(), sep="\n")

# %% [proof] hears-proof
assert torch.equal(tables["healthy"], torch.eye(6) > 0) and tables["reshaped until it fits"].all()

# %% [check] training_mode
# You ask the healthy network in training mode, and every answer hears every picture. Why?
#
# ( ) The instrument is wrong
#     it is right. Ask what a layer of this network does with the other pictures of a batch.
# (x) Its batch normalisation: in training mode it takes the mean over the batch
#     yes, on purpose (lesson 09). Ask in evaluation mode, where each picture has to stand alone.
# ( ) Its dropout
#     dropout rolls its dice for each picture apart.

# %% [proof] training-mode-proof
assert (hears(copy.deepcopy(sound_run.namespace["model"]).train(), pictures) > 0).all()

# %% [markdown] quiet-text
# ## The shape that fits
#
# A small attention network sorts film reviews. Somebody shortened it by one call, all shapes are what they were, and the tests are green. Here is the run beside its twin.

# %% [predict] quiet_accuracy
# Numbers now sit in the wrong rows. How far below its twin's will its accuracy be?
#
# ( ) Near guessing, as with the pictures
#     There the rows of different *examples* were mixed. Here it is the words of one review.
# ( ) Some ten points
#     That is what one would like to see of a bug.
# (x) It is not below it
#     With this seed it is a point above, with two others once above and once {below = once_below}: chance. The head takes the mean over the words in any case, so that it matters little in which row a number sits. A metric will not find this one.

# %% quiet
quiet = lab.case("14/quiet")
quiet_view = lab.live(quiet, explain=False)

# %% quiet-run
quiet_run, quiet_twin = quiet_view.result, quiet_view.healthy
print(f"this run {quiet_run.trace.metrics['accuracy']:.3f}, its twin {quiet_twin.trace.metrics['accuracy']:.3f}")
quiet_accuracy.reveal()

# %% [proof] quiet-proof
both = {0: (quiet_run.trace.metrics["accuracy"], quiet_twin.trace.metrics["accuracy"])}
for other_seed in (1, 2):
    couple = [bugzoo.Scenario(quiet.program, faults, seed=other_seed) for faults in (quiet.faults, ())]
    both[other_seed] = tuple(one.run().trace.metrics["accuracy"] for one in couple)
once_below = [ours_then > twin_then for ours_then, twin_then in both.values()] == [True, True, False]
assert all(abs(ours_then - twin_then) < 0.05 for ours_then, twin_then in both.values())

# %% [markdown] words-text
# Ask the attention itself: twelve places, of which five hold words and seven are padding. Each place puts the question (so it hears itself), and what it hears besides has to be words.

# %% words-run
from bugzoo.plots import attention_map

torch.manual_seed(0)
places, real = torch.randn(12, 32), 5
mask = (torch.arange(12) < real).view(1, 1, 1, 12)
may_hear = (torch.arange(12) < real).expand(12, 12) | (torch.eye(12) > 0)
maps = {}
short = bugzoo.Scenario(
    quiet.program, settings={"reviews": 600, "epochs": 1}
)  # who hears whom is no matter of training
for name, one in (("this run", quiet_view.objects), ("its twin", run_here(short.source).namespace)):
    attention = copy.deepcopy(one["model"]).eval().blocks[0].attention
    table = hears(lambda rows, attention=attention: attention(rows[None], mask)[0], places)
    maps[name] = table / table.sum(1, keepdim=True)
lab.picture(attention_map.picture(maps, may_hear, "share of the slope"))
leaks = {name: int(((table > 0) & ~may_hear).any(1).sum()) for name, table in maps.items()}
print("places that hear padding other than themselves:", leaks)

# %% [check] pattern
# In the left picture place 1 hears the places 4 to 7, which are padding. There are four heads and twelve places. Where does a four come from?
#
# ( ) Each place looks four places ahead
#     then place 2 would begin at 6. It begins at 8, and place 3 begins at 0 again.
# (x) A row was filled with four neighbours of one head, in place of one neighbour with four heads
#     yes. Behind (heads, places, size) in memory the next numbers are those of the next *place*. Read on as (places, width), twelve rows hold three rows of four for each head.
# ( ) The mask is four places too long
#     then all places would hear the same padding. Each hears another part.

# %% quiet-reveal
from bugzoo.diagnostics import dependency

print(dependency.judge(dependency.measure(quiet_run)).message)
print(quiet.diff())

# %% [proof] words-proof
assert leaks["its twin"] == 0 and leaks["this run"] >= 6
assert (maps["this run"][1, 4:8] > 0).all() and (maps["this run"][2, 8:] > 0).all()
leak_size = dependency.measure(quiet_run)["padding_leak"]
assert leak_size > 0.05 and dependency.judge(dependency.measure(quiet_run)).fired

# %% [folded] quiet-read
# After the run: a view renames, a permute moves
#
# `view` and `reshape` give the same numbers in the same order other names. `transpose` and `permute` move them. Only one of both makes a row out of what belongs together, and both have
# the same shape behind them. The same review with less padding beside it gets another score, by {0.18 = leak_size} of what reviews differ. The public code of a well-known forecasting model
# [had it](https://github.com/zhouhaoyi/Informer2020/issues/59) where heads and places change their order, until a reader asked. A number that looks fine is what this bug makes.

# %% [markdown] pairs-text
# ## All pairs
#
# The most frequent silent shape of all: the model gives a column, (N, 1), the targets are a row, (N,). Their difference is a table, N x N: each answer against *each* target, and a mean makes one number
# of it. `F.mse_loss` has [warned of it](https://github.com/pytorch/pytorch/issues/16045) since 2019; what is written by hand warns nobody.
#
# 569 tumours, of which thirty measurements are known; a network gives a number near 1 for a benign one. The score is how often it puts a benign one before a malignant one (1 is perfect, a half is chance).

# %% [predict] pairs
# With the loss of all pairs, which batch size harms least?
#
# ( ) The largest: there are more pairs to learn from
#     Of N targets one is its own. The larger the batch, the more it is drowned by others.
# (x) The smallest: with 2 it orders them nearly as well as the right loss
#     Half of the pull goes to the right answer. And with 1 there is nothing wrong at all, so that a quick test with one example passes.
# ( ) It makes no difference: the mean over pairs is a mean over pairs
#     The mean over its pairs pulls each answer towards the mean of its *batch*. How much of that is its own?


# %% pairs-run
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

tumours = load_breast_cancer()
measured, benign = torch.tensor(tumours.data).float(), torch.tensor(tumours.target).float()


def trained(loss_of, rows, seed=0, epochs=5):
    """(score, share right, spread of the answers) on 169 tumours that were not trained on."""
    torch.manual_seed(seed)
    order = torch.randperm(len(measured))
    train, rest = order[:400], order[400:]
    inputs = (measured - measured[train].mean(0)) / measured[train].std(0)
    model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for _ in range(epochs):
        for part in train[torch.randperm(400)].split(rows):
            optimizer.zero_grad()
            loss_of(model(inputs[part]), benign[part]).backward()
            optimizer.step()
    with torch.no_grad():
        answers = model(inputs[rest]).squeeze(-1)
    good = ((answers > 0.5).float() == benign[rest]).float().mean().item()
    return roc_auc_score(benign[rest], answers), good, answers.std().item()


def all_pairs(column, row):
    return (column - row).square().mean()


def right_pairs(column, row):
    return (column.squeeze(-1) - row).square().mean()


print("rows at once     score   right   spread of the answers")
scores = {}
for rows in (2, 4, 8, 32):
    scores[rows] = trained(all_pairs, rows)
    print("all pairs {:4}    {:.3f}   {:.3f}   {:.2f}".format(rows, *scores[rows]))
scores["right"] = trained(right_pairs, 2)
print("own pairs    2    {:.3f}   {:.3f}   {:.2f}".format(*scores["right"]))
pairs.reveal()

# %% [proof] pairs-proof
score_two, score_many, score_right = scores[2][0], scores[32][0], scores["right"][0]
spread_two, spread_right = scores[2][2], scores["right"][2]
one_answer, one_target = torch.tensor([[0.3]]), torch.tensor([1.0])
assert all_pairs(one_answer, one_target) == right_pairs(one_answer, one_target), "a batch of one has one pair"
assert score_two > 0.94 and scores[2][0] > scores[4][0] > scores[8][0] > scores[32][0]
about_half = 0.35 < spread_two / spread_right < 0.62
near_chance = score_many < 0.7

# %% [folded] pairs-read
# After the run: it learns the right thing, N times too small
#
# The pull on an answer is towards the mean of its batch's targets, of which its own is one in N. So the best it can do is the truth, shrunk by N towards the mean. With 2 rows the answers
# spread {about half = about_half} as far as with the right loss, and their *order* is right: {0.96 = score_two} against {0.99 = score_right}. With 32 the signal is a thirty-second, and it
# {drowns = near_chance}. Scores which ask for the order only do not see the shrinking at all. So: a "respectable number" with small batches, and guessing with large ones, is a sign of pairs.

# %% [markdown] strict-text
# ## A guard
#
# It costs nothing to ask. **Write it:** a wrapper around any loss function that compares both shapes first. It raises a `ValueError` in which both shapes stand, and otherwise gives what the loss gives.


# %% [task] strict
def strict(loss_of):
    """loss_of(answers, targets, ...), which raises a ValueError with both shapes where they are not the same."""
    ...  # your code


# %% try-strict
strict = lab.try_out("14/strict", strict)


# %% [solution] strict
def strict(loss_of):
    """loss_of(answers, targets, ...), which raises a ValueError with both shapes where they are not the same."""

    def checked(answers, targets, *arguments, **named):
        if answers.shape != targets.shape:
            raise ValueError(f"answers are {tuple(answers.shape)}, targets {tuple(targets.shape)}")
        return loss_of(answers, targets, *arguments, **named)

    return checked


# %% [judge] strict
import functools

import torch


def plain(answers, targets, reduction="mean"):
    squares = (answers - targets) ** 2
    return squares.mean() if reduction == "mean" else squares.sum()


def judge(answer):
    for left, right in (
        ((8, 1), (8,)),
        ((8,), (8, 1)),
        ((1, 1), (1,)),
        ((8, 1), (1, 8)),
        ((8, 3), (3,)),
        ((4, 2), (2, 4)),
    ):
        saw, both = "no error", False
        try:
            answer(plain)(torch.zeros(left), torch.zeros(right))
        except ValueError as error:
            saw = f"ValueError: {error}"
            both = all(str(size) in str(error) for size in (*left, *right))
        except RuntimeError as error:
            saw = f"RuntimeError: {error}"
        yield both, f"{left} and {right}: a ValueError with both shapes, yours: {saw[:90]}"
    for shape in ((8,), (8, 1), (1,), ()):
        one, other = torch.ones(shape), torch.zeros(shape)
        gave = answer(plain)(one, other)
        yield gave == 1, f"{shape} twice: 1.0, yours {gave}"
    gave = answer(plain)(torch.ones(5), torch.zeros(5), reduction="sum")
    yield gave == 5, f"with reduction='sum': 5.0, yours {gave}"


def by_wraps(loss_of):
    @functools.wraps(loss_of)
    def inner(answers, targets, **named):
        if list(answers.size()) != list(targets.size()):
            raise ValueError(f"{answers.size()} != {targets.size()}")
        return loss_of(answers, targets, **named)

    return inner


def guard(wrong):
    def made(loss_of):
        def inner(answers, targets, **named):
            if wrong(answers, targets):
                raise ValueError(f"{answers.shape} != {targets.shape}")
            return loss_of(answers, targets, **named)

        return inner

    return made


def squeezed(loss_of):
    return lambda answers, targets, **named: loss_of(answers.squeeze(), targets.squeeze(), **named)


RIGHT = {"with functools": by_wraps}
LAZY = {
    "as many numbers": guard(lambda a, b: a.numel() != b.numel()),
    "as many rows": guard(lambda a, b: len(a) != len(b)),
    "as many axes": guard(lambda a, b: a.dim() != b.dim()),
    "squeezed in silence": squeezed,
    "options are dropped": lambda loss_of: lambda a, b, **named: guard(lambda x, y: x.shape != y.shape)(loss_of)(a, b),
}

# %% strict-run
try:
    trained(strict(all_pairs), 32)
except ValueError as error:
    print("ValueError:", error)
print("mended:     {:.3f}   {:.3f}   {:.2f}".format(*trained(lambda a, b: strict(all_pairs)(a.squeeze(-1), b), 32)))

# %% [markdown] break-text
# ## Break it yourself
#
# The reviews again, with sliders. Try to be wrong about what comes:
#
# - How many `heads` must there be for the bug to do nothing at all?
# - 3 heads: which half of this lesson are you in?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("sequence_classifier", ("shape/view_instead_of_permute",), {"reviews": 1500, "epochs": 2}),
    settings=("seed", "heads"),
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The network is fine-tuned on new digits. It reads {92 % = turn_bad} of them, last week's read {97 % = turn_good}. Nothing raised; I only made the activations safe against large numbers."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("14/second")
turn_view = lab.live(second, explain=False)
run = turn_view.result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                         the program; lines count from 1
#   own = turn_view.objects; [(name, p.grad is None) for name, p in own["model"].named_parameters()]
#   own["model"](own["inputs"]).grad_fn                          and where its next_functions lead

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
turn_bad, turn_good = run.trace.metrics["accuracy"], second.healthy().run().trace.metrics["accuracy"]
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if ".numpy()" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
said = [
    judged(second, {"cause": cause, "place": right_line, "step": 1, "test": test})
    for cause in form.causes
    for test in offered
]
assert second.ticket != incident.ticket and min(one.count("NOT") for one in said) == 0, said

# %% [folded] turn-read
# After you have handed in: the graph ends without a word
#
# `numpy()` refuses a tensor that wants a gradient: that would have been the loud half. The message advises `detach()`, and with it nobody is asked any more. What comes back from numpy is a new
# tensor without a past, and all layers before it keep the weights that they began with. The head alone learns, on what is there, and that is worth {92 % = turn_bad}.
#
# Ask each parameter after one `backward()` whether it has a gradient. It is one line, and it finds every cut, whoever made it.

# %% [check] recap_check
# The message is gone after a change, and the loss falls. What do you check before you merge?
#
# ( ) That the loss falls as fast as before
#     it does with gradients that are a little wrong, and with rows that are mixed. You saw both.
# (x) That every parameter gets a gradient, and that an output hears what it should hear and nothing else
#     yes: both ask the gradient itself, and each takes one backward pass.
# ( ) That anomaly mode reports nothing
#     it reports `nan` and failures. A wrong gradient is neither.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 14` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="14")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Autograd's errors name who noticed; ask the versions who was changed.** *Fails when* somebody writes through `.data` or listens with hooks: then nobody notices.
# 2. **An error's advice removes the error.** Ask what it would take to be *right*: what is carried over must have no past. *Fails when* you want
#    gradients through several steps; then step only after all of them.
# 3. **Send a gradient back from one output.** It tells who hears whom, whatever the shapes say. *Fails when* the batch is mixed on purpose, as in batch normalisation.
# 4. **Compare shapes in front of every loss.** *Fails when* the axes have equal lengths and changed places: then only the third rule helps.
#
# **Next:** repair one yourself: [exercise 40, *stops at once*](../exercises/40_stops_at_once.ipynb), then
# [exercise 41, *writes no better*](../exercises/41_writes_no_better.ipynb). The result is judged by what your program does. The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
