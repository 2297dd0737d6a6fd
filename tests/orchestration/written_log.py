"""Log of a finished run, written as a run writes it: phase by phase."""

from __future__ import annotations

from pathlib import Path

from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.settings import ConversationSettings


def write_log(record: RunRecord, folder: Path, settings: ConversationSettings) -> Path:
    """Write it; its path."""
    log = ConversationLog(folder, settings)
    log.begin(record.id, record.query, record.started_at)
    for each in record.phases:
        log.phase(each, record.results)
    assert log.finish(record) is None and log.path is not None
    return log.path
