"""Next-word model of a small grammar with nn.TransformerEncoder."""
import torch
from torch import nn

S = "the a one every".split()
N = "cat dog bird child man woman".split()
V = "sees likes hears follows".split()
A = "quickly often never gladly".split()
WORDS = ["."] + S + N + V + A
ID = {w: i for i, w in enumerate(WORDS)}


def text(n_sentences):
    def pick(w):
        return w[int(torch.randint(len(w), ()))]

    out = []
    for _ in range(n_sentences):
        out += [pick(S), pick(N), pick(V), pick(S), pick(N)]
        if torch.rand(()) < 0.5:
            out.append(pick(A))
        out.append(".")
    return torch.tensor([ID[w] for w in out])


class WordModel(nn.Module):
    def __init__(self, d=32, n=20):
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), d)
        self.position = nn.Embedding(n, d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.decoder = nn.Linear(d, len(WORDS))

    def forward(self, src):
        x = self.embedding(src) + self.position(torch.arange(src.shape[1]))
        return self.decoder(self.encoder(x))


torch.manual_seed(36)
words = text(2000)
model = WordModel()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for it in range(300):
    start = torch.randint(0, len(words) - 21, (24,))
    window = torch.stack([words[s:s + 21] for s in start])
    logits = model(window[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), window[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    opt.step()
    if it % 50 == 0:
        print(f"iter {it} loss {loss.item():.3f} ppl {loss.exp().item():.2f}")
print("final", loss.item())
