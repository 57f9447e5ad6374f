"""Regression head training with accumulation and a step schedule."""
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.optim.lr_scheduler import StepLR


class Trainer:
    def __init__(self, model, optimizer, scheduler, accumulate=4):
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler
        self.accumulate = accumulate
        self.history = []

    def training_step(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.model(x), y)

    def fit(self, x, y, epochs, batch_size):
        for epoch in range(epochs):
            perm = torch.randperm(len(x))
            self.optimizer.zero_grad()
            running = 0.0
            batches = perm.split(batch_size)
            for i, rows in enumerate(batches):
                loss = self.training_step((x[rows], y[rows])) / self.accumulate
                loss.backward()
                running += loss.item() * self.accumulate
                if (i + 1) % self.accumulate == 0 or i + 1 == len(batches):
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                self.scheduler.step()
            self.history.append(running / len(batches))

    @torch.no_grad()
    def r2(self, x, y):
        self.model.eval()
        res = ((self.model(x) - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        self.model.train()
        return 1 - res.item()


def main():
    torch.manual_seed(5)
    x, y = load_diabetes(return_X_y=True)
    x, y = torch.tensor(x).float(), torch.tensor(y).float().unsqueeze(1)
    perm = torch.randperm(len(x))
    tr, te = perm[:340], perm[340:]
    x = x / x[tr].std(0)
    mu, sd = y[tr].mean(), y[tr].std()
    y = (y - mu) / sd
    model = nn.Sequential(nn.Linear(10, 32), nn.SiLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    epochs = 24
    scheduler = StepLR(optimizer, step_size=epochs // 3, gamma=0.3)
    trainer = Trainer(model, optimizer, scheduler)
    trainer.fit(x[tr], y[tr], epochs, batch_size=16)
    for e in range(0, epochs, 6):
        print(f"epoch {e} mse {trainer.history[e]:.4f}")
    print(f"last mse {trainer.history[-1]:.4f} R2 {trainer.r2(x[te], y[te]):.3f}")


main()
