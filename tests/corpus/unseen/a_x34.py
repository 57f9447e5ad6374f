# tabular net with batch norm: quality of wine-like samples, predictions one at a time at the end
import numpy as np
import torch
from torch import nn

np.random.seed(7)
torch.manual_seed(7)
n = 1600
table = np.random.gamma(2.0, 2.0, (n, 8)).astype(np.float32)
quality = np.log1p(table[:, 0]) - 0.5 * np.sqrt(table[:, 1]) + 0.1 * table[:, 2] + 0.05 * np.random.randn(n)
table, quality = torch.from_numpy(table), torch.from_numpy(quality.astype(np.float32))[:, None]

layers = []
for a, b in ((8, 48), (48, 48)):
    layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Dropout(0.1)]
net = nn.Sequential(*layers, nn.Linear(48, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(8):
    order = torch.randperm(1300)
    for k in range(0, 1300, 65):
        pick = order[k:k + 65]
        opt.zero_grad()
        squared = nn.functional.mse_loss(net(table[pick]), quality[pick])
        squared.backward()
        opt.step()
    # five requests at a time, as in production
    with torch.no_grad():
        answers = torch.cat([net(rows) for rows in table[1300:].split(5)])
    print(epoch, "train", squared.item(), "held out", nn.functional.mse_loss(answers, quality[1300:]).item())
