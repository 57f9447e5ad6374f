"""Hand-ins as people who never saw the grader write them: what they may do, what they may not, and what they are told."""

from dataclasses import replace

import pytest

import bugzoo.grading.grade as room
from bugzoo.grading import checks, each_step
from bugzoo.grading.answers import filled
from bugzoo.grading.exercises import load
from bugzoo.grading.model import Result
from bugzoo.grading.texts import healthy_text
from tests.grading.attempt import attempt, failed, must_fail, must_pass
from tests.grading.tricks import BACK, BROKEN, MENDED, STEP, after, apply

HANDED = "        for parameter, gradient in zip(model.parameters(), gradients):\n"
ASKED = f"        gradients = torch.autograd.grad(loss, list(model.parameters()))\n{HANDED}"
FUNCTIONAL = """
from torch.func import functional_call, grad_and_value

def objective(named, inputs, targets):
    return F.cross_entropy(functional_call(model, named, (inputs,)), targets)

step, losses = 0, []
for epoch in range(epochs):
    for inputs, targets in train_loader:
        gradients, loss = grad_and_value(objective)(dict(model.named_parameters()), inputs, targets)
        for name, parameter in model.named_parameters():
            parameter.grad = gradients[name].detach()
        optimizer.step()
        step += 1
        losses.append(loss.item())
"""
ON_COPIES = FUNCTIONAL.replace("dict(model.named_parameters())", "copies()").replace(
    "step, losses",
    "copies = lambda: {name: value.detach().clone() for name, value in model.named_parameters()}\nstep, losses",
)
OWN_WEIGHTS = """
from torch.func import functional_call, grad_and_value

step, losses = 0, []
weights = {name: value.detach().clone() for name, value in model.named_parameters()}
for epoch in range(epochs):
    for inputs, targets in train_loader:
        objective = lambda named: F.cross_entropy(functional_call(model, named, (inputs,)), targets)
        gradients, loss = grad_and_value(objective)(weights)
        weights = {name: value - 0.1 * gradients[name] for name, value in weights.items()}
        step += 1
        losses.append(loss.item())
model.load_state_dict(weights)
"""
DEAF = """
from torch.optim import optimizer as place
place._global_optimizer_pre_hooks.clear()
place._global_optimizer_post_hooks.clear()
"""


def trained_by(text: str) -> str:
    head, rest = BROKEN.split("# %% Training", 1)
    return f"{head}# %% Training\n{text}\n# %% Evaluation{rest.split('# %% Evaluation', 1)[1]}"


def hand_in(name: str, *edits: tuple[str, str], source: str = "", seeds: tuple[int, ...] = (0,)) -> Result:
    exercise = load(name)
    text = apply(source or exercise.handed_out, edits)
    return room.grade_exercise(name, text, {"cause": filled(exercise)["cause"]}, seeds=seeds)


@pytest.mark.sampled(0)
def test_gradients_that_are_asked_for_and_assigned_are_a_repair():
    must_pass(BROKEN.replace(BACK, f"{ASKED}            parameter.grad = gradient\n"))


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_and_no_repair_where_they_are_added_to_the_old_ones():
    added = "            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient\n"
    assert "fresh_gradient" in failed(must_fail(BROKEN.replace(BACK, ASKED + added)))


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("source", "said"),
    [
        (trained_by(ON_COPIES), "neither loss.backward() nor torch.autograd.grad()"),
        (trained_by(OWN_WEIGHTS), "no step of a torch optimizer"),
        (MENDED + "network = model\ndel model\n", "no torch module named `model`"),
    ],
    ids=["gradients of copies", "weights of its own", "another name"],
)
def test_what_the_grader_cannot_see_is_not_called_wrong(source, said):
    result = attempt(source)
    assert result.status == "cannot be graded" and result.share == 0
    assert said in result.checks[0].saw and result.checks[0].expected


@pytest.mark.slow
def test_who_takes_the_watch_away_is_wrong_all_the_same():
    result = must_fail(after("Settings", DEAF)(MENDED))
    assert result.status == "wrong" and {"tools", "steps"} & failed(result)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_the_seed_may_have_a_type():
    must_pass(MENDED.replace("seed = 0\n", "seed: int = 0\n"))


