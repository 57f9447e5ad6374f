"""Character language model on generated fairy-tale sentences; writes a sample at the end."""
import argparse
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

NOUNS = ["king", "wolf", "miller", "princess", "raven", "goose", "hunter", "witch"]
VERBS = ["saw", "chased", "feeds", "forgot", "asked", "follows"]
ADJS = ["old", "little", "grey", "golden", "hungry", "silent"]
LEXICON = set(NOUNS + VERBS + ADJS + ["the", "a", "and", "then"])


def make_text(n, rng):
    out = []
    for _ in range(n):
        s = f"{rng.choice(['the', 'a'])} {rng.choice(ADJS)} {rng.choice(NOUNS)} {rng.choice(VERBS)} the {rng.choice(NOUNS)}"
        if rng.random() < 0.4:
            s += f" and then {rng.choice(VERBS)} a {rng.choice(ADJS)} {rng.choice(NOUNS)}"
        out.append(s + ". ")
    return "".join(out)


class CharTransformer(nn.Module):
    def __init__(self, vocab, block, dim=64, heads=4, layers=2):
        super().__init__()
        self.block = block
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(block, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.size(1)))
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        h = self.encoder(h)
        return self.head(self.norm(h))


def get_batch(data, block, size):
    start = torch.randint(0, len(data) - block - 1, (size,)).tolist()
    x = torch.stack([data[s:s + block] for s in start])
    y = torch.stack([data[s + 1:s + block + 1] for s in start])
    return x, y


@torch.no_grad()
def perplexity(model, data, block, batches=10):
    model.eval()
    total = 0.0
    for _ in range(batches):
        x, y = get_batch(data, block, 32)
        total += F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
    return math.exp(total / batches)


@torch.no_grad()
def sample(model, prompt, length):
    model.eval()
    ids = prompt.clone()
    for _ in range(length):
        logits = model(ids[-model.block:].unsqueeze(0))[0, -1]
        ids = torch.cat([ids, torch.multinomial((logits / 0.8).softmax(-1), 1)])
    return ids[len(prompt):]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=350)
    parser.add_argument("--block", type=int, default=40)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    text, held_out = make_text(1500, rng), make_text(200, rng)
    chars = sorted(set(text))
    stoi = {c: i for i, c in enumerate(chars)}
    data = torch.tensor([stoi[c] for c in text])
    val = torch.tensor([stoi[c] for c in held_out])
    model = CharTransformer(len(chars), args.block)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)
    for step in range(1, args.steps + 1):
        model.train()
        x, y = get_batch(data, args.block, 32)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 50 == 0:
            print(f"step {step}  loss {loss.item():.3f}  val perplexity {perplexity(model, val, args.block):.3f}")
    written = "".join(chars[i] for i in sample(model, val[:args.block], 400).tolist())
    words = [w.strip(".") for w in written.split()[1:-1]]
    print("sample:", written[:200])
    print(f"known words {sum(w in LEXICON for w in words) / max(1, len(words)):.3f} of {len(words)}")


if __name__ == "__main__":
    main()
