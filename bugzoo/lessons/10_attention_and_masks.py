"""Lesson 10: a language model that is too good, which inputs an output depends on, and masks that hide the wrong place or too late."""

# %% [case] incident
# mini_transformer attention/causal_off_by_one

# %% [case] second
# sequence_classifier attention/mask_inverted

# %% [markdown] title
# # 10 · Attention and masks
#
# A model can be better than it should be. In this lesson you test which inputs an output depends on, and so whether a mask is right. You
# write a masked softmax and a split into heads, and repair a model that sees its targets.
#
# You need about {56 = minutes} minutes, and to know that attention is a weighted mean: scores, a softmax, weights times values. A good place
# for a pause is after *Look at it*.
#
# Predict each result: a guess is saved, not graded. Read folded text after the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; your predictions and your code are kept. The [glossary](glossary.ipynb) explains words.

# %% setup
device = "cpu"  # or "auto", "cuda"

import math

import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("10")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Thursday, 22:50.* "My small transformer predicts the next character of Python's help texts. On validation text it is right in
# > {97 % = ill_accuracy} of all places, with a loss of {0.17 = ill_loss}. Last month's version was right in {31 % = well_accuracy}, with a loss of {2.50 = well_loss}. I want to show the curve
# > tomorrow. A colleague asks me to let the model write a sentence first."
#
# The model has two layers of attention. It reads windows of 32 characters, and at *each* of the 32 places it predicts the next one.
# There are 96 characters, so a guess costs ln 96 = {4.56 = ln_96}. A harder baseline is a bigram table: it counts which character follows which.

# %% [draw] honest
# Draw the training loss of last month's version: {120 = length} steps, without a fault.
#
# step: 1, 40, 120
# loss (nats): 0 to 5

# %% [markdown] live-text
# ## Watch it
#
# First a **healthy twin** runs, the same program without the fault, then the incident. At which step do the curves part? The next cell scores
# the bigram table, too, and trains the twin twice as long.

