"""Lesson 06: a loss that stops above a floor, the arithmetic that names its line, and a repair with the reader's own loss."""

# %% [case] incident
# sequence_classifier loss/sigmoid_into_bce_with_logits

# %% [case] second
# mini_transformer loss/log_of_softmax

# %% [markdown] title
# # 06 · Losses and softmax
#
# How low can a loss get? Arithmetic knows it before any training, and this **floor** names the line that is wrong. About {40 = minutes}
# minutes; you need to know logits, softmax and gradients. The {lesson = 00} says how a lesson works.

# %% setup
device = "cpu"  # or "auto", "cuda"

import math
import types

import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab
from bugzoo.lessons.parts import losses
from bugzoo.plots import loss_by_logit

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("06")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] floor-text
# ## The lowest value of a loss
#
# The best known mistake in a loss is a softmax too many: `F.cross_entropy(logits.softmax(-1), labels)`. Cross-entropy computes
#
# ```python
# loss = -z[label] + z.exp().sum().log()  # z: one row of what it is given
# ```
#
# and expects logits of any size. Here it gets probabilities. **Write it:** the lowest value of this loss, in [nats](glossary.ipynb#nats).
# Which row `z` is the best one?


# %% [task] floor
def floor(classes):
    """The lowest value, in nats, of cross-entropy that is given a softmax over so many classes."""
    z = torch.zeros(classes)  # one row of what the loss is given; the label is class 0
    ...  # your code: the best row, then its loss


# %% [solution] floor
def floor(classes):
    """The lowest value, in nats, of cross-entropy that is given a softmax over so many classes."""
    z = torch.zeros(classes)  # one row of what the loss is given; the label is class 0
    z[0] = 1  # right, and as sure as it can be
    return (-z[0] + z.exp().sum().log()).item()


# %% [judge] floor
import math

import torch
import torch.nn.functional as F

HELP = {
    r"cannot be converted to Scalar|only one element tensors": "The loss is one number. Sum over the row, then take the logarithm.",
    r"has no attribute 'item'": "`math` gives a plain number already: return it without `.item()`.",
}


def best(classes):
    row = torch.zeros(1, classes, dtype=torch.double)
    row[0, 0] = 1
    return F.cross_entropy(row, torch.tensor([0])).item()


def misread(gave, classes):
    if abs(gave - math.log(classes)) < 1e-3:
        return "ln C is the loss of a guess. Here the model is right and completely sure."
    if abs(gave) < 1e-3:
        return "Zero needs a logit far above all others. A probability is at most 1 above them."
    if abs(gave - math.log(math.e + classes - 1)) < 1e-3:
        return "Right and sure: the label's own number, 1, is subtracted."
    return "The row has one 1 and C - 1 zeros, and exp(0) is 1. All C terms are in the sum."


def judge(answer):
    for classes in (2, 4, 10, 1000):
        gave = answer(classes)
        gave = math.nan if gave is None else float(gave)
        right = best(classes)
        got = right if abs(gave - right) < 1e-3 else gave
        yield f"{classes} classes", round(right, 4), round(got, 4), misread(gave, classes)


def by_torch(classes):
    return F.cross_entropy(torch.eye(classes)[:1], torch.tensor([0])).item()


def by_log1p(classes):
    return math.log1p((classes - 1) / math.e)


RIGHT = {
    "a row for torch": by_torch,
    "a fraction": by_log1p,
    "a tensor": lambda classes: torch.tensor(by_log1p(classes)),
}
LAZY = {
    "a guess": lambda classes: math.log(classes),
    "always that of ten": lambda classes: 1.4612,
    "zero": lambda classes: 0.0,
    "not subtracted": lambda classes: math.log(math.e + classes - 1),
    "two classes only": lambda classes: math.log(math.e + 1) - 1,
}

# %% [markdown] surprise-text
# ## A first loss of 47 on digits?
#
# A published guide tells of a first loss of 47 for ten classes, caused by a softmax before cross-entropy.

# %% [predict] most
# Ten classes, and cross-entropy of a softmax. What is the loss of one sample **at most**?
#
# (=) {2.46 = ceiling} +- 0.02
#     The worst row has 0 for the label and 1 for another class: ln(e + 9). No double softmax shows a 47.
# (~) 2.303 +- 0.02
#     That is the loss of a guess, ln 10. A sure wrong answer has a little more.
# (~) 1.46 +- 0.02
#     That is the floor. The worst row has its 1 at a wrong class.
# (~) else
#     The worst row has 0 for the label and 1 for one wrong class: ln(e + 9).

# %% [draw] digits
# A digit classifier trains with a softmax too many. Draw the loss of this run.
#
# step: 1, 30, 100, 216
# loss (nats): 0.1 to 100, log

# %% surprise
curves = {}
for name, faults in (("healthy twin", ()), ("this run", ("loss/double_softmax",))):
    loss = bugzoo.Scenario("mlp", faults, device=device).run().trace.loss
    curves[name] = range(1, len(loss) + 1), loss
    print(f"{name:12} first {loss[0]:.3f}   lowest {loss.min():.3f}")
