"""Which lifespan policies hold in a workspace, by all its sources (AURORA App. C.2)."""

from __future__ import annotations

from pathlib import Path

from aurora_memory.lifespans.policies import Layer, Merged, merged, section_of
from aurora_server.configuration.settings import Settings, SettingsError, read_document

VARIABLE = "AURORA_LIFESPAN_POLICIES"


def policies_of(root: Path, settings: Settings) -> Merged:
    """Built-in < the user's configuration < `.aurora/config.json` of `root` < the file AURORA_LIFESPAN_POLICIES names.

    Reads files. Never raises: what cannot be used is one line in `problems`, and what it would have replaced holds. A
    workspace need not be trusted for this: policies run nothing, and what they archive can be restored.
    """
    layers: list[Layer] = []
    problems: list[str] = []
    if settings.lifespans.given is not None:
        layers.append(Layer(settings.lifespans.place, settings.lifespans.given))
    named = settings.lifespans.file
    for path, required in ((root / ".aurora" / "config.json", False), (named, True)):
        if path is None:
            continue
        try:
            document = read_document(path, required=required, named_by=VARIABLE)
        except SettingsError as error:
            problems.append(str(error))
            continue
        section = section_of(document)
        if section is not None:
            layers.append(Layer(str(path), section))
        elif required:
            problems.append(f'{path} has no lifespan policies; put them under "policies" or unset {VARIABLE}')
    result = merged(layers)
    return Merged(result.policies, (*problems, *result.problems))
