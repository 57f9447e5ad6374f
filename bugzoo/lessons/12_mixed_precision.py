"""Lesson 12: what 16 bits can hold, what a gradient scaler does about it, and what it can do nothing about."""

# %% [case] incident
# amp_transformer precision/half_softmax?sharpness=16

# %% [case] skips
# amp_transformer traps/scaler_skips_now_and_then

# %% [case] second
# mlp precision/half_parameters

# %% [markdown] title
# # 12 · Mixed precision
#
# A number of 16 bits can fail in three ways: it is too large, too small, or not fine enough. In this lesson you measure each of them on a training,
# write the scaler that deals with one, and find out why the other two need something else. One of the three is heard, as `nan`; the
# other two make no sound.
#
# You need about {65 = minutes} minutes, and to know what a backward pass and Adam are. After *Mended too late* is a good place for a pause.
#
# Everything here runs on a CPU, which computes in float16 as well, only slowly; all numbers are from there. With an NVIDIA GPU you can say
# `lab.device("cuda")` in the first cell, and the programs and your own loops run there. It shows more in two places: autocast has another list of
# operations there, which a cell below prints beside the CPU's, and 16 bits are what makes it fast. A dated trace of such a run is not part of
# this lesson yet.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import math

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

import bugzoo
from bugzoo import lab
from bugzoo.running import run_here

torch.set_num_threads(1)

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("12")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Tuesday, 18:20.* "I wrote the attention of our character model out by hand, to make it sharper. In float32 it trains. In mixed precision
# > every loss is nan, from the first step on. The scaler has halved its factor at each step, so I know what it is: 65,536 is too much for this model.
# > The forum says so too, start with `init_scale=1`. I only want to know how low I have to go."
#
# He saw two things, a `nan` and a factor that falls, and made a story of them in which the factor is the cause.

# %% [predict] guess
# The program makes sixty steps. At how many of them does a weight change?
#
# ( ) At all: they become nan, as the loss is
#     That is what happens without a scaler. This one has looked at each gradient first.
# ( ) At the last ones, when the factor has become small enough
#     So the forum hopes. It is halved sixty times here, and sixty times it was not enough.
# (x) At none
#     The scaler leaves a step out when its gradient is not finite. Here that is every step.

