"""What an editor does, through pytest-lsp: once over `aurora lsp` on standard input, once on the daemon's socket."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_lsp
from lsprotocol import types
from pygls.client import JsonRPCClient
from pygls.io_ import StdoutWriter, run_async
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pygls.exceptions import JsonRpcException

from tests.e2e.product import Product
from tests.e2e.repositories import SHOP, large, write
