"""What a dialect must not touch: names that are somebody else's, statements whose order counts, what cannot be told."""

import re

import pytest

from bugzoo import dialects
from bugzoo.dialects._text import Text
from tests.dialects.scripts import SMALL

LOOP = SMALL[SMALL.index("for epoch") : SMALL.index("\n# %% Evaluation")]


def in_loop(before: str, after: str) -> str:
    assert before in LOOP
    return SMALL.replace(LOOP, LOOP.replace(before, after))


def ways(source: str, name: str) -> list[str]:
    return [text for seed in range(6) if (text := dialects.rewritten(source, name, seed))]


@pytest.mark.parametrize(
    "more",
    [
        "def show():\n    global step\n    step = 0\n",  # set from within a function
        "print(globals()['step'])\n",  # found by its spelling
        "from os.path import *\n",  # may bind anything
    ],
)
def test_names_that_may_be_found_in_another_way_stay(more: str) -> None:
    for name in ("loop_names", "batch_names", "train_step", "trainer_class", "argparse_settings"):
        assert ways(SMALL + more, name) == []


def test_a_new_name_is_new_everywhere() -> None:
    taken = SMALL + "class Holder:\n    iteration = global_step = 1\n\n\ntext = 'n_steps'  # updates\n"
    assert all("step += 1" in text for text in ways(taken, "loop_names"))


def test_attributes_keywords_and_f_strings_stay() -> None:
    said = SMALL + "hook = dict(logits=1)\nprint(f'{total}')\nmodel.loss = 1\n"
    for text in ways(said, "loop_names") + ways(said, "batch_names"):
        assert (
            "dict(logits=1)" in text and "f'{total}'" in text and "total += len(" in text and "model.loss = 1" in text
        )


def test_a_name_of_another_scope_keeps_its_own() -> None:
    said = SMALL.replace(
        "return x + weights", "step = [hidden for hidden in (x, weights)]\n        return step[0] + step[1]"
    )
    for text in ways(said, "loop_names"):
        compile(text, "text", "exec")
        (new,) = re.findall(r"(\w+) = \[hidden for", text)
        assert (
            new != "step"
            and f"return {new}[0] + {new}[1]" in text
            and not re.search(
                r"\bstep\b", text[text.index("# %% Model") :].replace("optimizer.step", "").replace(".step()", "")
            )
        )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("loss.backward()", "if step == 3:\n            break\n        loss.backward()"),  # leaves the loop
        (
            "loss.backward()",
            "if step:\n            kept = loss\n        print(kept)\n        loss.backward()",
        ),  # from a turn before
        ("loss.backward()", "later = lambda: loss\n        loss.backward()"),  # asks later
    ],
)
def test_a_step_that_is_no_function_is_left(before: str, after: str) -> None:
    assert ways(in_loop(before, after), "train_step") == []


def test_a_step_hands_over_what_is_asked_for_later() -> None:
    said = in_loop("losses.append(loss.item())", "losses.append(loss.item() + logits.sum().item())")
    assert all("    return logits, loss\n" in text for text in ways(said, "train_step"))
    said = in_loop("loss.backward()", "step += 1\n        loss.backward()").replace(
        "        step += 1\n        losses", "        losses"
    )
    texts = ways(said, "train_step")
    assert texts and all(
        "(inputs, targets, step)" in text and "return step" in text.replace("loss, step", "step") for text in texts
    )


def test_a_class_of_the_script_with_a_train_of_its_own() -> None:
    said = (
        SMALL
        + "\n\nclass Fitter:\n    def train(self):\n        print('trained')\n\n\nfitter = Fitter()\nfitter.train()\n"
    )
    assert ways(said, "modes") == []


def test_what_is_added_to_may_be_held_by_others() -> None:
    said = in_loop("losses.append(loss.item())", "total_loss += loss\n        losses.append(total_loss)")
    said = said.replace("step = 0\n", "step = 0\ntotal_loss = 0\n")
    for text in ways(said, "counting"):
        assert "total_loss += loss" in text and "step = step + 1" in text


@pytest.mark.parametrize("line", ["one, two = 1, one", "one, two = 1, made()", "one.part, two = 1, one.other"])
def test_assignments_that_may_see_each_other_stay_together(line: str) -> None:
    assert ways(f"def made():\n    return one\n\n\n{line}\n", "tuples_apart") == []


def test_arguments_that_are_there_stay() -> None:
    said = SMALL.replace("lr=learning_rate)", "lr=learning_rate, eps=1e-15)").replace(
        "inputs), targets)", "inputs), targets)"
    )
    for text in ways(said, "explicit_defaults"):
        assert text.count("eps=1e-15") == 1 and "eps=1e-8" not in text.split("# %% Training")[0].split("Adam(")[1]


def test_loss_objects_take_settled_arguments_only() -> None:
    weighted = in_loop("(logits, targets)", "(logits, targets, label_smoothing=0.1 * step)")
    assert ways(weighted, "criterion") == []
    assert all(
        "CrossEntropyLoss(label_smoothing=0.1)" in text
        for text in ways(in_loop("(logits, targets)", "(logits, targets, label_smoothing=0.1)"), "criterion")
    )


def test_a_dictionary_keeps_its_order() -> None:
    one = "found = dict(loss=1, accuracy=2)\nprint(found)\n"
    assert ways(one, "keyword_order") == [] and ways("print(1, sep=' ', end='')\n", "keyword_order")
    assert ways("def show(**given):\n    print(given)\n\n\nshow(b=1, a=2)\n", "keyword_order") == []


def test_definitions_that_need_each_other_keep_their_order() -> None:
    assert ways(SMALL.replace("class Net(nn.Module)", "class Net(Mixer)"), "definition_order") == []
    assert (
        ways(SMALL.replace("def forward(self, x)", "@staticmethod\n    def forward(x, y=made())"), "method_order")
        is not None
    )


def test_edits_of_one_place_are_none_and_offsets_are_characters() -> None:
    text = Text("# café\nx = 'é'; y = 1\n")
    assert text.edited([(0, 2, ""), (1, 3, "")]) is None
    assert text.of(text.tree.body[1]) == "y = 1" and text.rows(text.tree.body[1]) is None
    assert Text("x = 1\x0c\ny = 2\n").of(Text("x = 1\x0c\ny = 2\n").tree.body[1]) == "y = 2"
