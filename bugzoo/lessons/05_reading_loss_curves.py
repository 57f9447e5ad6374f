"""Lesson 05: what a loss curve says, what it does not, and what smoothing does to both."""

# %% [case] incident
# mlp data/no_shuffle

# %% [case] second
# digits_cnn initialisation/confident_head

# %% [case] crowd
# mlp data/label_noise

# %% [markdown] title
# # 05 · Reading loss curves
#
# A loss curve is what everybody looks at, and what most is read into. In this lesson you meet one that comes in waves, and write
# three readers: one that smooths, one that says whether a curve still falls, and one that says when to stop. Then you let each
# of them be wrong. All curves are those of real runs, made while you look.
#
# You need about {54 = minutes} minutes, and to know what a step, an epoch and a validation set are. After *Read the order* is a good
# place for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. The cells build on each other: after a restart of the kernel choose *Run* → *Run All Above
# Selected Cell*; what you said and what you wrote is still there.

# %% setup
import numpy as np
import torch
import torch.nn.functional as F

import bugzoo
from bugzoo import lab

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("05")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Thursday, 21:05.* "The digits model. Its loss comes down, but in waves: down, up, down, up. It reads {77 % = accuracy_bad} of the digits,
# > and on Monday it was {95 % = accuracy_good}. One colleague says that the learning rate is too high. The other says that this is noise:
# > smooth the curve, and let it run."
#
# Two readings of one curve, and each of them asks for something else to be done. An epoch of this program has 36 steps; there are six epochs.

# %% [predict] where
# If a rate is too high, steps overshoot; if batches differ, losses scatter. Where on the curve will the upward parts of these
# waves lie?
#
# ( ) Anywhere: each wave is as long as it happens to be
#     Noise and overshooting know no calendar. These waves do.
# ( ) Mostly early, while the rate is too high for a fresh network
#     The waves even grow towards the end.
# (x) At the same steps in every epoch
#     So the waves belong to the data: only the data starts anew with each epoch.

# %% live
incident = lab.case("05/incident")
view = lab.live(incident, explain=False)

# %% [markdown] smooth-text
# ## Write a smoother
#
# Every dashboard has a slider that smooths. Behind it is an exponential moving average: keep most of the old value, and take
# in a little of the new one,
#
# ```python
# average = keep * average + (1 - keep) * loss
# ```
#
# It begins at 0, so that its first values are far too low. Nothing that begins at 0 can show how a loss begins. After `t` values the weights
# add up to `1 - keep**t`, and dividing by that mends it: this is **bias correction**, the same as in Adam.
#
# **Write it,** with the correction.


# %% [task] smoothed
def smoothed(loss, keep=0.9):
    """The exponential moving average of a loss, (steps,) -> (steps,), with bias correction."""
    ...  # your code


# %% try-smoothed
smoothed = lab.try_out("05/smoothed", smoothed)


# %% [solution] smoothed
def smoothed(loss, keep=0.9):
    """The exponential moving average of a loss, (steps,) -> (steps,), with bias correction."""
    average, made = 0.0, []
    for step, value in enumerate(loss, 1):
        average = keep * average + (1 - keep) * value
        made.append(average / (1 - keep**step))
    return np.array(made)


# %% [judge] smoothed
import numpy as np


def weights(loss, keep):
    """Each value from its definition: the older, the less."""
    made = []
    for end in range(1, len(loss) + 1):
        weight = keep ** np.arange(end - 1, -1, -1.0)
        made.append((weight * np.array(loss[:end])).sum() / weight.sum())
    return np.array(made)


def judge(answer):
    for loss, keep, what in (
        ([2.0, 2.0, 2.0, 2.0], 0.9, "a constant stays what it is"),
        ([3.0, 1.0, 2.0, 0.5], 0.5, "keep 0.5"),
        ([3.0, 1.0, 2.0, 0.5, 0.4], 0.99, "keep 0.99"),
        ([1.0, 0.0, 0.0, 0.0], 0.9, "one value, and nothing behind it"),
        ([3.0, 1.0, 2.0], 0.0, "keep 0: the loss itself"),
    ):
        gave = np.asarray(answer(np.array(loss), keep), dtype=float)
        right = weights(loss, keep)
        good = gave.shape == right.shape and np.allclose(gave, right, atol=1e-6)
        yield good, f"{what}: {np.round(right, 3).tolist()}, yours gives {np.round(gave, 3).tolist()}"


