"""Lesson 20: a script of one's own, its history, and a report that somebody can act on."""

# %% [case] second
# mini_transformer loss/next_token_not_shifted

# %% [markdown] title
# # 20 · Your own code
#
# A script that nobody here has seen used to reach a number, and does not any more. In this lesson you make its run repeatable, search its history with
# git, find out which number may be searched by, shrink what fails, put a fault into your own script to see whether your checks
# notice, and write the report that somebody else can act on.
#
# You need about {45 = minutes} minutes, git, and to know what a commit is. After *Which number may be searched by* is a good place for a pause. Bring a script if
# you have one; a stand-in comes with the lesson.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it.

# %% setup
import contextlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bugzoo import lab

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("20")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Friday, 16:20.* "With seed 5 our script said {0.83 = acc_first}. Now it says {0.80 = acc_last}. Twelve commits lie between, all of them tidying. I read them twice
# > and nothing is wrong with any. My money is on the one that limits the gradient."
#
# The next cell writes the history into a temporary folder, as a real git repository: it touches no settings of yours and needs no
# network. `MY_SCRIPT` is for you: put the path of a script of your own there, and the cells from *The instrument* on look at that
# one.

# %% history
MY_SCRIPT = ""  # the path of your own script; empty: the stand-in

FIRST = """'''Which of six machines made this sound? Twelve numbers of each recording.'''

import sys

import torch
import torch.nn.functional as F
from torch import nn

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0

own = torch.Generator().manual_seed(7)
centres = torch.randn(6, 12, generator=own)
labels = torch.randint(6, (900,), generator=own)
sounds = centres[labels] + 1.3 * torch.randn(900, 12, generator=own)
train_x, train_y, test_x, test_y = sounds[:700], labels[:700], sounds[700:], labels[700:]

torch.manual_seed(seed)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 6))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(4):
    order = torch.randperm(len(train_x))
    for rows in order.split(35):
        out = net(train_x[rows])
        loss = F.cross_entropy(out, train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with torch.no_grad():
    right = (net(test_x).argmax(1) == test_y).float().mean().item()
print(f"accuracy {right:.3f}")
"""

EDITS = [
    ("Call it model", [("net(", "model("), ("net =", "model ="), ("net.parameters", "model.parameters")]),
    (
        "Give the width a name",
        [
            ("torch.manual_seed(seed)", "WIDTH = 32\ntorch.manual_seed(seed)"),
            ("nn.Linear(12, 32)", "nn.Linear(12, WIDTH)"),
            ("nn.Linear(32, 6)", "nn.Linear(WIDTH, 6)"),
        ],
    ),
    (
        "Shuffle with a generator of our own",
        [
            ("for epoch", "shuffle = torch.Generator().manual_seed(seed)\nfor epoch"),
            ("randperm(len(train_x))", "randperm(len(train_x), generator=shuffle)"),
        ],
    ),
    (
        "Clear the gradients behind the step",
        [
            ("        optimizer.zero_grad()\n", ""),
            ("optimizer.step()", "optimizer.step()\n        optimizer.zero_grad()"),
        ],
    ),
    (
        "Take the loss into a function",
        [
            ("loss = F.cross_entropy(out, train_y[rows])", "loss = loss_of(rows)"),
            ("        out = model(train_x[rows])\n", ""),
        ],
    ),
    (
        "The function that was forgotten",
        [
            (
                "shuffle = torch",
                "def loss_of(rows):\n"
                "    return F.cross_entropy(model(train_x[rows]), train_y[rows])\n"
                "\n"
                "\n"
                "shuffle = torch",
            )
        ],
    ),
    (
        "Limit the gradient, to be safe",
        [
            (
                "        optimizer.step()",
                "        nn.utils.clip_grad_norm_(model.parameters(), 50.0)\n        optimizer.step()",
            )
        ],
    ),
    ("The page shows probabilities", [("nn.Linear(WIDTH, 6))", "nn.Linear(WIDTH, 6), nn.Softmax(dim=1))")]),
    ("Say which seed it was", [('print(f"accuracy', 'print(f"seed {seed}")\nprint(f"accuracy')]),
    ("Rows a batch get a name", [("WIDTH = 32", "WIDTH, ROWS = 32, 35"), ("split(35)", "split(ROWS)")]),
    (
        "Tell what is printed",
        [("Twelve numbers of each recording.", "Twelve numbers of each recording; prints the share that is right.")],
    ),
]
versions, messages = [FIRST], ["First version", *(message for message, _ in EDITS)]
for _, changes in EDITS:
    text = versions[-1]
    for old, new in changes:
        text = text.replace(old, new)
    versions.append(text)

