import torch
import torch.nn.functional as nnf
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

torch.manual_seed(7)
cultivar = load_wine()
feat = torch.tensor(StandardScaler().fit_transform(cultivar.data), dtype=torch.float32)
kind = torch.tensor(cultivar.target)
order = torch.randperm(len(kind))
feat, kind = feat[order], kind[order]

W1 = (torch.randn(13, 20) * 0.25).requires_grad_()
b1 = torch.zeros(20, requires_grad=True)
W2 = (torch.randn(20, 3) * 0.2).requires_grad_()
b2 = torch.zeros(3, requires_grad=True)


def predict(x):
    hidden = torch.tanh(x @ W1 + b1)
    return nnf.softmax(hidden @ W2 + b2, dim=-1)


solver = torch.optim.SGD([W1, b1, W2, b2], lr=0.1)
pos, n_updates = 0, 0
while n_updates < 150:
    xb, tb = feat[pos:pos + 20], kind[pos:pos + 20]
    pos = (pos + 20) % 120
    score = predict(xb)
    badness = nnf.nll_loss(nnf.log_softmax(score, dim=-1), tb)
    solver.zero_grad()
    badness.backward()
    solver.step()
    n_updates += 1
    if n_updates % 30 == 0:
        print(n_updates, badness.item())
print("held-out accuracy", (predict(feat[140:]).argmax(1) == kind[140:]).float().mean().item())
