"""Deep Q-learning on a 4x4 lake without wind: replay memory and a slowly copied target."""
import copy
import random
from collections import deque

import torch
from torch import nn

HOLES, GOAL = {5, 7, 11, 12}, 15
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def move(s, a):
    r, c = divmod(s, 4)
    r, c = min(3, max(0, r + MOVES[a][0])), min(3, max(0, c + MOVES[a][1]))
    s = 4 * r + c
    return s, float(s == GOAL), s in HOLES or s == GOAL


def main():
    random.seed(1)
    torch.manual_seed(1)
    eye = torch.eye(16)
    q = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
    q_slow = copy.deepcopy(q).eval()
    opt = torch.optim.Adam(q.parameters(), lr=3e-3)
    memory = deque(maxlen=3000)
    s, t = 0, 0
    for tick in range(2400):
        eps = max(0.15, 1 - tick / 2000)
        if random.random() < eps:
            a = random.randrange(4)
        else:
            with torch.no_grad():
                a = int(q(eye[s]).argmax())
        s2, r, end = move(s, a)
        memory.append((s, a, r, s2, end))
        t += 1
        s, t = (0, 0) if end or t > 40 else (s2, t)
        if tick >= 200 and tick % 4 == 0:
            S, A, R, S2, E = map(torch.tensor, zip(*random.sample(memory, 48)))
            with torch.no_grad():
                aim = R + 0.95 * q_slow(eye[S2]).max(1).values * (~E)
            td = nn.functional.smooth_l1_loss(q(eye[S]).gather(1, A[:, None]).squeeze(1), aim)
            opt.zero_grad()
            td.backward()
            opt.step()
        if tick % 60 == 0:
            q_slow.load_state_dict(q.state_dict())
    s, path = 0, [0]
    for _ in range(12):
        s, r, end = move(s, int(q(eye[s]).argmax()))
        path.append(s)
        if end:
            break
    print("td", td.item(), "greedy path", path, "reached" if s == GOAL else "lost")


if __name__ == "__main__":
    main()
