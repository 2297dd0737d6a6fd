"""Swift before its grammar (preprocessing): a macro as what a parameter has by default, which it knows as a statement's
only, and conditionals, with which no body may begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DEFAULT = re.compile(
    rb"(=[ \t]{0,8}+)#(?!(?:file|fileID|filePath|line|column|function|dsohandle)\b)"
    rb"(?=[a-z_]\w{2,80}+[ \t\r\n]{0,80}+[,)])"
)
"""`sourceLocation: SourceLocation = #_sourceLocation`"""

_DIRECTIVE = re.compile(rb"(?m)^[ \t]{0,80}+#(?:if|elseif|else|endif)\b[^\r\n]*+")


def hidden(source: bytes) -> bytes:
    """The source with a name in place of such a macro, byte for byte as long."""
    return _DEFAULT.sub(rb"\1_", source) if b"#" in source else source


def mended(source: bytes, _is_read: Callable[[bytes], bool]) -> bytes:
    """The source without the directives of its conditionals, byte for byte as long: all branches stay."""
    return _DIRECTIVE.sub(lambda match: b" " * len(match[0]), source)
