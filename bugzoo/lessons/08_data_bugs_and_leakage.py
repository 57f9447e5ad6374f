"""Lesson 08: a number that is too good, a test that everybody recommends and that says nothing, and a leak nobody warns of."""

# %% [case] incident
# regression_mlp data/target_among_inputs

# %% [case] copies
# mlp data/leaky_split

# %% [case] second
# word_lines data/leaky_vocabulary

# %% [markdown] title
# # 08 · Data bugs and leakage
#
# The bugs so far made a number bad. The ones of this lesson make it good, and it is wrong all the same: something of what the model is
# examined in has reached it beforehand. You find the column that does it, the rows that do it and the relatives that do it, work out
# what a leak is worth before you look, and learn which one everybody warns of and which one nobody does.
#
# You need about {60 = minutes} minutes, and to know what a validation set is for. After *The same pictures twice* is a good place for a pause.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
import contextlib
import io

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import bugzoo
from bugzoo import lab
from bugzoo.running import run_here

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("08")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Friday, 16:40.* "We took over the model that says how far a patient's diabetes will have gone on in a year. Theirs explained {48 % = r2_healthy} of
# > the variance, from ten measurements. I rewrote how the table is put together, and nothing else: {98 % = r2_broken}. Same ten columns wide,
# > same network, same ten epochs, the same rows held back for validation. The clinic wants it on Monday."
#
# A small network, 283 patients to learn from, 71 to be judged by. The split is clean: no patient is on both sides, and that was checked.

# %% [predict] guess
# What do you say on Friday at 16:41?
#
# ( ) Congratulations: their table must have been read wrongly
#     It can happen. But then somebody is able to say what was wrong with it, and to show it.
# ( ) It has overfitted: it knows its patients by heart
#     Then the rows held back would be bad. It is on *them* that it reaches this number.
# (x) Nothing is known of these patients that would explain it: where did it come from?
#     A number has a ceiling that the data set. Ask what the best honest one could be before you ask what became better.