def two_sums(loss, keep=0.9):
    over, under, made = 0.0, 0.0, []
    for value in loss:
        over, under = keep * over + value, keep * under + 1
        made.append(over / under)
    return made


def uncorrected(loss, keep=0.9):
    average, made = 0.0, []
    for value in loss:
        average = keep * average + (1 - keep) * value
        made.append(average)
    return made


def from_the_first(loss, keep=0.9):
    average, made = loss[0], []
    for value in loss:
        average = keep * average + (1 - keep) * value
        made.append(average)
    return made


RIGHT = {"two sums": two_sums, "from its definition": weights}
LAZY = {
    "no correction": uncorrected, "begun at the first value": from_the_first,
    "the mean so far": lambda loss, keep=0.9: np.cumsum(loss) / np.arange(1, len(loss) + 1), "the loss itself": lambda loss, keep=0.9: loss,
}  # fmt: skip

# %% [predict] hidden
# Now move the slider to the right, as one does, to `keep = 0.99`. What is left of the waves?
#
# ( ) All of it, only softer
#     With `0.9` that is so. A memory of 100 steps is longer than an epoch of 36.
# (x) Next to nothing: an honest, slow descent
#     And with the waves goes the one hint of what is wrong. Nothing is left to be seen but "needs more time".
# ( ) They are shifted to the right
#     A little, as every average lags behind. Mostly they are gone.

# %% smooth-run
trace, healthy = view.result.trace, view.healthy.trace
print("swing within an epoch, highest minus lowest loss:")
for keep in (0.0, 0.9, 0.99):
    swings = np.ptp(smoothed(trace.loss, keep).reshape(6, 36), axis=1)
    print(f"   keep {keep:4}: ", *(f"epoch {epoch}: {swing:.2f}   " for epoch, swing in enumerate(swings[1:], 2)))
hidden.reveal(f"{swings[3]:.2f} where it was {np.ptp(trace.loss.reshape(6, 36), axis=1)[3]:.2f}")

# %% [proof] smooth-proof
accuracy_bad, accuracy_good = trace.metrics["accuracy"], healthy.metrics["accuracy"]
raw_swing, left_swing = np.ptp(trace.loss.reshape(6, 36), axis=1)[3], swings[3]
assert raw_swing > 5 * left_swing
grows = np.ptp(trace.loss[180:]) > np.ptp(trace.loss[36:72])
assert grows

# %% [markdown] fold-text
# ## Fold it
#
# Before you smooth a wave away, ask whether it comes back. Cut the loss into its epochs, take each one's mean off, and lay them on
# each other: noise lies criss-cross, and what has a place of its own stands out. `alike` is the correlation of an epoch with the
# one before it: 1 for the same shape, 0 for none.

# %% [predict] alike_is
# How much is an epoch of the incident like the one before it?
#
# ( ) About 0: they lie criss-cross
#     That would be noise, or a rate that is too high: tried with one, epochs are {not alike at all = alike_fast}.
# ( ) About `0.5`: waves, and noise on top
#     There is hardly any noise in it. Every step has its own loss, again and again.
# (x) More than `0.9`
#     What looked restless is very orderly: the same steps are dear, and the same cheap, in every epoch.

# %% fold
from bugzoo.plots import folded

lab.picture(folded.picture({"the incident": trace.loss, "healthy": healthy.loss}, steps=36))
alike, alike_healthy = (folded.measure(run.loss, 36)[1] for run in (trace, healthy))
print(f"epochs alike: {alike:.2f}, healthy {alike_healthy:.2f}")
alike_is.reveal(f"{alike:.2f}")
where.reveal()

# %% [proof] fold-proof
assert alike > 0.9 and alike_healthy < 0.6
fast = bugzoo.Scenario("mlp", settings={"learning_rate": 0.1}).run().trace
alike_fast = bool(abs(folded.measure(fast.loss, 36)[1]) < 0.15)
early = str([lesson.questions[name] for name in ("where", "hidden", "alike_is", "batches")][:3])
assert "shuffl" not in early and "sorted" not in early

