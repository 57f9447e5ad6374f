"""Two-moons with micro-batches, bfloat16 and a one-cycle schedule."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import make_moons


def get_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--micro", type=int, default=16)
    ap.add_argument("--every", type=int, default=4)
    return ap.parse_args()


def main():
    args = get_args()
    torch.manual_seed(1)
    pts, side = make_moons(1500, noise=0.15, random_state=1)
    pts = torch.tensor(pts, dtype=torch.float32)
    side = torch.tensor(side, dtype=torch.long)
    tr, va = slice(0, 1200), slice(1200, None)
    net = torch.nn.Sequential(torch.nn.Linear(2, 48), torch.nn.GELU(), torch.nn.Linear(48, 48), torch.nn.GELU(), torch.nn.Linear(48, 2))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)
    n_micro = 1200 // args.micro
    total = args.epochs * (n_micro // args.every + (n_micro % args.every > 0))
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-2, total_steps=total)
    for epoch in range(args.epochs):
        seen = 0.0
        idx = torch.randperm(1200)
        for k, rows in enumerate(idx.split(args.micro)):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = net(pts[tr][rows])
                part = F.cross_entropy(out, side[tr][rows]) / args.every
            part.backward()
            seen += part.item()
            if (k + 1) % args.every == 0 or k + 1 == n_micro:
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()
        with torch.no_grad():
            acc = (net(pts[va]).argmax(1) == side[va]).float().mean()
        print(epoch, f"{seen * args.every / n_micro:.4f}", f"{acc:.3f}")


if __name__ == "__main__":
    main()