# %% live
incident = lab.case("12/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
stand = lab.LiveView(incident, pause_at=1, show_twin=False).start()
stand.wait_pause()  # once more, and stopped in its first step
things = stand.objects
begun = [parameter.detach().clone() for parameter in things["model"].parameters()]
ended = list(trace.live.namespace["model"].parameters())

print("losses that are numbers:", int(np.isfinite(trace.loss).sum()), "of", len(trace.loss))
print("weights as in the first step:", all(torch.equal(a, b) for a, b in zip(begun, ended, strict=True)))
print("factor: ", trace.scale[0], "...", trace.scale[-1])
print("healthy:", healthy.scale[0], "...", healthy.scale[-1], "and", healthy.metrics)
guess.reveal(f"{sum(event.kind == 'skipped_step' for event in trace.events)} of {len(trace.loss)} steps were left out")

# %% [proof] numbers-proof
assert not np.isfinite(trace.loss).any() and len(trace.loss) == 60
assert sum(event.kind == "skipped_step" for event in trace.events) == 60
assert all(torch.equal(a, b) for a, b in zip(begun, ended, strict=True)) and trace.scale[-1] == 2.0**-43
assert set(np.asarray(healthy.scale)) == {65536.0}

# %% [folded] numbers-read
# After the run: a falling factor is a report, not a cause
#
# A gradient scaler knows one question: is every gradient finite? If not, it leaves the step out and halves its factor. Whether the `inf` came
# of a factor that is too large, or was there before any factor, it cannot see. Here the *loss* is `nan` already, and the factor
# is applied to the loss. [Somebody's log](https://github.com/facebookresearch/WSL-Images/issues/9) shows it at 1e-312, a thousand halvings further down, under the title
# *How to solve ZeroDivisionError*. So look at what comes before the loss.

# %% [markdown] formats-text
# ## What 16 bits can hold
#
# A float is a sign, an exponent and a fraction. The exponent decides how large and how small, the fraction how fine.

# %% formats
print("            largest     smallest with all bits   smallest      next to 1")
for dtype in (torch.float16, torch.bfloat16, torch.float32):
    info = torch.finfo(dtype)
    print(f"{str(dtype)[6:]:10} {info.max:9.4g} {info.tiny:18.3g} {info.tiny * info.eps:18.3g} {1 + info.eps:16.9g}")
print("exp(x) is too large for float16 from x =", round(math.log(65504), 2))

# %% [markdown] lost-text
# float16 spends its bits on the fraction, bfloat16 on the exponent. Below "smallest with all bits" float16 goes on for a while with
# fewer and fewer of them, and then there is 0.
#
# **Write it:** of those numbers that are finite and not 0, which share does a format make infinite, and which share does it make 0?
# `values.to(dtype)` rounds; let it decide, and not a comparison with a limit.


# %% [task] lost
def lost(values, dtype):
    """(share that becomes infinite, share that becomes 0) of the values that are finite and not 0."""
    ...  # your code


# %% try-lost
lost = lab.try_out("12/lost", lost)


# %% [solution] lost
def lost(values, dtype):
    """(share that becomes infinite, share that becomes 0) of the values that are finite and not 0."""
    asked = values[values.isfinite() & (values != 0)]
    kept = asked.to(dtype)
    many = max(len(asked), 1)
    return kept.isinf().sum().item() / many, (kept == 0).sum().item() / many


# %% [judge] lost
import math

import torch


def judge(answer):
    tiny = 2.0**-24
    for values, dtype, wanted, what in (
        ([1.0, -2.0, 7e4, -7e4], torch.float16, (0.5, 0.0), "two of four are too large, one of them negative"),
        ([65519.0, 65521.0], torch.float16, (0.5, 0.0), "65,519 is rounded down to 65,504, and 65,521 is not"),
        ([1.0, 1e-6, tiny, tiny / 4], torch.float16, (0.0, 0.25), "1e-6 has fewer bits, and is not lost"),
        ([0.6 * tiny, -0.4 * tiny], torch.float16, (0.0, 0.5), "more than half of the smallest is rounded up"),
        ([0.0, 0.0, math.inf, 1e-9, 1.0], torch.float16, (0.0, 0.5), "what was 0 or infinite before is not asked"),
        ([7e4, 1e-9, 1.0], torch.bfloat16, (0.0, 0.0), "bfloat16 holds them all"),
        ([0.0, 0.0], torch.float16, (0.0, 0.0), "zeros only"),
    ):
        gave = answer(torch.tensor(values), dtype)
        try:
            good = len(gave) == 2 and all(abs(a - b) < 1e-6 for a, b in zip(gave, wanted, strict=True))
        except TypeError:
            good = False
        yield bool(good), f"{what}: {wanted}, yours says {gave}"


def by_loop(values, dtype):
    large = small = many = 0
    for value in values.flatten().tolist():
        if value == 0 or not math.isfinite(value):
            continue
        kept = torch.tensor(value).to(dtype).item()
        many, large, small = many + 1, large + math.isinf(kept), small + (kept == 0)
    return (large / many, small / many) if many else (0.0, 0.0)


def by_limits(values, dtype):
    info, sizes = torch.finfo(dtype), values[values.isfinite() & (values != 0)].abs()
    many = max(len(sizes), 1)
    return (sizes > info.max).sum().item() / many, (sizes < info.tiny).sum().item() / many


def zeros_counted(values, dtype):
    kept = values.to(dtype)
    return kept.isinf().float().mean().item(), (kept == 0).float().mean().item()


def one_sign(values, dtype):
    asked = values[values.isfinite() & (values != 0)]
    kept, many = asked.to(dtype), max(len(asked), 1)
    return (kept == math.inf).sum().item() / many, (kept == 0).sum().item() / many


def always_half(values, dtype):
    return by_loop(values, torch.float16)


RIGHT = {"one by one": by_loop}
LAZY = {
    "limits of the format": by_limits, "zeros counted": zeros_counted, "positive only": one_sign,
    "float16 whatever is asked": always_half, "nothing": lambda values, dtype: (0.0, 0.0),
}  # fmt: skip

# %% [markdown] above-text
# ## Too large
#
# The attention that he wrote: `weights = torch.exp(16 * scores)`, divided by their sum. It is softmax by its definition. The cell takes the scores of
# the first layer, from the run that stands still in its first step.

# %% [predict] above
# Which share of the numbers exp(16 · score) is too large for float16?
#
# ( ) None: a score of an untrained model is small
#     The largest is {1.7 = largest_score}, small indeed. Times 16 it is not.
# ( ) More than half, or it would not kill every loss
#     It needs far less to do that: think of what a `nan` does to the sums behind it.
# (x) About {2 % = share_above}
#     And not one logit survives: each layer takes sums over what is there, and a `nan` in a sum is the sum.

# %% above-run
caught = []
hook = things["model"].blocks[0].attention.project.register_forward_hook(lambda layer, i, out: caught.append(out))
with torch.no_grad():
    things["model"](things["inputs"])  # in float32
hook.remove()
queries, keys, _ = caught[0].unflatten(-1, (3, 4, 16)).permute(2, 0, 3, 1, 4)  # (batch, heads, time, 16) each
scores = queries @ keys.transpose(-2, -1) / 4
scores = scores[torch.ones(32, 32).tril().bool().expand_as(scores)]  # those of the past; the others are masked

print(f"largest score {scores.max():.2f}, times 16: {16 * scores.max():.1f}")
for dtype in (torch.float16, torch.bfloat16, torch.float32):
    large, small = lost(torch.exp(16 * scores), dtype)
    print(f"{str(dtype)[6:]:10} too large {large:6.1%}   rounded to 0 {small:6.1%}")
print(f"logits of this step that are numbers: {things['logits'].isfinite().float().mean():.0%}")
stand.stop()
above.reveal(f"{lost(torch.exp(16 * scores), torch.float16)[0]:.1%}")

# %% [proof] above-proof
largest_score = scores.max().item()
share_above = lost(torch.exp(16 * scores), torch.float16)[0]
log_top = math.log(65504)
assert not things["logits"].isfinite().any() and 16 * largest_score > log_top
in_float32 = run_here(incident.source.replace("dtype=torch.float16", "enabled=False"))
assert in_float32.outcome == "finished" and in_float32.trace.metrics["loss"] < 3, "in float32 it trains"

# %% [markdown] instrument-text
# The two instruments that see this: one makes the first step again and names the first operation whose result is no number, the other
# counts what the scaler did. Then, what was done to the healthy program.

# %% instrument
from bugzoo.diagnostics import scale_watch

print(trace.replay(1).message)
print(scale_watch.judge(scale_watch.measure(view.result)).message)
print(incident.diff())

# %% [proof] instrument-proof
assert (
    "weights.sum" in trace.replay(1).message and "100%" in scale_watch.judge(scale_watch.measure(view.result)).message
)

# %% [folded] instrument-read
# After the run: one line too late, and why
#
# The replay names the division, and the `inf` was made one line above. Its argument holds `-inf` on purpose, the masked scores, and so the
# instrument takes an infinity behind it for meant; `inf / inf` it cannot forgive. Read the named line, and the one above it.

# %% [predict] types
# Isn't this what autocast is for? It is told everywhere that autocast runs exp, softmax and sums in float32. What does it do on this CPU with a float16 tensor?
#
# ( ) All three come out in float32
#     That is the list for CUDA. Each kind of device has a list of its own.
# ( ) softmax in float32, exp in float16
#     Neither is on the list of the CPU.
# (x) All three stay in float16
#     And the healthy program, with F.softmax in float16, trains. It is not the type that saves it.


# %% types-run
def type_of(call, where):
    """The type of what `call` gives for a float16 tensor under autocast."""
    with torch.autocast(where, dtype=torch.float16):
        return str(call(torch.rand(4, 4, device=where).half()).dtype)[6:]


calls = {"matmul": lambda x: x @ x, "exp": torch.exp, "softmax": lambda x: x.softmax(-1), "sum": torch.sum}
calls["cross_entropy"] = lambda x: F.cross_entropy(x, torch.zeros(4, dtype=torch.long, device=x.device))
on_cpu = {name: type_of(call, "cpu") for name, call in calls.items()}
for name, call in calls.items():
    cuda = type_of(call, "cuda") if torch.cuda.is_available() else "(no CUDA here; the cell would measure it)"
    print(f"{name:14} CPU {on_cpu[name]:8}   CUDA {cuda}")
types.reveal(f"exp {on_cpu['exp']}, softmax {on_cpu['softmax']}, sum {on_cpu['sum']}")

# %% [proof] types-proof
assert {on_cpu[name] for name in ("matmul", "exp", "softmax", "sum")} == {"float16"}
assert on_cpu["cross_entropy"] == "float32"

# %% [folded] types-read
# After the run: what saves softmax is a subtraction
#
# `F.softmax` takes the largest score of a row off before `exp`, so that no result is above 1. The quotient is the same. That is arithmetic and
# works in any format. PyTorch's [reference of autocast](https://docs.pytorch.org/docs/stable/amp.html) has one list of operations for CUDA and
# another for the CPU; on CUDA `exp` is in that which goes to float32, so his line would not overflow *there*. It would again in
# a kernel of his own, or with `.half()` instead of autocast.

# %% [markdown] factor-text
# ## The repair that everybody recommends
#
# The forum's `init_scale=1`. And the second one, never absent: a lower learning rate, here a hundredth.

# %% [predict] factor
# What will the two do?
#
# ( ) With a factor of 1 it trains: it was the factor
#     The factor multiplies the loss. It has never reached exp().
# ( ) Neither trains, but with the lower rate some losses are numbers
#     No step is ever made, so the rate is never used.
# (x) Nothing at all: sixty times nan, sixty steps left out, twice
#     The same run. The one difference is the number from which the factor falls.

# %% factor-run
tried = {}
for name, old, new in (
    ("init_scale=1", "GradScaler(device)", "GradScaler(device, init_scale=1.0)"),
    ("a hundredth of the rate", "learning_rate = 3e-3", "learning_rate = 3e-5"),
):
    assert old in incident.source
    run = tried[name] = run_here(incident.source.replace(old, new))
    numbers = int(np.isfinite(run.trace.loss).sum())
    print(f"{name:24} losses that are numbers: {numbers}, factor at the end {run.trace.scale[-1]:.1e}")
factor.reveal()

# %% [proof] factor-proof
assert all(not np.isfinite(run.trace.loss).any() for run in tried.values())
assert all(sum(event.kind == "skipped_step" for event in run.trace.events) == 60 for run in tried.values())

# %% [markdown] late-text
# ## Mended too late
#
# The repair is softmax's own subtraction. Put it into the run while it stands still: once after ten steps, once after thirty. Up to
# there no weight has changed, so both begin where the healthy twin began.

# %% [predict] late
# What becomes of the one that is mended after thirty steps, half-way?
#
# ( ) The same as the other, with thirty steps of training less
#     Thirty steps bring the healthy twin far. This one they bring nowhere.
# ( ) It stays nan
#     No nan has reached a weight, the scaler saw to that. Every loss is finite from here on.
# (x) Finite losses, no step left out, and nothing is learnt
#     The first `nan` is repaired, and what is left makes no sound at all. Look at the factor.

# %% late-run
line = "torch.exp(16.0 * scores)"
mended = incident.source.replace(line, "torch.exp(16.0 * (scores - scores.amax(-1, keepdim=True)))")
assert mended != incident.source


def mended_after(steps, factor=None):
    """The incident's trace, with the repair put in after so many steps, and the factor set if one is given."""
    view = lab.LiveView(incident, pause_at=steps, show_twin=False).start()
    view.wait_pause()
    view.patch(mended)
    if factor:
        scaler = view.objects["scaler"]
        scaler.load_state_dict(scaler.state_dict() | {"scale": factor})
    view.resume()
    return view.result.trace


again = {"after 10": mended_after(10), "after 30": mended_after(30), "after 30, factor set": mended_after(30, 2.0**16)}
print(f"guessing is a loss of {math.log(96):.2f}; the healthy twin ends at {healthy.metrics['loss']:.2f}")
for name, one in again.items():
    skipped = sum(event.kind == "skipped_step" for event in one.events)
    print(f"{name:22} loss {one.metrics['loss']:.2f}   steps left out {skipped}   factor at the end {one.scale[-1]:g}")
late.reveal(f"validation loss {again['after 30'].metrics['loss']:.2f}")

# %% [proof] late-proof
ten, thirty, set_anew = (one.metrics["loss"] for one in again.values())
assert again["after 10"].scale[-1] == 64 and again["after 30"].scale[-1] == 2.0**-14
assert ten < 2.95 and 4.4 < thirty < 4.9 and 2.9 < set_anew < 3.4
assert all(np.isfinite(one.loss[30:]).all() for one in again.values())

# %% [folded] late-read
# After the run: the factor has to come back too
#
# Thirty halvings make 65,536 into 6e-05. The gradient is multiplied by that, float16 makes 0 of it, the scaler divides 0, finds it
# finite and is content. By itself it doubles again after 2000 good steps, and it would take thirty doublings. Set it back by hand, and the run learns. If you
# resume from a checkpoint of a sick run, look at the factor in it.
#
# This was the second way to fail. It deserves a look of its own.

# %% [markdown] below-text
# ## Too small
#
# Language models divide the loss of a batch by the tokens of a whole update, which may be millions: the gradients of all parts are added up
# afterwards. Here it is done to a small network on the digits. Adam divides it out again (its `eps` is small enough), so that in float32 the
# divisor changes nothing. Everything is in this cell.

# %% train
bunch = load_digits()
X, Y = torch.tensor(bunch.data / 16, dtype=torch.float32), torch.tensor(bunch.target)
order = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
X, Y = X[order].to(device), Y[order].to(device)
X_test, Y_test, X, Y = X[:360], Y[:360], X[360:], Y[360:]


def network(seed=0):
    torch.manual_seed(seed)
    layers = nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)
    return nn.Sequential(*layers).to(device)


