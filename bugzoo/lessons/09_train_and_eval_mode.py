"""Lesson 09: a digit reader whose validation accuracy fell, and an evaluation that leaves the model as it found it."""

# %% [case] incident
# digits_cnn modes/eval_mode_missing

# %% [case] second
# checkpointed_mlp modes/train_mode_not_restored?every=20

# %% [markdown] title
# # 09 · Train mode, eval mode
#
# You find out which layer does what in the wrong mode, and write an evaluation that leaves the model as it found it. About {40 = minutes} minutes; you need to know what dropout and
# BatchNorm are for. The {lesson = 00} says how a lesson works.

# %% setup
device = "cpu"  # or "auto", "cuda"

import torch
from torch import nn

import bugzoo
from bugzoo import lab
from bugzoo.lessons.parts import modes

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("09")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## A validation accuracy that fell in a cleanup
#
# > *Tuesday, 15:30.* "Since last week's cleanup the digit reader gets {88 % = ill_accuracy} on validation, with a loss of {0.47 = ill_loss}. It used to get {94 % = well_accuracy}. It
# > looks like overfitting, so I raised dropout from `0.4` to `0.6`: now it gets {76 % = more_dropout}."
#
# The program reads digits: two convolutions, each with BatchNorm, then dropout and a linear head. After {180 = length} steps it evaluates {287 = held}
# validation pictures once.

# %% [predict] thrice
# You take the weights of the incident and evaluate them three times: the same pictures, in the same order. What do the three
# accuracies look like?
#
# ( ) Equal, to the last digit
#     That holds for a model in eval mode: it is a function of its input.
# ( ) Equal, except for rounding
#     Rounding moves a logit in its seventh digit. It seldom turns a 3 into an 8.
# (x) Apart by a few points
#     Some layer draws random numbers in an evaluation, where none should be drawn. Which one?
# ( ) Apart by twenty points
#     That would need a model that guesses. This one is wrong in one picture of eight.

