# advantage actor-critic on a balancing stick (crude physics)
import math
import torch
from torch import nn
from torch.distributions import Bernoulli

torch.manual_seed(20)


def physics(state, push):
    angle, speed = state.unbind(-1)
    speed = speed + 0.1 * (2.0 * torch.sin(angle) + 1.5 * (2 * push - 1))
    angle = angle + 0.1 * speed
    return torch.stack([angle, speed], -1)


actor = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
value = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
act_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
val_opt = torch.optim.Adam(value.parameters(), lr=1e-2)
state = 0.2 * torch.randn(16, 2)
upright, history = torch.ones(16), []
for t in range(500):
    d = Bernoulli(logits=actor(state).squeeze(-1))
    push = d.sample()
    new = physics(state, push)
    fell = new[:, 0].abs() > math.pi / 4
    reward = 1.0 - fell.float() - new[:, 0].abs().clamp(max=1)
    with torch.no_grad():
        aim = reward + 0.9 * value(new).squeeze(-1) * (~fell)
    estimate = value(state).squeeze(-1)
    advantage = aim - estimate

    act_opt.zero_grad()
    policy_loss = -(advantage.detach() * d.log_prob(push)).mean() - 0.005 * d.entropy().mean()
    policy_loss.backward()
    act_opt.step()

    value_loss = advantage.square().mean()
    value_loss.backward()
    val_opt.step()

    state = torch.where(fell[:, None], 0.2 * torch.randn(16, 2), new)
    history.append(fell.float().mean().item())
    if t % 100 == 99:
        print(t, "falls", sum(history[-100:]) / 100, "value loss", value_loss.item())