# %% [markdown] order-text
# ## Read the order
#
# What returns with each epoch is the order of the samples. So look at what a batch holds: let the run stand still in its second
# epoch, and make a few steps.

# %% [predict] batches
# How many of the ten digits will be in a batch of 32 pictures?
#
# ( ) Nine or ten
#     So it is in the healthy twin: drawn at random, a batch of 32 lacks hardly any digit.
# ( ) About five
#     Then an epoch would have waves, but lower ones.
# (x) One or two
#     Each stretch of three or four batches is one digit. The cheapest answer is that digit, whatever the picture; then comes the next
#     one, and the loss jumps.

# %% batches-run
paused = lab.LiveView(incident, pause_at=40, show_twin=False).start()
paused.wait_pause()
kinds = []
for _ in range(8):
    paused.advance(1)
    digits = paused.objects["targets"].unique().tolist()
    kinds.append(len(digits))
    print(f"step {len(paused.points)}: loss {paused.points[-1][1]:.2f}   digits in the batch: {digits}")
paused.stop()
batches.reveal(f"{min(kinds)} to {max(kinds)}")

# %% instrument
from bugzoo.diagnostics import batch_mix

run = lab.LiveView(incident, show_twin=False).start().result
print(batch_mix.judge(batch_mix.measure(run)).message)
print(incident.diff())

# %% [proof] order-proof
assert max(kinds) <= 2 and batch_mix.judge(batch_mix.measure(run)).fired

# %% [folded] order-read
# After the run: an old acquaintance
#
# The training data was put in order by class, and the loader does not mix it. It happens with files that were written class by
# class, and in every framework: a loss that [rises every 10,000 steps](https://github.com/BVLC/caffe/issues/1445) is one report, another is
# [a set of spikes that went away with the shuffling](https://github.com/jingyaogong/minimind/pull/503).
#
# So neither colleague was right. It was no noise, because it came back; and no rate, because a rate knows nothing of epochs.

# %% [predict] slower
# And the first colleague's repair? A third of the learning rate, all else as it is.
#
# ( ) Better: smaller steps forget less of the other digits
#     They do forget less. They also learn less, and six epochs are over soon.
# (x) No better, and the waves are as orderly as before
#     Accuracy hardly moves, the epochs are still alike. A smaller rate makes the waves lower, not the cause.
# ( ) The waves are gone
#     They are lower. Take each epoch's mean off and fold: the same shape again.

# %% slower-run
from bugzoo.running import run_here

third = bugzoo.Scenario(incident.program, incident.faults, {"learning_rate": 3e-4}).run().trace
print(f"a third of the rate: epochs alike {folded.measure(third.loss, 36)[1]:.2f}, {third.metrics}")
slower.reveal(f"accuracy {third.metrics['accuracy']:.2f}")

mixed = incident.source.replace("shuffle=False", "shuffle=True")
assert mixed != incident.source
mended = run_here(mixed).trace
print(f"mixed again:         epochs alike {folded.measure(mended.loss, 36)[1]:.2f}, {mended.metrics}")

# %% [proof] slower-proof
assert third.metrics["accuracy"] < accuracy_bad + 0.01 and folded.measure(third.loss, 36)[1] > 0.9
assert mended.metrics["accuracy"] > 0.94

# %% [markdown] trend-text
# ## Does it still fall?
#
# The other question that everybody asks of a curve. Not "is the last loss lower than the first": of two noisy numbers
# one is always lower. Fit a line to the losses, and compare its slope with the error of that slope:
#
# ```python
# x = np.arange(len(loss)) - (len(loss) - 1) / 2                  # steps, their middle at 0
# slope = (x * loss).sum() / (x**2).sum()
# rest = loss - loss.mean() - slope * x                           # what the line leaves
# error = np.sqrt((rest**2).sum() / (len(loss) - 2) / (x**2).sum())
# ```
#
# A slope within two errors of 0 may well be chance: of curves without any trend, about one in twenty is steeper.
#
# **Write it:** `"falling"`, `"rising"` or `"unclear"`.


# %% [task] trend
def trend(loss):
    """What a line through the loss does: "falling" or "rising" if its slope is more than two errors from 0, else "unclear"."""
    ...  # your code


# %% try-trend
trend = lab.try_out("05/trend", trend)


