"""Lesson 06: a loss that stops above a floor, the arithmetic that names its line, and what the same mistake does elsewhere."""

# %% [case] incident
# sequence_classifier loss/sigmoid_into_bce_with_logits

# %% [case] second
# mini_transformer loss/log_of_softmax

# %% [markdown] title
# # 06 · Losses and softmax
#
# Two numbers of a loss are known before any training: its first value and its **floor**, the lowest value that it can have. You
# compute both, find the line that made a floor, and repair a run with your own loss.
#
# You need about {54 = minutes} minutes, and to know logits, softmax and gradients. A good place for a pause is after *Look at it*.
#
# Before each result you predict it. A guess is saved, not graded. Read folded text after the run above it. After a restart of the
# kernel choose *Run* → *Run All Above Selected Cell*; your predictions and code are still there. The [glossary](glossary.ipynb)
# explains words.

# %% setup
device = "cpu"  # or "auto", "cuda"

import math
import types

import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("06")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] floor-text
# ## Warm up: the lowest value of a loss
#
# The best known mistake in a loss is a softmax too many: `F.cross_entropy(logits.softmax(-1), labels)`. Cross-entropy computes
#
# ```python
# loss = -z[label] + z.exp().sum().log()  # z: one row of what it is given
# ```
#
# and expects logits, which may have any size. Here it gets probabilities, from 0 to 1. **Write it:** the lowest value of this loss
# for any number of classes. First on paper: which row `z` is the best one?


# %% [task] floor
def floor(classes):
    """The lowest value, in nats, of cross-entropy that is given a softmax over so many classes."""
    ...  # your code


# %% [solution] floor
def floor(classes):
    """The lowest value, in nats, of cross-entropy that is given a softmax over so many classes."""
    return math.log(math.e + classes - 1) - 1  # the best row: 1 for the label, 0 for the others


# %% [judge] floor
import math

import torch
import torch.nn.functional as F


def best(classes):
    row = torch.zeros(1, classes, dtype=torch.double)
    row[0, 0] = 1
    return F.cross_entropy(row, torch.tensor([0])).item()


def misread(gave, classes):
    if abs(gave - math.log(classes)) < 1e-3:
        return "ln C is the price of a guess. Here the model is right and completely sure."
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
        said = f"{classes} classes: torch gives {right:.4f} for the best row, yours says {gave:.4f}"
        yield abs(gave - right) < 1e-3, said, misread(gave, classes)


def by_torch(classes):
    return F.cross_entropy(torch.eye(classes)[:1], torch.tensor([0])).item()


def by_log1p(classes):
    return math.log1p((classes - 1) / math.e)


RIGHT = {"a row for torch": by_torch, "a fraction": by_log1p}
LAZY = {
    "a guess": lambda classes: math.log(classes),
    "always that of ten": lambda classes: 1.4612,
    "zero": lambda classes: 0.0,
    "not subtracted": lambda classes: math.log(math.e + classes - 1),
    "two classes only": lambda classes: math.log(math.e + 1) - 1,
}

# %% try-floor
floor = lab.try_out("06/floor", floor)
torch.manual_seed(0)
print("classes   floor, softmax twice     ln C   first loss   its logits: mean, std   with logits times 10")
for classes in (2, 10, 100, 1000, 10_000):
    logits, labels = torch.nn.Linear(64, classes)(torch.rand(256, 64)), torch.randint(classes, (256,))
    begin, larger = F.cross_entropy(logits, labels), F.cross_entropy(10 * logits, labels)
    print(f"{classes:7}   {floor(classes):20.3f} {math.log(classes):8.3f} {begin:12.3f}", end="")
    print(f"{logits.mean():16.2f} {logits.std():7.2f} {larger:22.3f}")

# %% [proof] floor-proof


def lowest(classes):
    """As floor, whatever the learner wrote."""
    return math.log(math.e + classes - 1) - 1


floor_2, floor_10, floor_1000 = lowest(2), lowest(10), lowest(1000)
torch.manual_seed(0)
near_ln, above_ln = [], []
for size in (2, 10, 100, 1000, 10_000):
    head, answers = torch.nn.Linear(64, size)(torch.rand(256, 64)), torch.randint(size, (256,))
    near_ln.append(abs(F.cross_entropy(head, answers).item() - math.log(size)) < 0.1 and head.std().item() < 0.4)
    above_ln.append(F.cross_entropy(10 * head, answers).item() - math.log(size) > 0.3)
first_is_ln, spread_is_above = all(near_ln), all(above_ln)

# %% [folded] floor-read
# After the run: two numbers before any training
#
# With ten classes the floor is {1.46 = floor_10}, with a thousand {5.91 = floor_1000}. The first loss is ln C, {with all five sizes = first_is_ln}, as the first logits are small. Ten
# times as large, they make it {higher with each size = spread_is_above}. So with a first loss above ln C, look at their standard deviation.

# %% [markdown] surprise-text
# ## Softmax twice, on digits
#
# The next run trains a digit classifier, healthy and with a softmax too many.

