"""Engine class, EMA of the weights, bf16 autocast, gradient clipping, eval each N steps, checkpoint to memory."""

import copy
import io

import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class EMA:
    def __init__(self, model, decay=0.95):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.parameters(), model.parameters()):
            e.lerp_(p, 1 - self.decay)
        for e, p in zip(self.module.buffers(), model.buffers()):
            e.copy_(p)


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(c, c, 3, padding=1, bias=False),
            nn.BatchNorm2d(c),
            nn.ReLU(inplace=True),
            nn.Conv2d(c, c, 3, padding=1),
        )

    def forward(self, x):
        return torch.relu(x + self.f(x))


class Engine:
    def __init__(self, model, optimizer, criterion, eval_every=20):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.ema = EMA(model)
        self.eval_every = eval_every
        self.global_step = 0
        self.history = {"loss": [], "acc": []}

    def training_step(self, batch):
        images, labels = batch
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = self.model(images)
            loss = self.criterion(out, labels)
        return loss

    def fit(self, train, val, epochs):
        for epoch in range(epochs):
            self.model.train()
            for batch in train:
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
                self.optimizer.step()
                self.ema.update(self.model)
                self.global_step += 1
                self.history["loss"].append(loss.item())
                if self.global_step % self.eval_every == 0:
                    self.history["acc"].append(self.validate(val))
                    self.model.train()
            buffer = io.BytesIO()
            torch.save({"model": self.model.state_dict(), "opt": self.optimizer.state_dict()}, buffer)

    @torch.inference_mode()
    def validate(self, val):
        self.model.eval()
        hits = n = 0
        for images, labels in val:
            hits += (self.ema.module(images).argmax(-1) == labels).sum().item()
            n += len(labels)
        return hits / n


torch.manual_seed(7)
digits = load_digits()
imgs = torch.as_tensor(digits.images, dtype=torch.float32).unsqueeze(1).div(16)
tgt = torch.as_tensor(digits.target)
train = list(zip(imgs[:1280].split(64), tgt[:1280].split(64)))
val = list(zip(imgs[1280:].split(128), tgt[1280:].split(128)))
net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), ResBlock(12), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(192, 10)
)
eng = Engine(net, torch.optim.RMSprop(net.parameters(), lr=1e-3), nn.CrossEntropyLoss())
eng.fit(train, val, 4)
print(eng.history["acc"])
