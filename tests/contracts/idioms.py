"""Healthy training scripts as torch's and torchvision's own examples and tutorials are built, written anew and tiny.

None of them breaks a contract. Names that each has: torch, nn, F.
"""

IMAGES = """
g = torch.Generator().manual_seed(0)
x, y = torch.rand(48, 1, 8, 8, generator=g), torch.randint(4, (48,), generator=g)
from torch.utils.data import DataLoader, TensorDataset, random_split
train, test = random_split(TensorDataset(x, y), [32, 16], generator=g)
loader, held_out = DataLoader(train, 8, shuffle=True), DataLoader(test, 16)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)
        self.drop, self.fc = nn.Dropout(0.25), nn.Linear(36, 4)
    def forward(self, x):
        return self.fc(self.drop(F.max_pool2d(F.relu(self.norm(self.conv(x))), 2).flatten(1)))
model = Net()
def evaluate(model):
    model.eval()
    with torch.no_grad():
        return sum(F.cross_entropy(model(a), b, reduction="sum").item() for a, b in held_out)
"""

IDIOMS = {
    "digits with log_softmax and nll_loss": IMAGES
    + """
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
for epoch in range(2):
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        loss = F.nll_loss(F.log_softmax(model(a), dim=1), b)
        loss.backward()
        optimizer.step()
    evaluate(model)
    scheduler.step()
""",
    "images with mixed precision, warmup and label smoothing": IMAGES
    + """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)
warm = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=4)
main = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, main], milestones=[4])
scaler = torch.amp.GradScaler("cpu", enabled=False)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(3):
    model.train()
    for a, b in loader:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = criterion(model(a), b)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    evaluate(model)
""",
    "accumulated gradients and a plateau schedule": IMAGES
    + """
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
for epoch in range(3):
    model.train()
    for place, (a, b) in enumerate(loader):
        (F.cross_entropy(model(a), b) / 2).backward()
        if place % 2:
            optimizer.step()
            optimizer.zero_grad()
    scheduler.step(evaluate(model))
""",
    "fine-tuning with a frozen trunk and a new head": IMAGES
    + """
saved = model.state_dict()
model = Net()
left = model.load_state_dict({k: v for k, v in saved.items() if not k.startswith("fc")}, strict=False)
assert left.missing_keys == ["fc.weight", "fc.bias"]
for p in model.parameters():
    p.requires_grad = False
model.fc = nn.Linear(36, 4)
optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.1, momentum=0.9)
for a, b in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    optimizer.step()
evaluate(model)
""",
    "groups of parameters and one cycle": IMAGES
    + """
decay = [p for n, p in model.named_parameters() if p.ndim > 1]
plain = [p for n, p in model.named_parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}], lr=1e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, epochs=2, steps_per_epoch=len(loader))
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
        scheduler.step()
""",
    "an average of weights and its statistics": IMAGES
    + """
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average, swa = AveragedModel(model), SWALR(optimizer, swa_lr=0.05)
for epoch in range(4):
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
    if epoch >= 2:
        average.update_parameters(model)
        swa.step()
update_bn(loader, average)
evaluate(average)
""",
    "a moving average with buffers": IMAGES
    + """
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
for a, b in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    optimizer.step()
    ema.update_parameters(model)
evaluate(ema)
""",
    "a moving average by hand, with buffers copied": IMAGES
    + """
import copy
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ema = copy.deepcopy(model).eval()
for p in ema.parameters():
    p.requires_grad_(False)
for a, b in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    optimizer.step()
    with torch.no_grad():
        for old, new in zip(ema.parameters(), model.parameters()):
            old.lerp_(new, 0.1)
        for old, new in zip(ema.buffers(), model.buffers()):
            old.copy_(new)
evaluate(ema)
""",
    "saved, loaded and resumed": IMAGES
    + """
import io
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
def epoch():
    for a, b in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
    scheduler.step()
epoch()
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, file)
file.seek(0)
state = torch.load(file, weights_only=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
scheduler.load_state_dict(state["scheduler"])
epoch()
""",
    "a variational autoencoder": """
x = torch.rand(32, 16)
class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.log_var, self.dec = nn.Linear(16, 8), nn.Linear(8, 2), nn.Linear(8, 2), nn.Linear(2, 16)
    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, log_var = self.mu(h), self.log_var(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * log_var)
        return torch.sigmoid(self.dec(z)), mu, log_var
model = Vae()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for rows in torch.arange(32).repeat(2).split(8):
    out, mu, log_var = model(x[rows])
    loss = F.binary_cross_entropy(out, x[rows], reduction="sum") - 0.5 * (1 + log_var - mu**2 - log_var.exp()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "two players": """
real = torch.randn(64, 2) * 0.5 + 1
maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(True), nn.Linear(16, 2), nn.Tanh())
judge = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1), nn.Sigmoid())
def start(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.02)
        nn.init.zeros_(m.bias)
