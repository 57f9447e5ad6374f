"""Lesson 11: who moves a weight, what a frozen layer is worth, and what goes on moving in it."""

# %% [case] incident
# finetune freezing/unfrozen_after_optimizer

# %% [case] second
# regression_mlp freezing/unregistered_layers

# %% [markdown] title
# # 11 · Freezing and fine-tuning
#
# Fine-tuning is training with a plan of who may move, and when. Three parties have a say in it, the parameter, the optimiser and the
# layer's mode, and none of them asks the others. In this lesson you make a list of who moves and who only says so, set a backbone
# free while the run stands still, measure what a frozen backbone is worth, and write a freezing that holds.
#
# You need about {55 = minutes} minutes, and to know what an optimiser and a batch normalisation do. After *What a frozen backbone is worth* is a
# good place for a pause.
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

lesson = load("11")
minutes = 0.9 * lesson.minutes, 1.1 * lesson.minutes

# %% [markdown] incident
# ## The incident
#
# > *Monday, 19:40.* "The network knows the digits 0 to 4 and learns 5 to 9 now, with a new head. At first the layers below are frozen, then
# > they are set free. I did not trust that line, so I printed `requires_grad` of every parameter: True, all of them, from the epoch on in
# > which it should be. And it makes no difference. It stays at {77 % = acc_broken} of the new digits, last month it was {97 % = acc_healthy}. Perhaps these layers simply have
# > nothing left to learn?"
#
# A training in three phases: {six = pretraining} epochs on the old digits, {four = frozen_epochs} with only the head, then the rest of {twenty = epochs} with everything.

# %% [predict] part
# A healthy twin is trained with the same seed and the same batches. There are {542 = steps_all} steps. At which will the two loss curves part?
#
# ( ) At step 1: something is wrong with the model
#     It learnt the old digits as well as ever, {99.5 % = old_broken} of them.
# ( ) At step {193 = first_new}, with the first batch of new digits
#     For as long as the layers are meant to be frozen, nobody can tell the two runs apart, to the last bit.
# (x) At step {294 = first_apart}, one behind the first step of the last phase
#     Step {293 = first_free} is the first in which the layers should move. What it does shows in the loss of the next.

# %% live
incident = lab.case("11/incident")
view = lab.live(incident, explain=False)

# %% numbers
trace, healthy = view.result.trace, view.healthy.trace
for name, run in (("incident", trace), ("twin", healthy)):
    print(f"{name:10} new digits {run.metrics['accuracy']:.3f}   old digits {run.metrics['old_accuracy']:.3f}")
apart = np.flatnonzero(trace.loss != healthy.loss)
print(f"the losses part at step {apart[0] + 1} of {len(trace.loss)}")
part.reveal(f"step {apart[0] + 1}")

# %% [proof] numbers-proof
acc_broken, acc_healthy = trace.metrics["accuracy"], healthy.metrics["accuracy"]
old_broken, old_healthy = trace.metrics["old_accuracy"], healthy.metrics["old_accuracy"]
steps_all, first_apart = len(trace.loss), int(apart[0]) + 1
twenty_points = 18 < 100 * (acc_healthy - acc_broken) < 22

# %% [markdown] standing-text
# ## Who moves, and who only says so
#
# A weight moves when *two* things are so: `backward()` makes a gradient for it, because its `requires_grad` is True, and an optimiser
# holds it, in one of the lists `group["params"]` of `optimizer.param_groups`. Neither knows of the other. That makes
# three states, and a fourth that should not be:
#
# | | held by the optimiser | not held |
# |---|---|---|
# | requires a gradient | **trained** | **forgotten** |
# | does not, and is what it was | **frozen** | **frozen** |
# | does not, and has changed | **moved though frozen** | **moved though frozen** |
#
# **Write it.** `before` holds copies of the parameters, by name, from some steps ago. A tensor is held if it is *that tensor*: `is`, or `id()`;
# `==` and `in` compare numbers.


# %% [task] standing
def standing(model, optimizer, before):
    """Name -> "trained", "forgotten", "frozen" or "moved though frozen", for each of the model's parameters, in order."""
    ...  # your code


# %% try-standing
standing = lab.try_out("11/standing", standing)


# %% [solution] standing
def standing(model, optimizer, before):
    """Name -> "trained", "forgotten", "frozen" or "moved though frozen", for each of the model's parameters, in order."""
    held = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    found = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            found[name] = "trained" if id(parameter) in held else "forgotten"
        else:
            found[name] = "frozen" if torch.equal(parameter, before[name]) else "moved though frozen"
    return found


# %% [judge] standing
import torch
from torch import nn


def scene(groups, frozen=(), moved=()):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.5)  # alike in their numbers, and not the same
    optimizer = torch.optim.SGD([{"params": [model.get_parameter(one) for one in group]} for group in groups], lr=0.1)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    for name in frozen:
        model.get_parameter(name).requires_grad = False
    with torch.no_grad():
        for name in moved:
            model.get_parameter(name)[0] += 1e-5
    return model, optimizer, before


ALL = ["0.weight", "0.bias", "1.weight", "1.bias", "2.weight", "2.bias"]
CASES = {
    "everything is trained": (([ALL[:3], ALL[3:]]), (), ALL, {}),
    "the head alone is held": ([ALL[4:]], (), ALL[4:], dict.fromkeys(ALL[:4], "forgotten")),
    "two groups, one bias forgotten": ([ALL[:1], ALL[2:]], (), ALL, {"0.bias": "forgotten"}),
    "frozen, and held": ([ALL], ALL[:2], ALL[2:], dict.fromkeys(ALL[:2], "frozen")),
    "frozen, and not held": ([ALL[2:]], ALL[:2], ALL[2:], dict.fromkeys(ALL[:2], "frozen")),
    "one of two frozen ones has moved": (
        [ALL], ALL[:2], [*ALL[2:], "0.bias"], {"0.weight": "frozen", "0.bias": "moved though frozen"}
    ),
    "trainable, held, and not moved yet": ([ALL], (), (), {}),
}  # fmt: skip


