"""Lesson 06: a loss that stops at a wall, and what the height of the wall says about what enters it."""

# %% [case] incident
# finetune loss/double_softmax

# %% [case] second
# digits_cnn loss/wrong_softmax_dim

# %% [markdown] title
# # 06 · Losses and softmax
#
# A loss comes down, and then something is in its way. In this lesson you learn the two numbers of a loss that are known before
# any training, where it begins and how low it can go; you read from the height of a wall what enters the loss, listen to a
# function that has no hooks, and try the repair that everybody recommends.
#
# You need about {59 = minutes} minutes, and to know what logits, softmax and a gradient are. After *What enters the loss* is a good place for a
# pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. The cells build on each other: after a restart of the kernel choose *Run* → *Run All Above
# Selected Cell*; what you said and what you wrote is still there.

# %% setup
import numpy as np
import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("06")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Tuesday, 22:15.* "My network reads the digits 0 to 4, and I teach it the other five: a new head, the rest frozen at first.
# > The training loss stops at about {0.9 = wall}, with the old digits and with the new ones, as if something were in its way. Twice
# > as many epochs: the same wall. It gets {nine in ten = nine_in_ten} of the new digits right; last month's script got {97 % = accuracy_good}."
#
# Three linear layers, ReLU, Adam, batches of 16, five classes in both halves. As in a real investigation we do not read the
# code first. Two questions come before it: where should this loss begin, and where may it end?

# %% [predict] first
# Before its first step the network knows nothing. What will the loss of that step be?
#
# (x) About {1.61 = ln_five}
#     ln 5: five classes, each as likely as the others, cost minus the logarithm of a fifth. The beginning is as it should be.
# ( ) About {2.30 = ln_ten}
#     That is ln 10. There are ten digits, but only five classes at a time.
# ( ) About {0.9 = wall}: what is in its way is there from the start
#     It comes down first, and stops there. Before anything is learnt, a loss is that of guessing.
# ( ) Nobody can know: it depends on the random weights
#     A little. A fresh network is not sure of anything, and that fixes the number to a few hundredths.

# %% [predict] below
# About 540 batches of 16 pictures are trained with. Some hold easy pictures, some hard ones. How many of the losses will lie
# below {0.90 = wall}?
#
# ( ) A good part: the wall is an average, and single batches scatter around it
#     Noise has two sides, and so has the scatter around an average. Look at the lower edge of this curve: it is a line.
# ( ) A few, where a batch happens to be easy
#     That would be a slope that becomes flat. Here the easiest batches all come to the same number, and stop.
# (x) Not one
#     A wall has one side. No batch gets below it, however easy.

# %% [markdown] live-text
# ## Watch it stop
#
# The cell below trains a healthy twin first, with the same seed and the same batches, and then the incident in front of it.
# Halfway the new digits begin, and both losses jump: that is meant to be.

