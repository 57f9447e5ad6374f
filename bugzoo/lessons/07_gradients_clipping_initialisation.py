"""Lesson 07: a run that wakes up late, why no layer's gradient is the smallest, and what a limit on the gradient does to whom."""

# %% [case] incident
# mlp initialisation/weights_too_small

# %% [case] second
# checkpointed_mlp initialisation/saturating_stack

# %% [markdown] title
# # 07 · Gradients, clipping, initialisation
#
# A run that does nothing for a while, and then does. In this lesson you write a table of gradients, draw weights so that a signal
# gets through, bring a run back to life while it stands still, and write a clipping of your own. Three things that everybody
# says about gradients are measured, and two of them are not so.
#
# You need about {46 = minutes} minutes, and to know what a layer, a gradient and an optimiser are. After *Draw them again* is a good place for
# a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. The cells build on each other: after a restart of the kernel choose *Run* → *Run All Above
# Selected Cell*; what you said and what you wrote is still there.

# %% setup
import numpy as np
import torch

import bugzoo
from bugzoo import lab

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("07")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Wednesday, 22:50.* "The digits model does nothing at first. Its loss lies at what guessing costs, and I was about to stop it when it
# > began to fall. At the end it reads {75 % = accuracy_bad} of the digits, in the time in which it used to read {95 % = accuracy_good}. The gradient is fine, I
# > looked: its norm is {0.19 = norm_first} in the first step, half of what it was. So it cannot be a vanishing gradient."
#
# The looking was right, and the conclusion is not. Three linear layers, ReLU, Adam; as usual we do not read the code first.

# %% [predict] who
# A total gradient norm of {0.19 = norm_first}, and nothing moves. Where does this gradient sit, in the first step?
#
# ( ) In all layers, a little in each
#     Then all layers would begin to learn at once, only more slowly. Look at the table.
# ( ) In the first layer: it is the largest
#     It gets next to nothing, like all other weights.
# (x) Nearly all of it in one parameter that cannot tell one picture from another
#     The bias of the last layer. It learns how often each class comes, and that is all that anybody can learn here.

# %% live
incident = lab.case("07/incident")
view = lab.live(incident, explain=False)

# %% [markdown] table-text
# ## A table of gradients
#
# One number for all gradients hides who has them. `model.named_parameters()` gives the name and the parameter of each, and
# `parameter.grad` its gradient, which is None where no backward pass has come by.
#
# **Write it:** the length of each parameter's gradient.


# %% [task] gradient_table
def gradient_table(model):
    """Name -> length (the root of the sum of squares, a float) of its gradient; 0.0 for a parameter without one."""
    ...  # your code


# %% try-table
gradient_table = lab.try_out("07/gradient_table", gradient_table)


# %% [solution] gradient_table
def gradient_table(model):
    """Name -> length (the root of the sum of squares, a float) of its gradient; 0.0 for a parameter without one."""
    return {
        name: 0.0 if parameter.grad is None else parameter.grad.norm().item()
        for name, parameter in model.named_parameters()
    }


# %% [judge] gradient_table
import torch
from torch import nn


def network():
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 2))
    model[2].requires_grad_(False)
    model[1].bias.requires_grad_(False)
    model(torch.randn(5, 3)).square().sum().backward()
    return model


def judge(answer):
    model = network()
    right = {}
    for name, parameter in model.named_parameters():
        right[name] = 0.0 if parameter.grad is None else sum(x * x for x in parameter.grad.flatten().tolist()) ** 0.5
    gave = answer(model)
    gave = gave if isinstance(gave, dict) else {}
    yield list(gave) == list(right), f"the names: {list(right)}, yours {list(gave)}"
    for name, length in right.items():
        mine = float(gave.get(name, float("nan")))
        yield abs(mine - length) <= 1e-4 * max(1, length), f"{name}: {length:.4f}, yours says {mine:.4f}"


def by_root(model):
    made = {}
    for name, parameter in model.named_parameters():
        made[name] = 0.0
        if parameter.grad is not None:
            made[name] = (parameter.grad**2).sum().sqrt().item()
    return made


def of_weights(model):
    return {name: parameter.norm().item() for name, parameter in model.named_parameters()}


def left_out(model):
    return {name: p.grad.norm().item() for name, p in model.named_parameters() if p.grad is not None}


def largest(model):
    return {name: 0.0 if p.grad is None else p.grad.abs().max().item() for name, p in model.named_parameters()}


