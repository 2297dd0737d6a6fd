"""Layers of configuration and their precedence: what a workspace's own `.aurora/config.json` may say of how its
questions are answered, trusted or not (ruling 16).

A clone may have brought it along. So it never has a say in what is spent in sum, where logs go and how the daemon
works; guardrails and caps it can only make stricter; and until its user trusts it, nothing of it runs, redirects or
speaks up unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace

from aurora_orchestration.settings import SoarSettings
from aurora_server.configuration.config_file import (
    ConfigFile,
    SettingsError,
    users_document,
    workspaces_document,
    workspaces_path,
)
from aurora_server.configuration.marks import ConfigMember, members
from aurora_server.configuration.other_members import OTHER_MEMBERS
from aurora_server.configuration.settings import SECTIONS as DAEMON_SECTIONS
from aurora_server.configuration.soar import SECTIONS, built, given_in, laid_over
from aurora_server.configuration.values import converted

MOST_NAMED = 12
DEEPEST = 8

Steps = tuple[str, ...]
"""The names that lead to a member."""

Rank = Callable[[Any], Any]
"""How strict a value of some setting is: the larger the stricter."""


def _rank(member: ConfigMember) -> Rank:
    """Order of strictness of a setting's values, by which a workspace may only tighten them."""
    sign = -1 if member.marks["stricter"] == "lower" else 1
    choices = next((get_args(each) for each in (member.annotation, *get_args(member.annotation)) if _literal(each)), ())
    if choices:
        # `off` is what a workspace may try where nobody may: laxer than every choice there is.
        return ("off", *(each for each in choices if each != "off")).index
    return lambda value: sign * value


def _literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


_MARKED = [member for member in members(SoarSettings) if member.marks]

SAY: dict[str, str] = {member.place: member.marks["workspace"] for member in _MARKED if "workspace" in member.marks}
"""Rights of a workspace's configuration by dotted place: of `any`, or of one that is `trusted`. Below it, the same."""

STRICTER: dict[str, Rank] = {member.place: _rank(member) for member in _MARKED if "stricter" in member.marks}
"""Limits that a workspace can only make stricter, each with the rank of a value."""

OF_THE_USER = tuple(
    name for name in (*DAEMON_SECTIONS, *(name.partition(".")[0] for name, _ in SECTIONS.values())) if name not in SAY
)


class Notice(Struct, frozen=True):
    """Notice of what in a workspace's configuration does not hold, and the next step."""

    members: tuple[str, ...]
    what: str
    fix: str

    @property
    def line(self) -> str:
        """Both in one line."""
        return f"{self.what}; {self.fix}"


def settings_for(
    root: Path,
    trusted: bool,
    environ: Mapping[str, str],
    config_file: Path | None = None,
    flags: Mapping[str, str] | None = None,
) -> tuple[SoarSettings, list[Notice]]:
    """The settings of a run in the workspace at `root`: defaults < user < workspace < variables < flags.

    A file that the user names counts more than the workspace's; named by a flag (`--config`), more than variables too
    (App. C).
    `flags` may have `llm_provider` and `llm_model`. Reads files. Raises SettingsError for what is wrong in the user's
    file, a variable or a flag; what is wrong in the workspace's is a notice, and what it would have changed holds.
    """
    return layered(users_document(environ, config_file), root, trusted, environ, flags)


def layered(
    user: ConfigFile,
    root: Path,
    trusted: bool,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
) -> tuple[SoarSettings, list[Notice]]:
    """As `settings_for`, with the user's file read already."""
    said = {field: given_in(user, name) for field, (name, _) in SECTIONS.items()}
    path = workspaces_path(root)
    try:
        document = workspaces_document(root)
    except SettingsError as error:
        return _rooted(built(said, user, environ, flags), root), [_unusable((), str(error))]
    kept, notices = of_workspace(document, trusted)
    workspaces: set[str] = set()
    for field, (name, kind) in SECTIONS.items():
        if name not in kept.content:
            continue
        try:
            below = converted(name, kind, said[field], str(user.path)) if said[field] else kind()
            mine = _strict(name, given_in(kept, name), below, path, notices)
            above = laid_over(name, mine, said[field]) if user.named else laid_over(name, said[field], mine)
            converted(name, kind, above, str(path))
        except SettingsError as error:
            notices.append(_unusable((name,), str(error)))
            continue
        said[field] = above
        workspaces.add(name)
    return _rooted(built(said, user, environ, flags), root), notices