# %% [solution] trend
def trend(loss):
    """What a line through the loss does: "falling" or "rising" if its slope is more than two errors from 0, else "unclear"."""
    x = np.arange(len(loss)) - (len(loss) - 1) / 2
    slope = (x * loss).sum() / (x**2).sum()
    rest = loss - loss.mean() - slope * x
    error = np.sqrt((rest**2).sum() / (len(loss) - 2) / (x**2).sum())
    if abs(slope) <= 2 * error:
        return "unclear"
    return "falling" if slope < 0 else "rising"


# %% [judge] trend
import numpy as np


def judge(answer):
    def share(slope, size, says, count=200, steps=60):
        rng = np.random.default_rng(5)
        x = np.linspace(-0.5, 0.5, steps)
        said = [answer(1.0 + slope * x + size * rng.normal(size=steps)) for _ in range(count)]
        return sum(one == says for one in said) / count

    for slope, size, says, low, high, what in (
        (-1.0, 0.1, "falling", 0.99, 1.0, "a clear fall"),
        (1.0, 0.1, "rising", 0.99, 1.0, "a clear rise"),
        (0.0, 0.1, "unclear", 0.9, 0.99, "noise without a trend"),
        (0.0, 5.0, "unclear", 0.9, 0.99, "loud noise without a trend"),
        (-0.5, 0.6, "falling", 0.3, 0.75, "a slow fall in loud noise"),
        (-0.01, 0.0001, "falling", 0.99, 1.0, "a tiny fall in tiny noise"),
    ):
        gave = share(slope, size, says)
        yield low <= gave <= high, f"{what}: {says!r} in {low:.0%} to {high:.0%} of 200 curves, yours in {gave:.0%}"


def by_numpy(loss):
    (slope, _), table = np.polyfit(np.arange(len(loss)), loss, 1, cov=True)
    steep = slope / np.sqrt(table[0, 0])
    return "falling" if steep < -2 else "rising" if steep > 2 else "unclear"


def by_correlation(loss):
    r = np.corrcoef(np.arange(len(loss)), loss)[0, 1]
    t = r * np.sqrt((len(loss) - 2) / max(1e-12, 1 - r * r))
    return "unclear" if abs(t) <= 2 else "falling" if t < 0 else "rising"


def by_sign(loss):
    return "falling" if np.polyfit(np.arange(len(loss)), loss, 1)[0] < 0 else "rising"


def by_ends(loss):
    return "falling" if loss[-1] < loss[0] - 0.05 else "rising" if loss[-1] > loss[0] + 0.05 else "unclear"


def by_limit(loss):
    slope = np.polyfit(np.arange(len(loss)), loss, 1)[0]
    return "falling" if slope < -0.005 else "rising" if slope > 0.005 else "unclear"


RIGHT = {"by polyfit": by_numpy, "by correlation": by_correlation}
LAZY = {"the sign": by_sign, "its ends": by_ends, "a fixed limit": by_limit, "never sure": lambda loss: "unclear"}

# %% [markdown] alarm-text
# ## Smooth first, then judge?
#
# "The raw curve is too noisy to see a trend, so smooth it." Let us count. A model that does not learn any more has no trend at all, by
# construction: we take the trained twin, do not train it, and draw 100 batches. That is one curve; we make 200 of them.

# %% [predict] alarms
# On the raw curves your test sees a trend in about one of twenty. On the same curves, smoothed with `keep = 0.9`?
#
# ( ) In fewer: smoothing takes the noise away, and noise was all there was
#     It takes the noise away, and the error with it, for the test looks at the scatter around its line. What is left are long slow waves, and those
#     look like slopes.
# ( ) In about as many
#     The slopes are about the same. Their errors look much smaller than they are.
# (x) In more than half
#     After smoothing, each value has most of the one before it in it. A hundred values say no more than a handful, and the test
#     believes that there are a hundred.

# %% alarm-run
twin = bugzoo.Scenario("mlp").run().namespace
with torch.no_grad():
    logits = twin["model"](twin["images"][twin["train"]])
    each = F.cross_entropy(logits, twin["labels"][twin["train"]], reduction="none").numpy()
