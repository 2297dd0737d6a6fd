"""`aurora manifest state`: an AURA-State header in words."""

from __future__ import annotations

import os
import sys

import click

from aurora_cli.errors import FINE, NO
from aurora_cli.output import style_of
from aurora_cli.settings import Settings
from aurora_cli.site_view import decoded_lines, print_document
from aurora_manifest.client.state import MAX_HEADER, read_state
from aurora_protocol.human_text import plain_lines


@click.command()
@click.argument("header")
@click.pass_obj
def state(settings: Settings, header: str) -> int:
    """Decode HEADER, the value of an AURA-State header, or - for standard input.

    Base64 and Base64URL are read, padded or not. Exits 2 when it cannot be decoded, 1 when it is no AURA-State.
    """
    text = sys.stdin.read(MAX_HEADER + 100) if header == "-" else header
    decoded = read_state(text)
    if settings.json:
        print_document({"state": decoded.document, "valid": not decoded.problems, "problems": decoded.problems})
    else:
        import json

        style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
        shown = json.dumps(decoded.document, ensure_ascii=False, indent=2)
        print("\n".join([*decoded_lines(decoded, style), *plain_lines(shown)]))
    return NO if decoded.problems else FINE
