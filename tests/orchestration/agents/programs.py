"""Agents for tests: real programs, written to files and run as they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from aurora_orchestration.agents.task import Task
from aurora_orchestration.types import Agent, Subgoal

SUBGOAL = Subgoal(id="SG1", description="Find who expands url templates", agent="finder", expected_output="file:line")
TASK = Task(subgoal=SUBGOAL, query="where are url templates expanded?", goal="know the place")

ANSWERS = """
import json, sys
told = json.load(sys.stdin)
print(json.dumps({"subgoal_id": told["subgoal"]["id"], "agent_id": told["agent_id"], "status": "success",
  "output": {"summary": "expand() in a.py:1", "data": {"attempt": told["attempt"]}, "confidence": 0.9},
  "metadata": {"tools_used": ["grep"]}}))
"""

SHOWS_ENVIRONMENT = """
import json, os, sys
sys.stdin.read()
print(json.dumps({"summary": "seen", "confidence": 1, "data": {"env": dict(os.environ), "cwd": os.getcwd()}}))
"""

FORKS_AND_HANGS = """
import os, subprocess, sys, time
marks = sys.argv[1]
def child(name, **more):
    code = f"import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n"
    code += f"open({marks!r} + '/{name}', 'w').write(str(os.getpid()))\\ntime.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code], **more)
child("same_group")
child("own_session", start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(marks + "/daemonised", "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
open(marks + "/agent", "w").write(str(os.getpid()))
time.sleep(600)
"""

LEAVES_A_CHILD = """
import subprocess, sys
sys.stdin.read()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open(sys.argv[1] + "/left", "w").write(str(child.pid))
print('{"summary": "done, and gone", "confidence": 0.8}')
"""

FLOODS = """
import sys
while True:
    sys.stdout.write("x" * 65536 + "\\n")
"""

ASKS_BY_LINE = """
import json, sys
json.loads(sys.stdin.readline())
print(json.dumps({"question": "which budget?"}), flush=True)
answer = json.loads(sys.stdin.readline())["answer"]
print(json.dumps({"summary": f"budget is {answer}", "confidence": 0.9}))
"""

ASKS_BY_ENDING = """
import json, sys
told = json.load(sys.stdin)
if told["interactions"]:
    print(json.dumps({"summary": "budget is " + told["interactions"][0]["answer"], "confidence": 0.9}))
else:
    print(json.dumps({"question": "which budget?"}))
"""

FAILS = """
import sys
print("Traceback: something", file=sys.stderr)
print("no such model \\x1b[31m", file=sys.stderr)
sys.exit(3)
"""


def program(folder: Path, code: str, **more: Any) -> Agent:
    """An agent that runs `code` with this Python."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"agent_{abs(hash(code)) % 10**8}.py"
    path.write_text(code)
    arguments = (str(path), *more.pop("arguments", ()))
    return Agent(
        **{"id": "finder", "type": "executable", "command": sys.executable, "arguments": arguments, **more}  # type: ignore[arg-type]
    )


MCP_SERVER = """
import json, os, sys, time

def tool(name, said, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": said, "inputSchema": schema}

TEXT = {"type": "string"}
TOOLS = [
    tool("search_templates", "Search where url templates are expanded.", query=TEXT),
    tool("weather", "The weather of a city.", city=TEXT, day={"type": "integer"}),
    tool("hang", "Never done.", query=TEXT),
    tool("flood", "Too much.", query=TEXT),
    tool("ask_budget", "Ask for the budget.", question=TEXT),
]

def call(name, query):
    if name == "hang":
        with open(os.environ["MARK"], "w") as mark:
            mark.write(str(os.getpid()))
        time.sleep(600)
    if name == "ask_budget":
        schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
        asked = {"message": "what may it cost?", "requestedSchema": schema}
        print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": asked}), flush=True)
        told = json.loads(sys.stdin.readline())["result"]
        return {"content": [{"type": "text", "text": f"{told['action']}: {told.get('content', 'unknown')}"}]}
    while name == "flood":
        sys.stdout.write("y" * 65536)
        sys.stdout.flush()
    return {"content": [{"type": "text", "text": f"found: {query}"}]}

for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked.get("method"), asked.get("params") or {}
    if "id" not in asked or method is None:
        continue
    said = {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        about = {"name": "notes", "version": "1"}
        version = params["protocolVersion"]
        said["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif method == "tools/list":
        said["result"] = {"tools": TOOLS}
    elif method == "tools/call":
        said["result"] = call(params["name"], params.get("arguments", {}).get("query", ""))
    else:
        said["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(said), flush=True)
"""
WITH_SDK = """
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("notes")

class Budget(BaseModel):
    amount: int

@server.tool()
async def ask_budget(question: str, ctx: Context) -> str:
    "Ask for the budget."
    told = await ctx.elicit("what may it cost?", Budget)
    return f"{told.action}: {told.data.amount if told.action == 'accept' else 'unknown'}"

@server.tool()
def search_templates(query: str) -> str:
    "Search where url templates are expanded."
    return "found: " + query

server.run()
"""


def mcp_server(folder: Path, code: str = MCP_SERVER, **more: Any) -> Agent:
    """An agent that is an MCP server: of plain lines, which starts in a moment, or written with the SDK."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "mcp_server.py"
    path.write_text(code)
    return Agent(**{"id": "notes", "type": "mcp", "command": sys.executable, "arguments": (str(path),), **more})  # type: ignore[arg-type]
