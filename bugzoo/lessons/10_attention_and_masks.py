"""Lesson 10: a language model that knows the answer, and masks that hide the wrong place, too late or nothing at all."""

# %% [case] incident
# mini_transformer attention/causal_off_by_one

# %% [case] second
# sequence_classifier attention/mask_inverted

# %% [markdown] title
# # 10 · Attention and masks
#
# A model is far better than it can be. In this lesson you find out what it knows that it should not, look into its attention while
# it works, try two repairs that pass a review, and put a claim on trial that stands in many of them.
#
# You need about {60 = minutes} minutes, and to know that attention is a weighted mean: scores, a softmax, weights times values. After
# *Read the line* is a good place for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept and graded by nobody. Text that is
# folded belongs behind the run above it. After a restart of the kernel choose *Run* → *Run All Above Selected Cell*; what you
# said and what you wrote is still there.

# %% setup
import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("10")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Thursday, 22:50.* "My small transformer reads Python's help texts and guesses the next character. On validation text, which it
# > has never seen, it gets {97 of 100 = share_shown} right. The best of you had 31. I had already put the curve into the channel when somebody asked me
# > to let it write a sentence."
#
# (It happens to the best. Readers of a well-known tutorial found
# [the same in its code](https://github.com/pytorch/tutorials/issues/2478): a superb number on test data.
# Open the link after the lesson: its title is the answer.)
#
# The number was measured properly: other text than that of the training, evaluation mode, no gradient. We start with the curve.

# %% [predict] guess
# Behind the curve you will see that of an honest twin: same text, same seed. Where do the two part?
#
# ( ) Nowhere: they train alike, and only the validation differs
#     Then the validation would be the suspect. Here it is the training itself that goes too well.
# ( ) At once: it is better from the first steps on
#     Whatever it knows, it has to learn first how to use it. An untrained model knows nothing.
# (x) After some twenty steps in which they go together, it falls away from the twin and does not stop
#     First both learn how often each character comes. Then this one finds something that the other one does not have.

# %% [markdown] live-text
# ## Watch it being too good

# %% live
incident = lab.case("10/incident")
view = lab.live(incident, explain=False)

# %% live-read
run, ours = view.result, view.objects
for step in (1, 21, 41, 61, 81, 120):
    print(
        f"step {step:3}   loss {run.trace.loss[step - 1]:.2f}   the honest twin {view.healthy.trace.loss[step - 1]:.2f}"
    )
print("validation:", run.trace.metrics)
print("the twin:  ", view.healthy.trace.metrics)
guess.reveal()

# %% [proof] live-proof
gap = view.healthy.trace.loss - run.trace.loss
assert abs(gap[:20]).max() < 0.35 and gap[60] > 1 and gap[-1] > 2
share_shown = 0.96 < run.trace.metrics["accuracy"] < 0.975 and 0.3 < view.healthy.trace.metrics["accuracy"] < 0.325
too_low, honest_loss = run.trace.metrics["loss"], view.healthy.trace.metrics["loss"]

# %% [folded] live-after
# After the run: too good is a symptom
#
# {0.17 = too_low} nats a character. Whoever guesses English letters as well as a human reader needs about 1; the twin, with as many weights,
# has {2.50 = honest_loss}. A number that is much better than it can be says the same as one that is much worse: something is broken. Only nobody
# reports it.

# %% [markdown] places-text
# ## Where is it right?
#
# It reads windows of 32 characters and guesses at *each* of the 32 places what comes next. "97 of 100" is a mean over the
# places. Take it apart.

# %% [predict] by_place
# At which of the 32 places is it right?
#
# ( ) At all of them alike, {97 = mean_right} in 100
#     It would be the plain case. Look at the edges of a mean before you believe in it.
# ( ) Little at the first places, and better the more it has read
#     So it is with people. With the honest twin it is hardly so: it has learnt for some seconds.
# (x) {99 = most_right} in 100 at all places but the last, where it is no better than the twin
#     At the last place something is missing that the others have.

# %% places
model, honest = ours["model"].eval(), lab.LiveView(incident.healthy(), show_twin=False).start()
honest.wait()
honest = honest.objects["model"].eval()

torch.manual_seed(1)
inputs, targets = ours["batch"](ours["validation_codes"], 256)  # (256, 32) characters each, the second one ahead


def right_by_place(model):
    """Share of right guesses at each of the 32 places."""
    with torch.no_grad():
        return (model(inputs).argmax(-1) == targets).float().mean(0)


print("place   this run   honest twin")
for place in (0, 1, 2, 10, 20, 29, 30, 31):
    print(f"{place:5}   {right_by_place(model)[place]:8.2f}   {right_by_place(honest)[place]:11.2f}")
by_place.reveal()

# %% [proof] places-proof
places = right_by_place(model)
mean_right, most_right = 96 < 100 * places.mean() < 98, 98 < 100 * places[:31].mean() < 99.9
assert places[:31].min() > 0.95 and abs(places[31] - right_by_place(honest)[31]) < 0.06
last_right = 0.2 < places[31] < 0.4