def test_the_seed_may_have_no_other_name():
    renamed = attempt(MENDED.replace("seed = 0\n", "number = 0\n").replace("manual_seed(seed)", "manual_seed(number)"))
    assert renamed.status == "cannot be graded" and "`seed = 0`" in renamed.message and "bugzoo" not in renamed.message


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_softmax_in_other_words_is_still_one():
    result = hand_in("04_flat_loss", ("F.softmax(logits, dim=-1)", "logits.exp() / logits.exp().sum(-1, keepdim=True)"))
    assert failed(result) == {"training loss", "overfit_one_batch", "gradient"} and result.points == 0


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize(
    "loss",
    [
        "F.cross_entropy(logits, torch.eye(10)[targets])",
        "F.cross_entropy(logits, targets, reduction='sum') / 64",
        "-torch.distributions.Categorical(logits=logits).log_prob(targets).mean()",
        "F.kl_div(F.log_softmax(logits, -1), F.one_hot(targets, 10).float(), reduction='batchmean')",
    ],
)
def test_a_loss_may_be_written_in_many_ways(loss):
    result = hand_in("04_flat_loss", ("F.cross_entropy(F.softmax(logits, dim=-1), targets)", loss))
    assert result.passed, str(result)


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "square",
    [
        "(F.softmax(logits, -1) - F.one_hot(targets, 10)).square().sum()",
        "F.mse_loss(F.softmax(logits, -1), F.one_hot(targets, 10).float())",
    ],
)
def test_probabilities_as_targets_are_read_as_classes(square):
    """Another loss is judged by what it does, not called foreign data."""
    result = hand_in("04_flat_loss", ("F.cross_entropy(F.softmax(logits, dim=-1), targets)", square))
    assert "data" not in failed(result)


LOOKED_UP = """
known = load_digits()
pictures, truth = torch.tensor(known.data, dtype=torch.float32) / 16, torch.tensor(known.target)
model.forward = lambda inputs: F.one_hot(truth[torch.cdist(inputs, pictures).argmin(1)], 10).float() * 9
"""
NEIGHBOURS = """
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = model.layer1, model.layer2, model.head

    def forward(self, inputs):
        near = torch.cdist(inputs, images[train]).topk(3, largest=False).indices
        return F.one_hot(labels[train][near], 10).sum(1) * 1.5


model = Other()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("more", "seen_by"), [(LOOKED_UP, "answers"), (NEIGHBOURS, "weights")])
def test_a_model_speaks_for_itself(more, seen_by):
    assert seen_by in failed(must_fail(after("Evaluation", more)(MENDED)))


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_layers_may_have_other_names():
    named = MENDED.replace("layer1", "first").replace("layer2", "second").replace("self.head", "self.last")
    must_pass(named)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_images_that_were_kept_back_are_no_training_data_also_when_they_are_moved():
    name = "31_slow_learner"
    text = healthy_text(load(name))
    pairs = "TensorDataset(images[train], labels[train])"
    kept_back = hand_in(name, (pairs, pairs.replace("train", "-1150:")), source=text)
    assert failed(kept_back) == {"data", "train_validation_overlap"}, str(kept_back)
    assert hand_in(name, ("normalise(augment(inputs))", "normalise(inputs)"), source=text).status in ("passed", "wrong")


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_language_model_reports_what_it_reaches():
    name = "35_no_progress"
    text = healthy_text(load(name))
    lied = hand_in(name, ("print(metrics)", 'metrics = {"loss": 1.0, "accuracy": 0.9}'), source=text)
    assert failed(lied) == {"report", "reported_metric"}, str(lied)


LOOKING = """        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(-1) == y).sum().item() for x, y in validation_loader)
    print(epoch, right / len(validation))
"""


@pytest.mark.slow
@pytest.mark.sampled(0)
def test_to_look_at_the_validation_data_changes_no_behaviour():
    name, line = "17_second_opinion", "        losses.append(loss.item())\n"
    assert hand_in(name, (line, LOOKING)).passed
    clip = "        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n"
    assert failed(hand_in(name, (line, LOOKING), (STEP, clip + STEP))) == {"agreement", "gradient"}


@pytest.mark.slow
def test_the_training_loss_is_no_check_that_cannot_fail(monkeypatch):
    monkeypatch.setattr(checks, "FALL", 100.0)
    monkeypatch.setattr("bugzoo.diagnostics.overfit_one_batch.plateau", lambda numbers: False)  # it sees the floor too
    monkeypatch.setattr(each_step, "checks", lambda *_, **__: [])  # which sees it at every step
    result = hand_in("04_flat_loss", ("F.softmax(logits, dim=-1)", "logits.exp() / logits.exp().sum(-1, keepdim=True)"))
    assert result.passed and replace(result, checks=[]).points == 5


def test_a_helper_outside_the_program_is_found_missing_with_the_reason():
    result = must_fail(MENDED.replace("F.cross_entropy(logits, targets)\n", "my_loss(logits, targets)\n"))
    assert result.status == "your code raised" and "%%program" in result.checks[0].expected


@pytest.mark.slow
@pytest.mark.sampled(0)
def test_a_model_in_double_precision_is_asked_in_it():
    double = MENDED.replace("Net().to(device)", "Net().to(device).double()").replace(
        "model(inputs)", "model(inputs.double())"
    )
    must_pass(double)


TORCHS_OWN = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, mask):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, key_padding_mask=~mask[:, 0, 0], need_weights=False)[0]
        return x + self.feed_forward(self.norm2(x))


class Net(nn.Module):"""


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_another_attention_with_other_names_is_judged_by_its_own_answers_also_with_two_classes():
    """Half of the answers are right by chance there: a model that lost its skill still has those."""
    result = hand_in("28_mixed_lengths", ("class Net(nn.Module):", TORCHS_OWN.strip()), seeds=(0, 1))
    assert result.passed, str(result)