folder = Path(tempfile.mkdtemp(prefix="lesson-20-"))
repository = folder / "history"
repository.mkdir()
quiet = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "OMP_NUM_THREADS": "1"}
quiet = {name: value for name, value in quiet.items() if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}


def command(*words, cwd=folder):
    """Run a command; returns (exit code, what it printed)."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=quiet, capture_output=True, text=True)
    return done.returncode, done.stdout


def git(*words):
    return command("git", "-c", "user.name=Learner", "-c", "user.email=learner@example.org", *words, cwd=repository)


git("init", "--quiet")
for text, message in zip(versions, messages, strict=True):
    (repository / "train.py").write_text(text)
    git("add", "train.py")
    git("commit", "--quiet", "-m", message)
print(git("log", "--oneline", "--reverse")[1])

# %% [markdown] repeat-text
# ## Is it repeatable?
#
# Before two commits are compared, one commit must agree with itself. **Write it:** `run()` returns the list of losses of a training. Seed
# `random`, numpy and torch with `seed`, run, do it once more, and return the first step, counted from 1, at which the two differ, to the last bit; `None` where
# they do not. A list that ends earlier differs where it ends; nan is equal to nan.


# %% [task] first_difference
def first_difference(run, seed=0):
    """The first step at which two runs from the same seed differ, from 1; None where none does."""
    ...  # your code


# %% try-repeat
first_difference = lab.try_out("20/first_difference", first_difference)


# %% [solution] first_difference
def first_difference(run, seed=0):
    """The first step at which two runs from the same seed differ, from 1; None where none does."""
    import random

    import torch

    made = []
    for _ in range(2):
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        made.append(list(run()))
    for step in range(max(map(len, made))):
        here, there = ((losses[step] if step < len(losses) else None) for losses in made)
        if here != there and not (here is not None and there is not None and here != here and there != there):
            return step + 1
    return None


# %% [judge] first_difference
import itertools
import random

import numpy as np
import torch


def judge(answer):
    for name, draw in (
        ("random", random.random),
        ("numpy", lambda: float(np.random.rand())),
        ("torch", lambda: torch.rand(()).item()),
    ):
        gave = answer(lambda draw=draw: [draw() for _ in range(4)])
        yield gave is None, f"dice of {name}: None, yours says {gave}"

    def two(first, then):
        calls = itertools.cycle((first, then))
        return lambda: list(next(calls))

    nan = float("nan")
    for what, first, then, wanted in (
        ("the third differs in the last bit", [1.0, 2.0, 0.3], [1.0, 2.0, 0.1 + 0.2], 3),
        ("nan both times", [1.0, nan, 2.0], [1.0, float("nan"), 2.0], None),
        ("nan once", [1.0, nan], [1.0, 2.0], 2),
        ("the second ends earlier", [1.0, 2.0, 3.0], [1.0, 2.0], 3),
    ):
        gave = answer(two(first, then))
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}"


def sown(run, seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return list(run())


def by_text(run, seed=0):
    pairs = itertools.zip_longest(map(repr, sown(run, seed)), map(repr, sown(run, seed)))
    return next((step for step, (a, b) in enumerate(pairs, 1) if a != b), None)


def shorter(run, seed=0):
    pairs = zip(map(repr, sown(run, seed)), map(repr, sown(run, seed)), strict=False)
    return next((step for step, (a, b) in enumerate(pairs, 1) if a != b), None)


def about(run, seed=0):
    first, then = sown(run, seed), sown(run, seed)
    if len(first) != len(then):
        return min(len(first), len(then)) + 1
    same = np.isclose(first, then, equal_nan=True)
    return None if same.all() else int((~same).argmax()) + 1


def torch_only(run, seed=0):
    made = []
    for _ in range(2):
        torch.manual_seed(seed)
        made.append([repr(loss) for loss in run()])
    pairs = itertools.zip_longest(*made)
    return next((step for step, (a, b) in enumerate(pairs, 1) if a != b), None)


RIGHT = {"by what is printed": by_text}
LAZY = {
    "only what both have": shorter,
    "about equal": about,
    "torch alone": torch_only,
    "never": lambda run, seed=0: None,
}

# %% repeat-run
import torch

threads = torch.get_num_threads()
torch.set_num_threads(1)


def play(source, seed=5):
    """Run a script's text here; returns its names, and the losses of its steps. An error comes out."""
    losses, names, kept, backward = [], {"__name__": "__main__"}, sys.argv, torch.Tensor.backward

    def noting(loss, *args, **options):
        losses.append(loss.item())
        return backward(loss, *args, **options)

    sys.argv, torch.Tensor.backward = ["train.py", str(seed)], noting
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "train.py", "exec"), names)
    finally:
        sys.argv, torch.Tensor.backward = kept, backward
    return names, losses