digits.reveal(curves, reference={"the guide: 47": 47, "highest": math.log(math.e + 9), "floor(10)": floor(10)})
most.reveal(f"{math.log(math.e + 9):.3f}; floor(10) = {floor(10):.3f}")

# %% [proof] surprise-proof
ceiling, ln_10, twenty = math.log(math.e + 9), math.log(10), 20 * math.log(10)
floor_2, floor_10, floor_1000, floor_100 = (math.log(math.e + classes - 1) - 1 for classes in (2, 10, 1000, 100))
digits_well, digits_ill = (pair[1] for pair in curves.values())
assert len(digits_ill) == 216
first_is_guess = abs(digits_ill[0] - ln_10) < 0.02
never_below = floor_10 < digits_ill.min() < floor_10 + 0.1
well_below = digits_well.min() < 0.2

# %% [folded] surprise-read
# After the run: between a floor and a ceiling
#
# {No batch is below the floor = never_below}, and the healthy run is {far below = well_below}. With a thousand classes the floor is {5.91 = floor_1000}.
#
# **47 cannot happen.** No sample has more than {2.46 = ceiling}, and the first loss is {that of a guess = first_is_guess}, ln 10. A *sum* over 20 samples starts at {46 = twenty}: look at
# the reduction.

# %% [proof] again-proof
row_again = torch.tensor([0.7, 0.2, 0.1]).softmax(-1)
first_again, triple = row_again[0].item(), [round(value, 3) for value in row_again.softmax(-1).tolist()]
assert triple == [0.378, 0.315, 0.307], triple
once_more = triple[0]

# %% [markdown] incident
# ## A review classifier stops too high
#
# > *Tuesday, 22:15.* "The training loss of the review classifier stops at about {0.6 = ill_late}. Last month's version went down to {0.4 to 0.5 = well_late}. I
# > doubled the epochs, and it ends at {0.6 = longer}. It is right in {three of four = ill_right} reviews, and {so was last month's = well_right}. I think that
# > we need a bigger model."
#
# The program reads film reviews, 32 in each of {225 = length} steps. Its two logits say *negative* or *positive*.

# %% live
incident = lab.case("06/incident")
view = lab.live(incident, explain=False, reference={"ln 2": math.log(2), "floor(2)": floor(2)})

# %% [predict] one_batch
# The test of {lesson = 02}: the same 32 reviews in each of {300 = repeated} steps, with the program's own loss. Where does the loss end?
#
# ( ) Near zero, as any 32 reviews can be memorized
#     In the twin it does. Here the model memorizes them as well, but the loss does not follow.
# ( ) Near the floor of a softmax too many, for two classes
#     That is {0.313 = floor_2}, and the loss stops {far above it = other}.
# (x) Near a half, well above that floor and below ln 2
#     The twin memorizes the same reviews. So this floor belongs to the training step.
# ( ) Near ln 2, as this program does not learn at all
#     It learns: three in four reviews are right.

# %% one-batch-run
trace, healthy = view.result.trace, view.healthy.trace
rival = bugzoo.Scenario(incident.program, ("loss/double_softmax",), device=device).run()  # a softmax too many
others = {"healthy twin": incident.healthy().run(), "rival": rival}
looks = lab.look("one_batch", view.result, beside=others)
stopped = looks["{label = one_batch.best_loss}"]
one_batch.reveal(f"{stopped:.4f}; floor(2) = {floor(2):.4f}")
for name, run in (("incident", trace), ("healthy twin", healthy)):
    print(f"{name:12} last 20 steps {run.loss[-20:].mean():.3f}, validation {run.metrics}")

# %% [proof] one-batch-proof
repeated = looks["{label = one_batch.steps}"]
twin_stopped, rival_stopped = (lab.look("one_batch", run)["{label = one_batch.best_loss}"] for run in others.values())
assert 0.5 < stopped < 0.53 and twin_stopped < 0.08
other, rival_stops = stopped - floor_2 > 0.15, abs(rival_stopped - floor_2) < 1e-3

# %% [proof] numbers-proof
ill_late, well_late, length = trace.loss[-20:].mean(), healthy.loss[-20:].mean(), len(trace.loss)
# processors round differently, and on 600 reviews that moves an accuracy by 3 points and this validation loss by a half
ill_right, well_right = 0.69 < trace.metrics["accuracy"] < 0.80, 0.72 < healthy.metrics["accuracy"] < 0.83
ill_validation = trace.metrics["loss"] > 1.5 * healthy.metrics["loss"]

# %% [measured] twice-the-epochs
longer = bugzoo.Scenario(incident.program, incident.faults, {"epochs": 6}, device=device).run().trace.loss[-20:].mean()

# %% [folded] numbers-read
# After the run: another line
#
# The rival, with a softmax too many, stops {at your floor = rival_stops}. The incident stops {far above it = other}: that rules out this suspect. The validation loss
# is odd, too: {far above the twin's = ill_validation}.