# %% [markdown] write-text
# Now do what the colleague asked for: let it write. It gets a beginning, says the next character, this one is hung on, and so on.

# %% [predict] writes
# What will it write behind `The value of the `?
#
# ( ) Readable English: at {99 = most_right} in 100 it can hardly miss
#     It is right at {99 = most_right} in 100 of the places that have a character behind them. Where it writes there is none.
# ( ) Much the same as the honest twin
#     Its last place guesses as well as the twin's, on real text. What it writes is its own food, and there the two differ.
# (x) Something worse than the twin
#     When it writes, every place is a last one. That place was 1 of 32 in training, and hardly practised.

# %% write


def write(model, beginning, count=60):
    """`count` characters more, each time the likeliest one."""
    codes = [ord(character) - 31 for character in beginning]
    for _ in range(count):
        with torch.no_grad():
            codes.append(model(torch.tensor([codes[-32:]]))[0, -1].argmax().item())
    return "".join("\n" if code == 0 else chr(code + 31) for code in codes)


print("this run:   ", repr(write(model, "The value of the ")))
print("honest twin:", repr(write(honest, "The value of the ")))
writes.reveal()

# %% [proof] write-proof
written, written_honest = (write(one, "The value of the ")[17:] for one in (model, honest))
assert written_honest.count("the") + written_honest.count("te ") > 3, written_honest
assert "the" not in written and max(written.count(letter) for letter in set(written)) > 30, written

# %% [folded] write-after
# After the run: neither writes prose, and one of them knows no words
#
# The twin has learnt for two seconds: it knows `the` and the space. The incident writes one letter over and over. Lay that beside
# {97 = mean_right} in 100. The two numbers measure different things: on the validation text, the next character stands in the window. When it
# writes, it does not exist yet. **Ask of every number whether the model would have had the same input in real use.**

# %% [markdown] moved-text
# ## Who reaches whom
#
# "It sees the answer" is a suspicion that can be tested without reading a line. Change *one* character of the window, and see
# which outputs move. An honest output moves only when something *before* it, or it itself, was changed.
#
# **Write it.** Characters are numbers from 0 to 95. Leave `inputs` as they are.


# %% [task] moved
def moved(model, inputs, place):
    """Places, from 0, at which an output changes when the character at `place` of each window is another one."""
    ...  # your code


# %% try-moved
moved = lab.try_out("10/moved", moved)


# %% [solution] moved
def moved(model, inputs, place):
    """Places, from 0, at which an output changes when the character at `place` of each window is another one."""
    changed = inputs.clone()
    changed[:, place] = (changed[:, place] + 1) % 96  # another one for certain
    with torch.no_grad():
        difference = (model(changed) - model(inputs)).abs()  # (batch, time, characters)
    return (difference.amax((0, 2)) > 1e-6).nonzero().flatten().tolist()


# %% [judge] moved
import torch
from torch import nn


class Looks(nn.Module):
    """An output is the sum over the places from `behind` before it to `ahead` after it."""

    def __init__(self, behind, ahead):
        super().__init__()
        self.behind, self.ahead = behind, ahead
        self.table = nn.Embedding.from_pretrained(torch.arange(96.0)[:, None] * torch.tensor([0.01, 0.03]))

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1])
        distance = places[None] - places[:, None]
        return ((distance >= -self.behind) & (distance <= self.ahead)).float() @ self.table(tokens)


def judge(answer):
    tokens = torch.randint(96, (3, 10), generator=torch.Generator().manual_seed(0))
    zeros = torch.zeros(2, 10, dtype=torch.long)
    for inputs, behind, ahead, place in ((tokens, 9, 0, 4), (tokens, 1, 0, 4), (tokens, 9, 3, 6), (zeros, 0, 1, 2)):
        before = inputs.clone()
        wanted = [other for other in range(10) if other - behind <= place <= other + ahead]
        gave = answer(Looks(behind, ahead), inputs, place)
        gave = gave if gave is None else [int(one) for one in gave]
        what = f"a model that looks {behind} back and {ahead} ahead, place {place} changed"
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}"
        yield (
            torch.equal(inputs, before),
            "    the windows are as before" + ("" if torch.equal(inputs, before) else ": yours changed them"),
        )
        inputs.copy_(before)


def one_by_one(model, inputs, place):
    found = []
    other = inputs.clone()
    other[:, place] = 95 - other[:, place]
    before, after = model(inputs), model(other)
    for at in range(inputs.shape[1]):
        if not torch.equal(before[:, at], after[:, at]):
            found.append(at)
    return found


def in_place(model, inputs, place):
    before = model(inputs)
    inputs[:, place] = (inputs[:, place] + 1) % 96
    return [at for at in range(inputs.shape[1]) if not torch.equal(before[:, at], model(inputs)[:, at])]


def to_zero(model, inputs, place):
    other = inputs.clone()
    other[:, place] = 0
    return [at for at in range(inputs.shape[1]) if not torch.equal(model(inputs)[:, at], model(other)[:, at])]


