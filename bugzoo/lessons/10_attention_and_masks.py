"""Lesson 10: a language model that is too good, which inputs an output depends on, and masks that hide the wrong place or too late."""

# %% [case] incident
# mini_transformer attention/causal_off_by_one

# %% [case] second
# sequence_classifier attention/mask_inverted

# %% [markdown] title
# # 10 · Attention and masks
#
# A model can be better than it should be. In this lesson you find out which inputs an output depends on, and so whether a mask is right
# without reading it. You write a masked softmax and a split into heads, and repair a model that sees its targets.
#
# You need about {59 = minutes} minutes, and to know that attention is a weighted mean: scores, a softmax, weights times values. Halfway, after
# *Look at it*, is a good place for a pause.
#
# Before each result you predict it. Say something, even a guess: it is saved, not graded. Read folded text after the run above it.
# After a restart of the kernel choose *Run* → *Run All Above Selected Cell*; your predictions and your code are still there. The
# [glossary](glossary.ipynb) explains words.

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
# There are 96 characters, so a guess costs ln 96 = {4.56 = ln_96}. The program states a floor, too: {1 nat = floor_is_one} for a character, far below what
# a model of this size can reach.

# %% [draw] honest
# Draw the training loss of last month's version: {120 = length} steps, healthy in all its parts.
#
# step: 1, 40, 120
# loss (nats): 0 to 5

# %% [markdown] live-text
# ## Watch it
#
# First a **healthy twin** runs, the same program without the fault, then the incident. Look at two things: at which step the curves part,
# and where the incident ends, above or below the floor of {1 nat = floor_is_one}.

