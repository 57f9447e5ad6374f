"""Lesson 10: a language model that is too good, which inputs an output depends on, and masks that hide the wrong place or too late."""

# %% [case] incident
# mini_transformer attention/causal_off_by_one

# %% [case] second
# sequence_classifier attention/mask_inverted

# %% [markdown] title
# # 10 · Attention and masks
#
# Which inputs does an output depend on, and so: is the mask right? You need to know that attention is a weighted mean: scores, a
# softmax, weights times values. About {40 = minutes} minutes. The {lesson = 00} says how a lesson works.

# %% setup
device = "cpu"  # or "auto", "cuda"

import torch
import torch.nn.functional as F

from bugzoo import lab
from bugzoo.lessons.parts import attention

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("10")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## A language model is too good
#
# > *Thursday, 22:50.* "My small transformer predicts characters of Python's help texts. On validation text {97 % = ill_accuracy} of them are
# > right, with a loss of {0.17 = ill_loss}. Last month's version got {31 % = well_accuracy} and {2.50 = well_loss}. I want to show the curve tomorrow. A colleague asks me to let the
# > model write a sentence first."
#
# Two layers of attention read windows of 32 characters, and predict the next one at *each* place. A guess among 96 characters costs
# {4.56 = ln_96} [nats](glossary.ipynb#nats). A harder baseline is a bigram table: it counts which character follows which.

# %% [draw] honest
# Draw the training loss of last month's version: {120 = length} steps, without a fault.
#
# step: 1, 40, 120
# loss (nats): 0 to 5

# %% live
incident = lab.case("10/incident")
bigram, frequencies = attention.baselines(incident)
baseline = {"bigram table": bigram}
view = lab.live(incident, explain=False, reference=baseline)

# %% numbers
first_run, healthy, steps = view.result, view.healthy.trace, range(1, 121)
trace = first_run.trace
honest.reveal({"healthy twin": (steps, healthy.loss), "incident": (steps, trace.loss)}, reference=baseline)
print(f"losses on validation text: {trace.metrics['loss']:.2f}, twin {healthy.metrics['loss']:.2f}, table {bigram:.2f}")

# %% [proof] numbers-proof
import math

import numpy as np

length, ln_96 = len(trace.loss), math.log(96)
ill_accuracy, ill_loss = trace.metrics["accuracy"], trace.metrics["loss"]
well_accuracy, well_loss = healthy.metrics["accuracy"], healthy.metrics["loss"]
gap = healthy.loss - trace.loss
together = bool(abs(gap[:20]).max() < 0.35)
assert together and gap[40] > 0.4 and gap[60] > 1.4
by_pairs, by_frequency = bigram, frequencies
assert ill_loss < by_pairs - 1 and by_pairs < well_loss

# %% [measured] twice-as-long
longer_loss = attention.trained(incident.healthy(), steps=240)["metrics"]["loss"]

# %% [folded] numbers-read
# After the run: too good is a symptom
#
# The incident's validation loss is {0.17 = ill_loss}, the bigram table's {2.45 = by_pairs}. A loss far below a baseline needs a reason. (After {120 = length} steps last
# month's version is no better than the table. After 240 it gets {2.26 = longer_loss}.)

# %% [draw] by_place
# {97 % = ill_accuracy} is a mean over the 32 places of a window. Draw how often the incident is right at each of them.
#
# place: 0, 8, 16, 24, 31
# right predictions (%): 0 to 100

# %% [predict] writes
# Now the model writes, one character after the other, as the colleague wished. What does it write?
#
# ( ) English, as it is right in {97 % = ill_accuracy} of the places
#     It is right where a next character stands in the window. When it writes, that one does not exist.
# (x) Something poorer than its twin writes
#     Each place is then a last one. In training that was one of 32, and the others taught it to look ahead.
# ( ) About as much as its twin, which has read the same
#     They are about equal at the last place of real text. But here each reads what it wrote itself.

# %% places
inputs, targets = attention.windows(incident)  # (256, 32) characters of validation text each
models = {"incident": view.objects["model"].eval(), "healthy twin": attention.trained(incident.healthy())["model"]}
right, repeated = {}, {}
for name, net in models.items():
    right[name] = range(32), (100 * (net(inputs).argmax(-1) == targets).float().mean(0)).tolist()
    text = attention.write(net, inputs[:16])
    repeated[name] = attention.repeats(text)
    print(f"{name:12}  repeats {repeated[name]:.0%}  {attention.readable(text[0, :72])!r}")
print(f"real text     repeats {attention.repeats(inputs):.0%}")
by_place.reveal(right)
writes.reveal(f"{repeated['incident']:.0%} of its characters repeat the one before")

