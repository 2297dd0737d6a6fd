"""What is asked of providers, to the byte, against transcripts that are kept: a changed prompt is a change one sees.

`AURORA_UPDATE_GOLDEN=1 pytest tests/orchestration/soar/test_golden.py` writes them anew; look at the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.llm.wire_formats import Kind
from tests.orchestration.soar.benches import Clock, bench
from tests.orchestration.soar.minds import Mind

FOLDER = Path(__file__).parent / "data"
MEDIUM = "Explain how expand fills a template and compare it with request"
TWO = ("Explain how expand fills a template", "Compare expand with request")


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_the_requests_of_a_run_are_the_same_to_the_byte(tmp_path: Path, kind: Kind) -> None:
    with LoopbackProvider() as provider:
        provider.otherwise = Mind(TWO)
        async with bench(tmp_path, provider.llm_settings(kind), provider.environ, now=Clock()) as it:
            run = await it.ask(MEDIUM)
        assert run.error is None
        # Agents work side by side: which asks first is nobody's business.
        told = sorted(json.dumps({"path": each.path, "body": each.body}, sort_keys=True) for each in provider.requests)
    transcript = json.dumps([json.loads(each) for each in told], indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    golden = FOLDER / f"golden_{kind}.json"
    if os.environ.get("AURORA_UPDATE_GOLDEN"):
        golden.write_text(transcript)
    assert transcript == golden.read_text()