print("first version against itself, differs at step", first_difference(lambda: play(versions[0])[1]))
one = play(versions[0])[1]
for number in (2, 3, 4, 5, 8, 9):
    other = play(versions[number - 1])[1]
    step = next((step for step, (a, b) in enumerate(zip(one, other, strict=True), 1) if a != b), None)
    print(f"commit {number} against the first, differs at step", step, "-", messages[number - 1])

# %% [proof] repeat-proof
scores = {
    seed: [play(text, seed)[0]["right"] if n != 6 else None for n, text in enumerate(versions, 1)] for seed in range(8)
}
acc_first, acc_last = scores[5][0], scores[5][-1]
middle = (acc_first + acc_last) / 2
assert play(versions[2])[1] == one and play(versions[3])[1] == play(versions[7])[1] != one

# %% [folded] repeat-read
# After the run: equal to the last bit is an acquittal
#
# A commit whose losses equal those of the commit before has changed nothing that the training can see. So renaming is acquitted, and so is the limit on
# the gradient: commit 8 is equal to commit 4. Where losses differ nothing is proved yet: commit 4 deals the rows in another order, which is another
# draw of the same dice.

# %% [markdown] bisect-text
# ## Search a history
#
# Halving finds one commit among a thousand with ten runs, if each commit can be judged. Some cannot: they do not even start. git has a
# third answer for those, exit code 125.
#
# **Write it:** the first commit is good and the last is bad. `verdict(commit)` says `"good"`, `"bad"` or `"skip"`. Return all commits that may be the first
# bad one: one, or several where skipped ones lie before it. Ask by halves, and no commit twice; do not ask the two ends.


# %% [task] bisect
def bisect(commits, verdict):
    """The list of commits that may be the first bad one, in order."""
    ...  # your code


# %% try-bisect
bisect = lab.try_out("20/bisect", bisect)


# %% [solution] bisect
def bisect(commits, verdict):
    """The list of commits that may be the first bad one, in order."""
    good, bad, skipped = 0, len(commits) - 1, set()
    while open_ones := [n for n in range(good + 1, bad) if n not in skipped]:
        middle = open_ones[len(open_ones) // 2]
        said = verdict(commits[middle])
        if said == "good":
            good = middle
        elif said == "bad":
            bad = middle
        else:
            skipped.add(middle)
    return list(commits[good + 1 : bad + 1])


# %% [judge] bisect
def judge(answer):
    for length, first_bad, skipped in (
        (2, 1, ()), (12, 9, ()), (12, 9, (6,)), (12, 7, (6,)), (12, 6, (6, 5)), (12, 11, (10, 9)), (12, 1, (2, 3)), (200, 77, ())
    ):  # fmt: skip
        commits, asked = [f"c{n}" for n in range(length)], []

        def verdict(commit, asked=asked, first_bad=first_bad, skipped=skipped):
            asked.append(commit)
            number = int(commit[1:])
            return "skip" if number in skipped else "bad" if number >= first_bad else "good"

        good = max(n for n in range(first_bad) if n not in skipped)
        bad = min(n for n in range(first_bad, length) if n not in skipped)
        wanted = commits[good + 1 : bad + 1]
        gave = answer(commits, verdict)
        gave = gave if gave is None else list(gave)
        most = length.bit_length() + len(skipped)
        what = f"{length} commits, c{first_bad} is the first bad one, {len(skipped)} cannot be judged"
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}"
        yield len(asked) <= most, f"    runs: {most} at most, yours {len(asked)}"


