"""Conversation logs read back: listed, found by name, id and words, whatever has happened to the files."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_orchestration.conversations.log_reader import (
    by_id,
    by_name,
    conversation,
    conversations,
    files,
    gone,
    text_of,
)
from aurora_orchestration.conversations.log_search import search
from aurora_orchestration.settings import ConversationSettings
from tests.orchestration.runs import BEGAN, ID, QUERY, run
from tests.orchestration.written_log import write_log
from tests.shares import examples

DAY = 86_400
ALWAYS = ("0000-00-00", "9999-99-99")
BY_HAND = """---
## Query: 2025-12-13T14:32:15Z | ID: aurora-20251213-143215-abc123

**User Query**: "Implement OAuth2 authentication for our API"
**Keywords**: oauth, authentication

### Phase 1: ASSESS
```json
{"phase": "assess", "complexity": "complex"}
```

### Execution Summary
- **Total Duration**: 12.8 seconds
- **Complexity**: COMPLEX (0.87 confidence)
- **Verification Scores**: Decomposition 0.90, Synthesis 0.93
- **ACT-R Storage**: Yes (score ≥ 0.5)
- **Tokens Used**: 23,650 total
- **Estimated Cost**: $0.0234

---
"""


def pack(path: Path) -> Path:
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four logs on three days of two months, one of them compressed, and things that are none."""
    settings = ConversationSettings()
    write_log(run(), tmp_path, settings)
    write_log(run(id="aurora-20251213-200000-ffffff", started_at=BEGAN + 3600, score=None), tmp_path, settings)
    pack(write_log(run(id="aurora-2", query="rotate signing keys", started_at=BEGAN - 3 * DAY), tmp_path, settings))
    late = run(id="aurora-3", query="order table", started_at=BEGAN + 20 * DAY, ended_at=BEGAN + 20 * DAY + 4)
    write_log(late, tmp_path, settings)
    for name in ("2025/12/notes.md", "2025/notes-2025-12-13.md", "2025/12/a-2025-12-13.txt", "top-2025-12-13.md"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "2025/12/link-2025-12-13.md").symlink_to(tmp_path / "top-2025-12-13.md")
    (tmp_path / "2025/12/folder-2025-12-13.md").mkdir()
    os.mkfifo(tmp_path / "2025/12/pipe-2025-12-13.md")
    return tmp_path


def test_what_there_is_the_latest_first(folder: Path) -> None:
    found = conversations(folder)
    assert [each.name for each in found] == [
        "order-table-2026-01-02",
        "oauth-login-2025-12-13-2",
        "oauth-login-2025-12-13",
        "rotate-signing-2025-12-10",
    ]
    first = found[2]
    assert (first.id, first.query, first.state, first.complexity) == (ID, QUERY, "complete", "complex")
    assert (first.score, first.cost_usd, first.tokens, first.duration_ms) == (0.93, 0.01, 6000, 12_800)
    assert first.started_at == "2025-12-13T14:32:15Z" and first.keywords == ("oauth", "login")
    assert found[3].file == "2025/12/rotate-signing-2025-12-10.md" and found[3].path.name.endswith(".md.gz")
    assert found[3].query == "rotate signing keys" and found[3].cost_usd == 0.01
    assert [each.name for each in conversations(folder, "2025-12-11", "2025-12-31")] == [
        "oauth-login-2025-12-13-2",
        "oauth-login-2025-12-13",
    ]
    assert list(files(folder / "nowhere")) == []


def test_a_log_in_the_specifications_own_words_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "oauth-authentication-2025-12-13.md"
    path.write_text(BY_HAND.replace("\n", "\r\n"), newline="")
    told = conversation("2025/12/x.md", "2025-12-13", path)
    assert told.id == ID and told.query == "Implement OAuth2 authentication for our API"
    assert (told.state, told.complexity, told.score) == ("complete", "complex", 0.93)
    assert (told.cost_usd, told.tokens, told.duration_ms) == (0.0234, 23650, 12_800)