RIGHT = {"one place after the other": one_by_one}
LAZY = {
    "the windows are changed": in_place,
    "always to 0": to_zero,
    "as it should be": lambda model, inputs, place: list(range(place, inputs.shape[1])),
    "none": lambda model, inputs, place: [],
}

# %% [predict] how_far
# Now the real model, which has two layers of attention. The character at place 20 is changed. Which outputs move?
#
# ( ) Those from 20 on
#     So it is in the honest twin.
# ( ) Those from 19 on: it sees one character too many
#     One *layer* sees one too many. But the second layer reads what the first one wrote.
# (x) Those from 18 on
#     Each layer looks one place too far, and there are two. The error has a reach, and the reach counts the layers.
# ( ) All 32
#     That would be a model without any mask.

# %% reach
print("this run:   ", moved(model, inputs, 20))
print("honest twin:", moved(honest, inputs, 20))
how_far.reveal()

# %% [proof] reach-proof
assert moved(model, inputs, 20) == list(range(18, 32)) and moved(honest, inputs, 20) == list(range(20, 32))

# %% [markdown] listen-text
# ## Look into the attention
#
# Which layer takes it, and how much? You want to see the weights. A forward hook is no help: hooks hang on modules, and here
# `F.softmax` is a *function*, called in the middle of a `forward`. But a function lives somewhere too: `F` is a Python module, and
# `F.softmax` one of its names. For the length of one call you can put a function of your own in its place, which calls the real
# one, keeps what comes out, and hands it on.
#
# **Write it.** Afterwards `F.softmax` must be what it was.


# %% [task] softmaxes
def softmaxes(model, inputs):
    """What F.softmax returned while the model was called once, in order: one tensor for each layer of attention."""
    ...  # your code


# %% try-softmaxes
softmaxes = lab.try_out("10/softmaxes", softmaxes)


# %% [solution] softmaxes
def softmaxes(model, inputs):
    """What F.softmax returned while the model was called once, in order: one tensor for each layer of attention."""
    heard, original = [], F.softmax

    def listen(*arguments, **named):
        heard.append(original(*arguments, **named))
        return heard[-1]

    F.softmax = listen
    try:
        with torch.no_grad():
            model(inputs)
    finally:
        F.softmax = original  # even if the model raises
    return heard


# %% [judge] softmaxes
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import nn


class Soft(nn.Module):
    """Calls F.softmax `times` times."""

    def __init__(self, times):
        super().__init__()
        self.times, self.calls, self.made = times, 0, []

    def forward(self, x):
        self.calls += 1
        for number in range(self.times):
            x = F.softmax(x * (number + 1), dim=-1)
            self.made.append(x)
        return x


def judge(answer):
    original, x = F.softmax, torch.tensor([[0.5, 1.5, -1.0]])
    for times in (2, 0, 3):
        model = Soft(times)
        try:
            gave = answer(model, x)
            left = F.softmax is original
        finally:
            F.softmax = original
        same = gave is not None and len(gave) == times and all(map(torch.equal, gave, model.made))
        count = None if gave is None else len(gave)
        text = f"a model that calls it {times} times: {times} results, the same ones; yours has {count}"
        yield same, text + ("" if same or count != times else ", and others")
        yield (
            (left, model.calls) == (True, 1),
            (f"    called once, yours {model.calls} times; F.softmax is {'what it was' if left else 'still yours'}"),
        )


def by_patch(model, inputs):
    heard, original = [], F.softmax
    with patch.object(F, "softmax", lambda *a, **k: heard.append(original(*a, **k)) or heard[-1]):
        model(inputs)
    return heard


def left_behind(model, inputs):
    heard, original = [], F.softmax

    def listen(*arguments, **named):
        heard.append(original(*arguments, **named))
        return heard[-1]

    F.softmax = listen
    model(inputs)
    return heard


def what_goes_in(model, inputs):
    heard, original = [], F.softmax
    with patch.object(F, "softmax", lambda x, **k: heard.append(x) or original(x, **k)):
        model(inputs)
    return heard


RIGHT = {"a patch": by_patch}
LAZY = {
    "left behind": left_behind,
    "what goes in": what_goes_in,
    "the last one": lambda model, inputs: by_patch(model, inputs)[-1:],
    "the output": lambda model, inputs: [model(inputs)],
}

# %% [predict] weight_ahead
# In the first layer a place shares out one unit of weight among the places that it sees. How much of it goes to the one that it should not see?
#
# ( ) About 3 in 100, an even share of 32
#     So it begins. Then the training finds out that this one place is worth more than all others.
# ( ) About a half: the rest serves to understand the text
#     There is nothing to understand when the answer stands there.
# (x) More than three quarters, in each of its four heads
#     Copying is the easiest thing that attention can learn, and it pays best.

# %% weights
from bugzoo.plots import attention_map

weights, weights_honest = softmaxes(model, inputs), softmaxes(honest, inputs)  # two layers, (batch, heads, 32, 32) each
for layer, one in enumerate(weights, 1):
    ahead = one.diagonal(1, -2, -1).mean((0, 2))  # the weights one place to the right of the diagonal, for each head
    print(f"layer {layer}: weight on the next place, head by head:", [round(share, 2) for share in ahead.tolist()])

