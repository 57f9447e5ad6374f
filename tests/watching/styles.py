"""Training scripts in other people's styles, as text. Each leaves `record`, a list of what it saw, in its namespace."""

FUNCTIONS = """
import torch
from torch import nn

def train_one_epoch(net, loader, opt, criterion, record):
    net.train()
    for batch_index, (x, y) in enumerate(loader):
        x = x * 2 - 1
        opt.zero_grad(set_to_none=False)
        error = criterion(net(x), y)
        error.backward()
        opt.step()
        record.append(error.item())

def evaluate(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x * 2 - 1).argmax(1) == y).sum().item() for x, y in loader)

def main():
    torch.manual_seed(3)
    data = torch.utils.data.TensorDataset(torch.rand(96, 12), torch.randint(0, 4, (96,)))
    loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
    net = nn.Sequential(nn.Linear(12, 24), nn.BatchNorm1d(24), nn.Tanh(), nn.Dropout(0.3), nn.Linear(24, 4))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5)
    record = []
    for epoch in range(4):
        train_one_epoch(net, loader, opt, nn.CrossEntropyLoss(), record)
        schedule.step()
        record.append(evaluate(net, loader))
    return record

record = main()
"""

TRAINER = """
import random
import numpy as np
import torch
from torch import nn

class Trainer:
    def __init__(self):
        torch.manual_seed(1); np.random.seed(1); random.seed(1)
        self.network = nn.GRU(5, 8, batch_first=True)
        self.out = nn.Linear(8, 1)
        self.optim = torch.optim.AdamW([*self.network.parameters(), *self.out.parameters()], lr=0.01)
        self.count, self.history = 0, []

    def training_step(self, x, y):
        hidden, _ = self.network(x)
        return ((self.out(torch.nn.functional.dropout(hidden[:, -1], 0.2)) - y) ** 2).mean()

    def fit(self, steps):
        while self.count < steps:
            x = torch.from_numpy(np.random.rand(8, 6, 5)).float() + random.random()
            value = self.training_step(x, x.sum((1, 2), keepdim=False)[:, None])
            value.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optim.step()
            self.optim.zero_grad()
            self.count += 1
            self.history.append(float(value.detach()))

trainer = Trainer()
trainer.fit(25)
record = trainer.history
"""

ACCUMULATION = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
record = []
for i in range(40):
    x = torch.randn(8, 6)
    y = torch.randint(0, 3, (8,))
    part = nn.functional.cross_entropy(net(x), y)
    (part / 4).backward()
    record.append(part.item())
    if (i + 1) % 4 == 0:
        opt.step()
        opt.zero_grad()
"""

GAN = """
import torch
from torch import nn
torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
judge = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
opt_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
record = []
for step in range(30):
    real = torch.randn(16, 2) + 3
    fake = maker(torch.randn(16, 4))
    opt_judge.zero_grad()
    d = bce(judge(real), torch.ones(16, 1)) + bce(judge(fake.detach()), torch.zeros(16, 1))
    d.backward()
    opt_judge.step()
    opt_maker.zero_grad()
    g = bce(judge(fake), torch.ones(16, 1))
    g.backward()
    opt_maker.step()
    record += [d.item(), g.item()]
"""

AMP = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**30, growth_interval=8)
record = []
for _ in range(40):
    features, labels = torch.randn(16, 16), torch.randint(0, 2, (16,))
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        objective = nn.functional.cross_entropy(net(features), labels)
    scaler.scale(objective).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    record += [objective.item(), scaler.get_scale()]
"""

CLOSURE = """
import torch
torch.manual_seed(0)
x = torch.linspace(-1, 1, 32)[:, None]
y = x**3
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)
record = []
def closure():
    opt.zero_grad()
    e = torch.nn.functional.mse_loss(net(x), y)
    e.backward()
    return e
for _ in range(8):
    record.append(float(opt.step(closure).detach()))
"""

FETCHED = """
import torch
torch.manual_seed(0)
def endless():
    while True:
        yield torch.rand(8, 4), torch.rand(8, 2)
stream = endless()
net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 2))
opt = torch.optim.RMSprop(net.parameters())
record = []
iteration = 0
while iteration < 30:
    iteration += 1
    x, y = next(stream)
    opt.zero_grad()
    q = torch.nn.functional.l1_loss(net(x), y)
    q.backward()
    opt.step()
    record.append(q.item())
"""

STYLES = {name.lower(): text for name, text in list(globals().items()) if name.isupper()}
