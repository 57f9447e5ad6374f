"""DQN for a drone on a plane that has to reach the pad in the middle."""
import argparse
import random
from collections import deque

import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--episodes", type=int, default=160)
parser.add_argument("--gamma", type=float, default=0.95)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--sync", type=int, default=200)
args = parser.parse_args()
random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)

MOVES = np.array([[0.12, 0], [-0.12, 0], [0, 0.12], [0, -0.12]], dtype=np.float32)


class DroneEnv:
    limit = 40

    def __init__(self):
        self.state = np.zeros(2, dtype=np.float32)

    def reset(self):
        self.t = 0
        self.state[:] = np.random.uniform(-1, 1, 2)
        return self.state.copy()

    def step(self, action):
        self.t += 1
        self.state += MOVES[action] + np.random.normal(0, 0.01, 2)
        np.clip(self.state, -1, 1, out=self.state)
        landed = bool(np.abs(self.state).max() < 0.15)
        return self.state.copy(), 1.0 if landed else -0.05, landed, self.t >= self.limit


class Memory:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def push(self, state, action, reward, next_state, done):
        self.items.append((state, action, reward, next_state, done))

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.items, n))
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r, dtype=torch.float32),
                torch.from_numpy(np.stack(s2)), torch.tensor(d, dtype=torch.float32))


def q_net():
    return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))


def act(net, state, eps):
    if random.random() < eps:
        return random.randrange(4)
    with torch.no_grad():
        return net(torch.from_numpy(state)).argmax().item()


def rollout(env, net, n=50):
    landed_n, total = 0, 0.0
    for _ in range(n):
        state, landed, out = env.reset(), False, False
        while not (landed or out):
            state, reward, landed, out = env.step(act(net, state, 0.02))
            total += reward
        landed_n += landed
    return landed_n / n, total / n


def main():
    env, memory = DroneEnv(), Memory(10000)
    net, target = q_net(), q_net()
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    step, losses = 0, deque(maxlen=200)
    for episode in range(1, args.episodes + 1):
        eps = max(0.05, 1 - episode / (0.6 * args.episodes))
        state, landed, out = env.reset(), False, False
        while not (landed or out):
            action = act(net, state, eps)
            next_state, reward, landed, out = env.step(action)
            memory.push(state, action, reward, next_state, landed)
            state = next_state
            step += 1
            if len(memory.items) < 500:
                continue
            s, a, r, s2, d = memory.sample(args.batch)
            with torch.no_grad():
                goal = r + args.gamma * (1 - d) * target(s2).max(1).values
            loss = nn.functional.smooth_l1_loss(net(s).gather(1, a[:, None]).squeeze(1), goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if step % args.sync == 0:
                target.load_state_dict(net.state_dict())
        if episode % 40 == 0:
            rate, ret = rollout(DroneEnv(), net)
            print(f"episode {episode} eps {eps:.2f} td loss {np.mean(losses):.4f} landed {rate:.2f} return {ret:.2f}")


if __name__ == "__main__":
    main()