# %% live
incident = lab.case("10/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy, ours = view.result.trace, view.healthy.trace, dict(view.objects)
print("step   incident   healthy twin")
for step in (1, 21, 41, 61, 81, len(trace.loss)):
    print(f"{step:4}   {trace.loss[step - 1]:8.2f}   {healthy.loss[step - 1]:12.2f}")
longer = bugzoo.Scenario(incident.program, (), {"steps": 240}, device=device).run().trace
for name, one in (("incident", trace), ("healthy twin", healthy), ("240 steps", longer)):
    print(f"{name:12}   validation loss {one.metrics['loss']:.2f}, accuracy {one.metrics['accuracy']:.3f}")

train, valid = ours["train_codes"], ours["validation_codes"]
pairs = torch.ones(96, 96).index_put_((train[:-1], train[1:]), torch.tensor(1.0), accumulate=True)  # add-one smoothing
bigram_loss = -(pairs / pairs.sum(1, keepdim=True)).log()[valid[:-1], valid[1:]].mean()
frequency_loss = -(pairs.sum(0) / pairs.sum()).log()[valid].mean()
print(f"bigram table {bigram_loss:.2f}, frequencies alone {frequency_loss:.2f}")
steps = range(1, 121)
honest.reveal({"healthy twin": (steps, healthy.loss), "incident": (steps, trace.loss)})

# %% [proof] numbers-proof
import numpy as np

length, ln_96 = len(trace.loss), math.log(96)
ill_accuracy, ill_loss = trace.metrics["accuracy"], trace.metrics["loss"]
well_accuracy, well_loss = healthy.metrics["accuracy"], healthy.metrics["loss"]
gap = healthy.loss - trace.loss
together = bool(abs(gap[:20]).max() < 0.35)
assert together and gap[40] > 0.4 and gap[60] > 1.4
by_pairs, by_frequency, longer_loss = bigram_loss.item(), frequency_loss.item(), longer.metrics["loss"]
assert ill_loss < by_pairs - 1 and by_pairs < well_loss and longer_loss < by_pairs - 0.1 and len(longer.loss) == 240
seen = len(trace.loss) * ours["batch_size"] * ours["context"]
more_often = round(len(train) / seen)

# %% [folded] numbers-read
# After the run: too good is a symptom
#
# The validation loss of the incident is {0.17 = ill_loss}, and the bigram table's is {2.45 = by_pairs}. A loss far below a good baseline needs a reason.
#
# Why is last month's transformer, at {2.50 = well_loss}, no better than counting pairs? {120 = length} steps are too few: after 240 it has {2.26 = longer_loss}.
#
# In the first 20 steps the two runs {stay close together = together}: both learn how often each character occurs. Then the incident finds something else.

# %% [predict] by_place
# {97 % = ill_accuracy} is a mean over the 32 places of a window. Take it apart: at which places is the incident right?
#
# ( ) At all of them alike, about 97 in 100
#     A leak in the data would look like that. A mean can hide its edges.
# ( ) Few at the start, more with each one read
#     A model with a long memory would look like that. This one has trained for seconds.
# (x) At all but the last, which is like the twin's
#     All others have something that the last place lacks. What stands after each of them, and not after this one?

# %% places
model = ours["model"].eval()
run = lab.LiveView(incident.healthy(), show_twin=False).start()
run.wait()
honest_model = run.objects["model"].eval()

torch.manual_seed(1)
inputs, targets = (one.to(device) for one in ours["batch"](ours["validation_codes"], 256))  # (256, 32) each


def right_by_place(model):
    """Share of right predictions at each of the 32 places."""
    with torch.no_grad():
        return (model(inputs).argmax(-1) == targets).float().mean(0).tolist()


print("place   incident   healthy twin")
at_place = {"incident": right_by_place(model), "healthy twin": right_by_place(honest_model)}
for place in (0, 1, 10, 20, 29, 30, 31):
    print(f"{place:5}   {at_place['incident'][place]:8.2f}   {at_place['healthy twin'][place]:12.2f}")
by_place.reveal(f"{at_place['incident'][31]:.2f} at the last place")

# %% [proof] places-proof
first_places, last_place = np.mean(at_place["incident"][:31]), at_place["incident"][31]
assert min(at_place["incident"][:31]) > 0.97 and abs(last_place - at_place["healthy twin"][31]) < 0.06

# %% [predict] writes
# Now the colleague's wish: the model writes, one character after the other. What does it write?
#
# ( ) English, as it is right in {99 % = first_places} of the places
#     It is right where a next character stands in the window. When it writes, the next character does not exist yet.
# (x) Something poorer than its twin writes
#     When it writes, each place is a last place. In training that was one of 32, and the others taught it to look ahead.
# ( ) About as much as its twin, which has read the same
#     At the last place of real text they are about equal. But here each reads what it wrote itself.

# %% write


@torch.no_grad()
def write(model, text):
    """(batch, time) characters and 200 more after each row, drawn as the model thinks likely."""
    torch.manual_seed(0)
    for _ in range(200):
        text = torch.cat([text, torch.multinomial(model(text[:, -32:])[:, -1].softmax(-1), 1)], 1)
    return text


def readable(row):
    return "".join("\n" if code == 0 else chr(code + 31) for code in row.tolist())


def repeats(text):
    """Share of characters that are the same as the one before."""
    return (text[..., 1:] == text[..., :-1]).float().mean().item()


repeated = {}
for name, one in (("incident", model), ("healthy twin", honest_model)):
    written = write(one, inputs[:16])[:, 32:]
    repeated[name] = repeats(written)
    print(f"{name:12}  repeats {repeated[name]:.0%}", *(repr(readable(row[:72])) for row in written[:2]), sep="\n  ")
print(f"real text     repeats {repeats(ours['validation_codes']):.0%}")
writes.reveal(f"{repeated['incident']:.0%} of its characters repeat the one before")

# %% [proof] write-proof
ill_repeats, well_repeats, real_repeats = *repeated.values(), repeats(ours["validation_codes"])
assert ill_repeats > 0.5 and well_repeats < 0.25

# %% [folded] write-read
# After the run: two numbers that measure different things
#
# Read the number *repeats*. {68 % = ill_repeats} of the incident's characters are the same as the one before, in real text {11 % = real_repeats}, in the twin's
# {16 % = well_repeats}. The twin does not write English either, but it has learned which letters follow which.
#
# So ask of each number: does the model get the same input in use as in the measurement? In public, a tiny transformer got `98 %` on validation data, and its translations made no sense
# ([jadore801120/attention-is-all-you-need-pytorch, issue 19](https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/19)).

# %% [markdown] reach-text
# ## Which inputs does an output depend on?
#
# "It sees its target" can be tested without reading the model: change a *later* input, and no earlier output may move.
#
# **Write it:** how many places ahead does the output at one place look? Change each later character, one at a time. Characters are
# whole numbers from 0 to 95.


# %% [task] reach
def reach(model, x, place):
    """How many places ahead the farthest input stands that moves the output at `place`; 0 if no later input does.

    `x`: (batch, time) characters, unchanged afterwards; `model(x)`: (batch, time, channels).
    """
    ...  # your code


# %% try-reach
reach = lab.try_out("10/reach", reach)


# %% [solution] reach
def reach(model, x, place):
    """How many places ahead the farthest input stands that moves the output at `place`; 0 if no later input does.

    `x`: (batch, time) characters, unchanged afterwards; `model(x)`: (batch, time, channels).
    """
    farthest = 0
    with torch.no_grad():
        before = model(x)[:, place]
        for later in range(place + 1, x.shape[1]):
            changed = x.clone()
            changed[:, later] = (changed[:, later] + 1) % 96  # certainly another character
            if (model(changed)[:, place] - before).abs().max() > 1e-6:
                farthest = later - place
    return farthest


# %% [judge] reach
import torch
from torch import nn


class Looks(nn.Module):
    """Its output at a place is the sum of what stands at these distances from it."""

    def __init__(self, *distances):
        super().__init__()
        self.distances = distances
        self.table = nn.Embedding.from_pretrained(torch.arange(96.0)[:, None] * torch.tensor([0.01, -0.03]))

    def forward(self, x):
        places = torch.arange(x.shape[1])
        distance = places[None] - places[:, None]
        seen = torch.stack([distance == one for one in self.distances]).any(0)
        return seen.float() @ self.table(x)


def judge(answer):
    tokens = torch.randint(1, 96, (3, 10), generator=torch.Generator().manual_seed(0))
    zeros = torch.zeros(2, 10, dtype=torch.long)
    for x, distances, place, wanted, hint in (
        (tokens, (-2, -1, 0), 3, 0, "It looks back and at its own place. Only later places count."),
        (tokens, (0, 1), 3, 1, ""),
        (tokens, (-1, 0, 3), 4, 3, "The next places can leave the output as it is. Do not stop at the first of them."),
        (tokens, (0, 1, 2), 5, 2, "How far, not whether: change one later place at a time."),
        (tokens, (0, 1), 9, 0, "Nothing stands after the last place. Look at the output of this place only."),
        (zeros, (0, 1), 2, 1, "Some characters are 0 already. Take another one for certain."),
    ):  # fmt: skip
        before = x.clone()
        gave = answer(Looks(*distances), x, place)
        said = ", ".join(f"{one:+d}" for one in distances)
        right = gave is not None and not isinstance(gave, bool) and gave == wanted
        yield right, f"a model that looks at {said}, place {place} of 10: {wanted}, yours says {gave}", hint
        same = torch.equal(x, before)
        x.copy_(before)
        yield same, f"    x is as before: True, yours {same}", "Change a copy: x.clone()."


def from_the_end(model, x, place):
    before = model(x)
    for later in reversed(range(place + 1, x.shape[1])):
        other = torch.cat([x[:, :later], 95 - x[:, later : later + 1], x[:, later + 1 :]], 1)
        if not torch.equal(model(other)[:, place], before[:, place]):
            return later - place
    return 0


def with_change(move, at=lambda out, place: out[:, place], stop=False):
    def found(model, x, place):
        farthest = 0
        for later in range(place + 1, x.shape[1]):
            other = move(x, later)
            if (at(model(other), place) - at(model(x), place)).abs().max() > 1e-6:
                farthest = later - place
            elif stop:
                break
        return farthest

    return found


def another(x, later):
    other = x.clone()
    other[:, later] = (other[:, later] + 1) % 96
    return other


def to_zero(x, later):
    other = x.clone()
    other[:, later] = 0
    return other


def in_place(model, x, place):
    before, farthest = model(x), 0
    for later in range(place + 1, x.shape[1]):
        x[:, later] = (x[:, later] + 1) % 96
        farthest = later - place if not torch.equal(model(x)[:, place], before[:, place]) else farthest
    return farthest


def all_at_once(model, x, place):
    other = x.clone()
    other[:, place + 1 :] = (other[:, place + 1 :] + 1) % 96
    return int(not torch.equal(model(other)[:, place], model(x)[:, place]))


RIGHT = {"from the end": from_the_end}
LAZY = {
    "the sum of all outputs": with_change(another, at=lambda out, place: out.sum()),
    "stops at the first that does not move": with_change(another, stop=True),
    "set to 0": with_change(to_zero), "in place": in_place, "all at once": all_at_once,
    "none": lambda model, x, place: 0, "the next one": lambda model, x, place: 1,
}  # fmt: skip

# %% [predict] how_far
# Suppose that each of the two layers lets a place read one character too many, the next one. How many places ahead does an output depend
# on?
#
# (=) {2 = ill_reach} +- 0
#     The second layer reads the next place, and the first one has already put the character after it there.
# (~) 1
#     That is the reach of one layer.
# (~) 0
#     That is the healthy twin.
# (~) else
#     Each layer adds one place.

# %% reach-run
one_layer = lab.LiveView(
    bugzoo.Scenario(incident.program, incident.faults, {"layers": 1}, device=device), show_twin=False
)
one_layer.start().wait()
reached = {}
for name, one in (
    ("incident", model),
    ("incident, one layer", one_layer.objects["model"].eval()),
    ("healthy twin", honest_model),
):
    reached[name] = [reach(one, inputs[:16], place) for place in (3, 10, 31)]
    print(f"{name:20}  places ahead, at places 3, 10 and 31: {reached[name]}")
print(model.blocks[0].attention.mask[:5, :5].int().cpu())
print(incident.diff())
how_far.reveal()

# %% [proof] reach-proof
ill_reach = reached["incident"][0]
assert reached == {"incident": [2, 2, 0], "incident, one layer": [1, 1, 0], "healthy twin": [0, 0, 0]}
one_is_enough = one_layer.result.trace.metrics["accuracy"] > 0.95
assert one_is_enough

# %% [folded] reach-read
# After the run: read row 2 aloud
#
# "Place 2 may read places 0, 1, 2 **and 3**." Its target is character 3. Two layers reach {2 = ill_reach} places ahead; one reaches 1, and that {is enough = one_is_enough}
# to copy. The last place has no next one: its reach is 0.

# %% [check] masks
# Four masks of five places, with `ones = torch.ones(5, 5)`. Which places may place 2 read?
#
# `torch.tril(ones)`, 1 shows -> 0, 1, 2
# `torch.triu(ones, diagonal=1)`, 1 hides -> 0, 1, 2
# `torch.tril(ones, diagonal=1)`, 1 shows -> 0, 1, 2, 3
# `torch.triu(ones)`, 1 hides -> 0, 1
#     The number of the diagonal says nothing by itself. You need `tril` or `triu`, what a 1 means, and where the target stands.

# %% [proof] masks-proof
ones = torch.ones(5, 5)
may_read = [torch.tril(ones) > 0, torch.triu(ones, 1) == 0, torch.tril(ones, 1) > 0, torch.triu(ones) == 0]
assert [one[2].nonzero().flatten().tolist() for one in may_read] == [[0, 1, 2], [0, 1, 2], [0, 1, 2, 3], [0, 1]]

# %% [markdown] look-text
# ## Look at it
#
# The view `influence` does the same. In its map, a column is a changed input, a row an output: color above the diagonal is a look ahead.

# %% look
healthy_run, looks = incident.healthy().run(), {}
for name, run in (("incident", view.result), ("healthy twin", healthy_run)):
    print(f"--- {name}")
    looks[name] = lab.look("influence", run)

# %% [proof] look-proof
looked_for = "{label = influence.future_reach}"
seen_ahead, not_in_twin = looks["incident"][looked_for], looks["healthy twin"][looked_for] == 0
assert not_in_twin and looks["incident"]["{label = influence.attention_partial_rows}"] == 0
far_larger = looks["incident"]["{label = influence.future_leak}"] > 0.1

# %% [folded] look-read
# After the run: what the view adds
#
# *Farthest position ahead that moves an output* is {2 = seen_ahead}, and {0 in the twin = not_in_twin}: it is your `reach`. No output moves when another sample of the batch
# changes. So the leak is along the time axis.

# %% [predict] mended
# The incident is paused after step 60, at a loss of {1.1 = at_sixty}, and both masks are put right. Frequencies alone cost
# {3.22 = by_frequency}. What is the loss of step 61?
#
# ( ) About {1.1 = at_sixty} still: what it has learned stays learned
#     It has learned to copy, and now there is nothing to copy from.
# ( ) About {2.8 = twin_then}, where the twin is at this step
#     The twin used these 60 steps to learn which character follows which.
# (x) Above {3.22 = by_frequency}: worse than frequencies alone
#     It relies on the next place, which it no longer sees. A repair can raise the loss, and be right.

# %% [markdown] repair-text
# ## Repair the running program
#
# `view.objects` are the variables of the paused program. The mask is a **buffer**: a tensor of the model that no optimizer moves.

# %% repair
view = lab.live(incident, pause_at=60, explain=False)
view.wait_pause()
mended_model = view.objects["model"]
for name, mask in mended_model.named_buffers():
    print(name, tuple(mask.shape))
    mask.copy_(torch.tril(torch.ones_like(mask)))
view.mark(60, "masks put right")
view.resume()

# %% repair-numbers
after = view.result.trace
print("losses of steps 59 to 64:", "  ".join(f"{loss:.2f}" for loss in after.loss[58:64]))
print(f"validation loss {after.metrics['loss']:.2f}, healthy twin {healthy.metrics['loss']:.2f}")
mended_model = view.objects["model"].eval()
print("places ahead:", reach(mended_model, inputs[:16], 10))
print(f"repeats in what it writes: {repeats(write(mended_model, inputs[:16])[:, 32:]):.0%}")
mended.reveal(f"{after.loss[60]:.2f}")

# %% [proof] repair-proof
at_sixty, jumped, twin_then, mended_loss = trace.loss[59], after.loss[60], healthy.loss[60], after.metrics["loss"]
mended_repeats = repeats(write(mended_model, inputs[:16])[:, 32:])
assert jumped > by_frequency + 0.3 and mended_loss < well_loss + 0.1 and mended_repeats < 0.3
assert reach(mended_model, inputs[:16], 10) == 0

# %% [measured] line-put-right
exchanged = lab.LiveView(incident, pause_at=60, show_twin=False).start()
exchanged.wait_pause()
exchanged.patch(incident.healthy().source)
exchanged.resume()
no_effect = bool((exchanged.result.trace.loss == trace.loss).all())
assert no_effect

# %% [folded] repair-read
# After the run: a right repair can look like a failure
#
# The loss jumps to {3.74 = jumped}. At the end the model is close to its twin: {2.56 = mended_loss} instead of {2.50 = well_loss}.
#
# Putting the *line* right in the paused program has {no effect at all = no_effect}: it runs in `__init__`, and the model exists already.

# %% [check] checkpoint
# You put the line right, build a new model, and load yesterday's weights. All keys match. How many places ahead does an output depend on?
#
# ( ) None, as a new model builds its mask anew
#     it does, and then `load_state_dict` writes the old mask over it.
# (x) Two, as a buffer is loaded like a weight
#     yes. The next cell measures it, and keeps the mask out of the state dict with `persistent=False`.
# ( ) One, as only one of the layers is loaded
#     all keys match, so both layers have been loaded.

# %% old-mask
import copy

fresh, old = copy.deepcopy(honest_model), model.state_dict()
print(fresh.load_state_dict(old), "places ahead:", reach(fresh, inputs[:16], 10))
for block in fresh.blocks:  # the right mask again, and no longer in the state dict
    block.attention.register_buffer("mask", honest_model.blocks[0].attention.mask, persistent=False)
try:
    fresh.load_state_dict(old)
except RuntimeError as error:
    print(error)
weights_only = {name: tensor for name, tensor in old.items() if not name.endswith(".mask")}
print(fresh.load_state_dict(weights_only), "places ahead:", reach(fresh, inputs[:16], 10))

# %% [proof] old-mask-proof
reloaded = copy.deepcopy(honest_model)
assert str(reloaded.load_state_dict(old)) == "<All keys matched successfully>"
old_reach, new_reach = reach(reloaded, inputs[:16], 10), reach(fresh, inputs[:16], 10)
assert old_reach == 2 and reach(honest_model, inputs[:16], 10) == 0
for layer in reloaded.blocks:
    layer.attention.register_buffer("mask", honest_model.blocks[0].attention.mask, persistent=False)
try:
    reloaded.load_state_dict(old)
    refused = False
except RuntimeError as refusal:
    refused = "Unexpected key(s) in state_dict" in str(refusal)
assert refused and "blocks.0.attention.mask" in reloaded.load_state_dict(old, strict=False).unexpected_keys
assert reach(reloaded, inputs[:16], 10) == 0

# %% [folded] old-mask-read
# After the run: the advice has a price
#
# The old checkpoint makes the repaired model look {2 = old_reach} places ahead again. With `persistent=False` the model {refuses it = refused}: "Unexpected key(s)". Delete
# these keys, and the reach is {0 = new_reach}. `strict=False` loads it, too, but then no wrong name raises an error.

# %% [markdown] rows-text
# ## Hide before or after the softmax?
#
# A softmax divides by a sum, and hidden scores must be out of this sum.
#
# **Write it:** visible weights add up to 1, hidden weights are 0, and a row without anything visible is all 0, not `nan`.


# %% [task] masked_softmax
def masked_softmax(scores, mask):
    """Attention weights over the last axis. `mask` is True where a score is visible, and broadcasts to the scores."""
    ...  # your code


# %% try-masked-softmax
masked_softmax = lab.try_out("10/masked_softmax", masked_softmax)


# %% [solution] masked_softmax
def masked_softmax(scores, mask):
    """Attention weights over the last axis. `mask` is True where a score is visible, and broadcasts to the scores."""
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask & ~empty, float("-inf"))  # an empty row keeps its scores, or it would be nan
    return F.softmax(scores, dim=-1).masked_fill(empty, 0.0)


