"""Lesson 18: curves that look ill and are well, beside ill ones that look the same: stop, or wait?"""

# %% [case] incident
# modular_addition fit/no_regularisation

# %% [case] second
# sentiment_lstm optimizer/weight_decay_too_strong

# %% [markdown] title
# # 18 · Landscapes and strange curves
#
# Some curves look ill and are well. In this lesson you decide whether to stop a run or to wait, and you find for each strange curve
# the measurement that tells it from an ill one that looks the same: two runs with equal accuracies, a loss that goes up again and again,
# a spike that heals beside one that kills, a model that gets worse as it grows, and a valley that is sharp in name only.
#
# You need about {68 = minutes} minutes, and to know what weight decay and a second derivative are. After *A loss that goes up and is well*
# is a good place for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import copy
import itertools

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import bugzoo
from bugzoo import lab

torch.set_num_threads(1)  # sums in one order

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("18")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Monday, 09:10.* "Two jobs learn to add modulo 53. After 20 epochs both know what they were trained on, {99 in 100 = known} or more. Of the pairs
# > that they never saw, both get {every second one = half} right. Yesterday evening it was the same. That is overfitting, as in the book, twice. A
# > GPU costs money: I stop both at noon, unless you give me a reason."
#
# One of the two will have found the rule of addition before its 70th epoch. The other one will never find it. Two mistakes are possible: to pay for a
# run that is dead, and to kill one that was about to be right. A picture of such a curve decides neither; people who train this very task
# [argue about what it should look like](https://github.com/danielmamay/grokking/issues/1).

# %% [predict] guess
# You may see the training loss of both. Which of the two jobs is the one to keep?
#
# ( ) The one with the lower training loss: it has learnt more
#     It has learnt the training pairs more. Look which one that is.
# (x) The training loss does not tell, or misleads
#     Both answer everything right that they were trained on. The loss tells how sure they are of it, and that is another question.
# ( ) The one whose loss is smoother
#     Both are smooth enough. What differs is not in the noise.

# %% live
incident = bugzoo.Scenario("modular_addition", lab.case("18/incident").faults, settings={"share": 0.5, "epochs": 80})
view = lab.live(incident, explain=False)

# %% numbers


def follow(scenario, epochs=70, change=None):
    """One row for each epoch: accuracy and loss in training, accuracy and loss in validation, length of all weights."""
    job, rows = lab.LiveView(scenario, pause_at=1, show_twin=False).start(), []
    job.wait_pause()
    own = job.objects
    for epoch in range(1, epochs + 1):
        job.advance(len(own["train_loader"]) - (epoch == 1))
        row = []
        with torch.no_grad():
            for part in (own["train"], own["validation"]):
                logits, sums = own["model"](own["pairs"][part]), own["sums"][part]
                row += [(logits.argmax(-1) == sums).float().mean().item(), F.cross_entropy(logits, sums).item()]
            row.append(sum((p**2).sum() for p in own["model"].parameters()).item() ** 0.5)
        rows.append(row)
        if change:
            change(epoch, own)
    job.stop()
    return np.array(rows)


job_a, job_b = follow(incident.healthy()), follow(incident)
for name, rows in (("job A", job_a), ("job B", job_b)):
    seen, loss, new, *_ = rows[19]
    print(
        f"{name}, after 20 epochs: {seen:.3f} of the known pairs right, {new:.3f} of the new ones; training loss {loss:.2f}"
    )
guess.reveal()

# %% [proof] numbers-proof
known = min(job_a[19, 0], job_b[19, 0]) >= 0.985
half = all(0.42 < rows[19, 2] < 0.58 for rows in (job_a, job_b))
assert job_b[19, 1] < job_a[19, 1] / 3

# %% [markdown] dead-text
# ## Which one is still moving?
#
# The accuracies are equal. So look at what they leave out: at what still *happens* in the run when the training pairs are all right. Two numbers
# cost next to nothing, on weights that you have anyway: the validation **loss**, which also hears a right answer that becomes less sure, and the
# **length of all weights**.

# %% [predict] moving
# In one job the weights grow from epoch 2 to epoch 20, in the other they shrink. Which one is about to find the rule?
#
# ( ) The one whose weights grow: something is being built
#     What is being built is certainty. With all answers right, larger weights make the loss smaller and teach nothing.
# (x) The one whose weights shrink
#     Something pulls at it that does not come from the training pairs. What is known by heart needs large weights, so it is what is given up.
# ( ) Neither: the size of the weights says nothing
#     Alone it does not. In a run whose training loss has nothing left to say, it shows who is still speaking.

# %% moving-run
print("epoch      A: new right   loss   weights      B: new right   loss   weights")
for epoch in (2, 8, 14, 20):
    print(f"{epoch:5}", *("{:17.3f} {:6.2f} {:8.1f}".format(*rows[epoch - 1, 2:]) + "   " for rows in (job_a, job_b)))
moving.reveal()

# %% [proof] moving-proof
assert job_a[19, 4] < job_a[1, 4] - 3 and job_b[19, 4] > job_b[1, 4] + 8
assert job_a[19, 3] < job_a[:, 3].max() - 1 and job_b[19, 3] > job_b[13, 3] + 0.1

# %% [folded] moving-read
# After the run: two directions
#
# In A the validation loss is past its top and falls fast, while the weights shrink. In B it climbs again, and the weights grow. So the accuracies
# are equal because two lines cross there. In A something besides the data works on the weights: weight decay. In B nothing does.