# %% [predict] which_number
# The view `outputs` prints a dozen facts about what a loss is given. Which of them shows that this loss is given no logits?
#
# ( ) The name of the function that computes the loss
#     Binary cross-entropy suits two classes, and the name does not say what it is given.
# ( ) The largest value that the loss is given
#     In the first step it is small in healthy programs, too.
# (x) The smallest value that the loss is given
#     Logits have both signs. Here no value is below zero.
# ( ) The shape of what the loss is given
#     For this loss, one number a review is the right shape.

# %% [markdown] look-text
# ## What is this loss given?
#
# Compare the **smallest value** in the three programs, then the **sum of a row** in twin and rival.

# %% look
facts = lab.look("outputs", view.result, beside=others)
which_number.reveal()

# %% [proof] look-proof
smallest, row_sum = "{label = outputs.smallest_logit}", "{label = outputs.double_normalisation.row_sum}"
well_facts, rival_facts = (lab.look("outputs", run) for run in others.values())
ill_smallest, well_smallest = facts[smallest], well_facts[smallest]
assert ill_smallest > 0 > well_smallest and rival_facts[smallest] > 0
rows_are_one = abs(rival_facts[row_sum] - 1) < 1e-5 and abs(well_facts[row_sum]) < 0.5
no_row = row_sum not in facts

# %% [folded] look-read
# After the run: numbers of one sign
#
# The smallest value is {0.52 = ill_smallest} in the incident and {-0.15 = well_smallest} in the twin. The rival has none below zero either, and its {rows add up to 1 = rows_are_one}: a softmax.
# The incident gives {one number a review = no_row}. Which function makes such numbers?

# %% [markdown] two-text
# ## Two sigmoids have two floors
#
# Two classes need only one number, `gap = logits[:, 1] - logits[:, 0]`. Its loss applies a sigmoid. Suppose that a program applies another:
#
# ```python
# s = torch.sigmoid(gap)
# loss = F.binary_cross_entropy_with_logits(s, labels)
# ```
#
# A *yes* has the loss `-log(sigmoid(s))`, a *no* has `-log(1 - sigmoid(s))`.

# %% [predict] sure_no
# In this line, how low can the loss of a *no* get: the model is right, and as sure as it can be?
#
# (=) {0.693 = sure_no_costs} +- 0.02
#     A sure no has `s` = 0, and sigmoid(0) is 1/2, as for a guess.
# (~) 0.313 +- 0.02
#     That is a sure yes, with `s` = 1. A sure no has `s` = 0.
# (~) 0 +- 0.02
#     With one sigmoid, yes. Here sigmoid(0) follows, and it is not 0.
# (~) else
#     A sure no has `s` = 0. Then sigmoid(0) is 1/2, and the loss is -ln(1/2).

# %% [markdown] mask-text
# Test it: the mean loss of the yes and of the no, each through a mask. **Write it:** the mean over what counts. It raises an error if
# the shapes differ.


# %% [task] masked_mean
def masked_mean(losses, mask):
    """Mean of the losses whose mask is 1 (or True), for tensors of one shape. Raises ValueError for a mask of another shape."""
    ...  # your code


# %% [solution] masked_mean
def masked_mean(losses, mask):
    """Mean of the losses whose mask is 1 (or True), for tensors of one shape. Raises ValueError for a mask of another shape."""
    if losses.shape != mask.shape:
        raise ValueError(f"losses have the shape {tuple(losses.shape)}, the mask {tuple(mask.shape)}")
    return (losses * mask).sum() / mask.sum()


# %% [judge] masked_mean
import torch

HELP = {
    r"^RuntimeError: The size of tensor a": "Compare the two shapes before you multiply, and raise a ValueError.",
    r"tensors used as indices": "Ones and zeros are no index. Multiply by the mask, or write `mask.bool()`.",
}
SHAPES = "Compare the two shapes before you multiply. Broadcasting raises no error."


def number(gave):
    return float("nan") if gave is None else float(torch.as_tensor(gave).float().mean())


def judge(answer):
    losses, table = torch.tensor([2.0, 4.0, 9.0, 5.0, 7.0]), torch.tensor([[1.0, 2.0, 8.0], [3.0, 9.0, 9.0]])
    for what, values, mask, right, hint in (
        ("two of five count", losses, torch.tensor([1.0, 1, 0, 0, 0]), 3.0, "Divide by how many count, not by how many there are."),
        ("True and False", losses, torch.tensor([False, True, True, False, False]), 6.5, "A mask of True and False is a mask, too."),
        ("places of two texts", table, torch.tensor([[1.0, 1, 0], [1, 0, 0]]), 2.0, "One mean over all places: a mean of means weighs short texts more."),
    ):  # fmt: skip
        yield what, right, round(number(answer(values, mask)), 4), hint
    for shape, mask in (("(5, 1)", torch.ones(5, 1)), ("(1,)", torch.ones(1)), ("(1, 5)", torch.ones(1, 5))):
        try:
            got = f"{number(answer(losses, mask)):.4g}"
        except (ValueError, IndexError, RuntimeError, AssertionError):
            got = "an error"
        yield f"a mask of shape {shape} for losses of shape (5,)", "an error", got, SHAPES


