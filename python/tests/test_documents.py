"""The code of docs/PYTHON.md, and examples/langgraph_agent, are run as they stand there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ctxc._program import program

ROOT = Path(__file__).parents[2]
AGENT = ROOT / "examples" / "langgraph_agent"
PROJECT = """
import pathlib, subprocess, pytest
from ctxc._program import program

@pytest.fixture
def project(tmp_path):
    subprocess.run([program(), "init", str(tmp_path)], check=True)
    return tmp_path
"""


def test_the_code_of_the_page_runs(pytester):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "PYTHON.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    pytester.makeconftest(PROJECT)
    pytester.makepyfile(**{f"test_{number}": block for number, block in enumerate(blocks)})
    first = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    first.assert_outcomes(passed=3, failed=1)
    first.stdout.fnmatch_lines(["*`pytest --ctxc-accept` stores them*"])
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "--ctxc-accept").assert_outcomes(passed=4)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=4)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program(), *arguments], cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})


def record(folder: Path) -> subprocess.CompletedProcess[str]:
    return run(folder, "record", "--script", "script.yaml", "--into", "recordings", "--name", "order", "--", sys.executable, "agent.py")


def requests(folder: Path) -> list[object]:
    return [json.loads(line)["request"] for line in (folder / "recordings" / "order.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_langgraph_agent_passes_and_fails_when_a_description_is_edited(tmp_path):
    folder = tmp_path / "agent"
    shutil.copytree(AGENT, folder)
    recorded = record(folder)
    assert recorded.stdout == "Your order is in Oslo. It arrives tomorrow.\n" and "recorded 3 calls of 1 model (gpt-4.1)" in recorded.stderr
    assert requests(folder) == requests(AGENT)
    assert all(json.loads(line)["answered_by"] == "script" for line in (AGENT / "recordings" / "order.jsonl").read_text().splitlines())
    assert "nothing found" in run(folder, "check", "recordings").stdout
    assert run(folder, "eval").returncode == 0
    agent = folder / "agent.py"
    agent.write_text(agent.read_text().replace("Look an order up by its number", "Find orders"))
    assert record(folder).returncode == 0
    failed = run(folder, "eval")
    assert failed.returncode == 1
    assert "tool 1 (find_order), description: “Find orders” in place of “Look an order up by its number”" in failed.stdout


def test_a_mocked_agent_is_explained(tmp_path):
    folder = tmp_path / "agent"
    shutil.copytree(AGENT, folder)
    mock = "import os\nos.environ['OPENAI_API_KEY'] = 'none'\nfrom unittest import mock\nimport agent\nfrom langchain_core.messages import AIMessage\n"
    mock += "with mock.patch.object(agent.ChatOpenAI, 'invoke', return_value=AIMessage('hi')), mock.patch.object(agent.ChatOpenAI, 'bind_tools', lambda self, tools: self):\n"
    mock += "    print(agent.build().invoke({'messages': [agent.HumanMessage('hi')]})['messages'][-1].content)\n"
    (folder / "mocked.py").write_text(mock)
    done = run(folder, "record", "--", sys.executable, "mocked.py")
    assert done.returncode == 0 and done.stdout == "hi\n", done.stderr
    assert "the proxy received no connection" in done.stderr and "a mocked client sends nothing" in done.stderr
