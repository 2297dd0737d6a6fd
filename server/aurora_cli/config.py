"""`aurora config` (get, set, path, init): what is configured, the values of settings and where they come from, and how
to change them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aurora_cli.errors import FINE, NO
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json, style_of_output
from aurora_protocol.human_text import plain

if TYPE_CHECKING:
    from aurora_server.configuration.effective import Effective


@click.group(no_args_is_help=False)
def config() -> None:
    """Show and change the configuration."""


@config.command()
@click.argument("key", default="")
@click.pass_obj
def get(settings: GlobalOptions, key: str) -> None:
    """Show a setting, or a section, and where each value comes from. Without KEY, everything that is no default."""
    from aurora_server.configuration import schema_lookup
    from aurora_server.configuration.config_file import SettingsError
    from aurora_server.configuration.effective import effective

    root = settings.workspace
    values, notices = effective(root, _trusted(settings, root), os.environ, settings.config)
    chosen = {name: each for name, each in values.items() if name == key or name.startswith(f"{key}.") or not key}
    if not chosen:
        chosen = _unlisted(settings, key)
    if not chosen:
        raise SettingsError(f"'{key}' is not a setting; {schema_lookup.unknown_hint(key)}")
    chosen = {name: _without_secrets(name, each) for name, each in chosen.items()}
    _warn(settings, root)
    for notice in notices:
        print(f"aurora: {plain(notice.line)}", file=sys.stderr)
    if settings.json:
        print_json(
            {
                "settings": {
                    name: {"value": each.value, "source": each.source, "place": each.place}
                    for name, each in chosen.items()
                }
            }
        )
        return
    style = style_of_output(settings)
    shown = chosen if key else {name: each for name, each in chosen.items() if each.source != "default"}
    for name, each in shown.items():
        value = plain(json.dumps(each.value, ensure_ascii=False))
        origin = f"{each.source} {each.place}" if each.place else each.source
        print(f"{'' if name == key else f'{name} = '}{value}  {style.dim(f'({origin})')}")
    if not shown:
        print("everything has its default; aurora config show-defaults lists them")


@config.command("set", context_settings={"ignore_unknown_options": True})  # a VALUE may be -0.2
@click.argument("pairs", nargs=-1, required=True, metavar="KEY VALUE [KEY VALUE]…")
@click.option("--project", is_flag=True, help="Change the workspace's .aurora/config.json, not your own file.")
@click.pass_obj
def set_(settings: GlobalOptions, pairs: tuple[str, ...], project: bool) -> None:
    """Change settings in your file. The value null removes one, so that its default holds again."""
    from aurora_protocol.address import home
    from aurora_server.configuration.config_file import users_path, workspaces_path
    from aurora_server.configuration.edit import parsed, put

    if strange := next((key for key in pairs[::2] if key.startswith("-")), None):
        raise click.NoSuchOption(strange, ctx=click.get_current_context())
    if len(pairs) % 2:
        raise click.UsageError("every KEY needs a VALUE")
    changes = [(key, parsed(key, text)) for key, text in zip(pairs[::2], pairs[1::2], strict=True)]
    path = workspaces_path(settings.workspace) if project else users_path(os.environ, settings.config)[0]
    put(path, home(os.environ), changes, of_workspace=project)
    for line in _overruled(settings, [key for key, value in changes if value is not None], project=project):
        print(f"aurora: {plain(line)}", file=sys.stderr)
    if settings.json:
        print_json({"file": str(path), "changed": dict(changes)})
        return
    for key, value in changes:
        said = f"{key} has its default again" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}"
        print(f"{plain(said)}  ({path})")


@config.command()
@click.pass_obj
def path(settings: GlobalOptions) -> None:
    """Name the files that are read; each weighs more than the one before."""
    from aurora_server.configuration.config_file import users_path, workspaces_path

    root = settings.workspace
    files: list[dict[str, Any]] = [
        {"layer": "user", "path": str(users_path(os.environ, settings.config)[0])},
        {"layer": "workspace", "path": str(workspaces_path(root)), "trusted": _trusted(settings, root)},
    ]
    for each in files:
        each["exists"] = Path(str(each["path"])).is_file()
    if settings.json:
        print_json({"files": files})
        return
    for each in files:
        remarks = [str(each["layer"]), *([] if each["exists"] else ["not there"])]
        if each.get("trusted") is False and each["exists"]:
            remarks.append("not trusted")
        print(f"{each['path']}  ({', '.join(remarks)})")


@config.command("show-defaults")
def show_defaults() -> None:
    """Print every setting with its default, as a file would have it."""
    from aurora_server.configuration.effective import defaults_file

    print_json(defaults_file())


@config.command()
@click.pass_obj
def init(settings: GlobalOptions) -> int:
    """Write a file with every default, to be edited. Exits 1 where there is a file already."""
    from aurora_protocol.address import home
    from aurora_server.configuration.config_file import change, users_path
    from aurora_server.configuration.effective import defaults_file

    place = users_path(os.environ, settings.config)[0]
    written = False

    def first(document: dict[str, Any]) -> dict[str, Any]:
        nonlocal written
        written = not document
        return document or defaults_file()

    change(place, home(os.environ), first)
    if settings.json:
        print_json({"file": str(place), "written": written})
    else:
        print(f"wrote {place}" if written else f"{place} is there already and was left as it is")
    return FINE if written else NO


def _without_secrets(name: str, each: Effective) -> Effective:
    """Headers may hold keys: their names are enough."""
    from msgspec.structs import replace

    if name.endswith(".headers") and isinstance(each.value, dict):
        return replace(each, value=dict.fromkeys(each.value, "…"))
    return each


def _overruled(settings: GlobalOptions, keys: list[str], *, project: bool) -> Iterator[str]:
    """What of members just set in a file does not hold in this workspace, and why."""
    from aurora_server.configuration.config_file import SettingsError
    from aurora_server.configuration.effective import effective

    root = settings.workspace
    try:
        values, notices = effective(root, _trusted(settings, root), os.environ, settings.config)
    except SettingsError as error:
        yield str(error)
        return
    for notice in notices:
        if any(_same_place(key, member) for key in keys for member in notice.members):
            yield notice.line
    above = ("environment",) if project else ("workspace", "environment")
    for name, each in values.items():
        if each.source in above and any(_same_place(key, name) for key in keys):
            held = json.dumps(_without_secrets(name, each).value, ensure_ascii=False)
            what = f"the variable {each.place}" if each.source == "environment" else each.place
            yield f"{name} is {held} here: {what} weighs more than what was set"


def _same_place(name: str, other: str) -> bool:
    """Whether one of two dotted names is the other, or within it."""
    return f"{name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{name}.")


def _unlisted(settings: GlobalOptions, key: str) -> dict[str, Effective]:
    """A member that is read elsewhere (policies), or has no value: as the user's file has it."""
    from aurora_server.configuration import schema_lookup
    from aurora_server.configuration.config_file import users_document
    from aurora_server.configuration.effective import Effective

    said = schema_lookup.member(key)
    if said is None:
        return {}
    document = users_document(os.environ, settings.config)
    place: Any = document.content
    for step in key.split("."):
        if not isinstance(place, dict) or step not in place:
            return {key: Effective(_default_of(key, said), "default")}
        place = place[step]
    return {key: Effective(place, "user", str(document.path))}


def _default_of(key: str, said: dict[str, Any]) -> Any:
    """The default of a member that no section has: as `show-defaults` tells it, or as the schema does."""
    from aurora_server.configuration.effective import defaults_file

    place: Any = defaults_file()
    for step in key.split("."):
        if not isinstance(place, dict) or step not in place:
            return said.get("default")
        place = place[step]
    return place


def _warn(settings: GlobalOptions, root: Path) -> None:
    """Say on standard error what nothing reads in the files."""
    from aurora_server.configuration import schema_lookup
    from aurora_server.configuration.config_file import SettingsError, read_document, users_path, workspaces_path

    for file in (users_path(os.environ, settings.config)[0], workspaces_path(root)):
        try:
            document = read_document(file, required=False)
        except SettingsError as error:
            print(f"aurora: {plain(str(error))}", file=sys.stderr)
            continue
        for each in schema_lookup.unknown(document):
            print(plain(f"aurora: {file}: {each.line}"), file=sys.stderr)


def _trusted(settings: GlobalOptions, root: Path) -> bool:
    from aurora_server.configuration.trust import Trust

    return Trust(settings.address.home).is_trusted(root)