# %% [proof] places-proof
at_place = {name: np.array(values[1]) / 100 for name, values in right.items()}
first_places, last_place = at_place["incident"][:31].mean(), at_place["incident"][31]
assert at_place["incident"][:31].min() > 0.97 and abs(last_place - at_place["healthy twin"][31]) < 0.06
like_twin = bool(last_place < 0.45)
ill_repeats, well_repeats, real_repeats = *repeated.values(), attention.repeats(inputs)
assert ill_repeats > 0.5 and well_repeats < 0.25

# %% [folded] places-read
# After the run: what stands after each place but the last?
#
# The incident is right in {99 % = first_places} of the first 31 places, and at the last {like its twin = like_twin}. A leak in the data would help all places alike.
#
# {68 % = ill_repeats} of what it writes repeats the character before, {16 % = well_repeats} of the twin's text, {9 % = real_repeats} of real text. So ask: does the model get the same
# input in use as in the measurement?

# %% [markdown] reach-text
# ## Which inputs does an output depend on?
#
# Test it without reading the model: change a *later* input, and no earlier output may move. **Write it:** how many places ahead does
# the output at one place look? Characters are whole numbers from 0 to 95.


# %% [task] reach
def reach(model, x, place):
    """How many places ahead the farthest input stands that moves the output at `place`; 0 if no later input does.

    `x`: (batch, time) characters, unchanged afterwards; `model(x)`: (batch, time, channels).
    """
    farthest = 0
    with torch.no_grad():
        before = model(x)[:, place]
        for later in range(place + 1, x.shape[1]):
            changed = x.clone()
            ...  # your code: change one character, compare; after the loop, return the farthest


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

HELP = {"index out of range": "A character 96 does not exist: after adding 1, take the remainder, `% 96`."}


class Looks(nn.Module):
    """Its output at a place is the sum of what stands at these distances from it."""

    def __init__(self, *distances):
        super().__init__()
        self.distances = distances
        self.table = nn.Embedding.from_pretrained(torch.arange(96.0)[:, None] * torch.tensor([0.01, -0.03]))

    def forward(self, x):
        places = torch.arange(x.shape[1])
        distance = places[None] - places[:, None]
        seen = torch.stack([distance == step for step in self.distances]).any(0)
        return seen.float() @ self.table(x)


def judge(answer):
    tokens = torch.randint(1, 96, (3, 10), generator=torch.Generator().manual_seed(0))
    tokens[0, 4] = 95
    zeros = torch.zeros(2, 10, dtype=torch.long)
    for x, distances, place, wanted, hint in (
        (tokens, (-2, -1, 0), 3, 0, "It looks back and at its own place. Only later places count."),
        (tokens, (0, 1), 3, 1, "The next place moves this output. Does your change reach the model?"),
        (tokens, (-1, 0, 3), 4, 3, "The next places can leave the output as it is. Do not stop at the first of them."),
        (tokens, (0, 1, 2), 5, 2, "How far, not whether: change one later place at a time."),
        (tokens, (0, 1), 9, 0, "Nothing stands after the last place. Look at the output of this place only."),
        (zeros, (0, 1), 2, 1, "Some characters are 0 already. Take another one for certain."),
    ):  # fmt: skip
        before = x.clone()
        gave = answer(Looks(*distances), x, place)
        reads = ", ".join(f"{step:+d}" for step in distances)
        got = str(gave) if isinstance(gave, bool) else gave
        yield f"a model that reads the places {reads}, output {place} of 10", wanted, got, hint
        same = torch.equal(x, before)
        x.copy_(before)
        yield "    x is as before", True, same, "Change a copy: x.clone()."


def from_the_end(model, x, place):
    before = model(x)
    for later in reversed(range(place + 1, x.shape[1])):
        other = torch.cat([x[:, :later], 95 - x[:, later : later + 1], x[:, later + 1 :]], 1)
        if not torch.equal(model(other)[:, place], before[:, place]):
            return later - place
    return 0


def with_change(move, at=lambda out, place: out[:, place], stop=False):
    def answer(model, x, place):
        farthest = 0
        for later in range(place + 1, x.shape[1]):
            other = move(x, later)
            if (at(model(other), place) - at(model(x), place)).abs().max() > 1e-6:
                farthest = later - place
            elif stop:
                break
        return farthest

    return answer


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
# Suppose that each of the two layers lets a place read the next one, too. How many places ahead does an output depend on?
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
single = attention.trained(incident, layers=1)
for name, net in (models | {"incident, one layer": single["model"]}).items():
    print(f"{name:20} places ahead, at places 3, 10 and 31:", [reach(net, inputs[:16], place) for place in (3, 10, 31)])
