"""Lesson 09: a digit reader whose validation accuracy fell, and an evaluation that leaves the model as it found it."""

# %% [case] incident
# digits_cnn modes/eval_mode_missing

# %% [case] second
# checkpointed_mlp modes/train_mode_not_restored?every=20

# %% [markdown] title
# # 09 · Train mode, eval mode
#
# A network with dropout or BatchNorm computes one thing in train mode and another in eval mode. In this lesson you find out which
# layer does what in the wrong mode, and which test sees it. You write an evaluation that leaves the model as it found it, and
# prove that it does.
#
# You need about {55 = minutes} minutes, and to know what dropout and BatchNorm are for. Halfway, after *Repair the running program*, is a
# good place for a pause.
#
# Before each result you predict it. Say something, even a guess: it is saved, not graded. Read folded text after the run above
# it. After a restart of the kernel choose *Run* → *Run All Above Selected Cell*; your predictions and your code are still there.
# The [glossary](glossary.ipynb) explains words that you do not know.

# %% setup
device = "cpu"  # or "auto", "cuda"

import copy

import torch
from torch import nn

import bugzoo
from bugzoo import lab

device = lab.use(device)

# %% [proof] reading-time
from bugzoo.course import load

lesson = load("09")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Tuesday, 15:30.* "Since last week's cleanup the digit reader gets {88 % = ill_accuracy} on validation, with a loss of {0.47 = ill_loss}. It used to get {94 % = well_accuracy}. It
# > looks like overfitting, so I raised dropout from `0.4` to `0.6`: now it gets {76 % = more_dropout}. The review is on Thursday."
#
# The program reads small pictures of digits: two convolutions, each with BatchNorm, then dropout and a linear head. It trains for
# {180 = length} steps and then evaluates {287 = held} validation pictures once.

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
#     A difference of that size would need a model that guesses. This one is wrong in one picture of eight.

# %% [markdown] live-text
# ## Watch it
#
# The cell below trains a **healthy twin**, the same program without the fault, and then the incident. Look at two things: at which step the
# training curves part, and how far apart the two validation points at the end are. The last line of the table after it counts what the
# eye may miss.