maker.apply(start), judge.apply(start)
criterion = nn.BCELoss()
first = torch.optim.Adam(judge.parameters(), lr=2e-4, betas=(0.5, 0.999))
second = torch.optim.Adam(maker.parameters(), lr=2e-4, betas=(0.5, 0.999))
for rows in torch.arange(64).split(16):
    judge.zero_grad()
    label = torch.full((16,), 1.0)
    criterion(judge(real[rows]).view(-1), label).backward()
    fake = maker(torch.randn(16, 4))
    label.fill_(0.0)
    criterion(judge(fake.detach()).view(-1), label).backward()
    first.step()
    maker.zero_grad()
    label.fill_(1.0)
    criterion(judge(fake).view(-1), label).backward()
    second.step()
""",
    "a critic with a penalty on gradients": """
real = torch.randn(64, 2)
critic, maker = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), nn.Linear(4, 2)
first, second = torch.optim.Adam(critic.parameters(), 1e-3), torch.optim.Adam(maker.parameters(), 1e-3)
for rows in torch.arange(64).split(16):
    fake = maker(torch.randn(16, 4))
    share = torch.rand(16, 1)
    between = (share * real[rows] + (1 - share) * fake.detach()).requires_grad_()
    slope = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
    loss = critic(fake.detach()).mean() - critic(real[rows]).mean() + 10 * ((slope.norm(dim=1) - 1) ** 2).mean()
    first.zero_grad()
    loss.backward()
    first.step()
    second.zero_grad()
    (-critic(fake).mean()).backward()
    second.step()
""",
    "a language model with a kept hidden state": """
text = torch.randint(12, (4, 41))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.emb = nn.Dropout(0.2), nn.Embedding(12, 8)
        self.rnn, self.out = nn.LSTM(8, 8, 2, dropout=0.2), nn.Linear(8, 12)
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)
    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.emb(x)), hidden)
        return F.log_softmax(self.out(self.drop(out)).view(-1, 12), dim=1), hidden
model, criterion = Model(), nn.NLLLoss()
hidden = (torch.zeros(2, 4, 8), torch.zeros(2, 4, 8))
for start in range(0, 40, 10):
    model.zero_grad()
    hidden = tuple(h.detach() for h in hidden)
    out, hidden = model(text[:, start:start + 10].t(), hidden)
    criterion(out, text[:, start + 1:start + 11].t().reshape(-1)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(p.grad, alpha=-0.5)
""",
    "packed sequences with padding": """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
rows = [torch.randint(1, 9, (n,)) for n in (7, 3, 5, 2)]
x, lengths, y = pad_sequence(rows, batch_first=True), torch.tensor([7, 3, 5, 2]), torch.tensor([0, 1, 1, 0])
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(9, 6, padding_idx=0), nn.GRU(6, 6, batch_first=True), nn.Linear(6, 2)
    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        pad_packed_sequence(out, batch_first=True)
        return self.out(h[-1])
model = Tagger()
optimizer = torch.optim.Adam(model.parameters())
for step in range(4):
    optimizer.zero_grad()
    F.cross_entropy(model(x, lengths), y).backward()
    optimizer.step()
""",
    "translation with a transformer and ignored padding": """
source, target = torch.randint(1, 9, (4, 6)), torch.randint(1, 9, (4, 7))
source[0, 4:], target[0, 5:] = 0, 0
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.out = nn.Embedding(9, 8, padding_idx=0), nn.Linear(8, 9)
        self.core = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
    def forward(self, a, b):
        mask = nn.Transformer.generate_square_subsequent_mask(b.shape[1], dtype=torch.bool)
        return self.out(self.core(self.emb(a), self.emb(b), tgt_mask=mask, src_key_padding_mask=a == 0,
                                  tgt_key_padding_mask=b == 0, memory_key_padding_mask=a == 0))
model, criterion = Translator(), nn.CrossEntropyLoss(ignore_index=0)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
for step in range(4):
    logits = model(source, target[:, :-1])
    optimizer.zero_grad()
    criterion(logits.reshape(-1, 9), target[:, 1:].reshape(-1)).backward()
    optimizer.step()
""",
    "a small causal model with a rate from a lambda": """
text = torch.randint(16, (8, 9))
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.qkv, self.out = nn.Embedding(16, 8), nn.Linear(8, 24), nn.Linear(8, 16)
    def forward(self, x):
        q, k, v = self.qkv(self.emb(x)).chunk(3, dim=-1)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1 if self.training else 0.0))