print(models["incident"].blocks[0].attention.mask[:5, :5].int().cpu())
print(incident.diff())
how_far.reveal()

# %% [proof] reach-proof
reached = {name: [reach(net, inputs[:16], place) for place in (3, 10, 31)] for name, net in models.items()}
assert reached == {"incident": [2, 2, 0], "healthy twin": [0, 0, 0]}
ill_reach, one_is_enough = reached["incident"][0], single["metrics"]["accuracy"] > 0.95
assert one_is_enough and [reach(single["model"], inputs[:16], place) for place in (3, 10, 31)] == [1, 1, 0]

# %% [folded] reach-read
# After the run: read row 2 aloud
#
# "Place 2 may read places 0, 1, 2 **and 3**." Its target is the character of place 3. Two layers reach {2 = ill_reach} places ahead; one reaches 1, and that {is enough = one_is_enough}
# to copy.

# %% [check] masks
# Four masks of five places, with `ones = torch.ones(5, 5)`. Which places may place 2 read?
#
# `torch.tril(ones)`, 1 shows -> 0, 1, 2
# `torch.triu(ones, diagonal=1)`, 1 hides -> 0, 1, 2
# `torch.tril(ones, diagonal=1)`, 1 shows -> 0, 1, 2, 3
# `torch.triu(ones)`, 1 hides -> 0, 1
#     The diagonal says nothing by itself. You need `tril` or `triu`, what a 1 means, and where the target stands.

# %% [proof] masks-proof
ones = torch.ones(5, 5)
may_read = [torch.tril(ones) > 0, torch.triu(ones, 1) == 0, torch.tril(ones, 1) > 0, torch.triu(ones) == 0]
assert [mask[2].nonzero().flatten().tolist() for mask in may_read] == [[0, 1, 2], [0, 1, 2], [0, 1, 2, 3], [0, 1]]

# %% [predict] mended
# After step 60, at a loss of {1.1 = at_sixty}, both masks of the incident are put right. Frequencies of characters alone cost
# {3.22 = by_frequency}. What is the loss of step 61?
#
# ( ) About {1.1 = at_sixty} still: what it has learned stays learned
#     It has learned to copy, and now there is nothing to copy from.
# ( ) About {2.8 = twin_then}, where the twin is at this step
#     The twin used these 60 steps to learn which character follows which.
# (x) Above {3.22 = by_frequency}: worse than frequencies alone
#     It relies on the next place, which it no longer sees. A right repair can raise the loss.

# %% [markdown] repair-text
# ## Put the masks right in the running program
#
# The mask is a **[buffer](glossary.ipynb#buffer)**: a tensor of the model that no optimizer moves.

# %% repair
view = lab.live(incident, pause_at=60, explain=False, reference={"frequencies alone": frequencies})
view.wait_pause()
for name, mask in view.objects["model"].named_buffers():
    print(name, tuple(mask.shape))
    mask.copy_(torch.tril(torch.ones_like(mask)))
view.mark(60, "masks put right")
view.resume()

# %% repair-numbers
mended_run, mended_model = view.result.trace, view.objects["model"].eval()
print("losses of steps 59 to 64:", "  ".join(f"{loss:.2f}" for loss in mended_run.loss[58:64]))
print(f"validation loss {mended_run.metrics['loss']:.2f}, healthy twin {healthy.metrics['loss']:.2f}")
print("places ahead:", reach(mended_model, inputs[:16], 10))
print(f"repeats in what it writes: {attention.repeats(attention.write(mended_model, inputs[:16])):.0%}")
mended.reveal(f"{mended_run.loss[60]:.2f}")

# %% [proof] repair-proof
at_sixty, jumped, twin_then = trace.loss[59], mended_run.loss[60], healthy.loss[60]
mended_loss = mended_run.metrics["loss"]
assert jumped > by_frequency + 0.3 and mended_loss < well_loss + 0.1
assert attention.repeats(attention.write(mended_model, inputs[:16])) < 0.3
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
# The loss jumps to {3.74 = jumped}. At the end the model is close to its twin: {2.56 = mended_loss} instead of {2.50 = well_loss}. Putting the *line* right in the paused
# program has {no effect at all = no_effect}: it runs in `__init__`, and the model exists already.

# %% [markdown] rows-text
# ## Hide before or after the softmax?
#
# A softmax divides by a sum, and hidden scores must be out of this sum.
#
# **Write it:** visible weights add up to 1, hidden weights are 0, and a row without anything visible is all 0, not `nan`.


# %% [task] masked_softmax
def masked_softmax(scores, mask):
    """Attention weights over the last axis. `mask` is True where a score is visible, and broadcasts to the scores."""
    empty = ~mask.any(-1, keepdim=True)  # rows without anything visible
    ...  # your code