# %% live
incident = lab.case("10/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy, ours = view.result.trace, view.healthy.trace, dict(view.objects)
print("step   incident   healthy twin")
for step in (1, 21, 41, 61, 81, len(trace.loss)):
    print(f"{step:4}   {trace.loss[step - 1]:8.2f}   {healthy.loss[step - 1]:12.2f}")
for name, one in (("incident", trace), ("healthy twin", healthy)):
    print(f"{name:12}   validation loss {one.metrics['loss']:.2f}, accuracy {one.metrics['accuracy']:.3f}")
steps = list(range(1, len(trace.loss) + 1))
honest.reveal({"healthy twin": (steps, healthy.loss), "incident": (steps, trace.loss)})

# %% [proof] numbers-proof
import numpy as np

from bugzoo import programs

length, ln_96, floor_is_one = len(trace.loss), math.log(96), programs.load("mini_transformer").facts["floor"] == 1
ill_accuracy, ill_loss = trace.metrics["accuracy"], trace.metrics["loss"]
well_accuracy, well_loss = healthy.metrics["accuracy"], healthy.metrics["loss"]
gap = healthy.loss - trace.loss
together = bool(abs(gap[:20]).max() < 0.35)
assert together and gap[40] > 0.4 and gap[60] > 1.4
codes = ours["train_codes"]
pairs = torch.zeros(96, 96).index_put_((codes[:-1], codes[1:]), torch.ones(len(codes) - 1), accumulate=True)
share = pairs / pairs.sum(1, keepdim=True).clamp(min=1)
by_pairs = -(pairs[pairs > 0] / pairs.sum() * share[pairs > 0].log()).sum().item()
single = torch.bincount(codes, minlength=96) / len(codes)
by_frequency = -(single[single > 0] * single[single > 0].log()).sum().item()
assert abs(by_pairs - well_loss) < 0.1

# %% [folded] numbers-read
# After the run: too good is a symptom
#
# The number that matters is the validation loss of the incident: {0.17 = ill_loss}, far below the floor. The twin has {2.50 = well_loss}. A mere
# table of which character follows which gives {2.48 = by_pairs}. Often told: lower is better. A loss below the entropy of its task has been told something.
#
# In the first 20 steps the two runs {stay close together = together}: both learn how often each character occurs. Then the incident finds something that the
# twin does not have.

# %% [predict] by_place
# {97 % = ill_accuracy} is a mean over the 32 places of a window. Take it apart: at which places is the incident right?
#
# ( ) At all of them alike, about 97 in 100
#     A leak in the data would look like that. A mean can hide its edges, so look at each place.
# ( ) Few at the start, more with each one read
#     A reader with a long memory would look like that. This model has trained for a few seconds.
# (x) At all but the last, which is like the twin's
#     At the last place something is missing that all others have. What stands after each of the others, and not after this one?

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
# Now the colleague's wish: the model writes, one character after the other. What does it write after real beginnings?
#
# ( ) English, as it is right in {99 % = first_places} of the places
#     It is right where a next character stands in the window. When it writes, the next character does not exist yet.
# (x) Something poorer than its twin writes
#     When it writes, each place is a last place. That was one of 32 in training, and the others taught it to look ahead.
# ( ) About as much as its twin, which has read the same
#     At the last place of real text they are about equal. But here each reads what it wrote itself.

# %% write


@torch.no_grad()
def write(model, beginning, count=200):
    """(batch, time) characters and `count` more after each row, drawn as the model thinks likely."""
    torch.manual_seed(0)
    text = beginning
    for _ in range(count):
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
# Read the number *repeats*. {68 % = ill_repeats} of the incident's characters are the same as the one before, in real text {11 % = real_repeats}. The twin has
# {16 % = well_repeats}. It does not write English either, as it has trained for seconds. But it has learned which letters follow which.
#
# So ask of each number: does the model have the same input in use as in the measurement?
#
# It happens in public. A user of a well-known transformer got `98 %` on validation data with a tiny model. The translations made no sense
# ([jadore801120/attention-is-all-you-need-pytorch, issue 19](https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/19)).

# %% [markdown] reach-text
# ## Which inputs does an output depend on?
#
# "It sees its target" can be tested without reading the model: change one input, and see which outputs move. Changing a *later* input
# must not move an earlier output.
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
# Suppose that each layer of the incident lets a place read one character too many, the next one. The model has two layers. How many
# places ahead does an output depend on?
#
# (=) {2 = ill_reach} +- 0
#     The second layer reads the next place, and the first one has already put the character after it there.
# (~) 1
#     That is the reach of one layer. The second layer reads what the first one has written at the next place.
# (~) 0
#     That is the healthy twin. The incident is right at all places but the last, so it reads ahead.
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
# "Place 2 may read places 0, 1, 2 **and 3**." Its target is character 3. Two layers reach {2 = ill_reach} places ahead; one layer reaches 1, and that {is enough = one_is_enough}
# to copy the target. The last place has no next one: its reach is 0, and it has to predict.
#
# Reading a mask is error-prone. In a speech-synthesis project, a reader asked whether `diagonal=1` should be 0. Another one tried 0, and
# the speech got worse ([RVC-Boss/GPT-SoVITS, issue 965](https://github.com/RVC-Boss/GPT-SoVITS/issues/965)). There the mask is a `triu`, and its 1
# means *hide*.

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

# %% [predict] which_number
# You will see both runs in a view with twenty numbers about inputs and outputs. Which one shows this fault at a glance?
#
# (x) The farthest position ahead that moves an output
#     It is your `reach`, and it counts the layers as well.
# ( ) How many attention rows do not sum to 1
#     That number belongs to another fault, and you will meet it below. Here each row sums to 1.
# ( ) How far an output moves with its own input
#     It moves in both runs. An output that ignores its own input would be another fault.
# ( ) How many outputs are NaN for finite inputs
#     A mask that hides a whole row does that. This one hides too little.

# %% [markdown] look-text
# ## Look at it
#
# The view `influence` changes inputs and watches outputs, as you did. A column of its map is a changed input, a row an output: color above
# the diagonal is a look ahead. First the incident, then the healthy twin.

# %% look
healthy_run, looks = incident.healthy().run(), {}
for name, run in (("incident", view.result), ("healthy twin", healthy_run)):
    print(f"--- {name}")
    looks[name] = lab.look("influence", run)
which_number.reveal()

# %% [proof] look-proof
looked_for = "farthest position ahead that moves an output; 9: beyond"
seen_ahead, not_in_twin = looks["incident"][looked_for], looks["healthy twin"][looked_for] == 0
assert not_in_twin and looks["incident"]["share of attention rows that do not sum to 1"] == 0
far_larger = looks["incident"]["change of earlier outputs when later tokens change"] > 0.1

# %% [folded] look-read
# After the run: what the view adds
#
# *Farthest position ahead that moves an output* is {2 = seen_ahead}, and {0 in the twin = not_in_twin}. The view also tries whole samples: no output moves when another sample of the
# batch changes. So the leak is along the time axis, not along the batch.

# %% [predict] mended
# The incident is paused after step 60, with a loss of {1.1 = at_sixty}. Both masks are put right. A model that only knows how often each character
# occurs pays {3.25 = by_frequency}. What is the loss of step 61?
#
# ( ) About {1.1 = at_sixty} still: what it has learned stays learned
#     What it has learned is to copy. From now on there is nothing to copy from.
# ( ) About {2.8 = twin_then}, where the twin is at this step
#     The twin used these 60 steps to learn which character follows which. The incident used them to learn where to look.
# (x) Above {3.25 = by_frequency}: worse than these frequencies
#     It relies on the next place, and there is nothing. A repair can raise the loss, and be right.

# %% [markdown] repair-text
# ## Repair the running program
#
# `view.objects` are the variables of the paused program. The mask is a **buffer**: a tensor of the model that no optimizer moves.
# Look at the loss right after the line that marks the repair.

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
print(f"validation loss at the end: {after.metrics['loss']:.2f}, healthy twin {healthy.metrics['loss']:.2f}")
mended_model = view.objects["model"].eval()
print("places ahead:", reach(mended_model, inputs[:16], 10))
print(f"repeats in what it writes: {repeats(write(mended_model, inputs[:16])[:, 32:]):.0%}")
mended.reveal(f"{after.loss[60]:.2f}")

# %% [proof] repair-proof
at_sixty, jumped, twin_then, mended_loss = trace.loss[59], after.loss[60], healthy.loss[60], after.metrics["loss"]
mended_repeats = repeats(write(mended_model, inputs[:16])[:, 32:])
assert jumped > by_frequency + 0.3 and mended_loss < well_loss + 0.1 and mended_repeats < 0.3
assert reach(mended_model, inputs[:16], 10) == 0
exchanged = lab.LiveView(incident, pause_at=60, show_twin=False).start()
exchanged.wait_pause()
exchanged.patch(incident.healthy().source)
exchanged.resume()
no_effect = bool((exchanged.result.trace.loss == trace.loss).all())
assert no_effect
import copy

loaded = copy.deepcopy(honest_model)
assert str(loaded.load_state_dict(model.state_dict())) == "<All keys matched successfully>"
old_reach = reach(loaded, inputs[:16], 10)
assert old_reach == 2 and reach(honest_model, inputs[:16], 10) == 0

# %% [folded] repair-read
# After the run: a right repair can look like a failure
#
# The loss jumps to {3.74 = jumped}, and 60 steps later the model is close to its twin: {2.56 = mended_loss} instead of {2.50 = well_loss}. Judged by the loss alone, you would have taken
# the repair back.
#
# Putting the *line* right in the paused program has {no effect at all = no_effect}: the line runs in `__init__`, and the model exists already.

# %% [check] checkpoint
# You put the line right, build a new model, and load yesterday's weights with `load_state_dict`. All keys match. How many places ahead
# does an output of this model depend on?
#
# ( ) None, as a new model builds its mask anew
#     it does, and then `load_state_dict` writes the old mask over it. Names and shapes fit, so there is no message.
# (x) Two, as a buffer is loaded like a weight
#     yes, measured: {2 = old_reach}. `register_buffer(..., persistent=False)` keeps a mask out of the state dict.
# ( ) One, as only one of the layers is loaded
#     all keys match, so both layers have been loaded.

# %% [markdown] rows-text
# ## Hide before or after the softmax?
#
# A softmax divides by a sum. Hidden scores must be out of this sum, and a row in which *everything* is hidden has no sum at all.
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


def by_exponentials(scores, mask):
    top = scores.masked_fill(~mask, -1e9).amax(-1, keepdim=True)
    parts = torch.where(mask, scores - top, 0.0).exp() * mask
    return parts / parts.sum(-1, keepdim=True).clamp(min=1e-30)


def divided_again(scores, mask):
    weights = F.softmax(scores, -1) * mask
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)