def judge(answer):
    for what, (groups, frozen, moved, other) in CASES.items():
        right = {name: other.get(name, "trained") for name in ALL}
        gave = answer(*scene(groups, frozen, moved))
        gave = gave if isinstance(gave, dict) else {}
        wrong = {name: gave.get(name) for name in ALL if gave.get(name) != right[name]}
        text = "as it should be" if not wrong else ", ".join(f"{n}: {right[n]}, yours {w}" for n, w in wrong.items())
        yield gave == right, f"{what}: {text}"
        yield list(gave) == ALL, f"    all six names, in order: True, yours {list(gave) == ALL}"


def by_is(model, optimizer, before):
    def word(name, one):
        if not one.requires_grad:
            return "moved though frozen" if (one != before[name]).any() else "frozen"
        held = any(one is other for group in optimizer.param_groups for other in group["params"])
        return "trained" if held else "forgotten"

    return {name: word(name, one) for name, one in model.named_parameters()}


def by_numbers(model, optimizer, before):
    def held(one):
        return any(
            one.shape == p.shape and torch.equal(one, p) for group in optimizer.param_groups for p in group["params"]
        )

    found = by_is(model, optimizer, before)
    return {
        name: ("trained" if held(one) else "forgotten") if one.requires_grad else found[name]
        for name, one in model.named_parameters()
    }


def first_group_only(model, optimizer, before):
    held = {id(one) for one in optimizer.param_groups[0]["params"]}
    found = by_is(model, optimizer, before)
    return {
        name: ("trained" if id(one) in held else "forgotten") if one.requires_grad else found[name]
        for name, one in model.named_parameters()
    }


def asked_the_parameter(model, optimizer, before):
    return {name: "trained" if one.requires_grad else "frozen" for name, one in model.named_parameters()}


def by_what_moved(model, optimizer, before):
    return {
        name: ("frozen" if not one.requires_grad else "forgotten") if torch.equal(one, before[name])
        else ("trained" if one.requires_grad else "moved though frozen")
        for name, one in model.named_parameters()
    }  # fmt: skip


RIGHT = {"one by one": by_is}
LAZY = {
    "by their numbers": by_numbers, "the first group only": first_group_only, "asked the parameter": asked_the_parameter,
    "by what has moved": by_what_moved, "nothing": lambda model, optimizer, before: {},
}  # fmt: skip

# %% [predict] pile
# In the incident something is trainable and nobody holds it. `backward()` works out its gradient all the same, in every step. How long
# is that gradient after {250 = steps_free} steps, if it was {4 = pile_first} after the first few?
#
# ( ) About as long: each backward() makes a new one
#     backward() *adds* to what lies in `.grad`. Somebody has to clear it.
# ( ) Nearly zero: the loss has fallen
#     Each batch's own has become shorter. But nothing is taken away.
# (x) More than ten times as long
#     `optimizer.zero_grad()` clears what the optimiser holds, and this it does not hold. So it piles up, unread. A good thing to look for.

# %% standing-run
stand = lab.LiveView(incident, pause_at=300, show_twin=False).start()
stand.wait_pause()
own = stand.objects
before = {name: parameter.detach().clone() for name, parameter in own["model"].named_parameters()}
early = {name: parameter.grad.norm().item() for name, parameter in own["model"].named_parameters()}
stand.advance(240)
late = {name: parameter.grad.norm().item() for name, parameter in own["model"].named_parameters()}
table = standing(own["model"], own["optimizer"], before)
print("parameter        standing    gradient: step 300   step 540")
for name in early:
    word = table.get(name) if table else "?"
    print(f"{name:16} {word:12} {early[name]:16.2f} {late[name]:10.2f}")
pile.reveal(f"layer1.weight: {early['layer1.weight']:.1f}, then {late['layer1.weight']:.0f}")
stand.stop()

# %% [proof] standing-proof
assert {name for name, what in table.items() if what == "forgotten"} == {
    f"layer{n}.{kind}" for n in (1, 2) for kind in ("weight", "bias")
}
pile_first, pile_last, head_last = early["layer1.weight"], late["layer1.weight"], late["head.weight"]
assert pile_last > 10 * pile_first and late["head.weight"] < early["head.weight"] * 3
pretraining, frozen_epochs, epochs = "six", "four", "twenty"
assert (own["pretraining"], own["frozen"], own["epochs"]) == (6, 4, 20)
first_new = own["pretraining"] * len(own["old_loader"]) + 1
first_free = first_new + own["frozen"] * len(own["new_loader"])
steps_free = steps_all - first_free + 1
assert first_apart == first_free + 1

# %% [folded] standing-read
# After the run: everybody says yes, and nobody comes
#
# Four tensors are **forgotten**: trainable, with a gradient, and in no optimiser. The gradient of `layer1.weight` has grown to {92 = pile_last} while the head's is at
# {0.98 = head_last}. The optimiser was built when these layers were frozen, out of what was trainable *then*. An optimiser keeps tensors, not a
# condition: it never looks again. In one library of fine-tuning helpers
# [freezing therefore ends with a new optimiser](https://github.com/fastai/fastai/issues/2133), every time.

