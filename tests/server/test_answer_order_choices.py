"""What of several counts, a rule each: the fuller deliverable, the deeper folder, the worse finding, the right type."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_deliverables.deliverable import Deliverable, PhaseSpan
from aurora_server.demo_site.request_arguments import converted
from aurora_server.lsp.memory_text import escaped, file_uri, warmth
from aurora_server.mcp.manifest_tools import _checked
from aurora_server.mcp.resources import MCPError, tool_resource
from aurora_server.session.folders import owner_of, real
from aurora_server.workspace.repository_changes import _fuller


def deliverable(
    name: str, *, began: float = 10.0, over: float | None = None, failed: bool = False, spans: int = 0
) -> Any:
    status: Any = "executing" if over is None else "failed" if failed else "completed"
    done = tuple(PhaseSpan("apply", began, began + 1, n) for n in range(spans))
    return Deliverable("x", status, began, began, over, spans=done, description=name, deliverable_failed=failed or None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            deliverable("a", over=20.0), deliverable("b", spans=9), id="one that is over, before one that is open"
        ),
        pytest.param(
            deliverable("a", over=20.0), deliverable("b", over=20.0, failed=True, spans=9), id="delivered first"
        ),
        pytest.param(deliverable("a", spans=2), deliverable("b", spans=1, began=5.0), id="one of which more was done"),
        pytest.param(deliverable("a", began=5.0), deliverable("b", began=6.0), id="else the earlier"),
    ],
)
def test_which_of_two_tellings_of_a_change_counts(one: Deliverable, other: Deliverable) -> None:
    """It began when the earlier of them did."""
    workspace: Any = object()
    for pair in ((one, other), (other, one)):
        _, found = _fuller(*((workspace, each) for each in pair))
        assert found.description == "a" and found.started_at == min(one.started_at, other.started_at)


@pytest.mark.parametrize(
    ("path", "owner"), [("/w/in/a.py", "/w/in"), ("/w/a.py", "/w"), ("/w2/a.py", None), ("/w/inner/a.py", "/w")]
)
def test_whose_a_path_is(path: str, owner: str | None) -> None:
    workspaces: Any = [SimpleNamespace(root=Path("/w/in")), SimpleNamespace(root=Path("/w"))]
    found = owner_of(Path(path), workspaces)
    assert (str(found.root) if found else None) == owner


def test_a_link_to_a_file_is_where_it_stands_and_one_to_a_folder_where_that_is(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/a.py").touch()
    (tmp_path / "folder").symlink_to(tmp_path / "there")
    (tmp_path / "file.py").symlink_to(tmp_path / "there/a.py")
    assert real(tmp_path / "folder/a.py") == tmp_path / "there/a.py"
    assert real(tmp_path / "file.py") == tmp_path / "file.py"


def test_the_worst_finding_of_a_manifest_is_told_first_and_errors_are_counted() -> None:
    lines, errors = _checked('{"site": {"descripton": "x"},\n "protocol": "aura"}')
    kinds = [line.partition(" ")[0] for line in lines]
    assert kinds == sorted(kinds, key=["error", "warning", "info", "hint"].index) and kinds.count("error") == errors > 1
    assert "warning" in kinds and any(line.startswith("error 2:14 ") for line in lines), "lines and columns from one"


@pytest.mark.parametrize(
    ("values", "schema", "value"),
    [
        pytest.param(["1", "2"], {"type": "array"}, ["1", "2"], id="all of a list"),
        pytest.param(["1", "2"], {"type": "string"}, "2", id="else the last"),
        pytest.param(["-5"], {"type": "integer"}, -5, id="a whole number"),
        pytest.param(["5.5"], {"type": "integer"}, "5.5", id="not another"),
        pytest.param(["9" * 16], {"type": "integer"}, "9" * 16, id="nor one that no double holds"),
        pytest.param(["5"], {}, "5", id="nor where none is asked for"),
    ],
)
def test_as_what_a_query_is_read(values: list[str], schema: dict[str, Any], value: Any) -> None:
    assert converted(values, schema) == value


@pytest.mark.parametrize(
    ("activation", "word"), [(1.0, "hot"), (0.99, "warm"), (-1.0, "warm"), (-3.0, "cool"), (-3.1, "cold")]
)
def test_from_where_on_a_chunk_is_warm(activation: float, word: str) -> None:
    assert warmth(activation) == word


def test_nothing_in_a_name_is_markdown_or_ends_a_link() -> None:
    assert escaped("a_b [x](y)\n# <i>|~") == r"a\_b \[x\]\(y\) \# \<i\>\|\~"
    assert file_uri(Path("/w/a b#c.py"), 4) == "file:///w/a%20b%23c.py#L4"


def test_a_tool_that_is_not_there_is_named() -> None:
    known: dict[str, Any] = {}
    with pytest.raises(MCPError, match="there is no tool a b; see tools/list"):
        tool_resource("aurora://tool/a%20b", known)
