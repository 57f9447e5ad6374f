"""Lesson 17: several processes, one training: who works, who waits, and who is named for it."""

# %% [case] incident
# data_parallel distributed/same_shard_everywhere

# %% [case] stuck
# data_parallel distributed/skipped_batch

# %% [case] order
# data_parallel distributed/set_epoch_missing

# %% [case] second
# data_parallel distributed/rank_zero_only_collective

# %% [markdown] title
# # 17 · Distributed
#
# A second process costs as much as the first. In this lesson you find out whether it works at all, why the repair looks like a
# regression, when the averaged gradient is the right one and when it is not, and how to read the stacks of a job that stands still,
# where the process that is named is as a rule the one that did nothing wrong.
#
# You need about {60 = minutes} minutes, and to know what a gradient and a `DataLoader` are. After *Is the average the right one?* is a good
# place for a pause.
#
# All runs here are real: two processes on this machine's CPU, which talk through gloo. On GPUs the library is NCCL and the order of
# events is the same; what is known to differ is said where it does. With an NVIDIA GPU for each of the two, `lab.device("cuda")` in the first
# cell shows NCCL at work; with one for both they go on talking through gloo. A dated trace of such a run is not part of this lesson yet.
#
# Before each result you are asked what it will be. Say something, even at a guess: it is kept, graded by nobody, and the cell
# with the result comes back to it. Text that is folded belongs behind the run above it. After a restart of the kernel choose
# *Run* → *Run All Above Selected Cell*; what you said and wrote is still there.

# %% setup
from dataclasses import replace

import numpy as np

import bugzoo
from bugzoo import lab
from bugzoo.running import Job, run_worker

# %% [proof] reading-time
from bugzoo.lessons import load

lesson = load("17")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Tuesday, 09:30.* "The job has run on two machines since last week. Both are at full load. The loss falls on both, the accuracy is
# > what it always was, there is no warning in the log. I have been asked what the second machine is for, and I could not say:
# > an epoch is still {72 = steps_epoch} steps, as in the days of one machine."
#
# It is a common complaint: someone with three GPUs [saw all of them at work and no gain
# ](https://github.com/innnky/so-vits-svc/issues/70). Nothing crashes, and every curve is healthy. The words to know: each process is a
# *rank*, their number is the *world size*. `DistributedDataParallel` (DDP) gives all ranks the same weights once, and at each `backward()`
# replaces every rank's gradient by the mean over the ranks. All else is left to the script.

# %% [predict] guess
# The healthy twin has two ranks as well, the same seed, the same number of epochs. How does its validation loss compare, in the end?
#
# ( ) It is lower: two machines learn more than one
#     They see as many samples as before, in half as many steps.
# ( ) It is about the same
#     That would be so if each step brought as much as two of the other run.
# (x) It is higher
#     Yes, and remember it: the sick run has the better number, so whoever mends it will seem to have broken something.

# %% live
incident = lab.case("17/incident")
view = lab.live(incident, explain=False)

# %% [markdown] live-text
# A run of several processes can be watched and stopped from here, but not paused, as one of them would then stand still without the
# others. So this lesson looks at what the ranks bring back: `run.ranks` has one run for each.

# %% numbers
run, healthy = view.result, view.healthy
for name, one in (("this run", run), ("its twin", healthy)):
    print(f"{name}: {len(one.trace.loss)} steps on each rank, validation {one.trace.metrics}")
    for number, rank in enumerate(one.ranks):
        print(f"    rank {number}: first losses", [round(float(loss), 4) for loss in rank.trace.loss[:5]])
guess.reveal()

# %% [proof] numbers-proof
steps_epoch, epochs = 72, 6
assert len(run.trace.loss) == steps_epoch * epochs == 2 * len(healthy.trace.loss)
assert np.array_equal(run.ranks[0].trace.loss, run.ranks[1].trace.loss)
assert not np.array_equal(healthy.ranks[0].trace.loss[:5], healthy.ranks[1].trace.loss[:5])
assert run.trace.metrics["loss"] < healthy.trace.metrics["loss"] - 0.01

# %% figure
from bugzoo.plots import ranks as ranks_plot

lab.picture(ranks_plot.picture({"this run": run, "its twin": healthy}))