# %% live
incident = lab.case("09/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("training losses that differ between the two:", int((trace.loss != healthy.loss).sum()), "of", len(trace.loss))
for name, run in (("incident", trace), ("healthy twin", healthy)):
    print(f"{name:12}   validation loss {run.metrics['loss']:.3f}   accuracy {run.metrics['accuracy']:.3f}")

# %% [proof] numbers-proof
length, ill_accuracy, ill_loss = len(trace.loss), trace.metrics["accuracy"], trace.metrics["loss"]
well_accuracy, well_loss = healthy.metrics["accuracy"], healthy.metrics["loss"]
equal_there = bool((trace.loss == healthy.loss).all()) or device != "cpu"  # what the text says of a CPU
near = abs(trace.loss[-20:].mean() - healthy.loss[-20:].mean()) < 0.05
assert equal_there and near and ill_loss > well_loss + 0.05

# %% [measured] more-dropout
raised = bugzoo.Scenario(incident.program, incident.faults, {"dropout": 0.6}, device=device).run().trace
more_dropout = raised.metrics["accuracy"]
assert more_dropout < trace.metrics["accuracy"] - 0.05

# %% [folded] numbers-read
# After the run: the training is innocent
#
# On a CPU, the losses of all {180 = length} steps are {the same to the last bit = equal_there}: the weights are the same, too. So the fault is in the evaluation.

# %% [markdown] steady-text
# ## Ask twice
#
# The cheapest test of an evaluation: pass one batch through the model several times. **Write it:** the largest difference between any
# two answers, with the model as it is: its mode and the random generator are part of the test.


# %% [task] steady
def steady(model, x, times):
    """Largest difference between any two of `times` answers to x: a float, 0.0 where all are equal."""
    with torch.no_grad():
        ...  # your code


# %% [solution] steady
def steady(model, x, times):
    """Largest difference between any two of `times` answers to x: a float, 0.0 where all are equal."""
    with torch.no_grad():
        answers = torch.stack([model(x) for _ in range(times)])
        return (answers.amax(0) - answers.amin(0)).max().item()


# %% [judge] steady
import itertools

import torch
from torch import nn


class Says(nn.Module):
    """Adds one number after the other to its input, and counts its calls."""

    def __init__(self, *numbers):
        super().__init__()
        self.numbers, self.calls, self.was_training = numbers, 0, []

    def forward(self, x):
        self.was_training.append(self.training)
        self.calls += 1
        return x + torch.tensor([0.0, self.numbers[(self.calls - 1) % len(self.numbers)]])


class Draws(nn.Module):
    """Adds noise in train mode."""

    def forward(self, x):
        return x + torch.randn_like(x) if self.training else x


def judge(answer):
    def number(gave):
        return float(gave) if isinstance(gave, int | float) or hasattr(gave, "item") else None

    x = torch.zeros(3, 2)
    for numbers, wanted, hint in (
        ((1.0, 1.0, 1.0), 0, ""),
        ((0.0, 1.0, 3.0), 3, "Neighbors differ by less than the first and the last answer."),
        ((0.0, 2.0, 0.0), 2, "The first and the last answer are equal here. Compare each with each."),
        ((0.0, -1.0, 1.0), 2, "The first answer need not be the smallest or the largest."),
        ((0.0, -0.25, 0.0), 0.25, "Take the largest difference, not its mean, and not the largest logit's place."),
    ):
        model = Says(*numbers).train()
        gave = answer(model, x, 3)
        said = ", ".join(f"{one:g}" for one in numbers)
        yield f"answers that hold {said}: the difference", float(wanted), number(gave), hint
        yield "    times=3: answers asked for", 3, model.calls, "`times` says how often."
        kept = all(model.was_training) and model.training
        yield "    the mode stays as it was", True, kept, "A model that is set to eval mode shows nothing."
    torch.manual_seed(3)
    found = number(answer(Draws().train(), x, 4)) or 0.0
    yield (
        found > 0.1,
        f"a layer that draws random numbers: above 0.1, yours says {found:g}",
        "A seed set before each answer gives the same random numbers each time, and hides the layer.",
    )


def in_pairs(model, x, times):
    answers = [model(x) for _ in range(times)]
    return max((float((a - b).abs().max()) for a, b in itertools.combinations(answers, 2)), default=0.0)


def seeded(model, x, times):
    answers = []
    for _ in range(times):
        torch.manual_seed(0)
        answers.append(model(x))
    answers = torch.stack(answers)
    return float((answers.amax(0) - answers.amin(0)).max())


def after_eval(model, x, times):
    model.eval()
    return in_pairs(model, x, times)


def with_the_first(model, x, times):
    first = model(x)
    return max(float((model(x) - first).abs().max()) for _ in range(times - 1))


def of_two(model, x, times):
    return float((model(x) - model(x)).abs().max())


def mean_difference(model, x, times):
    answers = torch.stack([model(x) for _ in range(times)])
    return float((answers.amax(0) - answers.amin(0)).mean())


RIGHT = {"each pair": in_pairs}
LAZY = {
    "a seed each time": seeded, "in eval mode": after_eval, "against the first": with_the_first, "two answers": of_two,
    "the mean": mean_difference, "always equal": lambda model, x, times: 0.0,
}  # fmt: skip


# %% thrice-run
trained = modes.Trained(incident, len(trace.loss))  # paused between the last step and the evaluation
torch.manual_seed(0)
for name, model in (("incident", trained.copy()), ("after eval()", trained.copy().eval())):
    three = [trained.accuracy(model) for _ in range(3)]
    apart = steady(model, trained.first_batch(), 3)
    print(f"{name:12}", *(f"{share:.3f}" for share in three), f"  largest difference of a logit {apart:.2f}")
thrice.reveal()

# %% [proof] thrice-proof
held = len(trained.digits)
assert len(set(three)) == 1 and abs(three[0] - well_accuracy) * held < 3.5
torch.manual_seed(1)
fifty = [trained.accuracy(trained.copy()) for _ in range(50)]
assert max(fifty) - min(fifty) > 0.02 and max(fifty) < well_accuracy - 0.01

# %% [predict] spread
# Dropout and both BatchNorm layers are in train mode here. Only one kind stays in train mode, and you evaluate twenty times, with the same
# batches. Which kind makes the accuracy vary?
#
# (x) Dropout, and BatchNorm not at all
#     The same batch gives the same mean and variance, so asking twice cannot see it.
# ( ) BatchNorm, as batch statistics are noisy
#     Each evaluation has the same batches, so it has the same statistics.
# ( ) Both of them, and dropout the more
#     BatchNorm draws nothing: the same batch gives the same answer.

# %% [markdown] spread-text
# ## Dropout, BatchNorm, and the order of the pictures
#
# `model.train()` and `model.eval()` set the attribute `training` of the module and of all modules inside it. So each layer has a mode.
# The last column has the same pictures, sorted by digit.

# %% spread-run
torch.manual_seed(0)  # as the text
table = {}
for name, pair in {"nothing": (0, 0), "dropout": (1, 0), "BatchNorm": (0, 1), "both": (1, 1)}.items():
    model = trained.in_modes(*map(bool, pair))
    shares, in_rows = [trained.accuracy(model) for _ in range(20)], trained.accuracy(model, trained.sorted)
    table[name] = min(shares), sum(shares) / 20, max(shares), in_rows
    print(
        f"{name:10} in train mode: {min(shares):.3f} to {max(shares):.3f}, mean {table[name][1]:.3f}; sorted {in_rows:.3f}"
    )
spread.reveal()

# %% [proof] spread-proof
import numpy as np

norm_plus, norm_cost = (round((table["BatchNorm"][at] - table["nothing"][at]) * held) for at in (1, 3))
norm_sorted, norm_cost = table["BatchNorm"][3], -norm_cost
drop_low, drop_mean, drop_high = table["dropout"][:3]
drop_points, mean_of_twenty = 100 * (table["nothing"][1] - drop_mean), table["both"][1]
one_number = table["BatchNorm"][0] == table["BatchNorm"][2]
assert one_number and drop_high - drop_low > 0.02 and drop_mean < well_accuracy - 0.03
assert norm_cost > 15 and abs(norm_plus) < 7 and mean_of_twenty < well_accuracy - 0.03

# %% [measured] five-seeds
with_seeds = []
for seed in range(5):
    seeded = modes.Trained(bugzoo.Scenario(incident.program, seed=seed, device=device), len(trace.loss))
    in_train, in_eval = seeded.in_modes(dropout=False, norm=True), seeded.in_modes(dropout=False, norm=False)
    mixed, ordered = (
        seeded.accuracy(in_train, order) - seeded.accuracy(in_eval, order) for order in (slice(None), seeded.sorted)
    )
    with_seeds.append((round(mixed * len(seeded.digits)), round(ordered * len(seeded.digits))))
either_way = min(mixed for mixed, _ in with_seeds) < 0 < max(mixed for mixed, _ in with_seeds)
each_time = max(ordered for _, ordered in with_seeds) < -15
assert either_way and each_time, with_seeds

# %% [folded] spread-read
# After the run: asking twice sees one of two mechanisms
#
# Dropout makes the whole spread, and costs {9 = drop_points} points on average: the ticket's accuracy was a lucky draw. BatchNorm in train mode gives {one number = one_number}, however often you ask, although
# people say that it makes validation noisy. With sorted pictures this number is {85.0 % = norm_sorted}: it costs {25 = norm_cost} of {287 = held} pictures. In random order, with five seeds, it gets {sometimes more, sometimes fewer = either_way} than eval mode; sorted pictures cost {more than fifteen = each_time} each time.

# %% [draw] rows
# Only BatchNorm is in train mode, and the pictures come sorted by digit. Draw the accuracy over the size of the batches.
#
# pictures in a batch: 1, 4, 16, 64, 256, log
# accuracy: 0.5 to 1

# %% rows-run
orders = {"sorted by digit": trained.sorted, "in random order": slice(None)}
curves = {name: (modes.SIZES, trained.by_size(order)) for name, order in orders.items()}
rows.reveal(curves, reference={"eval mode": three[0]})

# %% [proof] rows-proof
at = {name: dict(zip(*curve, strict=True)) for name, curve in curves.items()}
sorted_16, alone, mixed_16 = at["sorted by digit"][16], at["sorted by digit"][1], at["in random order"][16]
eval_sorted = trained.accuracy(trained.in_modes(dropout=False, norm=False), trained.sorted, 16)
order_free = abs(eval_sorted - three[0]) * held < 1.5
assert sorted_16 < mixed_16 - 0.1 and alone < mixed_16 - 0.05 and order_free

# %% [folded] rows-read
# After the run: an answer depends on its neighbors
#
# With 16 pictures of one or two digits in a batch, the accuracy is {75.6 % = sorted_16}; the same pictures in random order give {94.4 % = mixed_16}. BatchNorm subtracts
# the mean of the batch: in a batch of threes, that removes what makes a three. One picture at a time gives {79.8 % = alone}. In eval mode the order
# {does not matter = order_free}, and LayerNorm, which normalizes within one sample, never minds. So ask: **is a sample's answer the same alone and next to
# others?**

# %% [markdown] mode-text
# ## Which layers are in train mode?
#
# `model.training` is the flag of the outermost module only, and it has nothing to do with `requires_grad`: a frozen layer drops units, too.
# **Write it:** the names of all layers of these kinds that are in train mode.


# %% [task] in_train_mode
def in_train_mode(model):
    """Names of the dropout and BatchNorm layers of the model that are in train mode, in the model's order."""
    kinds = (nn.Dropout, nn.Dropout2d, nn.BatchNorm1d, nn.BatchNorm2d)
    ...  # your code; model.named_modules() gives names and modules


# %% [solution] in_train_mode
def in_train_mode(model):
    """Names of the dropout and BatchNorm layers of the model that are in train mode, in the model's order."""
    kinds = (nn.Dropout, nn.Dropout2d, nn.BatchNorm1d, nn.BatchNorm2d)
    return [name for name, layer in model.named_modules() if isinstance(layer, kinds) and layer.training]


# %% [judge] in_train_mode
from torch import nn

KINDS = (nn.Dropout, nn.Dropout2d, nn.BatchNorm1d, nn.BatchNorm2d)


def network():
    body = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout2d(0.1))
    return nn.Sequential(body, nn.Flatten(), nn.Dropout(0.5), nn.Linear(2, 2), nn.BatchNorm1d(2))


