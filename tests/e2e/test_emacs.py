"""A real Emacs in batch mode, with eglot and with lsp-mode, set up with the very lines of its README."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Product, product_in
from tests.e2e.repositories import shop, write
from tests.wait_limits import HANG

README = Path(__file__).resolve().parents[2] / "editor-clients" / "emacs" / "README.md"
EMACS = shutil.which("emacs")
BROKEN = '{\n  "protocol": "AURA",\n  "version": "2.0"\n}\n'
START = """
(require 'package) (package-initialize) (require 'json) (require 'seq)
(setq debug-on-error nil seen nil top default-directory)
(defun see (name value) (push (cons name (if (listp value) (vconcat value) value)) seen))
(defun wait-for (what probe)
  (let ((deadline (+ (float-time) 20)) value)
    (while (not (setq value (funcall probe)))
      (when (> (float-time) deadline) (error "not in time: %s" what))
      (accept-process-output nil 0.05))
    value))
(defun at-price () (goto-char (point-min)) (search-forward "def total_price") (backward-char 2))
"""
END = """
(with-temp-file (getenv "PROBE_OUT") (insert (json-encode seen)))
(kill-emacs 0)
"""
EGLOT = """
(find-file "src/basket.py")
(apply #'eglot (eglot--guess-contact))
(wait-for "the session" #'eglot-current-server)
(at-price)
(let ((server (eglot-current-server)))
  (see 'root (expand-file-name (project-root (eglot--project server))))
  (jsonrpc-request server :aurora/index (make-hash-table) :timeout 20)
  (see 'hover (plist-get (plist-get
    (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams)) :contents) :value))
  (see 'symbols (seq-mapcat (lambda (kind) (mapcar (lambda (each) (substring-no-properties (car each))) (cdr kind)))
    (eglot-imenu))))
(cl-letf (((symbol-function 'completing-read) (lambda (_ places &rest _) (caar places))))
  (aurora-recall "total price of a basket"))
(see 'opened (vector (buffer-file-name) (line-number-at-pos)))
(find-file (expand-file-name ".well-known/aura.json" top))
(apply #'eglot (eglot--guess-contact))
(wait-for "the session" #'eglot-current-server)
(see 'wrong (mapcar (lambda (each)
    (vector (line-number-at-pos (flymake-diagnostic-beg each)) (flymake-diagnostic-text each)))
  (wait-for "diagnostics" (lambda () (flymake-diagnostics)))))
(eglot-shutdown-all)
"""
LSP_MODE = """
(setq lsp-auto-guess-root t lsp-session-file (expand-file-name "session" (getenv "HOME"))
      lsp-enable-file-watchers nil lsp-warn-no-matched-clients nil lsp-diagnostics-provider :flymake)
(find-file "src/basket.py")
(lsp)
(wait-for "the session" (lambda ()
  (and (lsp-workspaces) (eq 'initialized (lsp--workspace-status (car (lsp-workspaces)))))))
(at-price)
(see 'root (lsp--workspace-root (car (lsp-workspaces))))
(lsp-request "aurora/index" (make-hash-table))
(see 'hover (lsp-get (lsp-get
  (lsp-request "textDocument/hover" (lsp--text-document-position-params)) :contents) :value))
(see 'symbols (mapcar (lambda (each) (lsp-get each :name))
  (append (lsp-request "textDocument/documentSymbol"
    (lsp-make-document-symbol-params :text-document (lsp--text-document-identifier))) nil)))
(find-file (expand-file-name ".well-known/aura.json" top))
(lsp)
(see 'wrong (mapcar (lambda (each)
    (vector (1+ (lsp-get (lsp-get (lsp-get each :range) :start) :line)) (lsp-get each :message)))
  (append (wait-for "diagnostics" (lambda () (gethash (file-truename buffer-file-name) (lsp-diagnostics t)))) nil)))
"""

pytestmark = pytest.mark.skipif(EMACS is None, reason="emacs is not installed")


def blocks() -> dict[str, str]:
    found = re.findall(r"```elisp\n(;; aurora: ([^\n]+)\n.*?)```", README.read_text("utf-8"), re.DOTALL)
    return {name: block for block, name in found}


def has(package: str) -> bool:
    if EMACS is None:
        return False
    code = f"(progn (require 'package) (package-initialize) (require '{package}))"
    return subprocess.run([EMACS, "--batch", "-q", "--eval", code], capture_output=True, timeout=HANG).returncode == 0


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product_in(tmp_path_factory.mktemp("aurora") / "home") as product:
        yield product


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write(shop(tmp_path / "shop"), {".well-known/aura.json": BROKEN})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, timeout=HANG)
    return root


def run(product: Product, root: Path, folder: Path, setup: str, probe: str) -> Any:
    (folder / "bin").mkdir(parents=True)
    aurora = folder / "bin" / "aurora"
    aurora.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m aurora_cli "$@"\n')
    aurora.chmod(0o755)
    (folder / "probe.el").write_text(START + setup + probe + END)
    environment = {
        **product.environment,
        "HOME": str(folder),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PROBE_OUT": str(folder / "out.json"),
    }
    done = subprocess.run(
        [str(EMACS), "--batch", "-q", "-l", str(folder / "probe.el")],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert (folder / "out.json").exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads((folder / "out.json").read_text())


def check(seen: Any, root: Path) -> None:
    assert Path(seen["root"]).samefile(root)
    assert "def total_price(basket: Basket) -> int" in seen["hover"] and "pay_by_card" in seen["hover"].replace(
        "\\", ""
    )
    assert {"Basket", "total_price", "add_tax"} <= set(seen["symbols"])
    assert any(line == 3 and "2.0" in text for line, text in seen["wrong"]), seen["wrong"]


def test_eglot(product: Product, root: Path, tmp_path: Path) -> None:
    if not has("eglot"):
        pytest.skip("eglot is not installed (Debian: elpa-eglot)")
    seen = run(product, root, tmp_path / "home", blocks()["eglot"] + blocks()["recall"], EGLOT)
    check(seen, root)
    path, line = seen["opened"]
    assert Path(path).samefile(root / "src" / "basket.py")
    assert re.search("price|staticmethod", (root / "src" / "basket.py").read_text().splitlines()[line - 1])


def test_lsp_mode(product: Product, root: Path, tmp_path: Path) -> None:
    if not has("lsp-mode"):
        pytest.skip("lsp-mode is not installed (Debian: elpa-lsp-mode)")
    check(run(product, root, tmp_path / "home", blocks()["lsp-mode"], LSP_MODE), root)