# %% [markdown] stop-text
# ## The rule that everybody has
#
# The usual rule for this decision is early stopping: keep the weights of the epoch with the lowest validation loss, and stop when there has been no
# lower one for `patience` epochs.
#
# **Write it:** from a list of validation losses, the epoch of the best and the epoch at which the run stops, both counted from 1. A
# loss that is equal to the best is no improvement. If the patience is never used up, the run stops at its last epoch.


# %% [task] early_stop
def early_stop(losses, patience):
    """(epoch of the best loss so far, epoch at which the run is stopped), both counted from 1."""
    ...  # your code


# %% try-stop
early_stop = lab.try_out("18/early_stop", early_stop)


# %% [solution] early_stop
def early_stop(losses, patience):
    """(epoch of the best loss so far, epoch at which the run is stopped), both counted from 1."""
    best = 1
    for epoch, loss in enumerate(losses, 1):
        if loss < losses[best - 1]:
            best = epoch
        elif epoch - best >= patience:
            return best, epoch
    return best, len(losses)


# %% [judge] early_stop
def judge(answer):
    for losses, patience, wanted in (
        ([3.0, 2.0, 1.0], 2, (3, 3)),
        ([3.0, 2.0, 2.5, 2.6, 1.0], 2, (2, 4)),
        ([3.0, 2.0, 2.5, 2.6, 1.0], 3, (5, 5)),
        ([1.0, 1.0, 1.0, 1.0], 2, (1, 3)),
        ([1.0, 2.0], 5, (1, 2)),
        ([4.0, 5.0, 3.0, 4.0, 5.0, 2.0], 2, (3, 5)),
    ):
        gave = answer(list(losses), patience)
        gave = gave if gave is None else tuple(gave)
        yield gave == wanted, f"{losses}, patience {patience}: {wanted}, yours says {gave}"


def by_waiting(losses, patience):
    best, at, waited = float("inf"), 0, 0
    for epoch, loss in enumerate(losses, 1):
        best, at, waited = (loss, epoch, 0) if loss < best else (best, at, waited + 1)
        if waited == patience:
            return at, epoch
    return at, len(losses)


def of_all(losses, patience):
    best = min(range(len(losses)), key=losses.__getitem__) + 1
    return best, min(len(losses), best + patience)


def of_neighbours(losses, patience):
    waited = 0
    for epoch in range(1, len(losses)):
        waited = waited + 1 if losses[epoch] >= losses[epoch - 1] else 0
        if waited == patience:
            return epoch + 1 - patience, epoch + 1
    return len(losses), len(losses)


RIGHT = {"a counter": by_waiting}
LAZY = {
    "knows the future": of_all, "compares neighbours": of_neighbours,
    "never stops": lambda losses, patience: (losses.index(min(losses)) + 1, len(losses)),
}  # fmt: skip

# %% [predict] stopped
# Early stopping on job A, the one that is well, with a patience of 5. How many of the new pairs does the kept model get right?
#
# ( ) Nearly all: that is what the rule is for
#     It never gets there. The rule stops long before.
# ( ) About half
#     That would be the model of epoch 20. The rule did not wait that long.
# (x) Next to none
#     The validation loss rises from the first epochs on, because a wrong answer that is given with certainty is dear. The best model by this
#     rule is one that knows nothing and is not sure of it.

# %% stopped-run
for patience in (5, 10, 20):
    for name, rows in (("A", job_a), ("B", job_b)):
        best, stop = early_stop(list(rows[:, 3]), patience)
        print(
            f"patience {patience:2}, job {name}: stops at epoch {stop:2}, keeps epoch {best:2}: {rows[best - 1, 2]:.3f} right"
        )
print("\nepoch   A: known   new     B: known   new")
for epoch in (20, 30, 40, 50, 60, 70):
    print(f"{epoch:5}", *("{:10.3f} {:6.3f}  ".format(*rows[epoch - 1, [0, 2]]) for rows in (job_a, job_b)))
stopped.reveal()

# %% [proof] stopped-proof
best_a, stop_a = early_stop(list(job_a[:, 3]), 5)
assert stop_a < 10 and job_a[best_a - 1, 2] < 0.05
assert job_a[69, 2] > 0.97 and job_b[69, 2] < 0.6
long_a, long_b = (early_stop(list(rows[:, 3]), 20) for rows in (job_a, job_b))
lucky = long_a[1] == 70 and job_a[long_a[0] - 1, 2] > 0.97 and long_b[1] < 35
early_stops = all(early_stop(list(rows[:, 3]), 5)[1] <= 10 for rows in (job_a, job_b))
a_end = job_a[69, 2] > 0.97
b_still = abs(job_b[69, 2] - job_b[19, 2]) < 0.06

# %% [folded] stopped-read
# After the run: the right rule for another question
#
# A knows {nearly every new pair = a_end} at epoch 70. B {stands where it stood = b_still}. Early stopping with a patience of 5 would have
# thrown {both away within ten epochs = early_stops}. {A patience of 20 keeps A and stops B = lucky}: right, because it happens to be longer
# than the rise, and nobody knows that length beforehand. The rule answers *has this run passed its best?* under the silent condition
# that there is one best, with a rise behind it. Here the rise comes first.
#
# This is called grokking: learnt by heart first, understood later. On this program it is a mild one, tens of epochs; in the
# [paper that named it](https://arxiv.org/abs/2201.02177) the wait is far longer.