def judge(answer):
    everything = ["0.1", "0.3", "2", "4"]

    def frozen(model):
        model[0].requires_grad_(False)

    def only(*names):
        def change(model):
            model.eval()
            for name in names:
                model.get_submodule(name).train()

        return change

    def flag_alone(model):
        model.eval()
        model.training = True

    for what, change, wanted, hint in (
        ("all in train mode", lambda model: model.train(), everything, "Go through named_modules(), not named_children()."),
        ("all in eval mode", lambda model: model.eval(), [], ""),
        ("a frozen body, in train mode", frozen, everything, "requires_grad stops gradients. It does not stop dropout."),
        ("eval mode, but one dropout in train mode", only("2"), ["2"], "Ask the layer, not the model around it."),
        ("eval mode, but one BatchNorm inside", only("0.1"), ["0.1"], "Ask the layer, not the model around it."),
        ("only the model's own flag in train mode", flag_alone, [], "The model's flag is not the flag of its layers."),
    ):  # fmt: skip
        model = network()
        change(model)
        gave = answer(model)
        gave = list(gave) if isinstance(gave, list | tuple) else gave
        yield what, wanted, gave, hint


def by_loop(model):
    found = []
    for name, layer in model.named_modules():
        if type(layer) in KINDS and layer.training:
            found.append(name)
    return found