def nearest_first(commits, verdict):
    good, bad, dead = 0, len(commits) - 1, []
    while True:
        there = [n for n in range(good + 1, bad) if n not in dead]
        if not there:
            return commits[good + 1 : bad + 1]
        aim = min(there, key=lambda n: abs(2 * n - good - bad))
        said = verdict(commits[aim])
        good, bad = (aim if said == "good" else good), (aim if said == "bad" else bad)
        dead += [aim] * (said == "skip")


def taking(skip_for):
    def made(commits, verdict):
        good, bad = 0, len(commits) - 1
        while bad - good > 1:
            middle = (good + bad) // 2
            said = verdict(commits[middle]).replace("skip", skip_for)
            good, bad = (middle, bad) if said == "good" else (good, middle)
        return [commits[bad]]

    return made


def one_by_one(commits, verdict):
    waiting = []
    for commit in commits[1:-1]:
        said = verdict(commit)
        waiting = [] if said == "good" else [*waiting, commit]
        if said == "bad":
            return waiting
    return [*waiting, commits[-1]]


RIGHT = {"the nearest to the middle": nearest_first}
LAZY = {
    "a crash is bad": taking("bad"),
    "a crash is good": taking("good"),
    "one by one": one_by_one,
    "none": lambda c, v: [],
}

# %% [markdown] number-text
# ## Which number may be searched by?
#
# Everybody would now search by the number of the complaint: seed 5, and bad is what lies below the middle of good and bad, {0.82 = middle}.

# %% [predict] blamed
# Halving by the accuracy of seed 5. Which commit will be blamed?
#
# (x) A commit that only changed the order of the rows
#     It is another draw of the dice, and with this seed a poor one. Nothing is broken there.
# ( ) The one that limits the gradient
#     Its losses equal those of the commit before to the last bit, and so does its accuracy.
# ( ) The broken one
#     The search believes its number, and this number had fallen before.


# %% blamed-run
def by_accuracy(number, seed=5):
    try:
        return "good" if play(versions[number - 1], seed)[0]["right"] > 0.82 else "bad"
    except Exception:
        return "skip"


for seed in (5, 6):
    try:
        found = bisect(list(range(1, 13)), lambda number, seed=seed: by_accuracy(number, seed)) or []
    except Exception as error:
        found = []
        print("bisect:", error)
    print(f"seed {seed}: blamed", [(number, messages[number - 1]) for number in found])

accuracies, held_losses = [], []
for number, text in enumerate(versions, 1):
    if number == 6:  # does not run
        continue
    ends = [play(text, seed) for seed in range(8)]
    accuracies.append((number, [names["right"] for names, _ in ends]))
    held_losses.append((number, [float(np.mean(losses[-20:])) for _, losses in ends]))
print("commit   accuracy, 8 seeds: mean, lowest, highest    loss of the last epoch: lowest, highest")
for (number, right), (_, low) in zip(accuracies, held_losses, strict=True):
    print(f"{number:6} {np.mean(right):21.3f} {min(right):8.3f} {max(right):8.3f} {min(low):24.2f} {max(low):7.2f}")
blamed.reveal("commit 4: " + messages[3])

# %% blamed-figure
from bugzoo.plots import commits as commits_plot

lab.picture(commits_plot.picture({"accuracy": accuracies, "loss of the last epoch": held_losses}))

# %% [proof] blamed-proof
import math

blamed_commit = bisect(list(range(1, 13)), by_accuracy)
assert blamed_commit == [4], blamed_commit
by_number = dict(accuracies)
mean_before, mean_after, mean_start = (float(np.mean(by_number[n])) for n in (8, 9, 1))
alike = abs(mean_before - mean_after) < 0.01
falls_early = mean_start - mean_before > 0.01 and mean_start - mean_before > abs(mean_before - mean_after)
wider = min(max(by_number[n]) - min(by_number[n]) for n in (8, 9)) > 0.04
losses_by = dict(held_losses)
apart = min(losses_by[9]) > 1.5 * max(losses_by[8])
floor = math.log(math.e + 5) - 1