# %% [check] pay
# Training accuracy perfect, validation accuracy flat for 50 epochs, weights and validation loss growing. Somebody says: it may grok. What do you say?
#
# ( ) Wait: the paper waited for a hundred times as long
#     the paper's run had something that pulled at its weights. Waiting alone is not a mechanism.
# (x) What would bring it about? Name it, or stop
#     yes. With no weight decay, no noise and no gradient left, nothing moves the run there. That is job B.
# ( ) Stop: a flat curve never rises
#     job A's rose.

# %% [markdown] mend-text
# ## Mend job B while it runs
#
# Job B is at epoch 20. Nothing is trained anew: one number in the optimiser of the living run is changed.

# %% [predict] mend
# Weight decay of 1 from epoch 20 on, on weights that have learnt all by heart. What happens by epoch 70?
#
# ( ) It must begin anew: what was learnt by heart stays
#     It has no hold. When the gradient is next to nothing, the pull is all there is.
# (x) It finds the rule, some epochs behind job A
#     The same state, the same data, one number: that number was the cause.
# ( ) The training accuracy breaks down
#     The gradient comes back as soon as something that is needed gets lost.

# %% mend-run
print(incident.diff())


def mend_at_20(epoch, own):
    if epoch == 20:
        own["optimizer"].param_groups[0]["weight_decay"] = 1.0


mended = follow(incident, change=mend_at_20)
for epoch in (20, 30, 40, 50, 60, 70):
    print(
        f"epoch {epoch}: known {mended[epoch - 1, 0]:.3f}, new {mended[epoch - 1, 2]:.3f}, weights {mended[epoch - 1, 4]:.1f}"
    )
mend.reveal()

# %% [proof] mend-proof
assert np.array_equal(mended[:20], job_b[:20]), "the same run up to there"
assert mended[69, 2] > 0.9 and mended[69, 4] < mended[19, 4] - 10

# %% [markdown] edge-text
# ## A loss that goes up and is well
#
# The second strange curve needs an instrument. Near a point a loss is a bowl, and how steep its steepest wall is, is told by the largest eigenvalue of
# the matrix of second derivatives: the **sharpness**. In a bowl with sharpness s, each step of gradient descent multiplies the distance
# from the bottom by 1 − rate · s. That is between −1 and 1 as long as the rate is below 2 / s; above, each step leads further out.
#
# The matrix is far too large to write down, but its product with a vector is one more backward pass: the gradient of (gradient · vector).
# Multiply a vector by it again and again, scale it to length 1 each time, and it turns to the steepest direction.
#
# **Write it:** `torch.autograd.grad(loss, params, create_graph=True)` gives a gradient that can be differentiated again; with a list of
# vectors as its third argument `torch.autograd.grad(gradient, params, vectors, retain_graph=True)` is their product with the matrix. Leave `.grad`
# alone. The sharpness of a maximum is negative: return the product of vector and image, not a length.


# %% [task] sharpness
def sharpness(loss, params, rounds=20):
    """The eigenvalue of the loss's second derivatives that is largest in size, by power iteration."""
    ...  # your code


# %% try-sharp
sharpness = lab.try_out("18/sharpness", sharpness)


# %% [solution] sharpness
def sharpness(loss, params, rounds=20):
    """The eigenvalue of the loss's second derivatives that is largest in size, by power iteration."""
    params = list(params)
    gradient = torch.autograd.grad(loss, params, create_graph=True)
    dice = torch.Generator().manual_seed(0)
    vectors, value = [torch.randn(p.shape, generator=dice).to(p) for p in params], 0.0
    for _ in range(rounds):
        length = sum((v**2).sum() for v in vectors) ** 0.5
        vectors = [v / length for v in vectors]
        images = torch.autograd.grad(gradient, params, vectors, retain_graph=True)
        value = sum((v * image).sum() for v, image in zip(vectors, images, strict=True)).item()
        vectors = images
    return value


# %% [judge] sharpness
import torch


def judge(answer):
    for wanted, matrix in (
        (6.0, torch.diag(torch.tensor([6.0, 1.0, 0.5]))),
        (3.0, torch.tensor([[2.0, 1.0], [1.0, 2.0]])),
        (-5.0, torch.diag(torch.tensor([-5.0, 1.0, 2.0]))),
    ):
        at = torch.ones(len(matrix), requires_grad=True)
        gave = answer(0.5 * at @ matrix @ at, [at], 60)
        yield gave is not None and abs(float(gave) - wanted) < 0.01, f"a bowl of {wanted}: yours says {gave}"
        yield at.grad is None, f"    .grad is left alone: True, yours {at.grad is None}"
    a, b = torch.tensor([1.0], requires_grad=True), torch.tensor([2.0], requires_grad=True)
    gave = answer((2 * a * b).sum() + 2 * (a**2).sum() + 2 * (b**2).sum(), [a, b], 60)
    yield gave is not None and abs(float(gave) - 6) < 0.01, f"two parameters that meet: 6.0, yours says {gave}"


def whole(loss, params, rounds=20):
    """Row by row."""
    params = list(params)
    gradient = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, params, create_graph=True)])
    rows = [
        torch.cat([x.reshape(-1) for x in torch.autograd.grad(g, params, retain_graph=True)])
        for g in gradient
    ]  # fmt: skip
    values = torch.linalg.eigvalsh(torch.stack(rows))
    return values[values.abs().argmax()].item()


def gradient_length(loss, params, rounds=20):
    return sum((g**2).sum() for g in torch.autograd.grad(loss, list(params))).item() ** 0.5