RIGHT = {"by its root": by_root}
LAZY = {
    "of the weights": of_weights,
    "some left out": left_out,
    "the largest number": largest,
    "nothing": lambda model: {},
}

# %% [predict] first_layer
# Vanishing gradients, says every book, vanish on their way down: the lower the layer, the smaller the gradient. What will the three
# weight matrices of the incident show in the first step?
#
# ( ) layer1 the least, then layer2, then the head
#     So it is where the slope of an activation is lost in each layer. With weights that are drawn too small it is another matter.
# (x) The same tiny length, in all three
#     The gradient of a weight is what comes from below times what comes from above. Lower layers have more of the one, higher layers
#     more of the other, and the product is the same.
# ( ) The head the least, then layer2, then layer1
#     The head gets the loss at first hand. But what comes to it from below is nearly nothing.

# %% table
paused = lab.LiveView(incident, pause_at=1, show_twin=False).start()
paused.wait_pause()
model = paused.objects["model"]
print("after step 1     gradient   weights")
for name, length in gradient_table(model).items():
    print(f"{name:14} {length:10.6f}   {dict(model.named_parameters())[name].std():.4f}")
total = np.sqrt(sum(length**2 for length in gradient_table(model).values()))
print(f"{'all of them':14} {total:10.6f}")
who.reveal(f"head.bias has {gradient_table(model)['head.bias']:.3f} of {total:.3f}")
first_layer.reveal()
paused.stop()

# %% [proof] table-proof
trace, healthy = view.result.trace, view.healthy.trace
accuracy_bad, accuracy_good = trace.metrics["accuracy"], healthy.metrics["accuracy"]
norm_first, norm_healthy = trace.grad_norm[0], healthy.grad_norm[0]
assert norm_first > 0.4 * norm_healthy
columns = {parameter.name: column for column, parameter in enumerate(trace.parameters)}
lengths = np.asarray(trace.param_grad_norm)[0]
head_bias = lengths[columns["head.bias"]]
weights_alone = [lengths[columns[name]] for name in ("layer1.weight", "layer2.weight", "head.weight")]
assert head_bias > 0.99 * norm_first and max(weights_alone) < 1e-4 and max(weights_alone) < 1.3 * min(weights_alone)
small_weight = weights_alone[0]
late, early = int((trace.loss < 2.2).argmax()) + 1, int((healthy.loss < 2.2).argmax()) + 1
assert late > 2 * early

# %% [folded] table-read
# After the run: one number hid it all
#
# Of {0.19 = norm_first}, {0.19 = head_bias} is the gradient of `head.bias`, ten numbers that are added to every picture's logits alike. The three weight
# matrices have {0.00006 = small_weight} each, a few thousandths of what is usual. So the loss can fall to what is known without looking at the pictures, and no
# further. It is at {2.2 = level} in step {37 = late}, where the healthy twin was in step {12 = early}.
#
# And no layer is the first to suffer: the three are equally badly off.

# %% [proof] level
level = 2.2

# %% [markdown] depth-text
# ## Twelve layers
#
# Three layers show little of it. The next cell sends the same random signal through twelve linear layers with ReLUs, and a random gradient back. The
# weights are drawn with a deviation of `sqrt(2 / inputs)`, which is He's rule, with half of it, and with twice as much.

# %% [predict] twelfth
# With half of He's deviation: the output of the twelfth layer spreads how far, compared with that of a level stack?
#
# ( ) Half as far
#     After one layer it does. Every layer halves once more.
# ( ) A twelfth
#     The halves do not add up, they multiply.
# (x) About a four-thousandth
#     Two to the power of 12 is 4096. Nothing of it looks wrong in any single layer.

# %% depth
from bugzoo.plots import depth

lab.picture(depth.picture({"half of He's": 0.5, "He's": 1.0, "twice He's": 2.0}))
(half, half_back), (level_out, level_back) = depth.measure(0.5), depth.measure(1.0)
print(f"twelfth layer: {level_out[-1]:.3f} with He's rule, {half[-1]:.6f} with half of it")
print("lengths of the gradients, layer 1 to 12, half of He's:", *(f"{length:.4f}" for length in half_back))
twelfth.reveal(f"{level_out[-1] / half[-1]:.0f} times less")

# %% [proof] depth-proof
assert abs(level_out[-1] / half[-1] - 4096) < 5
evenly = half_back.max() / half_back.min() < 2
thousands_less = 1500 < level_back[0] / half_back[0] < 2600