# %% live
incident = lab.case("08/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
print("incident:", {name: round(value, 3) for name, value in trace.metrics.items()})
print("twin:    ", {name: round(value, 3) for name, value in healthy.metrics.items()})
own = view.objects  # the script's own names
model, rows, values, validation = (own[name] for name in ("model", "rows", "values", "validation"))


def r2(model, rows, values):
    """The share of the variance that the model explains: 1 is all, 0 is what the mean explains."""
    with torch.no_grad():
        return float(1 - (model(rows) - values).square().sum() / (values - values.mean()).square().sum())


print("validation, by hand:", round(r2(model, rows[validation], values[validation]), 3))
guess.reveal()

# %% [proof] numbers-proof
r2_broken, r2_healthy = trace.metrics["r2"], healthy.metrics["r2"]
assert abs(r2(model, rows[validation], values[validation]) - r2_broken) < 1e-4
assert len(own["train"]) == 283 and len(validation) == 71 and not set(own["train"].tolist()) & set(validation.tolist())

# %% [markdown] column-text
# ## Which column is it?
#
# Ask the model, not the code. Take a column, deal its numbers out again among the rows, leave all else as it is, and see how far the
# score falls. Each number is one that the column really has, so the model is shown nothing outlandish; only whose it is is lost.
#
# **Write it:** `score(rows)` gives a number. For each column: the score of the rows as they are, less the score with that one column
# shuffled. The rows are not yours: afterwards they are what they were.


# %% [task] column_worth
def column_worth(score, rows):
    """A list: for each column of `rows` (n, columns), by how much the score falls when that column alone is shuffled."""
    ...  # your code


# %% try-worth
column_worth = lab.try_out("08/column_worth", column_worth)


# %% [solution] column_worth
def column_worth(score, rows):
    """A list: for each column of `rows` (n, columns), by how much the score falls when that column alone is shuffled."""
    whole, falls = score(rows), []
    for column in range(rows.shape[1]):
        shuffled = rows.clone()
        shuffled[:, column] = rows[torch.randperm(len(rows)), column]
        falls.append(whole - score(shuffled))
    return falls


# %% [judge] column_worth
import torch


def judge(answer):
    torch.manual_seed(3)
    rows = torch.randn(200, 4) + 5
    rows[:, 1] = rows[:, 0] * 2  # the second knows what the first knows, and nobody asks it
    kept = rows.clone()
    wanted = 3 * rows[:, 0] + rows[:, 3]
    strange = []

    def score(given):
        for column in range(4):
            if not torch.equal(given[:, column].sort().values, kept[:, column].sort().values):
                strange.append(column)
        others = sum(not torch.equal(given[:, column], kept[:, column]) for column in range(4))
        if others > 1:
            strange.append("several")
        return 1 - float((3 * given[:, 0] + given[:, 3] - wanted).square().mean() / wanted.var())

    falls = answer(score, rows)
    falls = [float(one) for one in falls] if falls is not None else []
    yield len(falls) == 4, f"one number for each of 4 columns, yours has {len(falls)}"
    falls = (falls + [float("nan")] * 4)[:4]
    yield falls[0] > 1.2, f"the column that counts most: a fall of nearly 2, yours {falls[0]:.2f}"
    yield 0.1 < falls[3] < 0.5, f"one that counts a little: about 0.2, yours {falls[3]:.2f}"
    yield (
        abs(falls[1]) < 1e-6 and abs(falls[2]) < 1e-6,
        (f"two that nobody asks for: 0 and 0, yours {falls[1]:.2f} and {falls[2]:.2f}"),
    )
    yield not strange, f"each column has its own numbers, and one at a time is moved: True, yours {not strange}"
    same = torch.equal(rows, kept)
    yield same, f"the rows are what they were: True, yours {same}"


def in_place_and_back(score, rows):
    falls = []
    for column in range(rows.shape[1]):
        kept, before = rows[:, column].clone(), score(rows)
        rows[:, column] = kept[torch.randperm(len(kept))]
        falls.append(before - score(rows))
        rows[:, column] = kept
    return falls


def zeroed(score, rows):
    falls = []
    for column in range(rows.shape[1]):
        other = rows.clone()
        other[:, column] = 0
        falls.append(score(rows) - score(other))
    return falls


def whole_rows(score, rows):
    return [score(rows) - score(rows[torch.randperm(len(rows))]) for _ in range(rows.shape[1])]


def not_put_back(score, rows):
    whole, falls = score(rows), []
    for column in range(rows.shape[1]):
        rows[:, column] = rows[torch.randperm(len(rows)), column]
        falls.append(whole - score(rows))
    return falls


def spread(score, rows):
    return rows.std(0).tolist()


RIGHT = {"in place, and put back": in_place_and_back}
LAZY = {"zeros": zeroed, "whole rows": whole_rows, "not put back": not_put_back, "how far it spreads": spread}

# %% [predict] which
# Ten columns. In the healthy twin no single one is worth more than about {0.3 = most_healthy}. What will the incident's list look like?
#
# ( ) All ten are worth more than the twin's
#     Then the whole table would have to be better. Nobody measured the patients again.
# (x) One is worth more than the whole score, and the other nine next to nothing
#     A model takes the shortest way. It has stopped to look at the measurements.
# ( ) A few are worth about {0.3 = most_healthy}, one a little more
#     This is what honest data look like: the second column of the printed table.

# %% worth-run
twin = incident.healthy().run().trace.live.namespace
torch.manual_seed(0)
falls = column_worth(lambda given: r2(model, given, values[validation]), rows[validation])
twin_falls = column_worth(lambda given: r2(twin["model"], given, values[validation]), twin["rows"][validation])
print("column   incident   twin")
for number, (fall, other) in enumerate(zip(falls, twin_falls, strict=True)):
    print(f"{number:6} {fall:10.3f} {other:6.3f}")
which.reveal(f"column {int(np.argmax(falls))}: {max(falls):.2f}")

# %% [proof] worth-proof
most_healthy, most = max(twin_falls), max(falls)
assert int(np.argmax(falls)) == 9 and sorted(falls)[-2] < 0.03 and most > 1.5 and most_healthy < 0.45

# %% instrument
from bugzoo.diagnostics import feature_leak

print(feature_leak.judge(feature_leak.measure(view.result)).message)
print(incident.diff())

# %% [proof] instrument-proof
assert feature_leak.judge(feature_leak.measure(view.result)).suspects[0].cause == "data/target_among_inputs"

# %% [markdown] use-text
# ## Monday
#
# The table has eleven columns: ten measurements and what came of it. The slice keeps the *last* ten. So the age is gone, and the answer is in.
# It happens to people who know what they do: a user of a large library [found it in his own
# table](https://github.com/dotnet/machinelearning/issues/737), and a search through a public collection of data sets met
# [a good dozen](https://github.com/openml/OpenML/issues/474) that a tree of a few branches solves.
#
# On Monday there are patients whose next year has not happened yet. There are 88 rows that nothing has touched; the last
# column has to be filled with something.

# %% [predict] monday
# Filled with the mean, which is what most tools do. How much does the model explain on Monday?
#
# ( ) About what the healthy twin explains: the nine other columns are still there
#     They are, and the model never learnt to read them. Look at the list above.
# (x) Next to nothing: about {0.06 = r2_mean}
#     And if the form writes a 0 into the empty field, it does far worse than somebody who says the mean for everybody.
# ( ) Half of it
#     There is no half: nearly all of it was in that column.

# %% monday-run
fresh, wanted = rows[354:].clone(), values[354:]
mean, deviation = own["whole"][own["train"], -1].mean(), own["whole"][own["train"], -1].std()
print(f"the column is known:       {r2(model, fresh, wanted):6.3f}")
fresh[:, -1] = 0  # in deviations from the mean
filled = r2(model, fresh, wanted)
fresh[:, -1] = (0 - mean) / deviation
zeroed = r2(model, fresh, wanted)
print(f"it is filled with the mean: {filled:5.3f}")
print(f"the form says 0:           {zeroed:6.3f}")
print(f"the healthy twin:          {r2(twin['model'], twin['rows'][354:], wanted):6.3f}")
monday.reveal(f"{filled:.3f}")

# %% [proof] monday-proof
r2_mean, r2_zero, twin_fresh = filled, zeroed, r2(twin["model"], twin["rows"][354:], wanted)
assert r2_mean < 0.15 and r2_zero < -1 and twin_fresh > 0.5

# %% [predict] shrink
# The repair that is asked for first: "too good is overfitted, so regularise". A weight decay of a tenth, enough to hold every weight down. What does the
# incident reach?
#
# ( ) About {48 % = r2_healthy}, as it should
#     That would be a repair by luck. Decay holds weights down; which column they belong to it does not know.
# (x) {96 % = r2_decay}: nearly as before
#     The leaking column needs smaller weights than the honest ones, because it says more. It is the last that decay takes away.
# ( ) Nothing: it takes everything away
#     At ten times as much it does, for both: all weights go to zero.

# %% shrink-run
RATE = "lr=learning_rate)"


def ended(text):
    """Run a program and give its r2; what it prints is not wanted."""
    with contextlib.redirect_stdout(io.StringIO()):
        return run_here(text).trace.metrics["r2"]


decayed = {}
for decay in (0.1, 1.0):
    for name, case in (("incident", incident), ("twin", incident.healthy())):
        decayed[decay, name] = ended(case.source.replace(RATE, f"lr=learning_rate, weight_decay={decay})"))
        print(f"weight decay {decay}: {name:9} {decayed[decay, name]:6.3f}")
shrink.reveal(f"{decayed[0.1, 'incident']:.3f}")

# %% [proof] shrink-proof
r2_decay = decayed[0.1, "incident"]
assert abs(decayed[1.0, "incident"]) < 0.05 and abs(decayed[1.0, "twin"]) < 0.05 and decayed[0.1, "twin"] > 0.4

# %% [markdown] repair-text
# ## Take it away while it runs
#
# Half of the training is over, and the model leans on that one column with all its weight. The next cell stops it there and
# sets the column to 0, its mean, in both data sets. {Five epochs = five} are left.

# %% [predict] repair
# Where does it end?
#
# ( ) Near 0: it would have to be trained from the beginning
#     The layers are alive, and the other columns are there. They only had nothing to add until now.
# (x) About where the twin ends
#     As soon as the short way is closed, it looks for another. Nine columns do nearly what ten do: the age was hardly worth anything.
# ( ) At {98 % = r2_broken}: it has learnt the rows by heart
#     It had no need to, and so it has not.

# %% repair-run
stopped = lab.live(incident, pause_at=90, explain=False)
stopped.wait_pause()
for name in ("train_loader", "validation_loader"):
    stopped.objects[name].dataset.tensors[0][:, -1] = 0
stopped.resume()
mended = stopped.result.trace.metrics["r2"]
print(f"mended {mended:.3f}, twin {healthy.metrics['r2']:.3f}")
repair.reveal(f"{mended:.3f}")

# %% [proof] repair-proof
five = len(trace.loss) == 180
assert abs(mended - r2_healthy) < 0.05

# %% [markdown] shuffle-text
# ## The test that everybody recommends
#
# *"Shuffle the labels and train again. If anything is left of the score, there is a leak."* It is in every list of advice, and it is
# sound: with random labels nothing honest can be learnt. Here is the incident with `values` shuffled between the table and the loaders.

# %% [predict] shuffled
# What does the test say of the incident?
#
# ( ) {98 % = r2_broken} is left: caught
#     The column holds the *old* target of each patient, and that has nothing to do any more with the new one.
# (x) Next to nothing is left: no leak
#     The test passed a model that has the answer among its inputs. Look at the second line, though.
# ( ) About half is left
#     Random is random. Of an honest pipeline nothing is left, and of this one neither.

# %% shuffled-run
SCALED = "values = (values - values[train].mean())"
READ = "table = load_diabetes(scaled=False)"
late = (SCALED, f"values[:] = values[torch.randperm(len(values))]\n{SCALED}")
early = (READ, f"{READ}\ntable.target = table.target[torch.randperm(len(table.target)).numpy()]")
left = {}
for where, change in (("before the loaders", late), ("where it is read", early)):
    for name, case in (("incident", incident), ("twin", incident.healthy())):
        left[where, name] = ended(case.source.replace(*change))
        print(f"shuffled {where:20} {name:9} {left[where, name]:6.3f}")
shuffled.reveal(f"{left['before the loaders', 'incident']:.3f}")

# %% [proof] shuffled-proof
left_late, left_early = left["before the loaders", "incident"], left["where it is read", "incident"]
assert left_late < 0.1 and left_early > 0.97 and all(left[where, "twin"] < 0.1 for where, _ in left)

# %% [folded] shuffled-read
# After the run: the same test, forty lines further up
#
# Shuffled just before the loaders, {0.04 = left_late} is left: sound, says the test. Shuffled where the file is read, {0.98 = left_early} is left. The leak
# lies between the two places. A shuffle sees only what happens *behind* it: everything that looked at the labels before (a column that was
# joined, features that were chosen, categories that were replaced by their mean target) has been looked at already.
#
# So shuffle in the file, or not at all; and if the file cannot be touched, then shuffle columns, as you did, and not labels.

# %% [markdown] rows-text
# ## The same pictures twice
#
# A column was the first way. Rows are the second: somebody's test set of welding pictures turned out to be [contained in the training set,
# picture for picture](https://github.com/stefyste/RIAWELC/issues/2). A model trained on a clean split is said there to lose about eleven points.
#
# Our pictures are the digits, and the run below is judged by 862 of them, of which two in three were trained on. A file of pictures seldom repeats
# itself to the byte: one copy is darker, another is mirrored.
#
# **Write it:** for each validation picture, whether a training picture shows the same: equal, or multiplied by some positive number, or mirrored left to
# right, or both. A little rounding (a few millionths) is no difference. No picture is empty.


# %% [task] in_both
def in_both(train, validation):
    """(validation,) bool: some picture of `train` is the same but for brightness and mirroring; both are (n, height, width)."""
    ...  # your code


# %% try-both
in_both = lab.try_out("08/in_both", in_both)


# %% [solution] in_both
def in_both(train, validation):
    """(validation,) bool: some picture of `train` is the same but for brightness and mirroring; both are (n, height, width)."""
    known = torch.cat([train, train.flip(-1)]).flatten(1).double()
    asked = validation.flatten(1).double()
    known, asked = known / known.norm(dim=1, keepdim=True), asked / asked.norm(dim=1, keepdim=True)
    return torch.cdist(asked, known, compute_mode="donot_use_mm_for_euclid_dist").amin(1) < 1e-4


# %% [judge] in_both
import torch


def judge(answer):
    torch.manual_seed(5)
    train = torch.rand(40, 6, 6)
    new = torch.rand(3, 6, 6)
    near = train[[4, 5]] + 0.02 * torch.randn(2, 6, 6)
    parts = {
        "an equal one": (train[[7]], [True]),
        "half as bright": (train[[8]] * 0.5, [True]),
        "brighter by a third": (train[[9]] / 0.75, [True]),
        "mirrored": (train[[10]].flip(-1), [True]),
        "mirrored and darker": (train[[11]].flip(-1) * 0.3, [True]),
        "rounded": (train[[12]] + 1e-6, [True]),
        "turned upside down": (train[[13]].flip(-2), [False]),
        "its negative": (-train[[14]], [False]),
        "alike, and not the same": (near, [False, False]),
        "new ones": (new, [False] * 3),
    }
    before = train.clone()
    gave = answer(train, torch.cat([one for one, _ in parts.values()]))
    total = sum(len(right) for _, right in parts.values())
    gave = [] if gave is None else [bool(one) for one in gave]
    yield len(gave) == total, f"answers: {total}, yours {len(gave)}"
    gave, place = (gave + [None] * total)[:total], 0
    for what, (_, right) in parts.items():
        mine, place = gave[place : place + len(right)], place + len(right)
        yield mine == right, f"{what}: {right}, yours {mine}"
    yield torch.equal(train, before), f"the pictures are what they were: True, yours {torch.equal(train, before)}"


def by_cosine(train, validation):
    unit = lambda x: torch.nn.functional.normalize(x.flatten(1).double(), dim=1)  # noqa: E731
    similar = torch.stack([unit(validation) @ unit(train).T, unit(validation) @ unit(train.flip(-1)).T])
    return [bool(one) for one in similar.amax(0).amax(1) > 1 - 1e-8]


def exact(train, validation):
    known = {one.numpy().tobytes() for one in train}
    return torch.tensor([one.numpy().tobytes() in known for one in validation])


def brightness_only(train, validation):
    unit = lambda x: torch.nn.functional.normalize(x.flatten(1).double(), dim=1)  # noqa: E731
    return (unit(validation) @ unit(train).T).amax(1) > 1 - 1e-8


def generous(train, validation):
    unit = lambda x: torch.nn.functional.normalize(x.flatten(1).double(), dim=1)  # noqa: E731
    return (unit(validation) @ unit(torch.cat([train, train.flip(-1)])).T).amax(1) > 0.99


def any_sign(train, validation):
    unit = lambda x: torch.nn.functional.normalize(x.flatten(1).double(), dim=1)  # noqa: E731
    return (unit(validation) @ unit(torch.cat([train, train.flip(-1)])).T).abs().amax(1) > 1 - 1e-8


RIGHT = {"by the cosine": by_cosine}
LAZY = {
    "bytes": exact, "brightness only": brightness_only, "anything alike": generous, "negatives too": any_sign,
    "all": lambda train, validation: torch.ones(len(validation), dtype=torch.bool),
}  # fmt: skip

# %% copies-live
copies = lab.case("08/copies")
copies_view = lab.live(copies, explain=False)

# %% [markdown] law-text
# The losses of both runs are the same to the last bit: not one picture of the training has changed. Only the exam has. So what the copies
# are worth can be worked out before looking.

# %% [predict] law
# Two of three validation pictures were trained on. On what it was trained on the model is right {96.5 % = train_right} of the time, on new pictures
# {95.1 % = honest_right}. What does this validation say?
#
# ( ) Nearly {100 % = hundred}: it knows the answers
#     It knows them as well as it knows the training pictures, and six epochs have not taught it all of these.
# (x) {96.4 % = leaky_right}: about a point more
#     About two thirds of the way from the one number to the other. A leak of rows is worth its share, times the gap.
# ( ) It cannot be known
#     Two numbers and a share are enough. Work it out.

# %% law-run
things = copies_view.objects
pictures, digits, net = things["images"], things["labels"], things["model"]


def right(net, which):
    """The share of these pictures that is read correctly."""
    with torch.no_grad():
        return (net(pictures[which]).argmax(-1) == digits[which]).float().mean().item()


train, exam = things["train"], things["validation"]
both = torch.as_tensor(in_both(pictures[train].view(-1, 8, 8), pictures[exam].view(-1, 8, 8)))
honest = things["order"][1150:]
clean = torch.as_tensor(in_both(pictures[train].view(-1, 8, 8), pictures[honest].view(-1, 8, 8)))
same_loss = np.array_equal(copies_view.result.trace.loss, copies_view.healthy.trace.loss)
print("training losses equal to the last bit:", same_loss)
print(f"in both: {int(both.sum())} of {len(exam)}; of the twin's: {int(clean.sum())} of {len(honest)}")
print(f"training {right(net, train):.3f}   new {right(net, honest):.3f}   as reported {right(net, exam):.3f}")
share, gap = both.float().mean().item(), right(net, train) - right(net, honest)
print(f"share {share:.2f} x gap {gap:.3f} = {share * gap:.3f}")
law.reveal(f"{right(net, exam):.3f}")

# %% [proof] law-proof
train_right, honest_right, leaky_right, hundred = right(net, train), right(net, honest), right(net, exam), 1.0
assert len(exam) == 862 and same_loss and abs(share - 2 / 3) < 0.001 and int(clean.sum()) == 0
assert abs(leaky_right - honest_right - share * gap) < 0.006
leak_small = share * gap

# %% [predict] hungry
# The same two thirds of copies, but only 100 pictures to train on, and enough epochs to know them all. The copies are now worth
#
# ( ) the same: the share is the same
#     The share is. The gap is not.
# ( ) less: it has seen fewer pictures
#     It knows those few the better.
# (x) about nine times as much
#     All of the training is right, and about one in eight of the new ones is wrong. What overfits most gains most.


# %% hungry-run
def fitted(which, seed=0, epochs=6):
    """The incident's network, trained on these pictures."""
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    for _ in range(epochs):
        for batch in which[torch.randperm(len(which))].split(32):
            optimizer.zero_grad()
            F.cross_entropy(net(pictures[batch]), digits[batch]).backward()
            optimizer.step()
    return net


few = fitted(things["order"][:100], epochs=60)
gap_few = right(few, things["order"][:100]) - right(few, honest)
print(f"100 pictures: training {right(few, things['order'][:100]):.3f}   new {right(few, honest):.3f}")
print(f"two thirds of copies are worth {2 / 3 * gap_few:.3f}, and in the run above {share * gap:.3f}")
hungry.reveal(f"{gap_few / gap:.1f} times")

# %% [proof] hungry-proof
leak_few = 2 / 3 * gap_few
assert right(few, things["order"][:100]) == 1 and 7 < gap_few / gap < 12

# %% [folded] hungry-read
# After the run: a leak flatters whoever learns by heart
#
# {8 points = leak_few_points} against {1 point = leak_small_point}. That is the real harm of copies. They do not add a constant to everybody, which would leave the ranking as it is; they
# reward the model with the larger gap. Choose size, epochs or decay by such a validation, and you choose the one that overfits most.
#
# And it is why people say *"there are a few duplicates, it makes no difference"*, and sometimes are right: a share of a hundredth, times a gap of
# two points, nobody will ever see.

# %% [proof] points
leak_few_points, leak_small_point = 7 < 100 * leak_few < 9.5, 0.8 < 100 * leak_small < 1.6

# %% overlap
from bugzoo.diagnostics import train_validation_overlap

print(train_validation_overlap.judge(train_validation_overlap.measure(copies_view.result)).message)
print(copies.diff())

# %% [proof] overlap-proof
assert train_validation_overlap.judge(train_validation_overlap.measure(copies_view.result)).fired

# %% [markdown] relatives-text
# ## Relatives
#
# Now the *healthy* digits program. No column is the answer, no picture is in both parts, the split is random. {95 % = honest_right_again} on new
# pictures. The last 360 pictures of the file are touched by nothing here.

# %% [predict] unseen
# What does the healthy model read on the last 360?
#
# ( ) {95 % = honest_right_again}, give or take chance: they are new, like the validation pictures
#     They are newer than those. Something that is common to validation and training is not common to these.
# (x) About {87 % = rest_right}
#     Every lesson of this course that reports an accuracy of the digits reports one that is too good.
# ( ) More: nothing was chosen by them
#     Nothing was chosen by the validation pictures either.

# %% unseen-run
from bugzoo.plots import relatives

print(f"validation {right(net, honest):.3f}, the last 360 {right(net, torch.arange(1437, 1797)):.3f}")
unseen.reveal(f"{right(net, torch.arange(1437, 1797)):.3f}")
lab.picture(relatives.picture(pictures, digits))

# %% [proof] unseen-proof
from sklearn.datasets import load_digits

honest_right_again, rest_right = right(net, honest), right(net, torch.arange(1437, 1797))
near_share, near_chance = relatives.shares(*relatives.measure(pictures, digits), [0, 71, 1797])
near_found, near_expected = near_share[0], near_chance[0]
assert "13" in load_digits().DESCR and honest_right - rest_right > 0.06

# %% [folded] unseen-read
# After the run: the file is sorted by somebody
#
# The picture asks, for each digit, how far away in the file its most similar one of the same class stands. By chance {7 % = near_expected} would be within 70 rows;
# it is {45 % = near_found}. Whoever wrote a seven this way also wrote the next ones. The description of the data says so, if one reads to the end: the pictures are
# from 13 people. Nobody noted who wrote which, but they handed in their sheets one after the other.
#
# So a random split puts each writer on both sides. What is measured is how well it reads *new digits of people that it knows*.
# Patients with several scans, films cut into frames, windows that overlap: the same thing, under other names.

# %% [markdown] groups-text
# The remedy is to draw groups, not rows.
#
# **Write it:** `groups[i]` is the group of row `i`. Draw whole groups at random for validation, one after the other, until they hold at least
# `share` of all rows, and not one group more. Returns the numbers of the training rows and of the validation rows; the same seed gives the same.


# %% [task] split_by_group
def split_by_group(groups, share, seed):
    """(training rows, validation rows): tensors of row numbers; no group is on both sides. `groups`: (rows,) integers."""
    ...  # your code


# %% try-groups
split_by_group = lab.try_out("08/split_by_group", split_by_group)


# %% [solution] split_by_group
def split_by_group(groups, share, seed):
    """(training rows, validation rows): tensors of row numbers; no group is on both sides. `groups`: (rows,) integers."""
    names = groups.unique()
    held = torch.zeros(len(groups), dtype=torch.bool)
    for place in torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)):
        if held.sum() >= share * len(groups):
            break
        held |= groups == names[place]
    return (~held).nonzero()[:, 0], held.nonzero()[:, 0]