def of_the_model(model):
    return [name for name, layer in model.named_modules() if isinstance(layer, KINDS)] if model.training else []


def outer_ones(model):
    return [name for name, layer in model.named_children() if isinstance(layer, KINDS) and layer.training]


def that_learn(model):
    found = [(name, layer) for name, layer in model.named_modules() if isinstance(layer, KINDS) and layer.training]
    return [
        name for name, layer in found if all(weight.requires_grad for weight in layer.parameters())
    ]  # dropout has no weight


RIGHT = {"a loop over types": by_loop}
LAZY = {
    "the model's flag": of_the_model, "children only": outer_ones, "layers that learn": that_learn,
    "dropout only": lambda model: [
        name for name, one in model.named_modules() if isinstance(one, nn.Dropout | nn.Dropout2d) and one.training
    ],
    "every module": lambda model: [name for name, one in model.named_modules() if one.training and name],
}  # fmt: skip


# %% [predict] which_number
# Dropout that is too strong gives low and noisy numbers as well. Which number of the view `modes` tells a missing `eval()` from it?
#
# ( ) How far train mode and eval mode are apart
#     They are about as far apart in the healthy twin. Dropout is meant to change the output.
# ( ) How many training passes ran in eval mode
#     That is the mirror image of this bug. Here the training ran as it should.
# ( ) How far two passes in eval mode are apart
#     This number would show dropout that eval mode does not reach.
# (x) How many evaluation passes ran in train mode
#     Here each of them ran in train mode, and in the twin not one.

# %% [markdown] look-text
# ## A view counts passes by mode
#
# Your function looks at one moment. The view `{view = modes}` counts {label = modes.evaluations} of a whole run.