# %% [folded] depth-read
# After the run: read the right-hand picture twice
#
# On the way forward the signal shrinks from layer to layer, as everybody draws it. But the gradients of the weights lie on **level lines**: {within
# a factor of two = evenly} all twelve are alike, and all are {about two thousand times = thousands_less} smaller than they should be. Layer 1 gets a whole signal and a
# gradient that came through eleven layers; layer 12 a signal that came through eleven layers and a whole gradient. Eleven factors each.
#
# So "the first layer has the smallest gradient" is no test for weights that begin too small. What tells it is the spread of the
# *outputs*, layer by layer.

# %% instrument
from bugzoo.diagnostics import activation_stats, gradient_health

run = lab.LiveView(incident, show_twin=False).start().result
for instrument in (gradient_health, activation_stats):
    verdict = instrument.judge(instrument.measure(run))
    print(f"{verdict.instrument}: {verdict.message}")
print(incident.diff())

# %% [proof] instrument-proof
assert activation_stats.judge(activation_stats.measure(run)).fired
assert not gradient_health.judge(gradient_health.measure(run)).fired

# %% [markdown] draw-text
# ## Draw them again
#
# Behind a ReLU half of a signal is lost, in the mean of squares. A sum of `n` products of weights and inputs keeps the mean square of its inputs if
# the weights have a variance of `2 / n`. `n` is what comes into *one* unit, the **fan-in**: the columns of a linear layer, channels times kernel
# of a convolution.
#
# **Write it:** draw a layer's weights that way, in place, and set its bias, if it has one, to 0.


# %% [task] draw
def draw(layer):
    """Draw the weights of an nn.Linear or nn.Conv2d from N(0, 2 / fan-in), in place; its bias becomes 0."""
    ...  # your code


# %% try-draw
draw = lab.try_out("07/draw", draw)


# %% [solution] draw
def draw(layer):
    """Draw the weights of an nn.Linear or nn.Conv2d from N(0, 2 / fan-in), in place; its bias becomes 0."""
    fan_in = layer.weight[0].numel()  # numbers that come into one unit
    with torch.no_grad():
        layer.weight.normal_(0, (2 / fan_in) ** 0.5)
        if layer.bias is not None:
            layer.bias.zero_()
    return layer


# %% [judge] draw
import torch
from torch import nn


def judge(answer):
    for made, fan_in, what in (
        (nn.Linear(200, 50), 200, "Linear(200, 50)"),
        (nn.Linear(50, 400, bias=False), 50, "Linear(50, 400), no bias"),
        (nn.Conv2d(16, 64, 3), 144, "Conv2d(16, 64, 3)"),
    ):
        nn.init.constant_(made.weight, 0.5)
        before = made.weight
        answer(made)
        right, gave = (2 / fan_in) ** 0.5, made.weight.std().item()
        yield abs(gave / right - 1) < 0.06, f"{what}: deviation {right:.4f}, yours {gave:.4f}"
        mean = made.weight.mean().item()
        yield abs(mean) < 0.1 * right, f"{what}: mean about 0, yours {mean:.4f}"
        yield made.weight is before, f"{what}: the same parameter as before: True, yours {made.weight is before}"
        bias = 0.0 if made.bias is None else made.bias.abs().max().item()
        yield bias == 0, f"{what}: largest bias 0, yours {bias:.4f}"


def by_init(layer):
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def glorot(layer):
    nn.init.xavier_normal_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def fan_out(layer):
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def columns_only(layer):
    nn.init.normal_(layer.weight, std=(2 / layer.weight.shape[1]) ** 0.5)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def replaced(layer):
    layer.weight = nn.Parameter(torch.randn_like(layer.weight) * (2 / layer.weight[0].numel()) ** 0.5)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


RIGHT = {"by torch's own": by_init}
LAZY = {
    "Glorot's": glorot, "of what goes out": fan_out, "channels without the kernel": columns_only,
    "another parameter": replaced, "nothing": lambda layer: None,
}  # fmt: skip

# %% [markdown] alive-text
# ## Bring it back to life
#
# Now on the living run. It stands still after step 20, with its weights nearly as they were and an Adam that has twenty tiny
# gradients in its memory. We draw all three layers again, in place, and let it go on.

