"""A small training script in the programs' form, and for each dialect a line of it before and afterwards."""

SMALL = '''\
"""A perceptron on made-up numbers."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 16
learning_rate = 1e-2  # of Adam
epochs = 2
width = 8

# %% Data
torch.manual_seed(seed)
images = torch.randn(128, 6)
labels = (images.sum(1) > 0).long()
order = torch.randperm(128)
train, validation = order[:96], order[96:]
train_loader = DataLoader(TensorDataset(images[train], labels[train]), batch_size, shuffle=True)
validation_loader = DataLoader(TensorDataset(images[validation], labels[validation]), shuffle=False, batch_size=32)


# %% Model
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        weights = F.softmax(x @ self.mix.weight, dim=-1)
        return x + weights


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(6, width)
        self.mixer = Mixer()
        self.head = nn.Linear(width, 2)

    def forward(self, inputs):  # (batch, 6)
        hidden = F.relu(self.layer1(inputs))
        hidden = self.mixer(hidden)
        hidden = F.relu(hidden)
        return self.head(hidden)  # (batch, 2) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
step = 0
losses = []
for epoch in range(epochs):
    model.train()
    for inputs, targets in train_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits, targets)
        loss.backward()
        optimizer.step()
        step += 1
        losses.append(loss.item())

# %% Evaluation
model.eval()
correct, total = 0, 0
with torch.no_grad():
    for inputs, targets in validation_loader:
        logits = model(inputs.to(device))
        correct += (logits.argmax(-1) == targets).sum().item()
        total += len(targets)
metrics = {"accuracy": correct / total}
print(metrics)
'''

MADE = {
    "batch_names": (
        "logits = model(inputs)",
        r"(outputs|scores|preds|y_hat) = model\((xb|batch_x|features|examples)\)",
    ),
    "data_names": ("order = torch", r"(permutation|shuffled|perm) = torch"),
    "loop_names": ("step += 1", r"(iteration|global_step|n_steps|updates) \+= 1"),
    "model_names": ("class Net(", r"class (Model|Network|Predictor|MyModel)\("),
    "setting_names": ("width = 8", r"(d_model|embed_dim|dim) = 8"),
    "counting": ("step += 1", r"step = step \+ 1"),
    "dictionaries": ('{"accuracy": correct / total}', r"dict\(accuracy=correct / total\)"),
    "explicit_defaults": ("zero_grad()", r"zero_grad\(set_to_none=True\)"),
    "folded_steps": ("hidden = self.mixer(hidden)", r"hidden = self\.mixer\(F\.relu\(self\.layer1\(inputs\)\)\)"),
    "functional": ("F.softmax(x", r"torch\.softmax\(x"),
    "imports": ("import torch.nn.functional as F", r"from torch\.nn import functional as F"),
    "matrix_products": ("x @ self.mix.weight", r"torch\.matmul\(x, self\.mix\.weight\)"),
    "modes": ("model.eval()", r"model\.train\((mode=)?False\)"),
    "number_spelling": ("1e-2", r"learning_rate = 0\.01 "),
    "optimizer_import": ("torch.optim.Adam(", r"= (optim\.)?Adam\("),
    "returned_names": ("return x + weights", r"(\w+) = x \+ weights\n        return \1\n"),
    "super_named": ("super().__init__()", r"super\(Net, self\)\.__init__\(\)|nn\.Module\.__init__\(self\)"),
    "tuples_apart": ("train, validation =", r"train = order\[:96\]\nvalidation = order\[96:\]\n"),
    "type_hints": ("(self, inputs):", r'\(self, inputs: "?torch\.Tensor"?\) -> "?torch\.Tensor"?:  # \(batch, 6\)'),
    "unfolded_calls": ("F.relu(self.layer1(inputs))", r"hidden = self\.layer1\(inputs\)\n +hidden = F\.relu\(hidden\)"),
    "unpacked_batches": (
        "for inputs, targets in train",
        r"(inputs, targets = \w+\n|for \w+, \(inputs, targets\) in enumerate\()",
    ),
    "argparse_settings": ("width = 8", r'add_argument\("--width", type=int, default=8\)'),
    "criterion": ("F.cross_entropy(logits", r"loss = \w+\(logits, targets\)"),
    "data_function": (
        "images = torch",
        r"def \w+\(\):\n    images = torch(.*\n)+    return train_loader, validation_loader",
    ),
    "evaluation_function": ("correct, total = 0, 0", r"    return correct, total\n"),
    "loss_function": (
        "logits = model(inputs)\n",
        r"def \w+\(inputs, targets\):\n    logits = (.*\n)+    return loss\n",
    ),
    "model_builder": ("model = Net()", r"    return model, optimizer\n"),
    "settings_class": ("width = 8", r"    width: int = 8\n"),
    "settings_object": ("width = 8", r"    width=8,\n"),
    "train_step": ("optimizer.step()", r"    optimizer\.step\(\)\n    return loss\n"),
    "trainer_class": ("step += 1", r"self\.step \+= 1"),
    "comments_above": ("learning_rate = 1e-2  # of Adam", r"# of Adam\nlearning_rate = 1e-2\n"),
    "definition_order": ("class Mixer", r"class Net(.*\n)+class Mixer"),
    "exploded_calls": ("batch_size, shuffle=True)", r"    batch_size,\n    shuffle=True,\n\)"),
    "keyword_order": ("shuffle=False, batch_size=32", r"batch_size=32, shuffle=False"),
    "method_order": ("def forward(self, x)", r"class Mixer\(nn\.Module\):\n    def forward"),
    "quotes": ('device = "cpu"', r"device = 'cpu'"),
    "settings_order": ("epochs = 2\nwidth = 8\n", r"width = 8\n(.*\n)*epochs = 2\n"),
}
"""Dialect -> (what stands in SMALL, what stands there instead)."""