# %% live
incident = lab.case("06/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("step   loss     healthy loss")
for step in (1, 2, 10, 50, 100, 190, 200, 300, 400, 500, 540):
    print(f"{step:4}   {trace.loss[step - 1]:.4f}   {healthy.loss[step - 1]:12.4f}")
low, low_healthy = trace.loss.min(), healthy.loss.min()
print(f"lowest {low:.4f}   {low_healthy:12.4f}")
print("losses less than 0.01 above the lowest:", (trace.loss < low + 0.01).sum(), "of", len(trace.loss))
print("at the end:", view.result.trace.metrics, "\nhealthy:   ", healthy.metrics)
first.reveal(f"{trace.loss[0]:.2f}; ln 5 is {np.log(5):.2f}")
below.reveal(f"the lowest is {low:.4f}")

# %% [proof] wall-numbers
import math

ln_five, ln_ten = math.log(5), math.log(10)
first_loss, wall, wall_twin = trace.loss[0], trace.loss.min(), healthy.loss.min()
near_wall = bool((trace.loss < wall + 0.01).sum() > 100)
assert abs(first_loss - ln_five) < 0.05 and abs(healthy.loss[0] - ln_five) < 0.05
accuracy_bad, accuracy_good = trace.metrics["accuracy"], healthy.metrics["accuracy"]
nine_in_ten = 0.86 < accuracy_bad < 0.94
longer = bugzoo.Scenario(incident.program, incident.faults, {"epochs": 40}).run().trace
assert abs(longer.loss.min() - wall) < 1e-3
old_part, new_part = trace.loss[:192], trace.loss[192:]
both_halves = abs(old_part.min() - wall) < 0.005 and abs(new_part.min() - wall) < 0.005
early = str([lesson.questions[name] for name in ("first", "below", "span_is")])
assert "softmax" not in early and "probabilit" not in early

# %% [folded] numbers-read
# After the run: what a wall tells
#
# **The beginning is innocent.** {1.61 = first_loss} is ln 5. A model that is sure of itself before it has learnt anything, a loss that is
# summed, a wrong number of classes: each of these shows in step 1, before one weight has moved.
#
# **It is a wall, not a slope.** {More than a hundred = near_wall} losses lie within a hundredth of the lowest one, {0.9048 = wall}, and none below. Too low a rate, a model
# that is too small and noisy labels give curves that flatten out; single batches scatter to both sides of those.
#
# **It stands in {both halves = both_halves}, at the same height.** Other pictures, another head, frozen layers or not: none of it moves the wall. So it
# belongs neither to the data nor to the model. What is the same in both halves is the loss.

# %% [markdown] floor-text
# ## How low can a loss go?
#
# The cross-entropy of one sample needs its logits `z` and its class `y`:
#
# ```python
# loss = z.logsumexp(0) - z[y]  # the logarithm of the sum of e**z, minus the logit of the right class
# ```
#
# If all logits are equal, this is ln C. It comes near 0 only if the right logit lies far above all the others. How far is far?
# Suppose that something keeps the numbers of a row together: the largest lies at most `span` above the smallest.
#
# **Write it:** the lowest loss that is possible then, for any number of classes. On paper first: where do you put the right
# logit, and where the others?


# %% [task] lowest_loss
def lowest_loss(classes, span):
    """The lowest cross-entropy, in nats, of logits whose largest and smallest are at most `span` apart."""
    ...  # your code


# %% try-floor
lowest_loss = lab.try_out("06/lowest_loss", lowest_loss)


# %% [solution] lowest_loss
def lowest_loss(classes, span):
    """The lowest cross-entropy, in nats, of logits whose largest and smallest are at most `span` apart."""
    return np.log(1 + (classes - 1) * np.exp(-span))  # the right one at span, all others at 0


# %% [judge] lowest_loss
import math

import torch
import torch.nn.functional as F


def judge(answer):
    for classes, span in ((2, 1.0), (5, 1.0), (10, 1.0), (10, 0.0), (96, 3.0), (5, 40.0)):
        right = math.log1p((classes - 1) * math.exp(-span))
        gave = float(answer(classes, span))
        said = f"{classes} classes, {span:g} apart: {right:.4f}, yours says {gave:.4f}"
        yield math.isclose(gave, right, rel_tol=1e-3, abs_tol=1e-6), said


def by_torch(classes, span):
    row = torch.zeros(1, classes)
    row[0, 0] = span
    return F.cross_entropy(row, torch.tensor([0])).item()


def as_a_sum(classes, span):
    return math.log(math.exp(span) + classes - 1) - span


RIGHT = {"a row for torch": by_torch, "log of a sum": as_a_sum}
LAZY = {
    "always 0": lambda classes, span: 0.0,
    "of guessing": lambda classes, span: math.log(classes),
    "guessing, minus the span": lambda classes, span: math.log(classes) - span,
    "all classes count": lambda classes, span: math.log(1 + classes * math.exp(-span)),
    "half above, half below": lambda classes, span: math.log1p((classes - 1) * math.exp(-span / 2)),
    "two classes only": lambda classes, span: math.log1p(math.exp(-span)),
}

# %% [predict] span_is
# Read it backwards: the wall stands at {0.9048 = wall}, there are five classes. How far apart are the numbers that enter the loss, at the most?
#
# ( ) About `0.1`
#     Then the wall would stand at {1.53 = wall_tenth}: hardly anything could be learnt.
# (x) 1, to four digits
#     Weights do not learn round numbers. Somebody put this one there.
# ( ) About 10
#     Then the wall would stand at {0.0002 = wall_ten}, and nobody would ever have noticed it.

# %% backwards
spans = np.linspace(0, 12, 120_001)
walls = np.array([lowest_loss(5, span) for span in spans])
found = spans[np.abs(walls - low).argmin()]
print(f"a lowest loss of {low:.4f} with five classes: a span of {found:.4f}")
for classes in (2, 5, 10, 96):
    print(f"{classes:3} classes: ", *(f"span {span:2}: {lowest_loss(classes, span):.4f}   " for span in (1, 3, 10, 30)))
span_is.reveal(f"{found:.4f}")

# %% [proof] spans


def floor(classes, span=1.0):
    """As lowest_loss, whatever the learner wrote."""
    return math.log1p((classes - 1) * math.exp(-span))


wall_tenth, wall_ten = floor(5, 0.1), floor(5, 10)
assert abs(found - 1) < 5e-4 and abs(wall - floor(5)) < 1e-4

# %% [check] squeezed
# Whatever the network does, the numbers that enter its loss are never further apart than 1. What keeps them together?
#
# ( ) Weight decay: it makes all weights small
#     it makes them small, and forbids no number. A limit of exactly 1 is no matter of degree.
# ( ) The pictures: their grey values lie between 0 and 1
#     so they do, and the healthy twin gets the same. Layers multiply, and logits go where they like.
# (x) They went through a function whose values lie between 0 and 1
#     yes. There are several of these. Which one it was can be seen from a row of them, so let us get one.

# %% [markdown] listen-text
# ## What enters the loss
#
# In lesson 03 you heard layers with hooks. The loss is a function, and functions have none. But a function that is called by
# its name in a module, `F.cross_entropy`, can be exchanged for a moment:
#
# ```python
# real = F.cross_entropy
# F.cross_entropy = mine  # from now on everybody who says F.cross_entropy calls mine
# F.cross_entropy = real  # and now no more
# ```
#
# What you put there must notice what it is given, and hand back what the real one says: the training is going on.
#
# **Write it:** make one step, and return the tensor that the loss was given as its first argument. Leave no trace, also when the
# step raises.


# %% [task] entering
def entering(make_step):
    """The first argument, (batch, classes), that F.cross_entropy got while make_step() ran; None where it was not called."""
    ...  # your code


# %% try-entering
entering = lab.try_out("06/entering", entering)


# %% [solution] entering
def entering(make_step):
    """The first argument, (batch, classes), that F.cross_entropy got while make_step() ran; None where it was not called."""
    given, real = [], F.cross_entropy

    def listening(numbers, *rest, **options):
        given.append(numbers.detach())
        return real(numbers, *rest, **options)

    F.cross_entropy = listening
    try:
        make_step()
    finally:
        F.cross_entropy = real
    return given[-1] if given else None


# %% [judge] entering
from unittest import mock

import torch
import torch.nn.functional as F


def judge(answer):
    real, z, y = F.cross_entropy, torch.tensor([[2.0, 0.0, 1.0]]), torch.tensor([1])
    said = []

    def make_step():
        said.append(F.cross_entropy(z.softmax(-1), y, label_smoothing=0.1).item())

    def other_step():
        said.append(F.mse_loss(z, z).item())

    def raising():
        F.cross_entropy(z, y)
        raise ZeroDivisionError

    try:
        gave = answer(make_step)
        row = gave.flatten().tolist() if isinstance(gave, torch.Tensor) else gave
        wanted = z.softmax(-1).flatten()
        good = isinstance(gave, torch.Tensor) and gave.shape == z.shape and torch.allclose(gave, z.softmax(-1))
        yield good, f"a softmax is handed in, {wanted.tolist()}: yours returns {row}"
        right = real(z.softmax(-1), y, label_smoothing=0.1).item()
        yield said == [right], f"the step's loss: [{right:.3f}], with yours {said}"
        yield F.cross_entropy is real, f"the real function is back: True, with yours {F.cross_entropy is real}"
        F.cross_entropy = real
        gave = answer(other_step)
        yield gave is None, f"a step without it: None, yours says {gave}"
        try:
            answer(raising)
        except ZeroDivisionError:
            pass
        yield F.cross_entropy is real, f"back after a step that raises: True, with yours {F.cross_entropy is real}"
    finally:
        F.cross_entropy = real


def by_mock(make_step):
    with mock.patch.object(F, "cross_entropy", wraps=F.cross_entropy) as listening:
        make_step()
    return listening.call_args.args[0].detach() if listening.called else None


def left_behind(make_step):
    given, real = [], F.cross_entropy

    def listening(numbers, *rest, **options):
        given.append(numbers)
        return real(numbers, *rest, **options)

    F.cross_entropy = listening
    make_step()
    return given[-1] if given else None


def swallowed(make_step):
    given = []
    with mock.patch.object(F, "cross_entropy", lambda numbers, *rest, **more: given.append(numbers) or numbers.sum()):
        make_step()
    return given[-1] if given else None


def without_options(make_step):
    given, real = [], F.cross_entropy
    with mock.patch.object(F, "cross_entropy", lambda x, y, **more: given.append(x) or real(x, y)):
        make_step()
    return given[-1] if given else None


RIGHT = {"by mock": by_mock}
LAZY = {
    "left behind": left_behind, "its answer swallowed": swallowed, "options forgotten": without_options,
    "no step": lambda make_step: None,
}  # fmt: skip

# %% [predict] entering_is
# On the live run, after step 300: what will a row of these numbers look like?
#
# ( ) Small numbers of both signs, all near 0
#     Logits that have not learnt to be large would look so. Nothing would hold them within 1 of each other.
# ( ) Numbers between 0 and 1, each for itself
#     A sigmoid makes these, one number at a time. Look at the sums of the rows.
# (x) Numbers between 0 and 1 that add up to 1
#     Probabilities. One function makes them of logits, and it is part of cross-entropy already.

# %% listen
view = lab.LiveView(incident, pause_at=300, show_twin=False).start()
view.wait_pause()
numbers = entering(lambda: view.advance(1))
logits = view.objects["logits"].detach()
view.stop()

print("what entered the loss, three rows:\n", numbers[:3].numpy().round(3))
print(f"smallest {numbers.min():.4f}, largest {numbers.max():.4f}; sums of the rows: {numbers.sum(1)[:3].tolist()}")
print(f"what the model gave out: smallest {logits.min():.1f}, largest {logits.max():.1f}")
entering_is.reveal(f"rows that add up to {numbers.sum(1).mean():.3f}")

# %% [proof] probabilities
assert torch.allclose(numbers, logits.softmax(-1), atol=1e-6) and logits.max() - logits.min() > 5

# %% [markdown] kind-text
# Three kinds of numbers are handed to losses, and each loss wants one of them:
#
# | | what they are | which loss wants them |
# |---|---|---|
# | logits | any numbers | `F.cross_entropy`, `F.binary_cross_entropy_with_logits` |
# | log-probabilities | `e**x` adds up to 1 in each row | `F.nll_loss` |
# | probabilities | x adds up to 1 in each row, none below 0 | no loss that takes a class; your own `log` |
#
# All of them are floats of one shape, so nothing complains. **Write it:** which kind is it?


# %% [task] kind
def kind(numbers):
    """What the rows of (batch, classes) are, to a thousandth: "logits", "log-probabilities" or "probabilities"."""
    ...  # your code


# %% try-kind
kind = lab.try_out("06/kind", kind)


# %% [solution] kind
def kind(numbers):
    """What the rows of (batch, classes) are, to a thousandth: "logits", "log-probabilities" or "probabilities"."""

    def sums_to_one(rows):
        return ((rows.sum(-1) - 1).abs() < 1e-3).all()

    if (numbers >= 0).all() and sums_to_one(numbers):
        return "probabilities"
    return "log-probabilities" if sums_to_one(numbers.exp()) else "logits"


# %% [judge] kind
import torch


def judge(answer):
    generator = torch.Generator().manual_seed(6)
    z = 3 * torch.randn(8, 5, generator=generator)
    balanced = z - z.mean(1, keepdim=True) + 0.2  # rows that add up to 1, and no probabilities
    for numbers, right, what in (
        (z, "logits", "ordinary logits"),
        (z.softmax(-1), "probabilities", "a softmax"),
        (z.log_softmax(-1), "log-probabilities", "a log-softmax"),
        (torch.sigmoid(z), "logits", "numbers between 0 and 1 whose rows add up to anything"),
        (-z.abs(), "logits", "numbers below 0"),
        (balanced, "logits", "rows that add up to 1, some numbers below 0"),
        (torch.zeros(4, 5), "logits", "nothing but 0"),
        (z.softmax(0), "logits", "columns that add up to 1"),
    ):
        gave = answer(numbers)
        yield gave == right, f"{what}: {right}, yours says {gave}"


def by_close(numbers):
    one = torch.ones(len(numbers))
    if torch.allclose(numbers.exp().sum(1), one, atol=1e-3):
        return "log-probabilities"
    return "probabilities" if numbers.min() >= 0 and torch.allclose(numbers.sum(1), one, atol=1e-3) else "logits"


def by_range(numbers):
    return "probabilities" if 0 <= numbers.min() and numbers.max() <= 1 else by_close(numbers)


def by_sign(numbers):
    return "log-probabilities" if (numbers <= 0).all() else by_close(numbers)


def first_sum(numbers):
    return "probabilities" if abs(numbers.sum(1).mean() - 1) < 1e-3 else by_close(numbers)


RIGHT = {"by allclose": by_close}
LAZY = {
    "between 0 and 1": by_range, "below 0": by_sign, "sums alone": first_sum, "always logits": lambda numbers: "logits",
}  # fmt: skip

# %% [markdown] instrument-text
# ## The instrument that does this for you
#
# What entered the loss was seen by the trace of the first run as well, in the graph that the backward pass goes along. The
# instrument reads it there, and it does so for any script: `bugzoo checkup train.py`. Where the model itself does it, it gives the line.

# %% instrument
from bugzoo.diagnostics import double_normalisation

print("yours:", kind(numbers))
run = lab.LiveView(incident, show_twin=False).start().result
measured = double_normalisation.measure(run)
print(double_normalisation.judge(measured).message)
print(incident.diff())

# %% [proof] instrument-proof
assert double_normalisation.judge(measured).fired and abs(measured["floor"] - wall) < 1e-3
assert measured["row_sum"] == 1 and kind(numbers) == "probabilities"

# %% [check] report
# In 2021 somebody wrote to a project: softmax was applied before `CrossEntropyLoss`, and "this bounds the minimum possible loss per
# example to roughly {0.74 = wall_four}". How many classes did that project have?
#
# ( ) Three
#     with three classes the wall stands at {0.55 = wall_three}.
# (x) Four
#     yes: lowest_loss(4, 1). It is [issue 2 of SciCo](https://github.com/ariecattan/SciCo/issues/2); you have just worked out
#     what was found there, backwards.
# ( ) Ten
#     with ten classes it stands at {1.46 = wall_ten_classes}: the number that most people meet, as many first data sets have ten.

# %% [proof] report-proof
wall_three, wall_four, wall_ten_classes = floor(3), floor(4), floor(10)

# %% [markdown] pull-text
# ## Why it costs accuracy
#
# A softmax keeps the order: the largest logit is the largest probability. So one could think that only the *number* on the
# screen is spoilt. The learning does not see the number, it sees the gradient.

# %% [predict] loudest
# Think of a picture that is read wrongly, and the network is sure of it: the wrong class leads by 8. How hard does each of the
# two losses pull at this answer?
#
# ( ) Both hard: it is wrong
#     The loss of the logits does, with all that it has. The other one hardly at all: look at the left end of the right-hand picture.
# (x) That of the logits hard, the other one hardly at all
#     A softmax that is sure is flat: a little more or less of a logit changes nothing in it, whether it is right or wrong.
# ( ) That of the logits hard, the other one half as hard
#     Half as hard is right in the middle, where nothing is decided. At the ends it lets go, at both of them.

# %% pull
from bugzoo.plots import pull


def doubled(logits, targets):
    return F.cross_entropy(logits.softmax(dim=-1), targets)


both = {"cross-entropy of the logits": F.cross_entropy, "of their softmax": doubled}
lab.picture(pull.picture(both, classes=5))
lead = np.array([-8.0, 0.0, 8.0])
for name, loss in both.items():
    print(
        f"{name:28}",
        *(f"lead {a:+.0f}: pull {b:.4f}   " for a, b in zip(lead, pull.measure(loss, lead, 5)[1], strict=True)),
    )
loudest.reveal()

# %% [proof] pull-numbers
(hard, *_), (soft, *_) = (pull.measure(loss, lead, 5)[1] for loss in both.values())
times = hard / soft
thousands = times > 2000

# %% [folded] pull-read
# After the run: a loss that does not mind being wrong
#
# The healthy loss pulls hardest where the answer is sure and wrong. The doubled one has its hill in the middle: it works on
# what is undecided, and lets go of what is sure, right or not. At a lead of -8 the two pulls are {1.41 = hard} and {0.0006 = soft}: {more than two thousand = thousands}
# times apart. A mistake that the network has once become sure of is out of reach.

# %% [markdown] raise-text
# ## The repair that everybody names first
#
# Ask what to do about a loss that has become flat, and the first answer is: raise the learning rate. It is a sensible
# thing to try. We give both runs three times the rate. The healthy one takes it well; watch the other.

# %% [predict] raised
# The incident got {nine in ten = nine_in_ten} of the validation pictures right. With three times the learning rate it will get
#
# ( ) more right: a small gradient is made up for by larger steps
#     Where the pull is nothing, three times the rate is three times nothing. Where it is something, the steps are longer,
#     and throw answers over to the side from which nothing brings them back.
# ( ) about as many
#     The wall stays where it is. But the accuracy does not hang on the wall, it hangs on who is stuck on the wrong side.
# (x) far fewer
#     Longer steps make the network sure sooner, right or wrong, and the wrong ones are never called back.


# %% raise-run
def sure_and_wrong(case):
    """Run it; of the new pictures that it trained with: how many it reads wrongly, and how many of those surely."""
    run = case.run()
    model, rows = run.namespace["model"].eval(), run.namespace["train"]
    with torch.no_grad():
        chance, answer = model(run.namespace["images"][rows]).softmax(-1).max(-1)
    wrong = answer != run.namespace["labels"][rows]
    sure = wrong & (chance > 0.99)
    right = run.trace.metrics["accuracy"]
    print(f"accuracy {right:.3f}   of {len(rows)} training pictures {wrong.sum():3} wrong, {sure.sum():3} of them sure")
    return right, int(wrong.sum()), int(sure.sum())


rates = {}
for rate in (0.005, 0.015):
    for name, faults in (("healthy", ()), ("incident", incident.faults)):
        print(f"rate {rate}, {name:8}", end="  ")
        rates[name, rate] = sure_and_wrong(bugzoo.Scenario(incident.program, faults, {"learning_rate": rate}))
raised.reveal(f"{rates['incident', 0.015][0]:.0%}")

# %% [proof] raise-proof
kept_healthy, kept_bad = rates["healthy", 0.015][0], rates["incident", 0.015][0]
assert kept_healthy > 0.93 and kept_bad < 0.75
wrong_slow, sure_slow = rates["incident", 0.005][1:]
wrong_fast, sure_fast = rates["incident", 0.015][1:]
wrong_healthy, sure_healthy = rates["healthy", 0.005][1:]
nobody_sure = sure_healthy == 0
hundred_wrong, dozens_sure = wrong_fast > 100, sure_fast > 36
six_in_ten = 0.5 <= kept_bad < 0.7
slower_too = (
    bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": 0.0005}).run().trace.metrics["accuracy"]
)
no_help = slower_too < accuracy_bad

# %% [folded] raise-read
# After the run: the rate feeds it
#
# The healthy run keeps {96 % = kept_healthy} at three times the rate; the incident falls from nine in ten to {about six in ten = six_in_ten}. The last two columns say why. The
# healthy run reads {11 = wrong_healthy} of its training pictures wrongly and is sure of {none of them = nobody_sure}: it goes on working on each. The incident
# has {31 = wrong_slow} wrong; with the higher rate {more than a hundred = hundred_wrong}, and it is sure of {dozens of these = dozens_sure}. These are pictures that it trains with in every epoch,
# and it cannot learn them any more.
#
# (A tenth of the rate is {no help = no_help} either: {72 % = slower_too}. There is no good rate for a loss that does not mind being wrong.)

# %% [markdown] fix-text
# ## The repair
#
# Hand the logits to the loss. Softmax belongs where somebody reads probabilities: behind the training, not in it.

# %% [predict] repaired_is
# The program with that one line changed, from the first step on: how near to the healthy run will it come?
#
# ( ) About as good, some digits differ
#     With another seed that would be so. Here all that differs is the line that we put back.
# (x) The same run, to the last bit
#     The same seed, the same batches, the same program: the fault took nothing with it.
# ( ) Better: it has learnt from the detour
#     It is another run from the start, and knows nothing of the first one.

# %% fix
from bugzoo.running import run_here

line, mended = "F.cross_entropy(F.softmax(logits, dim=-1), targets)", "F.cross_entropy(logits, targets)"
assert incident.source.count(line) == 1
repaired = run_here(incident.source.replace(line, mended)).trace
print("lowest loss:", f"{repaired.loss.min():.4f}", "  ", repaired.metrics)
print("equal to the healthy run to the last bit:", (repaired.loss == healthy.loss).all())
repaired_is.reveal()

# %% [proof] fix-proof
assert (repaired.loss == healthy.loss).all() and repaired.metrics == healthy.metrics

# %% [check] subtracted
# A colleague has another repair: `loss = F.cross_entropy(softmax, targets) - 0.9048`. Now the loss goes to 0. What else has changed?
#
# ( ) The training is better: the optimiser aims at 0 now
#     an optimiser aims at nothing. It follows the gradient, and a constant has none.
# (x) Nothing: the weights are the same to the last bit
#     yes. It repairs the number on the screen, and takes away the one sign that something was wrong.
# ( ) The gradient is smaller, as the loss is
#     the gradient is the slope of the loss, not its height.

# %% [markdown] claims-text
# ## Two numbers that are often told
#
# Teaching material on this fault gives two numbers: an *initial loss of 47*, and an accuracy of `82 %` *instead of* `91 %`. You can
# try both.

# %% [predict] corridor
# A softmax in front of cross-entropy, ten classes, and any logits you like, as large as you like. In which range can the loss of a
# sample lie?
#
# ( ) From 0 upwards without an end
#     That is cross-entropy of logits. Probabilities cannot be further apart than 1.
# ( ) From {1.46 = wall_ten_classes} upwards without an end
#     The lower end is right. But the worst case is limited as well: all on one wrong class.
# (x) From {1.46 = wall_ten_classes} to {2.46 = ceiling}
#     Right class at 1 and the rest at 0, or one wrong class at 1 and the rest at 0: a corridor, exactly 1 wide. An initial loss of
#     47 is not possible.

# %% corridor-run
torch.manual_seed(0)
for size in (0.01, 1, 100):
    z, y = size * torch.randn(100_000, 10), torch.randint(10, (100_000,))
    losses = F.cross_entropy(z.softmax(-1), y, reduction="none")
    print(f"logits of size {size:6}: losses from {losses.min():.4f} to {losses.max():.4f}")
corridor.reveal(f"{losses.min():.2f} to {losses.max():.2f}")

# %% [proof] corridor-proof
ceiling = math.log(math.e + 9)
assert abs(losses.max() - ceiling) < 1e-3 and abs(losses.min() - wall_ten_classes) < 1e-3

# %% [check] forty_seven
# Then where does a first loss of 47 come from, with ten classes?
#
# ( ) From a learning rate that is too high
#     the first loss is computed before the first update. No rate has done anything yet.
# (x) From a sum: 47 is what about twenty guesses cost together
#     yes: 20 times ln 10 is {46 = twenty}. `reduction="sum"`, or a sum by hand. Logits that begin far too large are the other
#     suspect: take half of the batch, and see whether the loss is halved.
# ( ) From a loss that is computed twice
#     then it would be twice ln 10, {4.6 = two_guesses}.

# %% [proof] forty-seven-proof
twenty, two_guesses = 20 * ln_ten, 2 * ln_ten

# %% [predict] price
# Now the accuracy. The small network of the other lessons, ten digits, trained for 20 epochs, with the same fault. How much
# will it lose?
#
# ( ) About nine points, as the incident did
#     The incident has small batches and a high rate: it becomes sure early. This run does not.
# (x) About one point
#     Here the same line costs hardly anything, and three times the rate made it cost a third of all answers. No single
#     number is the price of this fault.
# ( ) Nothing, to the last digit
#     Nearly. With 60 epochs it would be so: the walls differ, the answers do not.

# %% price-run
for name, faults in (("healthy", ()), ("with softmax", incident.faults)):
    one = bugzoo.Scenario("mlp", faults, size="full").run().trace
    print(f"{name:13} lowest loss {one.loss.min():.4f}   accuracy {one.metrics['accuracy']:.3f}")
price.reveal(f"{one.metrics['accuracy']:.3f}")

# %% [proof] price-proof
well = bugzoo.Scenario("mlp", size="full").run().trace.metrics["accuracy"]
assert 0.002 < well - one.metrics["accuracy"] < 0.02
runs_60 = [
    bugzoo.Scenario("mlp", faults, {"epochs": 60}).run().trace.metrics["accuracy"] for faults in ((), incident.faults)
]
assert abs(runs_60[0] - runs_60[1]) < 0.004, runs_60

# %% [markdown] table-text
# ## Two numbers for each loss
#
# Before you trust a loss, write down what it says to a model that *guesses*, and to one that is *right and sure*. Two lines of
# code, no training. Here are eight ways to write a classifier's loss; five classes, 16 samples.

# %% [predict] how_low
# One of these eight has no lower end at all: its loss falls as far below 0 as one trains. Which?
#
# ( ) `nll_loss` of the softmax
#     It goes below 0, down to -1, and stops: it is minus the mean probability of the right class.
# (x) `nll_loss` of the logits
#     It is minus the right logit, and nothing else: no other class is in it. Make all logits larger, and it falls for ever.
# ( ) `cross_entropy` with a sum in the place of the mean
#     It is 16 times as high at the start, and its lower end is 0.

# %% table
y = torch.arange(16) % 5
guess, sure_right = torch.zeros(16, 5), 20.0 * F.one_hot(y, 5)
hidden_half = y.clone()
hidden_half[::2] = -100  # the class number that cross_entropy leaves out
ways = {
    "cross_entropy(logits)": lambda z: F.cross_entropy(z, y),
    "nll_loss(log_softmax)": lambda z: F.nll_loss(z.log_softmax(-1), y),
    "cross_entropy, half of the targets -100": lambda z: F.cross_entropy(z, hidden_half),
    "cross_entropy, a sum": lambda z: F.cross_entropy(z, y, reduction="sum"),
    "cross_entropy(softmax)": lambda z: F.cross_entropy(z.softmax(-1), y),
    "bce_with_logits(sigmoid), class 0 or not": lambda z: F.binary_cross_entropy_with_logits(
        torch.sigmoid(2 * z[:, 0] - z.max()), (y == 0).float()
    ),
    "nll_loss(softmax)": lambda z: F.nll_loss(z.softmax(-1), y),
    "nll_loss(logits)": lambda z: F.nll_loss(z, y),
}
print(f"{'':42} guesses   right and sure   and five times surer")
for name, loss in ways.items():
    print(f"{name:42} {loss(guess):7.3f}   {loss(sure_right):14.3f}   {loss(5 * sure_right):20.3f}")
how_low.reveal(f"{ways['nll_loss(logits)'](5 * sure_right):.0f}")

# %% [proof] table-proof
values = {
    name: (loss(guess).item(), loss(sure_right).item(), loss(5 * sure_right).item()) for name, loss in ways.items()
}
clean = [name for name, (_, end, _) in values.items() if abs(end) < 1e-3]
first_four = clean == list(ways)[:4]
assert values["nll_loss(logits)"][2] == -100 and abs(values["nll_loss(softmax)"][1] + 1) < 1e-3
start_sum = values["cross_entropy, a sum"][0]
bce_low = values["bce_with_logits(sigmoid), class 0 or not"][1]

# %% [folded] table-read
# After the run: how to read the table
#
# The {first four = first_four} end at 0, as they must; of these only the sum begins elsewhere, at {25.8 = start_sum}. The mean over the targets that count does not mind
# how many are left out. The next two end at a wall: probabilities went into a loss that makes its own. The last two are below 0,
# which no cross-entropy is, ever: `nll_loss` adds no logarithm, it only picks a number from each row and turns its sign.

# %% [markdown] break-text
# ## Break it yourself
#
# Ten classes now. Move the sliders, press **Run**, and try to be wrong about what comes:
#
# - Where does the wall stand, and does any setting move it?
# - Find a learning rate at which the twin is fine and this run reads hardly anything.
# - With how many epochs does nobody notice from the accuracy?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mlp", faults=("loss/double_softmax",)), settings=("seed", "learning_rate", "epochs", "batch_size")
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The convolutional net on ten digits. The loss falls, though it ends far above that of last week, and
# it reads {86 % = turn_accuracy} of the digits instead of {94 % = turn_healthy}. A colleague says that a batch size of 64 gives another loss altogether, from the very first
# step."* It is not the fault that you know.
#
# Say **what** is wrong, in which **line**, since which **step** (counted from 1), and which **test** would tell it from what
# looks like it. You know the way: the first number, the lowest one, and what enters the loss. There are three hints if you are stuck; run
# their cell in any case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is
# over. Eight minutes: it interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("06/second")
run = lab.live(second, explain=False).result
clock = lab.timer(8)
print(f"first loss {run.trace.loss[0]:.2f}, lowest {run.trace.loss.min():.2f}")

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                         the program; lines count from 1
#   for size in (5, 10, 32, 64): print(size, np.log(size))        which of these is the first loss?
#   kind(...), lowest_loss(...), entering(...)
#   bugzoo.Scenario(second.program, second.faults, {"batch_size": 64}).run().trace.loss[0]

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
turn_accuracy, turn_healthy = run.trace.metrics["accuracy"], second.healthy().run().trace.metrics["accuracy"]
turn_first, ln_batch = run.trace.loss[0], math.log(32)
wider = bugzoo.Scenario(second.program, second.faults, {"batch_size": 64}).run().trace.loss[0]
assert 0.4 < wider - turn_first < 0.9 and abs(turn_first - ln_batch) < abs(turn_first - ln_ten)
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "dim=0" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, text in offered.items() if text == second.specs[0][0].look_alikes[0].test)
own = {"cause": form.causes[0], "place": right_line, "step": 1, "test": test}
best = [judged(second, own | {"cause": cause}) for cause in form.causes]
assert any("4 of 4" in one for one in best), best
turn_wall = run.trace.loss.min()