# %% [judge] split_by_group
import random

import torch


def judge(answer):
    groups = torch.tensor([7] * 10 + [100] * 30 + [3] * 5 + [7] * 15 + [42] * 20 + [9] * 20)[torch.randperm(100)]
    seen = set()
    holds = {
        "all rows, each once": True,
        "no group on both sides": True,
        "at least the share": True,
        "no group more": True,
    }
    again = True
    for seed in range(12):
        for share in (0.2, 0.5):
            gave = answer(groups, share, seed)
            train, held = ([int(one) for one in part] for part in gave) if gave is not None else ([], [])
            names = {groups[row].item() for row in held}
            sizes = [int((groups == name).sum()) for name in names]
            holds["all rows, each once"] &= sorted(train + held) == list(range(100))
            holds["no group on both sides"] &= bool(gave) and not names & {groups[row].item() for row in train}
            holds["at least the share"] &= len(held) >= share * 100
            # the one drawn last is needed: without some group the share is missed
            holds["no group more"] &= bool(sizes) and len(held) - max(sizes) < share * 100
            repeated = answer(groups, share, seed)
            again &= repeated is not None and [int(one) for one in repeated[1]] == held
            seen.add((share, tuple(sorted(names))))
    for what, good in holds.items():
        yield good, f"{what}: True, yours {good}"
    yield again, f"the same seed gives the same: True, yours {again}"
    yield len(seen) > 6, f"other seeds draw other groups: more than 6 draws of 24 differ, yours {len(seen)}"