def plain(loss, optimizer):
    """Backward and step, without a scaler."""
    loss.backward()
    optimizer.step()


def train(divisor=32, step=plain, half=torch.float16, rate=1e-3, steps=300, seed=0, weights=torch.float32):
    """Accuracy and losses; batches of 32 under autocast (half=None: without), the summed loss divided by `divisor`."""
    net = network(seed).to(weights)
    optimizer = torch.optim.Adam(net.parameters(), lr=rate, eps=1e-15)
    losses, zeros = [], None
    for _ in range(steps):
        rows = torch.randint(len(X), (32,))
        optimizer.zero_grad()
        with torch.autocast(device, dtype=half or torch.float16, enabled=half is not None):
            loss = F.cross_entropy(net(X[rows].to(weights)), Y[rows], reduction="sum") / divisor
        step(loss, optimizer)
        if zeros is None:
            zeros = torch.cat([p.grad.flatten() for p in net.parameters()]).eq(0).float().mean().item()
        losses.append(loss.item() * divisor / 32)
    with torch.no_grad():
        accuracy = (net(X_test.to(weights)).argmax(-1) == Y_test).float().mean().item()
    return {"accuracy": accuracy, "losses": losses, "zeros": zeros}


single = train(2**22, half=None)
print(
    f"float32: accuracy {single['accuracy']:.3f}, gradient elements that are 0 in the first step {single['zeros']:.0%}"
)