may_see = torch.ones(32, 32).tril() > 0
heads = {"this run, layer 1": weights[0].mean((0, 1)), "its twin, layer 1": weights_honest[0].mean((0, 1))}
lab.picture(attention_map.picture(heads, may_see))
weight_ahead.reveal()

# %% [proof] weights-proof
first_ahead = weights[0].diagonal(1, -2, -1).mean((0, 2))
second_ahead = weights[1].diagonal(1, -2, -1).mean((0, 2))
assert first_ahead.min() > 0.75 and 0.2 < second_ahead.min() and second_ahead.max() < 0.5
near = bool(weights_honest[0].mean((0, 1))[16:].tril(16).triu(13).sum(-1).mean() > 4 / 24)
four_fifths = 0.7 < attention_map.measure(weights[0].mean((0, 1)), may_see) < 0.9

# %% [folded] weights-after
# After the run: read the picture
#
# A row is a place that asks, a column one that is looked at; the hatched side is the future. On the right is how it should be: the
# hatched side is dark, and each place looks back, {more at what is near = near}. On the left one bright line runs along the *wrong* side
# of the border: each place looks at the next one, with {four fifths = four_fifths} of its weight. The last row has nothing there. That is the place at
# which it was no better than the twin.

# %% [markdown] instrument-text
# ## The instrument that asks for you
#
# Changing an input and seeing which outputs move is what `dependency` does: for other samples of the batch, for later places, for
# padding. It looks for the shift between inputs and targets by itself and works with any model that takes a tensor of tokens.

# %% [check] too_good
# Before you run it: which is *no* sign of a model that sees its answer?
#
# ( ) Its loss is below what the text allows
#     it is one, and often the first. Know the floor of your task.
# (x) Its validation loss is higher than its training loss
#     right: that is the usual gap. A model that sees its answer has hardly one, as it copies on any text.
# ( ) It is much better at validating than at writing
#     it is one: when it writes, the answer is not there.

# %% instrument
from bugzoo.diagnostics import dependency

numbers = dependency.measure(run)
print(dependency.judge(numbers).message)
print("places ahead that reach an output:", numbers["future_reach"])

# %% [proof] instrument-proof
assert dependency.judge(numbers).suspects[0].cause == "attention/causal_off_by_one" and numbers["future_reach"] == 2

# %% [markdown] reveal-text
# ## Read the line
#
# Now you know what to look for: something that decides who sees whom, and is wrong by one. This is what was done to the healthy
# program.

# %% reveal
print(incident.diff())
print(torch.tril(torch.ones(4, 4)), torch.tril(torch.ones(4, 4), diagonal=1), sep="\n")

# %% [check] four_tokens
# In the second print, row 0 is `1 1 0 0`. In words:
#
# ( ) Place 0 predicts characters 0 and 1
#     a mask says what is seen, not what is asked for.
# (x) Place 0, which is asked for character 1, may look at character 1
#     yes. A print of four by four and one sentence a row: it is the cheapest test of a mask that there is.
# ( ) Place 0 may be seen by the places 0 and 1
#     that would be column 0. Rows ask, columns are looked at.

# %% [proof] reveal-proof
assert "diagonal=1" in incident.diff() and "register_buffer" in incident.diff()

# %% [markdown] fix-text
# ## The first repair: exchange the code
#
# Lesson 03 repaired a run while it stood still. We do it again: pause after step 60, exchange the class for the healthy one, and
# go on.

# %% [predict] exchanged
# The line is right now. What does the loss do from step 61 on?
#
# ( ) It jumps up: the answer is hidden from now on
#     So it should be. Look at where the line stands: in `__init__`.
# ( ) It climbs slowly, as the weights have to learn anew
#     Nothing has to be learnt anew. Look at where the line stands.
# (x) Nothing: it is the same run to the last bit
#     The mask was made once, when the model was built, and lies in the model as a buffer. The line that makes it does not run again.

# %% fix
paused = lab.LiveView(incident, pause_at=60, show_twin=False).start()
paused.wait_pause()
print("exchanged:", paused.patch(incident.healthy().source))
paused.resume()
print(
    "loss at step 61:",
    round(paused.result.trace.loss[60], 3),
    " before the repair it was:",
    round(run.trace.loss[60], 3),
)
print("all losses as before:", bool((paused.result.trace.loss == run.trace.loss).all()))
exchanged.reveal()

# %% [proof] fix-proof
assert (paused.result.trace.loss == run.trace.loss).all()

# %% [markdown] buffer-text
# `register_buffer` makes the mask a part of the model: it moves with `.to(device)`, and it is **saved with the weights**. So think one
# step further. You repair the code, build a new model, and load the weights of yesterday to go on from there.