# %% [folded] blamed-read
# After the run: eight seeds do not save a poor number
#
# The usual advice is to take more seeds, and to believe their mean. Look at the orange bars: {they fall at commit 4 as well = falls_early},
# where nothing is broken, and between commits 8 and 9, where something is, {they differ by less than a point = alike}. The eight accuracies of
# one commit {spread over more than four points = wider}. So eight seeds only make one surer of the wrong commit; with 200 sounds to be judged, a point is
# two sounds.
#
# The loss of the last epoch is another matter: {no run of commit 9 comes near any run of commit 8 = apart}. So choose the number first: one whose
# spread over seeds is small beside the jump. With such a number, one seed is enough.

# %% [markdown] instrument-text
# ## The instrument
#
# `bugzoo verdict` runs a script under all instruments and ends with 0, 1 or 125. It asks what is done to the numbers in the run, so
# that no dice enter. Here `git bisect run` calls it; the cell takes a minute or two.

# %% [predict] crash
# Commit 6 raises a NameError. What would git do if the verdict on it were 1, as a crash is for every other tool?
#
# (x) Search the commits before it only, and blame one that did not break the training
#     Exit code 1 says that the fault is there already, so the later half, where it came in, is never looked at.
# ( ) Stop with an error
#     It cannot tell one failure from another; it believes the code.
# ( ) Skip it
#     Only for 125. That is why the verdict must know what it does not know.

# %% instrument
python_words = (sys.executable, "-m", "bugzoo")
git("bisect", "start", "HEAD", git("rev-list", "--max-parents=0", "HEAD")[1].strip())
code, told = git("bisect", "run", *python_words, "verdict", "train.py")
blame = [line for line in told.splitlines() if "train.py: " in line or "is the first bad commit" in line]
print("\n".join(blame))
culprit = git("show", "--format=%s", "--unified=0", "refs/bisect/bad")[1]
git("bisect", "reset")
crash.reveal("it came to a commit that does not run, and skipped it" if "unjudged" in told else None)

# %% instrument-diff
print(culprit)

# %% [proof] instrument-proof
assert "page shows probabilities" in culprit and code == 0, told
assert "unjudged" in told

# %% [folded] instrument-read
# After the run: why the accuracy hardly moved
#
# `cross_entropy` takes raw scores and applies a softmax itself. Fed with probabilities, it cannot fall below {1.04 = floor} for six classes. The order of
# the classes stays, and so does most of the accuracy. The complaint was real, its number was chance, and the fault was another: three things
# that had to be kept apart.

# %% [markdown] checkup-text
# ## Evidence, on your script or on the stand-in

# %% checkup
script = Path(MY_SCRIPT).expanduser().resolve() if MY_SCRIPT else repository / "train.py"
code, told = command(*python_words, "checkup", "--exit-code", script)
print(told[:1800])

# %% [markdown] blind-text
# ## What it cannot tell
#
# One line more, which a script may hold for a good reason: `sounds = sounds.abs()`. It throws away the sign of every number, and it is
# put into the healthy commit 8.

# %% [predict] blind
# The accuracy falls to {about a half = about_half}. What will a checkup say?
#
# (x) Nothing found
#     It knows what a training does wrong. What the numbers ought to mean it cannot know: only you do, or a twin that is healthy.
# ( ) That the model learns too slowly
#     It learns at the usual rate what there is left to learn.
# ( ) That the inputs are not centred
#     Many healthy inputs are not. An alarm there would accuse half the world.

# %% blind-run
healthy, unsigned = folder / "healthy.py", folder / "unsigned.py"
healthy.write_text(versions[7])
unsigned.write_text(versions[7].replace("train_x, train_y, test_x", "sounds = sounds.abs()\ntrain_x, train_y, test_x"))
print("accuracy:", *(f"{play(path.read_text())[0]['right']:.3f}" for path in (healthy, unsigned)))
blind_code, told = command(*python_words, "checkup", "--exit-code", unsigned)
print(told.splitlines()[0], "| exit code", blind_code)
print(command(*python_words, "differ", healthy, unsigned, "--steps", "20")[1])
blind.reveal(told.splitlines()[0].partition(": ")[2])

# %% [proof] blind-proof
about_half = 0.4 < play(unsigned.read_text())[0]["right"] < 0.55
assert blind_code == 0