# %% live
incident = lab.case("09/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
raised = bugzoo.Scenario(incident.program, incident.faults, {"dropout": 0.6}, device=device).run().trace
print("              last 20 training losses   validation loss   validation accuracy")
for name, one in (("incident", trace), ("healthy twin", healthy), ("dropout 0.6", raised)):
    print(f"{name:12}   {one.loss[-20:].mean():22.3f}   {one.metrics['loss']:15.3f}   {one.metrics['accuracy']:19.3f}")
print("incident and twin, training losses that differ:", int((trace.loss != healthy.loss).sum()), "of", len(trace.loss))

# %% [proof] numbers-proof
length, ill_accuracy, ill_loss = len(trace.loss), trace.metrics["accuracy"], trace.metrics["loss"]
well_accuracy, well_loss = healthy.metrics["accuracy"], healthy.metrics["loss"]
more_dropout = raised.metrics["accuracy"]
equal_there = bool((trace.loss == healthy.loss).all()) or device != "cpu"  # what the text says of a CPU
near = abs(trace.loss[-20:].mean() - healthy.loss[-20:].mean()) < 0.05
assert equal_there and near and ill_loss > well_loss + 0.05 and more_dropout < ill_accuracy - 0.05

# %% [folded] numbers-read
# After the run: the training is innocent
#
# On a CPU, the losses of all {180 = length} steps are {the same to the last bit = equal_there}: in the plot the twin's line is exactly behind the incident's. So the weights are the same,
# too. On a GPU two trainings differ slightly. Two such models should not get scores so far apart. So it is not overfitting: the fault is in the
# evaluation.

# %% [markdown] steady-text
# ## Ask twice
#
# The cheapest test of an evaluation: pass one batch through the model several times, and compare the answers.
#
# **Write it:** the largest difference between any two answers, over all numbers of the output. Take the model as it is: its mode and the state of the
# random generator are part of what you test.


# %% [task] steady
def steady(model, x, times):
    """Largest difference between any two of `times` answers to x: a float, 0.0 where all are equal."""
    ...  # your code


# %% try-steady
steady = lab.try_out("09/steady", steady)


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
        yield number(gave) == wanted, f"answers that hold {said}: difference {wanted}, yours says {gave}", hint
        yield model.calls == 3, f"    times=3: 3 answers, yours asked for {model.calls}", "`times` says how often."
        kept = all(model.was_training) and model.training
        yield (
            kept,
            f"    the mode stays as it was: True, yours {kept}",
            "A model that is set to eval mode shows nothing.",
        )
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
# the incident again, paused between its last step and its evaluation; `trained` is the model as the evaluation finds it
def paused_at(scenario, step):
    """A live run, paused after this step; `.objects` are the program's variables."""
    run = lab.LiveView(scenario, pause_at=step, show_twin=False).start()
    run.wait_pause()
    return run


run = paused_at(incident, len(trace.loss))
program = dict(run.objects)
run.stop()
trained, normalize = copy.deepcopy(program["model"]), program["normalise"]
pictures, digits = (one.to(device) for one in program["validation_loader"].dataset.tensors)


def answers(model, pictures, rows=32):
    """Logits from the model in its present mode, `rows` pictures at a time, under no_grad."""
    with torch.no_grad():
        return torch.cat([model(normalize(part)) for part in pictures.split(rows)])


def accuracy(logits, digits=digits):
    return (logits.argmax(-1) == digits).float().mean().item()


torch.manual_seed(0)
batch = normalize(pictures[:32])
rows_shown = {}
for name, model in (("incident", trained), ("after eval()", copy.deepcopy(trained).eval())):
    three = [accuracy(answers(copy.deepcopy(model), pictures)) for _ in range(3)]
    rows_shown[name] = "  ".join(f"{one:.3f}" for one in three)
    apart = steady(copy.deepcopy(model), batch, 3)
    print(f"{name:12}   three accuracies {rows_shown[name]}   largest difference of a logit {apart:.2f}")
thrice.reveal(rows_shown["incident"])

# %% [proof] thrice-proof
held = len(digits)
assert len(set(three)) == 1 and abs(three[0] - well_accuracy) * held < 3.5
torch.manual_seed(1)
fifty = [accuracy(answers(copy.deepcopy(trained), pictures)) for _ in range(50)]
assert max(fifty) - min(fifty) > 0.02 and max(fifty) < well_accuracy - 0.01

# %% [predict] spread
# Dropout and both BatchNorm layers are in train mode here. Set all but one kind to eval mode, and evaluate twenty times, with the same
# batches. Which kind makes the accuracy vary?
#
# (x) Dropout, and BatchNorm not at all
#     BatchNorm computes mean and variance of the batch. The same batch gives the same ones, so asking twice cannot see it.
# ( ) BatchNorm, as batch statistics are noisy
#     They are noisy from batch to batch. But each evaluation has the same batches, so it has the same statistics.
# ( ) Both of them, and dropout the more
#     Dropout draws a new mask in each pass. BatchNorm draws nothing: the same batch gives the same answer.

# %% [markdown] spread-text
# ## Which layer does what
#
# `model.train()` and `model.eval()` set one attribute, `training`, in the module and in all modules inside it. So the mode can be set for
# each layer. The second column shows what varies. The last one has the same pictures, sorted by digit.


# %% spread-run
def in_modes(dropout, norm):
    """A copy of the trained model in eval mode, with dropout or BatchNorm in train mode."""
    model = copy.deepcopy(trained).eval()
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.train(dropout)
        if isinstance(layer, nn.BatchNorm2d):
            layer.train(norm)
    return model


by_digit = digits.argsort()
torch.manual_seed(0)  # so your means are those in the text
print("in train mode   mean accuracy   lowest to highest   sorted by digit")
table = {}
for name, modes in {"nothing": (0, 0), "dropout": (1, 0), "BatchNorm": (0, 1), "both": (1, 1)}.items():
    model = in_modes(*map(bool, modes))
    found = [accuracy(answers(model, pictures)) for _ in range(20)]
    in_rows = accuracy(answers(model, pictures[by_digit]), digits[by_digit])
    table[name] = min(found), sum(found) / len(found), max(found), in_rows
    print(f"{name:13} {table[name][1]:15.3f}      {min(found):.3f} to {max(found):.3f} {in_rows:17.3f}")
plus, cost = (round((table["BatchNorm"][column] - table["nothing"][column]) * len(digits)) for column in (1, 3))
print(f"BatchNorm in train mode, sorted by digit: {cost:+d} of {len(digits)} pictures; in random order: {plus:+d}")
spread.reveal(" and ".join(f"{name} {table[name][0]:.3f} to {table[name][2]:.3f}" for name in ("dropout", "BatchNorm")))

# %% [proof] spread-proof
import numpy as np

norm_accuracy, norm_sorted, norm_cost, norm_plus = table["BatchNorm"][1], table["BatchNorm"][3], -cost, plus
drop_low, drop_mean, drop_high = table["dropout"][:3]
drop_points, mean_of_twenty = 100 * (table["nothing"][1] - drop_mean), table["both"][1]
one_number = table["BatchNorm"][0] == table["BatchNorm"][2]
assert one_number and drop_high - drop_low > 0.02 and drop_mean < well_accuracy - 0.03
assert norm_cost > 15 and abs(norm_plus) < 7 and mean_of_twenty < well_accuracy - 0.03

# %% [measured] five-seeds


def differences(seed):
    """Pictures that BatchNorm in train mode gets right more than eval mode: (in random order, sorted by digit)."""
    names = bugzoo.Scenario(incident.program, seed=seed, device=device).run().trace.live.namespace
    model, (inputs, targets) = names["model"].eval(), names["validation_loader"].dataset.tensors
    inputs, targets = names["normalise"](inputs).to(device), targets.to(device)

    def right(order):
        with torch.no_grad():
            logits = torch.cat([model(part) for part in inputs[order].split(32)])
        return int((logits.argmax(-1) == targets[order]).sum())

    in_eval_mode = right(slice(None))
    model.norm1.train()
    model.norm2.train()
    return right(slice(None)) - in_eval_mode, right(targets.argsort()) - in_eval_mode


with_seeds = [differences(seed) for seed in range(5)]
either_way = min(one for one, _ in with_seeds) < 0 < max(one for one, _ in with_seeds)
each_time = max(ordered for _, ordered in with_seeds) < -15
assert either_way and each_time, with_seeds

# %% [folded] spread-read
# After the run: two mechanisms, and asking twice sees one
#
# Dropout makes the whole spread, and costs {9 = drop_points} points on average. BatchNorm in train mode gives {one number = one_number}, however often you ask. If the
# pictures come sorted, this number is {85.0 % = norm_sorted}: it costs {25 = norm_cost} of {287 = held} pictures, and asking twice does not see it.
#
# In random order it gets {2 = norm_plus} pictures of {287 = held} more than eval mode. People often say: batch statistics make validation noisy. Within one order they do not.
# On a CPU, with five seeds, it gets {sometimes more, sometimes fewer = either_way}. Sorted pictures cost {more than fifteen = each_time} each time.

# %% [draw] rows
# Only BatchNorm is in train mode, and the pictures come sorted by digit. Draw the accuracy for batches of 1, 16 and 256 pictures.
#
# pictures in a batch: 1, 16, 256, log
# accuracy: 0.5 to 1


# %% rows-run
sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]
model, found = in_modes(False, True), {}
for name, order in {"sorted by digit": by_digit, "in random order": slice(None)}.items():
    found[name] = [accuracy(answers(model, pictures[order], size), digits[order]) for size in sizes]
    print(f"{name:16}", "  ".join(f"{size}: {value:.3f}" for size, value in zip(sizes, found[name], strict=True)))