def no_sign(loss, params, rounds=20):
    return abs(whole(loss, params))


def each_alone(loss, params, rounds=20):
    return max((whole(loss, [p]) for p in params), key=abs)


RIGHT = {"the whole matrix": whole}
LAZY = {"length of the gradient": gradient_length, "no sign": no_sign, "each parameter alone": each_alone}

# %% [markdown] edge-net
# Now a small network on 200 digits, trained by gradient descent on all of them at once: no batches, no dice. So if the loss
# goes up, no unlucky batch can be blamed.

# %% net
from sklearn.datasets import load_digits

images, digits = load_digits(return_X_y=True)
images, digits = torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(digits)
X, T = images[:200], F.one_hot(digits[:200], 10).float()


def fresh(activation):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 40), activation(), nn.Linear(40, 10))


def loss_of(net):
    return ((net(X) - T) ** 2).sum(1).mean()


def descend(net, rate, steps, every):
    """The loss at each step, and (step, sharpness) at every so many."""
    losses, sharp = [], []
    for step in range(steps):
        loss = loss_of(net)
        if step % every == 0:
            sharp.append((step, sharpness(loss, net.parameters())))
        gradient = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for parameter, slope in zip(net.parameters(), gradient, strict=True):
                parameter -= rate * slope
        losses.append(loss.item())
    return losses, sharp


rate = 0.1
net = fresh(nn.Tanh)
start = sharpness(loss_of(net), net.parameters())
print(f"sharpness at the beginning {start:.1f}; a bowl is left above 2 / rate = {2 / rate:.0f}")

# %% [predict] edge
# The sharpness begins just below 2 / rate, and it grows in training. What happens when it reaches 2 / rate?
#
# ( ) The run diverges: the bound is a theorem
#     For a bowl it is. The network is none: as the steps swing out, they come to where it is flatter.
# ( ) Nothing: the loss goes on falling, step by step
#     It goes on falling over a hundred steps, and not step by step.
# (x) The sharpness stops there; the loss goes up again and again, and falls in the long run
#     Each swing pushes the sharpness down again. Training holds itself at the edge.

# %% edge-run
runs = {rate: descend(fresh(nn.Tanh), rate, 600, 20) for rate in (0.05, 0.1)}
for rate, (losses, sharp) in runs.items():
    ups = sum(b > a for a, b in itertools.pairwise(losses))
    late = np.mean([value for step, value in sharp if step >= 300])
    print(
        f"rate {rate}: loss {losses[0]:.2f} -> {losses[-1]:.3f}, up at {ups} of 599 steps;"
        f" sharpness at the end {late:.1f}, 2 / rate {2 / rate:.0f}"
    )
bowl = torch.tensor([1e-3, 1e-3], requires_grad=True)
steep, far = torch.tensor([21.0, 2.0]), []
for _ in range(60):
    far.append(0.5 * (steep * bowl**2).sum().item())
    bowl = bowl - 0.1 * steep * bowl
print(f"a true bowl of sharpness 21 with rate 0.1: loss {far[0]:.1e} -> {far[-1]:.1e} in 60 steps")
edge.reveal()

# %% edge-figure
from bugzoo.plots import edge as edge_plot

lab.picture(edge_plot.picture(runs))

# %% [proof] edge-proof
edged, edged_sharp = runs[0.1]
risen = sum(b > a for a, b in itertools.pairwise(edged))
hover = np.mean([value for step, value in edged_sharp if step >= 300])
assert 0.95 < hover / 20 < 1.15 and risen > 100 and edged[-1] < 0.3 * edged[0]
calm, calm_sharp = runs[0.05]
assert all(b < a for a, b in itertools.pairwise(calm)) and start + 2 < calm_sharp[-1][1] < 40
many_ups = 130 < risen < 320
assert far[-1] > 10 * far[0]

# %% [folded] edge-read
# After the run: the edge of stability
#
# With half the rate nothing ever goes up. With the whole rate the loss rises at {about a third of its steps = many_ups}, and the
# sharpness stays near 2 / rate, a number that is nowhere in the network. The true bowl, with the same sharpness, runs away. What tells the two apart is not the
# hills: it is that the loss falls *over a hundred steps*, and that the sharpness comes back. This was
# [described in 2021](https://arxiv.org/abs/2103.00065), for full batches; with small ones the noise of the batches covers it.

# %% [markdown] spike-text
# ## Two spikes
#
# Larger rates: this time both runs begin *beyond* the edge. Both losses shoot up for three steps, to two or three times what they
# began with, and both fall at the fourth. One run has healed, the other is lost. You are at the fourth step, and you may measure anything on
# these weights.

# %% [predict] spike
# Both losses have turned down. What tells the one that is lost?
#
# ( ) Its loss fell by less
#     It fell, and a curve that falls was to be the good sign. Here the fall is a swing that happens to pass a low place.
# ( ) Nothing does: wait for the next steps
#     Here they are free. The next steps of a large run are not, and something can be measured at once.
# (x) Its sharpness is growing, while that of the other one comes down towards 2 / rate
#     A spike that leads to flatter ground ends by itself. One that leads to steeper ground does not, whatever its loss does for a step.

# %% spike-run
spikes = {rate: descend(fresh(nn.Tanh), rate, 60, 1) for rate in (0.2, 0.26)}
print("      rate 0.2                     rate 0.26")
print("step      loss  sharpness·rate/2      loss  sharpness·rate/2")
for step in (0, 1, 2, 3, 4, 5, 6, 7, 20, 59):
    print(
        f"{step:4}",
        *(f"{losses[step]:9.3g} {sharp[step][1] * rate / 2:13.2f}     " for rate, (losses, sharp) in spikes.items()),
    )