@settings(max_examples=examples(80))
@given(st.integers(0, len(BY_HAND)), st.integers(0, 200), st.text(max_size=60))
def test_edited_logs_never_stop_the_listing(at: int, cut: int, put: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a-2025-12-13.md")
        path.write_bytes((BY_HAND[:at] + put + BY_HAND[at + cut :]).encode("utf-8", "surrogatepass"))
        conversation("a", "2025-12-13", path)


def test_broken_and_hostile_files_are_listed_with_what_is_known(tmp_path: Path) -> None:
    place = tmp_path / "2025" / "12"
    place.mkdir(parents=True)
    (place / "empty-2025-12-13.md").touch()
    (place / "bytes-2025-12-13.md").write_bytes(os.urandom(5000))
    (place / "nogzip-2025-12-13.md.gz").write_bytes(b"not compressed")
    (place / "cut-2025-12-13.md.gz").write_bytes(gzip.compress(BY_HAND.encode() * 50)[:-40])
    (place / "bomb-2025-12-13.md.gz").write_bytes(gzip.compress(bytes(80 << 20), 1))
    deep = BY_HAND.replace("---\n", "", 1) + "```json\n" + "[" * 20_000 + "\n```\n"
    (place / "deep-2025-12-13.md").write_text(deep)
    found = {each.name.partition("-")[0]: each for each in conversations(tmp_path)}
    assert set(found) == {"empty", "bytes", "nogzip", "cut", "bomb", "deep"}
    assert found["empty"].id is None and found["empty"].state == "unfinished"
    assert found["cut"].id == ID and found["deep"].score == 0.93
    assert len(text_of(found["bomb"].path)) == 64 << 20


def test_a_name_may_leave_out_day_suffix_and_folder(folder: Path) -> None:
    for name in (
        "rotate-signing-2025-12-10",
        "rotate-signing-2025-12-10.md",
        "Rotate-Signing",
        "2025/12/rotate-signing-2025-12-10.md.gz",
        "rotate",
    ):
        assert [each.id for each in by_name(folder, name)] == ["aurora-2"], name
    assert len(by_name(folder, "oauth")) == 2
    assert [each.id for each in by_name(folder, "oauth-login-2025-12-13")] == [ID], "its own name comes first"
    for name in ("", "../top-2025-12-13", "nothing", "/etc/passwd", "2025/12"):
        assert by_name(folder, name) == []


def test_a_run_is_found_by_its_id(folder: Path) -> None:
    assert [
        getattr(by_id(folder, run_id), "name", None) for run_id in (ID, "aurora-2", "aurora-20251213-0-x", "?")
    ] == [
        "oauth-login-2025-12-13",
        "rotate-signing-2025-12-10",
        None,
        None,
    ]


def test_words_are_found_in_whatever_case_with_their_lines(folder: Path) -> None:
    found = list(search(folder, ["AUTH0"], *ALWAYS, context=1))
    assert len(found) == 4
    (line,) = (each for each in found[0].lines if each.hit)
    assert '"user_response": "Auth0"' in line.text
    assert [each.hit for each in found[0].lines] == [False, True, False]
    assert text_of(found[0].conversation.path).splitlines()[line.number - 1] == line.text
    assert [each.conversation.id for each in search(folder, ["signing keys"], *ALWAYS)] == ["aurora-2"]
    both = list(search(folder, ["signing", "auth0"], *ALWAYS))
    assert len(both) == 1 and both[0].matches > len(both[0].lines) - 1
    assert list(search(folder, ["signing", "kangaroo"], *ALWAYS)) == []
    assert list(search(folder, ["auth0"], "2025-12-11", "2025-12-12")) == []
    assert list(search(folder, [" "], *ALWAYS)) == []


def test_a_long_line_is_cut_around_its_first_word(folder: Path) -> None:
    line = f"{'a ' * 300}walrus {'b ' * 600}kangaroo"
    (folder / "2025/12/long-2025-12-13.md").write_text(f"{BY_HAND}\n{line}\n")
    (found,) = search(folder, ["kangaroo", "walrus"], *ALWAYS)
    assert "walrus" in found.lines[0].text and "kangaroo" not in found.lines[0].text


def test_of_many_hits_the_first_lines_are_shown(folder: Path) -> None:
    for found in search(folder, ["a"], *ALWAYS, most_lines=2):
        lines = text_of(found.conversation.path).splitlines()
        hits = [number for number, line in enumerate(lines, 1) if "a" in line.casefold()]
        assert len(hits) > 2 and [line.number for line in found.lines] == hits[:2]


@pytest.mark.parametrize("closed", ["logs", "2025", "12"])
def test_what_lies_in_a_closed_folder_is_not_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: str) -> None:
    """Else memory forgets every conversation of a folder that is closed when a workspace is opened."""
    folder = tmp_path / "logs"
    log = write_log(run(), folder, ConversationSettings())
    known = [log.relative_to(folder).as_posix(), "2025/12/never-was-2025-12-13.md"]
    assert gone(folder, known) == known[1:]
    usual = os.scandir

    def refused(place: Path | os.DirEntry[str]) -> object:
        if Path(place).name == closed:
            raise PermissionError(13, "Permission denied", str(place))
        return usual(place)

    monkeypatch.setattr(os, "scandir", refused)
    assert gone(folder, known) == []
    monkeypatch.undo()
    assert gone(tmp_path / "nowhere", known) == known