rows.reveal({name: (sizes, values) for name, values in found.items()})

# %% [proof] rows-proof
at = {name: dict(zip(sizes, values, strict=True)) for name, values in found.items()}
sorted_16, alone, mixed_16 = at["sorted by digit"][16], at["sorted by digit"][1], at["in random order"][16]
eval_sorted = accuracy(answers(in_modes(False, False), pictures[by_digit], 16), digits[by_digit])
order_free = abs(eval_sorted - three[0]) * held < 1.5
assert sorted_16 < mixed_16 - 0.1 and alone < mixed_16 - 0.05 and order_free

# %% [folded] rows-read
# After the run: an answer depends on its neighbors
#
# With 16 pictures of one or two digits in a batch, the accuracy is {75.6 % = sorted_16}; the same pictures in random order give {94.4 % = mixed_16}. BatchNorm subtracts
# the mean of the batch. In a batch of threes it subtracts what makes a three. In eval mode the order {does not matter = order_free}.
#
# One picture at a time gives {79.8 % = alone}. A test with large mixed batches does not show it, and a phone sends one picture. So there is
# a second test: **is a sample's answer the same alone and next to other samples?**

# %% [check] layers
# What does each layer's output depend on, apart from the sample itself and the weights?
#
# `nn.Dropout` in train mode -> on random numbers
# `nn.BatchNorm2d` in train mode -> on the other samples of the batch
# `nn.BatchNorm2d` in eval mode -> on the batches seen in train mode
# `nn.LayerNorm` in train mode -> on nothing else
#     LayerNorm and GroupNorm normalize within one sample, so they compute the same in both modes.

