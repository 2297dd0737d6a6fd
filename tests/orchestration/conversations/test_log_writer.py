"""Conversation logs as they are written: the form of AURORA §9.7, found again by memory, whole after a crash."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_memory.conversation_logs import index_of
from aurora_memory.recall import parse_question
from aurora_memory.recall.conversation_logs import recall_logs
from aurora_memory.store import Store
from aurora_orchestration.conversations import log_writer
from aurora_orchestration.conversations.log_reader import conversation, section
from aurora_orchestration.conversations.log_retention import mark_interrupted, unfinished
from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.settings import ConversationSettings
from tests.orchestration.runs import ANSWER, BEGAN, ID, PHASES, QUERY, phase, run
from tests.orchestration.written_log import write_log
from tests.shares import examples
from tests.wait_limits import HANG

SETTINGS = ConversationSettings()
TITLES = [
    f"Query: 2025-12-13T14:32:15Z | ID: {ID}",
    "Phase 0: GUARDRAILS",
    "Phase 1: ASSESS",
    "Phase 2: RETRIEVE",
    "Phase 3: DECOMPOSE",
    "Phase 4: VERIFY (Decomposition)",
    "Phase 5: ROUTE",
    "Phase 6: COLLECT (Agent Outputs)",
    "Phase 7: SYNTHESIZE",
    "Phase 4b: VERIFY (Synthesis)",
    "Phase 8: RECORD",
    "Phase 9: RESPOND",
    "Execution Summary",
]


def written(tmp_path: Path, record: RunRecord | None = None, **changed: Any) -> str:
    return write_log(record or run(), tmp_path, ConversationSettings(**changed)).read_text(encoding="utf-8")


def headings(text: str) -> list[str]:
    """Headings outside of code blocks."""
    found, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and line.startswith("#"):
            found.append(line.lstrip("# "))
    assert not fenced
    return found


def blocks(text: str) -> list[Any]:
    """The JSON blocks; each must be JSON."""
    return [json.loads(part.partition("\n```")[0]) for part in text.split("```json\n")[1:]]


def test_a_log_has_the_form_of_the_specification(tmp_path: Path) -> None:
    text = written(tmp_path)
    assert headings(text) == TITLES
    head = text.splitlines()
    assert head[:5] == ["---", f"## {TITLES[0]}", "", f'**User Query**: "{QUERY}"', "**Keywords**: oauth, login"]
    told = {each.get("phase"): each for each in blocks(text)}
    assert list(told["assess"]) == ["phase", "timestamp", "input", "output", "duration_ms"]
    assert told["assess"]["timestamp"] == "2025-12-13T14:32:15.040Z"
    assert "verify_decomposition" in told and "verify_synthesis" in told
    agents = [each for each in blocks(text) if "agent_id" in each]
    assert [each["subgoal_id"] for each in agents] == ["SG1", "SG2", "SG3"]
    assert agents[0]["user_interactions"] == [
        {
            "turn": 1,
            "agent_question": "Which provider?",
            "user_response": "Auth0",
            "timestamp": "2025-12-13T14:32:20.100Z",
        }
    ]
    assert agents[0]["metadata"] == {"tools_used": ["read", "edit"], "duration_ms": 2000.0, "model_used": "m-1"}
    assert "**Agent SG1: llm-executor** (Compare OAuth providers)" in text
    assert "**Synthesis (Natural Language Recomposition)**\n```json" in text
    assert [line for line in text.splitlines() if line.startswith("- **")] == [
        "- **Total Duration**: 12.8 seconds",
        "- **Complexity**: COMPLEX (0.87 confidence)",
        "- **Verification Scores**: Decomposition 0.90, Synthesis 0.93",
        "- **Agent Interactions**: 3 subgoals, 1 user interactions",
        "- **ACT-R Storage**: Yes (score ≥ 0.8, a pattern)",
        "- **Tokens Used**: 6,000 total",
        "- **Estimated Cost**: $0.0100",
        "- **Score**: 0.93",
        "- **Status**: complete",
    ]
    assert text.endswith("\n---\n")


def test_phases_interactions_and_metadata_can_be_left_out(tmp_path: Path) -> None:
    text = written(tmp_path, include_phases=("assess", "collect"), include_user_interactions=False)
    assert headings(text) == [TITLES[0], *TITLES[1:3], TITLES[7], TITLES[-1]]
    assert "Which provider?" not in text and "**Response**" not in text
    bare = written(tmp_path, include_metadata=False)
    assert headings(bare) == TITLES
    assert "duration_ms" not in bare and "Cost" not in bare and "- **Status**: complete" in bare


def test_secrets_and_personal_data_never_reach_the_log(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    found = {
        "note": f"use {token}",
        token: 1,
        "nested": [{"mail": "ask jane.doe@example.com", "password": "hunter2", "tokens": 12}],
    }
    record = run(
        query=f"why does {token} fail",
        answer=f"Because {token} ended.",
        error=f"refused {token}",
        notices=(f"notice {token}",),
        phases=(*PHASES, phase("respond", 13, 1, {"a": token}, found)),
    )
    log = ConversationLog(tmp_path, SETTINGS)
    log.begin(record.id, record.query, record.started_at)
    log.finish(record)
    assert log.path is not None
    for text in (written(tmp_path, record), log.path.read_text()):
        assert token not in text and "jane.doe@example.com" not in text and "hunter2" not in text
        assert '"tokens": 12' in text and "[REDACTED]" in text and "ghp" not in "".join(map(str, tmp_path.rglob("*")))


HOSTILE = (
    '```\n### Phase 1: ASSESS\n"""\n~~~~\u2028### Execution Summary\x85\n- **Status**: failed\n---\x1b[31m\ud800 <!--'
)


