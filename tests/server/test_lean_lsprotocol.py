"""lsprotocol's classes, completed at first use: the same as lsprotocol's own, and few of them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.wait_limits import HANG

_TELL = """
import json, re, sys
from lsprotocol import converters, types
import attrs
from aurora_server.session.converter import shared_converter
from tests.server.messages_of_editors import ANSWERS, MESSAGES

def plain(value):
    return re.sub(" at 0x[0-9a-f]+", "", str(value))

converter = shared_converter() if "lean" in sys.argv else converters.get_converter()
read = [converter.structure(message, types.METHOD_TO_TYPES[message["method"]][0]) for message in MESSAGES]
said = converter.unstructure([*read, *ANSWERS])
converters.get_converter()
classes = {
    name: [
        (field.name, str(field.type), str(field.default), field.alias, field.kw_only, plain(field.validator))
        for field in attrs.fields(each)
    ]
    for name, each in types.ALL_TYPES_MAP.items() if isinstance(each, type) and attrs.has(each)
}
print(json.dumps([classes, said]))
"""

_COUNT = """
import asyncio, attrs
from types import SimpleNamespace
from aurora_server.session import lean_lsprotocol
lean_lsprotocol.load()
from lsprotocol import types
from aurora_server.session import converter
from aurora_server.lsp.features import create_server
from tests.server.messages_of_editors import MESSAGES

async def main():
    converter.warm_up()
    converter.get_ready_for(MESSAGES[0])
    create_server(SimpleNamespace(workspaces=None), print)

asyncio.run(main())
classes = [each for each in vars(types).values() if isinstance(each, type) and "__attrs_attrs__" in vars(each)]
print(len(classes), sum(isinstance(vars(each)["__attrs_attrs__"], tuple) for each in classes))
"""

_AT_ONCE = """
import sys, threading
from aurora_server.session import lean_lsprotocol
lean_lsprotocol.load()
from lsprotocol import types
sys.setswitchinterval(1e-6)
made, start = [], threading.Barrier(8)

def make():
    start.wait()
    for name in ("Position", "Location", "Hover", "CodeLens", "Command", "TextEdit", "Diagnostic", "WorkspaceFolder"):
        each = getattr(types, name)
        values = {"Position": (0, 0), "Hover": ("x",), "CodeLens": (None,)}.get(name, ("x", "y"))
        made.append(each(*values))

threads = [threading.Thread(target=make) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(made))
"""

_BESIDE = """
import sys, attrs
before = attrs.define
from aurora_server.session import lean_lsprotocol


class ImportedMeanwhile:
    found = []

    def find_spec(self, name, path=None, target=None):
        if name == "lsprotocol.types":
            @attrs.define
            class Another:
                text: str

            self.found.append(Another.__dict__["__attrs_attrs__"])


sys.meta_path.insert(0, ImportedMeanwhile())
lean_lsprotocol.load()
assert attrs.define is before
assert [type(each) is not lean_lsprotocol._Unfinished for each in ImportedMeanwhile.found] == [True]
from lsprotocol import types
try:
    types.Position("one", 2)
except ValueError as error:
    print(type(error).__name__)
edit = types.TextEdit(types.Range(types.Position(1, 2), types.Position(3, 4)), new_text="x")
print(edit.range.end.line, edit.new_text, attrs.evolve(edit, new_text="y").new_text)
"""


def run(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def told(*arguments: str) -> Any:
    lean = "from aurora_server.session import lean_lsprotocol; lean_lsprotocol.load()\n" if "lean" in arguments else ""
    return json.loads(run(lean + _TELL, *arguments))


def test_every_class_has_the_fields_it_has_without_us_and_every_message_reads_and_writes_the_same() -> None:
    lean, plain = told("lean"), told("plain")
    assert len(plain[0]) > 500
    assert lean[0] == plain[0]
    assert lean[1] == plain[1]


def test_a_session_begins_with_few_of_the_classes_completed() -> None:
    """Else lsprotocol or attrs has changed what this relies on: nothing breaks then, but every start takes longer."""
    classes, completed = map(int, run(_COUNT).split())
    assert classes > 500
    assert 20 < completed < classes / 4


def test_threads_that_use_a_class_first_at_once_all_get_it_whole() -> None:
    assert run(_AT_ONCE) == "64"


def test_a_class_takes_and_refuses_what_lsprotocols_own_does() -> None:
    """And a class of another module, imported meanwhile, is made whole at once: it is none of ours to put off."""
    assert run(_BESIDE).split() == ["ValueError", "3", "x", "y"]