model = Block()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))
for step in range(8):
    logits = model(text[:, :-1])
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
    optimizer.step()
    scheduler.step()
model.eval()
with torch.no_grad():
    for _ in range(3):
        text = torch.cat([text, torch.multinomial(model(text)[:, -1].softmax(-1), 1)], dim=1)
""",
    "a policy by its gradient": """
from torch.distributions import Categorical
policy = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.6), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(dim=1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(4):
    logs, rewards = [], []
    for _ in range(6):
        choice = Categorical(policy(torch.randn(1, 4)))
        action = choice.sample()
        logs.append(choice.log_prob(action)), rewards.append(float(action))
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    optimizer.zero_grad()
    torch.cat([-log * r for log, r in zip(logs, returns)]).sum().backward()
    optimizer.step()
""",
    "actions by their value, with a target network": """
net, target = nn.Linear(4, 2), nn.Linear(4, 2)
target.load_state_dict(net.state_dict())
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, amsgrad=True)
for step in range(12):
    state, action, reward, after = torch.randn(8, 4), torch.randint(2, (8, 1)), torch.randn(8), torch.randn(8, 4)
    with torch.no_grad():
        wanted = reward + 0.9 * target(after).max(1).values
    loss = F.smooth_l1_loss(net(state).gather(1, action), wanted.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 100)
    optimizer.step()
    old, new = target.state_dict(), net.state_dict()
    target.load_state_dict({k: 0.99 * old[k] + 0.01 * new[k] for k in new})
""",
    "a student of a teacher": """
