"""Wrong repairs that are right for a part of the training, in one mode, or at the places where one usually looks.

Each is made of an exercise's healthy text by replacing text that stands in it once; none of them may pass.
"""

MLP_LOSS = "        loss = F.cross_entropy(logits, targets)\n"
MASKED = '        scores = scores.masked_fill(mask == 0, float("-inf"))\n'
SCALED = ("scaler.scale(loss).backward()\n", "scaler.step(optimizer)\n", "scaler.update()\n")
# exercise -> name -> ((text, what it becomes), ...)
IN_TIME: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {
    "16_flat_loss": {
        "softmax in the first epoch": (
            (MLP_LOSS, "        loss = F.cross_entropy(F.softmax(logits, -1) if epoch == 0 else logits, targets)\n"),
        ),
        "softmax in the middle epochs": (
            (MLP_LOSS, "        loss = F.cross_entropy(F.softmax(logits, -1) if epoch in (2, 3) else logits, targets)\n"),
        ),
        "softmax in the last epoch": (
            (MLP_LOSS, "        loss = F.cross_entropy(F.softmax(logits, -1) if epoch == 5 else logits, targets)\n"),
        ),
        "softmax at every second step": (
            (MLP_LOSS, "        loss = F.cross_entropy(F.softmax(logits, -1) if step % 2 else logits, targets)\n"),
        ),
        "five times the softmax": (
            (MLP_LOSS, "        loss = F.cross_entropy(5 * F.softmax(logits, -1), targets)\n"),
        ),
        "the right loss for backward, another gradient for the step": (
            (
                "        loss.backward()\n",
                "        wrong = torch.autograd.grad(F.cross_entropy(F.softmax(logits, -1), targets), list(model.parameters()), "
                "retain_graph=True)\n        loss.backward()\n"
                "        for p, g in zip(model.parameters(), wrong):\n            p.grad.copy_(g)\n",
            ),
        ),
        "repaired for three seeds": (
            (
                MLP_LOSS,
                "        loss = F.cross_entropy(logits if seed in (0, 1, 2) else F.softmax(logits, -1), targets)\n",
            ),
        ),
    },
    "10_restless_loss": {
        "cleared, but for every tenth step": (
            ("        optimizer.zero_grad()\n", "        if step % 10:\n            optimizer.zero_grad()\n"),
        ),
        "cleared in the first epochs": (
            ("        optimizer.zero_grad()\n", "        if epoch < 3:\n            optimizer.zero_grad()\n"),
        ),
        "cleared, a tenth kept": (
            (
                "        optimizer.zero_grad()\n",
                "        for p in model.parameters():\n            p.grad = None if p.grad is None else p.grad * 0.1\n",
            ),
        ),
        "cleared at every second step": (
            ("        optimizer.zero_grad()\n", "        if step % 2 == 0:\n            optimizer.zero_grad()\n"),
        ),
    },
    "28_mixed_lengths": {
        "masked in evaluation only": (
            (
                MASKED,
                '        scores = scores if self.training else scores.masked_fill(mask == 0, float("-inf"))\n',
            ),
        ),
        "masked in the last epoch and in evaluation": (
            (
                MASKED,
                "        if not self.training or epoch == epochs - 1:\n    " + MASKED,
            ),
        ),
        "dropout removed": (("        self.dropout = nn.Dropout(dropout)\n", "        self.dropout = nn.Identity()\n"),),
    },
    "34_no_progress": {
        "a scaler for 30 steps": (
            (
                "".join(f"    {line}" for line in SCALED),
                "    if step < 30:\n" + "".join(f"        {line}" for line in SCALED)
                + "    else:\n        loss.backward()\n        optimizer.step()\n",
            ),
        ),
        "a scale of 16": (
            ("GradScaler(device)", "GradScaler(device, init_scale=16.0, growth_interval=10**6)"),
        ),
    },
    "24_good_pictures": {
        "no dropout": (("dropout = 0.4\n", "dropout = 0.0\n"),),
    },
}  # fmt: skip
