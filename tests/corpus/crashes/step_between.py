import torch
from torch import nn

torch.manual_seed(0)

actor, critic = nn.Linear(4, 4), nn.Linear(4, 1)
first, second = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD(critic.parameters(), lr=0.1)
for step in range(5):
    state = torch.randn(16, 4)
    value = critic(torch.tanh(actor(state)))
    critic_loss = (value - 1).pow(2).mean()
    actor_loss = -value.mean()
    second.zero_grad()
    critic_loss.backward(retain_graph=True)
    second.step()
    first.zero_grad()
    actor_loss.backward()
    first.step()
