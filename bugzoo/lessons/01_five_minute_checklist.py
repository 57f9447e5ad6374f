"""Lesson 01: a digit reader whose loss does not fall, five quick checks, and which of them to make first."""

# %% [case] incident
# mlp data/double_scaling

# %% [case] second
# sentiment_lstm data/everything_unknown

# %% [markdown] title
# # 01 · The five-minute checklist
#
# A training run misbehaves. Which check do you make first? About {30 = minutes} minutes; you need to know what a loss is. The
# {lesson = 00} says how a lesson works.

# %% setup
device = "cpu"  # or "auto", "cuda"

import math
from collections import Counter

import torch

from bugzoo import lab
from bugzoo.lessons.parts import checklist

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("01")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## A digit reader stays at a guess
#
# > *Tuesday, 10:20.* "My digit reader does not learn. After {216 = length} steps the loss is {2.30 = ill_late}, where it began, and {7 % = ill_accuracy} of the
# > validation pictures are right. Ten times the learning rate helps: {1.6 = fast_late}. Which rate shall I take?"
#
# A course gives five checks for such a run: (1) a tenth of the learning rate, (2) gradients clipped to a norm of 1, (3) full
# precision in place of half, (4) training on two samples, (5) print the data.

# %% live
incident = lab.case("01/incident")
view = lab.live(incident, explain=False, reference={"ln 10": math.log(10)})

# %% [proof] numbers-proof
import numpy as np

import bugzoo

trace, healthy = view.result.trace, view.healthy.trace
length, ill_late, ill_accuracy = len(trace.loss), trace.loss[-20:].mean(), trace.metrics["accuracy"]
well_late, well_accuracy = healthy.loss[-20:].mean(), healthy.metrics["accuracy"]
ln_10 = math.log(10)
assert abs(ill_late - ln_10) < 0.01 and abs(trace.loss[0] - ln_10) < 0.01

# %% [measured] faster-and-longer
fast = checklist.losses(incident, checklist.FASTER)
fast_late = np.mean(fast[-20:])
later = bugzoo.Scenario(incident.program, incident.faults, {"epochs": 20}, device=device).run().trace
late_fall = later.loss[-20:].mean() < 1.6 and later.metrics["accuracy"] > 0.5

# %% [folded] numbers-read
# After the run: a guess among ten digits
#
# The **healthy twin**, the same program without the fault, averages {0.17 = well_late} over its last 20 steps. The incident stays at {2.30 = ill_late} = ln 10, a
# guess among ten digits. With 20 epochs {it falls = late_fall}, too, so each check may seem to help.

# %% [markdown] helped-text
# ## What counts as help
#
# `checklist.end` is the median of a run's last 20 losses, and infinite if one of them is nan. **Write it:** whether a change helped.
#
# - `"fixed"`: the end after it is below half of the first loss, and the end before it was not.
# - `"better"`: not fixed, and the end went down by more than a fifth.
# - `"no"`: anything else.


# %% [task] helped
def helped(before, after):
    """Return "fixed", "better" or "no". Both are lists of losses, one for each step."""
    old, new = checklist.end(before), checklist.end(after)
    ...  # your code


# %% [solution] helped
def helped(before, after):
    """Return "fixed", "better" or "no". Both are lists of losses, one for each step."""
    old, new = checklist.end(before), checklist.end(after)
    if new < after[0] / 2 <= old:
        return "fixed"
    return "better" if new < 0.8 * old else "no"


# %% [judge] helped
import math
import statistics

FLAT = [2.3 + 0.02 * (-1) ** step for step in range(60)]
NAN = [2.3] * 30 + [math.nan] * 30
FALLS = [2.3 * 0.95**step for step in range(60)]


