"""`python -m aurora_manifest.rules`: write the page of all rules into the package; with `-`, print it."""

from __future__ import annotations

import sys

from aurora_manifest.rules.page import FILE, page

if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(page())
    else:
        FILE.write_text(page(), encoding="utf-8")
