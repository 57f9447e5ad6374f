"""Policy gradient with a value baseline on a pole that has to be kept upright."""
import argparse
import math
import random

import torch
import torch.nn as nn
from torch.distributions import Categorical


class Pole:
    """Cart and pole, one point for every step that it stands."""

    def reset(self):
        self.s = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.t = 0
        return list(self.s)

    def step(self, action):
        x, v, th, w = self.s
        force = 10.0 if action == 1 else -10.0
        c, s = math.cos(th), math.sin(th)
        tmp = (force + 0.05 * w * w * s) / 1.1
        acc_th = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c * c / 1.1))
        acc_x = tmp - 0.05 * acc_th * c / 1.1
        self.s = [x + 0.02 * v, v + 0.02 * acc_x, th + 0.02 * w, w + 0.02 * acc_th]
        self.t += 1
        fallen = abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.21
        return list(self.s), 1.0, fallen or self.t >= 200


class Rollout:
    def __init__(self):
        self.states, self.actions, self.rewards, self.ends = [], [], [], []


class ActorCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.critic = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    @torch.no_grad()
    def act(self, state):
        return Categorical(logits=self.actor(torch.tensor(state))).sample().item()


def discounted(roll, gamma):
    returns = []
    running = 0.0
    for reward in reversed(roll.rewards):
        running = reward + gamma * running
        returns.insert(0, running)
    return torch.tensor(returns)


def update(net, opt, roll, gamma, epochs, clip):
    states, actions = torch.tensor(roll.states), torch.tensor(roll.actions)
    returns = discounted(roll, gamma)
    returns = (returns - returns.mean()) / (returns.std() + 1e-5)
    with torch.no_grad():
        old_logp = Categorical(logits=net.actor(states)).log_prob(actions)
    for _ in range(epochs):
        dist = Categorical(logits=net.actor(states))
        values = net.critic(states).squeeze(-1)
        ratio = (dist.log_prob(actions) - old_logp).exp()
        adv = returns - values.detach()
        surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)
        loss = -surrogate.mean() + 0.5 * (values - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=24)
    ap.add_argument("--steps-per-update", type=int, default=800)
    ap.add_argument("--gamma", type=float, default=0.98)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    env, net = Pole(), ActorCritic()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for it in range(1, args.updates + 1):
        roll, lengths, state = Rollout(), [], env.reset()
        while len(roll.rewards) < args.steps_per_update or not roll.ends[-1]:
            action = net.act(state)
            nxt, reward, done = env.step(action)
            roll.states.append(state)
            roll.actions.append(action)
            roll.rewards.append(reward)
            roll.ends.append(done)
            if done:
                lengths.append(env.t)
            state = env.reset() if done else nxt
        loss = update(net, opt, roll, args.gamma, epochs=6, clip=0.2)
        if it % 3 == 0:
            print(f"update {it:3d}  loss {loss:.3f}  mean episode length {sum(lengths) / len(lengths):.1f}")


if __name__ == "__main__":
    main()