# %% [solution] masked_softmax
def masked_softmax(scores, mask):
    """Attention weights over the last axis. `mask` is True where a score is visible, and broadcasts to the scores."""
    empty = ~mask.any(-1, keepdim=True)  # rows without anything visible
    scores = scores.masked_fill(~mask & ~empty, float("-inf"))  # an empty row keeps its scores, or it would be nan
    return F.softmax(scores, dim=-1).masked_fill(empty, 0.0)


# %% [judge] masked_softmax
import torch
import torch.nn.functional as F

HELP = {
    r"`-` operator": "`~mask` turns True into False. A boolean mask has no minus.",
    r"in-place operation": "Do not write into the scores of the caller. `masked_fill` returns new ones.",
    r"shape of the mask": "The mask may lack the batch axis. `masked_fill` broadcasts it, an index does not.",
}


def text(values, digits=3):
    return "none" if values is None else ", ".join(f"{value:.{digits}f}" for value in values.tolist())


def judge(answer):
    rows = (
        ("all visible", [0.5, 1.0, -2.0], [1, 1, 1], "With everything visible it is the plain softmax over the last axis."),
        ("one hidden", [0.5, 1.0, -2.0], [1, 1, 0], "After the softmax, the sum still has the hidden score in it."),
        ("a huge score hidden", [300.0, 1.0, 2.0], [0, 1, 1], "The largest score takes all the weight before your mask."),
        ("one visible", [0.0, 0.0, 0.0], [1, 0, 0], "A single visible score gets all the weight."),
        ("nothing visible", [1.0, 2.0, 3.0], [0, 0, 0], "A row of -inf has no sum, and a row of -1e9 gets equal weights."),
    )  # fmt: skip
    scores = torch.tensor([row[1] for row in rows], requires_grad=True)
    mask = torch.tensor([row[2] for row in rows]) > 0
    gave = answer(scores, mask)
    fits = isinstance(gave, torch.Tensor) and gave.shape == scores.shape
    for number, (what, _, _, hint) in enumerate(rows):
        wanted, visible = torch.zeros(3), mask[number]
        wanted[visible] = F.softmax(scores[number][visible].detach(), dim=-1)
        row = gave[number].detach() if fits else None
        close = row is not None and torch.allclose(row, wanted, atol=1e-6)
        yield what, text(wanted), text(wanted) if close else text(row, 6), hint
    if fits:
        slopes = torch.autograd.grad(gave[:, 1].sum(), scores, allow_unused=True)[0] if gave.requires_grad else None
        finite = slopes is not None and bool(slopes.isfinite().all())
        hint = "Compute the exponentials of visible scores only: what is infinite there is nan in the backward pass."
        yield "the gradient is finite", True, finite, hint
    table, causal = torch.arange(12.0).view(2, 2, 3), torch.tensor([[True, False, False], [True, True, False]])
    gave = answer(table, causal)
    fits = isinstance(gave, torch.Tensor) and gave.shape == table.shape
    fits = fits and torch.allclose(gave, F.softmax(table.masked_fill(~causal, float("-inf")), -1))
    yield "one mask serves two samples", True, fits, "A mask may lack the batch axis."
    scores = torch.arange(64.0).view(2, 2, 4, 4).sin()  # (batch, heads, reads, is read)
    padding = torch.tensor([[0, 0, 0, 0], [1, 1, 0, 0]]) > 0  # the second text has two words, left-padded
    visible = torch.tril(torch.ones(4, 4) > 0) & ~padding[:, None, None, :]
    gave = answer(scores, visible)
    wanted = F.softmax(scores.masked_fill(~visible, float("-inf")), -1).nan_to_num()
    fits = isinstance(gave, torch.Tensor) and gave.shape == scores.shape
    for number, length in enumerate(("of 4 words", "of 2 words, left-padded")):
        yield (
            f"causal and padding together, a text {length}, is right", True,
            fits and torch.allclose(gave[number], wanted[number], atol=1e-6),
            "Each text has its own mask, for all its heads. Only some rows of a text are all hidden.",
        )  # fmt: skip


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

# %% [check] true_means
# What does `True` mean in each mask?
#
# `attn_mask` of `F.scaled_dot_product_attention` -> this place may be read
# `attn_mask` of `nn.MultiheadAttention` -> this place is hidden
# `key_padding_mask` of `nn.MultiheadAttention` -> this place is hidden
# `scores.masked_fill(mask, float("-inf"))` -> this place is hidden
#     After you exchange one for the other, change a hidden input: no output may move.