# %% [markdown] mode-text
# ## Which layers are in train mode?
#
# `model.training` is the flag of the outermost module. A model in eval mode can hold a dropout layer in train mode, and the other way
# round. The flag has nothing to do with `requires_grad`: a frozen layer drops units, too.
#
# **Write it:** the names of all layers of the kinds in `MODE_LAYERS` that are in train mode.

# %% [task] in_train_mode
MODE_LAYERS = (nn.Dropout, nn.Dropout2d, nn.BatchNorm1d, nn.BatchNorm2d)


def in_train_mode(model):
    """Names of the dropout and BatchNorm layers of the model that are in train mode, in the model's order."""
    ...  # your code; model.named_modules() gives names and modules


# %% try-in-train-mode
in_train_mode = lab.try_out("09/in_train_mode", in_train_mode)

# %% [solution] in_train_mode
MODE_LAYERS = (nn.Dropout, nn.Dropout2d, nn.BatchNorm1d, nn.BatchNorm2d)


def in_train_mode(model):
    """Names of the dropout and BatchNorm layers of the model that are in train mode, in the model's order."""
    return [name for name, layer in model.named_modules() if isinstance(layer, MODE_LAYERS) and layer.training]


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
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}", hint


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
# You will see the finished run in a view that counts forward passes by mode. Which one number shows this fault at a glance?
#
# ( ) How far train mode and eval mode are apart
#     They are about as far apart in the healthy twin. Dropout is meant to change the output.
# ( ) How many training passes ran in eval mode
#     That is the mirror image of this bug. Here the training ran as it should.
# ( ) How far two passes in eval mode are apart
#     They are equal, to the last bit. This number would show dropout that eval mode does not reach.
# (x) How many evaluation passes ran in train mode
#     A pass without gradients belongs to an evaluation. Here each of them ran in train mode, and in the twin not one.

# %% [markdown] look-text
# ## Look at it
#
# Your function looks at one moment: here at the model as the evaluation finds it. The view `{view = modes}` looks at a whole run. It counts
# {label = modes.evaluations}, and those of them in train mode. First the incident, then the healthy twin.

# %% look
print("before the evaluation, in train mode:", ", ".join(in_train_mode(trained)))
well_run = incident.healthy().run()
looks = {}
for name, run in (("incident", view.result), ("healthy twin", well_run)):
    print(f"--- {name}")
    looks[name] = lab.look("modes", run)
which_number.reveal()

# %% [proof] look-proof
row, far = (
    "{label = modes.eval_in_train_mode}",
    "{label = modes.between_modes}",
)
passes = looks["incident"]["{label = modes.evaluations}"]
all_in_train = looks["incident"][row] == passes and looks["healthy twin"][row] == 0
as_far = abs(looks["incident"][far] - looks["healthy twin"][far]) < 0.05
assert as_far and all_in_train
assert looks["incident"]["{label = modes.apart_in_eval}"] == 0

# %% [folded] look-read
# After the run: nine passes in the wrong mode
#
# An evaluation has {9 = passes} batches. In the incident {all of them ran in train mode = all_in_train}, and in the twin none. The distance between the modes is {about the same in both = as_far}:
# it says what the model is, not what the program did.
#
# It happens in public. A benchmark for CLIP models got other numbers than the models' own evaluation. One model came with dropout switched on, and
# the benchmark never called `eval()`. Numbers of models with BatchNorm may have been wrong, too
# ([LAION-AI/CLIP_benchmark, issue 73](https://github.com/LAION-AI/CLIP_benchmark/issues/73)).

# %% [predict] repaired
# The incident is paused after its last step, before the evaluation. One call sets the model to eval mode. How many of the {287 = held} validation
# pictures will it get right?
#
# ( ) Halfway between incident and twin
#     That would need damage in the running averages. No evaluation has moved them yet.
# (x) As many as the twin, give or take three
#     The training was never touched. On a CPU the two are {equal to the last bit = mended_equal}. On a GPU two trainings differ slightly.
# ( ) About {88 % = ill_accuracy} of them, as before
#     That would need damage in the weights. They are the twin's.

# %% [markdown] repair-text
# ## Repair the running program
#
# `view.objects` are the variables of the paused program.

# %% repair
view = lab.live(incident, pause_at=len(trace.loss), explain=False)
view.wait_pause()
model = view.objects["model"]
print("in train mode before:", in_train_mode(model))
model.eval()
print("in train mode after: ", in_train_mode(model))
view.mark(len(trace.loss), "eval mode")
view.resume()

# %% repair-numbers
mended = view.result.trace.metrics
for name, metrics in (("repaired", mended), ("healthy twin", healthy.metrics)):
    print(f"{name:12}   accuracy {metrics['accuracy']:.6f}   loss {metrics['loss']:.6f}")