def by_index(losses, mask):
    assert losses.shape == mask.shape
    return losses[mask.bool()].mean()


def of_all(losses, mask):
    assert losses.shape == mask.shape
    return (losses * mask).mean()


def stretches(losses, mask):
    return (losses * mask).sum() / mask.sum()


def first_axis(losses, mask):
    if len(losses) != len(mask):
        raise ValueError("other lengths")
    return (losses * mask).sum() / mask.sum()


def mean_of_means(losses, mask):
    assert losses.shape == mask.shape
    return ((losses * mask).sum(-1) / mask.sum(-1)).mean()


def of_floats_only(losses, mask):
    if losses.shape != mask.shape:
        raise ValueError("another shape")
    return losses.mean() if mask.dtype == torch.bool else (losses * mask).sum() / mask.sum()


RIGHT = {"by index": by_index}
LAZY = {
    "a mean over all": of_all, "stretches": stretches, "only the first axis is compared": first_axis,
    "a mean of means": mean_of_means, "floats only": of_floats_only,
}  # fmt: skip

# %% [predict] stretched tags=["how-sure"]
# Four losses, 1, 2, 3 and 4, have the shape (4,). The mask 1, 1, 0, 0 came with one axis more: (4, 1). What does
# `(losses * mask).sum() / mask.sum()` give?
#
# (=) {10 = stretched_value} +- 0.1
#     The product has the shape (4, 4): each loss times each mask value. No row is left out.
# (~) 1.5 +- 0.05
#     That is what equal shapes give.
# (~) 2.5 +- 0.05
#     That is the mean of all four, a quarter of the answer.
# (~) else
#     Broadcasting makes a (4, 4) table of all pairs. Its sum is 20, the mask's 2.

# %% classes-run
s, labels = losses.repeat_batch(incident)  # what its loss is given after 300 steps on one batch
each = F.binary_cross_entropy_with_logits(s, labels, reduction="none")  # (32,)
for name, mask in (("yes", labels == 1), ("no", labels == 0)):
    print(f"{mask.sum()} x {name:3} mean loss {masked_mean(each, mask):.4f}")
sure_no.reveal(f"{math.log(2):.4f}; a sure yes {floor(2):.4f}")
print(incident.diff())
four, half = torch.tensor([1.0, 2, 3, 4]), torch.tensor([1.0, 1, 0, 0])
stretched.reveal(
    f"{(four * half.unsqueeze(1)).sum() / half.sum():g}, and {(four * half).mean():g} is (four * half).mean()"
)

# %% [proof] classes-proof
bce = F.binary_cross_entropy_with_logits
first_yes, first_no = (bce(torch.tensor(0.5), torch.tensor(label)).item() for label in (1.0, 0.0))
sure_yes_costs, sure_no_costs = (bce(torch.tensor(label), torch.tensor(label)).item() for label in (1.0, 0.0))
assert abs(sure_yes_costs - floor_2) < 1e-6
of_yes, of_no = (each[labels == label].mean().item() for label in (1, 0))
at_floors = abs(of_yes - sure_yes_costs) < 5e-4 and abs(of_no - sure_no_costs) < 5e-4
in_four = abs(bce(labels, labels).item() - stopped) < 2e-4
first_mean = (first_yes + first_no) / 2
assert trace.loss[:5].min() < first_mean < trace.loss[:5].max() and trace.loss[:5].min() < math.log(2)
stretched_value = ((four * half.unsqueeze(1)).sum() / half.sum()).item()
wrong_mean = (four * half).mean().item()
batch_times = abs(stretched_value - len(four) * four.mean().item()) < 1e-6

# %% [measured] own-floors
floors = [F.binary_cross_entropy_with_logits(right, right).item() for _, right in losses.calls(incident.source)]
excess = trace.loss - floors
lowest_floor, highest_floor, none_below = min(floors), max(floors), bool((excess > 0.02).all())
assert len(floors) == len(trace.loss) and excess[-20:].mean() > 0.06

# %% [folded] classes-read
# After the run: the floors name the line
#
# A yes and a no end {at the floors of two sigmoids = at_floors}: {0.313 = floor_2} and {0.693 = sure_no_costs}. The batch's labels make of them the {measured floor = in_four}. No model gets
# below it, however big.
#
# In the training each batch has its own floor, from {0.42 = lowest_floor} to {0.59 = highest_floor}, and {no loss comes near it = none_below}. So read a floor from one repeated
# batch. A guess costs {0.72 = first_mean} in place of ln 2, too, but noise hides it.
#
# A recommender library removed such a sigmoid, as the loss did not converge
# ([yudi-mars/daisyRec, 15](https://github.com/yudi-mars/daisyRec/pull/15)).
#
# **The mask:** stretched, it gives the {batch size times the mean of all = batch_times}. A `mean()` with fitting shapes gives {0.75 = wrong_mean}, as it divides by all rows.