def judge(answer):
    for what, before, after, wanted, hint in (
        ("flat, then flat with a last loss of 1.0", FLAT, [*FLAT[:-1], 1.0], "no", "One batch is not the end of a run."),
        ("flat, then learned with a last loss of 5.0", FLAT, [*FALLS[:-1], 5.0], "fixed", "Take the median of 20 losses."),
        ("flat, then a fall in the last third", FLAT, [2.3] * 40 + [0.2] * 20, "fixed", "Only the last 20 losses count."),
        ("flat, then a fall that does not last", FLAT, [2.3] * 10 + [0.1] * 20 + [2.3] * 30, "no", "The lowest loss is not the end."),
        ("flat, then 1.6", FLAT, [2.3] * 30 + [1.6] * 30, "better", "1.6 is lower by more than a fifth, and above half of 2.3."),
        ("flat, then 2.0", FLAT, [2.3] * 30 + [2.0] * 30, "no", "2.0 is lower, but not by a fifth."),
        ("nan, then flat", NAN, FLAT, "better", "A comparison with nan is always False: give a lost run the end `math.inf`."),
        ("nan, then learned", NAN, FALLS, "fixed", "A comparison with nan is always False: give a lost run the end `math.inf`."),
        ("flat, then nan", FLAT, NAN, "no", "A run that is lost has not been helped."),
        ("nan, then nan", NAN, NAN, "no", "A run that is lost has not been helped."),
        ("flat, then learned and one nan at the end", FLAT, [*FALLS[:-3], math.nan, *FALLS[-2:]], "no", "One nan is enough."),
        ("learned, then the same", FALLS, FALLS, "no", "What had learned before was not helped."),
        ("learned, then half of it", FALLS, [loss / 2 for loss in FALLS], "better", "It had learned before, so it is not fixed."),
    ):  # fmt: skip
        yield what, wanted, answer(list(before), list(after)), hint


def by_sorting(before, after):
    def end(losses):
        last = losses[-20:]
        if sum(math.isnan(loss) or math.isinf(loss) for loss in last):
            return None
        ordered = sorted(last)
        return (ordered[9] + ordered[10]) / 2

    old, new = end(before), end(after)
    if new is None:
        return "no"
    if new < after[0] / 2 and (old is None or old >= before[0] / 2):
        return "fixed"
    return "better" if old is None or new < 0.8 * old else "no"


def with_end(end):
    def answer(before, after):
        if end(after) < after[0] / 2 and not end(before) < before[0] / 2:
            return "fixed"
        return "better" if end(after) < 0.8 * end(before) else "no"

    return answer


def finite(losses):
    return [loss for loss in losses if math.isfinite(loss)]


RIGHT = {"by sorting": by_sorting}
LAZY = {
    "the last number": with_end(lambda losses: losses[-1]),
    "the mean of all": with_end(lambda losses: sum(losses) / len(losses)),
    "the lowest": with_end(lambda losses: min(finite(losses))),
    "nan left out": with_end(lambda losses: statistics.median(finite(losses)[-20:])),
    "no care for nan": with_end(lambda losses: statistics.median(losses[-20:])),
    "always no": lambda before, after: "no",
}

# %% [markdown] copies-text
# ## Checks 1 to 3 change one line
#
# Each runs on the twin as well, and so does ten times the rate. Guess first: which of the three checks changes any digit of the
# incident's losses?

# %% copies-run
ends, changes = {}, checklist.CHANGES | {"learning rate x 10": checklist.FASTER}
for name, program in (("incident", incident), ("healthy twin", incident.healthy())):
    before = checklist.losses(program)
    for check, change in changes.items():
        after = checklist.losses(program, change)
        ends[name, check] = checklist.end(after), helped(before, after), "" if after == before else "changed"
        print(f"{name:12}  {check:18}", *ends[name, check])

