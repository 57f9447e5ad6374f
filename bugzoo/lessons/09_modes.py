"""Lesson 09: one model that is two functions, and a switch that nobody sees."""

# %% [case] incident
# digits_cnn modes/eval_mode_missing

# %% [case] looked
# digits_cnn modes/train_mode_not_restored?every=20

# %% [case] second
# sentiment_lstm modes/dropout_in_functional_form

# %% [markdown] title
# # 09 · Modes
#
# A network with dropout or batch normalisation is two functions with the same weights, and a switch decides which of the two you
# get. In this lesson you find out in which position it stands, layer by layer, what each layer does in the wrong one, and
# what it costs; you write the switch that can be trusted, mend a checkpoint without training it, and take apart a gap
# that worries people.
#
# You need about {55 = minutes} minutes, and to know what dropout and batch normalisation are for. After *Ten evaluations* is a good place
# for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import bugzoo
from bugzoo import lab

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("09")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Thursday, 21:05.* "I evaluate the same weights on the same {287 = pictures_held} pictures, and each time another number comes out. The log of
# > last week says {94 % = acc_healthy}; I never see {90 % = never_more}. My colleague says: evaluate ten times and report the mean, with an error bar.
# > Submission is tomorrow."
#
# A number that changes although nothing changed is a gift: something random is at work where nothing should be. You do not need
# to understand the model yet. You need to find what still rolls dice.

# %% [predict] guess
# A healthy twin is trained with the same seed and the same batches. At which step will the two training curves part?
#
# ( ) At the first: something is wrong with the model
#     Then the weights would differ. They are the same weights, to the last bit.
# ( ) Late: small differences add up
#     There are none that could add up.
# (x) At none
#     The training is innocent. Whatever it is happens afterwards, when the model is asked.

# %% live
incident = lab.case("09/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("all losses of the training equal the twin's, to the last bit:", np.array_equal(trace.loss, healthy.loss))
print(f"validation: {trace.metrics['accuracy']:.3f}, twin {healthy.metrics['accuracy']:.3f}")

stand = lab.LiveView(incident, pause_at=len(trace.loss), show_twin=False).start()
stand.wait_pause()  # once more, and stopped in front of its evaluation
things = stand.objects  # the script's own names
model, normalise = copy.deepcopy(things["model"]), things["normalise"]
pictures, digits = things["validation_loader"].dataset.tensors


def logits_of(model, pictures, rows=32):
    """The model's answers, in whatever mode it is, `rows` pictures at a time."""
    with torch.no_grad():
        return torch.cat([model(normalise(part)) for part in pictures.split(rows)])


def score(logits, digits=digits):
    return (logits.argmax(-1) == digits).sum().item() / len(digits), F.cross_entropy(logits, digits).item()


torch.manual_seed(1)
five = [score(logits_of(copy.deepcopy(model), pictures))[0] for _ in range(5)]
print("the same weights, evaluated five times:", [round(accuracy, 3) for accuracy in five])
guess.reveal()
stand.stop()

# %% [proof] numbers-proof
acc_broken, acc_healthy = trace.metrics["accuracy"], healthy.metrics["accuracy"]
loss_healthy = healthy.metrics["loss"]
assert np.array_equal(trace.loss, healthy.loss) and len(set(five)) > 1 and max(five) < acc_healthy - 0.03
pictures_held = len(digits)
torch.manual_seed(2)
twenty = [score(logits_of(copy.deepcopy(model), pictures))[0] for _ in range(20)]
never_more = max(*twenty, *five, acc_broken) < 0.9

# %% [markdown] modes-text
# ## In which position does the switch stand?
#
# Each module has an attribute `training`, `True` or `False`. `model.train()` and `model.eval()` set it in the module and in all that it contains;
# nothing else happens. Most layers never look at it. Two kinds do:
#
# | layer | `training` is `True` | `training` is `False` |
# |---|---|---|
# | `nn.Dropout(p)` | sets a share p to 0, at random, and scales up the rest | passes everything on |
# | `nn.BatchNorm2d` | normalises with the numbers of *this batch*, and updates its averages | normalises with the averages |
#
# What counts is the position *while the layer runs*, not what the code around it seems to say.
#
# **Write it:** the names of all layers without children that run while `call()` happens and are in training mode as they run, in the order in
# which they run, each once. `model.named_modules()` gives names and modules; a hook is called as `hook(layer, inputs, output)`, and
# `handle.remove()` takes it off.


# %% [task] in_training
def in_training(model, call):
    """Names of the layers without children that run in training mode while call() happens, in order, each once."""
    ...  # your code


# %% try-modes
in_training = lab.try_out("09/in_training", in_training)


# %% [solution] in_training
def in_training(model, call):
    """Names of the layers without children that run in training mode while call() happens, in order, each once."""
    noted, handles = [], []
    for name, layer in model.named_modules():
        if any(layer.children()):
            continue

        def hook(layer, inputs, output, name=name):
            if layer.training and name not in noted:
                noted.append(name)

        handles.append(layer.register_forward_hook(hook))
    call()
    for handle in handles:
        handle.remove()
    return noted


# %% [judge] in_training
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.spare = nn.Linear(2, 2)  # never called
        self.body = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Dropout(0.5))
        self.first = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.body(self.first(x))