# %% [predict] checkpoint
# The code is right, the model is new, `load_state_dict` reports no problem. Change place 20: which outputs move?
#
# ( ) From 20 on: a new model has a new mask
#     It had, until the line with load_state_dict.
# (x) From 18 on, as before
#     The old mask came with the old weights and was written over the right one. No key is missing, none is left over, all shapes fit.
# ( ) It is an error: the masks differ
#     load_state_dict compares names and shapes. A buffer is overwritten like a weight.

# %% checkpoint-run
import copy

repaired = copy.deepcopy(honest)  # a model of the right code
print("right code, its own mask:         ", moved(repaired, inputs, 20)[0], "and behind")
print(repaired.load_state_dict(model.state_dict()))
print("right code, yesterday's checkpoint:", moved(repaired, inputs, 20)[0], "and behind")
print([name for name in model.state_dict() if "mask" in name])
checkpoint.reveal()

# %% [proof] checkpoint-proof
assert moved(repaired, inputs, 20)[0] == 18 and moved(honest, inputs, 20)[0] == 20

# %% [folded] checkpoint-after
# After the run: constants do not belong into a checkpoint
#
# `register_buffer("mask", ..., persistent=False)` keeps a buffer out of the checkpoint; it still moves with the model. A mask that
# can be computed is best computed: in `forward`, or left to `F.scaled_dot_product_attention(..., is_causal=True)`.

# %% [markdown] real-fix-text
# Then repair what is really used: the mask in the live model.

# %% [predict] mended
# Again we stop after step 60, now we overwrite the two masks with the right ones. The loss stands at about 1. What comes next?
#
# ( ) It stays where it is, and learns honestly from there
#     It had one skill, and that is gone.
# ( ) About {2.8 = honest_then}, where the honest twin stands at this step
#     The twin has spent 60 steps on reading. This one has spent them on copying.
# (x) More than {3.5 = jump_least}: worse than a guess by how often each letter comes
#     It trusts the next place blindly, and there is nothing now. But it ends close to the twin.

# %% mended-run
paused = lab.LiveView(incident, pause_at=60, show_twin=False).start()
paused.wait_pause()
with torch.no_grad():
    for name, mask in paused.objects["model"].named_buffers():
        print(name, tuple(mask.shape))
        mask.copy_(torch.tril(torch.ones_like(mask)))
paused.resume()
mended_run = paused.result.trace
print("losses from step 59 on:", [round(loss, 2) for loss in mended_run.loss[58:66].tolist()])
print("at the end:", mended_run.metrics, " honest twin:", view.healthy.trace.metrics)
mended.reveal()

# %% [proof] mended-proof
jump_least, honest_then = 3.5, view.healthy.trace.loss[60:70].mean()
assert mended_run.loss[60] > 3.5 > 3.3 and run.trace.loss[60] < 1.3 and mended_run.metrics["loss"] < honest_loss + 0.15
codes = ours["train_codes"]
frequencies = torch.bincount(codes, minlength=96) / len(codes)
by_frequency = -(frequencies[frequencies > 0] * frequencies[frequencies > 0].log()).sum()
assert 3.0 < by_frequency < 3.5

# %% [markdown] behind-text
# ## The second repair: one more line
#
# The colleague's pull request leaves the mask alone and adds one line. "Whatever weight the future got, it gets none now":
#
# ```python
# weights = F.softmax(scores, dim=-1)
# weights = weights * torch.tril(torch.ones(time, time))
# ```
#
# The reviewer prints what the values are multiplied with: beyond the diagonal all of it is 0. No value of a later place is added
# to anything any more.

# %% [predict] behind
# Trained with this line from the first step on: how good does it get?
#
# ( ) Like the honest twin, 31 in 100: no later value comes through
#     No later *value*. Something else of the later place comes through.
# ( ) Worse than the twin: its weights do not add up to one
#     They do not. And just that is of use to it.
# (x) 3 in 4 right: it still knows most of the answers
#     The softmax divided by a sum in which the next place still stood. How much is missing in a row tells what was there.

# %% behind-run
line = "        weights = F.softmax(scores, dim=-1)\n"
assert incident.source.count(line) == 1
patched = incident.source.replace(line, line + "        weights = weights * torch.tril(torch.ones(time, time))\n")
second_try = lab.LiveView(patched, show_twin=False).start()
print(second_try.result.trace.metrics)
leaky = second_try.objects["model"].eval()
print("place 20 changed:", moved(leaky, inputs, 20)[0], "and behind move")
kept = softmaxes(leaky, inputs)[0].tril().sum(-1)[0, :, 5:11]  # what is left of a row, layer 1, four heads, six places
print("rows add up to:\n", kept.numpy().round(2))
behind.reveal(f"{second_try.result.trace.metrics['accuracy']:.2f} right")

# %% [proof] behind-proof
assert 0.68 < second_try.result.trace.metrics["accuracy"] < 0.82 and moved(leaky, inputs, 20)[0] == 18
assert kept.max() - kept.min() > 0.3
third_try = patched.replace(
    "torch.tril(torch.ones(time, time))\n",
    "torch.tril(torch.ones(time, time))\n        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)\n",
)
assert third_try.count("clamp(min=1e-9)") == 1
divided = lab.LiveView(third_try, show_twin=False).start().result.trace.metrics["accuracy"]
print("divided again:", divided)
divided = abs(divided - view.healthy.trace.metrics["accuracy"]) < 0.015
far_below = second_try.result.trace.metrics["loss"] < 0.6 * honest_loss