right = [round(metrics["accuracy"] * len(digits)) for metrics in (mended, healthy.metrics)]
repaired.reveal(f"{right[0]} of {len(digits)}, the twin {right[1]}")
print(incident.diff())

# %% [proof] repair-proof
mended_equal = mended == healthy.metrics or device != "cpu"  # what the text says of a CPU
assert mended_equal and abs(right[0] - right[1]) <= 3 and in_train_mode(trained) == ["norm1", "norm2", "dropout"]

# %% [check] which_test
# Another team evaluates one checkpoint twice. It gets 60 of 100 right, then 89. The model has `dropout=0.3`. Which test tells a missing
# `eval()` from validation data that change?
#
# ( ) Set a seed before each evaluation, and compare the two numbers
#     the seed fixes the masks of dropout, and the shuffling of a loader as well. Both causes disappear, and the number stays wrong.
# (x) Pass one fixed batch through the model twice, and compare the outputs
#     yes. The data cannot change now. If the outputs differ, the model draws random numbers.
# ( ) Evaluate ten times, and report the mean together with its error
#     the mean is precise and wrong. In this lesson's incident the mean of twenty is {0.860 = mean_of_twenty}, and eval mode gives {0.937 = well_accuracy}.

# %% [markdown] forgot-text
# ## The other switch
#
# Most evaluations have two lines, `model.eval()` and `with torch.no_grad():`. They are often taken for one thing.

# %% [predict] forgot
# The model is in eval mode, and the evaluation runs without `no_grad()`. What is different from an evaluation with both?
#
# ( ) Its accuracy: dropout is active again
#     Dropout follows the layer's flag. `no_grad()` does not touch it.
# (x) Its memory: each batch keeps a graph
#     Autograd records what a backward pass would need. The accuracy is the same.
# ( ) The weights: they get its gradients
#     A gradient needs a call of `backward()`, and an evaluation has none.
# ( ) Nothing: eval mode records no graph
#     The mode is a flag of layers. Autograd does not read it.

# %% figure
from bugzoo.plots import evaluation_spread

ways, graphs = {}, {}
for mode in ("eval mode", "train mode"):
    for grad in ("with no_grad()", "without no_grad()"):
        name, model = f"{mode}, {grad}", copy.deepcopy(trained).train(mode == "train mode")
        with torch.set_grad_enabled(grad == "without no_grad()"):
            logits = [torch.cat([model(normalize(part)) for part in pictures.split(32)]) for _ in range(20)]
        ways[name], graphs[name] = [accuracy(one) for one in logits], logits[0].grad_fn is not None
        print(f"{name:29}  accuracy {min(ways[name]):.3f} to {max(ways[name]):.3f}   keeps a graph: {graphs[name]}")
lab.picture(evaluation_spread.picture(ways))
kept = {grad: graphs[f"eval mode, {grad} no_grad()"] for grad in ("with", "without")}
forgot.reveal(f"keeps a graph with no_grad(): {kept['with']}, without: {kept['without']}")

# %% [proof] figure-proof
both_eval = ways["eval mode, with no_grad()"] + ways["eval mode, without no_grad()"]
same_number = len(set(both_eval)) == 1
graph_where = all(kept == ("without" in name) for name, kept in graphs.items())
assert same_number and graph_where and min(len(set(values)) for name, values in ways.items() if "train" in name) > 3

# %% [folded] figure-read
# After the run: the mode and the graph are independent
#
# Eval mode gives {one number = same_number}, with or without a graph. Without `no_grad()` the logits keep a graph {in both modes = graph_where}, and with it the tensors of each
# layer. A loop that collects loss tensors keeps the graphs of all its batches. You need both lines, for two different reasons.

# %% [check] switches
# Four lines that stand before an evaluation. What does each of them do to it?
#
# `model.eval()` -> Dropout passes everything on
# `torch.no_grad()` -> No graph is recorded
# `torch.manual_seed(0)` -> Dropout draws the same masks each time
# `optimizer.zero_grad()` -> Nothing changes in it
#     A seed makes a wrong number repeatable. zero_grad() clears what an earlier backward() has left.

# %% [markdown] changed-text
# ## Does an evaluation change the model?
#
# A course says of a missing `eval()`: the validation loss is too high, and noisy. Measured here: {0.47 = ill_loss} instead of {0.39 = well_loss}, and another number each
# time. So that holds. People also say: only the number is wrong, and the model is not touched, as the evaluation runs under `no_grad()`.