def judge(answer):
    def tried(prepare, during, wanted, what):
        model = Net()
        prepare(model)

        def call():
            during(model)
            model(torch.randn(4, 2))
            model(torch.randn(4, 2))
            model.eval()

        gave = answer(model, call)
        gave = gave if gave is None else list(gave)
        left = sum(len(one._forward_hooks) + len(one._forward_pre_hooks) for one in model.modules())
        return gave == wanted and not left, f"{what}: {wanted}, yours says {gave}; hooks left: {left}"

    nothing = lambda model: None  # noqa: E731
    everything = ["first", "body.0", "body.1", "body.2"]
    yield tried(nothing, nothing, everything, "all in training mode")
    yield tried(lambda m: m.eval(), nothing, [], "all in evaluation mode")
    yield tried(lambda m: m.first.eval(), nothing, everything[1:], "the normalisation is frozen")
    yield tried(
        lambda m: m.eval(), lambda m: m.body[2].train(), ["body.2"], "one dropout is switched on by the call itself"
    )


def by_pre_hooks(model, call):
    noted = {}
    leaves = [(name, layer) for name, layer in model.named_modules() if not list(layer.children())]
    handles = [
        layer.register_forward_pre_hook(lambda own, inputs, name=name: noted.setdefault(name) if own.training else None)
        for name, layer in leaves
    ]
    call()
    [handle.remove() for handle in handles]
    return list(noted)


def read_before(model, call):
    found = [name for name, layer in model.named_modules() if layer.training and not list(layer.children())]
    call()
    return found


def asked_of_the_model(model, call):
    names = [name for name, layer in model.named_modules() if not list(layer.children())] if model.training else []
    call()
    return names


def hooks_stay(model, call):
    noted = []
    for name, layer in model.named_modules():
        if not list(layer.children()):
            layer.register_forward_hook(
                lambda own, i, o, name=name: noted.append(name) if own.training and name not in noted else None
            )
    call()
    return noted


RIGHT = {"before each layer": by_pre_hooks}
LAZY = {
    "read before the call": read_before,
    "the model's own flag": asked_of_the_model,
    "hooks stay": hooks_stay,
    "none": lambda model, call: [],
}

# %% modes-run
twin = copy.deepcopy(model)
twin.eval()
for name, one in (("incident", copy.deepcopy(model)), ("after model.eval()", twin)):
    print(f"{name:20}", in_training(one, lambda one=one: logits_of(one, pictures)))
print("after model.eval(), evaluated twice:", [score(logits_of(twin, pictures))[0] for _ in range(2)])

# %% [proof] modes-proof
assert in_training(copy.deepcopy(model), lambda: None) == []
assert score(logits_of(twin, pictures))[0] == acc_healthy

# %% [markdown] instrument-text
# The instrument that does this over a whole run, and what was done to the healthy program:

# %% instrument
from bugzoo.diagnostics import mode_watch

print(mode_watch.judge(mode_watch.measure(view.result)).message)
print(incident.diff())

# %% [proof] instrument-proof
assert mode_watch.judge(mode_watch.measure(view.result)).suspects[0].cause == "modes/eval_mode_missing"

# %% [markdown] blame-text
# ## Which layer is to blame?
#
# {Six points = six_points} are missing. The model has one dropout and two batch normalisations, and all three stood in the wrong position. The switch can be
# set for each layer, so try the four combinations.

# %% [predict] blame
# Evaluation, mixed batches of 32. Which layer in training mode costs the points?
#
# ( ) Batch normalisation: it normalises with the wrong numbers
#     So it is told everywhere, and here it is the other way round: {94.4 % = acc_bn}, more than in evaluation mode.
# (x) Dropout alone
#     It is the one that rolls dice, and the one that costs. Batch normalisation even *gains* a little, and that is worth a suspicion.
# ( ) Both, about half and half
#     One costs everything, and the other gives a little back.


