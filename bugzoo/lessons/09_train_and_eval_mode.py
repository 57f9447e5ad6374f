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
import torch.nn.functional as F
from torch import nn

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
print("              last 20 training losses   validation loss   validation accuracy")
for name, one in (("incident", trace), ("healthy twin", healthy)):
    print(f"{name:12}   {one.loss[-20:].mean():22.3f}   {one.metrics['loss']:15.3f}   {one.metrics['accuracy']:19.3f}")
print("training losses that differ:", int((trace.loss != healthy.loss).sum()), "of", len(trace.loss))

# %% [proof] numbers-proof
import numpy as np

import bugzoo

length, ill_accuracy, ill_loss = len(trace.loss), trace.metrics["accuracy"], trace.metrics["loss"]
well_accuracy, well_loss = healthy.metrics["accuracy"], healthy.metrics["loss"]
more_dropout = bugzoo.Scenario(incident.program, incident.faults, {"dropout": 0.6}, device=device).run().trace
more_dropout = more_dropout.metrics["accuracy"]
no_difference = bool((trace.loss == healthy.loss).all())
assert no_difference and ill_loss > well_loss + 0.05 and more_dropout < ill_accuracy - 0.1

# %% [folded] numbers-read
# After the run: the training is innocent
#
# The losses of all {180 = length} steps are {the same to the last bit = no_difference}: in the plot the twin's line is exactly behind the incident's. So the weights are
# the same, too. (On a GPU, the last digits may differ.) Two equal models get different scores. So it is not overfitting: the
# fault is in the evaluation.

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
assert len(set(three)) == 1 and abs(three[0] - well_accuracy) < 1e-6
torch.manual_seed(1)
fifty = [accuracy(answers(copy.deepcopy(trained), pictures)) for _ in range(50)]
never_well = max(fifty) < well_accuracy - 0.03
assert max(fifty) - min(fifty) > 0.03 and never_well
mean_of_fifty = float(np.mean(fifty))

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
# each layer. The last column shows what varies, the first one what it costs.


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


print("in train mode    mean accuracy   mean loss   lowest to highest accuracy")
table = {}
for name, modes in {"nothing": (0, 0), "dropout": (1, 0), "BatchNorm": (0, 1), "both": (1, 1)}.items():
    model = in_modes(*map(bool, modes))
    logits = [answers(model, pictures) for _ in range(20)]
    found = [accuracy(one) for one in logits]
    loss = sum(F.cross_entropy(one, digits).item() for one in logits) / len(logits)
    table[name] = min(found), sum(found) / len(found), max(found), loss
    print(f"{name:14} {table[name][1]:14.3f} {loss:11.3f}   {min(found):.3f} to {max(found):.3f}")
spread.reveal(" and ".join(f"{name} {table[name][0]:.3f} to {table[name][2]:.3f}" for name in ("dropout", "BatchNorm")))

# %% [proof] spread-proof
norm_accuracy, norm_loss = table["BatchNorm"][1], table["BatchNorm"][3]
drop_low, drop_mean, drop_high = table["dropout"][:3]
nine_points = 8 < 100 * (well_accuracy - drop_mean) < 10
one_number = table["BatchNorm"][0] == table["BatchNorm"][2]
better_alone = norm_accuracy > well_accuracy and norm_loss < well_loss
assert nine_points and one_number and better_alone and drop_high - drop_low > 0.03

# %% [folded] spread-read
# After the run: two mechanisms, and asking twice sees one
#
# Dropout makes the whole spread, and it costs {nine points = nine_points}. BatchNorm in train mode gives {one number = one_number}, however often you ask.
# It is {better than eval mode's = better_alone}: {94.4 % = norm_accuracy}, with a loss of {0.36 = norm_loss} instead of {0.39 = well_loss}. Often told: batch statistics make validation
# noisy and worse. Measured here, with batches of 32: neither. So is BatchNorm in train mode harmless?

# %% [draw] rows
# Only BatchNorm is in train mode, and the pictures come sorted by digit. Draw the accuracy for batches of 1, 16 and 256 pictures.
#
# pictures in a batch: 1, 16, 256, log
# accuracy: 0.5 to 1


# %% rows-run
by_digit = digits.argsort()
sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]
found = {"sorted by digit": [], "in random order": []}
for size in sizes:
    found["sorted by digit"].append(
        accuracy(answers(in_modes(False, True), pictures[by_digit], size), digits[by_digit])
    )
    found["in random order"].append(accuracy(answers(in_modes(False, True), pictures, size)))
for name, values in found.items():
    print(f"{name:16}", "  ".join(f"{size}: {value:.3f}" for size, value in zip(sizes, values, strict=True)))
rows.reveal({name: (sizes, values) for name, values in found.items()})