# %% instrument
from bugzoo.diagnostics import handover

print(handover.judge(handover.measure(view.result)).message)
print(incident.diff())

# %% [proof] instrument-proof
assert handover.judge(handover.measure(view.result)).suspects[0].cause == "freezing/unfrozen_after_optimizer"

# %% [predict] vain
# The repair that is proposed first: *"it does not learn in the last phase, so raise the rate there"*. Five times, from the first free step on. The
# accuracy, {77 % = acc_broken} before?
#
# ( ) Above {90 % = ninety}: the layers move at last
#     They are not in any list. Five times nothing is nothing.
# (x) Hardly better
#     The head gets there sooner. Where it gets to is settled by the layers below it. (`requires_grad_(True)` once more, the other proposal,
#     changes not a single bit.)
# ( ) It diverges
#     A single linear layer on features that stand still bears a lot.

# %% vain-run
stand = lab.LiveView(incident, pause_at=293, show_twin=False).start()
stand.wait_pause()
for group in stand.objects["optimizer"].param_groups:
    group["lr"] *= 5
stand.resume()
faster = stand.result.trace.metrics["accuracy"]
print(f"five times the rate: {faster:.3f}, the incident {trace.metrics['accuracy']:.3f}")
vain.reveal(f"{faster:.3f}")

# %% [proof] vain-proof
ninety = 0.9
assert abs(faster - acc_broken) < 0.03
again = lab.LiveView(incident, pause_at=293, show_twin=False).start()
again.wait_pause()
again.objects["model"].requires_grad_(True)
again.resume()
assert again.result.trace.metrics == trace.metrics

# %% [markdown] repair-text
# ## Set it free while it stands still
#
# The run once more, up to the last step in which the layers are meant to be frozen. The optimiser is not built again: it would lose what it knows of the head. It
# gets one group more.

# %% repair
view = lab.LiveView(incident, pause_at=292, show_twin=False).start()
view.wait_pause()
own = view.objects
own["optimizer"].add_param_group({"params": own["backbone"], "lr": own["learning_rate"] * own["slower"]})
view.resume()
mended = view.result.trace
print("mended: ", mended.metrics)
print("healthy:", healthy.metrics)
print("all losses equal the twin's, to the last bit:", np.array_equal(mended.loss, healthy.loss))

# %% [proof] repair-proof
assert mended.metrics == healthy.metrics and np.array_equal(mended.loss, healthy.loss)

# %% [markdown] worth-text
# ## What a frozen backbone is worth
#
# "Perhaps these layers have nothing left to learn?" They had {twenty points = twenty_points} left. A handbook promises that fine-tuning
# [gains 5 to 15 points](https://evisp.github.io/ml-handbook/06-dl-architectures/transfer-learning) over a head on frozen features; `bugzoo claims` has measured this program with less and with more data, and
# found more than that in most cases.
#
# So what are frozen features worth? We take the network as it stands after the old digits, give it a new head, and train that head alone. Beside
# it stand two others that have never seen a digit: the same network with its first, **random** weights, and no network at all, the head on the
# bare pixels.

# %% [predict] worth
# A head on the layers that learnt 0 to 4 reads about {74 % = worth_learnt} of the digits 5 to 9. How many does a head on *random* layers read?
#
# ( ) About {20 % = guess_five}: guessing among five
#     A random layer turns and folds the picture. It does not delete it.
# ( ) About {60 % = sixty}: better than guessing, worse than what has been trained
#     So one would say, and so it is said. Measured it is the other way round.
# (x) More than {90 % = ninety}
#     And the bare pixels are better still. What these layers have learnt is to tell 0 to 4 apart, and to let go of everything else.

# %% worth-run
stand = lab.LiveView(incident.healthy(), pause_at=192, show_twin=False).start()
stand.wait_pause()
own = stand.objects
learnt = copy.deepcopy(own["model"])  # it knows the digits 0 to 4
Net, images, labels, rate = own["Net"], own["images"], own["labels"], own["learning_rate"]
train, validation, known = own["train"], own["validation"], own["known"]
stand.stop()


def accuracy(model, rows):
    with torch.no_grad():
        return (model(images[rows]).argmax(-1) == labels[rows]).float().mean().item()


def with_new_head(model):
    made = copy.deepcopy(model)
    made.head = nn.Linear(128, 5)
    return made


def learn(model, parameters, seed=0, rows=train, steps=350):
    """Adam on what is handed over (a list of tensors, or groups), batches of 16; the model's accuracy on new digits."""
    optimizer, orders = torch.optim.Adam(parameters, lr=rate), torch.Generator().manual_seed(seed)
    for _ in range(steps):
        batch = rows[torch.randint(len(rows), (16,), generator=orders)]
        optimizer.zero_grad()
        F.cross_entropy(model(images[batch]), labels[batch]).backward()
        optimizer.step()
    return accuracy(model, validation)


scores = {}
print("new digits     learnt on 0 to 4   random layers   bare pixels      (three seeds)")
for size in (400, 40):
    for name in ("learnt", "random", "pixels"):
        for seed in (0, 1, 2):
            torch.manual_seed(seed)
            model = {"learnt": lambda: with_new_head(learnt), "random": Net, "pixels": lambda: nn.Linear(64, 5)}[name]()
            head = model.parameters() if name == "pixels" else model.head.parameters()
            scores.setdefault((size, name), []).append(learn(model, head, seed, train[:size]))
    print(
        f"{size:4} pictures ",
        *("   " + " ".join(f"{x:.2f}" for x in scores[size, n]) for n in ("learnt", "random", "pixels")),
    )