# %% [predict] most
# A published guide tells of a first loss of 47 for ten classes, caused by a softmax before cross-entropy. What does one sample cost
# **at most** with this line?
#
# (=) {2.46 = ceiling} +- 0.02
#     The worst row has 0 for the label and 1 for another class: ln(e + 9). No double softmax shows a 47.
# (~) 2.303 +- 0.02
#     That is the price of a guess, ln 10. A sure wrong answer costs a little more.
# (~) 1.46 +- 0.02
#     That is the floor. The worst row has its 1 at a wrong class.
# (~) else
#     The worst row has 0 for the label, 1 for one wrong class and 0 for the others: ln(e + 9).

# %% [predict] price
# The guide guesses what the line costs: `maybe 82 %` accuracy `instead of 91 %`, and elsewhere `70 %` instead of `90 %`. How much does
# the digit classifier lose?
#
# ( ) Nothing, as the order of the classes stays the same
#     The order in a row stays. But its slopes are smaller, so the training ends elsewhere.
# (x) Some points, between one and five with each seed
#     The loss is squeezed, and most digits are learned all the same. The direction is as guessed, the size is not.
# ( ) About nine points or more, much as the guide guesses
#     On these digits it is less. In other programs it can be more.

# %% surprise
digits = []
for seed in range(3):
    for name, faults in (("healthy", ()), ("softmax twice", ("loss/double_softmax",))):
        one = bugzoo.Scenario("mlp", faults, seed=seed, device=device).run().trace
        digits.append(one)
        print(f"seed {seed}   {name:13}   first {one.loss[0]:.3f}   lowest {one.loss.min():.3f}", end="   ")
        print(f"accuracy {one.metrics['accuracy']:.3f}")
print(f"floor(10) = {floor(10):.3f}")
most.reveal(f"{math.log(math.e + 9):.3f}, and a first loss of {one.loss[0]:.3f}")
price.reveal()

# %% [proof] surprise-proof
ceiling, ln_10, twenty = math.log(math.e + 9), math.log(10), 20 * math.log(10)
digits_well, digits_ill = digits[::2], digits[1::2]
first_is_guess = all(abs(one.loss[0] - ln_10) < 0.02 for one in digits_ill)
never_below = all(floor_10 < one.loss.min() < floor_10 + 0.1 for one in digits_ill)
well_below = all(one.loss.min() < 0.2 for one in digits_well)
digits_mean_well, digits_mean_ill = (
    sum(one.metrics["accuracy"] for one in side) / 3 for side in (digits_well, digits_ill)
)
for well, ill in zip(digits_well, digits_ill, strict=True):
    assert 0.01 < well.metrics["accuracy"] - ill.metrics["accuracy"] < 0.05

# %% [folded] surprise-read
# After the run: a floor, and two numbers
#
# With the softmax too many {no batch is below the floor = never_below}, which is the same for each batch: no label is in it. Healthy runs get {far below = well_below}.
#
# **47 cannot happen.** The most is {2.46 = ceiling}, and with each seed the first loss is {that of a guess = first_is_guess}. A sum over 20 samples starts at
# {46 = twenty}: look at the reduction. **82 instead of 91** is a guess. Measured here over three seeds: {93 % = digits_mean_ill} instead of {96 % = digits_mean_well}.

# %% [check] again
# A model is fairly sure: its probabilities are 7/10, 2/10 and 1/10. They go through softmax once more. What becomes of the first?
#
# (=) {0.464 = first_again} +- 0.012
#     It drops below a half. A published course tells this example with `0.378, 0.315, 0.307`: that is the softmax of *your* result, one
#     softmax more.
# (~) 0.38 +- 0.01
#     A published course on PyTorch bugs has this number. It takes two more: softmax gives {0.464 = first_again}, and the softmax of that
#     row gives {0.378 = once_more}.
# (~) 0.7 +- 0.01
#     Softmax does not notice that these are probabilities. It takes any numbers as logits.
# (~) else
#     Take `e^0.7`, `e^0.2` and `e^0.1`, and divide the first by their sum.

# %% [proof] again-proof
row_again = torch.tensor([0.7, 0.2, 0.1]).softmax(-1)
first_again, triple = row_again[0].item(), [round(value, 3) for value in row_again.softmax(-1).tolist()]
assert triple == [0.378, 0.315, 0.307], triple
once_more = triple[0]

# %% [markdown] incident
# ## The incident
#
# > *Tuesday, 22:15.* "The training loss of the review classifier stops at about {0.6 = ill_late}. Last month's version went down to {0.4 to 0.5 = well_late}. I
# > doubled the epochs, and it ends at {0.6 = longer}. It is right in {three of four = ill_right} reviews, and {so was last month's = well_right}. I think that
# > we need a bigger model."
#
# The program says of film reviews whether they are *positive* or *negative*. A small attention encoder reads the words, and a linear
# layer gives two logits. It trains for {225 = length} steps, with 32 reviews in a batch. First its **healthy twin** runs, without the fault.

# %% live
incident = lab.case("06/incident")
view = lab.live(incident, explain=False)

# %% [predict] one_batch
# The test of {lesson = 02}: the same 32 reviews again and again, {300 = repeated} steps, with the program's own loss and optimizer. Where does the loss end?
#
# ( ) Near zero, as any 32 reviews can be memorized
#     In the twin it does. Here the model memorizes the reviews as well, but the loss does not follow.
# ( ) Near the floor of a softmax too many, for two classes
#     That is {0.313 = floor_2}, and the loss stops {far above it = other}. The best known line is not the one.
# (x) Near a half, well above that floor and below ln 2
#     Neither the data nor its difficulty plays a part. So this floor belongs to the training step.
# ( ) Near ln 2, as this program does not learn at all
#     It learns: three in four validation reviews are right.

