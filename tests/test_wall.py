"""The wall between the debugger's rooms and the rest, from above. From below, two contracts of the linter hold it."""

import tomllib
from pathlib import Path

import grimp

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
CONTRACTS = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
ROOMS = tuple(next(one for one in CONTRACTS if one["name"].startswith("the wall"))["source_modules"])


def debuggers(module: str) -> bool:
    return module.startswith(tuple(f"{room}." for room in ROOMS)) or module in ROOMS


def test_no_private_module_is_imported_across_the_wall():
    graph = grimp.build_graph("bugzoo")
    private = [module for module in graph.modules if debuggers(module) and module.rpartition(".")[2].startswith("_")]
    across = {
        (importer, module)
        for module in private
        for importer in graph.find_modules_that_directly_import(module)
        if not debuggers(importer)
    }
    assert len(private) > 30 and not across, across


def test_the_face_is_read_as_strictly_as_a_type_checker_can():
    settings = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["pyright"]
    assert settings["strict"] == [f"{room.replace('.', '/')}/__init__.py" for room in sorted(ROOMS)]
