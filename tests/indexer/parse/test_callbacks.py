"""Names that calls are given: which are functions of the file, or imported, and not what a function calls so itself."""

from __future__ import annotations

import pytest

from aurora_indexer.workers.process_file import parse_source

PYTHON = """from shop import parse
def read(x): return x
class Cart:
    @property
    def name(self): return 1
    def sell(self, given):
        {body}
"""
SCRIPT = """import {{ parse }} from './shop';
function read(x) {{ return x; }}
class Cart {{ get name() {{ return 1; }} run() {{}} sell(given) {{ {body} }} }}
"""
GO = """package shop
func read(x int) {{}}
func sell(given int) {{ {body} }}
"""


@pytest.mark.parametrize(
    ("path", "text", "body", "wanted"),
    [
        pytest.param("a.py", PYTHON, "to_thread(read, given)", ["read"], id="of the file"),
        pytest.param("a.py", PYTHON, "sorted(given, key=parse)", ["parse"], id="imported, by a keyword"),
        pytest.param("a.py", PYTHON, "map(self.sell, given)", ["self.sell"], id="a method"),
        pytest.param("a.py", PYTHON, "map(Cart.sell, given)", ["Cart.sell"], id="a method of a class"),
        pytest.param("a.py", PYTHON, "f(self.name, self.given)", [], id="a property, a field"),
        pytest.param("a.py", PYTHON, "f(given, unknown)", [], id="a parameter, what is from nowhere"),
        pytest.param("a.py", PYTHON, "read = given; f(read)", [], id="a variable"),
        pytest.param("a.py", PYTHON, "unread = given; readme = given; f(read)", ["read"], id="another variable"),
        pytest.param("a.ts", SCRIPT, "const unread = 1, readme = 2; f(read)", ["read"], id="another constant"),
        pytest.param("a.go", GO, "unread := given; readme := given; f(read)", ["read"], id="another one in Go"),
        pytest.param("a.py", PYTHON, "[f(read) for read in given]", [], id="a variable of a loop"),
        pytest.param("a.py", PYTHON, "f(lambda read: g(read))", [], id="a parameter of a lambda"),
        pytest.param("a.py", PYTHON, "f(read=parse)", ["parse"], id="a keyword is no variable"),
        pytest.param("a.py", PYTHON, "f(read())", [], id="what is called"),
        pytest.param(
            "a.ts", SCRIPT, "list.map(read); list.map(parse)", ["read", "parse"], id="of a file in TypeScript"
        ),
        pytest.param("a.ts", SCRIPT, "setTimeout(this.run, 1); f(this.name)", ["this.run"], id="no getter"),
        pytest.param("a.ts", SCRIPT, "list.map(read => f(read)); f(given)", [], id="a parameter of an arrow"),
        pytest.param("a.ts", SCRIPT, "const read = 1; f(read)", [], id="a constant"),
        pytest.param("a.go", GO, 'http.HandleFunc("/", read)', ["read"], id="of a file in Go"),
        pytest.param("a.go", GO, 'f("/", elsewhere)', ["elsewhere"], id="of a package in Go"),
        pytest.param("a.go", GO, "x := given; f(x); f(given)", [], id="a variable in Go"),
    ],
)
def test_what_is_handed_on(path: str, text: str, body: str, wanted: list[str]) -> None:
    parsed = parse_source(path, text.format(body=body).encode(), 5.0)
    assert parsed is not None
    seller = next(chunk for chunk in parsed.chunks if chunk.name.endswith("sell"))
    handed = [each for each in seller.references if each.kind == "hands on"]
    assert [f"{each.qualifier}.{each.name}".lstrip(".") for each in handed] == wanted


def test_a_type_in_a_header_is_no_parameter() -> None:
    text = "from shop import Cart\ndef sell(one: Cart, *many, key=0) -> list[Cart]:\n    g(one, Cart, many, key)\n"
    parsed = parse_source("a.py", text.encode(), 5.0)
    assert parsed is not None
    assert [each.name for each in parsed.chunks[-1].references if each.kind == "hands on"] == ["Cart"]


def test_few_are_kept_of_many() -> None:
    names = [f"f{n}" for n in range(80)]
    text = "".join(f"def {name}(): pass\n" for name in names) + f"def sell():\n    g({', '.join(names)})\n"
    parsed = parse_source("a.py", text.encode(), 5.0)
    assert parsed is not None
    assert len(parsed.chunks[-1].references) == 51  # the call, and fifty