# %% one-batch-run
trace, healthy = view.result.trace, view.healthy.trace
healthy_run, looks = incident.healthy().run(), {}
for name, run in (("incident", view.result), ("healthy twin", healthy_run)):
    print(f"--- {name}: last 20 steps {run.trace.loss[-20:].mean():.3f}, validation {run.trace.metrics}")
    looks[name] = lab.look("one_batch", run)
stopped = looks["incident"]["{label = one_batch.best_loss}"]
print(f"one batch stopped at {stopped:.4f}; floor(2) = {floor(2):.4f}")
one_batch.reveal(f"{stopped:.4f}")

# %% [proof] one-batch-proof
repeated, twin_stopped = (
    looks["incident"]["{label = one_batch.steps}"],
    looks["healthy twin"]["{label = one_batch.best_loss}"],
)
assert 0.5 < stopped < 0.53 and twin_stopped < 0.08
other = stopped - floor_2 > 0.15

# %% [proof] numbers-proof
ill_late, well_late, length = trace.loss[-20:].mean(), healthy.loss[-20:].mean(), len(trace.loss)
# processors round differently, and on 600 reviews that moves an accuracy by 3 points and this validation loss by a half
ill_right, well_right = 0.69 < trace.metrics["accuracy"] < 0.80, 0.72 < healthy.metrics["accuracy"] < 0.83
ill_validation = trace.metrics["loss"] > 2 * healthy.metrics["loss"]

# %% [measured] twice-the-epochs
longer = bugzoo.Scenario(incident.program, incident.faults, {"epochs": 6}, device=device).run().trace.loss[-20:].mean()

# %% [folded] numbers-read
# After the run: another line
#
# A softmax too many would stop at {0.313 = floor_2}, and the incident stops {far above that = other}: a floor rules out a suspect. The validation loss is
# odd, too: {more than twice = ill_validation} the twin's.

# %% [markdown] two-text
# ## Two classes, one number
#
# Two classes need only one number, `gap = logits[:, 1] - logits[:, 0]`. Its loss, `F.binary_cross_entropy_with_logits`, applies a
# sigmoid itself. Suppose that a program applies one before it:
#
# ```python
# loss = F.binary_cross_entropy_with_logits(torch.sigmoid(gap), labels)
# ```
#
# A *yes* costs `-log(sigmoid(s))`, a *no* `-log(1 - sigmoid(s))`, where `s` is what the loss is given.

# %% [predict] sure_no
# In this line, what does a *no* cost at least: the model is right, and as sure as it can be?
#
# (=) {0.693 = sure_no_costs} +- 0.02
#     A sure no has `s` = 0, and sigmoid(0) is 1/2. So a perfect no costs as much as a guess.
# (~) 0.313 +- 0.02
#     That is a sure yes, with `s` = 1. A sure no has `s` = 0.
# (~) 0 +- 0.02
#     With one sigmoid, yes. Here sigmoid(0) follows, and it is not 0.
# (~) else
#     A sure no has `s` = 0. Then sigmoid(0) is 1/2, and the loss is -ln(1/2).

# %% [predict] above
# So the floor of a batch follows from its labels. The next cell trains again, and subtracts from each of the {225 = length} losses the floor
# of its own batch. Where are the differences?
#
# (x) Above zero, without coming to it
#     The lowest is {0.05 = nearest}, the last twenty are {0.11 to 0.13 = late_excess} on average. Each batch brings other reviews, and some are wrong or unsure.
# ( ) Above zero, and at zero in the last epoch
#     One batch gets there, because it is repeated. In the training each batch brings other reviews.
# ( ) On both sides of zero, as batches scatter
#     Noise has two sides. A floor has one: it holds for any logits.
# ( ) Below zero where a batch has many yes
#     A yes costs less, and so the floor of such a batch is lower. The difference takes that into account.

# %% own-floor
from bugzoo.plots import five_curves

stepped = lab.LiveView(incident, pause_at=1, show_twin=False).start()  # the same training, paused after each step
paused, floors = stepped.wait_pause(), []
while paused:
    labels = stepped.objects["targets"].float()
    floors.append(F.binary_cross_entropy_with_logits(labels, labels).item())  # sure and right: s is the label
    paused = stepped.advance()
excess = stepped.result.trace.loss - floors
lab.picture(five_curves.picture([excess + floors, floors, excess], ["loss", "its own floor", "loss - own floor"]))
print(f"first batch: floor {floors[0]:.4f}; repeated, it stopped at {stopped:.4f}")
sure_no.reveal(f"{math.log(2):.4f}; a sure yes {floor(2):.4f}")
above.reveal(f"lowest {excess.min():.3f}, last 20 {excess[-20:].mean():.3f}")
print(incident.diff())

# %% [proof] by-hand-proof
bce = F.binary_cross_entropy_with_logits
first_yes, first_no = (bce(torch.tensor(0.5), torch.tensor(label)).item() for label in (1.0, 0.0))
sure_yes_costs, sure_no_costs = (bce(torch.tensor(label), torch.tensor(label)).item() for label in (1.0, 0.0))
assert abs(sure_yes_costs - floor_2) < 1e-6
in_four = abs(floors[0] - stopped) < 2e-4
lowest_floor, highest_floor = min(floors), max(floors)
nearest, late_excess, none_below = excess.min(), excess[-20:].mean(), bool((excess > 0).all())
assert nearest > 0.02 and late_excess > 0.06 and len(floors) == length
first_mean = (first_yes + first_no) / 2
highest_of_five, lowest_of_five = trace.loss[:5].max(), trace.loss[:5].min()