def nan_to_zero(scores, mask):
    return F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1).nan_to_num()


RIGHT = {"exponentials by hand": by_exponentials, "nan to zero": nan_to_zero}
LAZY = {
    "after the softmax": lambda scores, mask: F.softmax(scores, dim=-1) * mask, "divided again": divided_again,
    "minus infinity alone": lambda scores, mask: F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1),
    "a large negative number": lambda scores, mask: F.softmax(scores.masked_fill(~mask, -1e9), dim=-1),
    "no mask": lambda scores, mask: F.softmax(scores, dim=-1),
}  # fmt: skip

# %% [predict] left
# Five scores are equal. Two of them are hidden, but only after the softmax: their weights are set to 0. What do the weights of the row
# add up to?
#
# (=) {0.6 = three_of_five} +- 0.01
#     Each place got a fifth, and three fifths are left. What the hidden places got is missing.
# (~) 1 +- 0.01
#     That would need a division by what is left. The softmax has already divided, by a sum over all five.
# (~) 0.4 +- 0.01
#     That is what the hidden places got, and lost. The visible ones keep the rest.
# (~) else
#     A softmax over five equal scores gives each a fifth. Two fifths are set to 0.

# %% rows
scores, mask = torch.tensor([1.0, 1.0, 1.0, 1.0, 1.0]), torch.tensor([True, True, True, False, False])
higher = torch.tensor([1.0, 1.0, 1.0, 3.0, 1.0])  # the same, but one hidden score is 3
for name, weigh in (("before", masked_softmax), ("after", lambda scores, mask: F.softmax(scores, -1) * mask)):
    for one in (scores, higher):
        weights = weigh(one, mask)
        told = "  ".join(f"{weight:.2f}" for weight in weights.tolist())
        print(f"mask {name:6} the softmax, hidden scores {one[3]:.0f} and 1: {told}   sum {weights.sum():.2f}")