# %% [folded] behind-after
# After the run: the sum knows
#
# A weight is `exp(score) / sum`, and the sum was taken over everything that was visible at that moment, the next character
# included. Zero that weight, and the row adds up to less than one, by just as much as the next character was given. Four heads give
# four such numbers for each place: enough to tell most of 96 characters apart. The loss is {far below = far_below} the twin's, and the print
# of the weights is spotless. The proof: divide each row by what is left of it, which takes the news out of the sum, and the model
# comes to {31 in 100 = divided}, like the twin.
#
# So **hide before the softmax**, where the sum is made; behind it, a mask hides the values and not the news. (The same order went unnoticed in
# [a widely used library of image models](https://github.com/huggingface/pytorch-image-models/pull/2236).)

# %% [markdown] claim-text
# ## A claim on trial: "it degrades with padding"
#
# The mask behind the softmax has a second life, with texts of different lengths. A batch is padded to its longest line, the mask
# zeroes the padding behind the softmax, and the rows of a short line add up to little. The usual comment in a review:
# *"wrong order, this degrades the more padding there is."* It sounds plausible. Try it.
#
# `word_lines` is another program: it guesses the next word of lines that have {11 = words} words on average, up to 12. We train it with the mask at the right place and
# with the mask behind the softmax, then hand the same lines over with 0, 4 and 8 places of padding more.

# %% [predict] degrades
# What does the padding do to the faulty one?
#
# ( ) It gets worse line by line: some points of accuracy at the end
#     So it is told. A model that was trained with such rows has learnt to live with them.
# (x) Accuracy and loss hardly move; but single answers change with the padding
#     Some get worse, about as many get better, and the mean sees neither.
# ( ) Nothing at all: padding stands behind the words, where nobody looks
#     With the mask in front of the softmax it is so, to the last bit. Behind it the padding stands in the sum.

# %% padding-run


def by_padding(*faults):
    """Accuracy, loss, and the share of answers that differ from those without padding, with more and more of it."""
    lines = lab.LiveView(bugzoo.Scenario("word_lines", faults, {"layers": 1}), show_twin=False).start()
    lines.wait()
    names, alone = lines.objects, None
    words, answers = names["encode"](names["test"])
    lengths = (words != 0).sum(1)
    for more in (0, 4, 8):
        said, wanted = [], []
        for length in lengths.unique().tolist():  # lines of one length together: the padding is ours alone
            rows = lengths == length
            with torch.no_grad():
                logits = names["model"](words[rows, : length + more])[:, :length]
            real = answers[rows, :length] != 0
            said.append(logits[real])
            wanted.append(answers[rows, :length][real])
        said, wanted = torch.cat(said), torch.cat(wanted)
        guesses = said.argmax(-1)
        alone = guesses if alone is None else alone
        found = [(guesses == wanted).float().mean().item(), F.cross_entropy(said, wanted).item()]
        found.append((guesses != alone).float().mean().item())
        print(f"{more} more: accuracy {found[0]:.3f}   loss {found[1]:.3f}   other answers than alone {found[2]:.1%}")
        yield found


print("mask in front of the softmax")
in_front = list(by_padding())
print("mask behind it")
behind_it = list(by_padding("attention/mask_after_softmax"))
degrades.reveal(f"accuracy {behind_it[0][0]:.3f} without padding, {behind_it[-1][0]:.3f} with most of it")

# %% [proof] padding-proof
few = bugzoo.Scenario("word_lines", ("attention/mask_after_softmax",), {"layers": 1})
few_view = lab.LiveView(few, show_twin=False).start()
few_view.wait()
words = (few_view.objects["encode"](few_view.objects["test"])[0] != 0).sum(1).float().mean()
assert in_front[0][:2] == in_front[-1][:2] or abs(in_front[0][1] - in_front[-1][1]) < 1e-4
assert in_front[-1][2] == 0 and abs(behind_it[0][0] - behind_it[-1][0]) < 0.01
assert abs(behind_it[0][1] - behind_it[-1][1]) < 0.02
changed = 0.01 < behind_it[-1][2] < 0.04

# %% [proof] elsewhere
from bugzoo.proving import ledger

tried = ledger.read("claims", "mask_after_softmax")["numbers"].values()
no_worse = all(one["points_lost"] < 1 for one in tried)
turned_least, turned_most = (round(100 * pick(one["turned_broken"] for one in tried)) / 100 for pick in (min, max))
assert max(one["turned_healthy"] for one in tried) == 0