# %% [folded] by-hand-read
# After the run: the floor names the line
#
# A sure yes costs {0.313 = floor_2}, a sure no {0.693 = sure_no_costs}. With the labels of the first batch that makes the measured floor, {to four digits = in_four}. No
# model gets below it, however big.
#
# In the training the floors go from {0.42 = lowest_floor} to {0.59 = highest_floor}, and {no loss is below its own = none_below}, nor very near. So read a floor from one repeated batch.
#
# The first value is wrong as well, {0.724 = first_mean} instead of ln 2, and the noise hides it: the first five losses go from {0.65 = lowest_of_five} to
# {0.75 = highest_of_five}.
#
# It happens in public: a recommender library removed such a sigmoid, and the pull request says that otherwise the loss does not
# converge ([yudi-mars/daisyRec, 15](https://github.com/yudi-mars/daisyRec/pull/15)).

# %% [check] focal
# A user of a public library asks about its focal loss: `p = torch.sigmoid(x)`, then `ce = F.binary_cross_entropy_with_logits(x, y)`,
# then `ce` times a power of `p`, which is the probability. Is it the same bug?
#
# (x) No, as the loss is given x and not p
#     Follow the tensor, not the names: `p` is only a weight. A search for the word sigmoid would report it, a false alarm
#     ([facebookresearch/fvcore, 126](https://github.com/facebookresearch/fvcore/issues/126)).
# ( ) Yes, as the sigmoid is applied twice
#     Two sigmoids are computed, but both of the same `x`, not one of the other.
# ( ) No, as a focal loss needs probabilities
#     For its weight it does. If its loss were given them, it would have the incident's floor.

# %% [draw] pull
# How hard does a loss pull at one review? That is the size of its slope over the gap: the logit of the correct class minus the
# other. Cross-entropy has 1 where the model is sure and wrong, 1/2 for a guess, 0 where it is sure and right. Draw the slope of
# **the incident's loss** for a *yes*.
#
# gap: -6, 0, 6
# size of the slope: 0 to 1

# %% figure
from bugzoo.plots import loss_by_logit, slope

ways = {
    "cross-entropy of logits": lambda x: F.softplus(-x),
    "softmax twice": lambda x: F.softplus(1 - 2 * x.sigmoid()),
    "sigmoid twice, label yes": lambda x: F.softplus(-x.sigmoid()),
    "sigmoid twice, label no": lambda x: F.softplus((-x).sigmoid()),
}
lab.picture(loss_by_logit.picture(ways))
places = [-6, -4, -2, 0, 2, 4, 6]
slopes = {name: abs(slope.measure(way, places)[1]) for name, way in ways.items()}
for name, sizes in slopes.items():
    print(f"{name:25} at -6, 0, 6:", *(f"{size:.4f}" for size in sizes[::3]))
pull.reveal({name: (places, slopes[name]) for name in list(ways)[::2]})

# %% [proof] figure-proof
full, weak = slopes["cross-entropy of logits"][0], slopes["sigmoid twice, label yes"][0]
eight_hundred, at_guess = 700 < full / weak < 900, slopes["sigmoid twice, label yes"][3]
both = all(slopes[name][0] < 0.01 and slopes[name][6] < 0.01 for name in list(ways)[1:])

# %% [folded] figure-read
# After the run: sure and wrong, and left alone
#
# Read the lower plot on the left. Cross-entropy pulls at a sure wrong answer with a slope of 1. With two sigmoids it is about
# {eight hundred times = eight_hundred} smaller, and even a guess has only {0.09 = at_guess}. So the floor is the smaller harm. The larger one: a sure wrong answer is
# {hardly corrected = both} any more.

# %% [predict] which_number
# A view prints a dozen facts about what a loss is given. Which of them shows this fault at a glance?
#
# ( ) The name of the function that computes the loss
#     It is not the twin's. But binary cross-entropy suits two classes, and the name does not say what it is given.
# ( ) The largest value that the loss is given
#     In the first step it is small in healthy programs, too.
# (x) The smallest value that the loss is given
#     Logits have both signs. Here no value is below zero, in any step.
# ( ) The shape of what the loss is given
#     For this loss, one number a review is the right shape.

# %% [markdown] look-text
# ## Look at it
#
# The view `outputs` prints these for the incident, the twin, and a rival with a softmax too many. Compare the **smallest value**, then
# for twin and rival the **sum of a row**.

# %% look
rival = bugzoo.Scenario(incident.program, ("loss/double_softmax",), device=device).run()
for name, run in (("incident", view.result), ("healthy twin", healthy_run), ("softmax twice", rival)):
    print(f"--- {name}")
    looks[name] = lab.look("outputs", run)
looks["softmax twice, one batch"] = lab.look("one_batch", rival)
print(f"floor(2) = {floor(2):.4f}")
which_number.reveal()