# %% [judge] masked_softmax
import torch
import torch.nn.functional as F


def shown(values):
    return "none" if values is None else ", ".join(f"{one:.3f}" for one in values.tolist())


def judge(answer):
    rows = (
        ("all visible", [0.5, 1.0, -2.0], [1, 1, 1], ""),
        ("one hidden", [0.5, 1.0, -2.0], [1, 1, 0], "After the softmax, the sum still has the hidden score in it."),
        (
            "a huge score hidden",
            [300.0, 1.0, 2.0],
            [0, 1, 1],
            "The largest score takes all the weight before your mask.",
        ),
        ("one visible", [0.0, 0.0, 0.0], [1, 0, 0], "A single visible score gets all the weight."),
        (
            "nothing visible",
            [1.0, 2.0, 3.0],
            [0, 0, 0],
            "A row of -inf has no sum, and a row of -1e9 gets equal weights.",
        ),
    )
    scores = torch.tensor([one[1] for one in rows], requires_grad=True)
    mask = torch.tensor([one[2] for one in rows]) > 0
    gave = answer(scores, mask)
    fits = isinstance(gave, torch.Tensor) and gave.shape == scores.shape
    for number, (what, _, _, hint) in enumerate(rows):
        wanted, visible = torch.zeros(3), mask[number]
        wanted[visible] = F.softmax(scores[number][visible].detach(), dim=-1)
        found = gave[number].detach() if fits else None
        right = found is not None and torch.allclose(found, wanted, atol=1e-6)
        yield right, f"{what}: {shown(wanted)}, yours gives {shown(found)}", hint
    if fits:
        (slopes,) = torch.autograd.grad(gave[:, 1].sum(), scores, allow_unused=True)
        finite = slopes is not None and bool(slopes.isfinite().all())
        hint = "Compute the exponentials of visible scores only: what is infinite there is nan in the backward pass."
        yield finite, f"the gradient is finite: True, yours {finite}", hint
    table, causal = torch.arange(12.0).view(2, 2, 3), torch.tensor([[True, False, False], [True, True, False]])
    gave = answer(table, causal)
    right = isinstance(gave, torch.Tensor) and gave.shape == table.shape
    right = right and torch.allclose(gave, F.softmax(table.masked_fill(~causal, float("-inf")), -1))
    yield (
        right,
        f"one mask for two samples: its rows are used for both, yours {right}",
        "A mask may lack the batch axis.",
    )
    scores = torch.arange(64.0).view(2, 2, 4, 4).sin()  # (batch, heads, reads, is read)
    padding = torch.tensor([[0, 0, 0, 0], [1, 1, 0, 0]]) > 0  # the second text has two words, padded in front
    visible = torch.tril(torch.ones(4, 4) > 0) & ~padding[:, None, None, :]
    gave = answer(scores, visible)
    wanted = F.softmax(scores.masked_fill(~visible, float("-inf")), -1).nan_to_num()
    fits = isinstance(gave, torch.Tensor) and gave.shape == scores.shape
    for number, text in enumerate(("4 words", "2 words, padded in front")):
        right = fits and torch.allclose(gave[number], wanted[number], atol=1e-6)
        yield (
            right,
            f"causal and padding together, a text of {text}: True, yours {right}",
            "Each text has its own mask, for all its heads. Only some rows of a text are all hidden.",
        )