# %% [proof] train-proof
guessing = math.log(10)
acc_single, zeros_single = single["accuracy"], single["zeros"]
share_22 = train(32, half=None)
assert abs(share_22["accuracy"] - acc_single) < 0.02, "the divisor changes nothing in float32"

# %% [markdown] share-text
# Some zeros are there in float32 as well: a corner of a picture that is always black has no gradient. Now float16, no scaler, and a divisor of 524,288, the
# half million tokens of a small GPT-3.

# %% [predict] share
# In the first step more than half of all gradient elements are 0, against {31 % = zeros_single} in float32. What accuracy after 300 steps, where float32 has {94 % = acc_single}?
#
# (x) About the same
#     A quarter of all elements have become 0, the small ones. What points the way are the large ones.
# ( ) Clearly less: it learns with half a gradient
#     So one would think. A gradient is not worth as much as it has elements.
# ( ) None: nan after some hundred steps
#     It is told so. A zero is a perfectly finite number, and no sum of zeros is nan.

# %% share-run
print("divisor     0 in step 1   accuracy   loss of the last 50 steps")
silent = {}
for power in (5, 19, 20, 21):
    one = silent[power] = train(2**power)
    print(f"2**{power:<2} {one['zeros']:15.0%} {one['accuracy']:12.3f} {np.mean(one['losses'][-50:]):15.2f}")
share.reveal(f"{silent[19]['accuracy']:.3f}")

# %% [proof] share-proof
zeros_19, zeros_21 = silent[19]["zeros"], silent[21]["zeros"]
acc_19, acc_21 = silent[19]["accuracy"], silent[21]["accuracy"]
assert abs(acc_19 - acc_single) < 0.03 and 0.5 < zeros_19 < 0.6 and zeros_21 > 0.7
nine_in_ten = 0.87 < acc_21 < 0.935
assert abs(silent[5]["zeros"] - zeros_single) < 0.01

# %% [predict] cliff
# Four times as much again, {79 % = zeros_21} are 0, and the accuracy is still {about nine in ten = nine_in_ten}. Now twice that, 2**22: what will the training loss do?
#
# ( ) Fall, a bit more slowly
#     So it went three times. This time something else is rounded away.
# ( ) Stand still at the {2.30 = guessing} of guessing: there is no gradient left
#     There is some left, and it would be better if there were none.
# (x) Rise above guessing
#     Not slower: wrong. What is left of the gradient points only one way.

# %% cliff-run
over = train(2**22)
print(
    f"0 in step 1: {over['zeros']:.0%}, accuracy {over['accuracy']:.3f}, all losses finite: {np.isfinite(over['losses']).all()}"
)
print(
    f"loss of the first 10 steps {np.mean(over['losses'][:10]):.2f}, of the last 50 {np.mean(over['losses'][-50:]):.2f}"
)
cliff.reveal(f"{np.mean(over['losses'][-50:]):.2f}, where guessing is {math.log(10):.2f}")

print("\ndivisor   gradient of the right digit's logit, of another's, times the divisor")
for power in (5, 19, 21, 22):
    with torch.autocast(device, dtype=torch.float16):
        logits = network()(X[:320])
        logits.retain_grad()
        (F.cross_entropy(logits, Y[:320], reduction="sum") / 2**power).backward()
    right = F.one_hot(Y[:320], 10).bool()
    slope = logits.grad.float() * 2**power
    print(f"2**{power:<2} {slope[right].mean().item():20.3f} {slope[~right].mean().item():20.3f}")

# %% [proof] cliff-proof
assert np.isfinite(over["losses"]).all() and np.mean(over["losses"][-50:]) > 2.6 and over["accuracy"] < 0.4
assert slope[right].mean().item() == -1 and slope[~right].mean().item() == 0 and over["zeros"] > 0.95
for another in (1, 2):
    on_it = train(2**22, seed=another)
    assert np.mean(on_it["losses"][-50:]) > 2.6 and np.isfinite(on_it["losses"]).all()