# %% [proof] look-proof
smallest, row_sum = "{label = outputs.smallest_logit}", "{label = outputs.double_normalisation.row_sum}"
ill_smallest, well_smallest = looks["incident"][smallest], looks["healthy twin"][smallest]
assert ill_smallest > 0 > well_smallest and looks["softmax twice"][smallest] > 0
rows_are_one = abs(looks["softmax twice"][row_sum] - 1) < 1e-5 and abs(looks["healthy twin"][row_sum]) < 0.5
no_row = row_sum not in looks["incident"]
rival_stops = abs(looks["softmax twice, one batch"]["{label = one_batch.best_loss}"] - floor_2) < 1e-3

# %% [folded] look-read
# After the run: two numbers, three programs
#
# The smallest value is {0.52 = ill_smallest} in the incident and {-0.15 = well_smallest} in the twin. The rival has none below zero either, and its {rows add up to 1 = rows_are_one}: that is a
# softmax, and it stops {at your floor = rival_stops}. The incident gives {one number a review = no_row}, so it has no row to add up.

# %% [markdown] ce-text
# ## Write the loss
#
# The repair is a loss that takes logits. Write it once yourself, without `F.cross_entropy` and `F.nll_loss`. Logits can be large, and
# exp(89) is {too large for float32 = overflows}.
#
# **Write it:** the mean over the rows, for logits up to 10,000. Values and slopes are checked.


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


def judge(answer):
    mild = torch.tensor([[1.0, -1.0, 0.5], [0.0, 2.0, 0.0], [3.0, 0.0, -2.0], [0.1, 0.2, 0.3]])
    huge = torch.tensor([[10_000.0, 0.0, -10_000.0], [0.0, 100.0, 90.0]])
    for name, table, targets, hint in (
        ("small logits", mild, torch.tensor([0, 1, 2, 2]), "Take each row's own target, and the mean over the rows."),
        ("logits up to 10,000", huge, torch.tensor([2, 1]), "A softmax underflows to 0, and log(0) is -inf. Subtract in logs instead."),
    ):  # fmt: skip
        logits = table.clone().requires_grad_()
        right = F.cross_entropy(table, targets).item()
        gave = answer(logits, targets)
        value = float("nan") if gave is None else float(gave.detach() if isinstance(gave, torch.Tensor) else gave)
        yield abs(value - right) <= 1e-4 * max(1, abs(right)), f"{name}: {right:.4f}, yours gives {value:.4f}", hint
        wanted = (table.softmax(1) - F.one_hot(targets, 3)) / len(targets)
        found = torch.full_like(table, float("nan"))
        if isinstance(gave, torch.Tensor) and gave.requires_grad and gave.ndim == 0:
            found = torch.autograd.grad(gave, logits)[0]
        away = (found - wanted).abs().max().item()
        yield (
            away < 1e-5,
            f"{name}: slopes are softmax minus one-hot over the rows; yours differ by up to {away:.3g}",
            "A clamp, an eps or .item() changes the slope where the model is sure and wrong.",
        )


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

# %% try-cross-entropy
cross_entropy = lab.try_out("06/cross_entropy", cross_entropy)
for above_others in (90.0, 200.0):
    for name, loss in (("-log(softmax)", lambda z, _: -z.softmax(1).log()[0, 1]), ("cross_entropy", cross_entropy)):
        row = torch.tensor([[above_others, 0.0, 0.0]], requires_grad=True)
        value = loss(row, torch.tensor([1]))
        value.backward()
        print(f"{name} of {row[0].tolist()}, label 1: {value:.0f}, gradient {row.grad[0].tolist()}")

# %% [proof] log-softmax-proof


def log_of_softmax(lead):
    """Loss and gradient of the second class with the logarithm of a softmax, one logit above the others."""
    row = torch.tensor([[lead, 0.0, 0.0]], requires_grad=True)
    loss = -row.softmax(1).log()[0, 1]
    return loss.item(), torch.autograd.grad(loss, row)[0]


at_90, at_200 = log_of_softmax(90.0), log_of_softmax(200.0)
finite_90, lost_90, infinite_200 = math.isfinite(at_90[0]), bool(at_90[1].isnan().any()), math.isinf(at_200[0])

# %% [folded] log-softmax-read
# After the run: a finite loss, a lost gradient
#
# With one logit 90 above the others, `-log(softmax)` gives a {finite loss = finite_90} and a gradient with {nan = lost_90}, as in {lesson = 03}. The
# probability is not 0 yet, but its inverse is too large for float32. With 200 the loss is {inf = infinite_200}.

# %% [predict] repaired
# The incident is paused after step 150, and from there your loss is computed from its logits. What does the training loss do next?
#
# ( ) It falls at once toward that of the twin
#     It ends near it. First come the sure wrong answers.
# (x) It jumps up, and then falls below where it was
#     The model had become sure, also of wrong answers. The old loss charged at most {1.3 = dearest} for one, the new one charges the gap.
# ( ) It stays near its floor until the end of the run
#     The floor belonged to the old line.

# %% [markdown] repair-text
# ## Repair the running program
#
# The loop looks `F` up in each step. We give it an `F` whose binary loss calls **your function** on the logits. Look at the first
# step after the line in the plot.

# %% repair
view = lab.live(incident, pause_at=150, explain=False)
view.wait_pause(seconds=300)  # the twin runs first


def from_logits(squeezed, labels):
    return cross_entropy(view.objects["logits"], labels.long())


