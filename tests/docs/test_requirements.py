"""Citations of the founding documents, in every form; that each has its line, `test_generated.py` holds."""

import pytest

from docs.generate.citations import cited


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("(AURORA §6.3.5, §6.6)", ["AURORA §6.3.5", "AURORA §6.6"]),
        ("AURA-M §3–5 has them", ["AURA-M §3", "AURA-M §4", "AURA-M §5"]),
        ("AURORA §5.3, §8.4–8.6", ["AURORA §5.3", "AURORA §8.4", "AURORA §8.5", "AURORA §8.6"]),
        ("AURORA Appendix D; App. C.2.", ["AURORA App. D", "AURORA App. C.2"]),
        ("AURORA §6.7.1, §6.3.5 and App. C.2, and", ["AURORA §6.7.1", "AURORA §6.3.5", "AURORA App. C.2"]),
        ('AURA-P "Core Concepts", "Schema reality".', ['AURA-P "Core Concepts"', 'AURA-P "Schema reality"']),
        ('AURORA §9.8, "Headless Flow"', ["AURORA §9.8"]),
        ("# as AURORA\n    # §6.3 has it", ["AURORA §6.3"]),
        ("AURA-M §5.3, and (§5.1, §5.2)", ["AURA-M §5.3", "AURA-M §5.1", "AURA-M §5.2"]),
        ("RFC 9110 §9.3.1, §9.3.5", []),
        ("ruling 13, AURORA §5.2", ["ruling 13", "AURORA §5.2"]),
        ("ruling.merged, AURORA Appendixes", []),
    ],
)
def test_citations_are_read_in_every_form(text: str, sections: list[str]) -> None:
    assert list(cited(text)) == sections