# %% [folded] cliff-read
# After the run: underflow takes sides
#
# A model that guesses has a slope of about -9/10 at the logit of the right digit and of 1/10 at each of the nine others; they sum to 0. Divided by 2\*\*21, the
# tenth is just enough to be rounded *up*. Divided by 2\*\*22 it is not: the right logit is still pushed up, by -1, and no other is pushed down. All logits
# rise, and nothing holds them. No `nan`, no warning.
#
# It is told that float16 without a scaler fails after about 500 steps with `nan`. `bugzoo claims` tried it with a small language model and 750 steps: {no run was lost = none_lost}. With a
# divisor of half a million it falls behind from step {26 = behind_at} on and ends at {3.57 = claim_without} nats instead of {1.94 = claim_with}; with the plain mean it never falls behind. How small
# the gradients are decides, and not how many steps.

# %% [proof] claim-proof
from bugzoo.proving import ledger

claim = ledger.read("claims", "half_without_scaler")["numbers"]
divided, mean = claim["share of a large batch"], claim["plain mean"]
none_lost = divided["not_finished"] == mean["not_finished"] == 0
behind_at = divided["fails_at"][0]
claim_without, claim_with = divided["without"], divided["with"]
assert set(divided["fails_at"]) == {behind_at} and set(mean["fails_at"]) == {None}

# %% picture
from bugzoo.plots import exponents


def gradient(divisor):
    """All elements of the gradient of the first 32 pictures, in float32."""
    net = network()
    (F.cross_entropy(net(X[:32]), Y[:32], reduction="sum") / divisor).backward()
    return torch.cat([parameter.grad.flatten() for parameter in net.parameters()]).cpu()


sets = {"mean of the batch": gradient(32), "divided by 2**22": gradient(2**22)}
sets["the same, times 2**16"] = sets["divided by 2**22"] * 2**16
for name, values in sets.items():
    print(f"{name:24} rounded to 0: {lost(values, torch.float16)[1]:.0%}")
lab.picture(exponents.picture(sets))

# %% [proof] picture-proof
shares = [lost(values, torch.float16) for values in sets.values()]
assert shares[0][1] < 0.01 and 0.75 < shares[1][1] < 0.95 and shares[2][1] < 0.01 and shares[2][0] == 0

# %% [folded] picture-read
# After the run: the same shape at another place
#
# A divisor moves all numbers to the left and changes nothing else, and float32, with room for hundred more powers of two, does not care. Fewer lie in the
# hatched part here than were 0 in the first step: the picture rounds the finished gradient once, and a backward pass rounds behind
# each layer. The way back is plain to see: move everything to the right, before it is rounded.

# %% [predict] higher
# The loss is too small, so the gradient is too small, so: ten times the learning rate? Or a hundred times?
#
# ( ) It helps: it makes the steps larger
#     Adam's steps are as large as the rate whatever the gradient is. It is their direction that is wrong.
# (x) It ends worse than with no training at all
#     The rate comes after the rounding. It makes large steps into the same wrong direction, faster.
# ( ) It changes nothing: 0 times 10 is 0
#     For what is 0 that is so. The rest grows.

# %% rate-run
rates = {times: train(2**22, rate=times * 1e-3) for times in (10, 100)}
for times, run in rates.items():
    print(
        f"{times:3} times the rate: accuracy {run['accuracy']:.3f}, last 50 losses {np.mean(run['losses'][-50:]):.1f}"
    )
higher.reveal(f"loss {np.mean(rates[10]['losses'][-50:]):.1f}; guessing is {math.log(10):.2f}")

# %% [proof] rate-proof
assert all(np.mean(one["losses"][-50:]) > 2.4 for one in rates.values())

# %% [markdown] scaler-text
# ## Write the scaler
#
# Multiply the loss by a factor before `backward()`, and the whole gradient moves up, as the third line of the picture; divide the gradients by it, in float32, before
# the step. Powers of two, so that nothing is rounded. What is the right factor? One tries: too much makes an `inf`, and that is noticed.
#
# **Write it:** `state` is a dictionary with the factor by which the loss was multiplied and the number of good steps since it last changed. Divide the
# gradients. If all of them are finite, make the step; after `interval` good steps double the factor. If not, leave the step out and halve it. Return whether the step was made.


# %% [task] scaled_step
def scaled_step(optimizer, state, interval=2000):
    """One step of gradients that are state["factor"] times too large; state = {"factor": ..., "good": ...} is kept up to date."""
    ...  # your code; for group in optimizer.param_groups: for parameter in group["params"]: parameter.grad


# %% try-scaler
scaled_step = lab.try_out("12/scaled_step", scaled_step)


