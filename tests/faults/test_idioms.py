"""Idioms find their place in the ways in which people write it, and mean the right one of several."""

import pytest

from bugzoo.faults import idioms
from bugzoo.faults.script import read
from bugzoo.injection import places

TRAINER = """\
class Trainer:
    objective = nn.CrossEntropyLoss(label_smoothing=0.1)

    def __init__(self, net, sched=None):
        self.net, self.sched = net, sched
        self.opt = torch.optim.AdamW(params=self.net.parameters(), lr=3e-4)

    def training_step(self, batch):
        return self.objective(self.net(batch["x"]), target=batch["y"])

    def fit(self, loader):
        self.net.train()
        for batch in loader:
            cost = self.training_step(batch)
            self.opt.zero_grad(set_to_none=True)
            self.accelerator.backward(cost)
            nn.utils.clip_grad_norm_(self.net.parameters(), max_norm=1.0)
            self.opt.step()
            self.sched.step()
            self.history.append(float(cost))

    @torch.inference_mode()
    def validate(self, loader):
        self.net.eval()
        for batch in loader:
            self.objective(self.net(batch["x"]), batch["y"])
"""

FUNCTIONS = """\
def train(model, batches, loss_fn, solver, scaler, annealing):
    for images, labels in batches:
        solver.zero_grad()
        with autocast():
            objective = loss_fn(model(images), labels) / 4
        scaler.scale(objective).backward()
        scaler.unscale_(solver)
        scaler.step(solver)
        scaler.update()
        annealing.step()
        running += objective.item() * len(labels)

def evaluate(model, batches, criterion):
    model.eval()
    with torch.no_grad():
        for images, labels in batches:
            total += criterion(model(images), labels).item()

def main():
    parser.add_argument("-b", "--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.05)
    set_seed(args.seed)
    train_dl = DataLoader(train_set, args.batch_size, True, num_workers=2)
    test_dl = DataLoader(test_set, args.batch_size)
    net = Net()
    solver = SGD([{"params": net.parameters(), "lr": args.lr}])
    annealing = optim.lr_scheduler.CosineAnnealingLR(solver, 10)
    train(net, train_dl, nn.CrossEntropyLoss(), solver, GradScaler(), annealing)
"""

FLAT = """\
cfg = {"learning_rate": 2e-3, "bs": 32}
t.manual_seed(0)
generator = Generator()
g_opt = Adam(list(generator.parameters()), lr=cfg["learning_rate"])
while True:
    for p in generator.parameters():
        p.grad = None
    err = F.cross_entropy(input=generator(z), target=y)
    err.backward()
    g_opt.step()
    env.step(action)
    kept += [err.detach()]
"""

REGRESSION = """\
scaler = StandardScaler()
X = scaler.fit_transform(X)
x, val_x = (slice_arrays(x, 0, at), slice_arrays(x, at))
for features, wanted in loader:
    fit_loss: Tensor = criterion(net(features), wanted)
    loss = fit_loss + (0.1 * penalty)
    loss.backward()
"""

BY_HAND = """\
warmth = (step - 1.0) / steps
rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-6)
train, rest = cut(rows, 0, 900), cut(rows, 900)
scores.masked_fill_(hidden, -1e9)
weights = nn.Softmax(dim=-1)(scores)
error = 0.5 * ((guess - wanted) ** 2).mean()
total = error - bonus
scaler.scale(total).backward()
"""

CHOSEN = """\
criterion = nn.CrossEntropyLoss(weight, ignore_index=pad_idx)
test_dl = torch.utils.data.DataLoader(test_set, 64)
for epoch in range(9):
    for x, y in train_dl:
        loss = criterion(net(x), y)
        loss.backward()
    score = validate(net, val_dl, criterion)
    if score > top:
        torch.save(net.state_dict(), "best.pt")
optimizer.load_state_dict(best["optimizer"])
net.load_state_dict(torch.load("best.pt"))
test(net, test_dl, criterion)
"""