# %% [predict] changed
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
# (~) 10
#     Weight and bias of BatchNorm are parameters. Only an optimizer moves them.
# (~) 16
#     Weights move in `optimizer.step()`, and an evaluation has no step.
# (~) else
#     Look at the buffers of BatchNorm: two layers, three buffers each.

# %% changed-run
asked = copy.deepcopy(trained)
answers(asked, pictures)
after = asked.state_dict()
names = [name for name, tensor in trained.state_dict().items() if not torch.equal(tensor, after[name])]
print(len(names), "of", len(after), "changed:", ", ".join(names))
changed.reveal()

# %% [proof] changed-proof
changed_count, tensors = len(names), len(after)
assert not set(names) & {name for name, _ in trained.named_parameters()}

# %% [predict] which_pass
# You pass pictures through a copy of this model in train mode, under `no_grad()` and without labels. Then you evaluate it with `eval()` on the
# validation pictures. Which pass moves the accuracy most?
#
# ( ) None: no weight has moved
#     Eval mode normalizes with the running averages, and these have moved.
# ( ) One over the validation pictures
#     These are the pictures of the evaluation. But their averages are close to those of the training pictures.
# (x) One over black pictures
#     The averages now are those of black pictures, and eval mode normalizes every picture with them.
# ( ) One over the training pictures
#     The averages come from these pictures, moved by up to a pixel. They change little.

# %% better-run
train_pictures = program["images"][program["train"]].to(device)
print("one pass in train mode over   accuracy with eval()   difference")
passed = {}
for name, shown in {
    "nothing": [], "black pictures": torch.zeros_like(train_pictures),
    "validation pictures": pictures, "training pictures": train_pictures,
}.items():  # fmt: skip
    model = copy.deepcopy(trained)
    if len(shown):
        answers(model, shown)
    passed[name] = accuracy(answers(model.eval(), pictures))
    moved = round((passed[name] - passed["nothing"]) * len(digits))
    print(f"{name:27} {passed[name]:22.3f}   {moved:+d} of {len(digits)} pictures")
which_pass.reveal(f"black pictures, {passed['black pictures']:.3f} instead of {passed['nothing']:.3f}")

# %% [proof] better-proof
moves = {name: round((value - passed["nothing"]) * held) for name, value in passed.items()}
black_count, black_cost = len(train_pictures), -moves["black pictures"]
leaked_plus, train_plus = moves["validation pictures"], moves["training pictures"]
assert black_cost > 30 and max(abs(leaked_plus), abs(train_plus)) < black_cost / 3

# %% [folded] better-read
# After the run: the pass trained the averages
#
# One pass over {1150 = black_count} black pictures, as from a covered camera, costs {110 = black_cost} of {287 = held} pictures. No weight has moved. So the model **is** touched: the pictures of
# an evaluation in train mode decide how it normalizes all later ones. A checkpoint saves these averages, too.
#
# A pass over the validation pictures gives {2 = leaked_plus} pictures of {287 = held} more, and one over the training pictures {2 = train_plus}. These are too few to count. A higher number does
# not say that all is well.

# %% [markdown] evaluate-text
# ## An evaluation that leaves no trace
#
# Many scripts call `eval()` before and `train()` after. But `train()` sets *every* layer to train mode, also a BatchNorm that was in eval mode on
# purpose. Put back what you found.
#
# **Write it:** the share of samples that are right. The last batch may be shorter. Modes, buffers and gradients stay as they are.


# %% [task] evaluate
def evaluate(model, loader):
    """Accuracy in eval mode over all samples of (inputs, targets) batches; the model is left as it was found."""
    ...  # your code


# %% try-evaluate
evaluate = lab.try_out("09/evaluate", evaluate)