def by_exponentials(scores, mask):
    top = scores.masked_fill(~mask, -1e9).amax(-1, keepdim=True)
    parts = torch.where(mask, scores - top, 0.0).exp() * mask
    return parts / parts.sum(-1, keepdim=True).clamp(min=1e-30)


def divided_again(scores, mask):
    weights = F.softmax(scores, -1) * mask
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)


def nan_to_zero(scores, mask):
    return F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1).nan_to_num()


def first_mask_for_all(scores, mask):
    return nan_to_zero(scores, mask[:1] if mask.dim() == 4 else mask)


def causal_only(scores, mask):
    return nan_to_zero(scores, mask.any(0, keepdim=True) if mask.dim() == 4 else mask)


RIGHT = {"exponentials by hand": by_exponentials, "nan to zero": nan_to_zero}
LAZY = {
    "after the softmax": lambda scores, mask: F.softmax(scores, dim=-1) * mask, "divided again": divided_again,
    "minus infinity alone": lambda scores, mask: F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1),
    "a large negative number": lambda scores, mask: F.softmax(scores.masked_fill(~mask, -1e9), dim=-1),
    "no mask": lambda scores, mask: F.softmax(scores, dim=-1), "one mask for all texts": first_mask_for_all,
    "causal only": causal_only,
}  # fmt: skip