def with_random(groups, share, seed):
    names = sorted(set(groups.tolist()))
    random.Random(seed).shuffle(names)
    held = []
    while len(held) < share * len(groups):
        name = names.pop()
        held += [row for row, group in enumerate(groups.tolist()) if group == name]
    taken = set(held)
    return torch.tensor([row for row in range(len(groups)) if row not in taken]), torch.tensor(held)


def by_rows(groups, share, seed):
    order = torch.randperm(len(groups), generator=torch.Generator().manual_seed(seed))
    cut = int(share * len(groups))
    return order[cut:], order[:cut]


def the_last_rows(groups, share, seed):
    order, cut = groups.argsort(), int((1 - share) * len(groups))
    return order[:cut], order[cut:]


def always_the_same(groups, share, seed):
    return with_random(groups, share, 0)


def share_of_groups(groups, share, seed):
    names = groups.unique()
    drawn = names[torch.randperm(len(names), generator=torch.Generator().manual_seed(seed))]
    held = torch.isin(groups, drawn[: max(1, int(share * len(names)))])
    return (~held).nonzero()[:, 0], held.nonzero()[:, 0]


RIGHT = {"by random": with_random}
LAZY = {
    "by rows": by_rows, "sorted and cut": the_last_rows, "always the same": always_the_same,
    "a share of the groups": share_of_groups,
}  # fmt: skip

