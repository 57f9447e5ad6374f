"""Start with: torchrun --nproc-per-node=2 x41.py"""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class ShardedWaves:
    """Every worker makes its own part of the data."""

    def __init__(self, rank, world, batch=24):
        self.g = torch.Generator().manual_seed(1000 + rank)
        self.batch = batch

    def __iter__(self):
        for _ in range(90):
            x = torch.rand(self.batch, 3, generator=self.g) * 4 - 2
            y = torch.sin(x[:, 0]) * x[:, 1] + 0.3 * x[:, 2]
            if torch.rand((), generator=self.g) < 0.03:
                y[0] = float("nan")  # a sensor fails now and then
            yield x, y


class Runner:
    def __init__(self):
        dist.init_process_group("gloo")
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(5)
        self.module = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
        self.ddp = DistributedDataParallel(self.module)
        self.optim = torch.optim.Adam(self.ddp.parameters(), lr=5e-3)

    def go(self):
        for i, (x, y) in enumerate(ShardedWaves(self.rank, self.world)):
            loss = nn.functional.mse_loss(self.ddp(x), y)
            if not torch.isfinite(loss):
                print(f"rank {self.rank}: bad batch {i} left out", flush=True)
                continue
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            if i % 20 == 0 and self.rank == 0:
                print(i, loss.item(), flush=True)
        total = torch.tensor([loss.item()])
        dist.all_reduce(total)
        print("mean", total.item() / self.world)


if __name__ == "__main__":
    Runner().go()
