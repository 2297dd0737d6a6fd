"""What TypeScript's grammar gets to see of Vue's and Svelte's components, and what comes of it."""

from __future__ import annotations

import pytest

from aurora_indexer.languages.single_file_components import hidden
from aurora_indexer.parse.chunk_parser import parse_file
from tests.growth import grows_with_length

VUE = """<!-- Rings when the dish is done. -->
<template>
  <v-btn :title="`wait > ${minutes}`" @click="start()">{{ label(minutes) }}</v-btn>
</template>

<script lang="ts">
import { inheritAll } from "~/lib/attrs";
export default inheritAll({ name: "KitchenTimer" });
</script>

<script setup lang="ts" generic="T extends string">
import { useAlarm } from "~/composables/use-alarm";

/** Begins to count down. */
function start(minutes: number) {
  useAlarm().ring(minutes);
}
const label = (minutes: number) => `${minutes} min`;
</script>

<style scoped>
.timer { color: red; }
</style>
"""

SVELTE = """<script lang="ts">
  import { ring } from "./alarm";
  let left = 3;
  function tick() {
    left -= 1;
    if (left < 1) { ring(); }
  }
</script>

{#if left > 0}
  <button on:click={tick}>{left}</button>
{/if}
"""


def test_a_component_is_what_its_scripts_define_where_they_stand() -> None:
    parsed = parse_file("KitchenTimer.vue", VUE.encode())
    assert (parsed.language, parsed.syntax_errors) == ("typescript", 0)
    places = {each.name: (each.kind, each.line_start, each.line_end) for each in parsed.chunks}
    assert places == {
        "<module>": ("module", 1, 23),
        "start": ("function", 14, 17),
        "label": ("function", 18, 18),
    }
    (start,) = [each for each in parsed.chunks if each.name == "start"]
    assert (start.docstring, start.signature) == ("Begins to count down.", "function start(minutes: number)")
    assert {each.module for each in parsed.imports} == {"~/lib/attrs", "~/composables/use-alarm"}


def test_its_markup_is_words_of_its_remainder() -> None:
    module = parse_file("KitchenTimer.vue", VUE.encode()).chunks[0]
    words = set().union(*(part.occurrences for part in module.parts))
    assert {"btn", "dish", "inherit"} <= words and "alarm" in words


def test_a_component_without_a_suffix_of_its_language_in_front_of_its_markup() -> None:
    parsed = parse_file("Timer.svelte", SVELTE.encode())
    assert [(each.name, each.line_start) for each in parsed.chunks] == [("<module>", 1), ("tick", 4)]
    assert parsed.syntax_errors == 0


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        pytest.param("<script>\nf()\n</script>\n", "        \nf()\n         \n", id="a script"),
        pytest.param("<a>\nf()\n</a>\n", "   \n   \n    \n", id="markup alone"),
        pytest.param("<SCRIPT a='>'>f()</Script >", " " * 14 + "f()" + " " * 10, id="in any case"),
        pytest.param(
            '<a>\n<script b="</script>">\nf()</script>', "   \n" + " " * 22 + "\nf()" + " " * 9, id="a tag's text"
        ),
        pytest.param("<a>\n<script>\nf()\n", "   \n" + " " * 8 + "\nf()\n", id="a script that nothing ends yet"),
        pytest.param("<p>é</p>", "          "[:9], id="as long in bytes"),
        pytest.param("<scripts>\nf()\n</scripts>", " " * 9 + "\n   \n" + " " * 10, id="another tag"),
    ],
)
def test_what_is_seen(source: str, seen: str) -> None:
    assert hidden(source.encode()).decode() == seen


@pytest.mark.parametrize(
    "source",
    [
        "const page = `\n<script>f()</script>\n`;\n",
        "<any>window;\nf();\n",
        "",
        "// <template>\nf();\n",
    ],
)
def test_what_is_no_component_is_seen_as_it_is(source: str) -> None:
    given = source.encode()
    assert hidden(given) is given


@pytest.mark.parametrize("piece", [b"<script>\n", b"<script '", b"</script ", b"<a>\n"])
def test_it_grows_with_length(piece: bytes) -> None:
    assert grows_with_length(lambda count: hidden(b"<a>\n" + piece * count + b"\n</a>"), 4000, 64_000)