# %% [proof] copies-proof
the_same = [check for check in checklist.CHANGES if not ends["incident", check][2]]
assert the_same == ["clipping", "full precision"] and ends["incident", "learning rate / 10"][1] == "no"
only_better = ends["incident", "learning rate x 10"][1] == "better"
steepest, never_above = float(trace.grad_norm.max()), bool((trace.grad_norm <= 1).all())
twin_ten = ends["healthy twin", "learning rate x 10"][0]
twin_better = ends["healthy twin", "learning rate x 10"][1] == "better"
assert only_better and never_above and twin_better

# %% [folded] copies-read
# After the run: a change that helps is not a cause
#
# Of the three checks only a tenth of the learning rate changed a digit of the incident. Its longest gradient is {0.31 = steepest}, so clipping {never had work = never_above}. Ten times
# the rate is {better, not fixed = only_better}. It is {better for the healthy twin = twin_better}, too ({0.03 = twin_ten}). What helps a healthy run as well names no cause.

# %% [draw] two
# Check 4: the incident trains on two pictures, an 8 and a 6, for 600 steps. Draw its loss.
#
# step: 10, 100, 200, 400, 600
# loss (nats): 0 to 2.5

# %% two-run
programs = {"incident": incident, "healthy twin": incident.healthy()}
curves = {name: checklist.two_samples(program.source) for name, program in programs.items()}
two.reveal(curves, reference={"ln 2": math.log(2)})

# %% [proof] two-proof
ln_2 = math.log(2)
alone, twin_alone = curves["incident"][1], curves["healthy twin"][1]
passed, twin_100 = alone[599], twin_alone[99]
rests = all(abs(loss - ln_2) < 0.02 for loss in alone[99:250])
trains_on_two = incident.healthy().source.replace(checklist.LOOP, checklist.TWO.format(steps=1))
first_pair = checklist.variables(trains_on_two)["two"][1].tolist()
assert sorted(first_pair) == [6, 8] and rests and passed < 0.05 and twin_100 < 0.01 and len(alone) == 600

# %% [folded] two-read
# After the run: ln 2 is a message
#
# It {plateaus at ln 2 = rests} from step 100 to step 250, and ends at {0.02 = passed}: loss, gradient and optimizer work. And ln 2 = {0.69 = ln_2} says more: **this model answers
# both inputs alike.** So look at the inputs.

# %% [predict] scale
# You draw one digit of the incident with `imshow`, as it comes. What do you see?
#
# (x) A clear digit, exactly as in the twin
#     `imshow` stretches its colors from the smallest number to the largest, whatever they are.
# ( ) A faint digit, paler than in the twin
#     The default scale is made anew for each picture.
# ( ) A black square, without any digit
#     That is what the scale from 0 to 1 shows, if you ask for it.

# %% [markdown] look-text
# ## Check 5: print the data
#
# **Write it:** what to know of a batch. `smallest` and `largest` are of the finite inputs: one nan would hide all others.


# %% [task] look
def look(inputs, targets):
    """{"shape": ..., "dtype": ..., "smallest": ..., "largest": ..., "not finite": count, "labels": {label: count}}"""
    finite = inputs[torch.isfinite(inputs)]
    about = {"shape": tuple(inputs.shape), "dtype": inputs.dtype, "labels": dict(Counter(targets.tolist()))}
    ...  # your code: three numbers are missing


# %% [solution] look
def look(inputs, targets):
    """{"shape": ..., "dtype": ..., "smallest": ..., "largest": ..., "not finite": count, "labels": {label: count}}"""
    finite = inputs[torch.isfinite(inputs)]
    about = {"shape": tuple(inputs.shape), "dtype": inputs.dtype, "labels": dict(Counter(targets.tolist()))}
    about |= {"smallest": finite.min().item(), "largest": finite.max().item()}
    return about | {"not finite": inputs.numel() - finite.numel()}


# %% [judge] look
import math
from collections import Counter

import torch

KEYS = ("shape", "dtype", "smallest", "largest", "not finite", "labels")
HELP = {
    "dtype": "Report the dtype of the tensor, before any `.float()`.",
    "not finite": "Count nan and inf. `isnan` misses inf, `isfinite` does not.",
    "labels": "`bincount` starts at 0, and counts labels that do not occur.",
}