rng = np.random.default_rng(0)
flat = [rng.choice(each, (100, 32)).mean(axis=1) for _ in range(200)]  # 200 curves of 100 batches, nothing is learnt
called = {}
for keep in (0.0, 0.5, 0.9, 0.97):
    called[keep] = np.mean([trend(smoothed(curve, keep)) != "unclear" for curve in flat])
    print(f"keep {keep:4}: a trend is seen in {called[keep]:4.0%} of the curves without one")
alarms.reveal(f"{called[0.9]:.0%}")

# %% [proof] alarm-proof
false_raw, false_smooth = called[0.0], called[0.9]
assert 0.01 < false_raw < 0.1 and false_smooth > 0.5

# %% [folded] alarm-read
# After the run: an eye is such a test, too
#
# Without smoothing {4.5 % = false_raw} of these curves seem to have a trend, with it {66 % = false_smooth}. Your eye judges a smoothed curve just as the test does: it sees a
# clean line that goes down, and no scatter that would warn it. **Smooth to show, judge on the raw numbers,** or on means of
# pieces that do not overlap.

# %% [markdown] stop-text
# ## When to stop
#
# Two curves now: the loss of the training, and that of data that is not trained with. Where the second one turns upwards the model
# has begun to learn by heart: that is the crossover that everybody knows from books. The rule that is made of it is *early stopping*: if the
# validation loss has not become lower for `patience` epochs, stop, and take the model of the best epoch so far.
#
# **Write it.** The rule may not look ahead: what comes after it has stopped is never seen.


# %% [task] stop_at
def stop_at(losses, patience):
    """(epoch whose model is taken, epoch in which the rule stops), both from 1; the second is None if it never stops."""
    ...  # your code


# %% try-stop
stop_at = lab.try_out("05/stop_at", stop_at)


# %% [solution] stop_at
def stop_at(losses, patience):
    """(epoch whose model is taken, epoch in which the rule stops), both from 1; the second is None if it never stops."""
    best = 1
    for epoch, loss in enumerate(losses, 1):
        if loss < losses[best - 1]:
            best = epoch
        if epoch - best >= patience:
            return best, epoch
    return best, None


# %% [judge] stop_at
import numpy as np


def judge(answer):
    for losses, patience, right, what in (
        ([3.0, 2.0, 1.0, 1.5, 1.6, 1.7], 2, (3, 5), "down, and up again"),
        ([3.0, 2.0, 1.0, 0.9, 0.8], 2, (5, None), "it only falls"),
        ([3.0, 2.0, 2.5, 1.0, 0.9], 2, (5, None), "one bad epoch is forgiven"),
        ([3.0, 3.5, 3.6, 3.7, 1.0, 0.1], 3, (1, 4), "up at first: it stops before the best comes"),
        ([3.0, 2.0, 2.0, 2.0, 2.0], 3, (2, 5), "the same again is not lower"),
        ([1.0, 2.0, 3.0], 5, (1, None), "over before patience is"),
    ):
        gave = answer(np.array(losses), patience)
        yield gave == right, f"{what}, patience {patience}: {right}, yours says {gave}"


def with_a_counter(losses, patience):
    best, at, waited = float("inf"), 0, 0
    for epoch, loss in enumerate(losses.tolist(), 1):
        if loss < best:
            best, at, waited = loss, epoch, 0
        else:
            waited += 1
        if waited == patience:
            return at, epoch
    return at, None


def of_all(losses, patience):
    best = int(np.argmin(losses)) + 1
    return best, best + patience if best + patience <= len(losses) else None


def first_rise(losses, patience):
    for epoch in range(1, len(losses)):
        if losses[epoch] > losses[epoch - 1]:
            return epoch, epoch + 1
    return len(losses), None


def rows(losses, patience):
    at, stop = with_a_counter(losses, patience)
    return at - 1, stop if stop is None else stop - 1


RIGHT = {"a counter": with_a_counter}
LAZY = {
    "looks ahead": of_all, "the first rise": first_rise, "rows for epochs": rows,
    "the last": lambda losses, patience: (len(losses), None),
}  # fmt: skip

# %% [markdown] look-text
# Three programs are looked at after each epoch now. The look must change nothing: it draws no random number and leaves the model in
# the mode that it found. It is put into the text of the program, in front of the loop and behind its last line.