# %% [folded] figure-read
# After the run: each cross sits in its ring
#
# In the twin the curves of the ranks cross all the time: other samples, another loss. In this run they are equal
# to the last digit, at every step, for {432 = all_steps} steps. The log of rank 0 alone, which is what most scripts print, cannot show it.

# %% [proof] figure-proof
all_steps = len(run.trace.loss)

# %% [markdown] dealt-text
# ## What did each rank see?
#
# Equal losses are a strong hint. What you want to know is who got which samples. So the number of each sample travels with it: three
# changes to the script's text, and each rank brings back what it has seen.
#
# **Write it:** from the sample numbers of each rank, how many samples more than one rank got, and how many of those
# that there are no rank got. Ranks may have different numbers of samples.


# %% [task] dealt
def dealt(parts, samples):
    """parts: one list of sample numbers for each rank; samples: all that there are. Returns (shared, left out)."""
    ...  # your code


# %% try-dealt
dealt = lab.try_out("17/dealt", dealt)


# %% [solution] dealt
def dealt(parts, samples):
    """parts: one list of sample numbers for each rank; samples: all that there are. Returns (shared, left out)."""
    owners = {}
    for rank, part in enumerate(parts):
        for sample in part:
            owners.setdefault(sample, set()).add(rank)
    return sum(len(ranks) > 1 for ranks in owners.values()), len(set(samples) - set(owners))


# %% [judge] dealt
def judge(answer):
    for parts, samples, wanted, what in (
        ([[0, 2, 4], [1, 3, 5]], range(6), (0, 0), "dealt properly"),
        ([[0, 1, 2], [0, 1, 2]], range(3), (3, 0), "the same on both"),
        ([[0, 1], [1, 0]], range(5), (2, 3), "the same in another order, and most left out"),
        ([[0, 0, 1], [2, 3]], range(4), (0, 0), "one rank gets a sample twice, the other never does"),
        ([[0, 3], [1, 4], [2, 0]], range(5), (1, 0), "three ranks, five samples, one is used to fill up"),
        ([[7, 9], [9], [9]], [7, 8, 9], (1, 1), "other numbers, parts of different length"),
    ):
        gave = answer([list(part) for part in parts], list(samples))
        gave = tuple(gave) if isinstance(gave, tuple | list) else gave
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}"


def by_counting(parts, samples):
    from collections import Counter

    count = Counter(sample for part in parts for sample in set(part))
    return sum(n > 1 for n in count.values()), sum(count[sample] == 0 for sample in samples)


def pairs(parts, samples):
    return len(set(parts[0]) & set(parts[1])), len(set(samples) - set().union(*parts))


def place_by_place(parts, samples):
    return sum(a == b for a, b in zip(*parts[:2], strict=False)), len(set(samples) - set().union(*parts))


def by_lengths(parts, samples):
    total, different = sum(map(len, parts)), len(set().union(*parts))
    return total - different, len(samples) - different


RIGHT = {"a count": by_counting}
LAZY = {
    "two ranks only": pairs,
    "place by place": place_by_place,
    "by lengths": by_lengths,
    "none": lambda parts, samples: (0, 0),
}

# %% dealt-run
WITH_NUMBERS = {
    "TensorDataset(images[train], labels[train])": "TensorDataset(images[train], labels[train], train)",
    "for inputs, targets in train_loader:": "for inputs, targets, rows in train_loader:\n        seen.append(rows)",
    "losses = []": "losses = []\nseen = []",
    "# %% Evaluation": "seen, per_epoch = torch.cat(seen), len(train_loader)\n\n# %% Evaluation",
}


def changed(scenario, changes):
    """A run of the scenario's text in which each key is replaced by its value."""
    text = scenario.source
    for before, after in changes.items():
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return replace(scenario.job(), source=text)