def judge(answer):
    x = torch.tensor([[0.5, -2.0], [3.0, 0.25], [1.0, 1.0]])
    holes = x.clone()
    holes[0, 0], holes[2, 1] = math.nan, math.inf
    counted, from_1 = torch.tensor([0, 1, 1]), torch.tensor([10, 1, 10])
    for what, inputs, targets, wanted in (
        ("three rows of two numbers", x, counted, ((3, 2), torch.float32, -2.0, 3.0, 0, {0: 1, 1: 2})),
        ("one nan and one inf", holes, counted, ((3, 2), torch.float32, -2.0, 3.0, 2, {0: 1, 1: 2})),
        ("whole numbers", (x * 4).long(), counted, ((3, 2), torch.int64, -8, 12, 0, {0: 1, 1: 2})),
        ("labels from 1 to 10", x[:, :1], from_1, ((3, 1), torch.float32, 0.5, 3.0, 0, {1: 1, 10: 2})),
    ):
        gave = answer(inputs.clone(), targets.clone())
        values = {key: plain(gave.get(key)) for key in KEYS} if isinstance(gave, dict) else {}
        right = dict(zip(KEYS, wanted, strict=True))
        wrong = next((key for key in KEYS if values.get(key) != right[key]), "labels")
        hint = HELP.get(wrong, "Leave out what is not finite, then take the smallest and the largest.")
        yield f"{what}, {wrong}", right[wrong], values.get(wrong), hint


def plain(value):
    """A number for a tensor of one number, a dict for a Counter, a tuple for a list."""
    value = value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value
    if isinstance(value, torch.Size | list | tuple):
        return tuple(map(plain, value))
    return dict(value) if isinstance(value, dict) else value


def by_lists(inputs, targets):
    numbers = [number for number in inputs.flatten().tolist() if math.isfinite(number)]
    return {
        "shape": inputs.shape, "dtype": inputs.dtype, "smallest": min(numbers), "largest": max(numbers),
        "not finite": inputs.numel() - len(numbers), "labels": Counter(targets.tolist()),
    }  # fmt: skip


def but(**other):
    def answer(inputs, targets):
        return by_lists(inputs, targets) | {key.replace("_", " "): call(inputs, targets) for key, call in other.items()}

    return answer


RIGHT = {"by lists": by_lists}
LAZY = {
    "float first": but(dtype=lambda x, y: x.float().dtype),
    "nan hides all": but(smallest=lambda x, y: x.float().min().item(), largest=lambda x, y: x.max().item()),
    "nan only": but(not_finite=lambda x, y: int(torch.isnan(x).sum())),
    "bincount": but(labels=lambda x, y: dict(enumerate(torch.bincount(y).tolist()))),
    "distinct labels": but(labels=lambda x, y: len(y.unique())),
    "of the first row": but(largest=lambda x, y: x[0].max().item()),
}

# %% look-run
for name, program in programs.items():
    print(f"{name:12} ", look(*checklist.first_batch(program)))
lab.picture(checklist.digits(incident))
scale.reveal()

# %% [proof] look-proof
batches = {name: checklist.first_batch(program) for name, program in programs.items()}
largest, twin_largest = (look(*batch)["largest"] for batch in batches.values())
small = 1 / largest
same_picture = torch.allclose(batches["incident"][0] * 255, batches["healthy twin"][0], atol=1e-6)
assert same_picture and twin_largest == 1

# %% [folded] look-read
# After the run: the largest number
#
# The largest pixel of the incident is {0.0039 = largest}, that is 1/{255 = small}; the twin's is {1 = twin_largest}. The pixels were scaled to 0..1, and then divided by 255, as if they
# were bytes. On its own scale {each digit looks the same in both = same_picture}. It happened in a public hand-pose program
# ([facebookresearch/InterHand2.6M, issue 110](https://github.com/facebookresearch/InterHand2.6M/issues/110)).

