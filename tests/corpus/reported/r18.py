"""Advantage actor-critic on a contextual navigation task (vectorised environment)."""
import torch
from torch import nn

torch.manual_seed(10)
B, T, GRID = 32, 12, 5
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class VecGrid:
    def reset(self):
        self.pos, self.goal = torch.randint(0, GRID, (2, B, 2))
        return self.obs()

    def obs(self):
        return torch.cat([self.pos, self.goal, self.goal - self.pos], 1).float() / GRID

    def step(self, action):
        before = (self.goal - self.pos).abs().sum(1)
        self.pos = (self.pos + MOVES[action]).clamp(0, GRID - 1)
        after = (self.goal - self.pos).abs().sum(1)
        return self.obs(), (before - after).float() - 0.1 * (after > 0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 64), nn.Tanh())
        self.pi, self.v = nn.Linear(64, 4), nn.Linear(64, 1)

    def forward(self, o):
        h = self.body(o)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


env, net = VecGrid(), ActorCritic()
opt = torch.optim.RMSprop(net.parameters(), lr=2e-3)
beta, gamma = 0.01, 0.9
for update in range(1, 151):
    obs = env.reset()
    logps, values, rewards, entropies = [], [], [], []
    for t in range(T):
        dist, value = net(obs)
        action = dist.sample()
        obs, reward = env.step(action)
        logps.append(dist.log_prob(action))
        values.append(value)
        rewards.append(reward)
        entropies.append(dist.entropy())
    with torch.no_grad():
        R = net(obs)[1]
    pi_loss = v_loss = 0
    for i in reversed(range(T)):
        R = rewards[i] + gamma * R
        advantage = (R - values[i]).detach()
        pi_loss += (logps[i] * advantage).mean()
        pi_loss -= beta * entropies[i].mean()
        v_loss += ((R - values[i]) ** 2).mean() / 2
    loss = pi_loss + 0.5 * v_loss
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
    if update % 50 == 0:
        print(f"update {update} return {torch.stack(rewards).sum(0).mean():.2f} entropy {entropies[-1].mean():.2f} v_loss {v_loss:.2f}")
