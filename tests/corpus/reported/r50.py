"""REINFORCE with a moving baseline: choose the shortest queue."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(29)
K, HORIZON, EPISODES = 4, 15, 160


def rollout(policy, batch=24, greedy=False):
    queues = torch.randint(0, 6, (batch, K)).float()
    logps, costs = [], []
    for _ in range(HORIZON):
        dist = Categorical(logits=policy(queues / 6))
        a = dist.probs.argmax(1) if greedy else dist.sample()
        costs.append(queues.gather(1, a[:, None]).squeeze(1))
        queues = queues.scatter_add(1, a[:, None], torch.ones(batch, 1))
        queues = (queues - (torch.rand(batch, K) < 0.3).float()).clamp(min=0)
        logps.append(dist.log_prob(a))
    return torch.stack(logps), -torch.stack(costs)


policy = nn.Sequential(nn.Linear(K, 32), nn.Tanh(), nn.Linear(32, K))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
with torch.no_grad():
    print(f"before: mean reward {rollout(policy)[1].mean():.3f}")
baseline = None
for ep in range(EPISODES):
    logp, reward = rollout(policy)
    returns = reward.flip(0).cumsum(0).flip(0)
    avg = returns.mean(1, keepdim=True)
    baseline = avg if baseline is None else 0.9 * baseline + 0.1 * avg
    advantage = returns - baseline
    advantage = advantage / (advantage.std() + 1e-6)
    loss = -(logp * advantage).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if ep % 40 == 39:
        print(f"episode {ep + 1} surrogate {loss.item():+.4f} mean reward {reward.mean():.3f}")
with torch.no_grad():
    print(f"greedy policy: mean reward {rollout(policy, 200, True)[1].mean():.3f}")
