"""Custom autograd.Function (straight-through binarisation) inside a module, SGD with momentum."""

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inp):
        ctx.save_for_backward(inp)
        return inp.sign()

    @staticmethod
    def backward(ctx, grad):
        (inp,) = ctx.saved_tensors
        return grad * (inp.abs() <= 1).to(grad.dtype)


class BinaryLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, Sign.apply(self.weight) * self.weight.abs().mean().detach(), self.bias)


torch.manual_seed(5)
data = load_breast_cancer()
feats = torch.tensor(data.data, dtype=torch.float32)
feats = (feats - feats[:500].mean(0)) / feats[:500].std(0)
lab = torch.tensor(data.target, dtype=torch.float32)
clf = nn.Sequential(BinaryLinear(30, 32), nn.BatchNorm1d(32), nn.Hardtanh(), BinaryLinear(32, 1))
sgd = torch.optim.SGD(clf.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(0.6))
for epoch in range(8):
    clf.train()
    for b in torch.randperm(500).split(40):
        sgd.zero_grad()
        value = bce(clf(feats[b]).squeeze(-1), lab[b])
        value.backward()
        sgd.step()
    clf.eval()
    with torch.no_grad():
        acc = ((clf(feats[500:]).squeeze(-1) > 0) == lab[500:].bool()).float().mean()
    print(f"{epoch}: {value.item():.3f} {acc:.3f}")