# %% [predict] left
# Five scores are equal. Two are hidden, but only after the softmax: their weights are set to 0. What do the five weights add up to?
#
# (=) {0.6 = three_of_five} +- 0.01
#     Each place got a fifth, and three fifths are left.
# (~) 1 +- 0.01
#     The softmax has already divided, by a sum over all five.
# (~) 0.4 +- 0.01
#     That is what the hidden places got, and lost.
# (~) else
#     A softmax over five equal scores gives each a fifth.

# %% [predict] empty_row tags=["how-sure"]
# In a left-padded text, a causal and a padding mask together hide whole rows. Fill with `-inf`: which of a softmax by hand,
# `F.scaled_dot_product_attention` and `nn.MultiheadAttention` give `nan` there?
#
# ( ) All three, as there is no sum to divide by
#     True of a softmax by hand. Another looks for such a row first.
# (x) The softmax by hand, and the module by default
#     With `need_weights=False` the module calls the function, and that gives zeros.
# ( ) The function alone, as it is made for speed
#     It gives zeros there. What does a softmax by hand divide by?
# ( ) None of them, as each fills such a row
#     A softmax by hand knows of no mask: it gets a row of `-inf`.

# %% rows
equal, higher = torch.ones(5), torch.tensor([1.0, 1.0, 1.0, 3.0, 1.0])  # in `higher` a hidden score is 3
first_three = torch.arange(5) < 3
for scores in (equal, higher):
    before, after = masked_softmax(scores, first_three), F.softmax(scores, -1) * first_three
    for name, weights in (("before", before), ("after", after)):
        print(f"{name:6} softmax, hidden score {scores[3]:.0f}: {weights.numpy().round(2)}, sum {weights.sum():.2f}")
left.reveal(f"{(F.softmax(equal, -1) * first_three).sum():.2f}")
outputs = attention.seven_calls(masked_softmax)
empty_row.reveal(", ".join(name for name, output in outputs.items() if output[1, 0].isnan().any()))

# %% [proof] rows-proof
three_of_five, sum_higher = ((F.softmax(scores, -1) * first_three).sum().item() for scores in (equal, higher))
unmoved = bool(torch.equal(masked_softmax(equal, first_three), masked_softmax(higher, first_three)))
words, _, _, visible = attention.two_texts()
reads = visible.any(-1)
ours_there = outputs["your masked_softmax"][reads]
hidden_rows = {name: output[1, :2].detach() for name, output in outputs.items()}
nan_there = [name for name, row in hidden_rows.items() if row.isnan().all()]
zero_there = [name for name, row in hidden_rows.items() if (row == 0).all()]
assert nan_there == ["softmax of -inf", "nn.MultiheadAttention"] and len(zero_there) == 4
all_agree = all(torch.allclose(output[reads], ours_there, atol=1e-5) for output in outputs.values())
equal_to_mean = torch.allclose(hidden_rows["softmax of -1e9"], words[1].mean(0).expand(2, 4), atol=1e-6)
inverted = F.scaled_dot_product_attention(words, words, words, attn_mask=~visible)
assert not torch.allclose(inverted[reads], ours_there, atol=0.1)

# %% [folded] rows-read
# After the run: what a hidden score still says
#
# With the mask before the softmax, a higher hidden score {changes nothing = unmoved}. With the mask after it, the sum falls from {0.60 = three_of_five} to {0.26 = sum_higher}:
# the visible weights tell the hidden score.
#
# In all other rows the seven calls {agree = all_agree}. In a hidden row `nan` tells you, zeros do not, and `-1e9` gives {the mean of all words = equal_to_mean},
# padding included. So test the mask: `mask.any(-1).all()`.

# %% [predict] behind tags=["how-sure"]
# A colleague leaves the incident's mask, and adds a line after the softmax: `weights = weights * torch.tril(ones)`. Now no weight
# lies on a later place. How often is a model right that is trained so?
#
# ( ) About {31 % = well_accuracy}: no value of a later place gets through
#     No *value* does. But the softmax divided by a sum in which the next place still stood.
# ( ) Below {31 % = well_accuracy}: its rows no longer sum to 1
#     They do not, and the model uses that.
# (x) About {77 % = leaky_accuracy}: the rows themselves tell
#     A row lacks what the next place got, in each of four heads.

# %% behind-run
late = {}
for name, text in attention.late_masks(incident).items():
    late[name] = lab.LiveView(text, show_twin=False).start()
    print(f"{name:22}  accuracy {late[name].result.trace.metrics['accuracy']:.3f}")
leaky_run, leaky_model = late[attention.LATE].result, late[attention.LATE].objects["model"].eval()
print("places ahead with the mask after the softmax:", reach(leaky_model, inputs[:16], 10))
behind.reveal(f"{leaky_run.trace.metrics['accuracy']:.0%}")