# %% [predict] grouped
# All 1797 pictures, cut into 13 blocks of neighbours, which is roughly a writer each. Validation by random rows says about {95 % = by_rows_right}. By blocks?
#
# ( ) The same: it is the same data and the same network
#     It is, and the question is another one.
# (x) {Two or three points less = some_points}
#     This is what a writer who has never been seen is read with. It is the number that a service would meet.
# ( ) About {87 % = rest_right}, as on the last 360
#     These are also harder than most: part of what was missing there is that they are other writers, and part that they are *those* writers.

# %% grouped-run
blocks = torch.arange(1797) * 13 // 1797
found = {"by rows": [], "by blocks": []}
for seed in range(10):
    for name, groups in (("by rows", torch.arange(1797)), ("by blocks", blocks)):
        kept, held = split_by_group(groups, 0.2, seed)
        found[name].append(right(fitted(kept, seed), held))
for name, numbers in found.items():
    print(
        f"{name:10} {np.mean(numbers):.3f} ± {np.std(numbers) / 10**0.5:.3f}, from {min(numbers):.3f} to {max(numbers):.3f}"
    )
grouped.reveal(f"{np.mean(found['by blocks']):.3f}")

# %% [proof] grouped-proof
by_rows_right, by_blocks_right = (float(np.mean(one)) for one in found.values())
errors = [np.std(one) / 10**0.5 for one in found.values()]
assert by_rows_right - by_blocks_right > 2 * np.hypot(*errors)
some_points = 1.5 < 100 * (by_rows_right - by_blocks_right) < 3.5
blocks_low = min(found["by blocks"])