spike.reveal()

# %% [proof] spike-proof
heals, dies = spikes[0.2], spikes[0.26]
two_up = all(1.7 < max(losses[:4]) / losses[0] < 3.2 and losses[4] < losses[3] for losses in (heals[0], dies[0]))
assert two_up and heals[0][-1] < 0.6 * heals[0][0] and not dies[0][-1] < 100
assert heals[1][4][1] < 0.85 * heals[1][2][1] and dies[1][4][1] > 1.5 * dies[1][2][1]

# %% [folded] spike-read
# After the run: the curve came down, and it was no recovery
#
# At the fourth step the sharpness of the first run is on its way to 2 / rate, and later it stays just above it. That of the second has doubled
# while its loss fell. Two steps later the loss says so as well. A spike is judged by where it leads, not by whether it turns.

# %% [markdown] peak-text
# ## Worse, and then better
#
# The third curve is drawn over models, not over steps. A table of random features, relu(x · W) with W never trained, and on it a linear fit without
# any regularisation, solved at once: no optimiser, no rate, no luck. 200 digits to learn from, all others to test on.
#
# > "I doubled the features twice and the test accuracy fell each time. So the model is too large: back to 50."

# %% [predict] peak
# Test accuracy from 10 features to 2000, with 200 training digits?
#
# ( ) It rises, and then falls for good: too many features overfit
#     It does fall. And then look further than the person who stopped.
# (x) It rises, falls into a hole near 200 features, and rises higher than ever
#     At 200 there is exactly one solution that hits every digit, and it is a wild one. Beyond, there are many, and the fit takes the smallest.
# ( ) It rises all the way
#     With a little regularisation it does: see the last column.

# %% peak-run
train_x, test_x, test_y = images[:200].double(), images[200:].double(), digits[200:]
torch.manual_seed(0)
W = torch.randn(64, 2000, dtype=torch.float64)
peak_table = {}
print("features   training error   test right   length of the fit   test right, with a ridge")
for count in (10, 25, 50, 100, 200, 220, 400, 1000, 2000):
    train_f, test_f = (torch.relu(part @ W[:, :count]) / count**0.5 for part in (train_x, test_x))
    fit = torch.linalg.pinv(train_f) @ T.double()
    ridge = torch.linalg.solve(train_f.T @ train_f + 0.1 * torch.eye(count), train_f.T @ T.double())
    right, right_ridge = ((test_f @ one).argmax(1).eq(test_y).double().mean().item() for one in (fit, ridge))
    error = ((train_f @ fit - T) ** 2).sum(1).mean().item()
    peak_table[count] = right, right_ridge, fit.norm().item()
    print(f"{count:8} {error:16.3f} {right:12.3f} {fit.norm():19.1f} {right_ridge:17.3f}")
peak.reveal()

# %% [proof] peak-proof
hole = min(peak_table[200][0], peak_table[220][0])
assert hole < peak_table[50][0] - 0.2 and peak_table[2000][0] > peak_table[50][0] + 0.05
ridges = [peak_table[count][1] for count in peak_table]
assert all(b > a - 0.015 for a, b in itertools.pairwise(ridges))
assert max(peak_table, key=lambda count: peak_table[count][2]) in (200, 220)

# %% [folded] peak-read
# After the run: the hole is where the fit is longest
#
# This is double descent. The person who stopped at 200 drew the right curve and took half of it for the whole. The test that tells this hole from a
# model that is *too large* is in the last two columns: the length of the fit has its peak just there, and with a ridge that costs one
# term the hole is gone. A decline that a little regularisation removes is not one that a smaller model must.

# %% [markdown] flat-text
# ## Sharp, in name only
#
# > "Our minimum is much sharper than that of last year's model. Sharp minima generalise badly, so I would not ship it."
#
# You have the instrument. Here is a network with ReLU, trained a little. Its first layer, weights and biases, is multiplied by 10, and
# the weights of its second layer are divided by 10. What it computes stays the same.

# %% [predict] flat
# What becomes of the sharpness?
#
# ( ) It stays: the function is the same
#     The function of the pictures is the same. The sharpness is about steps in the *weights*, and these have another unit now.
# ( ) It gets smaller
#     The second layer now gets inputs that are ten times as large: each step in it counts ten times as much.
# (x) It grows more than tenfold
#     Not one answer has changed, nor what it does on new data. So this number alone says nothing about either.

# %% flat-run
plain = fresh(nn.ReLU)
descend(plain, 0.05, 300, 300)
scaled = copy.deepcopy(plain)
with torch.no_grad():
    scaled[0].weight *= 10
    scaled[0].bias *= 10
    scaled[2].weight /= 10
sharp_plain, sharp_scaled = (sharpness(loss_of(net), net.parameters(), 50) for net in (plain, scaled))
with torch.no_grad():
    print(f"largest difference of two answers: {(plain(images) - scaled(images)).abs().max():.1e}")
print(f"sharpness: {sharp_plain:.1f}, scaled {sharp_scaled:.1f}")
flat.reveal()

# %% [proof] flat-proof
assert sharp_scaled > 10 * sharp_plain
with torch.no_grad():
    assert (plain(images) - scaled(images)).abs().max() < 1e-4