# %% [check] focal
# A public focal loss has `p = torch.sigmoid(x)`, then `ce = F.binary_cross_entropy_with_logits(x, y)`, then `ce` times a power of `p`.
# Is it the same bug?
#
# (x) No, as the loss is given x and not p
#     Follow the tensor: `p` is only a weight. A search for the word sigmoid would be a false alarm.
# ( ) Yes, as the sigmoid is applied twice
#     Two sigmoids are computed, but both of the same `x`.
# ( ) No, as a focal loss needs probabilities
#     For its weight it does. With them its loss would have the incident's floor.

# %% [draw] pull
# How much does one review change the model? That is its slope over the gap.
# Cross-entropy has 1 where the model is sure and wrong, 1/2 for a guess. Draw the slope of **the incident's loss** for a *yes*.
#
# gap: -6, -3, 0, 3, 6
# size of the slope: 0 to 1

# %% figure
places = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6]
slopes = losses.slopes(places)
pull.reveal({name: (places, slopes[name]) for name in ("healthy", "incident, a yes")})
lab.picture(loss_by_logit.picture(losses.WAYS))

# %% [proof] figure-proof
full, weak = slopes["healthy"][0], slopes["incident, a yes"][0]
eight_hundred, at_guess = 700 < full / weak < 900, slopes["incident, a yes"][6]
hardly = all(slopes[name][0] < 0.01 and slopes[name][-1] < 0.01 for name in list(losses.WAYS)[1:])

# %% [folded] figure-read
# After the run: sure and wrong, and hardly corrected
#
# On the left the model is sure and wrong. There two sigmoids make the slope about {eight hundred times = eight_hundred} smaller, and even a guess has only {0.09 = at_guess}. So
# the floor is the smaller harm: a sure wrong answer is {hardly corrected = hardly} any more.
#
# The focal loss above is real ([facebookresearch/fvcore, 126](https://github.com/facebookresearch/fvcore/issues/126)).

# %% [markdown] ce-text
# ## A loss that takes logits
#
# The repair is a loss that takes logits. **Write it** without `F.cross_entropy` and `F.nll_loss`, for logits up to 10,000: exp(89) is
# {too large for float32 = overflows}. Values and slopes are checked.


# %% [task] cross_entropy
def cross_entropy(logits, targets):
    """Mean cross-entropy in nats of logits (batch, classes) and class numbers (batch,)."""
    ...  # your code; see logits.logsumexp(dim) or subtract each row's largest logit first


# %% [solution] cross_entropy
def cross_entropy(logits, targets):
    """Mean cross-entropy in nats of logits (batch, classes) and class numbers (batch,)."""
    correct = logits[torch.arange(len(targets), device=logits.device), targets]
    return (logits.logsumexp(1) - correct).mean()


# %% [judge] cross_entropy
import torch
import torch.nn.functional as F

SLOPE = "A clamp, an eps or .item() changes the slope where the model is sure and wrong."
HELP = {
    r"^IndexError|The size of tensor a": "One number a row: `logits.logsumexp(1)` and `logits[torch.arange(len(targets)), targets]`.",
    r"^RuntimeError: Index tensor": "`gather` wants an index with as many axes as the logits: `targets.unsqueeze(1)`.",
}


def judge(answer):
    mild = torch.tensor([[1.0, -1.0, 0.5], [0.0, 2.0, 0.0], [3.0, 0.0, -2.0], [0.1, 0.2, 0.3]])
    huge = torch.tensor([[10_000.0, 0.0, -10_000.0], [0.0, 100.0, 90.0]])
    for name, table, targets, hint in (
        ("small logits", mild, torch.tensor([0, 1, 2, 2]), "Take each row's own target, and the mean over the rows."),
        ("logits up to 10,000", huge, torch.tensor([2, 1]), "A softmax underflows to 0, and log(0) is -inf. Subtract in logs instead."),
    ):  # fmt: skip
        logits = table.clone().requires_grad_()
        right = F.cross_entropy(table, targets).item()
        loss = answer(logits, targets)
        value = float("nan") if loss is None else float(loss.detach() if isinstance(loss, torch.Tensor) else loss)
        near = abs(value - right) <= 1e-4 * max(1, abs(right))
        yield name, round(right, 4), round(right if near else value, 4), hint
        expected = (table.softmax(1) - F.one_hot(targets, 3)) / len(targets)
        got = "no slopes"
        if isinstance(loss, torch.Tensor) and loss.requires_grad and loss.ndim == 0:
            away = (torch.autograd.grad(loss, logits)[0] - expected).abs().max().item()
            got = "equal" if away < 1e-5 else f"up to {away:.3g} away"
        yield f"{name}: slopes, and softmax minus one-hot over the rows", "equal", got, SLOPE if near else ""