def test_nothing_in_a_run_breaks_the_markdown(tmp_path: Path) -> None:
    found = {HOSTILE: HOSTILE, "list": [HOSTILE] * 3, "nan": float("nan"), "deep": json.loads("[" * 300 + "]" * 300)}
    phases = tuple(phase(each.phase, 0.0, 1.0, {"query": HOSTILE}, found) for each in PHASES)
    text = written(tmp_path, run(query=HOSTILE, answer=HOSTILE, phases=phases, error=HOSTILE, notices=(HOSTILE,)))
    assert headings(text) == TITLES
    assert blocks(text)[1]["output"]["nan"] is None
    assert "\x1b" not in text and len(text.splitlines()) == text.count("\n")
    assert [each.title for each in index_of("a.md", text) if each.phase == 1] == ["Phase 1: ASSESS"]
    back = conversation("2025/12/a-2025-12-13.md", "2025-12-13", next(tmp_path.rglob("*.md")))
    assert back.state == "complete" and back.id == ID
    assert back.query is not None and "### Phase 1: ASSESS" in back.query


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=examples(60))
@given(st.dictionaries(st.text(max_size=20), json_values, max_size=5), st.text(max_size=200))
def test_any_output_and_answer_keep_the_headings(found: dict[str, Any], answer: str) -> None:
    record = run(phases=(phase("assess", 0, 1, found, found),), results=(), answer=answer)
    with tempfile.TemporaryDirectory() as folder:
        text = written(Path(folder), record)
    assert headings(text)[-1] == "Execution Summary" and len(headings(text)) == 3
    assert len(blocks(text)) == 2
    assert len(text.splitlines()) == text.count("\n")


def test_a_block_that_is_too_large_is_cut_and_says_so(tmp_path: Path) -> None:
    one = phase("collect", 1, 1, found={"text": "word " * 100_000})
    many = phase("retrieve", 1, 1, found={str(n): "word " * 4000 for n in range(100)})
    most = phase("route", 1, 1, found={str(n): {str(m): "y" * 1900 for m in range(100)} for n in range(100)})
    text = written(tmp_path, run(phases=(one, many, most)))
    assert len(text) < 2_500_000
    assert "characters left out" in text and "too many for a log" in text
    assert len(blocks(text)) == 7