# %% [markdown] filter-text
# Pictures of landscapes have the same illness: a step of length 1 in a random direction is a long way for small weights and nothing for large
# ones. The cure is to measure steps in units of the weights: in the random direction each *row* of a weight matrix (what leads into one unit) gets the length of
# the row that it is added to, and biases are left where they are.
#
# **Write it:** a direction as a list of tensors, one for each parameter in the order of `net.parameters()`. `noise` is such a list, at random. Do not
# change `noise` or the network.


# %% [task] by_rows
def by_rows(net, noise):
    """`noise` with each row as long as the same row of the weights; zeros for parameters of one dimension."""
    ...  # your code


# %% try-rows
by_rows = lab.try_out("18/by_rows", by_rows)


# %% [solution] by_rows
def by_rows(net, noise):
    """`noise` with each row as long as the same row of the weights; zeros for parameters of one dimension."""
    made = []
    for parameter, random in zip(net.parameters(), noise, strict=True):
        if parameter.dim() < 2:
            made.append(torch.zeros_like(random))
        else:
            length = parameter.detach().norm(dim=1, keepdim=True)
            made.append(random / random.norm(dim=1, keepdim=True) * length)
    return made


# %% [judge] by_rows
import torch
from torch import nn


def judge(answer):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
    with torch.no_grad():
        net[0].weight[1] *= 30
    noise = [torch.randn_like(p) for p in net.parameters()]
    kept = [one.clone() for one in noise]
    gave = answer(net, noise)
    yield gave is not None and len(gave) == 4, f"four tensors: yours gives {gave if gave is None else len(gave)}"
    if gave is None or len(gave) != 4:
        return
    for number, (name, weight) in enumerate(net.named_parameters()):
        if weight.dim() > 1:
            off = (gave[number].norm(dim=1) / weight.detach().norm(dim=1) - 1).abs().max().item()
            yield off < 1e-4, f"{name}: rows are off in length by 0, yours by {off:.2g}"
            turn = torch.cosine_similarity(gave[number], kept[number], dim=1).min().item()
            yield turn > 0.9999, f"    still in the direction of the noise: cosine 1, yours {turn:.3f}"
        else:
            yield not gave[number].any(), f"{name}: zeros, yours has length {gave[number].norm().item():.2f}"
    same = all(torch.equal(a, b) for a, b in zip(noise, kept, strict=True))
    yield same, f"the noise is left alone: True, yours {same}"


def with_a_loop(net, noise):
    made = []
    for p, one in zip(net.parameters(), noise, strict=True):
        new = torch.zeros_like(one)
        if p.dim() == 2:
            for row in range(len(p)):
                new[row] = one[row] * (p[row].norm() / one[row].norm()).item()
        made.append(new)
    return made


def whole_matrix(net, noise):
    return [
        one / one.norm() * p.detach().norm() * (p.dim() > 1) for p, one in zip(net.parameters(), noise, strict=True)
    ]


def columns(net, noise):
    return [
        one / one.norm(dim=0) * p.detach().norm(dim=0) if p.dim() > 1 else one * 0
        for p, one in zip(net.parameters(), noise, strict=True)
    ]


def biases_too(net, noise):
    made = with_a_loop(net, noise)
    return [new if p.dim() > 1 else one for p, one, new in zip(net.parameters(), noise, made, strict=True)]


RIGHT = {"a loop over rows": with_a_loop}
LAZY = {
    "the whole matrix": whole_matrix, "columns": columns, "biases too": biases_too,
    "noise as it is": lambda net, noise: noise,
}  # fmt: skip

# %% [predict] slices
# A walk along such a direction, by rows, in the network and in its scaled copy, from the same noise. The two slices of the landscape?
#
# ( ) The scaled one is still steeper
#     Its steps are measured in its own weights now.
# (x) They are the same
#     What was ten times as large is moved ten times as far. The difference was in the ruler.
# ( ) The scaled one is flatter
#     Only if the ruler were turned the other way round.


# %% slices-run
def walk(net, direction, places):
    """The loss at each place along the direction; the network itself stays where it is."""
    found = []
    for place in places:
        moved = copy.deepcopy(net)
        with torch.no_grad():
            for parameter, step in zip(moved.parameters(), direction, strict=True):
                parameter += place * step
            found.append(loss_of(moved).item())
    return found


torch.manual_seed(1)
noise = [torch.randn_like(parameter) for parameter in plain.parameters()]
places = [-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0]
walks = {}
print("place                     ", *(f"{place:8}" for place in places))
for ruler, direction in (("noise", lambda net, noise: noise), ("by rows", by_rows)):
    for name, net in (("plain", plain), ("scaled", scaled)):
        walks[ruler, name] = walk(net, direction(net, noise), places)
        print(f"{ruler:12} {name:13}", *(f"{value:8.2f}" for value in walks[ruler, name]))
slices.reveal()

# %% [proof] slices-proof
assert np.allclose(walks["by rows", "plain"], walks["by rows", "scaled"], rtol=1e-3)
assert walks["noise", "scaled"][4] > 3 * walks["noise", "plain"][4]

# %% [check] picture
# A paper shows two landscapes, one rugged and one smooth, and concludes that the second network is easier to train. What do you ask first?
#
# ( ) Whether more than one seed was drawn
#     a good question, and the second one. With the wrong ruler a thousand seeds show the same wrong thing.
# (x) In which units the two axes are drawn
#     yes. A factor moved from one layer to the next changes the picture and not the network, unless the ruler goes with it.
# ( ) How fine the grid is
#     it makes the picture prettier, not comparable.