def of_workspace(document: ConfigFile, trusted: bool) -> tuple[ConfigFile, list[Notice]]:
    """Untrusted configuration filtered, the part of a workspace's document that counts, and notices of the rest."""
    content: dict[str, Any] = {}
    foreign: list[Steps] = []
    unproven: list[Steps] = []
    for member in _members(document.content):
        if member[0] not in SAY:
            if member[0] in OF_THE_USER and not _within(member, tuple(OTHER_MEMBERS)):
                foreign.append(member)
        elif not trusted and _needs_trust(member):
            unproven.append(member)
        else:
            _put(content, member, _at(document.content, member))
    notices: list[Notice] = []
    if unproven:
        what = f"{document.path}: {_few(unproven)} not used while this workspace is not trusted"
        notices.append(Notice(_dotted(unproven), what, "look at the file, then run: aurora trust"))
    if foreign:
        what = f"{document.path}: {_few(foreign)} not read from a workspace"
        notices.append(Notice(_dotted(foreign), what, "set it for all of them: aurora config set"))
    return ConfigFile(document.path, content), notices


def _needs_trust(member: Steps) -> bool:
    return any(say == "trusted" and _within(member, (place,)) for place, say in SAY.items())


def _strict(name: str, mine: dict[str, Any], below: Struct, path: Path, notices: list[Notice]) -> dict[str, Any]:
    """A workspace's section, without what would be laxer than what holds below it."""
    weaker: list[Steps] = []
    result: dict[str, Any] = {}
    for member in _members(mine):
        whole = (name, *member)
        rule = next((rule for each, rule in STRICTER.items() if _within(whole, (each,))), None)
        value = _at(mine, member)
        if rule is not None and _laxer(value, _held(below, member), rule):
            weaker.append(whole)
        else:
            _put(result, member, value)
    if weaker:
        what = f"{path}: {_few(weaker)} not used: a workspace can only make that stricter"
        notices.append(Notice(_dotted(weaker), what, "set it for all of them: aurora config set"))
    return result


def _laxer(value: Any, held: Any, rule: Callable[[Any], Any]) -> bool:
    """False also for what cannot be compared: reading it will say what is wrong with it."""
    try:
        return held is not None and bool(rule(value) < rule(held))
    except (TypeError, ValueError):
        return False


def _held(below: Any, member: Steps) -> Any:
    """Value at a path of nested settings; None where there is none."""
    for step in member:
        below = below.get(step) if isinstance(below, dict) else getattr(below, step, None)
    return below


def _rooted(soar: SoarSettings, root: Path) -> SoarSettings:
    """The same with the calibration file's relative path read from the workspace."""
    examples = soar.scoring.calibration_examples
    if examples.external_path is None:
        return soar
    path = root / Path(examples.external_path).expanduser()
    scoring = replace(soar.scoring, calibration_examples=replace(examples, external_path=str(path)))
    return replace(soar, scoring=scoring)


def _unusable(members: tuple[str, ...], why: str) -> Notice:
    return Notice(members, why, "until it is mended, what it would have changed holds")


def _members(value: dict[str, Any], above: Steps = ()) -> Iterator[Steps]:
    """Every member that is no object itself, or lies too deep to be a setting; empty objects too."""
    for name, inner in value.items():
        if isinstance(inner, dict) and inner and len(above) < DEEPEST:
            yield from _members(inner, (*above, name))
        else:
            yield (*above, name)


def _at(value: Any, member: Steps) -> Any:
    for step in member:
        value = value[step]
    return value


def _put(content: dict[str, Any], member: Steps, value: Any) -> None:
    *parents, last = member
    for parent in parents:
        content = content.setdefault(parent, {})
    content[last] = value


def _within(member: Steps, places: Sequence[str]) -> bool:
    """Whether a member is one of these, or inside one of them."""
    return any(member[: len(steps)] == tuple(steps) for steps in (place.split(".") for place in places))


def _dotted(members: Sequence[Steps]) -> tuple[str, ...]:
    return tuple(".".join(member) for member in members)


def _few(members: Sequence[Steps]) -> str:
    """`a.b and c.d are`, for the middle of a sentence."""
    names = [name[:100] for name in _dotted(members[:MOST_NAMED])]
    if len(members) > MOST_NAMED:
        names.append(f"{len(members) - MOST_NAMED} more")
    *first, last = names
    return f"{', '.join(first)} and {last} are" if first else f"{last} is"