def shifted(logits, targets):
    logits = logits - logits.max(1, keepdim=True).values
    return (logits.exp().sum(1).log() - logits.gather(1, targets[:, None]).squeeze(1)).mean()


def by_log_softmax(logits, targets):
    return -torch.log_softmax(logits, 1)[torch.arange(len(targets)), targets].mean()


def of_probabilities(logits, targets):
    return -logits.softmax(1)[torch.arange(len(targets)), targets].log().mean()


def with_eps(logits, targets):
    return -(logits.softmax(1)[torch.arange(len(targets)), targets] + 1e-9).log().mean()


def clamped(logits, targets):
    return shifted(logits.clamp(-50, 50), targets)


def summed(logits, targets):
    return shifted(logits, targets) * len(targets)


def not_a_tensor(logits, targets):
    return shifted(logits, targets).item()


RIGHT = {"largest logit subtracted": shifted, "log_softmax": by_log_softmax}
LAZY = {
    "the logarithm of a softmax": of_probabilities, "an eps in the logarithm": with_eps, "clamped logits": clamped,
    "a sum": summed, "no slope": not_a_tensor,
}  # fmt: skip

# %% log-softmax-run
for lead in (90.0, 200.0):
    for name, loss in (("-log(softmax)", losses.log_of_softmax), ("cross_entropy", cross_entropy)):
        row = torch.tensor([[lead, 0.0, 0.0]], requires_grad=True)
        value = loss(row, torch.tensor([1]))
        value.backward()
        print(f"{name} of {row[0].tolist()}, label 1: {value:.0f}, gradient {row.grad[0].tolist()}")

# %% [proof] log-softmax-proof


def log_of_softmax(lead):
    """Loss and gradient of the second class with the logarithm of a softmax, one logit above the others."""
    row = torch.tensor([[lead, 0.0, 0.0]], requires_grad=True)
    loss = losses.log_of_softmax(row, torch.tensor([1]))
    return loss.item(), torch.autograd.grad(loss, row)[0]


at_90, at_200 = log_of_softmax(90.0), log_of_softmax(200.0)
finite_90, lost_90, infinite_200 = math.isfinite(at_90[0]), bool(at_90[1].isnan().any()), math.isinf(at_200[0])
overflows = bool(torch.tensor(89.0).exp().isinf())

# %% [folded] log-softmax-read
# After the run: a finite loss, a lost gradient
#
# With a lead of 90, `-log(softmax)` gives a {finite loss = finite_90} and a gradient with {nan = lost_90}, as in {lesson = 03}. With 200 the loss is {inf = infinite_200}.

# %% [predict] repaired tags=["how-sure"]
# The incident is paused after step 150, and from there your loss is computed from its logits. What does the training loss do next?
#
# ( ) It falls at once toward that of the twin
#     It ends near it. First come the sure wrong answers.
# (x) It jumps up, and then falls below where it was
#     The model was sure, also of wrong answers. The old loss had at most {1.3 = dearest} for one, the new one has the gap.
# ( ) It stays near its floor until the end of the run
#     The floor belonged to the old line.

# %% [markdown] repair-text
# ## Repair the running program
#
# The loop looks `F` up in each step. We give it one whose binary loss calls **your function**.

# %% repair
view = lab.live(incident, pause_at=150, explain=False, reference={"floor(2)": floor(2)})
view.wait_pause(seconds=300)  # the twin runs first
own = types.SimpleNamespace(**vars(F))
own.binary_cross_entropy_with_logits = lambda s, labels: cross_entropy(view.objects["logits"], labels.long())
view.objects["F"] = own
view.mark(150, "your loss")
view.resume()

# %% repair-numbers
mended = view.result.trace
for name, run in (("incident", trace), ("repaired", mended), ("healthy twin", healthy)):
    print(f"{name:12} last 20 steps {run.loss[-20:].mean():.3f}, validation {run.metrics}")
repaired.reveal(f"{mended.loss[149]:.2f} in step 150, {mended.loss[150]:.2f} in step 151")

# %% [proof] repair-proof
jump, before_jump, mended_late = mended.loss[150], mended.loss[130:150].mean(), mended.loss[-20:].mean()
mended_validation = mended.metrics["loss"] < 0.7 * trace.metrics["loss"]
jumps = jump > 2 * before_jump
below_before = mended_late < ill_late - 0.08
assert mended_late > well_late
forgives = device != "cpu" or abs(mended.metrics["accuracy"] - trace.metrics["accuracy"]) < 0.06
dearest = math.log(math.e + 1)

# %% [measured] lstm-on-reviews
reviews_ill_band, reviews_well_band = (
    (100 * mean - 2, 100 * mean + 2)
    for mean in losses.mean_accuracies("sentiment_lstm", "loss/sigmoid_into_bce_with_logits")
)