# %% [solution] scaled_step
def scaled_step(optimizer, state, interval=2000):
    """One step of gradients that are state["factor"] times too large; state = {"factor": ..., "good": ...} is kept up to date."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    for gradient in gradients:
        gradient /= state["factor"]
    fits = all(bool(gradient.isfinite().all()) for gradient in gradients)
    if fits:
        optimizer.step()
        state["good"] += 1
        if state["good"] == interval:
            state["factor"], state["good"] = 2 * state["factor"], 0
    else:
        state["factor"], state["good"] = state["factor"] / 2, 0
    return fits


# %% [judge] scaled_step
import math

import torch


def judge(answer):
    def made(*gradients, factor=8.0, good=0, interval=2000):
        """Weights of 1 after a step of SGD with a rate of 1, state behind it, and what was returned."""
        weights = [torch.ones(2, requires_grad=True) for _ in gradients]
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = None if gradient is None else torch.tensor(gradient)
        groups = [{"params": [weight]} for weight in weights]
        state = {"factor": factor, "good": good}
        gave = answer(torch.optim.SGD(groups, lr=1.0), state, interval)
        return [weight.tolist() for weight in weights], state["factor"], state["good"], gave

    def told(got, weights, factor, good, gave, what):
        right = got[:3] == (weights, factor, good) and bool(got[3]) is gave and got[3] is not None
        return right, f"{what}: weights {weights}, factor {factor:g}, good {good}, {gave}; yours: {got}"

    nan, inf = math.nan, math.inf
    yield told(made([8.0, 4.0]), [[0.0, 0.5]], 8.0, 1, True, "a good step")
    yield told(made([8.0, 8.0], [8.0, inf]), [[1.0, 1.0]] * 2, 4.0, 0, False, "an inf in the second parameter")
    yield told(made([-inf, 8.0], good=5), [[1.0, 1.0]], 4.0, 0, False, "an inf behind five good steps")
    yield told(made([nan, 8.0]), [[1.0, 1.0]], 4.0, 0, False, "a nan")
    yield told(made([8.0, 8.0], good=2, interval=3), [[0.0, 0.0]], 16.0, 0, True, "the third good step of three")
    yield told(made([8.0, 8.0], good=1, interval=3), [[0.0, 0.0]], 8.0, 2, True, "the second good step of three")
    yield told(made(None, [8.0, 8.0]), [[1.0, 1.0], [0.0, 0.0]], 8.0, 1, True, "a parameter without a gradient")


def one_by_one(optimizer, state, interval=2000):
    bad = False
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.grad = parameter.grad * (1 / state["factor"])
                bad = bad or not math.isfinite(parameter.grad.abs().sum().item())
    if bad:
        state.update(factor=state["factor"] / 2, good=0)
        return False
    optimizer.step()
    state["good"] += 1
    if state["good"] >= interval:
        state.update(factor=state["factor"] * 2, good=0)
    return True


def lazy(divide=True, last_only=False, inf_only=False, reset=True, skip=True, grow=True):
    def step(optimizer, state, interval=2000):
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        for parameter in parameters:
            parameter.grad = parameter.grad / (state["factor"] if divide else 1)
        asked = parameters[:1] if last_only else parameters
        fits = not any((p.grad.isinf() if inf_only else ~p.grad.isfinite()).any() for p in asked)
        if not fits:
            for parameter in parameters:
                parameter.grad.nan_to_num_(0.0, 0.0, 0.0)
        if fits or not skip:
            optimizer.step()
        state["factor"] *= 1 if fits else 0.5
        state["good"] = state["good"] + 1 if fits else (0 if reset else state["good"])
        if grow and state["good"] == interval:
            state.update(factor=state["factor"] * 2, good=0)
        return fits

    return step


RIGHT = {"one by one": one_by_one, "in one sweep": lazy()}
LAZY = {
    "not divided": lazy(divide=False), "only the first parameter": lazy(last_only=True), "nan passes": lazy(inf_only=True),
    "the count goes on": lazy(reset=False), "inf made zero, and stepped": lazy(skip=False), "never grows": lazy(grow=False),
}  # fmt: skip

# %% [predict] equal
# Train with yours, and with `torch.amp.GradScaler`, both from 65,536 on. How near are the two curves?
#
# ( ) Some digits: theirs has more to it
#     It has, for several optimisers and devices. In one step it does what yours does.
# (x) Equal to the last bit
#     Ten lines. Division by a power of two is exact, and the rest is an `if`.
# ( ) Near at first, and they part at the first step that is left out
#     Both leave out the same steps.


# %% equal-run
def with_mine(state):
    def step(loss, optimizer):
        (loss * state["factor"]).backward()
        scaled_step(optimizer, state)

    return step


def with_torch(scaler):
    def step(loss, optimizer):
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


mine = train(2**22, with_mine({"factor": 2.0**16, "good": 0}))
theirs = train(2**22, with_torch(torch.amp.GradScaler(device)))
print(f"accuracy {mine['accuracy']:.3f}, theirs {theirs['accuracy']:.3f}, float32 {single['accuracy']:.3f}")
print("all losses equal, to the last bit:", mine["losses"] == theirs["losses"])
equal.reveal()

# %% [proof] equal-proof
assert mine["losses"] == theirs["losses"] and abs(mine["accuracy"] - acc_single) < 0.02

# %% [markdown] skips-text
# ## A message that frightens
#
# A run that is not ours prints *Gradient overflow. Skipping step* every 2000 steps, and [somebody asks](https://github.com/NVIDIA/apex/issues/864) whether that is a
# problem. Here is one of ours that begins at a factor of four thousand million and tries twice as much after every fifteen good steps.

# %% [predict] skips
# Three seeds, sixty steps each, some of them left out. What has to be repaired?
#
# ( ) The factor: fix it at a value that never overflows, say 1
#     Then nothing is left out, and you have seen above what a factor of 1 does to small gradients.
# ( ) The gradients: set `inf` to 0 and make the step all the same
#     What is left of such a gradient is the part that did not overflow: it takes sides, too.
# (x) Nothing: it loses as many steps as it leaves out
#     Five to seven of sixty, and the loss is a few hundredths higher, as if it had been stopped that much earlier.

# %% skips-run
skipping = lab.case("12/skips")
rows = []
for seed in (0, 1, 2):
    one, well = (bugzoo.Scenario("amp_transformer", faults, seed=seed).run().trace for faults in (skipping.faults, ()))
    left = [event.step for event in one.events if event.kind == "skipped_step"]
    rows.append((len(left), one.metrics["loss"], well.metrics["loss"]))
    print(f"seed {seed}: left out {left}; loss {one.metrics['loss']:.2f}, never skipping {well.metrics['loss']:.2f}")
skips.reveal(f"{[count for count, *_ in rows]} of 60 left out")

# %% [proof] skips-proof
assert all(3 <= count <= 9 and -0.02 < loss - well < 0.12 for count, loss, well in rows)

# %% [folded] skips-read
# After the run: an alarm that is the mechanism
#
# The scaler looks for the largest factor that fits, and finds it as you find the end of a table in the dark. By default that costs one step in 2000. The
# number to watch is the *share* of steps left out, and whether the factor finds a level. Sixty of sixty and a factor that falls for ever was the
# incident; one now and then is health.

# %% [markdown] fine-text
# ## Not fine enough
#
# The third way. bfloat16 has the exponents of float32: nothing here overflows in it, nothing underflows, it needs no scaler. Hence the advice: take bfloat16,
# and forget all this. What it gave away is the fraction.

# %% [predict] ones
# A running sum in bfloat16: add 1 ten thousand times. What comes out?
#
# ( ) 10,000, or close
#     `torch.ones(10_000).sum()` does come close, since it adds up in float32 and rounds once. A running sum rounds each time.
# (x) 256
#     The next number behind 256 is 258. 257 lies half-way, is rounded to the even one, and the sum has stopped for good.
# ( ) inf
#     It ends at 3e38, as float32 does.

# %% ones-run
for dtype in (torch.float16, torch.bfloat16):
    summed, average = torch.zeros((), dtype=dtype), torch.ones((), dtype=dtype)
    for _ in range(10_000):
        summed += 1
        average += (torch.tensor(1.1, dtype=dtype) - average) * 0.001  # a moving average of something that is 1.1
    print(f"{str(dtype)[6:]:9} ten thousand ones: {summed:.0f}   a moving average, from 1 towards 1.1: {average:.3f}")
ones.reveal()

# %% [proof] ones-proof
assert summed == 256 and average == 1
assert torch.ones(10_000, dtype=torch.bfloat16).sum().item() > 9000

# %% [markdown] unmoved-text
# The loss, a moving average, and a *weight*: all of them are sums to which little is added. An update that is less than half the distance to
# the weight's neighbour does nothing.
#
# **Write it:** weights and updates are held in `dtype`. Which share of the updates that are not 0 leaves its weight as it is?


# %% [task] unmoved
def unmoved(weights, updates, dtype):
    """Share of the updates other than 0 (in dtype) that do not change their weight; 0.0 where there are none."""
    ...  # your code


# %% try-unmoved
unmoved = lab.try_out("12/unmoved", unmoved)


# %% [solution] unmoved
def unmoved(weights, updates, dtype):
    """Share of the updates other than 0 (in dtype) that do not change their weight; 0.0 where there are none."""
    weights, updates = weights.to(dtype), updates.to(dtype)
    asked = updates != 0
    return (weights + updates == weights)[asked].float().mean().item() if asked.any() else 0.0


# %% [judge] unmoved
import torch


def judge(answer):
    eighth = 2.0**-8  # half the distance from 1 to its neighbour above, in bfloat16
    for weights, updates, dtype, wanted, what in (
        ([1.0, 1.0, 1.0, 1.0], [0.5, 1e-3, -1e-3, 0.1], torch.bfloat16, 0.5, "two are too small"),
        (
            [1.0, 1.0],
            [0.9 * eighth, -0.9 * eighth],
            torch.bfloat16,
            0.5,
            "below 1 the neighbours are nearer than above",
        ),
        ([1.0, 1.0], [1.1 * eighth, 0.9 * eighth], torch.bfloat16, 0.5, "just over half the distance, and just under"),
        ([0.0, 1e-6], [1e-6, 1e-6], torch.bfloat16, 0.0, "small weights move"),
        ([1.0, 1.0, 1.0], [0.0, 0.0, 1e-4], torch.bfloat16, 1.0, "updates of 0 are not asked"),
        ([1.0, 1.0], [1e-3, 1e-4], torch.float16, 0.5, "float16 is finer"),
        ([1.0], [1e-4], torch.float32, 0.0, "float32 is finer still"),
        ([1.0], [0.0], torch.bfloat16, 0.0, "no updates"),
    ):
        gave = answer(torch.tensor(weights), torch.tensor(updates), dtype)
        good = isinstance(gave, float | int) and abs(gave - wanted) < 1e-6
        yield good, f"{what}: {wanted}, yours says {gave}"


def by_loop(weights, updates, dtype):
    pairs = [(w, u) for w, u in zip(weights.to(dtype).flatten(), updates.to(dtype).flatten(), strict=True) if u != 0]
    return sum(bool(w + u == w) for w, u in pairs) / len(pairs) if pairs else 0.0


def zeros_too(weights, updates, dtype):
    weights, updates = weights.to(dtype), updates.to(dtype)
    return (weights + updates == weights).float().mean().item()


def one_threshold(weights, updates, dtype):
    asked = updates != 0
    small = updates.abs() <= weights.abs() * torch.finfo(dtype).eps / 2
    return small[asked].float().mean().item() if asked.any() else 0.0


def in_single(weights, updates, dtype):
    asked = updates != 0
    return (weights + updates == weights)[asked].float().mean().item() if asked.any() else 0.0


RIGHT = {"pair by pair": by_loop}
LAZY = {
    "updates of 0 counted": zeros_too, "one threshold": one_threshold, "added in float32": in_single,
    "update rounded to 0": lambda w, u, dtype: (u.to(dtype) == 0).float().mean().item(), "none": lambda w, u, dtype: 0.0,
}  # fmt: skip

# %% [predict] fine
# The weights themselves in bfloat16, Adam, no autocast: 2000 steps at a rate of 1e-4, at which float32 gets to about nine in ten. A small rate is the careful choice. What comes out?
#
# ( ) Nearly the same: a gradient is noise, and some more does no harm
#     At a rate of 1e-2 it is so. Noise averages out, and an update that is rounded away leaves nothing to average.
# (x) Far less, and the smaller the rate, the worse
#     The careful choice is the deadly one. At 1e-2 bfloat16 does as well as float32.
# ( ) nan, sooner or later
#     No number here is large or small. They are too coarse.

# %% fine-run
weights = torch.cat([parameter.detach().flatten() for parameter in network().parameters()])
signs = torch.randn(len(weights), device=device).sign()  # Adam's first step: each weight by the rate, up or down
coarse = {}
print("rate     updates that move nothing   accuracy in bfloat16   in float32")
for rate_now, steps in ((1e-2, 300), (1e-3, 300), (1e-4, 2000)):
    own, well = (
        train(32, half=None, rate=rate_now, steps=steps, weights=dtype) for dtype in (torch.bfloat16, torch.float32)
    )
    coarse[rate_now] = unmoved(weights, rate_now * signs, torch.bfloat16), own["accuracy"], well["accuracy"]
    print("{:<8g} {:25.0%} {:22.3f} {:12.3f}".format(rate_now, *coarse[rate_now]))
fine.reveal(f"{coarse[1e-4][1]:.3f} in bfloat16, {coarse[1e-4][2]:.3f} in float32")

# %% [proof] fine-proof
assert coarse[1e-2][1] > coarse[1e-2][2] - 0.03 and coarse[1e-4][2] > 0.88 and coarse[1e-4][1] < 0.8
unmoved_small = coarse[1e-4][0]
kept_single = train(32, half=torch.bfloat16, rate=1e-4, steps=2000)["accuracy"]
assert abs(kept_single - coarse[1e-4][2]) < 0.03

# %% [folded] fine-read
# After the run: compute in half, keep in whole
#
# At 1e-4, {three quarters = three_quarters} of the first updates move nothing. Under *autocast* to bfloat16 the same training does as well as float32: there the weights are kept in float32, rounded afresh for
# each product, and each small update is added to the number that is kept. That is what is mixed in mixed precision. The same advice stands for everything that is added up: losses,
# counts, [averages of weights](https://github.com/d8ahazard/sd_dreambooth_extension/pull/1415) (there a whole EMA model never moved), and [bfloat16
# weights](https://github.com/pytorch/ao/pull/1124), for which others round up or down by chance.

# %% [proof] fine-read-proof
three_quarters = 0.71 < unmoved_small < 0.79

# %% [check] fine_check
# "We moved to bfloat16, so the scaler went out, and since then the reported validation loss is too low." No loss is nan. Where do you look?
#
# ( ) Gradients that underflow
#     bfloat16 has the exponents of float32. What was small stays small, and is not 0.
# (x) The type of what the loss is added up in
#     yes. A sum that stopped growing is divided by a number of samples that has not.
# ( ) An exp() that overflows
#     it would be nan or inf, and at 3e38 only.

# %% [markdown] break-text
# ## Break it yourself
#
# The run that leaves steps out, with sliders: `interval` is the number of good steps after which the scaler tries twice its factor, `tokens_per_update` the divisor
# of the loss.
#
# - At an `interval` of 2000 some steps are left out all the same. Which, and why these?
# - Make `tokens_per_update` small. How does the number of steps that are left out change, and where does the factor end?

# %% panel
panel = lab.break_it(skipping, settings=("seed", "tokens_per_update"), ranges={"tokens_per_update": (256, 1_048_576)})

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The digits model was to fit onto the small card. Its first loss is fine, every other one is nan. No autocast in it, no scaler, so
# there's nothing to underflow. I printed the gradients of the first step: all finite, none large. I divided the learning rate by ten until there was nothing left of it."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("12/second")
seen = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                      the program; lines count from 1
#   print(seen.trace.replay(1).message)                       the first step again
#   own = seen.trace.live.namespace                           the script's own names: own["model"], own["optimizer"]
#   {name: parameter.isnan().float().mean().item() for name, parameter in own["model"].named_parameters()}

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
right_line = next(number for number, text in enumerate(second.source.splitlines(), 1) if text.endswith(".half()"))
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said
assert np.isfinite(seen.trace.loss[0]) and np.isnan(seen.trace.loss[1:]).all() and np.isfinite(seen.trace.grad_norm[0])
eps_gone = torch.tensor(1e-8).half().item() == 0 and (torch.tensor(1e-4).half() ** 2).item() == 0
assert "optimizer.step" in seen.trace.replay(1).message

# %% [folded] turn-read
# After you have handed in: an optimiser is a place for small numbers, too
#
# Adam keeps the mean of the *squared* gradient, and divides by its root plus `eps = 1e-8`. In float16 the square of 1e-4 {is 0, and so is 1e-8 = eps_gone}: 0/0, behind a gradient that is
# finite. The learning rate is multiplied on afterwards. It is the second way to fail, and for once it is heard.
#
# A larger `eps` takes the `nan` away and leaves the third way: updates that move nothing. What helps is what autocast does: weights and the
# optimiser's numbers in float32.

# %% [check] recap_check
# Under float16 the factor of a scaler has fallen from 65,536 to 1e-6 over a night, and the loss stands still. What do you ask first?
#
# ( ) Which `init_scale` would have been right
#     it has tried forty of them, and none was.
# (x) Whether the loss itself was finite when it fell, and then what the first operation was that was not
#     yes. If the loss was not, no factor helps. And before you go on, set the factor back: at 1e-6 nothing is learnt, whatever you repair.
# ( ) Whether the learning rate is too high
#     at first it was never used, since no step was made.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 12` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="12")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Ask which of the three it is: too large, too small, not fine enough.** Only the first makes `nan`. *Fails when* something divides by
#    what became 0.
# 2. **A factor that only falls points in front of the loss; a step left out now and then is health.** *Fails when* the gradient itself really explodes: then the
#    loss is finite and the norm climbs.
# 3. **Count what becomes 0, and do not judge by the count.** Half may be lost for nothing; the next halving may turn the direction. *Fails when* a layer
#    gives zeros of its own, as ReLU does: compare with float32.
# 4. **Compute in half, add up in whole:** weights, moments, averages, losses. *Fails when* memory forbids it; then round by chance, or keep the
#    remainder.
#
# **Next:** repair one yourself: [exercise 34, *no progress*](../exercises/34_no_progress.ipynb), then [exercise 35, *no autocast
# anywhere*](../exercises/35_no_autocast.ipynb), and find the ill one of five: [exercise 36](../exercises/36_fewer_bits.ipynb). The result is judged by what your program does.
# The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