left.reveal(f"{(F.softmax(scores, -1) * mask).sum():.2f}")

# %% [proof] rows-proof
one_row, hidden = torch.tensor([[1.0, 2.0, 3.0]]), torch.zeros(1, 3) > 0
assert F.softmax(one_row.masked_fill(~hidden, float("-inf")), dim=-1).isnan().all()
assert F.softmax(one_row.masked_fill(~hidden, -1e9), dim=-1).std() < 1e-6
three_of_five = (F.softmax(scores, -1) * mask).sum().item()
sum_higher = (F.softmax(higher, -1) * mask).sum().item()
unmoved = bool(torch.equal(masked_softmax(scores, mask), masked_softmax(higher, mask)))

# %% [folded] rows-read
# After the run: what a hidden score still says
#
# With the mask before the softmax, a higher hidden score {changes nothing = unmoved}. With the mask after it, the sum falls from {0.60 = three_of_five} to {0.26 = sum_higher}. The
# hidden weight is 0 in both rows, but the visible weights tell how high the hidden score was.

# %% [check] empty_row
# A mask hides a whole row by mistake. One program fills hidden scores with `-inf`, another one with `-1e9`. Which of them tells you?
#
# (x) The first one: its loss is `nan` at once
#     yes. Its row has no sum to divide by. You cannot miss it, and you find the row in the first step.
# ( ) The second one: its loss is far too high
#     all scores of the row are equal now, so each hidden place gets the same weight. Nothing looks wrong.
# ( ) Both of them: each row then sums to 0
#     neither does. A softmax sums to 1 or is `nan`.

# %% [predict] behind
# A colleague leaves the incident's mask as it is, and adds one line after the softmax: `weights = weights * torch.tril(ones)`. Now no weight
# lies on a later place. How often is a model right that was trained like this?
#
# ( ) About {31 % = well_accuracy}: no value of a later place gets through
#     No *value* does. But the softmax divided by a sum in which the next place still stood.
# ( ) Below {31 % = well_accuracy}: its rows no longer sum to 1
#     They do not, and the model uses that. What a row lacks tells what stood there.
# (x) About {77 % = leaky_accuracy}: the rows themselves tell
#     A row lacks what the next place got. Four heads give four such numbers for each place.

