"""Imports for good: modules that stay to the end of the process, which the garbage collector need not walk again.

A model's SDK makes 85,000 objects. Each full collection of a daemon that has it would take 67 ms of the interpreter,
and comes the later, the more there is: what is garbage meanwhile, some thousand objects after each question, waits.
"""

from __future__ import annotations

import gc
import importlib
import sys


def import_for_good(*names: str) -> None:
    """Import modules, and have the collector pass over what there is from then on. Does nothing where they are there.

    Blocks for as long as the imports take.
    """
    if all(name in sys.modules for name in names):
        return
    gc.collect()  # what is garbage by now would stay as well
    collecting = gc.isenabled()
    gc.disable()  # imports make next to nothing that is to be collected
    try:
        for name in names:
            importlib.import_module(name)
        gc.freeze()
    finally:
        if collecting:
            gc.enable()