# %% [folded] padding-after
# After the run: verdict
#
# *"It degrades with padding"*: **not in the numbers that are watched.** Accuracy and loss are the same to a hundredth, with no padding
# and with as much as there is. What changes is *who* gets which answer: {about two in a hundred = changed} answers are others, only because the line
# stood beside a longer one. No metric on a fixed validation set will show that. A test does: **the same text alone and in
# company must get the same answer, to rounding.**
#
# It is not this one program. The same claim was tried on film reviews (`bugzoo claims`, which names the others too): padded to three
# times the longest, in training or only when they are read, the faulty encoder ends {no worse than its twin = no_worse}, and {2 % = turned_least} to {6 % = turned_most} of the verdicts turn.

# %% [markdown] mask-text
# ## Write one that is right
#
# Two things make a masked softmax hard: hidden scores must be out of the sum, even if they are huge; and a row in which *nothing*
# may be seen (an empty text, a mask turned round) has no sum at all.
#
# **Write it.** Hidden weights are 0, visible ones add up to 1, and a row without anything visible is all 0, not `nan`.


# %% [task] masked_softmax
def masked_softmax(scores, mask):
    """Weights over the last axis; `mask` is True where something may be seen."""
    ...  # your code


# %% try-mask
masked_softmax = lab.try_out("10/masked_softmax", masked_softmax)


# %% [solution] masked_softmax
def masked_softmax(scores, mask):
    """Weights over the last axis; `mask` is True where something may be seen."""
    nothing = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask & ~nothing, float("-inf"))  # a row without anything visible is left alone
    return F.softmax(scores, dim=-1).masked_fill(nothing, 0.0)  # and emptied afterwards


# %% [judge] masked_softmax
import torch
import torch.nn.functional as F


def judge(answer):
    scores = torch.tensor([[0.5, 1.0, -2.0], [300.0, 1.0, 2.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], requires_grad=True)
    mask = torch.tensor([[1, 1, 1], [0, 1, 1], [0, 0, 0], [1, 0, 0]]) > 0
    gave = answer(scores, mask)
    for row, what in enumerate(("all visible", "a huge hidden score", "nothing visible", "one visible")):
        visible, wanted = mask[row], torch.zeros(3)
        wanted[visible] = F.softmax(scores[row][visible].detach(), dim=-1)
        found = None if gave is None else gave[row].detach()
        right = found is not None and torch.allclose(found, wanted, atol=1e-6)
        shown = None if found is None else [round(one, 4) for one in found.tolist()]
        yield right, f"{what}: {[round(one, 4) for one in wanted.tolist()]}, yours gives {shown}"
    if gave is not None:
        (slopes,) = torch.autograd.grad(gave[:, 1].sum(), scores)
        finite = bool(slopes.isfinite().all())
        yield finite, "the gradient is finite" + ("" if finite else f", yours is {slopes.tolist()}")


def by_exponentials(scores, mask):
    top = scores.masked_fill(~mask, -1e9).amax(-1, keepdim=True)
    parts = torch.where(mask, scores - top, 0.0).exp() * mask
    return parts / parts.sum(-1, keepdim=True).clamp(min=1e-30)


RIGHT = {"exponentials by hand": by_exponentials}
LAZY = {
    "behind it": lambda scores, mask: F.softmax(scores, dim=-1) * mask,
    "divided again": lambda scores, mask: (
        (F.softmax(scores, -1) * mask) / (F.softmax(scores, -1) * mask).sum(-1, keepdim=True).clamp(min=1e-9)
    ),
    "minus infinity alone": lambda scores, mask: F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1),
    "a large negative number": lambda scores, mask: F.softmax(scores.masked_fill(~mask, -1e9), dim=-1),
    "no mask": lambda scores, mask: F.softmax(scores, dim=-1),
}

# %% [predict] empty_row
# A row in which nothing may be seen, hidden with -inf and hidden with -1e9. Which of the two is the better guard?
#
# ( ) -1e9: it gives numbers
#     It gives an even share to each of the places that were to be hidden. A mask that is turned round trains on, and nobody hears of it.
# ( ) -inf: it gives zeros
#     It gives nan: there is no sum to divide by.
# (x) -inf while you build: a nan on the first step cannot be missed
#     It stops you at the right place. For rows that may really be empty, write what they shall be, as you just did.

# %% empty-run
scores, nothing = torch.tensor([[1.0, 2.0, 3.0]]), torch.zeros(1, 3) > 0
for fill in (float("-inf"), -1e9):
    print(f"{fill:6}:", F.softmax(scores.masked_fill(~nothing, fill), dim=-1).tolist())
print("yours: ", masked_softmax(scores, nothing).tolist())
empty_row.reveal()

# %% [proof] empty-proof
assert F.softmax(scores.masked_fill(~nothing, float("-inf")), dim=-1).isnan().all()
assert F.softmax(scores.masked_fill(~nothing, -1e9), dim=-1).std() < 1e-6

# %% [markdown] break-text
# ## Break it yourself
#
# The same incident, with sliders. Predict, then **Run**:
#
# - With one layer it sees one place ahead instead of two. Is it worse for that?
# - With `context` at 8 the accuracy falls, though it sees the answer as before. Why? (Which place cannot see it, and how many are there?)
# - Does a smaller learning rate make it honest?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mini_transformer", faults=("attention/causal_off_by_one",)),
    settings=("seed", "layers", "context", "learning_rate"),
    ranges={"layers": (1, 4)},
)