# %% [folded] grouped-read
# After the run: fewer points, and less certain ones
#
# {95 % = by_rows_right} by rows, {93 % = by_blocks_right} by blocks, and down to {89 % = blocks_low}: it depends on who was drawn. A random split hides that too. With 13 writers you
# do not have 1797 independent pictures, you have 13 of something, and an error bar that is made of 360 pictures is far too short.
#
# Blocks of equal length are a guess at who wrote what, so a little of the leak is still in the second number.

# %% [markdown] textbook-text
# ## The leak of the textbooks
#
# The first example in every chapter on leakage is another one: mean and deviation are taken from *all* rows, before the split. Your
# score will be inflated, it says.

# %% [predict] textbook
# The regression of the incident, healthy but for that. By how much does its r2 rise?
#
# ( ) By some points, as with the copies
#     A copy tells the model an answer. A mean over 442 rows tells it next to nothing, and about no row in particular.
# (x) By nothing that could be measured
#     Not with 283 rows, and not with 20 either. It is still wrong to do, and there are cases that are not harmless: the last two lines.
# ( ) It falls
#     In about half of the seeds it does. And in the other half it rises.

# %% textbook-run
normalised = bugzoo.Scenario("regression_mlp", ("data/leaky_normalisation",))
with contextlib.redirect_stdout(io.StringIO()):
    pairs = [
        tuple(bugzoo.Scenario(case.program, case.faults, seed=seed).run().trace.metrics["r2"] for case in cases)
        for cases in [(normalised, normalised.healthy())]
        for seed in range(3)
    ]