# %% [predict] alive
# {180 = steps_left} of its {216 = steps_all} steps and a bit are left. What will it read at the end?
#
# ( ) Less than before: the optimiser remembers gradients of another network
#     It does, for some steps: Adam's memory of the squares is short while a run is young.
# ( ) More than the {75 % = accuracy_bad} of the incident, less than the {95 % = accuracy_good} of its twin
#     It would be fair, with twenty steps lost. But it is not the twin's network that is drawn here.
# (x) More than its twin
#     The layers' own draw in PyTorch is smaller than He's: a deviation of {0.58 = torch_size} / sqrt(n) against {1.41 = he_size}. A start that is larger, and not too
#     large, gets going sooner. Twenty lost steps are nothing beside it.

# %% alive-run
view = lab.live(incident, pause_at=20, explain=False)
view.wait_pause()
torch.manual_seed(0)
for layer in view.objects["model"].children():
    draw(layer)
view.resume()
again = view.result.trace
print(
    f"accuracy {again.metrics['accuracy']:.3f}, of the incident {run.trace.metrics['accuracy']:.3f}, of its twin",
    end=" ",
)
print(f"{view.healthy.trace.metrics['accuracy']:.3f}")
alive.reveal(f"{again.metrics['accuracy']:.3f}")

# %% [proof] alive-proof
assert again.metrics["accuracy"] > accuracy_good
steps_all = len(again.loss)
steps_left = (176, 200)
torch_size, he_size = (1 / 3) ** 0.5, 2**0.5
assert abs(torch.nn.Linear(1000, 1000).weight.std().item() * 1000**0.5 - torch_size) < 0.01

# %% [predict] ten_times
# And the repair that is asked for first when nothing moves: ten times the learning rate, the weights left as they are?
#
# ( ) Nothing: ten times nothing is nothing
#     With SGD that would be so. Adam divides by the size of the gradient, so that its steps are as long as ever.
# (x) It reads more, and hides the fault: with another optimiser it is back
#     Better than before, behind the twin, and with SGD at a rate at which its twin learns, it does not even begin.
# ( ) It diverges
#     Not at this rate.

# %% ten-times-run
from bugzoo.running import run_here

ADAM, SGD = "torch.optim.Adam(model.parameters(), lr=learning_rate)", "torch.optim.SGD(model.parameters(), lr=0.5)"
faster = bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": 0.01}).run().trace
print(f"Adam, ten times the rate: {faster.metrics['accuracy']:.3f}")
for name, case in (("the incident", incident), ("its twin", incident.healthy())):
    with_sgd = run_here(case.source.replace(ADAM, SGD)).trace
    print(f"SGD, {name}: {with_sgd.metrics['accuracy']:.3f}, last loss {with_sgd.loss[-1]:.3f}")
    if case is incident:
        stuck = with_sgd.metrics["accuracy"]
ten_times.reveal(f"Adam {faster.metrics['accuracy']:.2f}, SGD {stuck:.2f}")

# %% [proof] ten-times-proof
assert accuracy_bad < faster.metrics["accuracy"] < accuracy_good and stuck < 0.2 and with_sgd.metrics["accuracy"] > 0.85

# %% [markdown] clip-text
# ## Clipping
#
# The opposite worry is a gradient that is too long: one bad batch, one step across the valley. **Clipping by norm** shortens the
# whole gradient, all parameters together, if its length is above a limit, and never makes it longer. It keeps the direction:
# every number is multiplied by the same factor.
#
# **Write it** without `clip_grad_norm_`. It returns the length that it found: that is the number to log.


# %% [task] clip
def clip(parameters, limit):
    """Shorten the gradient of all parameters together to `limit`, in place, where it is longer; returns its length before."""
    ...  # your code


# %% try-clip
clip = lab.try_out("07/clip", clip)