# %% [proof] sliders


def with_slider(**settings):
    """The metrics of the incident with other settings."""
    return bugzoo.Scenario("mini_transformer", ("attention/causal_off_by_one",), settings).run().trace.metrics


assert with_slider(layers=1)["accuracy"] > 0.94 and with_slider(context=8)["accuracy"] < 0.93
assert with_slider(learning_rate=1e-3)["loss"] < honest_loss - 0.3

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"A small encoder sorts film reviews into praise and blame. Before the refactoring it was right
# {78 times in 100 = before}, now {63 = after}. No error, no nan, the loss falls. I printed all shapes: they are what they were."* It is not the fault that you know.
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Your
# functions are there, the picture and the instrument too. The next cell trains first; the clock starts when the run is over. Eight
# minutes: it interrupts nobody. The cell with the hints opens none by itself; run it in any case.

# %% turn
second = lab.case("10/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock = lab.timer(8)

# %% [proof] turn-proof
after, before = turn_run.trace.metrics["accuracy"], second.healthy().run().trace.metrics["accuracy"]
after, before = 0.58 < after < 0.68, 0.74 < before < 0.81
turn_model = turn_view.objects["model"].eval()
turn_inputs = next(iter(turn_view.objects["validation_loader"]))[0]
turn_weights = softmaxes(turn_model, turn_inputs)[0]
turn_padding = (turn_inputs == 0)[:, None, None, :]
with_padding = (turn_inputs == 0).any(1)
on_padding = (turn_weights * turn_padding).sum(-1)[with_padding].mean()
all_on_padding = on_padding > 0.99
longest = turn_weights[~with_padding]
even_share = bool((longest.max() - longest.min()) < 1e-5)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                              the program; lines count from 1
#   texts, _ = next(iter(turn_view.objects["validation_loader"]))     a batch: 0 is padding
#   weights = softmaxes(turn_view.objects["model"].eval(), texts)[0]  (batch, heads, time, time)
#   print(weights[0, 0, 0], texts[0])                                 one row of weights, and what it is spread over
#   print(dependency.judge(dependency.measure(turn_run)).message)

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
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "mask != 0" in text)
tells = [one.test for one in second.specs[0][0].look_alikes if one.test in form.tests]
own = {"place": right_line, "test": "ABCD"[form.tests.index(tells[0])]}
assert len(form.causes) == 4, form.causes
points = [judged(second, own | {"cause": cause}).count("ok ") for cause in form.causes]
assert sorted(points) == [3, 3, 3, 4], (points, form.causes)
bad = judged(second, own | {"cause": form.causes[points.index(4)], "place": 3})
assert bad.count("ok ") == 3, bad

# %% [folded] turn-read
# After you have handed in: a mask turned round
#
# The scores are filled where the mask *is* set. A review looks at nothing but its own padding: {all of the weight = all_on_padding} lies there. The longest
# review of the batch has no padding, all its scores are filled, and its weights are {an even share for each = even_share}: a fill of -1e4
# makes numbers of a row in which nothing may be seen. With -inf it would have been `nan` in step 1.
#
# Why it learns at all: beside the attention the words themselves go straight on, and the answer is made of their mean.
#
# How one comes to it: libraries do not agree. `nn.MultiheadAttention` reads `True` as *hide*, `F.scaled_dot_product_attention` as
# *show*.

# %% [check] recap_check
# You review a new attention layer. Which test do you ask for?
#
# ( ) That its validation loss is as low as that of the old one
#     a leak makes it lower, and a mask behind the softmax leaves it as it is.
# ( ) That every row of the weights adds up to one
#     it finds a mask behind the softmax, and neither a mask that is one place too generous nor one that is turned round.
# (x) That an output does not move when something is changed that it must not see: later places, padding, neighbours
#     yes. It asks for what is meant, and needs no look at the code.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of an attention each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a
# terminal `bugzoo cards --lesson 10` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="10")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Too good is a symptom. Ask whether the model has the same input in use as in the measurement, and look at the mean's edges:**
#    here the last place. *Fails when* the leak is in the data: then every place is good, and writing is too.
# 2. **Change what an output must not see; it must not move.** *Fails when* the model draws random numbers: evaluation mode first.
# 3. **Hide before the softmax, and print the mask for four tokens.** Behind it the sum still knows. *Fails when* a whole row is
#    hidden: decide what it shall be.
# 4. **A mask in a buffer is loaded with the weights: a repair of the code does not reach it.** *Fails when* it is not persistent,
#    or computed in `forward`: then the code is what counts.
#
# **Next:** [exercise 28, *mixed lengths*](../exercises/28_mixed_lengths.ipynb), and
# [exercise 29, *small gain*](../exercises/29_small_gain.ipynb). On your own script: `bugzoo checkup train.py` asks the same
# questions.