# %% [proof] rows-proof
at = {name: dict(zip(sizes, values, strict=True)) for name, values in found.items()}
sorted_16, alone, mixed_16 = at["sorted by digit"][16], at["sorted by digit"][1], at["in random order"][16]
mixed_256 = at["in random order"][256]
alone_low = alone < well_accuracy - 0.1
assert sorted_16 < mixed_16 - 0.15 and abs(mixed_256 - norm_accuracy) < 0.004
eval_sorted = accuracy(answers(in_modes(False, False), pictures[by_digit], 16), digits[by_digit])
order_free = abs(eval_sorted - well_accuracy) < 1e-6

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
# Your function looks at one moment: here at the model as the evaluation finds it. The view `modes` looks at a whole run. It counts forward passes
# without gradients, and those of them in train mode. First the incident, then the healthy twin.

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
    "forward passes without gradients in train mode",
    "distance between eval and train mode, same batch (share)",
)
passes = looks["incident"]["forward passes without gradients"]
all_in_train = looks["incident"][row] == passes and looks["healthy twin"][row] == 0
as_far = abs(looks["incident"][far] - looks["healthy twin"][far]) < 0.05
assert as_far and all_in_train
assert looks["incident"]["distance of two passes in eval mode, same batch (share)"] == 0

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
# The incident is paused after its last step, before the evaluation. One call sets the model to eval mode. What will its validation
# accuracy be?
#
# ( ) Near the twin's, not equal to it
#     What would the difference be? Weights and running averages are the twin's, and eval mode draws no random numbers.
# (x) The twin's, to the last bit
#     The training was never touched. The fault is in one line before the evaluation.
# ( ) About {88 % = ill_accuracy}, as it was before
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
repaired.reveal(f"accuracy {mended['accuracy']:.3f}, the twin's {healthy.metrics['accuracy']:.3f}")

# %% [proof] repair-proof
assert mended == healthy.metrics and in_train_mode(trained) == ["norm1", "norm2", "dropout"]

# %% [check] which_test
# Another team evaluates one checkpoint twice. It gets 60 of 100 right, then 89. The model has `dropout=0.3`. Which test tells a missing
# `eval()` from validation data that change?
#
# ( ) Set a seed before each evaluation, and compare the two numbers
#     the seed fixes the masks of dropout, and the shuffling of a loader as well. Both causes disappear, and the number stays wrong.
# (x) Pass one fixed batch through the model twice, and compare the outputs
#     yes. The data cannot change now. If the outputs differ, the model draws random numbers.
# ( ) Evaluate ten times, and report the mean together with its error
#     the mean is precise and wrong. In this lesson's incident the mean of fifty is {0.855 = mean_of_fifty}, and eval mode gives {0.937 = well_accuracy}.

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
#     Autograd records what a backward pass would need. The accuracy is the same, to the last bit.
# ( ) The weights: they get its gradients
#     A gradient needs a call of `backward()`, and an evaluation has none.
# ( ) Nothing: eval mode records no graph
#     The mode is a flag of layers. Autograd does not read it.

# %% figure
from bugzoo.plots import evaluation_spread