# %% blame-run
def with_modes(dropout, norm):
    """A copy of the trained model in evaluation mode, with these layers in training mode."""
    made = copy.deepcopy(model).eval()
    for layer in made.modules():
        if isinstance(layer, nn.Dropout):
            layer.train(dropout)
        if isinstance(layer, nn.BatchNorm2d):
            layer.train(norm)
    return made


print("in training mode       accuracy   loss")
table = {}
for name, switches in {
    "nothing": (False, False), "dropout": (True, False), "BatchNorm": (False, True), "both": (True, True)
}.items():  # fmt: skip
    torch.manual_seed(0)
    table[name] = score(logits_of(with_modes(*switches), pictures))
    print(f"{name:20} {table[name][0]:10.3f} {table[name][1]:6.3f}")
blame.reveal()

# %% [proof] blame-proof
acc_bn, acc_drop = table["BatchNorm"][0], table["dropout"][0]
loss_bn = table["BatchNorm"][1]
six_points = 5 < 100 * (acc_healthy - acc_broken) < 7
assert (
    table["nothing"][0] == acc_healthy
    and acc_bn > acc_healthy
    and loss_bn < loss_healthy
    and acc_drop < acc_healthy - 0.05
)

# %% [folded] blame-read
# After the run: a layer that gains by being wrong
#
# Dropout costs everything: {83 % = acc_drop}. BatchNorm in training mode gives {94.4 % = acc_bn} where evaluation mode gives {93.7 % = acc_healthy}, and the loss is lower too,
# {0.36 = loss_bn} against {0.39 = loss_healthy}. It normalises the validation pictures with *their own* mean and variance; the averages that it kept are
# those of the training pictures, which were moved about, and the training was short. It adapts to the exam while it sits it. That is
# no gift: the answer for a picture now depends on the pictures beside it. Does that matter?

# %% [predict] neighbours
# BatchNorm alone in training mode. The validation pictures are the same, but sorted by digit, so that a batch of 32 holds one or two kinds. The accuracy?
#
# ( ) The same {94.4 % = acc_bn}: they are the same pictures
#     They are, and no picture is looked at by itself any more.
# (x) About {85 % = acc_sorted}
#     A batch of nothing but threes has the mean of threes: what makes a three is subtracted as if it were usual.
# ( ) About {10 % = tenth}: guessing
#     A batch of one digit is still not noise. But look what becomes of smaller batches.

# %% neighbours-run
by_digit = digits.argsort()
found = {}
print("rows at once    mixed   sorted by digit")
for rows in (256, 32, 8, 2, 1):
    mixed = score(logits_of(with_modes(False, True), pictures, rows))[0]
    ordered = score(logits_of(with_modes(False, True), pictures[by_digit], rows), digits[by_digit])[0]
    found[rows] = mixed, ordered
    print(f"{rows:12} {mixed:8.3f} {ordered:17.3f}")
neighbours.reveal(f"{found[32][1]:.3f}")

# %% [proof] neighbours-proof
acc_sorted, acc_single, acc_eight = found[32][1], found[1][0], found[8][1]
tenth = 0.1
assert found[1][0] == found[1][1] and found[256][1] > 0.93

# %% [folded] neighbours-read
# After the run: it costs nothing where you test, and everything where you use it
#
# Mixed batches of 256, as in a benchmark: nothing to see. Sorted, eight at a time: {76 % = acc_eight}. One picture at a time, as a phone would ask:
# {80 % = acc_single}. This is the classic *"it worked in validation and fails in production"*. A user of a segmentation network
# [met it from the other side](https://github.com/wolny/pytorch-3dunet/issues/53): validation without `eval()`, batches of one.

# %% [markdown] leak-text
# ## Does an evaluation leave the model alone?
#
# The evaluation ran under `torch.no_grad()`. So at least it left the model alone?

# %% [predict] leak
# Ten evaluations in training mode under no_grad, then model.eval(), then one proper evaluation. What does it say?
#
# ( ) Exactly {93.7 % = acc_healthy}: no_grad keeps the model from changing
#     It keeps autograd from recording. A BatchNorm in training mode updates its averages all the same.
# (x) Something else, and here something better
#     The averages are now those of the validation pictures. No weight was trained, and the exam has leaked into the model.
# ( ) Much less: the averages are ruined
#     They were taken from real pictures. Ruined they are by other ones, as the second line shows.


