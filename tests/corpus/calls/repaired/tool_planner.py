"""Planner that picks a chain of tools for a request (REINFORCE with a running baseline)."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class ToolWorld:
    """A request needs one certain tool at each of the stages; a later stage only counts if the earlier ones fit."""

    def __init__(self, n_tools, stages, dim, gen):
        self.gen, self.stages, self.n_tools = gen, stages, n_tools
        self.key = torch.randn(stages, dim, n_tools, generator=gen)
        self.dim = dim

    def requests(self, n):
        return torch.randn(n, self.dim, generator=self.gen)

    def reward(self, req, plan):
        want = torch.einsum("nd,sdt->nst", req, self.key).argmax(-1)
        fits = (plan == want).float().cumprod(dim=1)
        return fits.mean(1)


class Planner(nn.Module):
    def __init__(self, dim, n_tools, stages, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.heads = nn.Linear(hidden, stages * n_tools)
        self.shape = (stages, n_tools)

    def forward(self, req):
        scores = self.heads(self.body(req)).view(-1, *self.shape)
        return F.log_softmax(scores, dim=-1)


def rollout(planner, world, n):
    req = world.requests(n)
    log_probs = planner(req)
    plan = Categorical(logits=log_probs.detach()).sample()
    chosen = log_probs.gather(-1, plan.unsqueeze(-1)).squeeze(-1)
    return chosen, world.reward(req, plan), log_probs


def train(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    world = ToolWorld(args.tools, args.stages, 8, gen)
    planner = Planner(8, args.tools, args.stages)
    optimizer = torch.optim.Adam(planner.parameters(), lr=args.lr)
    baseline, smooth = 0.0, 0.0
    for step in range(1, args.steps + 1):
        chosen, reward, log_probs = rollout(planner, world, args.batch)
        advantage = reward - baseline
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        loss = -(chosen.sum(1) * advantage).mean() - args.entropy * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(planner.parameters(), 1.0)
        optimizer.step()
        baseline = 0.95 * baseline + 0.05 * reward.mean().item()
        smooth = 0.98 * smooth + 0.02 * reward.mean().item()
        if step % 250 == 0:
            print(f"step {step:5d}  reward {smooth:.3f}  entropy {entropy.item():.3f}  loss {loss.item():+.4f}")
    with torch.no_grad():
        sampled = torch.cat([rollout(planner, world, 500)[1] for _ in range(8)]).mean().item()
        req = world.requests(4000)
        greedy = world.reward(req, planner(req).argmax(-1)).mean().item()
    print(f"after training: reward of sampled plans {sampled:.3f}, of the likeliest plan {greedy:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=int, default=5)
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--entropy", type=float, default=0.005)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())
