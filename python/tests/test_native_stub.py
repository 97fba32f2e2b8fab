"""The stub is what the compiled module gives, and the table of options agrees with it."""

import ast
import importlib.util
from pathlib import Path

import glaive
from glaive._engine import option_kinds

REPOSITORY = Path(__file__).resolve().parent.parent.parent
STUB = REPOSITORY / "python" / "glaive" / "_native.pyi"

TYPES = {
    "a bool": "bool",
    "an int": "int",
    "a float": "float",
    "a str": "str",
    "a list of int": "Sequence[int]",
    "a list of str": "Sequence[str]",
    "a list of DatasetBasePath": "Sequence[DatasetBasePath]",
    "a dict of str to str": "Mapping[str, str]",
}


def test_stub_is_what_the_module_gives():
    source = REPOSITORY / "tools" / "make_stub.py"
    spec = importlib.util.spec_from_file_location("make_stub", source)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert STUB.read_text() == tool.stub(), "run tools/make_stub.py"


def setters():
    """`class.attribute` of each attribute that can be set, with its type."""
    for node in ast.parse(STUB.read_text()).body:
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef) and any(
                ast.unparse(each).endswith(".setter") for each in member.decorator_list
            ):
                value = [*member.args.posonlyargs, *member.args.args][1]
                yield f"{node.name}.{member.name}", ast.unparse(value.annotation)


def options_that_are_set():
    """The engine's name of each option that the package sets by `set_option`."""
    for path in Path(glaive.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "set_option":
                names = [key.value for key in node.keywords if key.arg == "attribute"]
                name = names[0] if names else node.args[1]
                if isinstance(name, ast.Constant):
                    yield name.value


def test_table_of_options_is_complete():
    assert {name for name in options_that_are_set() if name not in option_kinds.KINDS} == set()


def test_table_of_options_agrees_with_the_module():
    kinds = dict(setters())
    for option, kind in option_kinds.KINDS.items():
        # None is an argument too where the package takes it for leaving the option out.
        wanted = TYPES[kind.removesuffix(" or None")]
        found = {
            name: declared.removesuffix(" | None")
            for name, declared in kinds.items()
            if option == name or (option == name.split(".")[1] and name not in option_kinds.KINDS)
        }
        assert set(found.values()) == {wanted}, f"{option} is {kind} in the table: {found}"