worth.reveal(f"{np.mean(scores[400, 'random']):.2f}, and {np.mean(scores[400, 'learnt']):.2f} on what was learnt")

# %% [proof] worth-proof
worth_learnt, worth_random, worth_pixels = (float(np.mean(scores[400, n])) for n in ("learnt", "random", "pixels"))
few_learnt, few_random = (float(np.mean(scores[40, n])) for n in ("learnt", "random"))
guess_five, sixty = 0.2, 0.6
assert worth_random > 0.9 and worth_pixels > worth_random
assert all(min(scores[size, "random"]) > max(scores[size, "learnt"]) + 0.1 for size in (400, 40))

# %% worth-figure
from bugzoo.plots import directions


def features(model, rows):
    with torch.no_grad():
        return F.relu(model.layer2(F.relu(model.layer1(images[rows]))))


torch.manual_seed(0)
layers = {"learnt on 0 to 4": features(learnt, validation), "random layers": features(Net(), validation)}
lab.picture(directions.picture(layers))

# %% [proof] worth-figure-proof
needed_learnt, needed_random = (directions.needed(directions.measure(one)) for one in layers.values())
assert needed_random > 3 * needed_learnt

# %% [folded] worth-read
# After the run: a good pupil forgets what was not asked
#
# {74 % = worth_learnt} on what was learnt, {92 % = worth_random} on random layers, {97 % = worth_pixels} on bare pixels. With forty pictures instead of four hundred, where transfer is
# said to pay most, it is {68 % = few_learnt} against {86 % = few_random}. The figure shows why: {5 = needed_learnt} directions hold nearly all of what the trained layers tell about a new digit, where random ones
# need {34 = needed_random}. To tell five classes apart four directions are enough, and the training had no reason to keep the others.
#
# This is no law against transfer. It belongs to a *narrow* first task: five classes, a thousand pictures, two layers. A backbone that had to tell a
# thousand kinds of things apart keeps more directions. But "pre-trained is better than random" is a measurement, not a
# saying, and it takes a minute: freeze a random copy and train the same head on it.

# %% [markdown] groups-text
# ## Two rates
#
# So the layers have to move. How fast? Usually what was trained before gets a smaller rate, a tenth or less. `torch.optim` takes a list of groups,
# `{"params": [...], "lr": ...}`, for that.
#
# **Write it:** the groups for a model in which the module `new` is new. All parameters are in, each once, the frozen ones too (so that nobody is
# forgotten when they are set free). Do not go by names: a `new` may be called anything.


# %% [task] groups
def groups(model, new, rate, slower):
    """Groups for torch.optim: the parameters of the module `new` at `rate`, all others of the model at `rate * slower`."""
    ...  # your code


# %% try-groups
groups = lab.try_out("11/groups", groups)


# %% [solution] groups
def groups(model, new, rate, slower):
    """Groups for torch.optim: the parameters of the module `new` at `rate`, all others of the model at `rate * slower`."""
    fresh = list(new.parameters())
    known_ones = {id(parameter) for parameter in fresh}
    rest = [parameter for parameter in model.parameters() if id(parameter) not in known_ones]
    return [{"params": fresh, "lr": rate}, {"params": rest, "lr": rate * slower}]


# %% [judge] groups
import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(4, 3)
        self.body = nn.Linear(3, 3)
        self.out = nn.Linear(3, 4, bias=False)
        self.out.weight = self.words.weight
        self.extra = nn.Linear(3, 2)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.Linear(2, 2)
        self.body = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        self.top = nn.Linear(2, 2)


def judge(answer):
    frozen = Named()
    frozen.body.requires_grad_(False)
    for model, new, what in (
        (named := Named(), named.top, "a plain model"),
        (inner := Named(), inner.body[1], "the new layer is in the middle"),
        (frozen, frozen.top, "some are frozen"),
        (tied := Tied(), tied.extra, "a weight that is used twice"),
    ):
        gave = answer(model, new, 0.5, 0.1)
        try:
            optimizer = torch.optim.SGD(gave if gave is not None else [], lr=9.0)
        except (ValueError, TypeError) as error:
            yield False, f"{what}: torch.optim takes it: True, yours: {error}"
            continue
        rates = [(id(one), group["lr"]) for group in optimizer.param_groups for one in group["params"]]
        fresh = {id(one) for one in new.parameters()}
        right = {id(one): 0.5 if id(one) in fresh else 0.05 for one in model.parameters()}
        off = sum(abs(dict(rates).get(key, 0.0) - lr) > 1e-9 for key, lr in right.items())
        yield len(rates) == len(right), f"{what}: {len(right)} parameters, yours holds {len(rates)}"
        yield off == 0, f"    at another rate than they should be: 0, yours {off}"


def one_each(model, new, rate, slower):
    fresh = {id(one) for one in new.parameters()}
    return [{"params": [one], "lr": rate if id(one) in fresh else rate * slower} for one in model.parameters()]


def trainable_only(model, new, rate, slower):
    return [
        {**one, "params": [p for p in one["params"] if p.requires_grad]} for one in one_each(model, new, rate, slower)
    ]


def by_name(model, new, rate, slower):
    named = dict(model.named_parameters())
    heads = [one for name, one in named.items() if name.startswith(("head", "top", "extra"))]
    rest = [one for name, one in named.items() if not name.startswith(("head", "top", "extra"))]
    return [{"params": heads, "lr": rate}, {"params": rest, "lr": rate * slower}]


