"""DQN on a slippery corridor with replay and a slowly updated target network."""
import copy
import random
from collections import deque

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
N = 8


class Corridor:
    def reset(self):
        self.s, self.t = 1, 0
        return self.s

    def step(self, a):
        move = 1 if a == 1 else -1
        if random.random() < 0.1:
            move = -move
        self.s = max(0, min(N - 1, self.s + move))
        self.t += 1
        reward = 10.0 if self.s == N - 1 else (0.05 if self.s == 0 else 0.0)
        return self.s, reward, self.s == N - 1, self.t >= 40


def onehot(s):
    return nn.functional.one_hot(torch.as_tensor(s), N).float()


q = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=2e-3)
buffer = deque(maxlen=3000)
env, gamma, steps = Corridor(), 0.95, 0
returns = []
for episode in range(90):
    s, total, done, stop = env.reset(), 0.0, False, False
    eps = max(0.05, 1 - episode / 40)
    while not (done or stop):
        with torch.no_grad():
            a = random.randrange(2) if random.random() < eps else int(q(onehot(s)).argmax())
        s2, r, done, stop = env.step(a)
        buffer.append((s, a, r, s2, float(done)))
        s, total, steps = s2, total + r, steps + 1
        if len(buffer) >= 64 and steps % 2 == 0:
            bs, ba, br, bn, bd = map(torch.tensor, zip(*random.sample(list(buffer)[-1500:], 32)))
            with torch.no_grad():
                y = br + gamma * (1 - bd) * target(onehot(bn)).max(1).values
            pred = q(onehot(bs)).gather(1, ba[:, None]).squeeze(1)
            loss = nn.functional.smooth_l1_loss(pred, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for p, tp in zip(q.parameters(), target.parameters()):
                tp.data.lerp_(p.data, 0.02)
    returns.append(total)
    if episode % 30 == 29:
        print(f"episode {episode + 1} mean return {sum(returns[-20:]) / 20:.2f} loss {loss.item():.4f}")
with torch.no_grad():
    print("greedy actions", q(torch.eye(N)).argmax(1).tolist())