# %% [proof] behind-proof
assert incident.source.count(attention.SOFTMAX) == 1
leaky_accuracy, divided_accuracy = (rival.result.trace.metrics["accuracy"] for rival in late.values())
leaky_reach = reach(leaky_model, inputs[:16], 10)
divided = abs(divided_accuracy - well_accuracy) < 0.015
assert divided and leaky_reach == 2

# %% [folded] behind-read
# After the run: the sum knows
#
# The weights on later places are 0, and the model still looks {2 = leaky_reach} places ahead. With each row divided by its sum, it is right in {31 % = divided_accuracy},
# {like the twin = divided}: the sums carried the leak. A print of the weights does not show it, a changed input does. A library of image models had this
# order ([huggingface/pytorch-image-models, 2236](https://github.com/huggingface/pytorch-image-models/pull/2236)).

# %% [predict] which_number
# The incident and the mask after the softmax both look {2 = leaky_reach} places ahead. Which number of the view `influence` tells them apart?
#
# (x) {label = influence.lowest_sum}
#     Where the mask comes before the softmax, each row adds up to 1.
# ( ) {label = influence.future_reach}
#     It is {2 = leaky_reach} in both, so it cannot tell them apart.
# ( ) {label = influence.batch_leak}
#     It is 0 in both: the leak runs along time, not along the batch.

# %% [markdown] look-text
# ## The view `influence`
#
# In its map, color above the diagonal is a look ahead.

# %% look
beside = {"incident": first_run, "healthy twin": incident.healthy().run()}
looks = lab.look("influence", leaky_run, beside=beside)
which_number.reveal()

# %% [proof] look-proof
from bugzoo import views

tables = {name: views.measure(run, ["influence"])["influence"].numbers for name, run in beside.items()}
assert looks["{label = influence.future_reach}"] == tables["incident"]["dependency.future_reach"] == 2
not_in_twin = tables["healthy twin"]["dependency.future_reach"] == 0
assert (
    looks["{label = influence.lowest_sum}"] < 0.9 and abs(tables["incident"]["lowest_sum"] - 1) < 1e-3 and not_in_twin
)
assert looks["{label = influence.batch_leak}"] == tables["incident"]["batch_independence.batch_leak"] == 0

# %% [markdown] heads-text
# ## Shapes that fit
#
# Each head of attention reads a block of the channels, head 0 the first one. Many lines give the right shape. **Write it:** if you
# change one token, only that token's place may change, in every head.


# %% [task] split_heads
def split_heads(x, heads):
    """(batch, time, width) -> (batch, heads, time, width / heads); head h holds the h-th block of the channels."""
    batch, time, width = x.shape
    ...  # your code


# %% [solution] split_heads
def split_heads(x, heads):
    """(batch, time, width) -> (batch, heads, time, width / heads); head h holds the h-th block of the channels."""
    batch, time, width = x.shape
    return x.view(batch, time, heads, width // heads).transpose(1, 2)  # view renames axes, transpose moves them


# %% [judge] split_heads
import torch

HELP = {
    r"view size is not compatible": "After `transpose`, neighbors are no longer neighbors in memory. Split the channels first.",
    r"is invalid for input of size": "The last axis becomes two: heads, and width // heads.",
}


def judge(answer):
    for batch, time, width, heads in ((2, 5, 12, 4), (1, 4, 6, 3), (3, 1, 8, 2)):
        x = torch.arange(float(batch * time * width)).view(batch, time, width)
        gave, size = answer(x, heads), width // heads
        shape = tuple(gave.shape) if isinstance(gave, torch.Tensor) else None
        wanted = (batch, heads, time, size)
        yield (
            f"shape of ({batch}, {time}, {width}) with {heads} heads",
            wanted,
            shape,
            "The axis of heads comes before time.",
        )
        if shape != wanted:
            continue
        other = x.clone()
        other[:, time - 1] += 1000
        moved = (answer(other, heads) != gave).any(-1).any(0)  # (heads, time)
        places = [row.nonzero().flatten().tolist() for row in moved]
        hint = "`view` cuts the numbers in memory order. Split the channels first, then exchange two axes."
        yield f"    token {time - 1} changes: the places that move, by head", [[time - 1]] * heads, places, hint
        hint = "Head h holds a block of neighboring channels, not each fourth one."
        yield "    channels of token 0 in the last head", x[0, 0, -size:].tolist(), gave[0, -1, 0].tolist(), hint


def by_chunks(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


RIGHT = {"chunks": by_chunks}
LAZY = {
    "a view": lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], -1),
    "two axes swapped first": lambda x, heads: x.transpose(1, 2).reshape(x.shape[0], heads, x.shape[1], -1),
    "each fourth channel": lambda x, heads: x.view(*x.shape[:2], -1, heads).permute(0, 3, 1, 2),
    "not transposed": lambda x, heads: x.view(*x.shape[:2], heads, -1),
}  # fmt: skip