for seed, (leaky, good) in enumerate(pairs):
    print(f"seed {seed}: all rows {leaky:.4f}, training rows {good:.4f}, gained {leaky - good:+.4f}")


def chosen_by(all_rows, seed):
    """r2 on 30 new rows of pure noise, with the 10 of 1000 columns that correlate best with a target of pure noise."""
    dice = np.random.default_rng(seed)
    columns, target = dice.normal(size=(100, 1000)), dice.normal(size=100)
    looked_at = slice(None) if all_rows else slice(70)
    strength = np.abs(
        (columns[looked_at] - columns[looked_at].mean(0)).T @ (target[looked_at] - target[looked_at].mean())
    )
    best = np.c_[columns[:, np.argsort(strength)[-10:]], np.ones(100)]
    guessed = best[70:] @ np.linalg.lstsq(best[:70], target[:70], rcond=None)[0]
    return 1 - ((guessed - target[70:]) ** 2).sum() / ((target[70:] - target[70:].mean()) ** 2).sum()


selected = {all_rows: np.mean([chosen_by(all_rows, seed) for seed in range(20)]) for all_rows in (True, False)}
print(f"noise, columns chosen by all rows: r2 {selected[True]:+.2f}; by the training rows: {selected[False]:+.2f}")
textbook.reveal(f"{np.mean([leaky - good for leaky, good in pairs]):+.4f}")

# %% [proof] textbook-proof
from bugzoo.proving import ledger

