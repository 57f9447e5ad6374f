"""Mixup, label smoothing and an averaged copy.  The loss stays high: that is the point of it."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(71)
X, Y = (torch.tensor(a) for a in load_digits(return_X_y=True))
X = X.float().view(-1, 1, 8, 8) / 16
order = torch.randperm(len(X))
fit, held = order[:1400], order[1400:]

net = nn.Sequential(
    nn.Conv2d(1, 24, 3), nn.ReLU(), nn.BatchNorm2d(24), nn.Conv2d(24, 24, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(24 * 16, 10)
)
average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98))
opt = torch.optim.SGD(net.parameters(), lr=0.08, momentum=0.9, weight_decay=5e-4)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 8)
beta = torch.distributions.Beta(1.0, 1.0)

for epoch in range(8):
    net.train()
    seen = []
    for idx in fit[torch.randperm(len(fit))].split(70):
        lam = beta.sample()
        perm = torch.randperm(len(idx))
        x = lam * X[idx] + (1 - lam) * X[idx][perm]
        soft = F.one_hot(Y[idx], 10).float()
        soft = lam * soft + (1 - lam) * soft[perm]
        logits = net(x)
        loss = F.cross_entropy(logits, soft, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        average.update_parameters(net)
        seen.append(loss.item())
    cosine.step()
    print(epoch, sum(seen) / len(seen))

torch.optim.swa_utils.update_bn(X[fit].split(200), average)
for name, m in (("net", net), ("average", average)):
    m.eval()
    with torch.no_grad():
        print(name, (m(X[held]).argmax(1) == Y[held]).float().mean().item())