# %% [solution] evaluate
def evaluate(model, loader):
    """Accuracy in eval mode over all samples of (inputs, targets) batches; the model is left as it was found."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for inputs, targets in loader:
            correct += (model(inputs).argmax(-1) == targets).sum().item()
            total += len(targets)
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
        shown = f"{number:.3f}" if number == number else gave
        yield (
            abs(number - wanted) < 1e-6,
            f"{what}: 18 of 22 samples in batches of 10, 10 and 2 are {wanted:.3f}, yours says {shown}",
            "Count right samples and all samples. The mean of batch accuracies gives a short batch too much weight.",
        )
        graph = any(RECORDED)
        yield not graph, f"    autograd records the evaluation: False, yours {graph}", "eval() does not stop autograd."
        now = [one.training for one in model.modules()]
        yield (
            now == modes,
            f"    modes as found: True, yours {now == modes}",
            "model.training is one flag of many. Keep the flag of each module, and put each of them back.",
        )
        kept = all(torch.equal(a, b) for a, b in zip(before.values(), model.state_dict().values(), strict=True))
        yield (
            kept,
            f"    weights and buffers as found: True, yours {kept}",
            "BatchNorm in train mode writes its buffers.",
        )
        grads = all(one.grad is not None and bool((one.grad == 1).all()) for one in model.parameters())
        yield (
            grads,
            f"    gradients as found: True, yours {grads}",
            "The next step may still need them: no zero_grad() here.",
        )


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
# your function on the trained model; the last line compares modes, weights and buffers before and after
def batches(pictures, digits):
    return [(normalize(x), y) for x, y in zip(pictures.split(32), digits.split(32), strict=True)]


train_digits = program["labels"][program["train"]].to(device)
kept, modes = copy.deepcopy(trained.state_dict()), in_train_mode(trained)
for name, data in (("validation", batches(pictures, digits)), ("training", batches(train_pictures, train_digits))):
    print(f"{name:10} {evaluate(trained, data):.3f}, once more {evaluate(trained, data):.3f}")
same = all(torch.equal(tensor, kept[name]) for name, tensor in trained.state_dict().items())
print("modes, weights and buffers as found:", same and in_train_mode(trained) == modes)

# %% [proof] evaluate-proof
assert same and in_train_mode(trained) == modes == ["norm1", "norm2", "dropout"]
valid, bare = (evaluate(trained, batches(*data)) for data in ((pictures, digits), (train_pictures, train_digits)))
assert abs(valid - well_accuracy) * held < 3.5

# %% [check] ends_in_train
# A colleague's evaluation always ends in `model.train()`. In which of these programs does this line change the training?
#
# ( ) One that evaluates under `no_grad()` in each epoch
#     the graph and the mode are independent. After the evaluation the model trains on in train mode, as it should.
# ( ) One that calls `model.train()` at the top of each epoch
#     then the line comes a moment earlier, and changes nothing.
# (x) One that fine-tunes with its BatchNorm in eval mode
#     yes. After the first evaluation this BatchNorm is in train mode, and its pretrained averages begin to move.
# ( ) One that has neither dropout nor BatchNorm in its model
#     no layer of it reads the flag.

# %% [markdown] play-text
# ## Play
#
# The trained weights, evaluated eight times without `eval()`. Move the sliders and press **Run**. Begin with a guess: with which
# setting does asking twice find nothing, and which one would a phone have?

# %% play


def without_eval(dropout, pictures_in_a_batch):
    """Evaluate the trained weights in train mode, with this dropout and this size of batches."""
    model = copy.deepcopy(trained)
    model.dropout.p = dropout
    found = [accuracy(answers(model, pictures, int(pictures_in_a_batch))) for _ in range(8)]
    print(f"dropout {dropout:.2f}, {pictures_in_a_batch} in a batch: {min(found):.3f} to {max(found):.3f}")
    return evaluation_spread.picture(
        {"train mode": found, "eval mode": [accuracy(answers(model.eval(), pictures))] * 8}
    )


play = lab.play(without_eval, dropout=(0.0, 0.8, 0.4), pictures_in_a_batch=(1, 256, 32))

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"I added a few lines that look at the accuracy now and then. Since then the training loss falls faster than ever: {0.13 = turn_loss} at the
# end, where it used to be {0.17 = turn_well_loss}. So the model learns more, and validation should follow. It moved by {a few pictures of 287 = turn_few}: {96.2 % = turn_accuracy}, where it was {96.5 % = turn_well}."*
#
# Say **what** is wrong, in which **line**, and which **test** tells it from its look-alike. Three hints are below; run their cell
# in any case, it opens none by itself. The clock starts when the run is over. You have six minutes. It interrupts nothing.

# %% turn
second = lab.case("09/second")
turn_view = lab.live(second, explain=False, show_twin=False)
turn_run = turn_view.result
clock = lab.timer(6)

# %% [proof] turn-proof
turn_loss, turn_accuracy = turn_run.trace.loss[-20:].mean(), turn_run.trace.metrics["accuracy"]

# %% [measured] twin-of-the-transfer
turn_twin = second.healthy().run().trace
turn_well_loss, turn_well = turn_twin.loss[-20:].mean(), turn_twin.metrics["accuracy"]
turn_few = abs(turn_accuracy - turn_well) * held < 5.5
assert turn_loss < turn_well_loss - 0.02 and turn_few

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   lab.lines(second)                            the program with its line numbers
#   stopped = paused_at(second, 1)              stopped.objects are its variables; which steps are worth a look?
#   stopped.stop()                              ends that run
#   lab.look("loss_curve", turn_run)            a view; which one has the number that you want?

# %% turn-form
form = lab.diagnose(second, hints=hints)

# %% turn-answer
from bugzoo.grading.case import judged

if form.handed_in:
    clock.stop()
    print(judged(second, form.diagnosis.record()))
    print(second.diff())
    lab.look("modes", turn_run)
else:
    print("Hand in the form first, then run this cell: it grades your diagnosis and shows the answer.")

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
    stopped = paused_at(second, step)
    asked_at[step] = in_train_mode(stopped.objects["model"])
    stopped.stop()
from_21 = asked_at == {20: ["dropout"], 21: []}
assert from_21, asked_at

# %% [folded] turn-read
# After you have handed in: a mode that was not put back
#
# The look at step 20 sets eval mode, and no line sets train mode again. {From step 21 on = from_21} dropout is off in training. The view `modes` shows
# that {91 % = in_eval} of all training passes ran in eval mode. The loss is lower because no units are dropped. One look at step 1 shows nothing: the mode
# changes later.
#
# Your `evaluate` in place of these lines cannot do this: it puts back what it found.

# %% [check] recap_check
# A checkpoint with BatchNorm gets 94 of 100 right in validation. In the service, which sends one picture at a time, it gets 80. What do you
# test first?
#
# (x) Whether one picture gets the same logits alone and in a large batch
#     yes. In eval mode it does, up to rounding. If not, ask which layers are in train mode.
# ( ) Whether the service's pictures are harder than those of validation
#     they may be. But that needs labeled pictures from the service, and the other test takes seconds.
# ( ) Whether larger batches in the service bring the accuracy back up
#     they would here, and hide the reason. An answer must not depend on other requests.

# %% [markdown] recap
# ## What to take with you
#
# 1. **Pass a sample twice, then alone.** The first test finds dropout, the second one BatchNorm in train mode. *Fails when* a seed is set
#    before each pass: then the masks are the same.
# 2. **Use both `eval()` and `no_grad()`.** One sets the layers, the other stops the graph. *Fails when* the model calls `F.dropout`,
#    which by default ignores the mode.
# 3. **Put back the modes that you found**, module by module. *Fails when* the evaluation raises before it gets there: use
#    `try` and `finally`.
# 4. **Compare the state dict before and after.** *Fails when* a layer keeps state outside its parameters and buffers.
#
# **Next:** are the numbers in {exercise = 25} worth anything? In
# {exercise = 26} one review gets another score each time. In
# {exercise = 27} a validation loss got worse, and not everything that looks odd does harm.
#
# The same views work on your own script, without changing it: `bugzoo checkup train.py`. It also counts evaluations that ran in train
# mode, and training passes that ran in eval mode.

# %% [measured] gap-taken-apart
epoch = len(program["train_loader"])
last_epoch = paused_at(incident.healthy(), len(trace.loss) - epoch)
live, logged = last_epoch.objects, []
augment = live["augment"]
handle = live["model"].register_forward_hook(
    lambda layer, inputs, output: logged.append(accuracy(output, live["targets"]))
)
last_epoch.advance(epoch)
handle.remove()
last_epoch.stop()
as_logged = float(np.mean(logged))


def in_training(model):
    """Accuracy over the training pictures, augmented and in the model's present mode."""
    torch.manual_seed(1)
    parts = zip(train_pictures.split(32), train_digits.split(32), strict=True)
    with torch.no_grad():
        return float(np.mean([accuracy(model(normalize(augment(part))), targets) for part, targets in parts]))


no_drop, end_of_epoch = in_training(copy.deepcopy(trained).eval()), in_training(copy.deepcopy(trained))
ninety, just_above, no_better = 0.88 < no_drop < 0.92, valid < bare < valid + 0.02, end_of_epoch < as_logged + 0.02
assert as_logged < no_drop - 0.03 and no_drop < bare - 0.01 and ninety and just_above and no_better

# %% [folded] appendix
# Appendix, for the curious: why validation can score above training
#
# People often say: training accuracy is always the higher one. In the last epoch of the healthy run, training has {82 % = as_logged} in the log, and
# validation gets {94 % = valid}. They were scored differently: training with dropout on, and on pictures that augmentation had moved.
#
# Without dropout, training gets {about 90 % = ninety}. Without augmentation too, it is {just above validation = just_above}, as your `evaluate` has shown. The log is also a mean over
# moving weights. That does not explain it: scored in the same way, the weights at the end are {no better = no_better} than the log's mean.
#
# A generalization gap compares *data*: hold mode and augmentation fixed.