# %% [predict] left
# Five scores are equal. Two of them are hidden, but only after the softmax: their weights are set to 0. What do the weights of the row
# add up to?
#
# (=) {0.6 = three_of_five} +- 0.01
#     Each place got a fifth, and three fifths are left.
# (~) 1 +- 0.01
#     The softmax has already divided, by a sum over all five.
# (~) 0.4 +- 0.01
#     That is what the hidden places got, and lost.
# (~) else
#     A softmax over five equal scores gives each a fifth.

# %% rows
scores, mask = torch.ones(5), torch.arange(5) < 3
higher = torch.tensor([1.0, 1.0, 1.0, 3.0, 1.0])  # the same, but one hidden score is 3
for name, weigh in (("before", masked_softmax), ("after", lambda scores, mask: F.softmax(scores, -1) * mask)):
    for one in (scores, higher):
        weights = weigh(one, mask)
        told = "  ".join(f"{weight:.2f}" for weight in weights)
        print(f"mask {name:6} softmax, hidden score {one[3]:.0f}: {told}   sum {weights.sum():.2f}")
left.reveal(f"{(F.softmax(scores, -1) * mask).sum():.2f}")

# %% [proof] rows-proof
three_of_five = (F.softmax(scores, -1) * mask).sum().item()
sum_higher = (F.softmax(higher, -1) * mask).sum().item()
unmoved = bool(torch.equal(masked_softmax(scores, mask), masked_softmax(higher, mask)))

# %% [folded] rows-read
# After the run: what a hidden score still says
#
# With the mask before the softmax, a higher hidden score {changes nothing = unmoved}. With the mask after it, the sum falls from {0.60 = three_of_five} to {0.26 = sum_higher}: the
# visible weights tell how high the hidden score was.

# %% [markdown] both-text
# ## Causal and padding together
#
# Two texts of 5 and 3 words make a batch. The second one is left-padded, as for generation. A word reads no padding *and* no later word, so in
# the second text the first two rows are all hidden.

# %% [check] true_means
# What does `True` mean in each mask?
#
# `attn_mask` of `F.scaled_dot_product_attention` -> this place may be read
# `attn_mask` of `nn.MultiheadAttention` -> this place is hidden
# `key_padding_mask` of `nn.MultiheadAttention` -> this place is hidden
# `scores.masked_fill(mask, float("-inf"))` -> this place is hidden
#     After you exchange one for the other, change a hidden input: no output may move.

# %% [predict] empty_row
# A softmax by hand, `F.scaled_dot_product_attention` and `nn.MultiheadAttention` compute this with `-inf` as fill. Which give `nan` in a
# row that is all hidden?
#
# ( ) All three, as there is no sum to divide by
#     True of a softmax by hand. Another one looks for such a row first.
# (x) The softmax by hand, and the module by default
#     With `need_weights=False` the module calls the function, and that gives zeros.
# ( ) The function alone, as it is made for speed
#     It gives zeros there. What does a softmax by hand divide by?
# ( ) None of them, as each fills such a row
#     A softmax by hand knows of no mask: it gets a row of `-inf`.