# %% look
print("before the evaluation, in train mode:", ", ".join(in_train_mode(trained.model)))
looks = lab.look("modes", view.result, beside=incident.healthy().run())
which_number.reveal()

# %% [proof] look-proof
passes = looks["{label = modes.evaluations}"]
all_in_train = looks["{label = modes.eval_in_train_mode}"] == passes
assert all_in_train and looks["{label = modes.apart_in_eval}"] == 0

# %% [folded] look-read
# After the run: nine passes in the wrong mode
#
# An evaluation has {9 = passes} batches, and in the incident {all of them ran in train mode = all_in_train}. It happens in public: a benchmark for CLIP models never called
# `eval()`, and one model came with dropout switched on
# ([LAION-AI/CLIP_benchmark, issue 73](https://github.com/LAION-AI/CLIP_benchmark/issues/73)).

# %% [predict] repaired
# The incident is paused after its last step, before the evaluation. One call sets the model to eval mode. How many of the {287 = held} validation
# pictures will it get right?
#
# ( ) Halfway between incident and twin
#     No evaluation has moved the running averages yet.
# (x) As many as the twin, give or take three
#     The training was never touched. On a CPU the two are {equal to the last bit = mended_equal}.
# ( ) About {88 % = ill_accuracy} of them, as before
#     That would need damage in the weights. They are the twin's.

# %% [markdown] repair-text
# ## Repair the running program

# %% repair
view = lab.live(incident, pause_at=len(trace.loss), explain=False)
view.wait_pause()
view.objects["model"].eval()  # a variable of the paused program
view.mark(len(trace.loss), "eval mode")
view.resume()

# %% repair-numbers
mended = view.result.trace.metrics
right = [round(metrics["accuracy"] * len(trained.digits)) for metrics in (mended, healthy.metrics)]
repaired.reveal(f"{right[0]} of {len(trained.digits)}, the twin {right[1]}")
print(incident.diff())

# %% [proof] repair-proof
mended_equal = mended == healthy.metrics or device != "cpu"  # what the text says of a CPU
assert mended_equal and abs(right[0] - right[1]) <= 3 and in_train_mode(trained.model) == ["norm1", "norm2", "dropout"]

# %% [check] which_test
# Another team evaluates one checkpoint twice. It gets 60 of 100 right, then 89. The model has `dropout=0.3`. Which test tells a missing
# `eval()` from validation data that change?
#
# ( ) Set a seed before each evaluation, and compare the two numbers
#     the seed fixes masks and shuffling. Both causes disappear, and the number stays wrong.
# (x) Pass one fixed batch through the model twice, and compare the outputs
#     yes. The data cannot change now. If the outputs differ, the model draws random numbers.
# ( ) Evaluate ten times, and report the mean together with its error
#     the mean is precise and wrong. In this lesson's incident the mean of twenty is {0.860 = mean_of_twenty}, and eval mode gives {0.937 = well_accuracy}.

# %% [predict] changed tags=["how-sure"]
# `state_dict()` of this model has {16 = tensors} tensors: weights, biases and the buffers of BatchNorm. How many of them does one
# evaluation in train mode change, under `no_grad()`?
#
# (=) {6 = changed_count} +- 0
#     Two BatchNorm layers, three buffers each: running mean, running variance, and the count of batches.
# (~) 0
#     `no_grad()` stops autograd. BatchNorm writes its running averages in the forward pass, without any gradient.
# (~) 4
#     Running mean and running variance of two layers. Each layer also counts its batches.
# (~) 2
#     Each of the two BatchNorm layers has three buffers.
# (~) 16
#     Weights move in `optimizer.step()`, and an evaluation has no step.
# (~) else
#     Look at the buffers of BatchNorm: two layers, three buffers each.

# %% [markdown] changed-text
# ## Does an evaluation change the model?
#
# A course says of a missing `eval()`: the validation loss is too high, and noisy. That holds: {0.47 = ill_loss} instead of {0.39 = well_loss}. People also say: the model
# is not touched.

# %% changed-run
asked = trained.copy()
trained.accuracy(asked)
before, after = trained.model.state_dict(), asked.state_dict()
print("changed:", ", ".join(name for name in after if not torch.equal(before[name], after[name])))
changed.reveal()

# %% [proof] changed-proof
names = [name for name in after if not torch.equal(before[name], after[name])]
changed_count, tensors = len(names), len(after)
assert not set(names) & {name for name, _ in trained.model.named_parameters()}