# %% [markdown] above-text
# ## From above
#
# Two such directions at once make a map. [Li and others](https://arxiv.org/abs/1712.09913) drew maps like these in 2018, and said why very deep networks need skip connections: without them the ground becomes chaotic. Nine
# networks on digits, 6, 20 and 40 layers deep: with skips; plain; and without skips, with a LayerNorm in each layer instead. They take some minutes, so the next cell reads what
# `bugzoo claims run skip_connections_smooth` has written down; type it, and they are trained again.

# %% [predict] above
# In which of the nine maps is the ground flattest?
#
# ( ) 40 layers with skips
#     It is smooth, and it has a valley.
# ( ) 6 layers, whichever of the three
#     They are all smooth. Flatter ones come.
# (x) 40 layers, no skips, LayerNorm
#     A plain without a hill, and nothing was ever learnt on it. Smooth is not good: there has to be a way down.

# %% above-run
from bugzoo import claims
from bugzoo.plots import slices as slices_plot

maps = claims.read("skip_connections_smooth")["numbers"]
called = {"skip": "with skips", "plain": "plain", "normalised": "LayerNorm"}
titles = {}
for name, one in maps.items():
    depth, way = name.split()
    titles[f"{depth} layers, {called[way]}: {one['accuracy']:.0%} right"] = one["grid"]
    print(
        f"{depth:>2} layers, {called[way]:11} smooth in {one['smooth']} of {one['of']} seeds, "
        f"{one['rise']:8.3g} times as high at the edge, {one['accuracy']:.0%} of new digits right"
    )
lab.picture(slices_plot.picture(titles))
above.reveal()

# %% [proof] above-proof
assert maps["40 normalised"]["rise"] < 1.1 and maps["40 normalised"]["accuracy"] < 0.2
assert maps["40 skip"]["rise"] < 20 and maps["40 skip"]["accuracy"] > 0.9
thousands = maps["40 plain"]["rise"] > 5000
not_all = maps["40 skip"]["smooth"] < maps["40 skip"]["of"] and maps["20 plain"]["smooth"] == 0
still_learns = maps["20 plain"]["accuracy"] > 0.9

# %% [folded] above-read
# After the run: holds in part
#
# With skips 40 layers look as 6 do. Without them the loss at the edge is {thousands of times = thousands} that half-way. That much of the claim is so. But the plain network with 20 layers, on rough ground in every seed,
# {still learns = still_learns}; {one map with skips has a second hollow = not_all}; and the flattest ground of all is where nothing moves. A map shows two directions of many thousand: it explains what one has measured, and predicts little.

# %% [predict] sam
# *Sharpness-aware minimisation* (SAM) takes its gradient not where it stands, but a little further uphill, and so ends in flatter places. On 300 digits, a fifth of them with labels drawn at random,
# it is {eleven points = sam_wrong} better on new digits than SGD. With all labels right it is {one point = sam_right} better. What did it do?
#
# ( ) It learnt all 300, in a flatter valley
#     It did not learn all 300. Look at the last column.
# (x) It did not learn the wrong labels
#     What fits them needs sharp turns around single pictures. The gain is that of every way to leave them unlearnt, stopping early among them.
# ( ) It averaged several models
#     There is one model, with two gradients for each step.

# %% sam-run
ways = claims.read("flat_minima_generalise")["numbers"]  # `bugzoo claims run flat_minima_generalise` trains them anew
for labels, rows in ways.items():
    print(f"{labels}:")
    for way, one in rows.items():
        print(
            f"    {way:14} sharpness {one['sharpness']:5.2f}   new digits right {one['accuracy']:.1%}"
            f"   wrong labels learnt {one['wrong_learnt']:.0%}"
        )
sam.reveal()

# %% [proof] sam-proof
gain = {name: 100 * (one["SAM 0.5"]["accuracy"] - one["batches of 16"]["accuracy"]) for name, one in ways.items()}
sam_wrong, sam_right = 10.5 <= gain["a fifth wrong"] < 11.5, 0.5 <= gain["right labels"] < 1.5
assert (
    ways["a fifth wrong"]["SAM 0.5"]["wrong_learnt"]
    < 0.3
    < 0.5
    < ways["a fifth wrong"]["batches of 16"]["wrong_learnt"]
)
flatter = all(one["one batch"]["sharpness"] > one["batches of 16"]["sharpness"] for one in ways.values())
narrow, usual = ways["a fifth wrong"]["SAM 0.05"], ways["a fifth wrong"]["batches of 16"]
two_points = 1.5 <= 100 * (narrow["accuracy"] - usual["accuracy"]) < 2.5
no_fewer = narrow["wrong_learnt"] >= usual["wrong_learnt"] and narrow["sharpness"] < usual["sharpness"]
nothing = abs(ways["right labels"]["one batch"]["accuracy"] - ways["right labels"]["batches of 16"]["accuracy"]) < 0.005

# %% [folded] sam-read
# After the run: flat, and what else?
#
# Small batches end {in flatter places than one large batch = flatter}, as is told, and with right labels it {changes nothing that one could measure = nothing}. The narrow SAM learnt {no fewer of the wrong labels = no_fewer}, is flatter,
# and {two points = two_points} better: so much may be the flatness. The eleven points of the wide one are not: something else changed with it. Before you praise a flat place, ask what the model does not know there.