for name, scenario in (("this run", incident), ("its twin", incident.healthy())):
    counted = run_worker(replace(changed(scenario, WITH_NUMBERS), export=("seen", "train")))
    samples = counted.arrays["train"].tolist()
    parts = [rank.arrays["seen"][: len(rank.arrays["seen"]) // 6].tolist() for rank in counted.ranks]  # of six epochs
    print(f"{name}, first epoch, {len(samples)} samples: (shared, left out) =", dealt(parts, samples))

# %% [proof] dealt-proof
assert len(samples) == 1150 and counted.arrays["seen"].size == 6 * 575 and dealt(parts, samples) == (0, 0)

# %% [predict] alone
# Take the second process away: the very same text, world size 1. What changes in the losses of rank 0?
#
# ( ) All of them: the effective batch is halved
#     The batch *looks* twice as large. It holds every sample twice.
# ( ) The last digits: the averaging rounds
#     The mean of two equal numbers is that number, exactly: a half and a half.
# (x) No bit of any loss
#     The second machine computes what the first one computes, and averages it in. Full load, and nothing done.

# %% alone-run
ALONE = {
    "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0",
}  # fmt: skip
one_process = run_worker(replace(incident.job(), ranks=1, env=ALONE))
print("one process:", len(one_process.trace.loss), "steps, validation", one_process.trace.metrics)
print(
    "all losses equal those of two processes, to the last bit:", np.array_equal(one_process.trace.loss, run.trace.loss)
)
alone.reveal()

# %% [proof] alone-proof
assert np.array_equal(one_process.trace.loss, run.trace.loss) and one_process.trace.metrics == run.trace.metrics

# %% [markdown] instrument-text
# The instrument that compares the ranks of a run, and what was done to the healthy program:

# %% instrument
from bugzoo.diagnostics import rank_check

print(rank_check.judge(rank_check.measure(run)).message)
print(incident.diff())

# %% [proof] instrument-proof
assert rank_check.judge(rank_check.measure(run)).suspects[0].cause == "distributed/same_shard_everywhere"
assert not rank_check.judge(rank_check.measure(healthy)).fired

# %% [markdown] regression-text
# ## The repair looks like a regression
#
# The mended run is the twin, and the twin had the *higher* validation loss. A colleague who sees only that number takes the repair back.
# Two sentences are ready for the discussion: "distributed training costs quality", and "you have to train as many *steps*".

# %% [predict] twelve
# The healthy program with twelve epochs: as many steps as the sick run made in six. Its validation loss against the sick run's?
#
# ( ) Higher: larger batches generalise worse
#     That is told of batches of thousands. Here it is 32 against 16.
# ( ) Equal to the second digit: the number of steps decides
#     Each of these steps is the mean over twice as many different samples. That is worth something.
# (x) Clearly lower
#     Steps were missing, not quality. With as many steps the second machine shows what it is for.

# %% twelve-run
longer = run_worker(bugzoo.Scenario("data_parallel", settings={"epochs": 12}).job())
for name, one in (("sick, 6 epochs", run), ("healthy, 6 epochs", healthy), ("healthy, 12 epochs", longer)):
    print(f"{name:20} {len(one.trace.loss)} steps on each rank, validation loss {one.trace.metrics['loss']:.3f}")
twelve.reveal()

# %% [proof] twelve-proof
assert longer.trace.metrics["loss"] < run.trace.metrics["loss"] < healthy.trace.metrics["loss"]
assert len(longer.trace.loss) == len(run.trace.loss)

# %% [folded] twelve-read
# After the run: say against what you compare
#
# The order of the three losses holds for the first three seeds of this program. A run on more ranks can be compared with an old one
# at equal epochs, at equal steps or at equal time, and the three give different winners. The sick run and the healthy one with twelve epochs
# take each machine through the same number of batches; that is the comparison of which the bill speaks.

# %% [markdown] average-text
# ## Is the average the right one?
#
# DDP promises the *mean over ranks of the gradients of the ranks' losses*. You want the gradient of the mean over all samples, what one
# process with the whole batch would compute. When are they the same? The following script takes 32 digits and compares the two, in real
# processes, for several ways of dealing them out.

# %% average-script
COMPARE = """\
import torch
import torch.distributed as dist
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
digits = load_digits()
images = torch.tensor(digits.data[:32], dtype=torch.float32) / 16
labels = torch.tensor(digits.target[:32])


def network(norm):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32) if norm else nn.Identity(), nn.ReLU(), nn.Linear(32, 10))


def gradient(model, rows, factor=1.0):
    (factor * F.cross_entropy(model(images[rows]), labels[rows])).backward()
    return torch.cat([one.grad.flatten() for one in model.parameters()])


def off(counts, factors=(1.0, 1.0), norm=False):
    alone = gradient(network(norm), slice(0, 32))  # one process, the whole batch
    mine = slice(0, counts[0]) if rank == 0 else slice(counts[0], 32)
    shared = gradient(DistributedDataParallel(network(norm)), mine, factors[rank])
    return float((shared - alone).norm() / alone.norm())


metrics = {
    "equal": off((16, 16)),
    "halved": off((16, 16), (0.5, 0.5)),
    "unequal": off((28, 4)),
    "weighted": off((28, 4), FACTORS),
    "normed": off((16, 16), norm=True),
}
dist.destroy_process_group()
"""

# %% [markdown] share-text
# With 28 and 4 samples the mean of the two means gives a sample of the small share seven times the weight of one of the other. It is the
# everyday case in language models, where a rank's batch has as many *tokens* as its sentences happen to have. The remedy is a factor
# for each rank's loss.
#
# **Write it:** rank r has `counts[r]` samples and takes the mean over them; DDP takes the mean over the ranks. By which factor has each rank to
# multiply its loss, so that the result is the mean over all samples?


# %% [task] factors
def factors(counts):
    """counts: how many samples each rank has. Returns a list, the factor for each rank's mean loss."""
    ...  # your code


# %% try-factors
factors = lab.try_out("17/factors", factors)


# %% [solution] factors
def factors(counts):
    """counts: how many samples each rank has. Returns a list, the factor for each rank's mean loss."""
    return [own * len(counts) / sum(counts) for own in counts]


# %% [judge] factors
import torch


def judge(answer):
    torch.manual_seed(0)
    for counts in ([16, 16], [28, 4], [3, 5, 1], [10, 0, 2, 2]):
        losses = [torch.rand(count) for count in counts]
        gave = answer(list(counts))
        usable = isinstance(gave, list | tuple) and len(gave) == len(counts)
        means = [part.mean() if len(part) else torch.tensor(0.0) for part in losses]
        ddp = sum(float(f) * float(mean) for f, mean in zip(gave, means, strict=True)) / len(counts) if usable else None
        whole = float(torch.cat(losses).mean())
        said = "nothing usable" if ddp is None else f"{ddp:.4f}"
        yield (
            usable and abs(ddp - whole) < 1e-5,
            f"samples {counts}: mean over all {whole:.4f}, through DDP yours gives {said}",
        )


RIGHT = {
    "against the mean count": lambda counts: [one / (sum(counts) / len(counts)) for one in counts],
}
LAZY = {
    "ones": lambda counts: [1.0] * len(counts),
    "the share alone": lambda counts: [one / sum(counts) for one in counts],
    "by the ranks": lambda counts: [1 / len(counts)] * len(counts),
    "of two ranks": lambda counts: [2 * one / sum(counts) for one in counts],
}

# %% [predict] averages
# Now all five ways at once. Which of them gives, up to rounding, the gradient of one process with all 32 digits?
#
# ( ) All but the loss that is divided by the number of ranks
#     Two more are off, and one of them by more than that one.
# ( ) Only the equal shares
#     And unequal ones, with your factors.
# (x) Equal shares, and unequal ones with the factors
#     The rest is off: a halved loss by half, plain unequal shares by far more than that, and BatchNorm although its shares are equal.
# ( ) Equal shares with and without BatchNorm
#     BatchNorm normalises with the rank's own 16, and one process with all 32. They are not the same function.

# %% averages-run
compared = run_worker(Job(COMPARE.replace("FACTORS", repr(factors([28, 4]))), ranks=2))
found = compared.ranks[0].trace.metrics
for name, what in {
    "equal": "16 and 16", "halved": "16 and 16, loss / ranks", "unequal": "28 and 4",
    "weighted": "28 and 4, with factors", "normed": "16 and 16, BatchNorm",
}.items():  # fmt: skip
    print(f"{what:26} off by {found[name]:.2g} of the gradient's size")
averages.reveal()

# %% [proof] averages-proof
assert compared.outcome == "finished" and compared.ranks[1].trace.metrics == found
assert found["equal"] < 1e-5 and found["weighted"] < 1e-5
assert abs(found["halved"] - 0.5) < 1e-4
off_norm, off_unequal = found["normed"], found["unequal"]
more_than_itself = off_unequal > 1.2

# %% [folded] averages-read
# After the run: which of them a training shows
#
# The plain mean over 28 and 4 is wrong by {more than the gradient's own size = more_than_itself}: four digits spoke as loudly as twenty-eight. BatchNorm is off by {0.22 = off_norm}, and there is no
# factor for that; `nn.SyncBatchNorm` computes the batch's numbers over all ranks, on CUDA only
# ([documentation](https://pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html)). None of this raises, and none makes a rank
# differ from the others: what `rank_check` compares is equal in all five. Only a comparison with *one process* tells.

# %% [check] scale_lr
# The loss was divided by the number of ranks, the gradient is half as large. A forum says: multiply the learning rate by the number of ranks. Under Adam, does that undo it?
#
# ( ) Yes: half the gradient, twice the rate
#     With plain SGD it does. What does Adam do with the size of a gradient?
# (x) No: Adam divides by the gradient's size, so the rate is doubled and nothing else
#     Yes. Under Adam the halved loss hardly did anything, and the remedy is the disease.
# ( ) No: the rate has to be divided
#     With SGD that would make it a quarter. With Adam it is a rate that nobody asked for.

# %% [markdown] stuck-text
# ## The job that stands still
#
# > *Friday, 02:14.* "It has been at step {10 = steps_stuck} for an hour. No error. The cluster's tool says: rank 0, `loss.backward()`. We have restarted it on another
# > machine as rank 0, it stops at the same place. Is `backward` broken?"
#
# The supervisor of this run gives it a limit of a few seconds without a step, notes the Python stack of each rank, and ends it. In PyTorch the limit is the group's `timeout`, by
# [default](https://pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group) ten minutes for NCCL, thirty for others. The run
# takes some ten seconds, most of them waiting.

# %% [predict] culprit
# Two ranks, one job that stands still in rank 0's `backward()`. Where will rank 1 be?
#
# ( ) In its own `backward()`, at the same line
#     Then both would be at the same meeting, and it would take place.
# ( ) Dead: it has crashed
#     The launcher notices that, and ends the others.
# (x) Somewhere else, or through
#     Rank 0 is where it should be, and waits. You have to ask where the others are.

# %% stuck-run
stuck = lab.case("17/stuck")
still = lab.live(stuck, explain=False, show_twin=False).result
print(f"outcome: {still.outcome}; the line that is named: {still.trace.error['line']}")
for number, rank in enumerate(still.ranks):
    mine = [one for one in still.trace.error["stacks"].get(str(number), []) if 'File "data_parallel.py"' in one]
    print(f"rank {number}: {rank.outcome} after {len(rank.trace.loss)} steps, metrics {rank.trace.metrics}")
    print("        in the script at:", mine or "nowhere")
culprit.reveal()

# %% [proof] stuck-proof
steps_stuck = len(still.trace.loss)
assert still.outcome == "hung" and still.ranks[1].outcome == "finished" and still.ranks[1].trace.metrics
assert "loss.backward()" in stuck.source.splitlines()[still.trace.error["line"] - 1]
acc_half = still.ranks[1].trace.metrics["accuracy"]

# %% [folded] stuck-read
# After the run: the one that is named is the one that came
#
# Rank 1 is not in the script at all. It went through the whole training, evaluated, wrote its accuracy and *finished*, after
# {10 = steps_stuck} steps. Its process lives on only because the launcher waits for all. Rank 0 stands in a call that needs both. A stack shows who waits; the
# one that is missed is in none of the lines that you are looking at. In a report of [2021
# ](https://github.com/k2-fsa/snowfall/issues/152) it was the same: the rank with more data hung, for the other had gone.

# %% [markdown] parting-text
# ## Who left the table first?
#
# A stack is one moment. What you want is the *order of the meetings* of each rank, and the first place at which they differ. On GPUs NCCL's
# [flight recorder](https://pytorch.org/tutorials/unstable/flight_recorder_tutorial.html) keeps such lists. Here one line of print in
# front of each collective call does.
#
# **Write it:** from the lists of calls of each rank, the index of the first that does not belong together, and what each rank calls there, `None` for a
# rank that makes no more calls. `None` alone when all lists agree.


# %% [task] parting
def parting(calls):
    """calls: for each rank the names of its collective calls, in order. Returns (index, [call of each rank]), or None."""
    ...  # your code


# %% try-parting
parting = lab.try_out("17/parting", parting)


# %% [solution] parting
def parting(calls):
    """calls: for each rank the names of its collective calls, in order. Returns (index, [call of each rank]), or None."""
    for index in range(max(map(len, calls), default=0)):
        here = [rank[index] if index < len(rank) else None for rank in calls]
        if len(set(here)) > 1:
            return index, here
    return None


# %% [judge] parting
def judge(answer):
    a, g, b = "all_reduce", "all_gather", "barrier"
    for calls, wanted, what in (
        ([[a, a, g], [a, a, g]], None, "all together"),
        ([[a, a, a], [a, a]], (2, [a, None]), "one has gone"),
        ([[a], [a, a]], (1, [None, a]), "the other has gone"),
        ([[a, g, a], [a, a, g]], (1, [g, a]), "as many calls, in another order"),
        ([[a, a], [a, a], [a, b], [a, a]], (1, [a, a, b, a]), "four ranks, the third is elsewhere"),
        ([[], [a]], (0, [None, a]), "one never came"),
    ):
        gave = answer([list(one) for one in calls])
        if gave is not None and isinstance(gave, tuple | list) and len(gave) == 2:
            gave = (gave[0], list(gave[1]))
        yield gave == wanted, f"{what}: {wanted}, yours says {gave}"


def by_longest(calls):
    from itertools import zip_longest

    for index, here in enumerate(zip_longest(*calls)):
        if any(one != here[0] for one in here):
            return index, list(here)


def by_shortest(calls):
    for index, here in enumerate(zip(*calls, strict=False)):
        if len(set(here)) > 1:
            return index, list(here)


def by_length(calls):
    shortest = min(map(len, calls))
    if all(len(one) == shortest for one in calls):
        return None
    return shortest, [one[shortest] if len(one) > shortest else None for one in calls]


RIGHT = {"filled up": by_longest}
LAZY = {
    "as far as the shortest": by_shortest,
    "by length": by_length,
    "the last calls": lambda calls: (len(calls[0]) - 1, [one[-1] if one else None for one in calls]),
    "two ranks": lambda calls: by_longest(calls[:2]),
}

# %% parting-run
impatient = replace(stuck.job().limits, quiet_seconds=6)  # of a job that is known to stand still
CALLED = {
    "        loss.backward()": '        print("CALL", rank, "all_reduce", flush=True)\n        loss.backward()',
}  # fmt: skip
noted = run_worker(replace(changed(stuck, CALLED), limits=impatient))
lines = [line.split() for line in noted.stdout.splitlines() if line.startswith("CALL ")]
calls = [[name for _, number, name in lines if int(number) == rank] for rank in range(2)]
print("calls of each rank:", [len(one) for one in calls])
print("they part at:", parting(calls))

# %% [proof] parting-proof
assert parting(calls) == (steps_stuck, ["all_reduce", None])

# %% [markdown] barrier-text
# ## A meeting to bring them together
#
# The forum is of one mind: put `dist.barrier()` in front of the collective, and the ranks will be together again. And if it stops nevertheless, raise the
# timeout: some rank is slow.

# %% [predict] barrier
# A barrier at the beginning of each batch, in front of everything else. What becomes of the run?
#
# ( ) It goes on: the barrier brings rank 1 back
#     A barrier is a meeting as well. It waits for those who come, and brings nobody.
# ( ) It stops at the same two places
#     Rank 1 meets a barrier now where there was nothing on its way.
# (x) It stops, and rank 1 stands at the barrier
#     Two ranks, two different meetings. Only the line has moved that is written in the ticket.

# %% barrier-run
LOOP = "    for inputs, targets in train_loader:\n"
met = run_worker(replace(changed(stuck, {LOOP: f"{LOOP}        dist.barrier()\n"}), limits=impatient))
print(met.outcome, "after", [len(rank.trace.loss) for rank in met.ranks], "steps")
script = met.source.splitlines()
for number, stack in sorted(met.trace.error["stacks"].items()):
    places = [one for one in stack if 'File "data_parallel.py"' in one]
    text = [script[int(one.split("line ")[1].split()[0]) - 1].strip() for one in places]
    print(f"rank {number} at:", text)
barrier.reveal()

# %% [proof] barrier-proof
assert met.outcome == "hung" and [len(rank.trace.loss) for rank in met.ranks] == [steps_stuck] * 2

# %% [folded] barrier-read
# After the run: two rooms
#
# Each waits for the other in another room, and a longer timeout makes them wait longer. A barrier helps to *look*: put several in, and the last
# that all pass limits the place. It mends nothing. What mends it is that **every rank makes the same calls, whatever its data**: skip together
# (by a number that was averaged, so that all decide alike), have equally many batches, or use
# [join](https://pytorch.org/docs/stable/distributed.algorithms.join.html), which answers for a rank that has finished.

# %% [markdown] mend-text
# ## Mend it
#
# The case's own text, and what rank 1 did in it. Take the two lines out, and hold the result against the twin's.

# %% mend
print(stuck.diff())
GONE = "        if step >= 10 and dist.get_rank() == 1:\n            continue\n"
patient = stuck.healthy().job().limits  # those of a job that is not expected to hang
mended = run_worker(replace(changed(stuck, {GONE: ""}), limits=patient))
print("mended: ", mended.trace.metrics)
print("all losses of both ranks equal the twin's, to the last bit:", all(
    np.array_equal(one.trace.loss, other.trace.loss) for one, other in zip(mended.ranks, healthy.ranks, strict=True)
))  # fmt: skip

# %% [proof] mend-proof
assert mended.trace.metrics == healthy.trace.metrics
assert all(np.array_equal(a.trace.loss, b.trace.loss) for a, b in zip(mended.ranks, healthy.ranks, strict=True))

# %% [markdown] nudge-text
# ## Do equal gradients make equal models?
#
# A last promise of DDP: all ranks have the same weights. Suppose that something touches a weight on one rank, after the wrapper has made them
# equal: a checkpoint that is loaded by rank 0 alone, an initialisation. Here rank 1 adds a thousandth to the last layer's bias, before the first step.

# %% [predict] nudge
# After {216 = steps_twin} steps with gradients that are averaged each time: what is left of the thousandth?
#
# ( ) Nothing: the common gradient pulls the ranks together
#     The gradient is the same for both. What is the same for both moves both alike.
# (x) A thousandth, in this bias, and nothing anywhere else
#     Equal updates keep a difference as it is. It is carried along to the end.
# ( ) Much more, everywhere: small differences grow
#     They would, if each rank followed its own gradient. All the ranks get one.

# %% nudge-run
NUDGE = {"# %% Training": "if rank == 1:\n    model.module.head.bias.data += 0.001\n\n# %% Training"}
nudged = run_worker(replace(changed(incident.healthy(), NUDGE), export=("model",)))
zero, one = (rank.arrays for rank in nudged.ranks)
left = {name: float(np.abs(one[name] - values).max()) for name, values in zero.items()}
print(f"largest differences of the ranks after {len(nudged.trace.loss)} steps:")
for name, far in left.items():
    print(f"    {name:30} {far:.2g}")
nudge.reveal()

# %% [proof] nudge-proof
steps_twin = len(healthy.trace.loss)
assert [name for name, far in left.items() if far] == ["model.module.head.bias"] and abs(
    left["model.module.head.bias"] - 0.001
) < 1e-5

# %% [folded] nudge-read
# After the run: nobody corrects it
#
# No step brings the ranks back together; DDP sends weights out once, when it is made. So compare them yourself, now and then, by a number that no two
# sets of weights share: each rank computes it, an `all_gather` collects it, *on every rank*. In the file that rank 0 saves there is rank 0's bias.

# %% [markdown] order-text
# ## The line that everybody forgets
#
# `DistributedSampler` draws its order from a seed and the number of the epoch, and it learns that number only from `sampler.set_epoch(epoch)`. Where the
# call is missing each epoch comes in the same order, and each rank sees the same half for ever. It is said to ruin trainings.

# %% [predict] order
# Twenty epochs, three seeds, with and without `set_epoch`. What does its absence cost?
#
# ( ) A good deal: each rank learns from half of the data only
#     Each rank *sees* half. The gradients are averaged: the model learns from both halves.
# (x) Two points of accuracy at the very most
#     Every sample is still used once an epoch. What is lost is that the batches are mixed anew.
# ( ) Nothing at all, to the last bit
#     The batches are others from the second epoch on, and so is the training.

# %% order-run
forgotten = lab.case("17/order")
counted = run_worker(replace(changed(forgotten, WITH_NUMBERS), export=("seen",)))
begins = [counted.arrays["seen"][epoch * 575 :][:5].tolist() for epoch in range(3)]
print("rank 0, first samples of epochs 0, 1 and 2:", *begins)


def without_and_with(seed):
    """The accuracies after twenty epochs."""
    both = [replace(one, seed=seed, size="full") for one in (forgotten, forgotten.healthy())]
    found = [run_worker(one.job()).trace.metrics["accuracy"] for one in both]
    print(f"seed {seed}: without {found[0]:.3f}, with {found[1]:.3f}")
    return found


first_pair = without_and_with(0)

# %% [markdown] order-more
# One seed is an anecdote. Two more:

# %% order-second
second_pair = without_and_with(1)

# %% order-third
pairs = [first_pair, second_pair, without_and_with(2)]
order.reveal()

# %% [proof] order-proof
assert begins[0] == begins[1] == begins[2]
assert all(abs(without - with_it) < 0.021 for without, with_it in pairs)

# %% [folded] order-read
# After the run: a small harm, and a good reason all the same
#
# What was measured is a small model on digits, {a point or so = small_harm} at the most. One picture of the 287 is a third of a point, and with six epochs instead of twenty the loss was even lower
# without the call, on each of the three seeds, when this was written. Say "ruins" where you have measured it. The call costs a line, so write it.

# %% [proof] order-harm
small_harm = max(abs(without - with_it) for without, with_it in pairs) < 0.021

# %% [markdown] break-text
# ## Break it yourself
#
# The job that stands still, with a slider: `step` is the number of steps that are done before rank 1 goes its own way. Each try takes some ten seconds.
#
# - An epoch has 36 steps here, and there are six. From which value on does it not stand still, and why?
# - What do the losses tell you *before* it stops?

# %% panel
panel = lab.break_it(stuck, settings=("seed", "learning_rate"))

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another complaint, on the same program, as it is the only one here with several ranks: *"It stops in the first epoch, always at the same step. The tool names rank 0 again, so we
# asked who skips a batch. Nobody does: all the ranks have made the same number of steps, and each has the same data loader."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell runs first, for some ten seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("17/second")
run = lab.live(second, explain=False, show_twin=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                 the program; lines count from 1
#   run.trace.error["stacks"]                            the stack of each rank, innermost call first
#   run_worker(changed(second, {"...": "..."})).stdout   your own prints, and then parting(...)

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
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "all_gather(" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != stuck.ticket and run.outcome == "hung"
said = [judged(second, {"cause": cause, "place": right_line, "test": test}) for cause in form.causes]
assert min(one.count("NOT") for one in said) == 0, said

# %% [folded] turn-read
# After you have handed in: this time the one that is named did it
#
# Rank 0 is in a call that nobody else makes; rank 1 is in the next step's `backward()`, where it belongs. So a name says nothing either way. The
# question that decides is the same: **which call does each rank make next, and do all make it?** Take the call out of the `if`; only what is done
# with its result may stand behind it.

# %% [check] recap_check
# A job on eight ranks has stopped. Seven stacks end in `loss.backward()`, the eighth in the data loader, fetching a batch. Whom do you ask first?
#
# ( ) The seven: they hang in backward
#     they are at the meeting, and wait. Seven stacks with one line are the sign of one who is missed.
# (x) The eighth: what keeps it, and is it slow or still?
#     yes. It may be reading a broken file, or be starved. Whoever is not at the meeting is the one to ask.
# ( ) The network: seven connections have failed
#     then there would be errors. Waiting is what a working connection looks like when nobody speaks.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 17` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="17")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Lay the ranks side by side: equal losses mean equal data, unequal weights mean that nobody averages.** *Fails when* the fault is the same on
#    all ranks; then compare with one process.
# 2. **Hold the averaged gradient against one process with the whole batch.** *Fails when* there is BatchNorm or dropout: switch them off for the
#    comparison.
# 3. **In a hang, ask who is missing, not who waits.** *Fails when* every rank waits: then find the first call at which they part.
# 4. **Compare at equal epochs, at equal steps and at equal cost, and say which.** *Fails when* the learning rate was tuned for one of them only.
#
# **Next:** repair one yourself: [exercise 49, *the other machine's report*](../exercises/49_two_reports.ipynb), then
# [exercise 50, *a better start*](../exercises/50_a_better_start.ipynb), and tell five jobs apart in
# [exercise 51, *five jobs*](../exercises/51_five_jobs.ipynb). A repair is judged by what your program does. The same instruments work on your own
# script, without changing it: `bugzoo checkup --help` says how several ranks are started.