# %% [predict] which_pass tags=["how-sure"]
# You pass pictures through a copy of this model in train mode, under `no_grad()`. Then you evaluate it with `eval()`. Which pass moves the
# accuracy most?
#
# ( ) None: no weight has moved
#     Eval mode normalizes with the running averages, and these have moved.
# ( ) One over the validation pictures
#     Their averages are close to those of the training pictures.
# (x) One over black pictures
#     Eval mode now normalizes every picture with the averages of black ones.
# ( ) One over the training pictures
#     The averages come from these pictures, moved by up to a pixel. They change little.

# %% better-run
accuracies = trained.after_a_pass()
which_pass.reveal(f"black pictures, {accuracies['black pictures']:.3f} instead of {accuracies['nothing']:.3f}")

# %% [proof] better-proof
moves = {name: round((value - accuracies["nothing"]) * held) for name, value in accuracies.items()}
black_count, black_cost = len(trained.training), -moves["black pictures"]
assert black_cost > 30 and max(abs(moves["validation pictures"]), abs(moves["training pictures"])) < black_cost / 3

# %% [folded] better-read
# After the run: the pass trained the averages
#
# One pass over {1150 = black_count} black pictures, as from a covered camera, costs {110 = black_cost} of {287 = held} pictures. No weight has moved, and the model **is** touched: the pictures of an
# evaluation in train mode decide how it normalizes all later ones.

# %% [markdown] evaluate-text
# ## An evaluation that leaves no trace
#
# Many scripts call `train()` after an evaluation. But it sets *every* layer to train mode, also a BatchNorm that was in eval mode on purpose.
# **Write it:** the share of samples that are right; modes, [buffers](glossary.ipynb#buffer) and gradients stay as they are.


# %% [task] evaluate
def evaluate(model, loader):
    """Accuracy in eval mode over all samples of (inputs, targets) batches; the model is left as it was found."""
    correct = total = 0
    for inputs, targets in loader:
        correct += (model(inputs).argmax(-1) == targets).sum().item()
        total += len(targets)
    return correct / total  # your code: it is right, and it leaves traces


# %% [solution] evaluate
def evaluate(model, loader):
    """Accuracy in eval mode over all samples of (inputs, targets) batches; the model is left as it was found."""
    modes = {module: module.training for module in model.modules()}
    correct = total = 0
    try:
        model.eval()
        with torch.no_grad():
            for inputs, targets in loader:
                correct += (model(inputs).argmax(-1) == targets).sum().item()
                total += len(targets)
    finally:
        for module, mode in modes.items():
            module.training = mode
    return correct / total


# %% [judge] evaluate
import copy

import torch
from torch import nn

RECORDED = []


class Notes(nn.Module):
    """Records whether autograd records, in a list that copies of the model share."""

    def forward(self, x):
        RECORDED.append(torch.is_grad_enabled())
        return x


def network():
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), Notes(), nn.Linear(8, 3))
    for _ in range(5):
        model(torch.randn(16, 4) * 2 + 1)
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    return model


def judge(answer):
    torch.manual_seed(6)
    inputs, model = torch.randn(22, 4) * 2 + 1, network()
    targets = copy.deepcopy(model).eval()(inputs).argmax(-1)
    targets[[1, 4, 7, 20]] = (targets[[1, 4, 7, 20]] + 1) % 3
    loader = list(zip(inputs.split(10), targets.split(10), strict=True))
    wanted = 18 / 22
    for what, frozen in (
        ("all in train mode", ()),
        ("all in eval mode", (0, 1, 2, 3, 4)),
        ("a BatchNorm in eval mode", (1,)),
    ):
        model = network()
        for place in frozen:
            model[place].eval()
        model.training = len(frozen) < 5
        modes, before = [one.training for one in model.modules()], copy.deepcopy(model.state_dict())
        RECORDED.clear()
        gave = answer(model, loader)
        number = float(gave) if isinstance(gave, int | float) or hasattr(gave, "item") else float("nan")
        right = abs(number - wanted) < 1e-6
        yield (
            f"{what}: 18 of 22 samples in batches of 10, 10 and 2", f"{wanted:.3f}", f"{wanted if right else number:.3f}",
            "Ask in eval mode. Count right samples and all samples: a mean of batches gives a short one too much weight.",
        )  # fmt: skip
        yield "    autograd records the evaluation", False, any(RECORDED), "eval() does not stop autograd."
        same = [module.training for module in model.modules()] == modes
        yield (
            "    modes as found", True, same,
            "model.training is one flag of many. Keep the flag of each module, and put each of them back.",
        )  # fmt: skip
        same = all(torch.equal(a, b) for a, b in zip(before.values(), model.state_dict().values(), strict=True))
        yield "    weights and buffers as found", True, same, "BatchNorm in train mode writes its buffers."
        same = all(weight.grad is not None and bool((weight.grad == 1).all()) for weight in model.parameters())
        yield "    gradients as found", True, same, "The next step may still need them: no zero_grad() here."


