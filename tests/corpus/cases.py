"""Scripts in other styles, and small edits that break them. `cause` is what checkup must name first; `at`: a part of the
line that it must point at."""

from .case import EVAL, FROZEN, LEAK, RATE, SCRIPTS, SOFTMAX, STALE, Case
from .more import MORE


def healthy() -> list[str]:
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


_FREEZE = "for w in list({net}.parameters())[:-2]:\n    w.requires_grad_(False)\n"

BROKEN = [
    *MORE,
    Case("epoch_functions", "        opt.zero_grad()\n", "", STALE, "opt.step()"),
    Case("trainer_class", "        self.opt.zero_grad(set_to_none=True)\n", "", STALE, "self.opt.step()"),
    Case("tensor_regression", "        opt.zero_grad()\n", "", STALE, "opt.step()"),
    Case("dict_batches", "        optim.zero_grad()\n", "", STALE, "optim.step()"),
    Case("multilabel", "        student.zero_grad()\n", "", STALE, "opt.step()"),
    Case("seq2seq", "    opt.zero_grad()\n", "", STALE, "opt.step()"),
    Case("packed_lstm", "        opt.zero_grad()\n", "", STALE, "opt.step()"),
    Case("gpt_tied", "    optimizer.zero_grad(set_to_none=True)\n", "", STALE, "optimizer.step()"),
    Case("bfloat16", "        opt.zero_grad()\n", "", STALE, "opt.step()"),
    Case("vae", "        opt.zero_grad()\n", "", STALE, "opt.step()"),
    Case("gan", "    opt_d.zero_grad()\n", "", STALE, "opt_"),
    Case("accumulation", "            adam.zero_grad()\n", "", "loop/step_every_n_never_zeroed", "adam.step()"),
    Case("lbfgs_closure", "    solver.zero_grad()\n", "", STALE),
    Case("epoch_functions", "criterion(out, y)", "criterion(out.softmax(1), y)", SOFTMAX, "softmax"),
    Case("epoch_functions", "return self.fc(self.drop(self.features(x).flatten(1)))",
         "return F.softmax(self.fc(self.drop(self.features(x).flatten(1))), dim=1)", SOFTMAX, "softmax"),
    Case("trainer_class", "self.loss_fn(scores, yb)", "self.loss_fn(torch.softmax(scores, -1), yb)", SOFTMAX, "softmax"),
    Case("trainer_class", "nn.Linear(64, 3))", "nn.Linear(64, 3), nn.Softmax(dim=-1))", SOFTMAX, "Softmax"),
    Case("accumulation", "ce(clf(xb), yb)", "ce(clf(xb).softmax(-1), yb)", SOFTMAX, "softmax"),
    Case("gpt_tied", "F.cross_entropy(logits.view(-1, logits.size(-1))",
         "F.cross_entropy(logits.softmax(-1).view(-1, logits.size(-1))", SOFTMAX, "softmax"),
    Case("dict_batches", "F.cross_entropy(logits, labels)", "F.cross_entropy(logits.softmax(-1), labels)", SOFTMAX, "softmax"),
    Case("packed_lstm", "return self.lin(h[-1])", "return torch.softmax(self.lin(h[-1]), 1)", SOFTMAX, "softmax"),
    Case("multilabel", "criterion(student(X[rows]), Y[rows])", "criterion(student(X[rows]).sigmoid(), Y[rows])",
         "loss/sigmoid_into_bce_with_logits", "sigmoid"),
    Case("epoch_functions", "    criterion = nn.Cross",
         "    for w in list(net.parameters())[:-2]:\n        w.requires_grad = False\n    criterion = nn.Cross", FROZEN, "requires_grad"),
    Case("gpt_tied", "optimizer = torch", _FREEZE.format(net="gpt") + "optimizer = torch", FROZEN, "requires_grad_"),
    Case("packed_lstm", "opt = torch", _FREEZE.format(net="net") + "opt = torch", FROZEN, "requires_grad_"),
    Case("dict_batches", "optim = torch", _FREEZE.format(net="model") + "optim = torch", FROZEN, "requires_grad_"),
    Case("tensor_regression", "opt = torch", _FREEZE.format(net="regressor") + "opt = torch", FROZEN, "requires_grad_"),
    Case("frozen_backbone", 'print("pretraining", run(first, first.parameters(), imgs[low], lab[low], 4))', "", FROZEN, "requires_grad_"),
    Case("packed_lstm", "torch.optim.Adam(net.parameters()", "torch.optim.Adam(net.lin.parameters()",
         "optimizer/some_parameters_left_out", "Adam"),
    Case("epoch_functions", "    net.eval()\n", "", EVAL, "evaluate"),
    Case("dict_batches", "model.eval()\n", "", EVAL, "no_grad"),
    Case("trainer_class", "        self.network.eval()\n", "", EVAL, "inference_mode"),
    Case("epoch_functions", "    net.train()\n", "", "modes/train_mode_not_restored"),
    Case("trainer_class", "0.2, self.training", "0.2", "modes/dropout_in_functional_form"),
    Case("tensor_regression", "curve.append(objective.item())", "curve.append(objective)", LEAK, "append"),
    Case("epoch_functions", "running += batch_loss.item()", "running += batch_loss", LEAK, "running +="),
    Case("trainer_class", "float(cost.detach())", "cost", LEAK, "append"),
    Case("epoch_functions", "lr=0.05", "lr=50.0", RATE, "lr=50"),
    Case("packed_lstm", "lr=5e-3", "lr=5.0", RATE, "lr=5"),
    Case("dict_batches", "lr=2e-3", "lr=3.0", RATE, "lr=3"),
    Case("gpt_tied", "lr=3e-3", "lr=3.0", RATE, "lr=3"),
    Case("seq2seq", "lr=2e-3", "lr=2.0", RATE, "lr=2"),
    Case("gpt_tied", "is_causal=True", "is_causal=False", "attention/causal_mask_missing", "scaled_dot"),
    Case("seq2seq", "tgt_mask=mask", "tgt_mask=None", "attention/causal_mask_missing"),
    Case("packed_lstm", "packed = pack_padded_sequence(self.emb(x), n, batch_first=True, enforce_sorted=False)",
         "packed = self.emb(x)", "recurrent/padding_read_as_text"),
    Case("epoch_functions", "Digits(xtr, ytr)", "Digits(xtr, __import__('numpy').random.default_rng(0).permutation(ytr))",
         "data/labels_out_of_sync"),
    Case("bfloat16", "for _ in range(4):", "ys = ys[torch.randperm(len(ys))]\nfor _ in range(4):", "data/labels_out_of_sync"),
    Case("bfloat16", "dtype=torch.bfloat16", "dtype=torch.float16", "precision/no_grad_scaler", "ce.backward()"),
    Case("tensor_regression", "objective.backward()", "objective = objective + 0 * (prediction - prediction).sqrt().sum()\n"
         "        objective.backward()", "numerics/sqrt_at_zero", "sqrt"),
    Case("vae", "torch.randn_like(mu) * (0.5 * lv).exp()", "torch.randn_like(mu) * (0.5 * lv).exp() + (mu - mu).log()",
         "numerics/log_at_step", ".log()"),
    Case("epoch_functions", "batch_loss = criterion(out, y)", "batch_loss = -criterion(out, y)", "loss/sign_flipped", "batch_loss ="),
    Case("packed_lstm", "h[-1])", "h[-1].detach())", "graph/detached_activation"),
    Case("tensor_regression", "objective.backward()", "objective.backward(); objective.backward()", "graph/backward_twice",
         "objective.backward()"),
    Case("trainer_class", "cost.backward()", "cost.backward(); self.opt.zero_grad()", "loop/gradients_wiped", "self.opt.step()"),
    Case("multilabel", "lr=3e-3", "lr=0.0", "optimizer/lr_too_low", "lr=0"),
    Case("bfloat16", "lr=2e-3", "lr=1e-9", "optimizer/lr_too_low", "lr=1e-9"),
]  # fmt: skip
"""Most lines of `at` are of the place where a person would repair it."""

TRAPS = [
    Case("epoch_functions", "criterion(out, y)", "criterion(out.log_softmax(1), y)", "none/log_softmax"),
    Case("epoch_functions", "nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(label_smoothing=0.3)", "none/label_smoothing"),
    Case("bfloat16", "net.eval()\n", "", "none/no_layer_cares"),
    Case("fp16_scaler", "GradScaler(device)", "GradScaler(device, init_scale=2.0**40)", "none/skips_at_first"),
    Case("frozen_backbone", "first = nn.Sequential(body", "body.load_state_dict({k: v + v.abs() * v.sign() ** 2 * 0.3 for k, v in "
         "body.state_dict().items()})\nfirst = nn.Sequential(body", "none/loaded"),
    Case("gpt_tied", "nn.init.normal_(self.wte.weight, std=0.02)", "pass", "none/confident_tied_head"),
    Case("tensor_regression", "opt.zero_grad()\n        prediction", "regressor.zero_grad()\n        prediction", "none/model_zero_grad"),
    Case("multilabel", "student.zero_grad()", "for p in student.parameters(): p.grad = None", "none/cleared_by_hand"),
]  # fmt: skip
"""Look wrong, are right."""
