"""Denoising autoencoder with save, stop, resume."""
import os
import tempfile

import torch
from sklearn.datasets import load_digits
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 48), nn.ReLU())
        self.dec = nn.Linear(48, 64)

    def forward(self, x):
        return torch.sigmoid(self.dec(self.enc(x)))


class Session:
    def __init__(self, path):
        self.path, self.done = path, 0
        self.net = Denoiser()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=4e-3)
        if os.path.exists(path):
            memo = torch.load(path)
            self.net.load_state_dict(memo["net"])
            self.opt.load_state_dict(memo["opt"])
            torch.set_rng_state(memo["rng"])
            self.done = memo["done"]

    def run(self, clean, until):
        mse = nn.MSELoss()
        for self.done in range(self.done + 1, until + 1):
            total = 0.0
            for x in clean[torch.randperm(len(clean))].split(75):
                loss = mse(self.net(x + 0.3 * torch.randn_like(x)), x)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                total += loss.item() * len(x)
            print("epoch", self.done, "mse", round(total / len(clean), 5))
        torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "rng": torch.get_rng_state(), "done": self.done}, self.path)


if __name__ == "__main__":
    torch.manual_seed(44)
    pics = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    with tempfile.TemporaryDirectory() as tmp:
        where = os.path.join(tmp, "state.pt")
        Session(where).run(pics[:1500], 5)
        s = Session(where)
        s.run(pics[:1500], 10)
    with torch.no_grad():
        noisy = pics[1500:] + 0.3 * torch.randn_like(pics[1500:])
        print("noise", 0.09, "after", nn.functional.mse_loss(s.net(noisy), pics[1500:]).item())