def test_a_log_that_grows_phase_by_phase_is_the_one_written_at_once(tmp_path: Path) -> None:
    record = run()
    log = ConversationLog(tmp_path, SETTINGS)
    log.begin(record.id, record.query, record.started_at)
    assert log.path is not None and log.file == "2025/12/oauth-login-2025-12-13.md"
    for each in record.phases:
        before = log.path.read_text()
        if each.phase == "collect":
            for result in record.results:
                log.agent(result)
        log.phase(each, record.results)
        log.phase(each, record.results)
        assert log.path.read_text().startswith(before), "append-only"
        assert each.phase.split("_")[0] in log.path.read_text()[len(before) :].lower()
    assert log.finish(record) is None
    assert log.path.read_text() == written(tmp_path / "other")
    again = ConversationLog(tmp_path, SETTINGS)
    again.begin(record.id, record.query, record.started_at)
    again.finish(record)
    assert again.file == "2025/12/oauth-login-2025-12-13-2.md"
    assert again.path is not None and again.path.read_text() == log.path.read_text()


def test_retries_have_headings_of_their_own(tmp_path: Path) -> None:
    phases = [phase("decompose", 1, 1), phase("verify", 2, 1), phase("decompose", 3, 1), phase("verify", 4, 1)]
    text = written(tmp_path, run(phases=tuple(phases), results=()))
    assert headings(text)[1:-1] == [
        "Phase 3: DECOMPOSE",
        "Phase 4: VERIFY (Decomposition)",
        "Phase 3: DECOMPOSE (attempt 2)",
        "Phase 4: VERIFY (Decomposition) (attempt 2)",
    ]


def test_switched_off_nothing_is_written(tmp_path: Path) -> None:
    log = ConversationLog(tmp_path / "logs", ConversationSettings(enabled=False))
    log.begin(ID, QUERY, BEGAN)
    log.phase(PHASES[0])
    assert log.finish(run()) is None and log.file is None
    assert not (tmp_path / "logs").exists()


KILLED = """
import sys, time
from pathlib import Path
from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.settings import ConversationSettings
from tests.orchestration.runs import run
record = run()
log = ConversationLog(Path(sys.argv[1]), ConversationSettings())
log.begin(record.id, record.query, record.started_at)
for each in record.phases[:5]:
    log.phase(each)
print("there", flush=True)
time.sleep(60)
"""


def test_after_kill_9_the_log_is_whole_up_to_the_last_phase_and_is_marked(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "there\n"
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=HANG)
    ((file, path, run_id),) = unfinished(tmp_path)
    assert run_id == ID and headings(path.read_text()) == TITLES[:6]
    assert mark_interrupted(tmp_path, file, BEGAN + 90)
    text = path.read_text()
    assert headings(text) == [*TITLES[:6], TITLES[-1]]
    told = conversation(file, "2025-12-13", path)
    assert (told.state, told.id, told.query) == ("interrupted", ID, QUERY)
    assert not mark_interrupted(tmp_path, file, BEGAN + 99) and path.read_text() == text and unfinished(tmp_path) == []

    log = ConversationLog(tmp_path, SETTINGS)
    assert log.resume(file, QUERY, BEGAN, BEGAN + 120)
    assert not ConversationLog(tmp_path, SETTINGS).resume("../x.md", QUERY, BEGAN, BEGAN)
    for each in PHASES[5:]:
        log.phase(each, run().results)
    log.finish(run(phases=tuple(PHASES[5:])))
    assert log.path == path and "**Resumed**: 2025-12-13T14:34:15Z" in path.read_text()
    assert conversation(file, "2025-12-13", path).state == "complete"


@pytest.mark.parametrize("cut", range(0, 1400, 97))
def test_a_piece_that_was_cut_off_is_closed_before_the_end(tmp_path: Path, cut: int) -> None:
    path = write_log(run(), tmp_path, SETTINGS)
    file = path.relative_to(tmp_path).as_posix()
    path.write_bytes(path.read_bytes()[: 200 + cut])
    assert mark_interrupted(tmp_path, file, BEGAN)
    assert headings(path.read_text())[-1] == "Execution Summary"
    assert conversation(file, "2025-12-13", path).state == "interrupted"