# %% leak-run
def after(images, times):
    """A copy of the model, to which these pictures were shown in training mode; its score in evaluation mode."""
    shown = copy.deepcopy(model).train()
    for _ in range(times):
        logits_of(shown, images)
    return shown.eval(), score(logits_of(shown, pictures))


leaked, leaked_score = after(pictures, 10)
spoilt, spoilt_score = after(torch.zeros_like(pictures), 5)
same_weights = all(torch.equal(a, b) for a, b in zip(leaked.parameters(), model.parameters(), strict=True))
print("all weights are what they were:", same_weights)
print("never evaluated in training mode  accuracy {:.3f}   loss {:.2f}".format(*score(logits_of(twin, pictures))))
print(f"ten times the validation pictures accuracy {leaked_score[0]:.3f}   loss {leaked_score[1]:.2f}")
print(f"five times black pictures         accuracy {spoilt_score[0]:.3f}   loss {spoilt_score[1]:.2f}")
leak.reveal(f"{leaked_score[0]:.3f}")

# %% [proof] leak-proof
acc_leaked, acc_spoilt = leaked_score[0], spoilt_score[0]
half_wrong = 0.4 < acc_spoilt < 0.6
assert same_weights and acc_leaked > acc_healthy and acc_spoilt < 0.85

# %% [folded] leak-read
# After the run: two switches, and they have nothing to do with each other
#
# `no_grad()` is about autograd: no graph, less memory. `eval()` is about the layers. Neither does the work of the other, and an evaluation needs
# both. Forget `no_grad`, and you lose memory. Forget `eval`, and you lose the model: a camera with its cap on, five times through the
# set, and {half of the answers are wrong = half_wrong}, although not one weight has moved. (The incident's own
# evaluation did the same to its model. This is why you took it from in front of that.)

# %% [markdown] ten-text
# ## Ten evaluations
#
# Back to the colleague: evaluate ten times, report mean and error bar. And a second piece of advice, from the forum: fix the
# seed, then the number stands still.

# %% [predict] ten
# What is the mean of ten evaluations in training mode?
#
# ( ) About {94 % = acc_healthy}: chance averages out
#     Chance does. But each of the ten is a *worse* model, and the mean of ten worse ones is worse.
# (x) About {85 % = acc_mean}, with a small error bar
#     Precise and wrong. A fixed seed would give one of the ten, again and again: reproducible and wrong.
# ( ) Below {80 % = eighty}: errors add up
#     A mean lies in the middle of what it is taken of.

# %% ten-run
torch.manual_seed(0)
passes = torch.stack([logits_of(with_modes(True, True), pictures) for _ in range(50)])
ten_accuracies = [score(one)[0] for one in passes[:10]]
print(f"mean of ten accuracies: {np.mean(ten_accuracies):.3f} ± {np.std(ten_accuracies) / 10**0.5:.3f}")
together = passes.softmax(-1).mean(0).log()
print("mean of the *answers* of 50 passes: accuracy {:.3f}, loss {:.3f}".format(*score(together)))
print(
    f"one pass in evaluation mode:        accuracy {healthy.metrics['accuracy']:.3f}, loss {healthy.metrics['loss']:.3f}"
)
ten.reveal(f"{np.mean(ten_accuracies):.3f}")

# %% [proof] ten-proof
acc_mean, eighty = float(np.mean(ten_accuracies)), 0.8
acc_together, loss_together = score(together)
assert abs(acc_together - acc_healthy) < 0.012 and loss_together > loss_healthy + 0.03

# %% [folded] ten-read
# After the run: average the answers, or better, do not roll
#
# The mean of ten *accuracies* is that of a crippled model. The mean of fifty *answers* is another thing: {93.4 % = acc_together}, nearly as good as one pass
# in evaluation mode. That is what evaluation mode was made for: one pass that stands for the mean over all dice. It is even the
# better one, {0.39 = loss_healthy} against {0.45 = loss_together} in loss, at a fiftieth of the price.

# %% [markdown] repair-text
# ## Mend it while it stands still
#
# The run again, up to its last step, just before the evaluation. One call on the live model.

# %% repair
last = len(trace.loss)
view = lab.LiveView(incident, pause_at=last, show_twin=False).start()
view.wait_pause()
view.objects["model"].eval()
view.resume()
mended = view.result.trace.metrics
print("mended: ", mended)
print("healthy:", healthy.metrics)
print("equal to the last bit:", mended == healthy.metrics)