def new_ones_twice(model, new, rate, slower):
    return [{"params": list(new.parameters()), "lr": rate}, {"params": list(model.parameters()), "lr": rate * slower}]


def one_rate(model, new, rate, slower):
    return [{"params": list(model.parameters()), "lr": rate}]


def last_child(model, new, rate, slower):
    *rest, last = model.children()
    return [
        {"params": list(last.parameters()), "lr": rate},
        {"params": list({id(p): p for part in rest for p in part.parameters()}.values()), "lr": rate * slower},
    ]


RIGHT = {"a group each": one_each}
LAZY = {
    "trainable ones only": trainable_only, "by name": by_name, "the new ones twice": new_ones_twice, "one rate": one_rate,
    "the last child": last_child, "the new ones only": lambda model, new, rate, slower: [{"params": new.parameters(), "lr": rate}],
}  # fmt: skip

# %% [predict] rates
# The same network, nothing frozen, {350 = steps_learn} steps on the new digits. At which rate of the old layers are the *new* digits read best?
#
# ( ) A hundredth of the head's: what is known should hardly be touched
#     That is nearly frozen, and is read as frozen is.
# ( ) A tenth, as is advised
#     It reads the new ones well. It is not the best for them.
# (x) The same as the head's
#     The new digits gain from every freedom. What the smaller rate buys is something else: see the second column.

# %% rates-run
found = {}
print("old layers' rate   new digits          old digits, with their own head")
for slower in (0.01, 0.1, 1.0, "anew"):
    for seed in (0, 1, 2):
        torch.manual_seed(seed)
        model = Net() if slower == "anew" else with_new_head(learnt)
        plan = groups(model, model.head, rate, 1.0 if slower == "anew" else slower)
        new = learn(model, plan if plan else model.parameters(), seed)
        model.head = learnt.head
        found.setdefault(slower, []).append((new, accuracy(model, known)))
    new, old = zip(*found[slower], strict=True)
    print(f"{slower!s:14}     " + "  ".join(f"{x:.2f}" for x in new) + "    " + "  ".join(f"{x:.2f}" for x in old))
rates.reveal("  ".join(f"{slower}: {np.mean([new for new, _ in pairs]):.2f}" for slower, pairs in found.items()))

# %% [proof] rates-proof
(new_tenth, old_tenth), (new_same, old_same), (new_anew, _), (new_hundredth, _) = (
    np.mean(found[key], axis=0).tolist() for key in (0.1, 1.0, "anew", 0.01)
)
steps_learn = 350
assert new_hundredth < new_tenth - 0.1 and new_tenth < new_same and old_same < old_tenth - 0.05
assert new_anew > new_same - 0.005

# %% [folded] rates-read
# After the run: a small rate buys memory
#
# At a tenth: {96 % = new_tenth} of the new digits, {97 % = old_tenth} of the old ones. At the same rate: {99 % = new_same} of the new, and {86 % = old_same} of the old are left. No loss shows that price,
# because no old digit is asked any more. Whoever looks at the new task alone will always find that the larger rate is better, and here even that
# a network which begins **anew** is as good as any, {98.6 % = new_anew}.
#
# So the rate of the old layers is no question of taste. Is anybody going to ask for the old skill again? Then measure it, next to the
# new one, and choose. Is nobody? Then the comparison to make is with training from nothing.

# %% [markdown] ways-text
# ## Five ways to freeze
#
# Here are five ways that are in use. Each is applied to the two layers behind the old digits, in front of 100 steps on the new ones. The optimiser goes
# on as it was, with the momentum of the old task in it. A frozen layer has not moved at all.

# %% [predict] ways
# How many of the five hold the two layers still, to the last bit?
#
# ( ) All five
#     Two of them do not. One of these is a typing error that Python takes without a word.
# ( ) Four
#     One more: where the gradient is zero, the optimiser has reasons of its own to go on.
# (x) Three
#     No gradient, no list, no rate: these hold. A gradient of zeros does not, and neither does an attribute that nobody reads.


# %% ways-run
def freeze_by(way, model, optimizer):
    """Returns what has to be done in front of each optimizer.step()."""
    back = [*model.layer1.parameters(), *model.layer2.parameters()]
    if way == "requires_grad of each parameter":
        for parameter in back:
            parameter.requires_grad = False
    elif way == "requires_grad of each layer":
        model.layer1.requires_grad = model.layer2.requires_grad = False
    elif way == "taken out of the optimiser":
        optimizer.param_groups[0]["params"] = list(model.head.parameters())
    elif way == "a group with rate 0":
        optimizer.param_groups[0]["params"] = list(model.head.parameters())
        optimizer.add_param_group({"params": back, "lr": 0.0})
    elif way == "gradient set to zero":
        return lambda: [parameter.grad.zero_() for parameter in back]
    return lambda: None


WAYS = (
    "requires_grad of each parameter", "taken out of the optimiser", "a group with rate 0", "gradient set to zero",
    "requires_grad of each layer",
)  # fmt: skip
moved = {}
for way in WAYS:
    model = copy.deepcopy(learnt)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for step in range(120):
        if step == 20:  # until here everything moves
            stood, act = copy.deepcopy(model), freeze_by(way, model, optimizer)
        batch = train[16 * (step % 25) :][:16]
        optimizer.zero_grad()
        F.cross_entropy(model(images[batch]), labels[batch]).backward()
        if step >= 20:
            act()
        optimizer.step()
    weight, was = model.layer1.weight, stood.layer1.weight
    moved[way] = ((weight - was).norm() / was.norm()).item()
    print(f"{way:34} moved by {moved[way]:.4f} of its length")