# %% [markdown] break-text
# ## Break your own script
#
# A check that never failed has proved nothing. Put a fault in, and see who notices. Many projects test only that the
# model beats guessing, here twice one in six.

# %% [predict] notice
# The gradients are never cleared any more. Is the model still better than twice guessing?
#
# ( ) No: such a training diverges
#     With a long training or a high rate it may. This one has eighty steps, and gets through them.
# (x) Yes: it still learns enough for that
#     So a test with that much room passes a broken training. Ask for what the healthy run reaches, less its spread.
# ( ) With some seeds it is, with others not
#     A fair suspicion after the accuracies above. The cell tries four.

# %% break-run
target = script if MY_SCRIPT else healthy
code, told = command(
    *python_words, "break", target, "--fault", "loop/stale_gradients", "-o", folder / "broken.py", "--diff"
)
print(told)
if code == 0 and not MY_SCRIPT:
    rights = [play((folder / "broken.py").read_text(), seed)[0]["right"] for seed in range(4)]
    print("accuracy, four seeds:", [round(right, 3) for right in rights], "- twice guessing is 0.333")
if code == 0:
    print(command(*python_words, "checkup", folder / "broken.py")[1][:500])
notice.reveal(None if code or MY_SCRIPT else f"with {sum(right > 1 / 3 for right in rights)} of the four seeds it is")

# %% [proof] break-proof
assert code == 0 and min(rights) > 1 / 3 and max(rights) < 0.75, (told, rights)

# %% [markdown] shrink-text
# ## Make it small
#
# A report is read when it is short. **Write it:** `fails(items)` says whether a list still shows the fault; the whole list does. Return a list that
# fails, in the old order, from which no single item can be left out. Leave out large pieces first: of 128 items with one culprit, 60 runs must
# do.


# %% [task] shrink
def shrink(items, fails):
    """A list that still fails, and of which no single item can be left out."""
    ...  # your code


# %% try-shrink
shrink = lab.try_out("20/shrink", shrink)