x, y = torch.randn(32, 8), torch.randint(3, (32,))
teacher, student = nn.Linear(8, 3).eval(), nn.Linear(8, 3)
optimizer = torch.optim.Adam(student.parameters())
for rows in torch.arange(32).split(8):
    with torch.no_grad():
        wanted = F.softmax(teacher(x[rows]) / 2, dim=-1)
    logits = student(x[rows])
    soft = F.kl_div(F.log_softmax(logits / 2, dim=-1), wanted, reduction="batchmean") * 4
    loss = 0.5 * soft + 0.5 * F.cross_entropy(logits, y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "strips of symbols with ctc": """
model = nn.LSTM(6, 8, bidirectional=True)
head, criterion = nn.Linear(16, 5), nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()])
for step in range(4):
    scores = head(model(torch.randn(12, 4, 6))[0]).log_softmax(2)
    lengths = torch.full((4,), 12, dtype=torch.long)
    optimizer.zero_grad()
    criterion(scores, torch.randint(1, 5, (4, 3)), lengths, torch.tensor([3, 2, 3, 1])).backward()
    optimizer.step()
""",
    "pairs and triplets": """
net = nn.Linear(6, 4)
optimizer = torch.optim.Adam(net.parameters())
triplet, cosine, contrast = nn.TripletMarginLoss(0.5), nn.CosineEmbeddingLoss(0.2), nn.MarginRankingLoss(0.1)
for step in range(4):
    a, b, c = (F.normalize(net(torch.randn(8, 6)), dim=1) for _ in range(3))
    sign = torch.randint(0, 2, (8,)) * 2 - 1
    loss = triplet(a, b, c) + cosine(a, b, sign) + contrast((a * b).sum(1), (a * c).sum(1), torch.ones(8))
    logits = a @ b.t() / 0.1
    loss = loss + (F.cross_entropy(logits, torch.arange(8)) + F.cross_entropy(logits.t(), torch.arange(8))) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "labels of which several hold, with weights": """
x, y = torch.randn(32, 6), (torch.rand(32, 3) > 0.8).float()
net = nn.Linear(6, 3)
weight = (y == 0).sum(0) / y.sum(0).clamp(min=1)
criterion = nn.BCEWithLogitsLoss(pos_weight=weight)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for rows in torch.arange(32).split(8):
    optimizer.zero_grad()
    criterion(net(x[rows]), y[rows]).backward()
    optimizer.step()
""",
    "rare classes drawn more often": """
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
y = torch.tensor([0] * 28 + [1] * 4)
weights = (1 / torch.bincount(y))[y]
loader = DataLoader(TensorDataset(torch.randn(32, 4), y), 8, sampler=WeightedRandomSampler(weights, len(weights)))
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for a, b in loader:
    optimizer.zero_grad()
    F.cross_entropy(net(a), b).backward()
    optimizer.step()
""",
    "counts and their rate": """
x, y = torch.randn(32, 4), torch.poisson(torch.full((32,), 2.0))
net = nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
for rows in torch.arange(32).split(8):
    rate, spread = net(x[rows]).unbind(1)
    loss = F.poisson_nll_loss(rate, y[rows], log_input=True) + F.gaussian_nll_loss(rate, y[rows], spread.exp())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "closures, and a schedule of cycles": """
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
net = nn.Linear(4, 1)
optimizer = torch.optim.LBFGS(net.parameters(), line_search_fn="strong_wolfe")
def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss
for step in range(3):
    optimizer.step(closure)
other = nn.Linear(4, 1)
optimizer = torch.optim.SGD(other.parameters(), lr=0.01, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
for epoch in range(4):
    for place, rows in enumerate(torch.arange(32).split(8)):
        optimizer.zero_grad()
        F.huber_loss(other(x[rows]), y[rows]).backward()
        optimizer.step()
        scheduler.step(epoch + place / 4)
""",
    "checkpointed layers and a hook that is removed": """
from torch.utils.checkpoint import checkpoint
first, second = nn.Sequential(nn.Linear(6, 8), nn.Tanh()), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
seen = []
for step in range(6):
    handle = second.register_forward_hook(lambda module, given, out: seen.append(out.detach().mean()))
    out = second(checkpoint(first, torch.randn(8, 6), use_reentrant=False))
    handle.remove()
    optimizer.zero_grad()
    F.mse_loss(out, torch.zeros(8, 1)).backward()
    optimizer.step()
""",
    "boxes found by a detector": """
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn
model = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=2, min_size=64, max_size=64)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=1e-4)
images = [torch.rand(3, 64, 64) for _ in range(2)]
targets = [{"boxes": torch.tensor([[8.0, 8.0, 40.0, 40.0]]), "labels": torch.tensor([1])} for _ in range(2)]
loss = sum(model(images, targets).values())
optimizer.zero_grad()
loss.backward()
optimizer.step()
""",
    "images from a folder's transforms": """
from torchvision.transforms import v2
import numpy as np
from PIL import Image
change = v2.Compose([v2.ToImage(), v2.RandomResizedCrop(16, antialias=True), v2.RandomHorizontalFlip(),
                     v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
images = [Image.fromarray(np.random.default_rng(i).integers(0, 256, (20, 20, 3), dtype=np.uint8)) for i in range(8)]
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
optimizer = torch.optim.Adam(net.parameters())
for step in range(2):
    batch = torch.stack([change(image) for image in images])
    optimizer.zero_grad()
    F.cross_entropy(net(batch), torch.arange(8) % 2).backward()
    optimizer.step()
""",
    "tables split and scaled on the training rows": """
import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
rng = np.random.default_rng(0)
x, y = rng.normal(3, 2, (60, 5)), np.arange(60) % 2
a, b, ya, yb = train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)
scaler = StandardScaler().fit(a)
a, b = (torch.from_numpy(scaler.transform(part)).float() for part in (a, b))
net = nn.Linear(5, 1)
optimizer = torch.optim.Adam(net.parameters())
for step in range(4):
    loss = F.binary_cross_entropy_with_logits(net(a).squeeze(1), torch.from_numpy(ya).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for rows, others in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
    assert not set(rows) & set(others)
""",
}
