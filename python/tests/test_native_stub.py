"""The stub of the compiled module lists what the module has."""

import ast
from pathlib import Path

from glaive import _native


def members(body):
    """Name of each definition, with those inside it where it is a class."""
    found = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = members(node.body)
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = {}
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            found[target.id] = {}
    return found


def test_stub_is_complete():
    stub = Path(_native.__file__).with_name("_native.pyi")
    listed = members(ast.parse(stub.read_text()).body)
    public = {name for name in vars(_native) if not name.startswith("__")}
    assert public == {name for name in listed if not name.startswith("__")}
    for name, inside in listed.items():
        has = {member for member in dir(getattr(_native, name)) if not member.startswith("_")}
        if inside:
            assert {member for member in inside if not member.startswith("_")} <= has
        if isinstance(getattr(_native, name), type):
            own = {m for m in vars(getattr(_native, name)) if not m.startswith("_")}
            assert own <= set(inside), name
