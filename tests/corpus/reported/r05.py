"""Autoencoder shared by two 'species': private adapters around one shared core."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.optim import Adam

torch.manual_seed(30)


class SharedCore(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 10))
        self.decoder = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 48))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 48), nn.Tanh())
        self.dec = nn.Sequential(nn.Linear(48, 64), nn.Sigmoid())


def configure_optimizers(core, experts):
    return {
        "shared": Adam(core.encoder.parameters(), lr=2e-3),
        **{name: Adam(e.parameters(), lr=2e-3) for name, e in experts.items()},
    }


data = torch.tensor(load_digits().data, dtype=torch.float32) / 16
data = {"human": data[:800], "mouse": 1 - data[800:1600]}
core = SharedCore()
experts = nn.ModuleDict({"human": Expert(), "mouse": Expert()})
opts = configure_optimizers(core, experts)

for epoch in range(20):
    log = {}
    for name, x in data.items():
        total = 0.0
        for rows in torch.randperm(len(x)).split(50):
            batch = x[rows]
            out = experts[name].dec(core(experts[name].enc(batch)))
            loss = nn.functional.mse_loss(out, batch)
            opts["shared"].zero_grad()
            opts[name].zero_grad()
            loss.backward()
            opts["shared"].step()
            opts[name].step()
            total += loss.item() * len(batch)
        log[name] = total / len(x)
    if epoch % 5 == 4:
        print(f"epoch {epoch} " + " ".join(f"{k} {v:.4f}" for k, v in log.items()))