FOUND = [
    ("LEFT_OUT", CHOSEN, {"IGNORED": "pad_idx"}),
    ("TEST_LOADER", CHOSEN, {"TEST": "test_dl"}),
    ("JUDGED_EACH_EPOCH", CHOSEN, {"LOADER": "val_dl", "EVALUATE": "validate"}),
    ("RESTORE_BEST", CHOSEN, {"MODEL": "net", "STATE": 'torch.load("best.pt")'}),
    ("NORMALISE", REGRESSION, {"INPUTS": "X", "RESULT": "X"}),
    ("NORMALISE", BY_HAND, {"INPUTS": "rows", "MEAN": "rows.mean(0)", "RESULT": "rows"}),
    ("SPLIT", REGRESSION, {"TRAIN": "x", "VALIDATION": "val_x", "N": "at"}),
    ("SPLIT", BY_HAND, {"TRAIN": "train", "VALIDATION": "rest", "N": "900"}),
    ("OTHER_LOSS", REGRESSION, {"PREDICTION": "net(features)", "TARGETS": "wanted", "RESULT": "fit_loss"}),
    ("OTHER_LOSS", BY_HAND, {"PREDICTION": "guess", "TARGETS": "wanted", "RESULT": "error"}),
    ("MASKED_SOFTMAX", BY_HAND, {"SCORES": "scores", "HIDDEN": "hidden", "WEIGHTS": "weights"}),
    ("LOSS", TRAINER, {"LOGITS": 'self.net(batch["x"])', "TARGETS": 'batch["y"]', "CRITERION": "self.objective"}),
    ("LOSS", FUNCTIONS, {"LOGITS": "model(images)", "TARGETS": "labels", "RESULT": "objective"}),
    ("LOSS", FLAT, {"LOGITS": "generator(z)", "F": "F"}),
    ("ZERO_GRAD", TRAINER, {"OPTIMIZER": "self.opt"}),
    ("ZERO_GRAD", FUNCTIONS, {"OPTIMIZER": "solver"}),
    ("ZERO_GRAD", FLAT, {"PARAMETERS": "generator.parameters()"}),
    ("BACKWARD", TRAINER, {"LOSS": "cost", "LAUNCHER": "self.accelerator"}),
    ("BACKWARD", FUNCTIONS, {"LOSS": "objective", "SCALER": "scaler"}),
    ("BACKWARD", FLAT, {"LOSS": "err"}),
    ("STEP", TRAINER, {"OPTIMIZER": "self.opt"}),
    ("STEP", FUNCTIONS, {"OPTIMIZER": "solver", "SCALER": "scaler"}),
    ("STEP", FLAT, {"OPTIMIZER": "g_opt"}),
    ("SCHEDULER_STEP", TRAINER, {"SCHEDULER": "self.sched"}),
    ("SCHEDULER_STEP", FUNCTIONS, {"SCHEDULER": "annealing"}),
    ("UNSCALE", FUNCTIONS, {"OPTIMIZER": "solver"}),
    ("SCALER_UPDATE", FUNCTIONS, {"SCALER": "scaler"}),
    ("CLIP", TRAINER, {"LIMIT": "1.0", "MODEL": "self.net"}),
    ("OPTIMIZER", TRAINER, {"MODEL": "self.net", "LR": "3e-4", "CLASS": "AdamW", "RESULT": "self.opt"}),
    ("OPTIMIZER", FUNCTIONS, {"MODEL": "net", "RESULT": "solver"}),
    ("OPTIMIZER", FLAT, {"MODEL": "generator"}),
    ("LEARNING_RATE", TRAINER, {"LR": "3e-4"}),
    ("LEARNING_RATE", FUNCTIONS, {"LR": "0.05"}),
    ("LEARNING_RATE", FLAT, {"LR": 'cfg["learning_rate"]'}),
    ("BATCH_SIZE", FUNCTIONS, {"SIZE": "64"}),
    ("BATCH_SIZE", FLAT, {"SIZE": "32"}),
    ("TRAIN_MODE", TRAINER, {"MODEL": "self.net"}),
    ("EVAL_MODE", TRAINER, {"MODEL": "self.net"}),
    ("EVAL_MODE", FUNCTIONS, {"MODEL": "model"}),
    ("NO_GRAD", TRAINER, {"CONTEXT": "torch.inference_mode()"}),
    ("NO_GRAD", FUNCTIONS, {"CONTEXT": "torch.no_grad()"}),
    ("LOADER", FUNCTIONS, {"DATA": "train_set", "SHUFFLE": "True", "WORKERS": "2", "RESULT": "train_dl"}),
    ("SEED", FUNCTIONS, {"SEED": "args.seed"}),
    ("SEED", FLAT, {"TORCH": "t"}),
    ("ITEM_APPEND", TRAINER, {"NUMBER": "float(cost)", "LOSS": "cost", "KEPT": "self.history"}),
    ("ITEM_APPEND", FUNCTIONS, {"NUMBER": "objective.item()", "LOSS": "objective"}),
]