# %% [markdown] play-text
# ## Three masks, and yours
#
# Your two functions, on the first layer of three models. A row is a place that reads, hatched places are later ones, and bars are the
# sums of the rows. Then train the healthy program with another diagonal and more layers. Guess first: how far does a diagonal of 2
# reach with 3 layers? And what happens at -1?

# %% play
models[attention.LATE] = leaky_model
maps = attention.maps(models, inputs, split_heads, masked_softmax)
lab.picture(attention.picture(maps))
with_mask = attention.player(reach, split_heads, masked_softmax, inputs)
play = lab.play(with_mask, diagonal=(-1, 2, 0), layers=(1, 4, 2))

# %% [proof] play-proof
import contextlib
import io

from bugzoo.plots import attention_maps

on_next = float(np.diagonal(maps["incident"], 1).mean())
not_later = np.tril(np.ones((12, 12))) > 0
shares = {name: attention_maps.measure(weights, not_later) for name, weights in maps.items()}
lowest_row = shares["mask after the softmax"][1]
assert (
    shares["healthy twin"][0] == shares["mask after the softmax"][0] == 0 and abs(shares["healthy twin"][1] - 1) < 1e-5
)
assert on_next > 0.6 and lowest_row < 0.6
with torch.no_grad():  # the reader's functions give what the model uses
    recorded, real = [], F.softmax
    F.softmax = lambda *a, **k: recorded.append(real(*a, **k)) or recorded[-1]
    models["incident"](inputs[:, :12])
    F.softmax = real
    by_hand = masked_softmax(*attention.scores_and_mask(models["incident"], inputs[:, :12], split_heads))
    assert torch.allclose(recorded[0], by_hand, atol=1e-6)
printed = {}
for diagonal, layers in ((2, 3), (-1, 1), (1, 1)):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        with_mask(diagonal, layers)
    printed[diagonal] = output.getvalue()
six, nan_at_once = "places ahead: 6" in printed[2], "nan" in printed[-1]
assert six and nan_at_once and "places ahead: 1" in printed[1]

# %% [folded] play-read
# After you have played: diagonal times layers
#
# In the incident, a place gives {89 % = on_next} of its weight to the next one. With the mask after the softmax the hatched side is empty, and
# only the bars differ from the twin's: the shortest one here is {0.53 = lowest_row}.
#
# A diagonal of 2 with 3 layers reaches {6 places = six} ahead. At -1 the loss is {nan at once = nan_at_once}, as the first place may read nothing.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# *"A small attention encoder tells positive from negative film reviews. Before I tidied up it was right in {77 % = turn_well}, now in
# {64 % = turn_accuracy}. No error, no nan, all shapes are as before. It has a mask, I checked. I think that the model is too small for such long reviews."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike, within six minutes.