# %% behind-run
line = "        weights = F.softmax(scores, dim=-1)\n"
added = "        weights = weights * torch.tril(torch.ones(time, time, device=x.device))\n"
second_repair = lab.LiveView(incident.source.replace(line, line + added), show_twin=False).start()
leaky, found = second_repair.result.trace, dict(second_repair.objects)
leaky_model = found["model"].eval()
for name, metrics, one in (
    ("mask after softmax", leaky.metrics, leaky_model),
    ("healthy twin", healthy.metrics, honest_model),
):
    ahead = reach(one, inputs[:16], 10)
    print(f"{name:18}   loss {metrics['loss']:.2f}   accuracy {metrics['accuracy']:.3f}   places ahead {ahead}")
behind.reveal(f"{leaky.metrics['accuracy']:.0%}")

# %% [proof] behind-proof
assert incident.source.count(line) == 1
leaky_accuracy, leaky_reach = leaky.metrics["accuracy"], reach(leaky_model, inputs[:16], 10)
divide = "        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)\n"
divided = lab.LiveView(incident.source.replace(line, line + added + divide), show_twin=False).start()
divided = abs(divided.result.trace.metrics["accuracy"] - well_accuracy) < 0.015
assert divided and leaky_reach == 2

# %% [folded] behind-read
# After the run: the sum knows
#
# The weights on later places are 0, and the model still looks {2 = leaky_reach} places ahead. The proof: train it with each row divided by its sum, and it
# is {right as often as the twin = divided}. Print the weights, and you see nothing. Change an input, and you see it.
#
# The same order stood in a library of image models, until a merged pull request put the mask before the softmax
# ([huggingface/pytorch-image-models, 2236](https://github.com/huggingface/pytorch-image-models/pull/2236)).

# %% [markdown] heads-text
# ## Shapes that fit
#
# Attention has several heads, and each reads a block of the channels: head 0 the first ones, head 1 the next ones. From (batch, time, width)
# to (batch, heads, time, width / heads) many lines lead, and all of them fit in shape.
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
# Your two functions, on the first layer of three trained models. A row is a place that reads, and the hatched places are the future. Look at
# the hatched side first, then at the bars: the sum of each row.

# %% figure
from bugzoo.plots import attention_maps

future = torch.triu(torch.ones(12, 12, device=device), diagonal=1) > 0  # True is later
shown = inputs[:, :12]


def first_scores(model, x, heads=4):
    """(batch, heads, time, time) scores of the first layer."""
    block = model.blocks[0]
    places = torch.arange(x.shape[1], device=x.device)
    hidden = block.norm1(model.characters(x) + model.positions(places))
    queries, keys, _ = block.attention.project(hidden).chunk(3, dim=-1)
    queries, keys = split_heads(queries, heads), split_heads(keys, heads)
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
    print(f"{name:18} largest weight on a later place {later:.2f}   smallest sum of a row {lowest:.2f}")

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
# In the middle, one line of full color runs along the hatched side. On average, a place gives {89 % = on_next} of its weight to the next one. The last row
# has no next place. On the right the hatched side is empty, as on the left. Only the bars differ: the shortest one is {0.53 = lowest_row}.

# %% [predict] unscaled
# "Without the division by `math.sqrt(head_size)` attention cannot be trained." We take it out of the healthy program with one layer and one
# head. The head has width 16, then 256. What will you see?
#
# ( ) At 256 the loss hardly falls, as told
#     The softmax is peaked at the start, that is true. But embeddings, feed-forward layers and values learn all the same.
# ( ) At 256 only the first steps are slower
#     That was our guess, too. The start is a little slower, and the distance stays until the end.
# (x) Both fall, and at 256 they end a bit higher
#     The division helps, more at 256 than at 16. It does not decide whether this model learns.

# %% [markdown] surprise-text
# ## Is the scale needed?
#
# The last column matters: it compares the same width with and without the division. *Peak* is the largest weight of a row after one step,
# on average. Equal weights would give {0.21 = flat_peak}.