def on_a_copy(model, loader):
    asked = copy.deepcopy(model).eval()
    right = [asked(inputs).argmax(-1) == targets for inputs, targets in loader]
    return torch.cat(right).float().mean().item()


def without_graph(function):
    def wrapped(model, loader):
        with torch.no_grad():
            return function(model, loader)

    return wrapped


def counted(model, loader):
    correct = sum((model(inputs).argmax(-1) == targets).sum().item() for inputs, targets in loader)
    return correct / sum(len(targets) for _, targets in loader)


@without_graph
def ends_in_train(model, loader):
    model.eval()
    found = counted(model, loader)
    model.train()
    return found


@without_graph
def puts_one_flag_back(model, loader):
    was = model.training
    model.eval()
    found = counted(model, loader)
    model.train(was)
    return found


@without_graph
def mean_of_batches(model, loader):
    asked = copy.deepcopy(model).eval()
    return sum((asked(i).argmax(-1) == t).float().mean().item() for i, t in loader) / len(loader)


@without_graph
def clears_gradients(model, loader):
    model.zero_grad()
    return on_a_copy(model, loader)


RIGHT = {"on a copy": without_graph(on_a_copy)}
LAZY = {
    "ends in train()": ends_in_train, "one flag put back": puts_one_flag_back, "mean of the batches": mean_of_batches,
    "in the mode it has": without_graph(counted), "with a graph": on_a_copy, "clears the gradients": clears_gradients,
    "stays in eval mode": without_graph(lambda model, loader: counted(model.eval(), loader)),
}  # fmt: skip


# %% evaluate-run
before = in_train_mode(trained.model)
once, again = (evaluate(trained.model, trained.batches(trained.pictures, trained.digits)) for _ in range(2))
print(f"validation {once:.3f}, once more {again:.3f}; modes as found: {in_train_mode(trained.model) == before}")

# %% [proof] evaluate-proof
assert before == ["norm1", "norm2", "dropout"] == in_train_mode(trained.model) and once == again
train_digits = trained.program["labels"][trained.program["train"]].to(device)
valid, bare = once, evaluate(trained.model, trained.batches(trained.training, train_digits))
assert abs(valid - well_accuracy) * held < 3.5

# %% [markdown] play-text
# ## Play
#
# With a dropout of 0 asking twice finds nothing. What does the batch size change then?

# %% play
play = lab.play(trained.without_eval, dropout=(0.0, 0.8, 0.4), pictures_in_a_batch=(1, 256, 32))

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# *"I added a few lines that look at the accuracy now and then. Since then the training loss falls faster than ever: {0.13 = turn_loss}, where it used to be
# {0.17 = turn_well_loss}. So validation should follow. It moved by {a few pictures of 287 = turn_few}: {96.2 % = turn_accuracy}, where it was {96.5 % = turn_well}."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike, within six minutes.

# %% turn
second = lab.case("09/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock, hints = lab.timer(6), lab.hints(second)

# %% [proof] turn-proof
turn_loss, turn_accuracy = turn_run.trace.loss[-20:].mean(), turn_run.trace.metrics["accuracy"]

# %% [measured] twin-of-the-transfer
turn_twin = second.healthy().run().trace
turn_well_loss, turn_well = turn_twin.loss[-20:].mean(), turn_twin.metrics["accuracy"]
turn_few = abs(turn_accuracy - turn_well) * held < 5.5
assert turn_loss < turn_well_loss - 0.02 and turn_few

# %% turn-look
# your own look; some ways to begin:
#   lab.lines(second)                    the program with its line numbers
#   names = lab.variables(second, 1)     its variables after step 1; which steps are worth a look?
#   lab.look("loss_curve", turn_run)     a view; which one has the number that you want?

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
right_line = next(
    number for number, text in enumerate(second.source.splitlines(), 1) if text == "            model.eval()"
)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
graded = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in graded) == 0, graded
from bugzoo import views