# %% [folded] repair-read
# After the run: accuracy hardly noticed
#
# The loss {more than doubles = jumps}, then falls to {0.5 = mended_late}, {clearly below = below_before} where it had stopped. The validation loss is {far lower = mended_validation}, too.
# On a CPU the accuracy is {much the same = forgives}: it asks only for the sign of a gap. But an LSTM with two sigmoids gets
# {59 % = reviews_ill_band} in place of {82 % = reviews_well_band}.

# %% [markdown] play-text
# ## Play: more classes, less slope
#
# A softmax too many again. `surer` is how far the logit of the correct class is **below** all others, as in a sure mistake. Where does the slope fall below a
# hundredth, with ten classes and with a thousand?

# %% play
play = lab.play(losses.squeezed, classes=(2, 1000, 10), surer=(0.0, 12.0, 0.0))

# %% [proof] slopes
ten_at, ten_before = losses.slope_twice(10, 2.5), losses.slope_twice(10, 2.3)
between = ten_at < 0.01 < ten_before
thousand_at_once = losses.slope_twice(1000, 0) < 0.0011

# %% [folded] play-read
# After you have played: a thousand classes hardly learn
#
# With ten classes it falls below a hundredth at {about 2.4 = between}. With a thousand it is {a thousandth for a plain guess = thousand_at_once}.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# *"A character model, 96 characters. Its loss falls from {4.74 = turn_first} to {4.56 = turn_last} and stays there; last week's ended at {2.5 = turn_well}. It gets
# {fewer than two characters in a hundred = turn_rare} right. Ten times the learning rate changes nothing. I suspect the text that it reads."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike, within six minutes.

# %% turn
second = lab.case("06/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock, hints = lab.timer(6), lab.hints(second)

# %% [proof] turn-proof
turn_first, turn_last = turn_run.trace.loss[0], turn_run.trace.loss[-20:].mean()
turn_rare = turn_run.trace.metrics["accuracy"] < 0.02

# %% [measured] twin-and-faster
turn_well = second.healthy().run().trace.loss[-20:].mean()
faster = bugzoo.Scenario(second.program, second.faults, {"learning_rate": 3e-2}, device=device).run().trace
assert abs(faster.loss[-20:].mean() - turn_last) < 0.01

# %% turn-look
# your own look; some ways to begin:
#   lab.lines(second)               the program with its line numbers
#   turn_run.trace.loss[-5:]        to all digits: which number is it?
#   lab.look("outputs", turn_run)   a view

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
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "torch.log(F.softmax" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
tests = [look_alike.test for look_alike in second.specs[0][0].look_alikes]
test = next(letter for letter, text in offered.items() if text in tests)
assert len(form.causes) == 4 and second.ticket != incident.ticket
graded = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(reply.count("NOT") for reply in graded) == 0, graded
ln_96, at_guess_96 = math.log(96), abs(turn_last - math.log(96)) < 1e-3
all_finite = all(map(math.isfinite, turn_run.trace.loss))

# %% [folded] turn-read
# After you have handed in: a floor at the loss of a guess
#
# The loss ends at ln 96 = {4.564 = ln_96}, {to three digits = at_guess_96}: the loss of a guess, and the floor of this line. It averages over *all* classes, and
# no label is in it.
#
# In an interview question of a published course this line makes the loss nan after some hundred steps. Here {every loss is finite = all_finite}, as equal
# probabilities do not underflow. With a sure model they do, as you saw above.

# %% [check] recap_check
# 100 classes, and the line `F.cross_entropy(model(x).softmax(-1), y)`. Which symptom tells it from other bugs?
#
# (x) The loss starts at {4.6 = ln_100}, and never gets below {3.62 = floor_100}
#     yes. The start is that of a guess, as in a healthy run. The floor belongs to this line.
# ( ) The loss starts at {4.6 = ln_100}, and stays there to the end
#     it falls, only slowly. A loss that stays has many causes.
# ( ) The loss starts far above {4.6 = ln_100}, and then falls to zero
#     no sample has more than {4.62 = ceiling_100}, and zero is below the floor.
# ( ) The loss falls as usual, and only the accuracy is low
#     that points at the evaluation. Here the loss has a hard lower edge.

# %% [proof] recap-proof
ln_100, ceiling_100 = math.log(100), math.log(math.e + 99)

# %% [markdown] recap
# ## What to take with you
#
# 1. **Compute first value and floor before you train.** *Fails when* label smoothing sets a floor on purpose.
# 2. **Hand a loss what its documentation calls its input.** *Fails when* a wrapper has changed it: then print its smallest value.
# 3. **Compare the shapes of losses and mask.** *Fails when* the shapes agree, and the axis is wrong.
# 4. **Accuracy can forgive what a loss does not.** *Fails when* you need probabilities.
#
# **Next:** {exercise = 16}, {exercise = 17}, {exercise = 18}.


# %% [keep] cross_entropy
def test_cross_entropy_differs_from_the_loss_of_the_incident():
    program = lab.variables(lab.case("06/incident"), step=20)
    assert abs(cross_entropy(program["logits"], program["targets"]) - program["loss"]) > 0.1


def test_cross_entropy_is_the_loss_of_the_healthy_twin():
    program = lab.variables(lab.case("06/incident").healthy(), step=20)
    assert abs(cross_entropy(program["logits"], program["targets"]) - program["loss"]) < 0.001


# %% home
lab.calibration("06")
lab.keep(cross_entropy)
mine = lab.mine(view="outputs")  # your own script: lab.mine("train.py", view="outputs")

# %% [measured] accuracy-of-digits
digits_ill_mean, digits_well_mean = losses.mean_accuracies("mlp", "loss/double_softmax")
assert 0.01 < digits_well_mean - digits_ill_mean < 0.05

# %% [measured] first-values
torch.manual_seed(0)
near_ln, above_ln = [], []
for size in (2, 10, 100, 1000, 10_000):
    head, answers = torch.nn.Linear(64, size)(torch.rand(256, 64)), torch.randint(size, (256,))
    near_ln.append(abs(F.cross_entropy(head, answers).item() - math.log(size)) < 0.1 and head.std().item() < 0.4)
    above_ln.append(F.cross_entropy(10 * head, answers).item() - math.log(size) > 0.3)
first_is_ln, spread_is_above = all(near_ln), all(above_ln)

# %% [measured] softmax-axis
logits = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))  # three texts, five places, four words
beside_others = torch.cat([logits[:1], -logits[1:]])  # the first text, with other neighbors
own_axis, moves = [], []
for dim in range(3):
    outputs = logits.softmax(dim)
    own_axis.append([axis for axis in range(3) if torch.allclose(outputs.sum(axis), torch.ones(()))] == [dim])
    moves.append((outputs[0] - beside_others.softmax(dim)[0]).abs().max().item())
