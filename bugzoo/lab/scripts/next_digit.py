"""The next digit of a sequence that adds its last two digits mod 10: a small transformer in `main()`, batches by slices."""

import torch
import torch.nn.functional as F
from torch import nn

LENGTH, WIDTH, BATCH, EPOCHS = 12, 32, 64, 12


class NextDigit(nn.Module):
    def __init__(self):
        super().__init__()
        self.digits, self.places = nn.Embedding(10, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        length = x.shape[1]
        h = self.digits(x) + self.places(torch.arange(length))
        h = self.layer(h, src_mask=nn.Transformer.generate_square_subsequent_mask(length), is_causal=True)
        return self.head(h)


def sequences(count: int):
    rows = torch.randint(0, 10, (count, 2))
    for _ in range(LENGTH - 1):
        rows = torch.cat([rows, (rows[:, -2:].sum(1, keepdim=True)) % 10], 1)
    return rows


def main():
    torch.manual_seed(0)
    data = sequences(2560)
    train, validation = data[:2048], data[2048:]
    model = NextDigit()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        model.train()
        order = torch.randperm(len(train))
        for start in range(0, len(train), BATCH):
            batch = train[order[start : start + BATCH]]
            logits = model(batch[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}")
    model.eval()
    with torch.no_grad():
        logits, targets = model(validation[:, :-1]), validation[:, 1:]
        validation_loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
        accuracy = (logits.argmax(-1) == targets).float().mean().item()
    print(f"validation loss {validation_loss:.3f}, accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