# %% [folded] turn-read
# After you have handed in: the other axis
#
# The first loss is {3.66 = turn_first}. With ten classes it should be {2.30 = ln_ten}; the number near it is {3.47 = ln_batch}, ln 32, and 32 is the batch size. So
# the softmax runs over the 32 *samples* in place of the 10 classes: `dim=0`. With 64 samples the first loss is higher by about ln 2.
#
# It has a wall as well: three or four pictures of one class are in a batch, and they cannot all have most of the same column; so the lowest loss is
# {1.71 = turn_wall}. And a picture's answer depends on its neighbours, which is why the validation, with other neighbours or none, is worse.

# %% [check] recap_check
# A classifier with 100 classes starts at {4.6 = ln_hundred}, and stops at {3.62 = wall_hundred} for good. What do you do first?
#
# ( ) Try other learning rates: it has hardly learnt anything
#     with this fault a higher rate makes it worse. And a wall at exactly this place has a name.
# (x) Print a row of what enters the loss, and its sum
#     yes. lowest_loss(100, 1) is {3.62 = wall_hundred}. With many classes the corridor lies so high that the run looks as if it had not learnt.
# ( ) Look for wrong labels
#     wrong labels make a loss flat, but not the same for the easiest batch as for the others.

# %% [proof] recap-proof
ln_hundred, wall_hundred = math.log(100), floor(100)

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 06` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="06")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Know two numbers before you train: ln C at the start, and the lowest that the loss can be.** A first loss elsewhere means a
#    sum, a wrong axis or a head that is sure too early. *Fails when* the model is not new, or the classes are far from
#    equally frequent: then guessing well costs less than ln C.
# 2. **A lower edge that is a straight line is a wall, and its height names what is behind it.** Noise has two sides. *Fails when*
#    training ends before the wall: then print what enters the loss.
# 3. **Hand each loss the kind of numbers that it wants.** Logits for `cross_entropy`, logarithms for `nll_loss`; a loss below 0 is
#    no cross-entropy. *Fails when* the range alone is looked at: numbers between 0 and 1 can be logits. Add up the rows.
# 4. **Do not turn the learning rate before you know why a loss is flat.** Where the gradient is gone, larger steps are
#    not more of it. *Fails when* the loss is right and the rate is simply low: then the curve is a slope and has no wall.
#
# **Next:** [exercise 16, *flat loss*](../exercises/16_flat_loss.ipynb), [exercise 17, *same answer*](../exercises/17_same_answer.ipynb), and [exercise 18, *second
# opinion*](../exercises/18_second_opinion.ipynb), in which you decide whether there is anything to repair. The same instrument works on your own script, without
# changing it: `bugzoo checkup train.py`.