# %% both
words = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
qkv, later, padding = [words] * 3, torch.ones(5, 5).triu(1) > 0, torch.zeros(2, 5) > 0
padding[1, :2] = True
visible = ~later & ~padding[:, None]  # (batch, reads, is read)
scores, low = words @ words.mT / 2, torch.zeros(2, 5, 5).masked_fill(~visible, -math.inf)
module = torch.nn.MultiheadAttention(4, 1, bias=False, batch_first=True)
module.in_proj_weight.data, module.out_proj.weight.data = torch.eye(4).repeat(3, 1), torch.eye(4)
calls = {
    "your masked_softmax": masked_softmax(scores, visible) @ words,
    "softmax of -inf": F.softmax(scores + low, -1) @ words,
    "softmax of -1e9": F.softmax(scores.masked_fill(~visible, -1e9), -1) @ words,
    "sdpa, boolean mask": F.scaled_dot_product_attention(*qkv, attn_mask=visible),
    "sdpa, 0 and -inf": F.scaled_dot_product_attention(*qkv, attn_mask=low),
    "MultiheadAttention": module(*qkv, key_padding_mask=padding, attn_mask=later)[0],
    "need_weights=False": module(*qkv, padding, need_weights=False, attn_mask=later)[0],
}
print("torch", torch.__version__, "on the CPU")
for name, output in calls.items():
    same = torch.allclose(output[visible.any(-1)], calls["your masked_softmax"][visible.any(-1)], atol=1e-5)
    print(f"{name:20} other rows as yours: {same}   a hidden row: {output[1, 0, 0].item():5.2f}")
empty_row.reveal(", ".join(name for name, output in calls.items() if output[1, 0].isnan().any()))

# %% [proof] both-proof
reads, ours_there = visible.any(-1), calls["your masked_softmax"][visible.any(-1)]
hidden_rows = {name: output[1, :2].detach() for name, output in calls.items()}
nan_there = [name for name, one in hidden_rows.items() if one.isnan().all()]
zero_there = [name for name, one in hidden_rows.items() if (one == 0).all()]
assert nan_there == ["softmax of -inf", "MultiheadAttention"] and len(zero_there) == 4
all_agree = all(torch.allclose(one[reads], ours_there, atol=1e-5) for one in calls.values())
equal_to_mean = torch.allclose(hidden_rows["softmax of -1e9"], words[1].mean(0).expand(2, 4), atol=1e-6)
inverted = F.scaled_dot_product_attention(*qkv, attn_mask=~visible)
other_meaning = not torch.allclose(inverted[reads], ours_there, atol=0.1)
assert other_meaning

# %% [folded] both-read
# After the run: an all-hidden row may give no sign
#
# In the other rows all seven calls {agree = all_agree}. For the module `True` hides, so it gets no `~`. In a hidden row `nan` tells you, zeros do not, and
# `-1e9` gives {the mean of all words = equal_to_mean}, padding included. So test the mask itself: `mask.any(-1).all()`.

# %% [predict] behind
# A colleague leaves the incident's mask, and adds one line after the softmax: `weights = weights * torch.tril(ones)`. Now no weight
# lies on a later place. How often is a model right that is trained like this?
#
# ( ) About {31 % = well_accuracy}: no value of a later place gets through
#     No *value* does. But the softmax divided by a sum in which the next place still stood.
# ( ) Below {31 % = well_accuracy}: its rows no longer sum to 1
#     They do not, and the model uses that.
# (x) About {77 % = leaky_accuracy}: the rows themselves tell
#     A row lacks what the next place got. Four heads give four such numbers for each place.

# %% behind-run
line = "        weights = F.softmax(scores, dim=-1)\n"
added = "        weights = weights * torch.tril(torch.ones(time, time, device=x.device))\n"
divide = "        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)\n"
late = {}
for name, lines in (("divided by its sum", line + added + divide), ("mask after softmax", line + added)):
    run = lab.LiveView(incident.source.replace(line, lines), show_twin=False).start()
    late[name], leaky_model = run.result.trace.metrics["accuracy"], run.objects["model"].eval()
    print(f"{name}   accuracy {late[name]:.3f}   places ahead {reach(leaky_model, inputs[:16], 10)}")
print(f"healthy twin         accuracy {healthy.metrics['accuracy']:.3f}")
behind.reveal(f"{late['mask after softmax']:.0%}")

# %% [proof] behind-proof
assert incident.source.count(line) == 1
leaky_accuracy, leaky_reach, divided_accuracy = (
    late["mask after softmax"],
    reach(leaky_model, inputs[:16], 10),
    late["divided by its sum"],
)
divided = abs(divided_accuracy - well_accuracy) < 0.015
assert divided and leaky_reach == 2

# %% [folded] behind-read
# After the run: the sum knows
#
# The weights on later places are 0, and the model still looks {2 = leaky_reach} places ahead. Trained with each row divided by its sum, it is right in
# {31 % = divided_accuracy}, {like the twin = divided}. So the sums carried the leak. Print the weights, and you see nothing. Change an input, and you see it.
#
# A library of image models had this order until a pull request changed it
# ([huggingface/pytorch-image-models, 2236](https://github.com/huggingface/pytorch-image-models/pull/2236)).

# %% [markdown] heads-text
# ## Shapes that fit
#
# Attention has several heads, and each reads a block of the channels: head 0 the first ones, head 1 the next ones. Many lines give the
# right shape.
#
# **Write it.** If you change one token, only that token's place may change, in every head.


# %% [task] split_heads
def split_heads(x, heads):
    """(batch, time, width) -> (batch, heads, time, width / heads); head h holds the h-th block of the channels."""
    ...  # your code


# %% try-split-heads
split_heads = lab.try_out("10/split_heads", split_heads)
numbered = torch.arange(4.0).view(1, 4, 1).expand(1, 4, 6)  # token t has the number t in all its channels
for name, split in (("yours", split_heads), ("x.view(1, 2, 4, 3)", lambda x, heads: x.reshape(1, heads, 4, -1))):
    print(f"{name:19} head 0, first channel of its four places: {split(numbered, 2)[0, 0, :, 0].int().tolist()}")