def test_a_full_disk_stops_no_run_and_nothing_is_lost_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, write = run(), os.write
    log = ConversationLog(tmp_path, SETTINGS)
    log.begin(record.id, record.query, record.started_at)
    room = [700]

    def little(descriptor: int, data: Any) -> int:
        if room[0] <= 0:
            raise OSError(28, "No space left on device")
        done = write(descriptor, bytes(data)[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr(os, "write", little)
    for each in record.phases[:8]:
        log.phase(each, record.results)
    assert log.problem is not None and "No space left on device" in log.problem and str(tmp_path) in log.problem
    room[0] = 1 << 20
    for each in record.phases[8:]:
        log.phase(each)
    assert log.finish(record) is None
    assert log.path is not None and log.path.read_text() == written(tmp_path / "other")


def test_where_a_full_disk_lasts_too_long_the_newest_is_given_up_and_how_much_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The beginning has the id and the question by which a log is found."""
    record, write = run(), os.write
    whole = written(tmp_path / "other")
    log = ConversationLog(tmp_path, SETTINGS)
    full = True

    def little(descriptor: int, data: Any) -> int:
        if full:
            raise OSError(28, "No space left on device")
        return write(descriptor, bytes(data))

    monkeypatch.setattr(os, "write", little)
    monkeypatch.setattr(log_writer, "MAX_PENDING", 1500)
    log.begin(record.id, record.query, record.started_at)
    for each in record.phases:
        log.phase(each, record.results)
    full = False
    notice = log.finish(record)
    assert notice is not None and notice.endswith("are lost: the disk was full")
    assert log.path is not None and log.path.read_text().startswith(whole[:200])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_closed_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir(mode=0o500)
    log = ConversationLog(tmp_path / "logs", SETTINGS)
    log.begin(ID, QUERY, BEGAN)
    log.phase(PHASES[0])
    notice = log.finish(run())
    assert notice is not None and "Permission denied" in notice and "\n" not in notice


def test_a_file_where_the_folder_should_be_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("mine")
    log = ConversationLog(tmp_path / "logs", SETTINGS)
    log.begin(ID, QUERY, BEGAN)
    notice = log.finish(run())
    assert notice is not None and str(tmp_path / "logs") in notice and log.file is None
    assert (tmp_path / "logs").read_text() == "mine"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "memory.db")
    yield store
    await store.close()


async def test_memory_finds_the_section_and_its_lines_again(tmp_path: Path, store: Store) -> None:
    folder = tmp_path / "logs"
    path = write_log(run(), folder, SETTINGS)
    file = path.relative_to(folder).as_posix()
    await store.index_log(file, path.read_text(encoding="utf-8"), ID)
    references = await store.read(recall_logs, parse_question("which oauth providers were compared"), [], limit=3)
    assert references and {each.file for each in references} == {file}
    assert {each.query_id for each in references} == {ID}
    first = next(each for each in references if each.phase == 6)
    assert first.section == "Phase 6: COLLECT (Agent Outputs)"
    text = section(folder, file, first.line_start, first.line_end)
    assert text is not None and text.startswith("### Phase 6: COLLECT")
    assert "done: Compare OAuth providers" in text and "Phase 7" not in text
    assert text.splitlines() == path.read_text().splitlines()[first.line_start - 1 : first.line_end]
    titles = [each.title for each in index_of(file, path.read_text())]
    assert [each for each in titles if each != "Execution Summary"] == [each for each in TITLES if each in titles][
        : len([each for each in titles if each != "Execution Summary"])
    ]


def test_the_answer_stands_in_the_log_as_the_user_got_it(tmp_path: Path) -> None:
    text = written(tmp_path)
    assert "\n".join(f"> {line}".rstrip() for line in ANSWER.splitlines()) in text


@pytest.mark.parametrize("name", ["a\0.md", "circle/a.md", "../a.md", "gone.md"])
def test_a_log_that_is_none_of_the_folder_is_not_gone_on_with(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "circle").symlink_to("circle")
    (tmp_path / "a.md").write_text("mine\n")
    assert not ConversationLog(folder, SETTINGS).resume(name, "q", 1.0, 2.0)
    assert (tmp_path / "a.md").read_text() == "mine\n"
