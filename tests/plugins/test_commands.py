"""Commands of plug-ins: run like ours, told in the help, and looked for only when a command is none of ours."""

import json
import subprocess
import sys
from pathlib import Path

from tests.e2e.product import Product
from tests.plugins.environment import install, run, uninstall


def test_a_command_of_a_plugin_is_one_of_auroras(product: Product, python: Path, shop: Path) -> None:
    install(python)
    assert run(product, python, shop, "index").returncode == 0
    loud = run(product, python, shop, "shout", "evict the oldest cache entry")
    assert (loud.returncode, loud.stdout) == (0, "CACHE.EVICT\n"), loud.stderr
    told = run(product, python, shop, "shout", "evict the oldest cache entry", "--json")
    assert json.loads(told.stdout) == {"names": ["CACHE.EVICT"]}  # global options stand behind it as well
    nothing = run(product, python, shop, "shout", "zebra")
    assert (nothing.returncode, nothing.stdout) == (1, "\n")


def test_the_help_tells_of_it_and_a_broken_one_costs_a_line(product: Product, python: Path, shop: Path) -> None:
    install(python)
    help_ = run(product, python, shop, "--help")
    assert help_.returncode == 0
    assert "shout" in help_.stdout and "loudly" in help_.stdout and "hush" not in help_.stdout
    said = help_.stderr.splitlines()
    assert len(said) == 2, said
    assert any("hush of aurora-example 1.0 (aurora.commands) is left out: TypeError" in line for line in said)
    assert any("index of aurora-example 1.0 (aurora.commands) is left out: AURORA has" in line for line in said)
    install(python, broken=True)
    unknown = run(product, python, shop, "shout", "x")
    assert unknown.returncode == 2 and "RuntimeError: no luck" in unknown.stderr
    assert unknown.stderr.splitlines()[-1].startswith("aurora: No such command 'shout'")
    assert run(product, python, shop, "--version").returncode == 0
    uninstall(python)


def test_our_own_commands_do_not_look_for_plugins(shop: Path, product: Product) -> None:
    code = (
        "import sys; from aurora_cli.app import run; run(['mem', '--help']);"
        "print('aurora_protocol.plugins' in sys.modules, 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=shop,
        env=product.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "False False"


def test_doctor_says_which_are_left_out_why_and_what_to_do(product: Product, python: Path, shop: Path) -> None:
    install(python)
    told = run(product, python, shop, "doctor", "--json")
    found = {each["what"]: each["fix"] for each in json.loads(told.stdout)["findings"] if "plug-in" in each["what"]}
    assert {what.split(" is left out: ")[0] for what in found} == {
        "plug-in hush of aurora-example 1.0 (aurora.commands)",
        "plug-in index of aurora-example 1.0 (aurora.commands)",
        "plug-in taken of aurora-example 1.0 (aurora.mcp_tools)",
    }
    assert set(found.values()) == {"update or uninstall aurora-example"}
    assert told.stderr == "", "said once"
    run(product, python, shop, "daemon", "stop")
    install(python, broken=True)
    told = run(product, python, shop, "doctor")
    assert told.returncode == 0, "AURORA itself is sound"
    for group, name in (("languages", "luau"), ("document_formats", "minutes"), ("mcp_tools", "names")):
        line = f"plug-in {name} of aurora-example 1.0 (aurora.{group}) is left out: RuntimeError: no luck"
        assert told.stdout.count(line) == 1, told.stdout
    assert "update or uninstall aurora-example, then: aurora daemon stop" in told.stdout
    uninstall(python)
