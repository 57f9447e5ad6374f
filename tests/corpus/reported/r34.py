"""Small transformer encoder that sorts out the majority symbol; options as a dict."""
import torch
from torch import nn

CONFIG = {
    "model": {"vocab": 12, "dim": 32, "heads": 4, "layers": 2, "length": 15},
    "params": {"optimizer": "Adam", "learning_rate": 2.0, "decay_steps": 150, "clip": 5.0},
    "train": {"batch_size": 32, "max_step": 150, "report_every": 30},
    "seed": 22,
}


class Majority(nn.Module):
    def __init__(self, vocab, dim, heads, layers, length):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(length, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.enc(self.emb(ids) + self.pos).mean(1))


def make_batch(n, vocab, length):
    ids = torch.randint(0, vocab, (n, length))
    label = torch.randint(0, vocab, (n,))
    for i in range(n):
        where = torch.randperm(length)[:6]
        ids[i, where] = label[i]
    return ids, label


def train(config):
    torch.manual_seed(config["seed"])
    m, p, t = config["model"], config["params"], config["train"]
    model = Majority(**m)
    optimizer = getattr(torch.optim, p["optimizer"])(model.parameters(), lr=p["learning_rate"])
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 0.5 ** (s / p["decay_steps"]))
    for step in range(1, t["max_step"] + 1):
        ids, label = make_batch(t["batch_size"], m["vocab"], m["length"])
        loss = nn.functional.cross_entropy(model(ids), label)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), p["clip"])
        optimizer.step()
        schedule.step()
        if step % t["report_every"] == 0:
            model.eval()
            with torch.no_grad():
                ids, label = make_batch(200, m["vocab"], m["length"])
                acc = (model(ids).argmax(1) == label).float().mean().item()
            model.train()
            print(f"Step = {step} ; Loss = {loss.item():.4f} ; accuracy = {acc:.3f}")


train(CONFIG)