own = types.SimpleNamespace(**vars(F))
own.binary_cross_entropy_with_logits = from_logits
view.objects["F"] = own
view.mark(150, "your loss")
view.resume()

# %% repair-numbers
mended = view.result.trace
print("steps 148 to 156:", " ".join(f"{loss:.2f}" for loss in mended.loss[147:156]))
for name, one in (("incident", trace), ("repaired", mended), ("healthy twin", healthy)):
    print(f"{name:12} last 20 steps {one.loss[-20:].mean():.3f}, validation {one.metrics}")
repaired.reveal(f"step 151: {mended.loss[150]:.2f}")

# %% [proof] repair-proof
jump, before_jump, mended_late = mended.loss[150], mended.loss[130:150].mean(), mended.loss[-20:].mean()
mended_validation = 0.35 < mended.metrics["loss"] / trace.metrics["loss"] < 0.6
jumps = jump > 2 * before_jump
below_before = mended_late < ill_late - 0.08
assert mended_late > well_late
forgives = device != "cpu" or abs(mended.metrics["accuracy"] - trace.metrics["accuracy"]) < 0.06
dearest = math.log(math.e + 1)
overflows = bool(torch.tensor(89.0).exp().isinf())

# %% [measured] lstm-on-reviews


def mean_accuracies(program, fault, seeds):
    """Mean accuracy over the seeds, in percent, with the fault and without."""
    runs = [
        [bugzoo.Scenario(program, one, seed=seed, device=device).run().trace for one in ((fault,), ())]
        for seed in range(seeds)
    ]
    return [100 * sum(pair[side].metrics["accuracy"] for pair in runs) / seeds for side in (0, 1)]


reviews_ill_band, reviews_well_band = (
    (one - 2, one + 2) for one in mean_accuracies("sentiment_lstm", "loss/sigmoid_into_bce_with_logits", 3)
)

# %% [folded] repair-read
# After the run: accuracy hardly noticed
#
# The loss jumps to {more than twice its value = jumps}, then falls to {0.5 = mended_late}, {clearly below = below_before} where it had stopped. The validation loss is {about half = mended_validation} of
# what it was. On a CPU the accuracy is {much the same = forgives}: it asks only on which side of zero a gap is. But an LSTM on reviews
# with two sigmoids gets {59 % = reviews_ill_band} there instead of {82 % = reviews_well_band}.

# %% [markdown] shapes-text
# ## What is averaged?
#
# Four rows cost 1, 2, 3 and 4, and a mask of ones and zeros says that the first two count. A common way to get their mean is
# `(losses * mask).sum() / mask.sum()`.

# %% [predict] stretched
# The mask came with one axis more: it has the shape (4, 1), and the losses (4,). What does this line give?
#
# (=) {10 = stretched_value} +- 0.1
#     The product has the shape (4, 4): each loss times each mask value. No row is left out.
# (~) 1.5 +- 0.05
#     That is what equal shapes give. Here the product is a table of all pairs.
# (~) 2.5 +- 0.05
#     That is the mean of all four, a quarter of the answer.
# (~) else
#     Broadcasting makes a (4, 4) table of all pairs, with the sum 20. The mask adds up to 2.

# %% [markdown] mask-text
# **Write it:** the mean over what counts. It raises an error if the shapes differ, so that no axis is stretched silently.


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


def number(gave):
    return float("nan") if gave is None else float(torch.as_tensor(gave).float().mean())


def judge(answer):
    losses, table = torch.tensor([2.0, 4.0, 9.0, 5.0, 7.0]), torch.tensor([[1.0, 2.0, 8.0], [3.0, 9.0, 9.0]])
    for what, given, mask, right, hint in (
        ("two of five count", losses, torch.tensor([1.0, 1, 0, 0, 0]), 3.0, "Divide by how many count, not by how many there are."),
        ("True and False", losses, torch.tensor([False, True, True, False, False]), 6.5, "A mask of True and False is a mask, too."),
        ("places of two texts", table, torch.tensor([[1.0, 1, 0], [1, 0, 0]]), 2.0, "One mean over all places: a mean of means weighs short texts more."),
    ):  # fmt: skip
        value = number(answer(given, mask))
        yield abs(value - right) < 1e-5, f"{what}: {right:g}, yours gives {value:.4g}", hint
    for shape, mask in (("(5, 1)", torch.ones(5, 1)), ("(1,)", torch.ones(1)), ("(1, 5)", torch.ones(1, 5))):
        try:
            value = f"{number(answer(losses, mask)):.4g}"
        except (ValueError, IndexError, RuntimeError, AssertionError):
            value = "an error"
        yield (
            value == "an error",
            f"a mask of shape {shape} for losses of shape (5,): an error, yours gives {value}",
            "Compare the two shapes before you multiply. Broadcasting raises no error.",
        )


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


def of_numbers(losses, mask):
    assert losses.shape == mask.shape and mask.is_floating_point()
    return (losses * mask).sum() / mask.sum()


def of_floats_only(losses, mask):
    if losses.shape != mask.shape:
        raise ValueError("another shape")
    return losses.mean() if mask.dtype == torch.bool else (losses * mask).sum() / mask.sum()


RIGHT = {"by index": by_index}
LAZY = {
    "a mean over all": of_all, "stretches": stretches, "only the first axis is compared": first_axis,
    "a mean of means": mean_of_means, "floats only": of_floats_only,
}  # fmt: skip