# %% [draw] worth
# Next, the digit reader is broken in twelve ways. One of the twelve is the true cause. How many of the others does a check
# rule out, on average? Draw the checks in the order of the list.
#
# check: 1, 2, 3, 4, 5
# causes ruled out, of 12: 0 to 12

# %% [markdown] table-text
# ## Five checks, twelve causes
#
# The cell makes the five checks, with your functions, on twelve causes that we chose. Causes that share a row answer all five
# alike.

# %% table-run
answers = checklist.ask(helped, look)
table = lab.table(answers.words, quiet=("no", "nothing odd"))
worth.reveal([1, 2, 3, 4, 5], list(checklist.ruled_out(answers.words).values()), "measured")
lab.picture(checklist.price(answers))

# %% [proof] table-proof
apart = [causes[0] for causes, _ in table.groups if len(causes) == 1]
joined = {causes[0]: len(causes) for causes, _ in table.groups if len(causes) > 1}
assert len(apart) == 7 and joined == {"rate too low": 3, "labels of other pictures": 2}
column = {check: [words[check] for words in answers.words.values()] for check in answers.seconds}
no_rate, no_clip = (column[check].count("no") for check in list(checklist.CHANGES)[:2])
five_ways, by_print = len(set(column["two samples"])) == 5, 12 - column["print"].count("nothing odd")
rules_out = checklist.ruled_out(answers.words)
by_two = rules_out["two samples"]
sync_learned = answers.words["labels of other pictures"]["two samples"] == "learned"
three_stuck, two_learned = joined["rate too low"] == 3, joined["labels of other pictures"] == 2
print_first = answers.seconds["print"] < answers.seconds["two samples"] / 3
assert column["two samples"].count("ln 2") == 2 and sync_learned and column["full precision"].count("no") == no_clip

# %% [folded] table-read
# After the run: the list stands in its most expensive order
#
# A tenth of the learning rate says *no* to {10 = no_rate} causes, clipping and full precision to {11 = no_clip} each: an answer that nearly all causes share rules out little. Two
# samples give {five = five_ways} answers and rule out {9 = by_two} causes on average. The print speaks for {2 = by_print} causes only, but {costs next to nothing = print_first}: make it first.
# Where a training takes a night, the list's order costs three nights before the print. A common order is data, loss, gradients,
# architecture: a fault shows in all later stages.
#
# {Three = three_stuck} causes leave two samples where they were: {lesson = 02} tells them apart. Wrong labels ({two rows = two_learned}) are {learned = sync_learned} as if nothing were wrong:
# only an eye on labels beside pictures finds them, although people say that one repeated batch does. And too high a rate
# ends at ln 2 as well.

# %% [predict] which_number tags=["how-sure"]
# The view `batch` shows some thirty numbers of a run's data. Which of these differs from the twin's?
#
# ( ) The share of pixels that are 0
#     A division leaves 0 where it is.
# ( ) The count of distinct pixel values
#     A division maps 17 gray values to 17 others.
# (x) The largest of all pixel values
#     A factor changes the numbers that have a unit.

# %% [markdown] view-text
# ## The lab prints the data for you
#
# Find the line *{label = batch.largest}* in the view `batch`.

# %% view-run
views = lab.look("batch", view.result, beside=incident.healthy().run())
which_number.reveal()

# %% [proof] view-proof
assert abs(views["{label = batch.largest}"] - largest) < 1e-6

# %% [predict] repaired tags=["how-sure"]
# After step 50 the *training* pictures are multiplied by 255, and the validation pictures are forgotten. How does this run end?
#
# ( ) As the twin does, to the last bit of each loss
#     Fifty steps are lost, and the averages of Adam are others.
# ( ) A little behind the twin, in loss and in accuracy
#     So it does with both repaired. Here validation gets pictures unlike any that the model has seen.
# (x) Near the twin in loss, near a guess in accuracy
#     The model learns from large pixels, and is then asked about tiny ones: a bug of its own.

