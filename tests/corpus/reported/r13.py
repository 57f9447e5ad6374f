"""Multi-task weighting: two regression heads and learnt softmax task weights."""
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(14)
X, t = load_diabetes(return_X_y=True)
X, t = torch.tensor(X).float() * 20, torch.tensor(t).float()
targets = torch.stack([(t - t.mean()) / t.std(), 2 * X[:, 2] * X[:, 8]], 1)
n_train = 350


class MTL(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 48), nn.Tanh())
        self.heads = nn.ModuleList(nn.Linear(48, 1) for _ in range(2))

    def forward(self, x):
        z = self.trunk(x)
        return torch.cat([h(z) for h in self.heads], 1)


class WeightMethod:
    def __init__(self, n_tasks, w_lr=0.01, max_norm=1.0):
        self.logits = torch.zeros(n_tasks, requires_grad=True)
        self.w_opt = torch.optim.Adam([self.logits], lr=w_lr)
        self.max_norm = max_norm

    def get_weighted_loss(self, losses):
        return (torch.softmax(self.logits, -1) * torch.log(losses + 1e-8)).sum()

    def backward(self, losses, shared_parameters):
        loss = self.get_weighted_loss(losses)
        torch.nn.utils.clip_grad_norm_(shared_parameters, self.max_norm)
        loss.backward()
        return loss


model = MTL()
wm = WeightMethod(2)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(12):
    for rows in torch.randperm(n_train).split(25):
        losses = ((model(X[rows]) - targets[rows]) ** 2).mean(0)
        opt.zero_grad()
        wm.w_opt.zero_grad()
        wm.backward(losses, list(model.parameters()))
        opt.step()
        wm.w_opt.step()
    with torch.no_grad():
        val = ((model(X[n_train:]) - targets[n_train:]) ** 2).mean(0)
    if epoch % 3 == 2:
        print(f"epoch {epoch} val task losses {val[0]:.3f} {val[1]:.3f} weights {torch.softmax(wm.logits, -1).tolist()}")
