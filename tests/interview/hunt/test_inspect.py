"""The hunts under the real Inspect: a scripted model calls the tools, and the judge is ours."""

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install -e '.[agents]'")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_scripted_model_repairs_one_and_leaves_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tiktoken
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, get_model

    from bugzoo.interview.hunt import case, recipe
    from bugzoo.interview.hunt.inspect_tasks import hunts

    # Inspect counts tokens with a vocabulary that is fetched from the internet; bytes do as well here
    ranks = {bytes([value]): value for value in range(256)}
    counted = tiktoken.Encoding("bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    for name in ("get_encoding", "encoding_for_model"):
        monkeypatch.setattr(tiktoken, name, lambda *given: counted)
    [one] = [one for one in recipe.published() if (one.program, one.minutes, one.level) == ("mlp", 45, 2)]
    made = case.freeze(one)
    calls = [
        ("read", {"file": "train.py"}),
        ("write", {"file": "train.py", "text": made.solution}),
        ("check", {}),
        ("hand_in", {"findings": "\n\n".join(fault.fix for fault, _ in made.scenario.specs)}),
        ("submit", {"answer": "done"}),
    ]
    for script, least, most in ((calls, 0.85, 1.0), (calls[:1] + calls[-1:], 0.0, 0.0)):
        outputs = [ModelOutput.for_tool_call("mockllm/model", name, arguments) for name, arguments in script]
        task = hunts(1, "mlp", 45, 2)
        [log] = evaluate(
            task, model=get_model("mockllm/model", custom_outputs=outputs), log_dir=str(tmp_path), display="none"
        )
        assert log.status == "success", log.error
        value = log.samples[0].scores["points"].value
        assert least <= value <= most, log.samples[0].scores
