"""Q-learning on a line of cells with a target network that is called without gradients at every step."""

import copy
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
CELLS = 8
online = nn.Sequential(nn.Linear(CELLS, 32), nn.ReLU(), nn.Dropout(0.05), nn.Linear(32, 2))
target = copy.deepcopy(online)
target.requires_grad_(False)
adam = torch.optim.Adam(online.parameters(), lr=3e-3)


def onehot(s):
    return nn.functional.one_hot(torch.tensor(s), CELLS).float()


buffer = []
for _ in range(400):
    s, a = random.randrange(CELLS), random.randrange(2)
    t = max(0, min(CELLS - 1, s + (1 if a else -1)))
    buffer.append((s, a, float(t == CELLS - 1), t))
for it in range(200):
    s, a, r, t = zip(*random.sample(buffer, 32), strict=True)
    with torch.no_grad():
        goal = torch.tensor(r) + 0.9 * target(onehot(t)).max(1).values
    q = online(onehot(s)).gather(1, torch.tensor(a)[:, None])[:, 0]
    td = nn.functional.smooth_l1_loss(q, goal)
    adam.zero_grad()
    td.backward()
    adam.step()
    if it % 20 == 0:
        target.load_state_dict(online.state_dict())
print(td.item())
