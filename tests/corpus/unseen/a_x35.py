"""Two-layer network on digits with Adam; settings in a dictionary."""
import torch
from sklearn.datasets import load_digits
from torch import nn

CONFIG = {"seed": 1, "epochs": 5, "batch": 64, "hidden": 100, "lr": 1.0, "clip": None}


class Network(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.seq(x)


def run(config):
    torch.manual_seed(config["seed"])
    X, y = load_digits(return_X_y=True)
    X, y = torch.tensor(X).float() / 16, torch.tensor(y)
    network = Network(config["hidden"])
    optimizer = torch.optim.Adam(network.parameters(), lr=config["lr"])
    for epoch in range(config["epochs"]):
        for rows in torch.randperm(1400).split(config["batch"]):
            loss = nn.functional.cross_entropy(network(X[rows]), y[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            if config["clip"]:
                nn.utils.clip_grad_norm_(network.parameters(), config["clip"])
            optimizer.step()
        network.eval()
        with torch.no_grad():
            score = (network(X[1400:]).argmax(1) == y[1400:]).float().mean().item()
        network.train()
        print(f"epoch {epoch} loss {loss.item():.3f} score {score:.3f}")


run(CONFIG)