# %% look
LOOK = '''
looks = []


def look():
    """Loss and accuracy as the model is now: validation, then training data."""
    with torch.random.fork_rng(), torch.no_grad():
        model.eval()
        for loader in (validation_loader, train_loader):
            pairs = [(model(inputs), targets) for inputs, targets in loader]
            logits, targets = (torch.cat(parts) for parts in zip(*pairs))
            looks.append((F.cross_entropy(logits, targets).item(), (logits.argmax(-1) == targets).float().mean().item()))
        model.train()


'''
LAST = "        losses.append(loss.item())"


def looked(case):
    """Run it. The loss as it was printed, mean of each epoch; (epochs, 2) of the validation; (epochs, 2) of the training data."""
    text = case.source.replace("# %% Training", LOOK + "# %% Training")
    run = run_here(text.replace(LAST, LAST + "\n        if step % len(train_loader) == 0:\n            look()"))
    looks = np.array(run.namespace["looks"])
    return run.trace.loss.reshape(len(looks) // 2, -1).mean(axis=1), looks[::2], looks[1::2]


# %% [predict] below
# A healthy run first, without dropout. In its first epoch the training loss is {2.08 = printed_first} on average. The validation loss right after it?
#
# ( ) Higher: the model was never trained on that data
#     It was hardly trained on anything yet. And the two numbers are not about the same model.
# ( ) About the same
#     Of the same model they would be. Compare with the last column.
# (x) Clearly lower
#     The training loss is a mean over the epoch, from a model that knew nothing to one that knows something. The validation sees
#     the last of them only. Nothing leaks, nothing is wrong.

# %% below-run
printed, valid, seen = looked(bugzoo.Scenario("mlp"))
print("epoch   training loss, as printed   validation   the training data, measured at the same moment")
for epoch in range(len(printed)):
    print(f"{epoch + 1:5}   {printed[epoch]:25.3f}   {valid[epoch, 0]:10.3f}   {seen[epoch, 0]:10.3f}")
print("nothing was changed by looking:", valid[-1, 1] == np.float32(healthy.metrics["accuracy"]))
below.reveal(f"{valid[0, 0]:.2f}")

# %% [proof] below-proof
printed_first, valid_first, seen_first = printed[0], valid[0, 0], seen[0, 0]
assert valid_first < printed_first - 0.3 and abs(valid_first - seen_first) < 0.05
assert abs(valid[-1, 0] - healthy.metrics["loss"]) < 1e-4

# %% [check] other_reasons
# And if the validation loss stays below the training loss to the end? One of these is **no** explanation. Which?
#
# ( ) Dropout or augmentation: the training is given a harder task
#     that explains it: both are off while validating.
# ( ) The training labels hold mistakes that the validation labels do not
#     that explains it, you will meet such a run below.
# (x) The learning rate is too low
#     right, this explains nothing: a model that learns slowly learns slowly on both.
# ( ) Pictures of the validation are in the training data as well
#     that explains why the two are close, and it is the reason to look for first.

# %% [markdown] modular-text
# Now the rule. A network learns to add two numbers modulo 53 from half of all pairs; the other pairs are there to see whether it
# has found the rule of addition. It is trained for 100 epochs, and the rule has a patience of 8.

# %% [predict] patience
# What does early stopping make of this run?
#
# ( ) It stops where the model is at its best
#     That is the idea. This model is at its best after the rule has given up.
# ( ) It never stops: the validation loss falls to the end
#     It falls to the end from its highest point on. Before that it rises.
# (x) It stops in the first tenth, with a model that knows next to nothing
#     The loss on new pairs rises first, for many epochs, and then it falls to almost nothing. A crossover is not always the end of
#     learning.

# %% modular-run
printed, valid, seen = looked(bugzoo.Scenario("modular_addition", settings={"share": 0.5, "epochs": 100}))
for epoch in (1, 4, 8, 10, 20, 30, 50, 70, 100):
    loss, right = valid[epoch - 1]
    print(f"epoch {epoch:3}: training {printed[epoch - 1]:.2f}   validation {loss:.2f}, {right:.0%} right")
taken, stopped = stop_at(valid[:, 0], patience=8)
print(f"the rule stops in epoch {stopped} and takes the model of epoch {taken}: {valid[taken - 1, 1]:.0%} right")
print(f"at the end: {valid[-1, 1]:.0%} right")
patience.reveal(f"{valid[taken - 1, 1]:.0%} against {valid[-1, 1]:.0%}")

# %% [proof] modular-proof
stop_epoch, taken_epoch, taken_right = stopped, taken, valid[taken - 1, 1]
assert stop_epoch <= 12 and taken_right < 0.1 and valid[-1, 1] > 0.99
highest = valid[:, 0].max()
first_valid = valid[0, 0]
known_early = seen[20, 1]

# %% [folded] modular-read
# After the run: by heart first, understood later
#
# The validation loss rises from {4.14 = first_valid} to {4.6 = highest} before it falls. After 21 epochs the training pairs are all known
# ({100 % = known_early}), and half of the new ones are wrong. Then weight decay, which makes a rule cheaper than a list, does the
# rest. This is called [grokking](https://arxiv.org/abs/2201.02177); it is the small sister of a common case, in which a run with much
# regularisation, or with a warm-up, looks worse before it looks better. A rule with patience needs to know how long *worse* may last.

# %% [markdown] crowd-text
# One more. The digits again, 60 epochs; but of the training labels four in ten were dealt out anew. The validation labels are right.

# %% [predict] two_bests
# In which epoch is the validation *loss* at its lowest, and in which is the most *read right*?
#
# ( ) In about the same epoch: both measure how good the model is
#     They measure two things. Accuracy asks who is first, the loss how sure one may be of it.
# ( ) The loss is at its lowest first, the accuracy goes on rising
#     That is the common order, where a model becomes too sure. Here the labels teach doubt, and it is the other way round.
# (x) The accuracy is at its best first, long before the loss
#     While the model still becomes surer of what is right, it has begun to learn the wrong labels by heart.

# %% crowd-run
crowd = lab.case("05/crowd")
printed, valid, seen = looked(bugzoo.Scenario(crowd.program, crowd.faults, {"epochs": 60}))
for epoch in (1, 5, 10, 15, 20, 30, 40, 50, 60):
    loss, right = valid[epoch - 1]
    print(f"epoch {epoch:2}: training {printed[epoch - 1]:.2f}   validation {loss:.2f}, {right:.1%} right")
by_loss, by_right = valid[:, 0].argmin() + 1, valid[:, 1].argmax() + 1
print(f"lowest loss in epoch {by_loss}: {valid[by_loss - 1, 1]:.1%} right")
print(f"most right in epoch {by_right}: {valid[by_right - 1, 1]:.1%}")
two_bests.reveal(f"accuracy epoch {by_right}, loss epoch {by_loss}")

# %% [proof] crowd-proof
assert by_loss - by_right >= 8, (by_loss, by_right)
loss_epoch, right_epoch = (
    (by_loss - 6, by_loss + 6),
    (by_right - 8, by_right + 8),
)  # plateaus: another processor picks another
right_at_loss, right_at_best = valid[by_loss - 1, 1], valid[by_right - 1, 1]
points_lost = right_at_best - right_at_loss
last_right = valid[-1, 1]
above = bool((printed > valid[:, 0]).all())
early_right = valid[15, 1]

# %% [folded] crowd-read
# After the run: choose by what you want
#
# The loss is lowest about epoch {45 = loss_epoch}, with {92 % = right_at_loss} read right; the most, {96 % = right_at_best}, were right about epoch {28 = right_epoch}, and {95 % = early_right} already in epoch
# 16. At the end it is {89 % = last_right}: the training loss falls all the while, and what it falls by is wrong labels, learnt by heart. And it
# {lies above = above} the validation loss in every epoch, for the labels that it is measured with are wrong in part.
#
# So the crossover in the loss came late, and the damage early. Decide beforehand which of the two you choose a model by, and
# choose by what the model is for.

# %% [markdown] break-text
# ## Break it yourself
#
# Move the sliders, press **Run**, and try to be wrong about the curve:
#
# - Where do the waves go with batches of 512? And with 20 epochs, does the run heal by itself?
# - Find a learning rate at which you cannot tell waves from overshooting by eye.
# - Which setting gives a curve that still falls, and which one that is flat from the start?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("mlp", faults=("data/no_shuffle",)), settings=("seed", "learning_rate", "batch_size", "epochs")
)