# %% [solution] clip
def clip(parameters, limit):
    """Shorten the gradient of all parameters together to `limit`, in place, where it is longer; returns its length before."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    length = sum(gradient.pow(2).sum() for gradient in gradients).sqrt().item()
    if length > limit:
        for gradient in gradients:
            gradient.mul_(limit / length)
    return length


# %% [judge] clip
import torch


def parts(scale=1.0):
    made = [
        torch.zeros(2, requires_grad=True),
        torch.zeros(2, 1, requires_grad=True),
        torch.zeros(3, requires_grad=True),
    ]
    made[0].grad, made[1].grad = torch.tensor([3.0, 0.0]) * scale, torch.tensor([[0.0], [4.0]]) * scale
    return made  # of length 5 * scale together; the third has no gradient


def judge(answer):
    for scale, limit, what in (
        (1.0, 1.0, "length 5, limit 1"),
        (0.1, 1.0, "length 0.5, limit 1"),
        (1.0, 5.0, "just at it"),
    ):
        made = parts(scale)
        length = answer(made, limit)
        length = float("nan") if length is None else float(length)
        yield abs(length - 5 * scale) < 1e-4, f"{what}: found {5 * scale:g}, yours says {length:.4f}"
        factor = min(1.0, limit / (5 * scale))
        right = [3 * scale * factor, 0.0, 0.0, 4 * scale * factor]
        gave = [*made[0].grad.tolist(), *made[1].grad.flatten().tolist()]
        good = all(abs(a - b) < 1e-4 for a, b in zip(right, gave, strict=True))
        yield good, f"{what}: {[round(x, 3) for x in right]}, yours {[round(x, 3) for x in gave]}"


def by_hand(parameters, limit):
    parameters = [p for p in parameters if p.grad is not None]
    length = torch.cat([p.grad.flatten() for p in parameters]).norm()
    for p in parameters:
        p.grad = p.grad * min(1.0, limit / length.item())
    return length


def by_value(parameters, limit):
    torch.nn.utils.clip_grad_value_(parameters, limit)
    return 5.0


def one_by_one(parameters, limit):
    total = torch.nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None]).item()
    for p in parameters:
        if p.grad is not None and p.grad.norm() > limit:
            p.grad.mul_(limit / p.grad.norm())
    return total


def always(parameters, limit):
    gradients = [p.grad for p in parameters if p.grad is not None]
    total = torch.nn.utils.get_total_norm(gradients).item()
    for gradient in gradients:
        gradient.mul_(limit / total)
    return total


def length_after(parameters, limit):
    by_hand(parameters, limit)
    return torch.nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None]).item()


RIGHT = {"one long vector": by_hand}
LAZY = {"by value": by_value, "one by one": one_by_one, "also made longer": always, "the length after": length_after}

# %% [predict] too_low
# A limit far too low: {0.001 = limit_low}, below every gradient of the healthy run, which are about 1 long. It bites in every step. Adam, as always. What
# becomes of the accuracy of {95 % = accuracy_good}?
#
# ( ) It learns a thousand times more slowly: it stays near guessing
#     So it is with SGD, in the line below. Adam divides each step by the size of the gradients that it has seen.
# (x) About a point is lost, and no more
#     Adam divides the factor out again: what it gets is always a thousandth, and so is what it divides by. What remains is that all batches pull
#     equally hard.
# ( ) It becomes better: clipping makes a training steady
#     Nothing was unsteady here.

# %% too-low-run
healthy_text = incident.healthy().source


def clipped(text, limit):
    """Run the program with clipping to a limit in front of each step."""
    line = f"torch.nn.utils.clip_grad_norm_(model.parameters(), {limit})\n        optimizer.step()"
    return run_here(text.replace("optimizer.step()", line)).trace.metrics["accuracy"]


right = {}
for limit in (1.0, 1e-3, 1e-9):
    right[limit] = clipped(healthy_text, limit), clipped(healthy_text.replace(ADAM, SGD), limit)
    print(f"limit {limit:6g}: Adam {right[limit][0]:.3f}   SGD {right[limit][1]:.3f}")
too_low.reveal(f"{right[1e-3][0]:.2f}")

# %% [proof] too-low-proof
limit_low = 0.001
adam_low, sgd_low = right[1e-3]
adam_eps = right[1e-9][0]
assert 0 < accuracy_good - adam_low < 0.03 and sgd_low < 0.2 and adam_eps < 0.2
share_over_one = (healthy.grad_norm > 1).mean()
assert abs(right[1.0][0] - accuracy_good) < 0.015

# %% [folded] too-low-read
# After the run: who is hurt by a limit
#
# SGD goes as far as the gradient is long: at a limit of {0.001 = limit_low} it reads {7 % = sgd_low}. Adam reads {94 % = adam_low}. At 1e-9 it is lost as well, at {7 % = adam_eps}: the
# `eps` of 1e-8 in its denominator is then the larger number. So with Adam a limit that is a thousand times too low shows in no
# curve; it shows only in the *log of the lengths*, which all are the same.
#
# "A healthy run clips in 1 to 10 of 100 steps" is often told. Here the gradient of a healthy run is longer than 1 in {49 % = share_over_one} of the steps, and
# a limit of 1 costs it nothing. The share says little by itself. Take the limit from the lengths of your own run, and look at the steps that are far above the others.

# %% [predict] head_largest
# The last saying: "the classifier's head has the largest gradient". Of five healthy programs, in how many does it?
#
# ( ) In all five
#     In the perceptrons and the convolutional net it does, by a factor of two or less. Look at the last line.
# (x) In four
#     Where words are looked up in a table, the table has the largest gradient. It is a habit of small networks for pictures, and no law.
# ( ) In one or two
#     It is right more often than that.

# %% head-run
for program in ("mlp", "checkpointed_mlp", "digits_cnn", "regression_mlp", "sequence_classifier"):
    epochs = {"epochs": 1 if program == "sequence_classifier" else 5}
    seen = bugzoo.Scenario(program, settings=epochs).run().trace
    typical = np.nanmedian(np.asarray(seen.param_grad_norm), axis=0)
    named = {
        one.name: length for one, length in zip(seen.parameters, typical, strict=True) if one.name.endswith("weight")
    }
    first, second_largest = sorted(named, key=named.get)[:-3:-1]
    print(f"{program:20} {first} {named[first]:.2f}, then {second_largest} {named[second_largest]:.2f}")
head_largest.reveal()

# %% [proof] head-proof
assert first == "words.weight"

# %% [markdown] break-text
# ## Break it yourself
#
# Move the sliders, press **Run**, and try to be wrong about what comes:
#
# - How small may the weights begin until the run does not wake up in its six epochs?
# - Is there a learning rate at which the incident is as good as its twin?
# - Does a wider network (`hidden_size`) wake up sooner or later?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mlp", faults=("initialisation/weights_too_small",)),
    settings=("seed", "learning_rate", "epochs", "hidden_size"),
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"Somebody exchanged the activations. The loss falls, slowly, and it ends at {85 % = turn_accuracy} instead of {97 % = turn_healthy}. It is
# as if the lower layers did not take part."* It is not the fault that you know.
#
# Say **what** is wrong, in which **line**, since which **step** (counted from 1), and which **test** would tell it from what
# looks like it. You know the way: lengths of gradients, then what the layers put out. There are three hints if you are
# stuck; run their cell in any case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the
# run is over. Eight minutes: it interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("07/second")
run = lab.live(second, explain=False).result
clock = lab.timer(8)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                         the program; lines count from 1
#   model = run.namespace["model"]; gradient_table(model)
#   model.layer1.register_forward_hook(lambda layer, inputs, output: print(output.std()))    and a batch through the model
#   print(activation_stats.measure(run))

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
at_bounds = activation_stats.measure(run)["saturated_share"]
lines = [
    number
    for number, text in enumerate(second.source.splitlines(), 1)
    if "std=5.0" in text or "model.layer1, model" in text
]
offered = dict(zip("ABCD", form.tests, strict=True))
best = [
    judged(second, {"cause": cause, "place": place, "step": 1, "test": test})
    for cause in form.causes
    for place in lines
    for test in offered
]
assert any("4 of 4" in one for one in best), best

# %% [folded] turn-read
# After you have handed in: too much of a good thing
#
# The ReLUs have become tanh, and the weights are drawn with a deviation of 5. {93 % = at_bounds} of what comes out lies at 1 or -1, where tanh is flat:
# each layer multiplies the gradient by a slope of next to nothing, and *this* is the picture of the books, in which the lower layers get
# less. The exchange of the activation alone would have been fine. Draw the weights with about 1 / sqrt(n) for tanh.

# %% [check] recap_check
# The total gradient norm of a run looks as always, and it learns nothing. What do you look at next?
#
# ( ) A higher learning rate
#     with Adam it may hide this, with SGD it does nothing. Either way you know no more.
# (x) The lengths of the gradients, parameter by parameter
#     yes. One bias can be the whole of a norm. Then the spread of the outputs, layer by layer.
# ( ) Whether the clipping is too low
#     it makes the norm short, and with Adam it hardly matters.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 07` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="07")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **One norm for all gradients hides who has them: make a table.** *Fails when* layers differ a lot in size: then divide each by
#    the length of its weights.
# 2. **Weights that begin too small starve all layers alike; look at the outputs.** *Fails when* an activation is at its bounds: then the
#    lower layers do get less.
# 3. **What an optimiser divides by hides what is wrong with the gradient's size.** Adam forgives weights that are too small and limits that are
#    too low, and SGD neither. *Fails when* the size reaches Adam's eps.
# 4. **Log the length before clipping, and take the limit from it.** *Fails when* the lengths grow because the run diverges: then a
#    limit hides it.
#
# **Next:** [exercise 19, *stays at guessing*](../exercises/19_stays_at_guessing.ipynb), and [exercise 20, *huge
# start*](../exercises/20_huge_start.ipynb). The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