# %% surprise
def trained(width, scaled, seed=0):
    """(peak of the attention rows after the first step, losses), one layer with one head of this width."""
    settings = {"width": width, "heads": 1, "layers": 1, "context": 16, "batch_size": 8}
    faults = () if scaled else ("attention/scale_missing",)
    case = bugzoo.Scenario("mini_transformer", faults, settings, seed=seed, device=device)
    run = lab.LiveView(case, pause_at=1, show_twin=False).start()
    run.wait_pause()
    with torch.no_grad():
        scores = first_scores(run.objects["model"], inputs[:, :16], heads=1) * (1 if scaled else math.sqrt(width))
    visible = torch.tril(torch.ones(16, 16, device=device)) > 0
    run.resume()
    return masked_softmax(scores, visible).amax(-1).mean().item(), run.result.trace.loss


print("width   peak, with and without   steps 1 to 30   steps 91 to 120   without minus with")
for width in (16, 256):
    (peak, losses), (other_peak, others) = trained(width, True), trained(width, False)
    late, other_late = losses[90:].mean(), others[90:].mean()
    print(
        f"{width:5} {peak:12.2f} and {other_peak:.2f} {losses[:30].mean():10.2f} {others[:30].mean():5.2f}",
        f"{late:10.2f} {other_late:5.2f} {other_late - late:16.3f}",
    )
unscaled.reveal(f"{other_late:.2f} without the division, {late:.2f} with it, at width 256")

# %% [proof] surprise-proof
flat_peak = float(np.mean([1 / place for place in range(1, 17)]))
costs, early_costs = {16: [], 64: [], 256: []}, []
for size in costs:
    for one_seed in range(3):
        (_, with_it), (_, without_it) = trained(size, True, one_seed), trained(size, False, one_seed)
        costs[size].append(without_it[90:].mean() - with_it[90:].mean())
        assert without_it[90:].mean() < 0.75 * ln_96, (size, one_seed)
        if size == 256:
            early_costs.append(without_it[:30].mean() - with_it[:30].mean())
peak_with, peak_without = trained(256, True)[0], trained(256, False)[0]
cost_16, cost_64, cost_256 = (float(np.mean(one)) for one in costs.values())
print({size: [round(float(one), 3) for one in several] for size, several in costs.items()}, early_costs)
always_higher = min(costs[256]) > 0
assert cost_16 < cost_64 < cost_256 < 0.1 and always_higher and min(early_costs) > 0

# %% [folded] surprise-read
# After the run: the division helps, and the model learns without it
#
# Often told, after the paper that introduced transformers: large scores push the softmax to where it has hardly a slope. Measured here, at width 256: the peak is {0.91 = peak_without} instead of
# {0.38 = peak_with}, so the first half holds. But the model learns. Over three seeds the division is worth {0.01 = cost_16} nats at width 16, {0.03 = cost_64} at 64 and {0.04 = cost_256} at
# 256. So keep the division, and do not take its absence for the cause of a run that learns nothing.

# %% [markdown] play-text
# ## Play
#
# The healthy program with another diagonal in `torch.tril`, and one to four layers. Move the sliders and press **Run**. Begin with a guess: how far
# does a diagonal of 2 reach with 3 layers? And what happens at -1?

# %% play


def with_mask(diagonal, layers):
    """Train with this diagonal; print loss and reach, and draw the first layer's weights."""
    source = bugzoo.Scenario("mini_transformer", (), {"layers": int(layers)}, device=device).source
    ones = "torch.tril(torch.ones(context, context))"
    run = lab.LiveView(source.replace(ones, f"{ones[:-1]}, diagonal={diagonal})"), show_twin=False).start()
    loss, one = run.result.trace.loss, run.objects["model"].eval()
    print(f"diagonal {diagonal}, layers {layers}: last 20 losses {loss[-20:].mean():.2f}", end="   ")
    if not math.isfinite(loss[-1]):
        print("place 0 may read nothing: its row is all -inf, and its softmax is nan")
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
# A diagonal of 2 with 3 layers reaches {6 places = six} ahead: each layer adds its own. More reach does not lower the loss much: one place is enough to copy.
# At -1 the loss is {nan at once = nan_at_once}, as the first place may read nothing.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"A small attention encoder tells positive from negative film reviews. Before I tidied up it was right in {77 % = turn_well}, now in
# {64 % = turn_accuracy}. No error, no nan, all shapes are as before. It has a mask, I checked. I think that the model is too small for reviews of this length."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike. Three hints are below; run their cell
# in any case, it opens none by itself. The clock starts when the run is over. You have six minutes. It interrupts nothing.