tried = ledger.read("claims", "leaky_normalisation_inflates")["numbers"]
gain_many, gain_few = tried["283 rows"]["gain"], tried["20 rows"]["gain"]
error_many, error_few = tried["283 rows"]["error"], tried["20 rows"]["error"]
rose_many = tried["283 rows"]["seeds_with_gain"]
thirty = tried["283 rows"]["seeds"] == tried["20 rows"]["seeds"] == 30
assert all(abs(leaky - good) < 0.01 for leaky, good in pairs)
assert all(abs(one["gain"]) < max(0.01, 2 * one["error"]) for one in tried.values())
selected_all, selected_train = selected[True], selected[False]
assert selected_all > 0.25 and selected_train < 0

# %% [folded] textbook-read
# After the run: what a leak can carry
#
# `bugzoo claims` tried it with {thirty seeds each = thirty}: the gain is {-0.0001 = gain_many} ± {0.0004 = error_many} with 283 training rows (it rose in {14 = rose_many} of them), and {0.003 = gain_few} ± {0.016 = error_few}
# with 20. *Does not hold*, as it is told. A mean over the rows can carry two numbers a column across the border, and these say nothing about any label.
#
# Beside it, in the last line, the step that looks just as innocent: choose the columns first, split afterwards. Pure noise, and it explains {0.34 = selected_all} of the variance.
# Chosen by the training rows it explains less than the mean would, {-0.42 = selected_train}, as it should be. The difference is whether the step **has seen the labels**. Choosing columns,
# replacing a category by its mean target, balancing by copying rows: these leak. Scaling does nearly not. Fit all of them on the training rows all the
# same, since it costs nothing and saves the argument; but look for the large ones first.

# %% [markdown] break-text
# ## Break it yourself
#
# The patients, with two thirds of the validation rows trained on. Move the sliders, press **Run**, and try to be wrong about what comes:
#
# - At how many epochs is the leak worth most? Is there a number at which it is worth nothing?
# - A wider network (`hidden_size`): does the leaky run gain, or its twin?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("regression_mlp", faults=("data/leaky_split",)),
    settings=("seed", "epochs", "hidden_size", "learning_rate"),
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"A model of lines of text, measured on test lines. Since the data were cleaned up its test loss reads {4.95 = turn_loss}, and it used to
# read {3.94 = turn_healthy}. No row is in two parts, I looked. And somebody is glad about it: hardly a word of the test is unknown any more, he says, so now the number is honest."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Eight minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("08/second")
run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(8)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                          the program; lines count from 1
#   names = run.namespace; names["train"][0], names["test"][0]    what is in its parts
#   which numbers of this script were learnt from data, beside the weights? From which rows?

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
from bugzoo.diagnostics import untrained_rows

turn_loss, turn_healthy = run.trace.metrics["loss"], second.healthy().run().trace.metrics["loss"]
untrained = untrained_rows.measure(run)["untrained_share"]
place = next(
    number for number, line in enumerate(second.source.splitlines(), 1) if line.startswith("counts = Counter(")
)
said = [judged(second, {"cause": cause, "place": place, "test": test}) for cause in form.causes for test in "ABCD"]
assert len(form.causes) == 4 and second.ticket != incident.ticket
assert min(one.count("NOT") for one in said) == 0, said

# %% [folded] turn-read
# After you have handed in: a leak that makes the number worse
#
# The vocabulary is learnt from data too, and it was counted over all lines, those of the test among them. {6 % = untrained} of the words in the evaluation
# read a row of the embedding that no gradient ever reached: random numbers, with a name. Before, those words were *the unknown word*, which is
# easy to predict and has been trained; now they are targets that nobody could learn. So the loss rises. A leak need not flatter; what it always does is to
# answer another question than tomorrow's texts will ask, and to make numbers incomparable.

# %% [check] recap_check
# A colleague's model is at {99 % = ninety_nine} where everybody else has 80. He shuffled the labels before training, and the score fell to guessing. What now?
#
# ( ) Then it is sound: publish
#     the shuffle sees only what happens behind it. Whatever looked at the labels earlier has passed.
# (x) Shuffle its columns one by one, and look for validation rows, and their relatives, in the training
#     yes. A column, a row, a relative: there are no other ways in that are worth nineteen points.
# ( ) More weight decay, then look again
#     what leaks needs the smallest weights of all, and goes last.

# %% [proof] recap-proof
ninety_nine = 0.99

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 08` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="08")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Shuffle one column at a time, and see what the score is made of.** *Fails when* two columns hold the same: each covers for the other, and
#    both look worthless.
# 2. **Copies are worth their share times the gap between training and new.** So they reward what overfits. *Fails when* copies carry another label
#    than their originals: then they cost.
# 3. **Split by what will be new tomorrow: the person, the document, the day; not the row.** *Fails when* tomorrow brings the same people: then a split by
#    rows is the right question.
# 4. **Ask of each step in front of the split whether it has seen labels.** *Fails when* it has seen none and still changes what is asked, as a vocabulary does.
#
# **Next:** repair one yourself: [exercise 22, *half an answer*](../exercises/22_half_an_answer.ipynb), then
# [exercise 23, *five reports*](../exercises/23_five_reports.ipynb). The result is judged by what your program does. The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