# %% [solution] split_heads
def split_heads(x, heads):
    """(batch, time, width) -> (batch, heads, time, width / heads); head h holds the h-th block of the channels."""
    batch, time, width = x.shape
    return x.view(batch, time, heads, width // heads).transpose(1, 2)  # view renames axes, transpose moves them


# %% [judge] split_heads
import torch


def judge(answer):
    for batch, time, width, heads in ((2, 5, 12, 4), (1, 4, 6, 3), (3, 1, 8, 2)):
        x = torch.arange(float(batch * time * width)).view(batch, time, width)
        gave, size = answer(x, heads), width // heads
        shape = tuple(gave.shape) if isinstance(gave, torch.Tensor) else None
        of, wanted = f"({batch}, {time}, {width}) for {heads} heads", (batch, heads, time, size)
        yield shape == wanted, f"{of}: shape {wanted}, yours {shape}", "The axis of heads comes before time."
        if shape != wanted:
            continue
        other = x.clone()
        other[:, time - 1] += 1000
        moved = (answer(other, heads) != gave).any(-1).any(0)  # (heads, time)
        right = torch.zeros(heads, time, dtype=torch.bool)
        right[:, time - 1] = True
        count, same = int(moved.sum()), torch.equal(moved, right)
        hint = "`view` cuts the numbers in memory order. Split the channels first, then exchange two axes."
        yield same, f"    the last token changed: 1 place in each head moves, in all {heads}; yours {count}", hint
        first = gave[0, -1, 0].tolist()
        block = x[0, 0, -size:].tolist()
        hint = "Head h holds a block of neighboring channels, not each fourth one."
        yield first == block, f"    the last head's channels of token 0: {block}, yours {first}", hint


def by_chunks(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


RIGHT = {"chunks": by_chunks}
LAZY = {
    "a view": lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], -1),
    "two axes swapped first": lambda x, heads: x.transpose(1, 2).reshape(x.shape[0], heads, x.shape[1], -1),
    "each fourth channel": lambda x, heads: x.view(*x.shape[:2], -1, heads).permute(0, 3, 1, 2),
    "not transposed": lambda x, heads: x.view(*x.shape[:2], heads, -1),
}  # fmt: skip

# %% [markdown] figure-text
# ## Three masks
#
# Your two functions, on the first layer of three trained models. A row is a place that reads, the hatched places are the future, and the
# bars are the sums of the rows.

# %% figure
from bugzoo.plots import attention_maps

future = torch.triu(torch.ones(12, 12, device=device), diagonal=1) > 0  # True is later
shown = inputs[:, :12]


def first_scores(model, x):
    """(batch, heads, time, time) scores of the first layer."""
    block, places = model.blocks[0], torch.arange(x.shape[1], device=x.device)
    hidden = block.norm1(model.characters(x) + model.positions(places))
    queries, keys, _ = (split_heads(part, 4) for part in block.attention.project(hidden).chunk(3, dim=-1))
    return queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])


with torch.no_grad():
    maps = {}
    for name, one in (("mask right", honest_model), ("one to the right", model), ("after the softmax", leaky_model)):
        visible = one.blocks[0].attention.mask[:12, :12] > 0
        weights = masked_softmax(first_scores(one, shown), visible)
        if name == "after the softmax":
            weights = weights * ~future
        maps[name] = weights.mean((0, 1)).cpu().numpy()
lab.picture(attention_maps.picture(maps, ~future.cpu().numpy()))
for name, one in maps.items():
    later, lowest = attention_maps.measure(one, ~future.cpu().numpy())
    print(f"{name:18} largest weight later {later:.2f}   smallest sum {lowest:.2f}")

# %% [proof] figure-proof
on_next = float(np.diagonal(maps["one to the right"], 1).mean())
measured = {name: attention_maps.measure(one, ~future.cpu().numpy()) for name, one in maps.items()}
lowest_row = measured["after the softmax"][1]
assert measured["mask right"][0] == measured["after the softmax"][0] == 0 and abs(measured["mask right"][1] - 1) < 1e-5
assert on_next > 0.6 and lowest_row < 0.6
with torch.no_grad():  # the reader's functions give what the model uses
    kept, real = [], F.softmax
    F.softmax = lambda *a, **k: kept.append(real(*a, **k)) or kept[-1]
    model(shown)
    F.softmax = real
    by_hand = masked_softmax(first_scores(model, shown), model.blocks[0].attention.mask[:12, :12] > 0)
    assert torch.allclose(kept[0], by_hand, atol=1e-6)

# %% [folded] figure-read
# After the run: read the pictures
#
# In the middle, one line of full color runs along the hatched side: a place gives {89 % = on_next} of its weight to the next one. On the right the
# hatched side is empty, as on the left. Only the bars differ: the shortest one is {0.53 = lowest_row}.

# %% [markdown] play-text
# ## Play
#
# The healthy program with another diagonal in `torch.tril`, and one to four layers. First guess: how far does a diagonal of 2 reach with
# 3 layers? And what happens at -1?

# %% play


def with_mask(diagonal, layers):
    source = bugzoo.Scenario("mini_transformer", (), {"layers": int(layers)}, device=device).source
    ones = "torch.ones(context, context)"
    run = lab.LiveView(source.replace(ones, f"{ones}, diagonal={diagonal}"), show_twin=False).start()
    loss, one = run.result.trace.loss, run.objects["model"].eval()
    print(f"last 20 losses {loss[-20:].mean():.2f}")
    if not math.isfinite(loss[-1]):
        return None
    print("places ahead:", reach(one, inputs[:16], 10))
    visible = one.blocks[0].attention.mask[:12, :12] > 0
    with torch.no_grad():
        weights = masked_softmax(first_scores(one, shown), visible).mean((0, 1)).cpu().numpy()
    return attention_maps.picture({f"diagonal {diagonal}, layer 1": weights}, ~future.cpu().numpy())


play = lab.play(with_mask, diagonal=(-1, 2, 0), layers=(1, 4, 2))

# %% [proof] play-proof
import contextlib
import io

said = {}
for diagonal, layers in ((2, 3), (-1, 1), (1, 1)):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        with_mask(diagonal, layers)
    said[diagonal] = printed.getvalue()