# %% [markdown] two-text
# ## Two valleys?
#
# Two networks, other seeds, both all but perfect on their 1200 digits. People draw them as two valleys with a mountain between. So go from the weights of one to those of the other: straight
# first, and then along a bend, a parabola with the same two ends whose middle is *trained* for two seconds to lower the loss along the way.

# %% [predict] valleys
# On the straight way there is a mountain, several times as high as both ends. What is left of it along the bend?
#
# ( ) About half
#     Nothing is left.
# (x) Nothing, and most of the way is even lower than the ends
#     The two valleys are one, and it is bent. In so many dimensions there is nearly always a way round.
# ( ) It becomes higher: the middle is pulled away from both ends
#     It is pulled to where the loss is low.

# %% valleys-run
from torch.func import functional_call

many, many_y = images[:1200], digits[:1200]


def reader(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for _ in range(20):
        for part in torch.randperm(1200).split(32):
            optimizer.zero_grad()
            F.cross_entropy(model(many[part]), many_y[part]).backward()
            optimizer.step()
    return model


one = reader(0)
here, there = (nn.utils.parameters_to_vector(net.parameters()).detach() for net in (one, reader(1)))


def loss_at(weights, part=slice(None)):
    named, pieces = list(one.named_parameters()), weights.split([p.numel() for p in one.parameters()])
    put = {name: piece.view(p.shape) for (name, p), piece in zip(named, pieces, strict=True)}
    return F.cross_entropy(functional_call(one, put, (many[part],)), many_y[part])


def bent(t, middle):
    return (1 - t) ** 2 * here + 2 * t * (1 - t) * middle + t**2 * there


middle = ((here + there) / 2).requires_grad_()
optimizer, draw = torch.optim.Adam([middle], lr=1e-2), torch.Generator().manual_seed(0)
for _ in range(400):
    optimizer.zero_grad()
    loss_at(bent(torch.rand((), generator=draw), middle), torch.randint(0, 1200, (128,), generator=draw)).backward()
    optimizer.step()
with torch.no_grad():
    straight = [loss_at((1 - t) * here + t * there).item() for t in np.linspace(0, 1, 11)]
    along = [loss_at(bent(t, middle)).item() for t in np.linspace(0, 1, 11)]
print("straight:", *(f"{value:.3f}" for value in straight))
print("bent:    ", *(f"{value:.3f}" for value in along))
valleys.reveal()

# %% [proof] valleys-proof
assert max(straight) > 4 * max(straight[0], straight[-1])
assert max(along) < 1.2 * max(along[0], along[-1]) and max(along[2:-2]) < min(along[0], along[-1])

# %% [folded] valleys-read
# After the run: what a picture in two dimensions cannot show
#
# [Garipov and others](https://arxiv.org/abs/1802.10026) found such ways between large networks in 2018. So a bad result *between* two models says nothing against either, and whoever averages the weights of two
# runs with other seeds gets the mountain. (Averaging those of *one* run, late in it, is another matter: they lie on one slope.)

# %% [markdown] break-text
# ## Break it yourself
#
# The two jobs again, with sliders. `decay` is what the fault leaves of the weight decay, `epochs` how long you are willing to pay.
#
# - Is a little decay enough, if one waits longer?
# - Does another seed change who finds the rule, or only when?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("modular_addition", faults=("fit/no_regularisation",), settings={"epochs": 60}),
    settings=("seed", "epochs"),
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another wait: *"The review model has not moved for most of its training. I have read about grokking: first nothing for a long time, then
# everything at once. I even took care of what it needs. So I booked the machine for another week."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("18/second")
run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                   the program; lines count from 1
#   own = run.trace.live.namespace; review_model = own["model"]    the trained model
#   print(run.trace.loss[::20]); print(run.trace.metrics)     what the run logged


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
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "weight_decay" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said

# %% [folded] turn-read
# After you have handed in: the mechanism is there, and it is the illness
#
# Here the weights shrink, too, and nothing comes of it. In the incident the pull set in when *every training pair was right*; here the training
# data itself is not learnt, and the pull is what prevents it. So the rule *wait if you can name what pulls* needs its other half: look at the
# training accuracy first. Grokking begins where memorising is finished. This run never began.

# %% [check] recap_check
# A colleague's loss has a spike at step 60, and recovers. Which finding would let you call it healthy?
#
# ( ) It recovered
#     so does the run with a spoilt batch.
# ( ) The gradient was large there
#     it is at every spike.
# (x) On the same batch, before the step, sharpness times rate lay above 2, it came down with the spike, and the batch is an ordinary one
#     yes. A mechanism that was measured, and the other suspect measured as well.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 18` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="18")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Wait only for something that you can name.** Weight decay that still shrinks the weights is a reason; hope is none. *Fails when* the mechanism is
#    there and too weak for your patience: then work out how long it takes.
# 2. **Early stopping believes in one valley.** *Fails when* the validation loss rises first, as here, or over models instead of epochs.
# 3. **A loss that goes up is compared with 2 / rate, not with your nerves.** *Fails when* batches are small: their noise goes up, too.
# 4. **Compare landscapes in units of the weights.** *Fails when* parameters have no rows, as the scales of a normalisation.
#
# **Next:** decide for yourself what is strange and what is ill: [exercise 52, *it will come*](../exercises/52_it_will_come.ipynb),
# [exercise 53, *the loss stays up*](../exercises/53_a_loss_that_stays_up.ipynb), and [exercise 54, *a loss that
# breathes*](../exercises/54_breathing.ipynb), in which two things are wrong. The result is judged by what your program does.