ways.reveal(f"{sum(value == 0 for value in moved.values())} of 5")

# %% [proof] ways-proof
assert [value == 0 for value in moved.values()] == [True, True, True, False, False]
moved_zero, moved_layer = moved["gradient set to zero"], moved["requires_grad of each layer"]

# %% [folded] ways-read
# After the run: an attribute that nobody reads
#
# `model.layer1.requires_grad = False` sets an attribute of a *module*. Modules have none of that name, so Python makes one, and nobody ever looks at it: the
# layer moved by {0.28 = moved_layer} of its length. [In a published project](https://github.com/CSCYQJ/MICCAI23-ProtoContra-SFDA/issues/18) it was found by comparing weights. The method with the underscore, `layer1.requires_grad_(False)`, goes to the parameters.
#
# A gradient of *zeros* is not *no* gradient: `step()` passes over a tensor whose `.grad` is None, and works on one whose `.grad` is zero. Momentum goes on
# ({0.08 = moved_zero} of its length), and weight decay would never end. And whatever you wrote, look whether a later line undoes it: in a
# [well-known training script](https://github.com/ultralytics/yolov5/issues/1213) a loop behind the freezing set everything to True again.

# %% [markdown] norm-text
# ## What goes on moving in a frozen layer
#
# `requires_grad = False` for each parameter holds. Does it hold the *layer*? The convolutional network of lesson 09 has read its ten digits, and gets pictures from a new
# scanner, which lays a grey veil over them. Everything below the head is frozen, all parameters, and a new head is trained for the new
# scanner. For the old scanner we keep the old head.

# %% [predict] norm
# Before, the network read {93.7 % = cnn_before} of the old scanner's pictures. Now its new head has been trained, and no parameter below it has changed in a single bit. With its old head, the old pictures?
#
# ( ) {93.7 % = cnn_before}: the same weights, the same pictures
#     The same weights, and not the same function.
# ( ) A point or two less
#     It would be a rounding matter, then. It is a third of all answers.
# (x) About {59 % = cnn_after}
#     The loop called model.train(). Two batch normalisations below took averages of grey pictures, and averages are no parameters.

# %% norm-run
stand = lab.LiveView(bugzoo.Scenario("digits_cnn"), pause_at=180, show_twin=False).start()
stand.wait_pause()
own = stand.objects
reader = copy.deepcopy(own["model"])
stand.stop()
pictures, digits, normalise, fit, held_out = (own[n] for n in ("images", "labels", "normalise", "train", "validation"))
grey = 0.5 + pictures / 2


def read_well(model, seen):
    now = copy.deepcopy(model).eval()
    with torch.no_grad():
        return (now(normalise(seen[held_out])).argmax(-1) == digits[held_out]).float().mean().item()


def new_head(freezing, seed=0):
    """A copy of the reader, frozen by `freezing(part)` part by part, whose new head learns the grey pictures."""
    model = copy.deepcopy(reader)
    model.head, parts = nn.Linear(128, 10), [model.layer1, model.norm1, model.layer2, model.norm2]
    for one in parts:
        freezing(one)
    optimizer, orders = torch.optim.Adam(model.head.parameters(), lr=0.01), torch.Generator().manual_seed(seed)
    for _ in range(5):
        model.train()  # as every loop does
        for rows in fit[torch.randperm(len(fit), generator=orders)].split(32):
            optimizer.zero_grad()
            F.cross_entropy(model(normalise(grey[rows])), digits[rows]).backward()
            optimizer.step()
    model.eval()
    return model


def both(model):
    """(accuracy on grey pictures with the new head, on the old ones with the old head)"""
    again = copy.deepcopy(model)
    again.head = reader.head
    return read_well(model, grey), read_well(again, pictures)


print(f"before:                          grey {read_well(reader, grey):.3f}   old {read_well(reader, pictures):.3f}")
usual = new_head(lambda part: part.requires_grad_(False))
print("all parameters frozen:           grey {:.3f}   old {:.3f}".format(*both(usual)))
same = {name: torch.equal(one, reader.state_dict()[name]) for name, one in usual.state_dict().items()}
print("changed below the head:", [name for name, equal in same.items() if not equal and "head" not in name])
norm.reveal(f"{both(usual)[1]:.3f}")

# %% [proof] norm-proof
cnn_before, (grey_usual, cnn_after) = read_well(reader, pictures), both(usual)
assert cnn_after < 0.75 and grey_usual > 0.94
changed = [name for name, equal in same.items() if not equal and "head" not in name]
assert {name.split(".")[1] for name in changed} == {"running_mean", "running_var", "num_batches_tracked"}

# %% [markdown] freeze-text
# ## A freezing that holds
#
# The averages of a BatchNorm are *buffers*: no gradient, no optimiser, and only its mode decides whether they move. `eval()` on the
# frozen part is half of the answer, since the next `model.train()` takes it back. (`part.train` may be replaced on the one object:
# `part.train = lambda mode=True: part`. The layers around it go on switching.)
#
# **Write it:** behind `freeze(part)`, whatever the loop does with `model.train()` and with an optimiser that still holds the part and its momentum, neither weights nor buffers
# of `part` change, and its dropout stays off. Layers *below* it still get their gradients through it. Returns the part.


# %% [task] freeze
def freeze(part):
    """From now on nothing in this module moves, in any mode of the model around it; gradients pass through it."""
    ...  # your code


# %% try-freeze
freeze = lab.try_out("11/freeze", freeze)


