"""Matching network for few-shot episodes: attention over the support set."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(25)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
N_WAY, K_SHOT, QUERIES = 5, 1, 4
pools = {"train": torch.arange(0, 7), "test": torch.arange(5, 10)}


def episode(split):
    classes = pools[split][torch.randperm(len(pools[split]))[:N_WAY]]
    sup, qry = [], []
    for c in classes:
        rows = torch.where(y == c)[0]
        rows = rows[torch.randperm(len(rows))[:K_SHOT + QUERIES]]
        sup.append(X[rows[:K_SHOT]])
        qry.append(X[rows[K_SHOT:]])
    labels = torch.arange(N_WAY)
    return torch.cat(sup), labels.repeat_interleave(K_SHOT), torch.cat(qry), labels.repeat_interleave(QUERIES)


class AttentionalClassify(nn.Module):
    def forward(self, similarities, support_y_onehot):
        return F.softmax(similarities, dim=1) @ support_y_onehot


class MatchingNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))
        self.classify = AttentionalClassify()

    def forward(self, sup_x, sup_y, qry_x, qry_y):
        s, q = F.normalize(self.g(sup_x), dim=1), F.normalize(self.g(qry_x), dim=1)
        preds = self.classify(q @ s.t(), F.one_hot(sup_y, N_WAY).float())
        return F.cross_entropy(preds, qry_y), (preds.argmax(1) == qry_y).float().mean()


net = MatchingNetwork()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(1, 401):
    loss, acc = net(*episode("train"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            res = [net(*episode("test")) for _ in range(40)]
        print(f"step {step} train loss {loss.item():.3f} test loss {sum(r[0] for r in res) / 40:.3f} acc {sum(r[1] for r in res) / 40:.3f}")
