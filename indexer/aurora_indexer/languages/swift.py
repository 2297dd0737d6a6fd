"""Swift before its grammar (preprocessing): a macro as what a parameter has by default, which it knows as a statement's
only."""

from __future__ import annotations

import re

_DEFAULT = re.compile(
    rb"(=[ \t]{0,8}+)#(?!(?:file|fileID|filePath|line|column|function|dsohandle)\b)"
    rb"(?=[a-z_]\w{2,80}+[ \t\r\n]{0,80}+[,)])"
)
"""`sourceLocation: SourceLocation = #_sourceLocation`"""


def hidden(source: bytes) -> bytes:
    """The source with a name in place of such a macro, byte for byte as long."""
    return _DEFAULT.sub(rb"\1_", source) if b"#" in source else source