# %% [proof] repair-proof
assert mended == healthy.metrics

# %% [markdown] switch-text
# ## A switch that can be trusted
#
# `eval()` before, `train()` behind: so it stands in every tutorial. But `model.train()` does not put things *back*. It switches everything on, also a batch
# normalisation that somebody had frozen on purpose, as is usual in fine-tuning. And if the evaluation raises, it is never reached.
#
# **Write it:** a context manager. Inside of `with evaluating(model):` all modules are in evaluation mode, and afterwards each is in the mode that it
# had before, whatever happens inside.


# %% [task] evaluating
def evaluating(model):
    """A context manager: all of the model in evaluation mode inside; afterwards each module as it was."""
    ...  # your code; contextlib.contextmanager makes one of a function with a `yield`


# %% try-switch
evaluating = lab.try_out("09/evaluating", evaluating)

# %% [solution] evaluating
from contextlib import contextmanager


@contextmanager
def evaluating(model):
    """All of the model in evaluation mode inside; afterwards each module as it was."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


# %% [judge] evaluating
from contextlib import contextmanager

from torch import nn


def judge(answer):
    def network(*frozen):
        model = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), nn.Dropout(0.5), nn.Linear(2, 2))
        for name in frozen:
            model.get_submodule(name).eval()
        return model

    def modes(model):
        return [name or "model" for name, module in model.named_modules() if module.training]

    for frozen, fails, what in (
        ((), False, "all in training mode"),
        (("0.1",), False, "a frozen BatchNorm"),
        (("0", "1"), False, "a frozen block"),
        (("",), False, "all in evaluation mode"),
        ((), True, "the evaluation raises"),
    ):
        model = network(*frozen)
        before = modes(model)
        inside, came = None, False
        try:
            with answer(model):
                inside = modes(model)
                if fails:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            came = True
        yield inside == [], f"{what}: inside, in training mode: [], yours has {inside}"
        yield modes(model) == before, f"    behind: {before}, yours has {modes(model)}"
        yield came == fails, f"    an error of the evaluation is passed on: {fails}, yours {came}"


class Evaluating:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.on = [module for module in self.model.modules() if module.training]
        self.model.eval()

    def __exit__(self, *error):
        for module in self.on:
            module.training = True


@contextmanager
def as_in_tutorials(model):
    model.eval()
    yield
    model.train()


@contextmanager
def the_model_s_flag(model):
    was = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was)


@contextmanager
def no_finally(model):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    yield
    for module, mode in modes:
        module.training = mode


@contextmanager
def in_order_of_train(model):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in reversed(modes):
            module.train(mode)  # the last one is the model, and it takes all others with it


RIGHT = {"a class": Evaluating}
LAZY = {
    "as in tutorials": as_in_tutorials, "the model's flag": the_model_s_flag, "nothing on errors": no_finally,
    "train(mode), model last": in_order_of_train,
}  # fmt: skip

# %% [markdown] looked-text
# ## The switch that was not put back
#
# The other half of the mistake: a look at the model after every 20th step, `model.eval()`, one line of accuracy, and no way back. From
# step 20 on it trains in evaluation mode: dropout passes everything, BatchNorm uses averages that it stopped to collect.

# %% [predict] stuck
# Five epochs of this. How does its validation loss compare with the healthy twin's {0.39 = loss_healthy}?
#
# ( ) Higher: without dropout it overfits
#     After five epochs nothing has been learnt by heart yet. Dropout slows down, and what it protects from comes later.
# ( ) About the same
#     It differs by nearly a half.
# (x) Lower: about {0.22 = loss_stuck}
#     A bug that wins. No restless curve, no bad number: by everything that one usually looks at this is the better run.

# %% stuck-run
looked = lab.case("09/looked")
rows = {}
for seed in (0, 1, 2):
    for name, faults in (("switch not put back", looked.faults), ("healthy", ())):
        run = bugzoo.Scenario("digits_cnn", faults, seed=seed).run()
        rows[seed, name] = run.trace.metrics
        print(
            f"seed {seed}   {name:20} accuracy {run.trace.metrics['accuracy']:.3f}   loss {run.trace.metrics['loss']:.3f}"
        )
stuck.reveal(f"{rows[0, 'switch not put back']['loss']:.3f}")

# %% [proof] stuck-proof
loss_stuck = rows[0, "switch not put back"]["loss"]
assert all(rows[seed, "switch not put back"]["loss"] < rows[seed, "healthy"]["loss"] - 0.05 for seed in (0, 1, 2))
lower_accuracy = sum(
    rows[seed, "switch not put back"]["accuracy"] < rows[seed, "healthy"]["accuracy"] for seed in (0, 1, 2)
)
long = {
    name: bugzoo.Scenario("digits_cnn", faults, settings={"epochs": 20}).run().trace.metrics
    for name, faults in (("stuck", looked.faults), ("well", ()))
}
long_stuck, long_well = long["stuck"]["loss"], long["well"]["loss"]

# %% [folded] stuck-read
# After the run: better is no proof of right
#
# A lower loss with all three seeds, and an accuracy that is no better in any of them, and lower in {2 = lower_accuracy}. With the program's own 20 epochs and this
# seed the healthy run is in front again, {0.08 = long_well} against {0.10 = long_stuck}. So whoever puts the missing `train()` back, in a short experiment, sees
# the loss get worse and takes it out again ([so it went](https://github.com/fartashf/vsepp/issues/4) in a well-known project). It is not the loss that decides whether dropout is on. You decide, and then it has to
# be on. (If the model is better without it: set `dropout = 0`, and say so.)

# %% [markdown] gap-text
# ## A gap that worries people
#
# Now the healthy run, and a worry of another student: *"My validation accuracy is {eleven points = eleven} above the training accuracy that I
# log. Validation cannot be easier than training, so there must be a leak."*

# %% [predict] gap
# Where does most of the gap come from?
#
# ( ) A leak: validation pictures are among the training pictures
#     There are none. And a leak brings validation *up to* the training accuracy, not above it.
# (x) From how the training accuracy is measured
#     With dropout on, on pictures that were moved about, with weights that were still moving. Take these away and it lies above validation.
# ( ) Chance: there are only {287 = pictures_held} validation pictures
#     One picture is a third of a point. Not eleven points, epoch after epoch.

# %% gap-run
view = lab.LiveView(incident.healthy(), pause_at=1, show_twin=False).start()
view.wait_pause()
own, logged = view.objects, []
X, Y = own["images"][own["train"]], own["labels"][own["train"]]


def log_accuracy(layer, inputs, output):
    if layer.training:
        logged.append((output.argmax(-1) == own["targets"]).float().mean().item())


def measured(pictures, digits, dropout=False, moved=False):
    """Accuracy of the weights as they are now, on a copy; the run's own dice are not touched."""
    now = copy.deepcopy(own["model"]).eval()
    now._forward_hooks.clear()
    now.dropout.train(dropout)
    with torch.random.fork_rng(), torch.no_grad():
        parts = [own["augment"](part) if moved else part for part in pictures.split(32)]
        answers = torch.cat([now(own["normalise"](part)) for part in parts])
    return (answers.argmax(-1) == digits).sum().item() / len(digits)