# %% [markdown] repair-text
# ## Repair the running program

# %% repair
view = lab.live(incident, pause_at=50, explain=False)
view.wait_pause()
view.objects["train_loader"].dataset.tensors[0].mul_(255)  # the variables of the paused program
view.mark(50, "training pixels from 0 to 1")
view.resume()

# %% repair-numbers
mended = view.result.trace
print(f"last 20 losses {mended.loss[-20:].mean():.3f}   validation accuracy {mended.metrics['accuracy']:.3f}")
repaired.reveal(f"accuracy {mended.metrics['accuracy']:.3f}")
print(incident.diff())

# %% [proof] repair-proof
mended_loss, mended_accuracy = mended.loss[-20:].mean(), mended.metrics["accuracy"]
near_twin = mended_loss < well_late + 0.08
assert near_twin and mended_accuracy < 0.3
changed_line = [line for line in incident.diff().splitlines() if line.startswith("+") and "/ 16 /" in line]
assert len(changed_line) == 1

# %% [folded] repair-read
# After the run: repair the place where the data are made
#
# The loss ends {near the twin's = near_twin}, at {0.19 = mended_loss}, with {16 % = mended_accuracy} of the validation pictures right. The line in the diff makes both sets.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# *"The model reads film reviews. It never gets far from a guess: {49 % = turn_accuracy} right, a loss of {0.70 = turn_loss}. It used to get {78 % = turn_well}. Twice the
# training gives {51 % = turn_longer}. So I think it is too small."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike, within six minutes.