def kept_bytes(model, x):
    """Bytes that a forward pass keeps for a backward pass, without the model's own tensors."""
    kept = {}

    def note(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        model(x)
    return sum(kept.values()) - sum(
        kept.get(one.untyped_storage().data_ptr(), 0) for one in model.state_dict().values()
    )


ways, sizes_kept = {}, {}
for mode in ("eval mode", "train mode"):
    for grad in ("no_grad()", "with a graph"):
        model = copy.deepcopy(trained).train(mode == "train mode")
        with torch.set_grad_enabled(grad == "with a graph"):
            sizes_kept[f"{mode}, {grad}"] = kept_bytes(model, batch)
            ways[f"{mode}, {grad}"] = [
                accuracy(torch.cat([model(normalize(part)) for part in pictures.split(32)])) for _ in range(20)
            ]
lab.picture(evaluation_spread.picture(ways, sizes_kept))
for name, values in ways.items():
    print(
        f"{name:24}  accuracy {min(values):.3f} to {max(values):.3f}   kept for a batch {sizes_kept[name] / 1e6:.2f} MB"
    )
forgot.reveal(f"{sizes_kept['eval mode, with a graph'] / 1e6:.2f} MB for a batch, instead of 0")

# %% [proof] figure-proof
kept_mb = sizes_kept["eval mode, with a graph"] / 1e6
kept_times = sizes_kept["eval mode, with a graph"] / (batch.numel() * 4)
assert len(set(ways["eval mode, no_grad()"] + ways["eval mode, with a graph"])) == 1
assert sizes_kept["eval mode, no_grad()"] == sizes_kept["train mode, no_grad()"] == 0
assert len(set(ways["train mode, no_grad()"])) > 3 < len(set(ways["train mode, with a graph"]))

# %% [folded] figure-read
# After the run: the dots show the mode, the bars the graph
#
# The two columns on the left are in eval mode: one number, with or without a graph. There is a bar wherever `no_grad()` is missing, in both modes. A
# batch keeps {0.55 MB = kept_mb}, {67 = kept_times} times its own size. A loop that collects loss tensors keeps the graphs of all its batches. You need both lines, for
# two different reasons.

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
# time. So that holds. Often told, too: only the number is wrong, and the model is not touched, as the evaluation runs under `no_grad()`.

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

# %% [predict] better
# You save this checkpoint after the evaluation in train mode. Later you load it, and evaluate it with `eval()`. The twin's checkpoint
# gets {0.937 = well_accuracy}. What does this one get?
#
# ( ) The same, as no weight has moved
#     Eval mode normalizes with the running averages, and these have moved.
# ( ) Less, as its averages are spoiled
#     They are averages over real pictures. See what other pictures do to them.
# (x) More, as its averages are newer
#     Here the averages had lagged behind weights that still moved fast. Any pass over real pictures brings them closer.

# %% better-run
train_pictures = program["images"][program["train"]].to(device)
test_pictures, test_digits = program["images"][1437:].to(device), program["labels"][1437:].to(device)
print("one pass in train mode over   validation accuracy and loss   accuracy on 360 other pictures")
passed = {}
for name, shown in {
    "nothing": pictures[:0], "validation pictures": pictures, "training pictures": train_pictures,
    "black pictures": torch.zeros_like(pictures),
}.items():  # fmt: skip
    model = copy.deepcopy(trained)
    if len(shown):
        answers(model, shown)
    logits = answers(model.eval(), pictures)
    other = accuracy(answers(model, test_pictures), test_digits)
    passed[name] = accuracy(logits), F.cross_entropy(logits, digits).item(), other
    print(f"{name:27}   {passed[name][0]:19.3f} {passed[name][1]:8.3f} {other:33.3f}")
better.reveal(f"{passed['validation pictures'][0]:.3f}")

# %% [proof] better-proof
leaked_accuracy, leaked_loss = passed["validation pictures"][:2]
black_accuracy = passed["black pictures"][0]
other_well, other_leaked = passed["nothing"][2], passed["validation pictures"][2]
train_does_it = passed["training pictures"][0] >= leaked_accuracy and passed["training pictures"][1] < leaked_loss
moved_too = copy.deepcopy(trained)
torch.manual_seed(3)
with torch.no_grad():
    for part in train_pictures.split(32):
        moved_too(normalize(program["augment"](part)))
# the pictures of the training itself, passed once more with the final weights, lower the loss as well
lagged = F.cross_entropy(answers(moved_too.eval(), pictures), digits).item() < well_loss - 0.015
assert lagged
fifteen_points = 14 < 100 * (well_accuracy - black_accuracy) < 16
assert leaked_accuracy > well_accuracy and other_leaked > other_well and train_does_it and fifteen_points


def saved_after(seed):
    """(loss of the incident's final model in eval mode, its twin's) with another seed."""
    ill = bugzoo.Scenario(incident.program, incident.faults, seed=seed, device=device).run()
    names, well = ill.trace.live.namespace, bugzoo.Scenario(incident.program, seed=seed, device=device).run()
    inputs, targets = names["validation_loader"].dataset.tensors
    with torch.no_grad():
        logits = names["model"].eval()(names["normalise"](inputs).to(device))
    return F.cross_entropy(logits, targets.to(device)).item(), well.trace.metrics["loss"]


seeds = [saved_after(seed) for seed in range(5)]
all_lower = all(ill < well for ill, well in seeds)
assert all_lower and len(seeds) == 5

# %% [folded] better-read
# After the run: the evaluation was a training of the averages
#
# One evaluation in train mode, and the checkpoint is another model: {0.944 = leaked_accuracy} instead of {0.937 = well_accuracy}. The loss is lower {with each of five seeds = all_lower}. Is
# this a leak? A pass over the training pictures {does as much = train_does_it}, and 360 pictures that the program never uses gain as well. In a training this
# short, the averages {lag behind the weights = lagged}.
#
# It is still a bug: the pictures of the evaluation decide what the model becomes. One pass over black pictures, as from a covered camera,
# costs {fifteen points = fifteen_points}, and no weight moves. So the model **is** touched, and a higher number does not say that all is well.

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

# %% [predict] gap
# A worried reader of the healthy run's log: in the last epoch the training accuracy is {82 % = as_logged}, and validation gets {94 % = valid}. Where do these eleven
# points come from?
#
# (x) From the scoring: training was scored otherwise
#     It was scored with dropout on, and on pictures that augmentation had moved. Validation has neither.
# ( ) From a leak: validation pictures were trained on
#     No validation picture is among the training pictures. And a leak lifts validation up to training, not above it.
# ( ) From the weights: early in the epoch they were worse
#     The log is a mean over moving weights, that is true. In this epoch it makes no difference to speak of.
# ( ) From chance: the validation set is a small one
#     One picture is a third of a point. Eleven points are more than thirty pictures.

# %% [markdown] gap-text
# ## Validation above training
#
# Often told: training accuracy is always the higher one. Your `evaluate` scores the training pictures as validation is scored. The
# last line of the output compares modes and state dict before and after your evaluations.

# %% gap-run
epoch = len(program["train_loader"])
run = paused_at(incident.healthy(), len(trace.loss) - epoch)
live, logged = run.objects, []
model, augment = live["model"], live["augment"]


def note_accuracy(layer, inputs, output):
    logged.append(accuracy(output, live["targets"]))


handle = model.register_forward_hook(note_accuracy)
run.advance(epoch)  # the last epoch
handle.remove()
torch.manual_seed(1)  # the augmentation draws random numbers
train_digits = program["labels"][program["train"]].to(device)
kept, modes = copy.deepcopy(model.state_dict()), in_train_mode(model)


def scored(pictures, digits, change=lambda part: part):
    parts = zip(pictures.split(32), digits.split(32), strict=True)
    return evaluate(model, [(normalize(change(part)), targets) for part, targets in parts])


scores = {
    "training, as the loop logs it": sum(logged) / len(logged),
    "training, without dropout": scored(train_pictures, train_digits, augment),
    "training, without dropout and augmentation": scored(train_pictures, train_digits),
    "validation": scored(pictures, digits),
}
for name, number in scores.items():
    print(f"{name:43} {number:.3f}")
same = all(torch.equal(one, kept[name]) for name, one in model.state_dict().items()) and in_train_mode(model) == modes
print("modes, weights and buffers as found:", same)
run.stop()
gap.reveal(f"{scores['training, without dropout and augmentation']:.3f} if scored as validation is")

# %% [proof] gap-proof
as_logged, no_drop, bare, valid = scores.values()
assert same and as_logged < no_drop < bare and valid < bare and abs(valid - well_accuracy) < 1e-6
eleven = 10.5 < 100 * (valid - as_logged) < 11.5
ninety, just_above = 0.88 < no_drop < 0.92, valid < bare < valid + 0.02
assert eleven and ninety and just_above
with torch.no_grad():
    torch.manual_seed(0)
    end = [
        accuracy(copy.deepcopy(trained)(normalize(augment(part))), targets)
        for part, targets in zip(train_pictures.split(32), train_digits.split(32), strict=True)
    ]
end_of_epoch = float(np.mean(end))
no_better = end_of_epoch < as_logged + 0.02
assert no_better and modes == ["norm1", "norm2", "dropout"]

# %% [folded] gap-read
# After the run: compare what was measured alike
#
# Without dropout the training accuracy is {about 90 % = ninety}. Without augmentation too, it is {just above validation = just_above}. The weights at the end of the epoch are {no better = no_better} than
# the log's mean, if they are scored in the same way. So nothing is wrong. A generalization gap compares *data*: hold mode and augmentation fixed.

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
# Another program, another complaint: *"I added a few lines that look at the accuracy now and then. Since then the training loss falls faster than ever: {0.13 = turn_loss} at the end,
# where it used to be {0.17 = turn_well_loss}. I expected a better model, but validation gets {96.2 % = turn_accuracy}; it used to get {96.5 % = turn_well}. Looking changes nothing, does it?"*
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
turn_twin = second.healthy().run().trace
turn_well_loss, turn_well = turn_twin.loss[-20:].mean(), turn_twin.metrics["accuracy"]
assert turn_loss < turn_well_loss - 0.02 and turn_accuracy <= turn_well

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
# The look at step 20 sets eval mode, and no line sets train mode again. {From step 21 on = from_21} dropout is off in training: {91 % = in_eval} of all training passes ran in eval mode. The loss is
# lower because no units are dropped, not because the model has learned more. One look at step 1 shows nothing: the mode changes later.
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
# **Next:** are the numbers in [exercise 25](../exercises/25_doubted_numbers.ipynb) worth anything? In
# [exercise 26](../exercises/26_never_the_same.ipynb) one review gets another score each time. In
# [exercise 27](../exercises/27_small_parts.ipynb) a validation loss got worse, and not everything that looks odd does harm.
#
# The same views work on your own script, without changing it: `bugzoo checkup train.py`. It also counts evaluations that ran in train
# mode, and training passes that ran in eval mode.
