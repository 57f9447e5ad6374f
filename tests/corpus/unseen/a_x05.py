import torch
from torch import nn

# contextual bandit, REINFORCE with a running baseline; the surrogate loss means nothing by itself
torch.manual_seed(29)
best_arm = torch.randn(5, 4)
policy = nn.Linear(5, 4)
opt = torch.optim.SGD(policy.parameters(), lr=0.3)
baseline, rewards = 0.0, []
for rnd in range(300):
    ctx = torch.randn(32, 5)
    dist = torch.distributions.Categorical(logits=policy(ctx))
    arm = dist.sample()
    reward = (arm == (ctx @ best_arm).argmax(1)).float() + 0.3 * torch.randn(32)
    surrogate = -((reward - baseline) * dist.log_prob(arm)).mean()
    opt.zero_grad()
    surrogate.backward()
    opt.step()
    baseline = 0.95 * baseline + 0.05 * reward.mean().item()
    rewards.append(reward.mean().item())
print("first", sum(rewards[:30]) / 30, "last", sum(rewards[-30:]) / 30)