# %% [check] scale
# A colleague's curve has the shape of yours to the last tooth, and lies 32 times as high, from the first step on. What is it?
#
# ( ) A learning rate that is 32 times as high
#     another rate gives another shape. And the first loss comes before any step.
# (x) A sum over the batch where yours is a mean
#     yes. A curve has a unit: nats for each sample, for each token, for each batch. Compare curves only after asking which.
# ( ) Noise
#     noise does not multiply.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The convolutional net. Its loss falls as nicely as a loss can, to a fifth of what it was in
# {180 = turn_steps} steps, and there is no overfitting to be seen. Only that it reads {89 % = turn_accuracy} of the digits, and last week's version {94 % = turn_healthy}. The curve looks so
# good that I think the data has changed."* It is not the fault that you know.
#
# Say **what** is wrong, in which **line**, since which **step** (counted from 1), and which **test** would tell it from what
# looks like it. A curve has a beginning, and most people look at its end. There are three hints if you are stuck; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Eight
# minutes: it interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("05/second")
run = lab.live(second, explain=False).result
clock = lab.timer(8)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                         the program; lines count from 1
#   print(run.trace.loss[:5], run.trace.loss[-5:])                the two ends; in which unit?
#   print(np.log(10), run.trace.loss[0] / np.log(10))             guessing, and how many times that
#   trend(run.trace.loss[-100:])

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
turn_first, turn_end, turn_steps = run.trace.loss[0], run.trace.loss[-36:].mean(), len(run.trace.loss)
turn_accuracy, turn_healthy = run.trace.metrics["accuracy"], second.healthy().run().trace.metrics["accuracy"]
guessing = np.log(10)
assert 4 < turn_first / turn_end < 7 and turn_end > 40 * guessing
changed = {text for text in second.source.splitlines() if text not in second.healthy().source.splitlines()}
lines = [number for number, text in enumerate(second.source.splitlines(), 1) if text in changed]
offered = dict(zip("ABCD", form.tests, strict=True))
best = [
    judged(second, {"cause": cause, "place": line, "step": 1, "test": test})
    for cause in form.causes
    for line in lines
    for test in offered
]
assert any("4 of 4" in one for one in best), best

