"""Sequence to sequence: turns a string of symbols into its re-coded, reversed form."""
import argparse
import random

import torch
import torch.nn as nn

PAD, SOS, EOS = 0, 1, 2
SYMBOLS = 12
VOCAB = SYMBOLS + 3
LENGTH = 9


def make_pairs(n, gen):
    src = torch.randint(3, VOCAB, (n, LENGTH), generator=gen)
    body = (src.flip(1) - 3 + 5) % SYMBOLS + 3
    trg = torch.cat([torch.full((n, 1), SOS), body, torch.full((n, 1), EOS)], dim=1)
    return src, trg


class Encoder(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 32)
        self.rnn = nn.GRU(32, hid, batch_first=True)

    def forward(self, src):
        return self.rnn(self.emb(src))[1]


class Decoder(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 32)
        self.rnn = nn.GRU(32 + hid, hid, batch_first=True)
        self.out = nn.Linear(hid, VOCAB)

    def forward(self, token, hidden, context):
        inp = torch.cat([self.emb(token), context], dim=1).unsqueeze(1)
        out, hidden = self.rnn(inp, hidden)
        return self.out(out.squeeze(1)), hidden


class Seq2Seq(nn.Module):
    def __init__(self, hid=64):
        super().__init__()
        self.encoder, self.decoder = Encoder(hid), Decoder(hid)

    def forward(self, src, trg, teacher_forcing_ratio=0.8):
        hidden = self.encoder(src)
        context = hidden[-1]
        token = trg[:, 0]
        outputs = []
        for t in range(1, trg.size(1)):
            logits, hidden = self.decoder(token, hidden, context)
            outputs.append(logits)
            use_truth = random.random() < teacher_forcing_ratio
            token = trg[:, t] if use_truth else logits.argmax(1)
        return torch.stack(outputs, dim=1)


def train_epoch(model, opt, criterion, src, trg, size):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(src)).split(size):
        out = model(src[idx], trg[idx])
        loss = criterion(out.flatten(0, 1), trg[idx, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(idx)
    return total / len(src)


@torch.no_grad()
def evaluate(model, criterion, src, trg):
    model.eval()
    out = model(src, trg, teacher_forcing_ratio=0.0)
    loss = criterion(out.flatten(0, 1), trg[:, 1:].flatten()).item()
    hit = out.argmax(-1) == trg[:, 1:]
    return loss, hit.float().mean().item(), hit.all(1).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    src, trg = make_pairs(2500, gen)
    vsrc, vtrg = make_pairs(500, gen)
    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(args.epochs):
        train_loss = train_epoch(model, opt, criterion, src, trg, 50)
        loss, acc, whole = evaluate(model, criterion, vsrc, vtrg)
        print(f"epoch {epoch}  train loss {train_loss:.3f}  val loss {loss:.3f}"
              f"  val token acc {acc:.3f}  val exact match {whole:.3f}")


if __name__ == "__main__":
    main()