own["model"].register_forward_hook(log_accuracy)
rulers = {
    "training, as logged": [],
    "training, no dropout": [],
    "training, no dropout, not moved": [],
    "validation": [],
}
per_epoch = len(own["train_loader"])
for epoch in range(5):
    view.advance(per_epoch - (epoch == 0))
    for values, number in zip(rulers.values(), (
        np.mean(logged[-per_epoch:]), measured(X, Y, moved=True), measured(X, Y), measured(pictures, digits)
    ), strict=True):  # fmt: skip
        values.append(float(number))
for name, values in rulers.items():
    print(f"{name:34}", "  ".join(f"{value:.3f}" for value in values))
first, third = (rulers[name][-1] for name in ("training, as logged", "training, no dropout, not moved"))
gap.reveal(f"{first:.3f} as logged, {third:.3f} measured as validation is")
view.stop()

# %% gap-figure
from bugzoo.plots import rulers as rulers_plot

lab.picture(rulers_plot.picture(rulers))

# %% [proof] gap-proof
as_logged, no_drop, bare, valid = (values[-1] for values in rulers.values())
eleven = 10 <= 100 * (valid - as_logged) <= 13
assert bare > valid > no_drop > as_logged and valid == acc_healthy
assert all(a < d for a, d in zip(rulers["training, as logged"], rulers["validation"], strict=True))

