"""Topic of a short text: packed GRU over sentences of different lengths."""
import argparse

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

TOPICS, VOCAB = 6, 90


def make_texts(n, gen):
    items = []
    for _ in range(n):
        topic = int(torch.randint(0, TOPICS, (1,), generator=gen))
        length = int(torch.randint(4, 25, (1,), generator=gen))
        words = torch.randint(1, VOCAB, (length,), generator=gen)
        own = torch.rand(length, generator=gen) < 0.4
        words[own] = 1 + topic * 10 + torch.randint(0, 10, (int(own.sum()),), generator=gen)
        items.append((words, topic))
    return items


def collate(items):
    words, topics = zip(*items)
    lengths = torch.tensor([len(w) for w in words])
    return pad_sequence(words, batch_first=True), lengths, torch.tensor(topics)


class SentenceEncoder(nn.Module):
    def __init__(self, emb=24, hid=32):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, emb, padding_idx=0)
        self.gru = nn.GRU(emb, hid, batch_first=True)

    def forward(self, words, lengths):
        sorted_lengths, order = lengths.sort(descending=True)
        _, inverse = order.sort()
        packed = pack_padded_sequence(self.embedding(words[order]), sorted_lengths, batch_first=True)
        output, hidden = self.gru(packed)
        output, _ = pad_packed_sequence(output, batch_first=True)
        output = output[inverse]
        hidden = hidden[-1][inverse]
        return output, hidden


class TopicModel(nn.Module):
    def __init__(self, hid=32):
        super().__init__()
        self.encoder = SentenceEncoder(hid=hid)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(hid, TOPICS))

    def forward(self, words, lengths):
        _, hidden = self.encoder(words, lengths)
        return self.head(hidden)


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    total = count = 0
    for words, lengths, topics in loader:
        loss = criterion(model(words, lengths), topics)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(topics)
        count += len(topics)
    return total / count


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = count = 0
    for words, lengths, topics in loader:
        hits += (model(words, lengths).argmax(1) == topics).sum().item()
        count += len(topics)
    return hits / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    train, test = make_texts(1500, gen), make_texts(500, gen)
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(test, batch_size=args.batch_size, collate_fn=collate)
    model = TopicModel()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(model, train_loader, criterion, optimizer)
        print(f"epoch {epoch}  loss {loss:.3f}  train acc {evaluate(model, train_loader):.3f}"
              f"  test acc {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