turn_modes = views.measure(turn_run, ["modes"])["modes"].numbers
in_eval = turn_modes["mode_watch.train_in_eval_share"]
asked_at = {}
for step in (20, 21):
    asked_at[step] = in_train_mode(lab.variables(second, step)["model"])
from_21 = asked_at == {20: ["dropout"], 21: []}
assert from_21, asked_at

# %% [folded] turn-read
# After you have handed in: a mode that was not put back
#
# The look at step 20 sets eval mode, and no line sets train mode again. {From step 21 on = from_21} dropout is off in training, {91 % = in_eval} of all training passes:
# the loss is lower because no units are dropped. Your `evaluate` cannot do this.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Pass a sample twice, then alone.** *Fails when* a seed is set before each pass: then the masks are the same.
# 2. **Use both `eval()` and `no_grad()`**: one sets the layers, the other stops the graph. *Fails when* the model calls `F.dropout`,
#    which by default ignores the mode.
# 3. **Put back the modes that you found**, in a `finally`.
# 4. **Compare the state dict before and after.** *Fails when* a layer keeps state outside its parameters and buffers.
#
# **Next:** {exercise = 25}, {exercise = 26} and {exercise = 27}.


# %% [keep] in_train_mode
def test_in_train_mode_names_the_layers_of_the_incident():
    program = lab.variables(lab.case("09/incident"), 180)  # its last step: the evaluation comes next
    assert in_train_mode(program["model"])


def test_in_train_mode_is_silent_on_the_healthy_twin_in_its_evaluation():
    program = lab.variables(lab.case("09/incident").healthy(), 180)
    assert in_train_mode(program["model"].eval()) == []


# %% home
lab.calibration("09")
lab.keep(in_train_mode)
mine = lab.mine(view="modes")  # your own script: lab.mine("train.py", view="modes")

# %% [measured] gap-taken-apart
epoch = len(trained.program["train_loader"])
train_digits = trained.program["labels"][trained.program["train"]].to(device)
last_epoch = lab.LiveView(incident.healthy(), pause_at=len(trace.loss) - epoch, show_twin=False).start()
last_epoch.wait_pause()
live, logged = last_epoch.objects, []
augment = live["augment"]
handle = live["model"].register_forward_hook(
    lambda layer, inputs, output: logged.append((output.argmax(-1) == live["targets"]).float().mean().item())
)
last_epoch.advance(epoch)
handle.remove()
last_epoch.stop()
as_logged = float(np.mean(logged))


def in_training(model):
    """Accuracy over the training pictures, augmented and in the model's present mode."""
    torch.manual_seed(1)
    parts = zip(trained.training.split(32), train_digits.split(32), strict=True)
    with torch.no_grad():
        shares = [(model(trained.normalize(augment(x))).argmax(-1) == y).float().mean() for x, y in parts]
        return float(np.mean(shares))


no_drop, end_of_epoch = in_training(trained.copy().eval()), in_training(trained.copy())
ninety, just_above, no_better = 0.88 < no_drop < 0.92, valid < bare < valid + 0.02, end_of_epoch < as_logged + 0.02
assert as_logged < no_drop - 0.03 and no_drop < bare - 0.01 and ninety and just_above and no_better

# %% [measured] four-ways
ways = trained.four_ways()
both_eval = ways["eval mode, with no_grad()"] + ways["eval mode, without no_grad()"]
same_number = len(set(both_eval)) == 1
assert same_number and min(len(set(values)) for name, values in ways.items() if "train" in name) > 3

# %% [folded] appendix
# Appendix, for the curious: two switches, and why validation can score above training
#
# **The mode and the graph are two switches.** Eval mode gives {one number = same_number}, with or without `no_grad()`. Without it the logits keep a graph, and with it
# the tensors of each layer: a loop that collects loss tensors keeps the graphs of all its batches. You need both lines.
#
# People often say: training accuracy is always the higher one. In the last epoch of the healthy run, training has {82 % = as_logged} in the log, and
# validation gets {94 % = valid}. They were scored differently: training with dropout on, and on pictures that augmentation had moved.
#
# Without dropout, training gets {about 90 % = ninety}. Without augmentation too, it is {just above validation = just_above}, as your `evaluate` has shown. The log is also a mean over
# moving weights. That does not explain it: scored in the same way, the weights at the end are {no better = no_better} than the log's mean.
#
# A generalization gap compares *data*: hold mode and augmentation fixed.