# %% [folded] gap-read
# After the run: compare what was measured alike
#
# As logged: {82 % = as_logged}. The same weights without dropout, after the epoch: {88 % = no_drop}. On pictures that were not moved: {95 % = bare}. And validation {94 % = valid}, just
# below. Neither of the two numbers is wrong; they answer different questions. A generalisation gap is a difference between *data*, so hold
# everything else fixed: evaluate some training pictures exactly as you evaluate validation. And leave the healthy run alone.

# %% [markdown] recal-text
# ## Mend the checkpoint that was spoilt
#
# There is still the model that has seen black pictures in training mode. What it lost are two lists of averages. Collect
# them again.
#
# A BatchNorm keeps `running_mean` and `running_var`; `reset_running_stats()` clears them; with `momentum = None` it takes the plain
# average over all batches that it sees in training mode.
#
# **Write it:** collect the averages anew from a list of batches. Afterwards weights, momentum and every module's mode are what they were.


# %% [task] recalibrate
def recalibrate(model, batches):
    """Each BatchNorm's averages are the plain averages over `batches`; nothing else has changed. Returns the model."""
    ...  # your code


# %% try-recal
recalibrate = lab.try_out("09/recalibrate", recalibrate)


# %% [solution] recalibrate
def recalibrate(model, batches):
    """Each BatchNorm's averages are the plain averages over `batches`; nothing else has changed. Returns the model."""
    norms = [layer for layer in model.modules() if isinstance(layer, nn.modules.batchnorm._BatchNorm)]
    modes = {module: module.training for module in model.modules()}
    momenta = [layer.momentum for layer in norms]
    model.eval()
    for layer in norms:
        layer.train()
        layer.reset_running_stats()
        layer.momentum = None
    with torch.no_grad():
        for batch in batches:
            model(batch)
    for layer, momentum in zip(norms, momenta, strict=True):
        layer.momentum = momentum
    for module, mode in modes.items():
        module.training = mode
    return model


# %% [judge] recalibrate
import copy

import torch
from torch import nn


def judge(answer):
    torch.manual_seed(0)
    batches = [torch.randn(16, 3) * scale + shift for scale, shift in ((1.0, 0.0), (2.0, 1.0), (0.5, -2.0))]
    for training in (False, True):
        model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2)).train(training)
        model[0].running_mean.fill_(50.0)
        model[0].running_var.fill_(1e-3)
        begun = copy.deepcopy(model)
        gave = answer(model, batches)
        norm = model[0]
        mean = sum(batch.mean(0) for batch in batches) / 3
        var = sum(batch.var(0) for batch in batches) / 3
        what = f"a model in {'training' if training else 'evaluation'} mode"
        off = max(float((norm.running_mean - mean).abs().max()), float((norm.running_var - var).abs().max()))
        yield off < 1e-4, f"{what}: averages off by 0, yours by {off:.3g}"
        kept = all(torch.equal(a, b) for a, b in zip(begun.parameters(), model.parameters(), strict=True))
        yield kept, f"    weights as before: True, yours {kept}"
        modes = [module.training for module in model.modules()]
        yield modes == [training] * 3, f"    modes behind it: {[training] * 3}, yours {modes}"
        yield norm.momentum == 0.1, f"    momentum behind it: 0.1, yours {norm.momentum}"
        yield gave is model, f"    returns the model: True, yours {gave is model}"


def by_hand(model, batches):
    """With hooks: each layer's inputs are kept, and averaged at the end."""
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d)]
    modes, stats = [(module, module.training) for module in model.modules()], {layer: [] for layer in norms}
    copies = {layer: (layer.running_mean.clone(), layer.running_var.clone()) for layer in norms}
    model.eval()
    for layer in norms:
        layer.training = True

    def hook(layer, inputs):
        rows = inputs[0].detach().transpose(0, 1).flatten(1)
        stats[layer].append((rows.mean(1), rows.var(1)))

    handles = [layer.register_forward_pre_hook(hook) for layer in norms]
    with torch.no_grad():
        for batch in batches:
            model(batch)
    for handle in handles:
        handle.remove()
    for layer in norms:
        means, variances = zip(*stats[layer], strict=True)
        layer.running_mean.copy_(sum(means) / len(means))
        layer.running_var.copy_(sum(variances) / len(variances))
    for module, mode in modes:
        module.training = mode
    assert copies
    return model


