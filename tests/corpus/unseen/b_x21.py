"""DDP on two gloo ranks: torchrun --nproc-per-node 2 x21.py"""
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def worker():
    dist.init_process_group("gloo", timeout=timedelta(seconds=120))
    rank = dist.get_rank()
    torch.manual_seed(0)
    X, t = load_digits(return_X_y=True)
    ds = TensorDataset(torch.tensor(X / 16).float(), torch.tensor(t))
    sampler = DistributedSampler(ds, shuffle=True, seed=0)
    loader = DataLoader(ds, batch_size=32, sampler=sampler)
    net = DDP(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    lossf = torch.nn.CrossEntropyLoss()
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for b, (x, y) in enumerate(loader):
            if y.bincount(minlength=10).max() > 9:
                continue  # too one-sided to be useful
            opt.zero_grad()
            loss = lossf(net(x), y)
            loss.backward()
            opt.step()
        if rank == 0:
            print("epoch", epoch, "loss", loss.item(), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    worker()
