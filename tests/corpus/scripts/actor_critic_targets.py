"""DDPG-like: actor, critic, two slow target networks (soft updates), replay buffer as a deque."""

import collections
import copy
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
actor_t, critic_t = copy.deepcopy(actor), copy.deepcopy(critic)
oa, oc = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 2e-3)
buf = collections.deque(maxlen=2000)
state = torch.zeros(2)


def soft(dst, src, tau=0.01):
    with torch.no_grad():
        for a, b in zip(dst.parameters(), src.parameters()):
            a.mul_(1 - tau).add_(tau * b)


for t in range(260):
    with torch.no_grad():
        act = (actor(state) + 0.2 * torch.randn(1)).clamp(-1, 1)
    nxt = torch.stack([state[0] + 0.1 * state[1], state[1] + 0.1 * act[0]]).clamp(-2, 2)
    buf.append((state, act, -(nxt[0] - 1).abs().view(1), nxt))
    state = nxt if t % 50 else torch.randn(2)
    if len(buf) < 64:
        continue
    s, a, r, n = (torch.stack(z) for z in zip(*random.sample(buf, 32)))
    with torch.no_grad():
        q_target = r + 0.95 * critic_t(torch.cat([n, actor_t(n)], 1))
    q = critic(torch.cat([s, a], 1))
    critic_loss = nn.functional.mse_loss(q, q_target)
    oc.zero_grad()
    critic_loss.backward()
    oc.step()
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    oa.zero_grad()
    actor_loss.backward()
    oa.step()
    soft(actor_t, actor)
    soft(critic_t, critic)
print(critic_loss.item(), actor_loss.item())