# %% turn
second = lab.case("10/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock, hints = lab.timer(6), lab.hints(second)

# %% [proof] turn-proof
# processors round differently, and that moves an accuracy by two points
turn_accuracy = 100 * turn_run.trace.metrics["accuracy"] - 2, 100 * turn_run.trace.metrics["accuracy"] + 2
reviews = next(iter(turn_view.objects["validation_loader"]))[0].to(device)
turn_model = turn_view.objects["model"].eval()
recorded, real = [], F.softmax
F.softmax = lambda *a, **k: recorded.append(real(*a, **k)) or recorded[-1]
with torch.no_grad():
    turn_model(reviews)
F.softmax = real
on_padding = (reviews == 0)[:, None, None, :]
padded = (reviews == 0).any(1)
on_padding = (recorded[0] * on_padding).sum(-1)[padded].mean().item()
all_on_padding = on_padding > 0.99
full = recorded[0][~padded]
equal_weights = bool(len(full) and (full.max() - full.min()) < 1e-5)

# %% [measured] twin-and-minus-inf
import math

turn_twin = 100 * second.healthy().run().trace.metrics["accuracy"]
turn_well = turn_twin - 2, turn_twin + 2  # processors round differently
filled = lab.LiveView(second.source.replace("-1e4", 'float("-inf")'), show_twin=False).start()
nan_in_step_1 = math.isnan(filled.result.trace.loss[0])

# %% turn-look
# your own look; some ways to begin:
#   lab.lines(second)                     the program with its line numbers
#   reviews, labels = next(iter(turn_view.objects["validation_loader"]))    # 0 is padding
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
    print("Hand in the form first, then run this cell.")

# %% [proof] turn-judged
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "mask != 0" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
tests = [look_alike.test for look_alike in second.specs[0][0].look_alikes]
test = next(letter for letter, text in offered.items() if text in tests)
assert len(form.causes) == 4 and second.ticket != incident.ticket
graded = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(reply.count("NOT") for reply in graded) == 0, graded
turn_looks = views.measure(turn_run, ["influence"])["influence"].numbers
padding_moves = turn_looks["dependency.padding_leak"] > 0.5
assert padding_moves and all_on_padding and equal_weights

# %% [folded] turn-read
# After you have handed in: an inverted mask
#
# The line fills the scores where the mask *is* set. So a review reads its padding: {all of its weight = all_on_padding} lies there. Cut the padding off, and {the output moves = padding_moves}.
# The model learns a little, as its [residual connection](glossary.ipynb#residual-connection) brings words past the attention.
#
# The longest review has no padding. With the line's `-1e4` {its words get equal weights = equal_weights}; with `-inf` the loss would be {`nan` in step 1 = nan_in_step_1}.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Change an input, and see which outputs move.** *Fails when* dropout is active: use eval mode.
# 2. **A loss far below a baseline needs a reason.** *Fails when* the model is well trained: then it beats a table honestly.
# 3. **Hide before the softmax.** After it, sums tell what is hidden. *Fails when* a whole row is hidden: test for that.
# 4. **A shape that fits proves nothing.** `view` renames axes, `transpose` moves them. *Fails when* an axis has length 1.
#
# **Next:** {exercise = 28}, {exercise = 29}, {exercise = 30}.


# %% [keep] reach
def test_reach_finds_the_look_ahead_of_the_incident():
    program = lab.variables(lab.case("10/incident"))
    assert reach(program["model"].eval(), program["inputs"], 10) == 2


def test_reach_is_0_in_the_healthy_twin():
    program = lab.variables(lab.case("10/incident").healthy())
    assert reach(program["model"].eval(), program["inputs"], 10) == 0


# %% home
lab.calibration("10")
lab.keep(reach)
mine = lab.mine(view="influence")  # your own script: lab.mine("train.py", view="influence")

# %% [measured] with-and-without-scale
import math

import bugzoo


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

# %% [measured] old-mask
fresh = lab.variables(incident.healthy())["model"].eval()
right_mask, old = fresh.blocks[0].attention.mask.clone(), lab.variables(incident)["model"].state_dict()
print(fresh.load_state_dict(old))
old_reach = reach(fresh, inputs[:16], 10)
for block in fresh.blocks:  # the right mask again, and no longer in the state dict
    block.attention.register_buffer("mask", right_mask, persistent=False)
try:
    fresh.load_state_dict(old)
    refused = False
except RuntimeError as error:
    refused = "Unexpected key(s) in state_dict" in str(error)
print(fresh.load_state_dict({name: tensor for name, tensor in old.items() if not name.endswith(".mask")}))
new_reach = reach(fresh, inputs[:16], 10)

# %% [folded] appendix
# Appendix, for the curious: is the division by `math.sqrt(head_size)` needed? Does an old checkpoint bring its mask? And two reports
#
# **The division.** People often say that attention cannot be trained without it. Below this text a model with one layer and one head is
# trained with the division and without: of width 16 and 256, with three seeds each. In each pair the two ends differ by
# {less than 0.15 nats = small}. Without the division the model at 256 ends at {2.8 = unscaled_end} at most, and a guess costs {4.56 = ln_96}: it learns. So keep the division, and do
# not take its absence for the cause of a run that learns nothing.
#
# **The checkpoint.** You put the line right, build a new model, and load yesterday's weights. All keys match, and the model looks {2 = old_reach} places
# ahead: `load_state_dict` writes the old mask over the new one. With `register_buffer(..., persistent=False)` the mask stays out of the state
# dict. Then the model {refuses the old checkpoint = refused}: "Unexpected key(s)". Delete these keys, and the reach is {0 = new_reach}. `strict=False` loads it, too, but then no
# wrong name raises an error.
#
# **In public.** A small transformer got `98 %` on validation data, and its translations made no sense
# ([jadore801120/attention-is-all-you-need-pytorch, issue 19](https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/19)). In a speech-synthesis project a reader asked whether `diagonal=1` should be 0. Another one tried 0, and the speech got
# worse ([RVC-Boss/GPT-SoVITS, issue 965](https://github.com/RVC-Boss/GPT-SoVITS/issues/965)). There the mask is a `triu`, and its 1 means *hide*.
