"""`python -m aurora_cli` is `aurora`."""

from __future__ import annotations

import sys

from aurora_cli import main

if __name__ == "__main__":
    sys.exit(main())