six = "places ahead: 6" in said[2]
nan_at_once = "nan" in said[-1]
assert six and nan_at_once and "places ahead: 1" in said[1]

# %% [folded] play-read
# After you have played: diagonal times layers
#
# A diagonal of 2 with 3 layers reaches {6 places = six} ahead: each layer adds its own. One place is enough to copy. At -1 the loss is {nan at once = nan_at_once}, as the first place may read nothing.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program: *"A small attention encoder tells positive from negative film reviews. Before I tidied up it was right in {77 % = turn_well}, now in
# {64 % = turn_accuracy}. No error, no nan, all shapes are as before. It has a mask, I checked. I think that the model is too small for reviews of this length."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike. Run the cell of hints in any case: it opens none
# by itself. You have six minutes; the clock interrupts nothing.

# %% turn
second = lab.case("10/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock = lab.timer(6)

# %% [proof] turn-proof
# processors round differently, and that moves an accuracy by two points
turn_accuracy = 100 * turn_run.trace.metrics["accuracy"] - 2, 100 * turn_run.trace.metrics["accuracy"] + 2
reviews = next(iter(turn_view.objects["validation_loader"]))[0].to(device)
turn_model = turn_view.objects["model"].eval()
kept, real = [], F.softmax
F.softmax = lambda *a, **k: kept.append(real(*a, **k)) or kept[-1]
with torch.no_grad():
    turn_model(reviews)
F.softmax = real
on_padding = (reviews == 0)[:, None, None, :]
padded = (reviews == 0).any(1)
on_padding = (kept[0] * on_padding).sum(-1)[padded].mean().item()
all_on_padding = on_padding > 0.99
full = kept[0][~padded]
equal_weights = bool(len(full) and (full.max() - full.min()) < 1e-5)

# %% [measured] twin-and-minus-inf
turn_twin = 100 * second.healthy().run().trace.metrics["accuracy"]
turn_well = turn_twin - 2, turn_twin + 2  # processors round differently
filled = lab.LiveView(second.source.replace("-1e4", 'float("-inf")'), show_twin=False).start()
nan_in_step_1 = math.isnan(filled.result.trace.loss[0])

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   lab.lines(second)                                         the program
#   reviews, labels = next(iter(turn_view.objects["validation_loader"]))     0 is padding
#   turn_view.objects["model"].eval()(reviews[:1])
#   lab.look("influence", turn_run)

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
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "mask != 0" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
graded = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert sorted(one.count("NOT") for one in graded)[0] == 0, graded
from bugzoo import views

turn_looks = views.measure(turn_run, ["influence"])["influence"].numbers
padding_moves = turn_looks["dependency.padding_leak"] > 0.5
assert padding_moves and all_on_padding and equal_weights

# %% [folded] turn-read
# After you have handed in: an inverted mask
#
# The line fills the scores where the mask *is* set. So a review reads its own padding: {all of its weight = all_on_padding} lies there. Cut the padding off, and {the output moves = padding_moves}.
# The model learns a little, as its residual connection brings the words past the attention.
#
# The longest review has no padding, and with `-1e4` {each word gets the same weight = equal_weights}. With `-inf` the loss would be {`nan` in step 1 = nan_in_step_1}.

# %% [check] recap_check
# You review a new attention layer of a language model. Which test do you ask for?
#
# ( ) That its validation loss is not higher than the old one's
#     a leak makes it lower, and the test would pass.
# (x) That no earlier output moves when a later token changes
#     yes. It finds a wrong diagonal, a late mask and a wrong axis, whatever the code looks like.
# ( ) That each row of its attention weights adds up to 1
#     it finds a mask after the softmax, and misses one that shows a place too many.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Change an input, and see which outputs move.** *Fails when* dropout is active: then everything moves. Use eval mode.
# 2. **Count a baseline.** A loss far below it needs a reason. *Fails when* the model is well trained: then it beats a table honestly.
# 3. **Hide before the softmax.** After it, a row's sum tells what is hidden. *Fails when* a whole row is hidden: test for that.
# 4. **A shape that fits proves nothing.** `view` renames axes, `transpose` moves them. *Fails when* an axis has length 1.
#
# **Next:** {exercise = 28} has the same text and another verdict. In
# {exercise = 29} a model sees the future past its mask. In
# {exercise = 30} it has a good loss and writes badly. On your own script: `bugzoo checkup train.py`.

# %% [measured] with-and-without-scale


def late_loss(width, scaled, seed):
    settings = {"width": width, "heads": 1, "layers": 1, "context": 16, "batch_size": 8}
    faults = () if scaled else ("attention/scale_missing",)
    case = bugzoo.Scenario("mini_transformer", faults, settings, seed=seed, device=device)
    return float(case.run().trace.loss[90:].mean())


costs, unscaled = {}, []
for width in (16, 256):
    unscaled = [late_loss(width, False, seed) for seed in range(3)]
    costs[width] = [loss - late_loss(width, True, seed) for seed, loss in enumerate(unscaled)]
print(costs)
small, unscaled_end = max(abs(cost) for several in costs.values() for cost in several) < 0.15, max(unscaled)
assert unscaled_end < 0.75 * math.log(96)

# %% [folded] appendix
# Appendix, for the curious: is the division by `math.sqrt(head_size)` needed? And a mask misread in public
#
# People often say that attention cannot be trained without this division. Below this text a model with one layer and one head is
# trained, of width 16 and 256, with three seeds each, with the division and without.
#
# In each of these pairs the two ends differ by {less than 0.15 nats = small}. Without the division the model at 256 ends at {2.8 = unscaled_end} at most, and a guess
# costs {4.56 = ln_96}: it learns. So keep the division, and do not take its absence for the cause of a run that learns nothing.
#
# **A mask misread in public.** In a speech-synthesis project a reader asked whether `diagonal=1` should be 0. Another one tried 0, and the speech got
# worse ([RVC-Boss/GPT-SoVITS, issue 965](https://github.com/RVC-Boss/GPT-SoVITS/issues/965)). There the mask is a `triu`, and its 1 means *hide*.
