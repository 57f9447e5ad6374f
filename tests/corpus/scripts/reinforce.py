"""REINFORCE on a small corridor with Categorical, baseline by running mean, returns normalised."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

torch.manual_seed(1)


class Corridor:
    def reset(self):
        self.pos, self.t = 0, 0
        return self.state()

    def state(self):
        s = torch.zeros(8)
        s[self.pos] = 1.0
        return s

    def step(self, a):
        self.t += 1
        self.pos = max(0, min(7, self.pos + (1 if a == 1 else -1)))
        done = self.pos == 7 or self.t >= 30
        return self.state(), (1.0 if self.pos == 7 else -0.02), done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(8, 32)
        self.dropout = nn.Dropout(p=0.1)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = torch.relu(self.dropout(self.affine1(x)))
        return torch.softmax(self.affine2(x), dim=-1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
env = Corridor()


def select_action(state):
    probs = policy(state)
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R = 0
    returns = []
    for r in policy.rewards[::-1]:
        R = r + 0.97 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    policy_loss = []
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.stack(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


for episode in range(60):
    state, done, total = env.reset(), False, 0
    while not done:
        state, reward, done = env.step(select_action(state))
        policy.rewards.append(reward)
        total += reward
    finish_episode()
print("last return", total)