# %% [solution] freeze
def freeze(part):
    """From now on nothing in this module moves, in any mode of the model around it; gradients pass through it."""
    part.requires_grad_(False)
    part.zero_grad(set_to_none=True)  # zeros would keep the optimiser's momentum going
    part.eval()
    part.train = lambda mode=True: part
    return part


# %% [judge] freeze
import torch
from torch import nn


def judge(answer):
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    model = nn.Sequential(nn.Linear(3, 4), body, nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
    inputs = torch.randn(32, 3) + 1

    def steps():
        for _ in range(5):
            optimizer.zero_grad(set_to_none=False)  # as some loops still do
            model.train()
            model(inputs).square().mean().backward()
            optimizer.step()

    steps()
    begun = {name: value.clone() for name, value in model.state_dict().items()}
    gave = answer(body)
    steps()
    model.eval()
    model.train()
    steps()
    far = {name: (value.float() - begun[name].float()).abs().max().item() for name, value in model.state_dict().items()}
    weights = max(far[f"1.{name}"] for name, _ in body.named_parameters())
    buffers = max(far[f"1.{name}"] for name, _ in body.named_buffers())
    yield weights == 0, f"its weights moved by 0, yours by {weights:.3g}"
    yield buffers == 0, f"its averages moved by 0, yours by {buffers:.3g}"
    reached = model[0].weight.grad is not None and bool(model[0].weight.grad.abs().max() > 0)
    yield reached, f"a gradient reaches the layer below it: True, yours {reached}"
    yield far["2.weight"] > 0, f"the layer above it still learns: True, yours {far['2.weight'] > 0}"
    model.train()
    with torch.no_grad():
        hidden = torch.randn(32, 4)
        steady = torch.equal(body(hidden), body(hidden))
    yield steady, f"in model.train() it answers twice alike: True, yours {steady}"
    yield model[2].training, f"the rest is in training mode: True, yours {model[2].training}"
    yield gave is body, f"returns the part: True, yours {gave is body}"


def by_hook(part):
    for parameter in part.parameters():
        parameter.requires_grad, parameter.grad = False, None
    part.register_forward_pre_hook(lambda module, inputs: module.eval() and None)
    return part


def usual(part):
    return part.requires_grad_(False)


def till_the_next_train(part):
    part.requires_grad_(False)
    part.zero_grad(set_to_none=True)
    return part.eval()


def zeros_left(part):
    part.requires_grad_(False)
    part.eval()
    part.train = lambda mode=True: part
    return part


def cut(part):
    till_the_next_train(part)
    part.train = lambda mode=True: part
    inner = part.forward
    part.forward = lambda inputs: inner(inputs).detach()
    return part


def no_momentum(part):
    for module in part.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = 0.0
    part.zero_grad(set_to_none=True)
    return part.requires_grad_(False)


def attribute(part):
    part.requires_grad = False
    part.eval()
    part.train = lambda mode=True: part
    return part


RIGHT = {"a hook in front of it": by_hook}
LAZY = {
    "parameters only": usual, "until the next train()": till_the_next_train, "gradients of zeros are left": zeros_left,
    "cut off": cut, "averages with no momentum": no_momentum, "an attribute": attribute, "nothing": lambda part: part,
}  # fmt: skip

# %% [predict] held
# Now with your `freeze`. The old pictures are read as before, to the last bit. And the new ones, on which the usual way reached {98 % = grey_usual}?
#
# ( ) Better: the features do not shift under the head while it learns
#     The reason sounds well. Measured it is the other way round.
# ( ) The same
#     A few points are between the two.
# (x) Worse
#     The averages that moved had adapted to the veil. What spoils the old skill helps the new one.

# %% held-run
print("            parameters frozen        frozen with freeze")
pairs = []
for seed in (0, 1, 2):
    torch.manual_seed(seed)
    loose = both(new_head(lambda part: part.requires_grad_(False), seed))
    torch.manual_seed(seed)
    firm = both(new_head(freeze, seed))
    pairs.append((loose, firm))
    print(f"seed {seed}:   grey {loose[0]:.3f} old {loose[1]:.3f}    grey {firm[0]:.3f} old {firm[1]:.3f}")
held.reveal(f"{np.mean([firm[0] for _, firm in pairs]):.3f}")

# %% [proof] held-proof
assert all(firm[1] == cnn_before for _, firm in pairs) and all(loose[0] > firm[0] for loose, firm in pairs)
grey_firm, grey_loose = float(np.mean([firm[0] for _, firm in pairs])), float(np.mean([loose[0] for loose, _ in pairs]))
old_loose = float(np.mean([loose[1] for loose, _ in pairs]))

# %% [folded] held-read
# After the run: a leak that helps
#
# Truly frozen: {93 % = grey_firm} of the grey pictures, and the old ones as ever. Frozen by parameters alone: {97 % = grey_loose}, and {58 % = old_loose} of the old ones. "Always put frozen BatchNorms in evaluation
# mode" is right if the backbone has to stay what it is, because somebody else uses it. If only the new scanner counts, let the averages
# adapt, on purpose, and say so. In PyTorch's own tracker it has been
# [asked for more than once](https://github.com/pytorch/pytorch/issues/86590) that freezing the parameters might freeze these as well: people publish results of backbones that they believe frozen.

# %% [markdown] break-text
# ## Break it yourself
#
# The incident, with sliders. `slower` is the share of the rate for the old layers, `frozen` the number of epochs with the head alone.
#
# - Which of the sliders makes no difference here, and why?
# - Is there a number of frozen epochs at which the incident and its twin are the same?

# %% panel
panel = lab.break_it(
    bugzoo.Scenario("finetune", faults=("freezing/unfrozen_after_optimizer",)), settings=("seed", "slower", "frozen")
)

# %% [markdown] turn-text
# ## Your turn, against the clock
#
# Another program, another complaint: *"Since the tidying-up the model explains {0.44 = r2_broken} of the variance, it used to be {0.48 = r2_healthy}. Nothing is frozen, I asked every parameter, and the
# optimiser has them all. My colleague is pleased that the saved file has become so small."*
#
# Say **what** is wrong, in which **line**, and which **test** would tell it from what looks like it. Three hints stand below; run their cell in any
# case, it opens none by itself. The next cell trains first, for some seconds; the clock starts when the run is over. Six minutes: it
# interrupts nobody. What you hand in is judged, part by part.

# %% turn
second = lab.case("11/second")
run = lab.live(second, explain=False).result
clock = lab.timer(6)

# %% turn-hints
hints = lab.hints(second)

# %% turn-look
# your own look at it; some ways to begin:
#   print(second.source)                                     the program; lines count from 1
#   own = run.trace.live.namespace; model = own["model"]
#   standing(model, own["optimizer"], dict(model.named_parameters()))
#   print(model)

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
r2_broken, r2_healthy = run.trace.metrics["r2"], second.healthy().run().trace.metrics["r2"]
right_line = next(number for number, line in enumerate(second.source.splitlines(), 1) if "self.middle = [" in line)
offered = dict(zip("ABCD", form.tests, strict=True))
test = next(letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes])
assert len(form.causes) == 4 and second.ticket != incident.ticket
tests = [letter for letter, said in offered.items() if said in [one.test for one in second.specs[0][0].look_alikes]]
said = [
    judged(second, {"cause": cause, "place": right_line, "test": letter}) for cause in form.causes for letter in tests
]
assert min(one.count("NOT") for one in said) == 0, said
turn_standing = standing(
    run.trace.live.namespace["model"], run.trace.live.namespace["optimizer"],
    dict(run.trace.live.namespace["model"].named_parameters()),
)  # fmt: skip
assert set(turn_standing.values()) == {"trained"} and len(turn_standing) == 4
numbers_left = sum(one.numel() for one in run.trace.live.namespace["model"].parameters())
numbers_all = numbers_left + 32 * 33

