import random

import numpy as np
import torch
from torch import nn, optim


class Corridor:
    """Walk right to reach the goal; nine cells."""

    def __init__(self, n=9):
        self.n = n

    def reset(self):
        self.pos, self.t = self.n // 2 - 2, 0
        return self.pos

    def step(self, a):
        self.pos = max(0, self.pos + (1 if a == 1 else -1))
        self.t += 1
        done = self.pos == self.n - 1 or self.t >= 30
        return self.pos, (1.0 if self.pos == self.n - 1 else -0.05), done


def one_hot(i, n=9):
    v = torch.zeros(n)
    v[i] = 1
    return v


def main():
    random.seed(3)
    np.random.seed(3)
    torch.manual_seed(3)
    world = Corridor()
    pi = nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 1))
    opt_pi = optim.Adam(pi.parameters(), lr=5e-3)
    opt_v = optim.Adam(critic.parameters(), lr=1e-2)
    returns = []
    for episode in range(150):
        s, done = world.reset(), False
        obs, logps, rewards, ents = [], [], [], []
        while not done:
            x = one_hot(s)
            d = torch.distributions.Categorical(logits=pi(x))
            a = d.sample()
            s, r, done = world.step(a.item())
            obs.append(x)
            logps.append(d.log_prob(a))
            ents.append(d.entropy())
            rewards.append(r)
        g, targets = 0.0, []
        for r in reversed(rewards):
            g = r + 0.97 * g
            targets.insert(0, g)
        targets = torch.tensor(targets)
        values = critic(torch.stack(obs)).squeeze(1)
        adv = targets - values.detach()
        actor_loss = -(torch.stack(logps) * adv).mean() - 0.01 * torch.stack(ents).mean()
        critic_loss = nn.functional.mse_loss(values, targets)
        opt_pi.zero_grad()
        actor_loss.backward()
        opt_pi.step()
        opt_v.zero_grad()
        critic_loss.backward()
        opt_v.step()
        returns.append(sum(rewards))
    print("first 20:", np.mean(returns[:20]), "last 20:", np.mean(returns[-20:]))


if __name__ == "__main__":
    main()