def meant(name, source):
    idiom, script = getattr(idioms, name), read(source)
    return idiom.best(script, idiom.found(script))


@pytest.mark.parametrize(("name", "source", "holds"), FOUND, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(FOUND)])
def test_a_place_is_found_with_what_its_metavariables_hold(name, source, holds):
    matches = meant(name, source)
    assert len(matches) == 1, [place.pieces["PLACE"].text for place in matches]
    assert matches[0].names() | holds == matches[0].names()


MEANT = [
    # the loss that is trained on, not the one of the evaluation that comes first
    ("LOSS", "def test(m):\n    return F.cross_entropy(m(a), b)\nloss = F.cross_entropy(m(x), y)\nloss.backward()\n", [3]),
    # an environment, a scheduler and a profiler step as well
    ("STEP", "for x in d:\n    env.step(a)\n    sched.step()\n    loss.backward()\n    adam.step()\n    prof.step()\n", [5]),
    # two optimisers: neither is meant more than the other
    ("ZERO_GRAD", "for x in d:\n    d_opt.zero_grad()\n    l.backward()\n    d_opt.step()\n    g_opt.zero_grad()\n"
     "    k.backward()\n    g_opt.step()\n", [2, 5]),
    # clearing what a callee cleared before the loop is not clearing in the loop
    ("ZERO_GRAD", "opt.zero_grad()\nfor x in d:\n    opt.zero_grad()\n    l.backward()\n    opt.step()\n", [3]),
    ("EVAL_MODE", "teacher.eval()\nopt = SGD(m.parameters())\nm.eval()\n", [3]),
    ("SEED", "random.seed(0)\nnp.random.seed(0)\ntorch.cuda.manual_seed_all(0)\ntorch.manual_seed(0)\n", [4]),
    ("LOADER", "a = DataLoader(val_set)\nb = DataLoader(train_set)\n", [2]),
    ("ITEM_APPEND", "for x in d:\n    loss.backward()\n    n.append(correct.item())\n    l.append(loss.item())\n", [4]),
    ("TRAIN_MODE", "trainer.train()\nnet.train()\n", [2]),
    ("OPTIMIZER", "total = sum(p.numel() for p in m.parameters())\nn = list(m.parameters())\no = Adam(m.parameters())\n", [3]),
    ("HEAD", "self.fc1 = nn.Linear(4, 8)\nself.out = nn.Linear(8, 2)\n", [2]),
    ("ACTIVATED", "h = F.relu(self.a(x))\nh = F.relu(self.b(h))\ny = F.max_pool2d(F.relu(h), 2)\n", [2]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source", "lines"), MEANT, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(MEANT)])
def test_of_several_places_the_one_that_is_meant(name, source, lines):
    assert [place.line for place in meant(name, source)] == lines


@pytest.mark.parametrize("name", [name for name in idioms.__all__ if name != "TRAIN_LOOP"])
def test_nothing_is_found_where_nothing_is(name):
    assert meant(name, "import torch\n\n\ndef add(a, b):\n    return a + b\n\n\nprint(add(1, 2))\n") == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("NORMALISE", "share = (step - start) / duration"),
        ("NORMALISE", "name = unicodedata.normalize('NFD', name)"),
        ("NORMALISE", "z = F.normalize(projector(h), dim=1)"),
        ("NORMALISE", "confusion = confusion / confusion.sum(1)"),
        ("OTHER_LOSS", "peak, when = net(x)\nloss = own_loss(peak, when, y)\nloss.backward()"),
        ("OTHER_LOSS", "distance = ((a - b) ** 2).mean()\nloss.backward()"),
        ("OTHER_LOSS", "part = my_loss(a, b)\nloss = other(part)\nloss.backward()"),
    ],
)
def test_what_only_looks_like_a_place_is_none(name, line):
    assert meant(name, line + "\n") == []


def test_every_idiom_says_what_it_looks_for():
    words = [getattr(idioms, name).words for name in idioms.__all__]
    assert len(set(words)) == len(words)
    assert all("$" not in text and not text.endswith(".") for text in words)
    assert all(getattr(idioms, name).name == name for name in idioms.__all__)


def test_places_are_listed_the_likeliest_first():
    source = "for x in d:\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\nopt.zero_grad()\n"
    assert [place.line for place in places(source, idioms.ZERO_GRAD)] == [2, 5]