WRITTEN = "## Query: {} | ID: {}\n\n### Execution Summary\n- **Status**: complete\n"


def logged(
    folder: Path, name: str, *, began: str = "2025-12-13T10:00:00Z", run_id: str = "r", status: str = "x"
) -> Path:
    place = folder / "2025" / "12"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(WRITTEN.format(began, run_id))
    return place / name


def test_of_a_log_that_is_there_compressed_too_the_plain_one_is_read(tmp_path: Path) -> None:
    """It was being compressed when that was cut off: the other may be half a log."""
    (logged(tmp_path, "a-2025-12-13.md").parent / "a-2025-12-13.md.gz").write_bytes(b"half")
    assert [path.name for _, _, path in files(tmp_path)] == ["a-2025-12-13.md"]


def test_a_whole_name_means_one_log_and_a_beginning_all_that_go_on_with_a_word(tmp_path: Path) -> None:
    for name in ("oauth-2025-12-13.md", "oauth-2025-12-13-2.md", "oauthor-2025-12-13.md"):
        logged(tmp_path, name)
    assert [each.name for each in by_name(tmp_path, "oauth-2025-12-13")] == ["oauth-2025-12-13"]
    assert {each.name for each in by_name(tmp_path, "oauth")} == {"oauth-2025-12-13", "oauth-2025-12-13-2"}


def test_of_one_day_the_later_run_comes_first_whatever_it_is_called(tmp_path: Path) -> None:
    logged(tmp_path, "b-2025-12-13.md", began="2025-12-13T09:00:00Z")
    logged(tmp_path, "a-2025-12-13.md", began="2025-12-13T11:00:00Z")
    assert [each.name[0] for each in conversations(tmp_path)] == ["a", "b"]


def test_a_run_is_found_on_another_day_than_its_id_tells(tmp_path: Path) -> None:
    """A clock was set, or it was written after midnight."""
    logged(tmp_path, "a-2025-12-14.md", run_id=ID)
    found = by_id(tmp_path, ID)
    assert found is not None and found.name == "a-2025-12-14"


@pytest.mark.parametrize(
    ("ending", "state"),
    [
        pytest.param("", "unfinished", id="without an end it goes on, or was cut off"),
        pytest.param("{}", "complete", id="an end is an end"),
        pytest.param("{}- **Status**: failed\n", "failed", id="in the words that stand there"),
        pytest.param(
            '{}- **Status**: failed\n```json\n{{"execution_summary": {{"state": "cancelled"}}}}\n```\n', "cancelled",
            id="but facts come before words",
        ),
    ],
)  # fmt: skip
def test_what_a_log_came_to(tmp_path: Path, ending: str, state: str) -> None:
    path = logged(tmp_path, "a-2025-12-13.md")
    path.write_text("## Query: x | ID: r\n" + ending.format("\n### Execution Summary\n"))
    assert conversation("a", "2025-12-13", path).state == state