# %% turn
second = lab.case("10/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock = lab.timer(6)

# %% [proof] turn-proof
# processors round differently, and that moves an accuracy by two points
turn_accuracy, turn_well = (
    (100 * one.trace.metrics["accuracy"] - 2, 100 * one.trace.metrics["accuracy"] + 2)
    for one in (turn_run, second.healthy().run())
)
reviews = next(iter(turn_view.objects["validation_loader"]))[0].to(device)
turn_model = turn_view.objects["model"].eval()
kept, real = [], F.softmax
F.softmax = lambda *a, **k: kept.append(real(*a, **k)) or kept[-1]
with torch.no_grad():
    turn_model(reviews)
F.softmax = real
padding = (reviews == 0)[:, None, None, :]
padded = (reviews == 0).any(1)
on_padding = (kept[0] * padding).sum(-1)[padded].mean().item()
all_on_padding = on_padding > 0.99
full = kept[0][~padded]
equal_weights = bool(len(full) and (full.max() - full.min()) < 1e-5)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   lab.lines(second)                                         the program with its line numbers
#   reviews, labels = next(iter(turn_view.objects["validation_loader"]))     0 is padding
#   turn_view.objects["model"].eval()(reviews[:1])           one review; what may its answer depend on?
#   lab.look("influence", turn_run)                          which one of its numbers do you want?

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
# The model learns a little all the same, as its residual connection brings the words past the attention.
#
# The longest review has no padding. All its scores are filled, and with `-1e4` {each word gets the same weight = equal_weights}. With `-inf` it would have been `nan` in step 1.

# %% [check] true_means
# Libraries do not agree on what `True` means in a mask. Which belongs to which?
#
# `attn_mask` of `F.scaled_dot_product_attention` -> this place may be read
# `attn_mask` of `nn.MultiheadAttention` -> this place is hidden
# `key_padding_mask` of `nn.MultiheadAttention` -> this place is hidden
# `scores.masked_fill(mask, float("-inf"))` -> this place is hidden
#     After an exchange of one for the other, change one hidden input: no output may move.

# %% [proof] true-proof
asked = torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(0))
only_first = torch.tensor([[True, False, False]] * 3)
assert torch.allclose(
    F.scaled_dot_product_attention(asked, asked, asked, attn_mask=only_first)[0], asked[0, :1].expand(3, 4)
)
attend = torch.nn.MultiheadAttention(4, 1, batch_first=True).eval()
with torch.no_grad():
    for option in ({"attn_mask": only_first}, {"key_padding_mask": only_first[:1]}):
        assert attend(asked, asked, asked, **option)[1][0, :, 0].abs().max() == 0

# %% [check] recap_check
# You review a new attention layer of a language model. Which test do you ask for?
#
# ( ) That its validation loss is not higher than the old one's
#     a leak makes it lower, and the test would pass with pleasure.
# (x) That no earlier output moves when a later token changes
#     yes. It asks for what is meant, whatever the code looks like. It finds a wrong diagonal, a late mask and a wrong axis.
# ( ) That each row of its attention weights adds up to 1
#     it finds a mask after the softmax. A mask that is one place too generous passes.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Change an input, and see which outputs move.** *Fails when* dropout is active: then everything moves. Use eval mode.
# 2. **Know the entropy of your task.** A loss below it has been told something. *Fails when* the floor is only an estimate.
# 3. **Hide before the softmax.** After it, the sum still knows. *Fails when* a whole row is hidden: decide what it should be.
# 4. **A shape that fits proves nothing.** `view` renames axes, `transpose` moves them. *Fails when* an axis has length 1: then both are
#    right.
#
# **Next:** [exercise 28](../exercises/28_mixed_lengths.ipynb) is about the same text and another verdict. In
# [exercise 29](../exercises/29_through_the_wall.ipynb) you let a model see the future, past its mask. In
# [exercise 30](../exercises/30_the_letter_before.ipynb) a model has a good loss and writes badly. The same views work on your own script,
# without changing it: `bugzoo checkup train.py`.