# %% [folded] turn-read
# After you have handed in: the list that you did not check
#
# Your `standing` says *trained*, {four times = four_times}. It went through the list that the model gives out, and the layer in the middle is not on it: it stands in a plain Python list,
# and a module does not look into lists. It is called, it even gets a gradient, and nobody moves it, saves it or moves it to another device:
# {385 = numbers_left} numbers of {1441 = numbers_all} are saved. `nn.ModuleList` registers it.
#
# The test that finds it: count the numbers that you *expect*, and compare.

# %% [proof] turn-words
four_times = len(turn_standing) == 4

# %% [check] recap_check
# You freeze a backbone with requires_grad_(False), train a head, and ship both. A second team that uses the same backbone with a head of its own
# complains that its answers have become worse. No weight differs. What do you compare?
#
# ( ) The two heads
#     theirs is what it was, and it is their answers that changed.
# (x) The buffers of the backbone, before and after
#     yes. Averages of batch normalisation are no parameters, and they move as long as the layer is in training mode.
# ( ) The learning rates of the two trainings
#     nothing in the backbone had a rate.

# %% [check] order_check
# A script freezes the backbone, builds an optimiser from `[p for p in model.parameters() if p.requires_grad]`, and in epoch 5 calls
# `model.requires_grad_(True)`. Which single line is missing?
#
# ( ) `optimizer.zero_grad()` behind it
#     it clears what the optimiser holds, and it does not hold the backbone.
# (x) `optimizer.add_param_group({"params": backbone, "lr": ...})`
#     yes. Or give it everything from the start: without a gradient a parameter is passed over.
# ( ) `model.train()`
#     modes are the third party. They decide what a layer does, and not whether its weights move.

# %% [markdown] cards-text
# ## Five cards
#
# A few lines of a program each. One of them is wrong, or one is missing, or nothing is. Ten seconds a card is good. In a terminal
# `bugzoo cards --lesson 11` deals others.

# %% cards
from bugzoo import cards

hand = cards.show(lesson="11")

# %% [proof] cards-proof
assert len(hand.cards) == 5 and all(hand.answer(number, card.wrong[0]) for number, card in enumerate(hand.cards, 1))

# %% [markdown] recap
# ## What to take with you
#
# 1. **Ask two lists: who requires a gradient, and whom does the optimiser hold?** Then compare with copies from before. *Fails when* a layer is on neither
#    list: count what you expect.
# 2. **No gradient freezes, a gradient of zeros does not; and buffers obey the mode alone.** *Fails when* a later line, such as `model.train()`, undoes
#    it: look while it trains.
# 3. **Compare frozen features with random ones before you trust them.** *Fails when* the first task was wide: then they win, and it took you a
#    minute.
# 4. **A small rate for the old layers buys memory. Measure the old skill too.** *Fails when* nobody needs it: then compare with training from
#    nothing.
#
# **Next:** repair one yourself: [exercise 31, *slow learner*](../exercises/31_slow_learner.ipynb), then
# [exercise 32, *five points*](../exercises/32_five_points.ipynb), and tell five runs apart in
# [exercise 33, *quiet layers*](../exercises/33_quiet_layers.ipynb). A repair is judged by what your program does. The same instruments work on your own script, without changing it: `bugzoo checkup train.py`.
