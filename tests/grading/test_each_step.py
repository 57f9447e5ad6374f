"""Steps drawn after the hand-in are repeated by the healthy program, so that what is wrong only at times is seen."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from bugzoo import programs
from bugzoo.grading import own_model, reference
from bugzoo.grading.baseline import twin
from bugzoo.grading.data_order import check, repeats, shares
from bugzoo.grading.drawing import DRAWN, draw, other_seed, stretches
from bugzoo.grading.each_step import checks
from bugzoo.grading.grade import grade
from bugzoo.grading.healthy_step import BATCH, body
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.grading.other_dropout import DRAWS, Drawn, without_dropout
from bugzoo.grading.repeated_steps import compared
from bugzoo.grading.runs import job_of
from bugzoo.running import run_worker
from bugzoo.scenario import Scenario
from bugzoo.watching.steps import read

SOFTMAX = Scenario("mlp", ("loss/double_softmax",))
FETCH = "inputs, targets = inputs.to(device), targets.to(device)\n        optimizer.zero_grad()\n"
LOSS = "loss = F.cross_entropy(logits, targets)"
END = "# %% Evaluation\n"
NOISE = "[one.grad.add_(torch.randn_like(one), alpha=1e-3) for one in model.parameters()]"


def kept(text: str, case: Scenario, number: int = 3):
    """The run of a text with the steps that are drawn from `number`."""
    job = replace(job_of(text, case, 60.0, isolated=False), after=None, after_args={}, predict=())
    return run_worker(replace(job, keep_steps=draw(number, case.seed, twin(case).steps)))


def failed(text: str, case: Scenario) -> dict[str, str]:
    return {failure.name: failure.saw for failure in checks(kept(text, case), case, twin(case)) if not failure.passed}


def healthy(case: Scenario, *edits: tuple[str, str]) -> str:
    text = case.healthy().source
    for before, after in edits:
        assert text.count(before) == 1, f"{before!r} no longer fits"
        text = text.replace(before, after)
    return text


def test_the_steps_are_drawn_again_by_the_same_number_only():
    first, second = draw(5, 0, 300), draw(6, 0, 300)
    assert first == draw(5, 0, 300) != second and first != draw(5, 1, 300)
    assert sum(first) == sum(second) == DRAWN and sum(first[200:]) >= DRAWN // 3
    assert not any(draw(seed, 0, 300)[-1] for seed in range(50)), "no step begins after the last one"
    counts = [sum(draw(seed, 0, 60)[step] for seed in range(400)) for step in range(59)]
    assert min(counts) > 400 * DRAWN / 59 / 3, "each step has its chance"
    assert sum(draw(1, 0, 10)) == 9 and draw(1, 0, 1) == b"\0"


@pytest.mark.parametrize("program", programs.names())
def test_every_program_has_a_step_that_can_be_repeated(program):
    case = Scenario(program)
    fetching, rest = body(reference.healthy_text(case), program)
    assert not set(BATCH) & {name for name in rest.co_names if name == "train_loader"}
    assert "backward" in rest.co_names and "backward" not in fetching.co_names


@pytest.mark.slow
def test_right_repairs_in_other_words_are_equal_step_by_step():
    by_hand = "loss = (torch.logsumexp(logits, 1) - logits.gather(1, targets[:, None]).squeeze(1)).mean()"
    run = kept(healthy(SOFTMAX, (LOSS, by_hand)), SOFTMAX)
    distances = compared(run, SOFTMAX, twin(SOFTMAX))
    assert len(distances.gradient) == DRAWN and 0 < max(distances.gradient.values()) < 1e-4
    assert max(distances.update.values()) < 1e-4 and not distances.skipped
    assert all(check.passed for check in checks(run, SOFTMAX, twin(SOFTMAX)))


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("edit", "name"),
    [
        ((LOSS, LOSS.replace("logits,", "F.softmax(logits, dim=-1) if epoch in (2, 3) else logits,")), "gradient"),
        ((LOSS, LOSS.replace("logits,", "F.softmax(logits, dim=-1) if step % 7 == 3 else logits,")), "gradient"),
        (("optimizer.step()", "optimizer.param_groups[0]['lr'] = 3e-3 if epoch else 1e-3\n        optimizer.step()"), "update"),
        (("optimizer.step()", "optimizer.step()\n        [p.data.mul_(0.999) for p in model.parameters()]"), "update"),
        (("optimizer.zero_grad()", "optimizer.zero_grad() if step % 4 else None"), "gradient"),
        ((FETCH, FETCH + "        if epoch == 3:\n            inputs, targets = images[-32:], labels[-32:]\n"), "data at steps"),
        (("batch_size, shuffle=True)", "batch_size)"), "order"),
        ((END, f"[p.data.mul_(1.01) for p in model.parameters()]\n{END}"), "steps"),
        ((END, f"model(images[:8])\n[p.data.mul_(1.01) for p in model.parameters()]\n{END}"), "steps"),
    ],
    ids=[
        "two epochs", "every seventh", "rate", "weights by hand", "not cleared", "held-out data", "not shuffled",
        "weights after the last step", "after a further pass",
    ],
)  # fmt: skip
def test_what_is_wrong_at_some_steps_is_seen(edit, name):
    assert name in failed(healthy(SOFTMAX, edit), SOFTMAX)


@pytest.mark.slow
def test_weights_may_change_after_the_last_step_where_the_healthy_program_loads_those_of_its_best_epoch():
    case = Scenario("word_lines", ("resume/last_instead_of_best",))
    by_number = "for name, value in model.named_parameters():\n    value.data.copy_(best_weights[name])\n"
    run = kept(healthy(case, ("model.load_state_dict(best_weights)\n", by_number)), case)
    assert compared(run, case, twin(case)).afterwards > 0.02, "the best epoch is not the last one"
    assert not [check for check in checks(run, case, twin(case)) if not check.passed]


@pytest.mark.slow
def test_frozen_layers_and_a_new_head_in_training_are_the_healthy_ones():
    """The head is another one after step 192, and the backbone is frozen until step 292."""
    case = Scenario("finetune", ("numerics/log_at_step",), size="tiny")
    job = replace(job_of(case.healthy().source, case, 60.0, isolated=False), after=None, after_args={}, predict=())
    job = replace(job, keep_steps=bytes(191 <= step <= 196 or 290 <= step <= 296 for step in range(1, 293 + 25)))
    run = run_worker(job)
    distances = compared(run, case, twin(case))
    assert 191 in distances.update and 192 not in distances.update and max(distances.update.values()) < 1e-4
    checked = own_model.checks(job, run, case, twin(case), run_worker)
    assert [check.name for check in checked] == ["gradient"] and checked[0].passed, str(checked)


@pytest.mark.slow
def test_dropout_in_another_order_passes_and_less_of_it_does_not():
    case = Scenario("checkpointed_mlp", ("loop/stale_gradients",))
    assert "dropout" in case.settings or "dropout = " in case.source
    before = "        logits = model(inputs)\n        loss = F.cross_entropy(logits, targets)\n        loss.backward()"
    twice = before.replace(
        "        logits = model(inputs)\n", "        model(inputs)\n        logits = model(inputs)\n"
    )
    run = kept(healthy(case, (before, twice)), case)
    distances = compared(run, case, twin(case))
    assert min(distances.gradient.values()) > 0.1, "every mask is another one"
    assert all(check.passed for check in checks(run, case, twin(case)))
    for edit, word in [
        (("dropout = 0.2", "dropout = 0.0"), "without dropout"),
        (("dropout = 0.2", "dropout = 0.04"), "less random"),
        (
            ("        optimizer.step()", f"        {NOISE}\n        optimizer.step()"),
            "drops what it drops in the healthy",
        ),
        (
            (before, before.replace("        logits", "        model.train(step % 5 > 0)\n        logits", 1)),
            "without dropout",
        ),
    ]:
        assert word in failed(healthy(case, edit), case)["gradient"]


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.AlphaDropout(0.5), nn.LSTM(4, 4, 2, dropout=0.5)], ids=str)
def test_a_model_without_its_dropout_for_a_while(layer):
    inputs = torch.randn(6, 3, 4)
    with without_dropout(layer):
        assert torch.equal(*[torch.as_tensor(layer(inputs)[0]) for _ in range(2)])
        assert torch.equal(F.dropout(inputs), inputs)
    assert not torch.equal(*[torch.as_tensor(layer(inputs)[0]) for _ in range(2)])
    assert not torch.equal(F.dropout(inputs), inputs)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_numbers_drawn_after_the_forward_pass_change_nothing():
    case = Scenario("checkpointed_mlp", ("loop/stale_gradients",))
    loss = "        loss = F.cross_entropy(logits, targets)\n        loss.backward()"
    twice = loss.replace("        loss =", "        torch.rand(1)\n        loss =")
    assert not failed(healthy(case, (loss, twice)), case)


@pytest.mark.slow
def test_a_layer_without_a_gradient_is_seen_among_dropout():
    case = Scenario("digits_cnn", ("freezing/frozen_layers",))
    failures = failed(handed_out_text(case), case)
    assert "on average 0%" in failures["gradient"]


def handed_out_text(case: Scenario) -> str:
    return case.source


def test_the_draws_judge_by_distance_length_and_spread():
    usual = [0.3, -0.3] * (DRAWS * 6)
    good = Drawn({1: 1.0, 2: 1.1}, {"w": [0.2, -0.1]}, {"w": usual})
    assert good.judged()[0] and not replace(good, distance={1: 1.0, 2: 3.0}).judged()[0]
    assert not replace(good, distance={1: 0.3, 2: 0.4}).judged()[0]
    assert not replace(good, length={"w": [-1.0] * 24}).judged()[0]
    assert not replace(good, calm=[2]).judged()[0] and not replace(good, same={1: 0.1}).judged()[0]
    assert replace(good, each={"w": [1.0, 1.5]}).judged()[0] and not replace(good, each={"w": [2.0, 1.9]}).judged()[0]
    assert Drawn().judged() is None


@pytest.mark.slow
def test_augmentation_that_was_taken_out_is_seen():
    case = Scenario("digits_cnn", ("freezing/frozen_layers",))
    assert set(failed(healthy(case, ("normalise(augment(inputs))", "normalise(inputs)")), case)) == {"order"}


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_augmentation_that_stays_is_equal():
    case = Scenario("digits_cnn", ("freezing/frozen_layers",))
    assert not failed(healthy(case), case)


def test_a_run_that_leaves_no_step_is_wrong():
    run = kept(SOFTMAX.healthy().source, SOFTMAX)
    bare = replace(run, arrays={name: value for name, value in run.arrays.items() if not name.startswith("steps")})
    (only,) = checks(bare, SOFTMAX, twin(SOFTMAX))
    assert only.name == "steps" and only.status == "wrong"


@pytest.mark.slow
def test_renamed_layers_are_told_by_their_order_and_another_model_is_not_graded():
    assert not failed(healthy(SOFTMAX).replace("layer2", "middle"), SOFTMAX)
    wider = healthy(SOFTMAX, ("self.head = nn.Linear(", "self.more = nn.Linear(3, 3)\n        self.head = nn.Linear("))
    (check,) = checks(kept(wider, SOFTMAX), SOFTMAX, twin(SOFTMAX))
    assert check.status == "cannot be graded" and "other shapes" in check.saw


@pytest.mark.slow
def test_steps_that_hide_their_batch_are_not_passed_over():
    hidden = "logits = model(inputs)\n        loss ="
    peek = "model(inputs[:1]) if epoch in (2, 3) else None\n        " + hidden
    (check,) = checks(kept(healthy(SOFTMAX, (hidden, peek)), SOFTMAX), SOFTMAX, twin(SOFTMAX))
    assert check.status == "cannot be graded" and "of 24 drawn steps" in check.saw


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("epochs", ["(2, 3)", "(5,)"], ids=["in the middle", "at the end"])
def test_a_forward_pass_that_calls_no_hook_hides_no_step(epochs):
    whole = "logits = model(inputs)\n        loss = F.cross_entropy(logits"
    hidden = f"hidden = epoch in {epochs}\n        logits = model.forward(inputs) if hidden else model(inputs)\n"
    hidden += "        loss = F.cross_entropy(F.softmax(logits, dim=-1) if hidden else logits"
    (check,) = checks(kept(healthy(SOFTMAX, (whole, hidden)), SOFTMAX), SOFTMAX, twin(SOFTMAX))
    assert check.status == "cannot be graded" and "was not seen" in check.saw


@pytest.mark.slow
def test_a_model_that_is_wrong_in_eval_mode_alone_is_seen_during_the_training():
    edit = ("return self.head(hidden)", "return self.head(hidden) if self.training else -self.head(hidden)")
    assert set(failed(healthy(SOFTMAX, edit), SOFTMAX)) == {"answers at steps"}


def test_one_more_seed_is_drawn_and_two_whole_epochs_of_it():
    assert other_seed(4, (0, 1, 2)) == other_seed(4, (0, 1, 2)) >= 3
    assert len({other_seed(number, (0, 1, 2)) for number in range(50)}) > 45
    for number in range(20):
        chosen = [step for step, flag in enumerate(stretches(number, 216, 36)) if flag]
        epochs = sorted({step // 36 for step in chosen})
        assert len(epochs) == 2 and set(chosen) | {215} == {e * 36 + s for e in epochs for s in range(36)} | {215}
    assert sum(stretches(1, 120, None)) in (79, 80) and sum(stretches(1, 900, 300)) == 80


@pytest.mark.slow
def test_what_is_wrong_once_an_epoch_is_seen_on_the_drawn_seed():
    chosen = (
        "(logits, F.softmax(logits, dim=-1))[([0] * 5 + [1] + [0] * 30)[step % 36]],"  # no decision to run again for
    )
    edit = (LOSS, LOSS.replace("logits,", chosen))
    result = grade(healthy(SOFTMAX, edit), SOFTMAX, seeds=(0, 1), draw=6)
    assert result.status == "wrong" and result.draw == 6
    saw = next(check.saw for check in result.checks if check.name == "gradient" and not check.passed)
    assert saw.startswith(f"With seed {other_seed(6, (0, 1))}:"), "none of its 72 steps was drawn before"


def test_shares_by_block():
    places, samples = shares([[0, 1, 2], [8, -1, 8]], 9, 9)
    assert places.shape == (2, 9) and places[0, :3].tolist() == pytest.approx([1 / 3] * 3) and places[1, 8] == 1.0
    assert (places == samples).all()


def test_copies_of_a_sample_are_one_sample():
    [places], [samples] = shares([[0, 9, 18]], 27, 9)
    assert samples[0] == 1.0 and places[[0, 3, 6]].tolist() == pytest.approx([1 / 3] * 3)


def test_kept_steps_come_back_as_they_were():
    steps, lost, settings = read(kept(SOFTMAX.healthy().source, SOFTMAX).arrays)
    assert len(steps) == DRAWN and not lost and settings[0][2] == "Adam" and len(settings) == 1
    step = steps[1]
    assert set(step.parameters) == set(step.gradients) == set(step.after) and len(step.slots) == 3 * len(
        step.parameters
    )
    assert step.calls[0].inputs[0].shape == (32, 64) and step.calls[0].beside[0].dtype == torch.int64
    assert step.answers is not None and step.answers.shape == (32, 10)


def shuffled(steps: list[int], case: Scenario, part: float = 1.0, at: int = 0) -> dict[int, list[int]]:
    """The places of each step's samples in a shuffled training, or of a part of them; `at` moves an epoch's last batch."""
    loader = reference.space(reference.healthy_text(case), case.program)["train_loader"]
    size, samples, each = loader.batch_size, len(loader.dataset), len(loader)
    source = torch.Generator().manual_seed(steps[0])
    first = [(step - 1 + at) % each * size for step in steps]
    epochs = [torch.randperm(samples, generator=source) for _ in range(max(steps) // each + 1)]
    pairs = zip(first, (epochs[(step - 1) // each] for step in steps), strict=True)
    batches = [every[start : start + size] for start, every in pairs]
    return dict(zip(steps, (batch[: round(part * len(batch))].tolist() for batch in batches), strict=True))


def test_how_many_small_last_batches_are_drawn_is_chance_and_no_change():
    case = Scenario("modular_addition", ("fit/capacity_too_small",))
    draws = [[step + 1 for step, flag in enumerate(draw(number, 1, 540)) if flag] for number in range(300)]
    assert {sum(step % 9 == 0 for step in steps) for steps in draws} >= {0, 6}
    for steps in draws:
        assert (verdict := check(shuffled(steps, case), case)) and verdict.passed, verdict
        assert (verdict := check(shuffled(steps, case, 0.85), case)) and "whole batch" in verdict.expected, verdict
    moved = [check(shuffled(steps, case, at=4), case) for steps in draws]
    assert sum(not verdict.passed for verdict in moved if verdict) <= 3, (
        "last batches elsewhere, as with another sampler"
    )


@pytest.mark.slow
def test_a_person_looks_at_what_no_step_shows():
    edit = ("optimizer.step()", "optimizer.step()\n        optimizer.state.clear()")
    [check] = checks(kept(healthy(SOFTMAX, edit), SOFTMAX), SOFTMAX, twin(SOFTMAX))
    assert check.status == FOR_A_PERSON and "The update could be compared at" in check.saw


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edits", "failing"),
    [
        ((), set()),
        ((("lr=learning_rate", "lr=learning_rate / 2"),), {"update"}),
        (
            (("batch_size, shuffle=True", "batch_size, sampler=torch.randint(len(train), (len(train),)).tolist()"),),
            {"order"},
        ),
    ],
    ids=["as it was", "half the rate", "drawn with replacement"],
)
def test_a_model_of_its_own_has_the_healthy_data_and_optimizer(edits, failing):
    case = Scenario("digits_cnn", ("modes/batch_norm_tiny_batches",), {"epochs": 3})
    groups = (("nn.BatchNorm2d(16)", "nn.GroupNorm(4, 16)"), ("nn.BatchNorm2d(32)", "nn.GroupNorm(4, 32)"))
    verdicts = checks(kept(healthy(case, *groups, *edits), case), case, twin(case))
    assert {check.name for check in verdicts if not check.passed} == failing and len(verdicts) >= 3, verdicts


REPLACED = "sampler=torch.utils.data.RandomSampler(range(len(train)), replacement=True))"
TWICE = "sampler=[place for place in torch.randperm(len(train)).tolist()[: len(train) // 2] for _ in (0, 1)])"


def test_samples_that_come_again_are_counted_within_an_epoch():
    assert repeats({1: [0, 1, 2], 2: [1, -1], 3: [1, 0]}, 10, 2) == (1, 6 + 1)
    assert repeats({1: [0, 10, 20], 2: [0]}, 10, None) == (1, 6), "copies of a sample are one sample"


@pytest.mark.slow
def test_samples_that_come_again_within_an_epoch_are_seen():
    for sampler in (REPLACED, TWICE):
        edit = ("batch_size, shuffle=True)", f"batch_size, {sampler}")
        assert "again" in failed(healthy(SOFTMAX, edit), SOFTMAX)["order"], sampler


@pytest.mark.slow
def test_windows_that_the_healthy_program_draws_with_replacement_stay_right_and_the_same_ones_again_do_not():
    case = Scenario("mini_transformer", ("loop/stale_gradients",))
    assert not failed(healthy(case), case)
    few = (
        "torch.randint(len(codes) - context - 1, (size,))",
        "torch.randint(2500, (size,)) * ((len(codes) - context - 1) // 2500)",
    )
    assert set(failed(healthy(case, few), case)) == {"order"}


@pytest.mark.slow
def test_a_layer_that_another_optimizer_takes_over_begins_without_the_earlier_state():
    case = Scenario("finetune", ("fit/capacity_too_small",))
    job = replace(job_of(healthy(case), case, 60.0, isolated=False), after=None, after_args={}, predict=())
    taken_over = 293  # the step at which the backbone is thawed
    run = run_worker(
        replace(job, keep_steps=bytes(int(abs(step + 1 - taken_over) < 4) for step in range(twin(case).steps)))
    )
    steps, _, _ = read(run.arrays)
    assert [len(step.gradients) for step in steps if step.number in (292, 293)] == [2, 6], "thawed at another step now"
    distances = compared(run, case, twin(case), True)
    assert len(distances.update) == 7 and max(distances.update.values()) < 1e-3, distances.update