only_own, neighbors_matter = all(own_axis), moves[0] > 0.2 and max(moves[1:]) < 1e-6
table = torch.tensor([[1.0, 1.0], [3.0, 5.0]])  # two samples, two classes
dearest_sample, wrong_dearest = table.mean(1).max().item(), table.mean(0).max().item()

# %% [measured] other-reviews
import csv
import tempfile
from pathlib import Path

from film_reviews import make_reviews

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "reviews.csv"
    with file.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines).writerows([("text", "label"), *make_reviews(200, 3)])
    yours = bugzoo.Scenario(
        "sentiment_lstm", ("loss/sigmoid_into_bce_with_logits",), {"data": str(file)}, device=device
    )
    positive = losses.calls(yours.source)[0][1].mean().item()
    yours_stopped = lab.look("one_batch", yours.run())["{label = one_batch.best_loss}"]
floor_holds = -1e-4 < yours_stopped - (positive * (math.log(math.e + 1) - 1) + (1 - positive) * math.log(2)) < 0.01

# %% [folded] appendix
# Appendix, for the curious: what it costs, first values, axes, and your own reviews
#
# **82 instead of 91?** The guide guesses what a softmax too many costs: `maybe 82 %` accuracy `instead of 91 %`, and elsewhere `70 %`
# instead of `90 %`. Measured here on digits, three seeds: {93 % = digits_ill_mean} instead of {96 % = digits_well_mean}. The direction is as guessed, the size is not.
#
# **The first value** is ln C for a small head, {with all five sizes = first_is_ln} that we tried, from 2 classes to 10,000. Logits ten times as large make it
# {higher with each size = spread_is_above}. So with a first loss above ln C, look at the logits' standard deviation.
#
# **Softmax once more.** Of the probabilities `0.7, 0.2, 0.1` it makes the first {0.464 = first_again}. A published course gives
# `0.378, 0.315, 0.307`. That takes two more softmaxes, as the first is then {0.378 = once_more}.
#
# **The axis.** For logits of shape (batch, time, words) `F.softmax(logits, dim=-1)` lets the words of a place compete, and `dim=1` the places of
# a text. With `dim=0` the *texts of the batch* compete, and the output of a text {depends on its neighbors = neighbors_matter}. No error tells you, as the shape stays the
# same. Add up the outputs: the sums are 1 {over the softmax's own axis only = only_own}. A mean is as silent. Of two samples and two classes, the worst
# sample's mean loss is {4 = dearest_sample}, and the mean over the wrong axis is at most {3 = wrong_dearest}.
#
# **Your own reviews.** `sentiment_lstm` with two sigmoids reads a CSV with the columns `text` and `label`, or a folder with `pos/` and
# `neg/`:
#
# ```python
# yours = bugzoo.Scenario("sentiment_lstm", ("loss/sigmoid_into_bce_with_logits",), {"data": "/path/to/reviews.csv"}, device=device)
# lab.look("one_batch", yours.run())
# ```
#
# A floor is arithmetic, so it {holds for any file = floor_holds}: the {label = one_batch.best_loss} is that of its share of positive reviews.
