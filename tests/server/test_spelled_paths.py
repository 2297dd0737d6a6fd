"""Files are asked for by their paths, whatever letters these have: brackets, spaces, `+`, `#`, `%`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aurora_protocol import RequestFailed
from aurora_protocol.client import Client
from tests.server.daemons import Daemon

PATHS = (
    *("a+b.py", "c(d).py", "e[f].py", "g&h.py", "i%20j.py", "k'l.py", "m,n.py", "o#p.py", "q=r~s!.py", "t@u.py"),
    *("app/(auth)/page.py", "(auth)/[...slug]/page.py", "my notes.py", "my notes/some day (1).py", "x y/+page.py"),
)
NESTED = "app/(auth)/[id]/view.tsx"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    root = tmp_path_factory.mktemp("odd")
    (root / ".git").mkdir()
    for n, path in enumerate(PATHS):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = f"import json\n\n\ndef used_{n}():\n    return json\n\n\ndef using_{n}():\n    return used_{n}()\n"
        (root / path).write_text(text, encoding="utf-8")
    (root / NESTED).parent.mkdir(parents=True)
    (root / NESTED).write_text("export function viewed() { return 1 }\n", encoding="utf-8")
    (root / "u.ts").write_text(
        f'import {{ viewed }} from "./{NESTED.removesuffix(".tsx")}"\nexport const y = () => viewed()\n',
        encoding="utf-8",
    )
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon, daemon.client(root) as client:
        client.request("aurora/index")
        yield client


def names(client: Client, query: str) -> list[str]:
    return [each["name"] for each in client.request("aurora/recall", {"query": query, "limit": 3})["results"]]


@pytest.mark.parametrize("path", PATHS)
def test_a_place_in_a_file_of_any_path(client: Client, path: str) -> None:
    n = PATHS.index(path)
    assert names(client, f"{path}:4")[0] == f"used_{n}"
    assert names(client, f"{path}:used_{n}")[0] == f"used_{n}"
    assert names(client, path) == [f"used_{n}", f"using_{n}"]
    assert names(client, f"who calls {path}:used_{n}") == [f"using_{n}"]
    assert names(client, f"what calls `{path}:used_{n}`?") == [f"using_{n}"]
    assert names(client, f"who calls {path.rpartition('/')[2]}:used_{n}") == [f"using_{n}"], "by the end of its path"
    assert client.request("aurora/recall", {"query": f"what does {path} import"})["hint"].startswith(
        f"'{path}' imports json from elsewhere"
    )
    for place in (f"{path}:4-5", f"{path}:used_{n}", f"code:{path}:used_{n}"):
        assert client.request("aurora/explain", {"id": place})["chunk"]["id"] == f"code:{path}:used_{n}:4-5"


@pytest.mark.parametrize("path", PATHS)
def test_what_is_not_in_such_a_file_is_said(client: Client, path: str) -> None:
    for query, said in (
        (f"{path}:900", f"{path} has nothing at line 900"),
        (f"{path}:unheard", f"{path} defines no unheard"),
        (f"who calls {path}:unheard", f"Nothing here is called '{path}:unheard'."),
    ):
        reply = client.request("aurora/recall", {"query": query})
        assert (reply["results"], reply["missing"]) == ([], True)
        assert reply["hint"].startswith(said)
    with pytest.raises(RequestFailed, match="has nothing at line 900"):
        client.request("aurora/explain", {"id": f"{path}:900"})


@pytest.mark.parametrize("path", ["app/(auth)/gone.tsx", "lib/UI+Gone.swift", "[gone]/page.ts", "gone#gone.py"])
def test_a_file_that_is_not_there_is_said_to_be_none(client: Client, path: str) -> None:
    reply = client.request("aurora/recall", {"query": f"who calls {path}:render"})
    assert (reply["results"], reply["hint"]) == ([], f"Nothing here is called '{path}:render'.")


def test_who_imports_it(client: Client) -> None:
    for path in (NESTED, "[id]/view.tsx", f"./{NESTED}"):
        reply = client.request("aurora/recall", {"query": f"what imports {path}"})
        assert [(each["file"], each["relation"]) for each in reply["results"]] == [
            ("u.ts", "imports viewed from ./app/(auth)/[id]/view")
        ]


@pytest.mark.parametrize("query", ["cobra.(*Command).Execute fails", "(*Command).Execute"])
def test_a_receiver_of_go_is_no_part_of_a_path(client: Client, query: str) -> None:
    assert client.request("aurora/recall", {"query": query})["missing"] is False