# %% [solution] shrink
def shrink(items, fails):
    """A list that still fails, and of which no single item can be left out."""
    kept, size = list(items), max(1, len(items) // 2)
    while True:
        start, removed = 0, False
        while start < len(kept):
            shorter = kept[:start] + kept[start + size :]
            if fails(shorter):
                kept, removed = shorter, True
            else:
                start += size
        if size == 1 and not removed:
            return kept
        size = max(1, size // 2)


# %% [judge] shrink
def judge(answer):
    for what, number, shows, most in (
        ("one culprit of 128", 128, lambda rows: 77 in rows, 60),
        ("two, far apart", 64, lambda rows: {3, 60} <= set(rows), 120),
        ("either of two", 32, lambda rows: 5 in rows or 30 in rows, 60),
        ("three of them, any", 16, lambda rows: len(rows) >= 3, 120),
        ("a later one sets an earlier one free", 8, lambda rows: 0 in rows and (1 in rows or 7 not in rows), 80),
    ):
        calls = []

        def fails(rows, calls=calls, shows=shows):
            calls.append(len(rows))
            return shows(rows)

        gave = answer(list(range(number)), fails)
        gave = [] if gave is None else list(gave)
        small = shows(gave) and not any(shows(gave[:n] + gave[n + 1 :]) for n in range(len(gave)))
        yield (
            small and gave == sorted(gave),
            f"{what}: fails, and nothing can be left out; yours has {len(gave)} of {number}",
        )
        yield len(calls) <= most, f"    runs: {most} at most, yours {len(calls)}"


def from_behind(items, fails):
    kept, size = list(items), max(1, len(items) // 2)
    while True:
        before = len(kept)
        for end in range(len(kept), 0, -size):
            tried = kept[: max(0, end - size)] + kept[end:]
            if fails(tried):
                kept = tried
        if size == 1 and len(kept) == before:
            return kept
        size = max(1, size // 2)


def singly(items, fails):
    kept = list(items)
    for item in items:
        tried = [one for one in kept if one != item]
        if fails(tried):
            kept = tried
    return kept


def halves(items, fails):
    kept = list(items)
    while len(kept) > 1:
        half = len(kept) // 2
        if fails(kept[:half]):
            kept = kept[:half]
        elif fails(kept[half:]):
            kept = kept[half:]
        else:
            break
    return kept


RIGHT = {"from behind": from_behind}
LAZY = {"one by one, once": singly, "halves only": halves, "as it was": lambda items, fails: list(items)}

# %% [markdown] report-text
# ## The report
#
# `bugzoo bug-report` does this with the statements of a script, each try a run. It writes what a maintainer needs: the shortest script, what was seen and
# where, versions, device, settings. What was *expected* it cannot know; that sentence is yours. The next cell searches for a minute.

# %% report
import shutil

shutil.rmtree(folder / "report", ignore_errors=True)
report_code, told = command(
    *python_words, "bug-report", script, "-o", folder / "report", "--budget", "60", "--seconds", "30"
)
print(told)
if report_code == 0:
    print((folder / "report" / "minimal.py").read_text())
    print((folder / "report" / "report.md").read_text()[:1500])

# %% [proof] report-proof
assert report_code == 0 and (folder / "report" / "minimal.py").exists()
torch.set_num_threads(threads)

# %% [check] maintainer
# You send this report to somebody who has never seen your project. What is still missing?
#
# ( ) The whole repository, to be safe
#     that is what the short script spares them.
# (x) One sentence: what you expected to see, and why
#     yes. Without it nobody can tell a fault from a wish.
# ( ) Your guess at the cause, first of all
#     it may stand last. A wrong guess in front sends the reader the wrong way.

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"The training loss of our character model falls to {nearly nothing = nearly_nothing} in {120 = second_steps} steps. The validation loss is {more than seven = above_seven} nats, where
# guessing with dice gives {4.56 = dice}. So it learns by heart, as anything does that is trained for too long. I have taken dropout, and half the width, and it is no better."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("20/second")
run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                          the program; lines count from 1
#   own = run.trace.live.namespace                                the script's own names
#   {name: tuple(x.shape) for name, x in own.items() if hasattr(x, "shape")}

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
nearly_nothing, above_seven = run.trace.loss[-10:].mean() < 0.1, run.trace.metrics["loss"] > 7
second_steps = len(run.trace.loss)
own = run.trace.live.namespace
most_unseen = second_steps * own["inputs"].shape[1] * own["batch_size"] < 0.5 * len(own["train_codes"])
dice = math.log(96)
said = [
    judged(second, {"cause": cause, "place": line, "test": test})
    for cause in form.causes
    for line in range(1, len(second.source.splitlines()) + 1)
    for test in "ABCD"[: len(form.tests)]
]
assert len(form.causes) == 4 and min(one.count("NOT") for one in said) == 0

# %% [folded] turn-read
# After you have handed in: it learns what it is asked
#
# The loss compares the answer at each place with the character that stands *there*, and not with the next one. To say what one has
# just been shown is learnt in no time. Asked for the next character, the model says the same one again and is very sure of it: that is how
# one comes to be worse than dice.
#
# Learning by heart looks alike at first sight: a training loss near nothing, a poor validation. What tells them apart is a floor. A model of this size
# cannot guess a text that it has not learnt by heart at much less than one nat a character, and to learn this text by heart takes more than one look at it; in
# {120 = second_steps} steps {most of it was never shown = most_unseen}. Whoever falls through the floor so early has been told the answer.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 20` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="20")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **One commit must agree with itself before two are compared.** *Fails when* an operation adds up in another order each time; then compare with a
#    tolerance that you measured.
# 2. **Choose the number before you search by it:** its spread over seeds must be small beside the jump. *Fails when* no such number exists; then ask what the
#    run does, not how it ends.
# 3. **A verdict needs a third answer.** *Fails when* too much is skipped: then several commits remain, and that is the honest result.
# 4. **Break it yourself before you trust a check.** *Fails when* the fault lies in what the data mean, which nobody broke.
#
# **Next:** the last three. In [exercise 58, *the first customer*](../exercises/58_the_first_customer.ipynb), you repair a program, in
# [exercise 59, *five worries*](../exercises/59_five_worries.ipynb), you judge five by what they show, and in
# [exercise 60, *one number*](../exercises/60_one_number.ipynb), you break one so that nobody would notice. Then `bugzoo checkup` on a
# script that you care about.
