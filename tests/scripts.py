"""A small training script of a user, which tests start, break and measure."""

TRAIN = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(60):
    x = torch.randn(8, 4)
    err = torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    err.backward()
    opt.step()
"""
