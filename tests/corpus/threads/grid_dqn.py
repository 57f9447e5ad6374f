"""Deep Q-learning in a small room with walls: walk to the exit."""
import argparse
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LAYOUT = ["........",
          ".##.###.",
          ".#....#.",
          ".#.##.#.",
          "...#..#.",
          ".###.##.",
          ".....#..",
          ".###...X"]
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


class Room:
    def __init__(self, limit=40):
        self.h, self.w, self.limit = len(LAYOUT), len(LAYOUT[0]), limit
        self.free = [(r, c) for r in range(self.h) for c in range(self.w) if LAYOUT[r][c] == "."]

    def observe(self):
        v = np.zeros(self.h * self.w, np.float32)
        v[self.pos[0] * self.w + self.pos[1]] = 1.0
        return v

    def reset(self, pos=None):
        self.pos, self.t = pos or random.choice(self.free), 0
        return self.observe()

    def step(self, a):
        r, c = self.pos[0] + MOVES[a][0], self.pos[1] + MOVES[a][1]
        if 0 <= r < self.h and 0 <= c < self.w and LAYOUT[r][c] != "#":
            self.pos = (r, c)
        self.t += 1
        out = LAYOUT[self.pos[0]][self.pos[1]] == "X"
        return self.observe(), (1.0 if out else -0.01), out, self.t >= self.limit


class Agent:
    def __init__(self, n_obs, gamma=0.96, lr=2e-3, sync_every=150):
        def net():
            return nn.Sequential(nn.Linear(n_obs, 64), nn.ReLU(), nn.Linear(64, 4))
        self.eval_net, self.target_net = net(), net()
        self.target_net.load_state_dict(self.eval_net.state_dict())
        self.opt = torch.optim.Adam(self.eval_net.parameters(), lr=lr)
        self.gamma, self.sync_every, self.learn_step = gamma, sync_every, 0

    def act(self, obs, eps):
        if random.random() < eps:
            return random.randrange(4)
        with torch.no_grad():
            return int(self.eval_net(torch.from_numpy(obs)).argmax())

    def learn(self, batch):
        s, a, r, s2, d = (torch.as_tensor(np.array(v)) for v in zip(*batch))
        q = self.eval_net(s).gather(1, a.view(-1, 1)).squeeze(1)
        with torch.no_grad():
            q_next = self.target_net(s2).max(1).values
            target = r.float() + self.gamma * (1 - d.float()) * q_next
        loss = F.smooth_l1_loss(q, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.learn_step += 1
        if self.learn_step % self.sync_every == 0:
            self.target_net.load_state_dict(self.target_net.state_dict())
        return loss.item()


def evaluate(agent, env):
    found = 0
    for pos in env.free:
        obs, done, cut = env.reset(pos), False, False
        while not (done or cut):
            obs, _, done, cut = env.step(agent.act(obs, 0.0))
        found += done
    return found / len(env.free)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=12000)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = Room()
    agent = Agent(env.h * env.w)
    memory, losses = deque(maxlen=6000), deque(maxlen=300)
    obs = env.reset()
    for step in range(1, args.steps + 1):
        a = agent.act(obs, max(0.2, 1 - step / 6000))
        nxt, r, done, cut = env.step(a)
        memory.append((obs, a, r, nxt, done))
        obs = env.reset() if done or cut else nxt
        if step > 500 and step % 3 == 0:
            losses.append(agent.learn(random.sample(memory, args.batch_size)))
        if step % 2000 == 0:
            print(f"step {step:5d}  td loss {np.mean(losses):.5f}  exit found from {evaluate(agent, Room()):.2f} of the cells")


if __name__ == "__main__":
    main()