# %% [folded] turn-read
# After you have handed in: read the axis
#
# The shape is perfect, and the numbers are not. A loss of {582 = turn_first} in the very first step, before anything was learnt, where guessing costs
# {2.3 = guessing}; and {111 = turn_end} at the end. The head's weights begin many times too large: the network is sure of everything from the start, and
# spends the whole training on becoming less sure. A sum over the batch would be another multiple, 32 times that of guessing, and would
# depend on the size of the batch; this does not.
#
# A picture scales its axis to whatever there is. Read the numbers on it first.

# %% [check] recap_check
# A curve is restless. Before you touch the learning rate or the slider for smoothing, what do you look at?
#
# ( ) Whether the smoothed curve falls
#     a smoothed curve nearly always goes somewhere, also where there is no trend at all.
# (x) Whether the unrest comes back at the same steps of each epoch
#     yes. One line of numpy, and it separates the data from the optimiser.
# ( ) Whether the validation loss is above the training loss
#     it tells about generalisation, and nothing about unrest.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 05` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="05")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Fold a restless curve before you smooth it.** What returns with each epoch is the data; what does not is the optimiser or
#    noise. *Fails when* the order is mixed anew and wrong all the same, or an epoch is longer than the run.
# 2. **Smooth to show, judge on raw numbers.** A smoothed curve without a trend looks as if it had one. *Fails when* the
#    raw losses hang together themselves: then compare means of pieces that do not overlap.
# 3. **Ask of each curve whose loss it is:** of which model, on which data, in which mode, per what. A validation loss below the
#    training loss is often only that. *Fails when* it is taken for an excuse: look for pictures that are in both sets first.
# 4. **A crossover is a question, not a verdict.** Loss and accuracy can turn in different epochs, and some runs turn back. *Fails
#    when* nothing pulls the model towards a rule: then what is learnt by heart stays so.
#
# **Next:** [exercise 13, *one spike*](../exercises/13_one_spike.ipynb), and [exercise 14, *two curves*](../exercises/14_two_curves.ipynb). The same instruments work on your own
# script, without changing it: `bugzoo checkup train.py`.