# %% turn
second = lab.case("01/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock, hints = lab.timer(6), lab.hints(second)

# %% [proof] turn-proof
turn_accuracy, turn_loss = turn_run.trace.metrics["accuracy"], turn_run.trace.loss[-20:].mean()

# %% [measured] twin-and-twice
turn_well = 100 * second.healthy().run().trace.metrics["accuracy"]
turn_well = turn_well - 2, turn_well + 2  # processors round differently, and that moves an accuracy by two points
twice = bugzoo.Scenario(second.program, second.faults, {"epochs": 6}, device=device).run().trace
turn_longer = twice.metrics["accuracy"]
assert len(twice.loss) == 2 * len(turn_run.trace.loss)

# %% turn-look
# your own look; some ways to begin:
#   lab.lines(second)                   the program
#   names = lab.variables(second)       its variables after the first step
#   lab.look("loss_curve", turn_run)    a view; which one has your number?

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
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "word.upper()" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
tests = [look_alike.test for look_alike in second.specs[0][0].look_alikes]
test = next(letter for letter, text in offered.items() if text in tests)
assert len(form.causes) == 4 and second.ticket != incident.ticket
graded = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(reply.count("NOT") for reply in graded) == 0, graded
reviews = turn_run.trace.live.namespace
numbers = reviews["train_loader"].dataset.tensors[0]
unknown = float((numbers[numbers > 0] == 1).float().mean())

# %% [folded] turn-read
# After you have handed in: decode what you print
#
# Decode a row into words, and {88 % = unknown} are the unknown word: the vocabulary has upper-case words, and the program looks up lower-case
# ones. For a missing word `get(word, 1)` gives 1, without an error.

# %% [check] symptoms
# Five complaints, and the question to ask first. Which belongs to which?
#
# The loss is nan in the very first step -> What numbers do the data and the new weights hold?
# The loss is nan after many good steps -> Which operation or number was the first that is not finite?
# The loss climbs from the first steps on -> Does a tenth of the learning rate stop it?
# The loss does not move at all -> Does a gradient reach the weights, and does a step change them?
# The loss falls, and validation is bad -> Are validation and training data prepared in the same way?
#     A symptom narrows the causes down, and does not name one.

# %% [check] not_first
# The loss of a new program is flat. Four of these seven proposals must wait until the list is done. Which of the seven comes first?
#
# (x) Print one batch, with its smallest and largest number
#     yes. It costs a second, and it found the cause here.
# ( ) Use a larger network, with a better architecture
#     it costs most, and a fault in the data or the step stays.
# ( ) Train on two samples until their loss is 0
#     this is early, but the print is cheaper.
# ( ) Run a tenth of the learning rate, on the twin as well
#     it costs a run, and can rule out a rate that is too high.
# ( ) Add dropout and weight decay, to regularize it
#     they are for a gap between training and validation.
# ( ) Search over learning rates and batch sizes
#     each run of the search has the same fault.
# ( ) Conclude that this model cannot learn the task
#     the list takes minutes. Before its end you cannot know.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Print the data first.** *Fails when* a transform runs later, on the device.
# 2. **Change one thing, on the twin as well.** *Fails when* the run is not repeatable: take several seeds.
# 3. **If two samples are learned, loss, gradient and optimizer work.** *Fails when* the fault lies between the batches.
# 4. **Look at pictures on a fixed scale.** *Fails when* there is no natural one: compare with data that worked.
#
# **Next:** {exercise = 01}, {exercise = 02}, {exercise = 03}, and {lesson = 02}, where check 4 becomes a test.


# %% [keep] look
def test_look_finds_the_tiny_pixels():
    batch = next(iter(lab.variables(lab.case("01/incident"))["train_loader"]))
    assert look(*batch)["largest"] < 0.01


def test_look_finds_pixels_up_to_1_in_the_healthy_twin():
    batch = next(iter(lab.variables(lab.case("01/incident").healthy())["train_loader"]))
    assert look(*batch)["largest"] == 1


# %% [measured] saved-run
diverging = ("rate too high", "gradients never cleared", "sign of the loss flipped", "exp overflows", "one nan in the data",
    "weights in half precision")  # fmt: skip
more = ("data/corrupt_batch", "numerics/sqrt_at_zero", "numerics/zero_norm_division")
verdicts = [[answers.words[cause][check] for check in list(checklist.CHANGES)[:2]] for cause in diverging]
for fault in more:
    text = bugzoo.Scenario("mlp", (fault,), {"epochs": 3}, device=device).source
    first = checklist.variables(text)["losses"]
    changed = [text.replace(*change) for change in list(checklist.CHANGES.values())[:2]]
    verdicts.append([helped(first, checklist.variables(copy)["losses"]) for copy in changed])
nine = len(verdicts) == 9
by_lower_rate, by_clipping = (sum(pair[place] == "fixed" for pair in verdicts) for place in (0, 1))

# %% [measured] longer-run
longer = bugzoo.Scenario("mlp", ("numerics/exp_overflow",), {"epochs": 20}, device=device).source
slow = np.asarray(checklist.variables(longer.replace(*checklist.CHANGES["learning rate / 10"]))["losses"])
later_nan = int(np.flatnonzero(~np.isfinite(slow))[0]) + 1

# %% [folded] appendix
# Appendix, for the curious: does a lower rate fix "four fifths of divergence"?
#
# A course says of the first two checks: a tenth of the learning rate fixes four fifths of divergence, and clipping fixes the rest. We took
# {nine = nine} of our faults that make this program's loss nan, or let it rise by more than a third. The lower rate fixes {1 = by_lower_rate}: the one whose
# rate was too high. Clipping fixes {1 = by_clipping}: the one that never clears its gradients. There it hides the cause, as the gradients still pile up.
#
# Where `exp` overflows, the lower rate is *better*, but it only postpones the nan: a longer run reaches it at step {326 = later_nan}. Our faults are
# not a sample of what people do. If you often choose too high a rate, the first check fixes more.

# %% home
lab.calibration("01")
lab.keep(look)
mine = lab.mine(view="batch")  # your own script: lab.mine("train.py", view="batch")