# %% try-masked-mean
masked_mean = lab.try_out("06/masked_mean", masked_mean)
losses, mask = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([1.0, 1.0, 0.0, 0.0])
column = mask.unsqueeze(1)
print("shapes of the product:", tuple((losses * mask).shape), "and", tuple((losses * column).shape))
for name, given in (("(4,)", mask), ("(4, 1)", column)):
    print(f"mask {name}: mean() {(losses * given).mean():g}, sum() / sum() {(losses * given).sum() / given.sum():g}")
    try:
        print("   masked_mean", f"{masked_mean(losses, given):g}")
    except Exception as error:
        print("   masked_mean", repr(error))
stretched.reveal()

# %% [proof] shapes-proof
stretched_value = ((losses * column).sum() / mask.sum()).item()
wrong_mean = (losses * mask).mean().item()
batch_times = abs(stretched_value - len(losses) * losses.mean().item()) < 1e-6

# %% [folded] shapes-read
# After the run: the size of the batch is in the number
#
# The stretched line gives the {batch size times the mean of all = batch_times}: nothing is left out. A `mean()` gives {0.75 = wrong_mean} even with fitting
# shapes, as it divides by rows that do not count. That one looks like a good loss.

# %% [predict] axis
# `logits` have the shape (batch, time, words), and the program calls `F.softmax(logits, dim=0)`. What competes with what?
#
# ( ) The words of the vocabulary, at each place of a text
#     That is the last axis, `dim=-1`.
# ( ) The places of one text, for each word separately
#     That would be `dim=1`.
# (x) The texts of the batch, at one place and for one word
#     Axis 0 is the batch. No error tells you, as the shape stays the same. A text's output depends on its neighbors.
# ( ) All numbers of the batch, so that they add up to 1
#     Then they would have one common sum. Softmax takes one axis at a time.

# %% axis-run
logits = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))  # three texts, five places, four words
beside_others = torch.cat([logits[:1], -logits[1:]])  # the first text, with other neighbors
for dim in range(3):
    outputs = logits.softmax(dim)
    ones = [axis for axis in range(3) if torch.allclose(outputs.sum(axis), torch.ones(()))]
    moved = (outputs[0] - beside_others.softmax(dim)[0]).abs().max()
    print(f"dim={dim}: sums over axis {ones} are 1; other neighbors move text 0 by {moved:.2f}")
axis.reveal()
costs = torch.tensor([[1.0, 1.0], [3.0, 5.0]])  # two samples, two classes
print("mean of each sample", costs.mean(1).tolist(), "over the wrong axis", costs.mean(0).tolist())

# %% [proof] axis-proof
own_axis, moves = [], []
for number in range(3):
    shares_of = logits.softmax(number)
    own_axis.append([axis for axis in range(3) if torch.allclose(shares_of.sum(axis), torch.ones(()))] == [number])
    moves.append((shares_of[0] - beside_others.softmax(number)[0]).abs().max().item())
only_own, neighbors_matter = all(own_axis), moves[0] > 0.2 and max(moves[1:]) < 1e-6
dearest_sample, wrong_dearest = costs.mean(1).max().item(), costs.mean(0).max().item()

# %% [folded] axis-read
# After the run: the shape stays, the meaning does not
#
# The sums are 1 {over the softmax's own axis only = only_own}. With `dim=0` the output of a text {depends on its neighbors = neighbors_matter}. A mean is as silent: the dearest sample costs {4 = dearest_sample},
# and the mean over the wrong axis, per class, is at most {3 = wrong_dearest}.

# %% [markdown] play-text
# ## Play
#
# A softmax too many, for any number of classes. `surer` is how far the logit of the correct class is **below** all others. Where
# does the slope fall below a hundredth, with ten classes and with a thousand?

# %% play


def squeezed(classes, surer):
    """Loss and slope of a wrong row, with logits and with a softmax too many."""

    def rows(x):
        return torch.cat([x.unsqueeze(1), torch.zeros(len(x), classes - 1)], 1)

    ways = {
        "cross-entropy of logits": lambda x: -rows(x).log_softmax(1)[:, 0],
        "softmax twice": lambda x: -rows(x).softmax(1).log_softmax(1)[:, 0],
    }
    for name, way in ways.items():
        values, steep = slope.measure(way, [-surer])
        print(f"{name:24} costs {values[0]:7.3f}   slope {abs(steep[0]):.6f}")
    print(f"{classes} classes: a guess costs {math.log(classes):.3f}, floor {floor(classes):.3f}")
    return loss_by_logit.picture(ways, end=14.0, mark=-surer)


play = lab.play(squeezed, classes=(2, 1000, 10), surer=(0.0, 12.0, 0.0))

# %% [measured] slopes


def slope_twice(classes, surer):
    """Size of the slope over the correct logit, with a softmax too many."""
    row = torch.zeros(1, classes, dtype=torch.double)
    row[0, 0] = -surer
    row.requires_grad_()
    F.cross_entropy(row.softmax(1), torch.tensor([0])).backward()
    return row.grad[0, 0].abs().item()


ten_at, ten_before = slope_twice(10, 2.5), slope_twice(10, 2.3)
between = ten_at < 0.01 < ten_before
thousand_at_once = slope_twice(1000, 0) < 0.0011