def lazy(reset=True, average=True, back=True, only=None, momentum_back=True):
    def made(model, batches):
        modes = [(module, module.training) for module in model.modules()]
        model.train()
        for layer in model.modules():
            if isinstance(layer, nn.BatchNorm1d):
                if reset:
                    layer.reset_running_stats()
                if average:
                    layer.momentum = None
        with torch.no_grad():
            for batch in batches[:only]:
                model(batch)
        for layer in model.modules():
            if isinstance(layer, nn.BatchNorm1d) and momentum_back:
                layer.momentum = 0.1
        if back:
            for module, mode in modes:
                module.training = mode
        return model

    return made


RIGHT = {"by hand, with hooks": by_hand, "reset, average, back": lazy()}
LAZY = {
    "just shown": lazy(reset=False, average=False),
    "reset, but the usual momentum": lazy(average=False),
    "left in training mode": lazy(back=False),
    "the first batch only": lazy(only=1),
    "momentum stays None": lazy(momentum_back=False),
}

# %% [predict] averages
# The training pictures go through the spoilt model once, and only its averages change. Where does it end?
#
# ( ) It stays near {51 % = acc_spoilt}: it has to be trained again
#     No weight was ever touched.
# ( ) Half-way
#     There is nothing half about it: the averages are all that was broken.
# (x) Within a point of {94 % = acc_healthy}
#     A handful of means and variances was the whole damage. Remember it when a checkpoint "does not work on our machine".

# %% healed-run
torch.manual_seed(0)
batches = [normalise(part) for part in X.split(32)]
healed = recalibrate(copy.deepcopy(spoilt), batches)
print("spoilt:  accuracy {:.3f}, loss {:.2f}".format(*score(logits_of(spoilt, pictures))))
print("mended:  accuracy {:.3f}, loss {:.2f}".format(*score(logits_of(healed, pictures))))
print("healthy: accuracy {:.3f}, loss {:.2f}".format(*score(logits_of(twin, pictures))))
averages.reveal(f"{score(logits_of(healed, pictures))[0]:.3f}")

# %% [proof] healed-proof
acc_healed = score(logits_of(healed, pictures))[0]
assert abs(acc_healed - acc_healthy) < 0.0105

# %% [markdown] break-text
# ## Break it yourself
#
# The switch that is not put back, with sliders. `every` is the number of steps to the first look, `dropout` a setting of the program.
#
# - Is there a value of `dropout` at which the bug does nothing to the loss?
# - With `every` at 1 the averages are those of a single batch. How bad is that?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("digits_cnn", faults=("modes/train_mode_not_restored?every=20",)), settings=("seed", "dropout")
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The review model answers the same sentence differently each time. I know this one: eval() is
# missing! But it is there, and every layer says `training = False`. The accuracy is about what it was, so I nearly let it go."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("09/second")
run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                          the program; lines count from 1
#   own = run.trace.live.namespace; review_model = own["model"]   the trained model
#   in_training(review_model, lambda: ...)                        your own instrument

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
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "F.dropout(" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said

# %% [folded] turn-read
# After you have handed in: dice that no switch reaches
#
# `F.dropout` is a function. It belongs to no module, so `eval()` does not reach it, and your instrument, which asks modules, hears nothing. Its
# argument `training` is `True` by default. Either `nn.Dropout` as a layer, or `training=self.training` handed over.
#
# The test that finds it whatever the code looks like is the very first of this lesson: **ask twice**.

# %% [check] recap_check
# A checkpoint scores well on your validation loader and badly in the service, which sends one picture at a time. What do you try first?
#
# ( ) A larger batch in the service
#     it may help, and it would hide the reason: an answer must not depend on who asks at the same time.
# (x) One picture alone, and the same picture inside a batch: are its logits the same?
#     yes. In evaluation mode they are, up to rounding. If they differ, ask every layer in which mode it runs.
# ( ) More validation data
#     the number that you have is not imprecise. It answers another question.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 09` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="09")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Ask twice, and ask alone.** The same input has to get the same answer, whenever it is asked and whoever is beside it. *Fails when* the
#    dice are wanted, as in sampling; then fix them for the test.
# 2. **Ask each layer while it runs, not the code around it.** *Fails when* the dice are a function, which no mode reaches.
# 3. **Put a switch back to where it was, not to where you think it was.** *Fails when* somebody changes the modes inside on purpose.
# 4. **Compare numbers that were measured alike.** Dropout, augmentation and moving weights make a training accuracy low. *Fails when* the
#    gap stays although all that is equal: then look for a leak.
#
# **Next:** repair one yourself: [exercise 25, *two numbers*](../exercises/25_two_numbers.ipynb), then
# [exercise 26, *small card*](../exercises/26_small_card.ipynb). The result is judged by what your program does. The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