# %% [folded] play-read
# After you have played: more classes, less slope
#
# With ten classes the slope is below a hundredth from {about 2.4 = between} on. With a thousand it is {a thousandth for a plain guess = thousand_at_once}, where
# cross-entropy has 1: the same line leaves less to learn from.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"A character model, 96 characters. Its loss falls from {4.74 = turn_first} to {4.56 = turn_last} and stays there; last week's
# ended at {2.5 = turn_well}. It gets {one character in a hundred = turn_rare} right. Ten times the learning rate changes nothing. I suspect
# the text that it reads."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike. Three closed hints are below the run. Its
# end starts a clock of six minutes, which interrupts nothing.

# %% turn
second = lab.case("06/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock = lab.timer(6)
hints = lab.hints(second)

# %% [proof] turn-proof
turn_first, turn_last = turn_run.trace.loss[0], turn_run.trace.loss[-20:].mean()
turn_rare = turn_run.trace.metrics["accuracy"] < 0.02

# %% [measured] twin-and-faster
turn_well = second.healthy().run().trace.loss[-20:].mean()
faster = bugzoo.Scenario(second.program, second.faults, {"learning_rate": 3e-2}, device=device).run().trace
assert abs(faster.loss[-20:].mean() - turn_last) < 0.01

# %% turn-look
# your own look at it; some ways to begin:
#   lab.lines(second)                             the program with its line numbers
#   turn_run.trace.loss[-5:]                     to all digits: which number is it?
#   lab.look("outputs", turn_run)
#   lab.look("one_batch", turn_run)

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
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if "torch.log(F.softmax" in text)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
graded = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in graded) == 0, graded
ln_96, at_guess_96 = math.log(96), abs(turn_last - math.log(96)) < 1e-3
all_finite = all(map(math.isfinite, turn_run.trace.loss))

# %% [folded] turn-read
# After you have handed in: a floor at the price of a guess
#
# The loss ends at ln 96 = {4.564 = ln_96}, {to three digits = at_guess_96}. That is the loss of a guess, and the floor of this line: it averages over *all*
# classes, and no label is in it. The model learns what it is told: all characters are equally likely.
#
# The line is an interview question of a published course, for a loss that becomes nan after some hundred steps. Measured here,
# {every loss is finite = all_finite}: equal probabilities do not underflow. `log(softmax)` is not safe: with a sure model it loses
# gradients, as you saw under *Write the loss*.

# %% [check] recap_check
# A classifier with 100 classes has the line `F.cross_entropy(model(x).softmax(-1), y)`. Which symptom tells it from other bugs?
#
# (x) The loss starts at {4.6 = ln_100}, and never gets below {3.62 = floor_100}
#     yes. The start is that of a guess, as in a healthy run. The floor belongs to this line.
# ( ) The loss starts at {4.6 = ln_100}, and stays there to the end
#     it falls, only slowly. A loss that stays has many causes, such as a model that gets no gradient.
# ( ) The loss starts far above {4.6 = ln_100}, and then falls to zero
#     no sample costs more than {4.62 = ceiling_100}, and zero is below the floor. Large first logits look like this.
# ( ) The loss falls as usual, and only the accuracy is low
#     that points at the evaluation, or at overfitting. Here the loss has a hard lower edge.

# %% [proof] recap-proof
ln_100, floor_100, ceiling_100 = math.log(100), lowest(100), math.log(math.e + 99)

# %% [markdown] recap
# ## What to take with you
#
# 1. **Compute first value and floor before you train.** Compare them with the first steps and one repeated batch. *Fails when* label
#    smoothing sets a floor on purpose.
# 2. **Hand a loss what its documentation calls its input.** *Fails when* a wrapper has changed it before: then print the smallest
#    value and the sum of a row.
# 3. **Compare the shapes of losses and mask before you reduce.** *Fails when* the shapes agree, and the axis is wrong.
# 4. **Accuracy can forgive what a loss does not.** *Fails when* you use a threshold or a probability: then look at the validation loss.
#
# **Next:** repair a loss of another size in {exercise = 16}. In
# {exercise = 17} a reviewer and an author disagree. In
# {exercise = 18} one repair is not enough. For your own script:
# `bugzoo checkup train.py`.

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
    first_batch = lab.LiveView(yours, pause_at=1, show_twin=False).start()
    first_batch.wait_pause()
    positive = first_batch.objects["targets"].float().mean().item()
    first_batch.stop()
    yours_stopped = lab.look("one_batch", yours.run())["{label = one_batch.best_loss}"]
floor_holds = -1e-4 < yours_stopped - (positive * floor_2 + (1 - positive) * math.log(2)) < 0.01

# %% [folded] appendix
# Appendix: your own reviews
#
# The incident's program makes its reviews itself. `sentiment_lstm`, with two sigmoids, also reads yours. Give it a CSV with the columns
# `text` and `label`, or a folder with `pos/` and `neg/`:
#
# ```python
# yours = bugzoo.Scenario("sentiment_lstm", ("loss/sigmoid_into_bce_with_logits",), {"data": "/path/to/reviews.csv"}, device=device)
# lab.look("one_batch", yours.run())
# ```
#
# A floor is arithmetic, so it {holds for any file = floor_holds}: the {label = one_batch.best_loss} is that of its share of positive reviews.
