"""A coding agent with the official Python SDK, which checks every answer against its schema.

    client.py stdio PROGRAM PROJECT COMMAND…    start the server, and talk to it over its input and output
    client.py http URL TOKEN                    talk to a server that is there already
"""

import json
import os
import subprocess
import sys
import time

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

READING = ["triage_failure", "list_flaky", "explain_test", "repro_command", "predict_diff"]
RUNNING = ["run_tests", "hunt", "cause", "verify_fix", "propose_fix"]
VICTIM = "test_shop.py::test_empty_cart"


def said(result):
    """The words of an answer."""
    return "\n".join(block.text for block in result.content)


async def ask(client, tool, progress=None, **arguments):
    """The structured part of an answer; the SDK has compared it with the schema of the tool."""
    result = await client.call_tool(tool, arguments, progress_callback=progress)
    assert not result.is_error, f"{tool}: {said(result)}"
    assert said(result).strip(), f"{tool} says nothing"
    return result.structured_content


async def refused(client, tool, *words, **arguments):
    """An answer that says what is wrong and what to do."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, f"{tool}: {said(result)}"
    for word in (*words, "next: "):
        assert word in said(result), f"`{word}` is not in: {said(result)}"


async def lists(client, may_run):
    """Tools, resources and prompts are there, and none that is not allowed."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    wanted = READING + (RUNNING if may_run else [])
    assert list(tools) == wanted, list(tools)
    for tool in tools.values():
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint == (tool.name in READING)
    resources = [str(it.uri) for it in (await client.list_resources()).resources]
    assert resources == ["flakeproof://report", "flakeproof://verdicts"], resources
    rules = (await client.read_resource("flakeproof://verdicts")).contents[0].text
    assert "Nothing is worse than calling a real failure flaky" in rules
    prompt = await client.get_prompt("mend_flaky_test", {"test": VICTIM})
    assert VICTIM in prompt.messages[0].content.text


async def mistakes(client):
    """What a client does wrong is told so that it can be mended."""
    await refused(client, "explain_test", "no test is called", test="test_that_does_not_exist")
    await refused(client, "repro_command", "no", test="test_that_does_not_exist")
    await refused(client, "explain_test", "tset", tset="x")
    await refused(client, "explain_test", "`--help`", test="--help")
    await refused(client, "list_flaky", "cursor", cursor="made up")
    await refused(client, "predict_diff", "of this project", paths=["/etc"])
    try:
        await client.call_tool("shell", {"command": "true"})
    except MCPError as error:
        assert "there is no tool `shell`" in str(error), error
    else:
        raise AssertionError("a tool that does not exist was called")


async def cancelled(client, project):
    """A call that is cancelled leaves no process behind, and the server goes on."""
    running = os.path.join(project, "running.pid")
    async with anyio.create_task_group() as group:

        async def call():
            await client.call_tool("run_tests", {"select": ["waits/test_wait.py"]})

        group.start_soon(call)
        with anyio.fail_after(120):
            while not os.path.exists(running):
                await anyio.sleep(0.05)
        group.cancel_scope.cancel()
    with open(running) as file:
        process = int(file.read())
    with anyio.fail_after(60):
        while os.path.exists(f"/proc/{process}"):
            await anyio.sleep(0.05)
    os.remove(running)
    await ask(client, "list_flaky")


async def dialogue(client, project):
    """From a red build to a proven fix."""
    heard = []

    async def progress(spent, budget, line):
        assert not heard or spent > heard[-1][0], "progress must grow"
        heard.append((spent, line))

    # The build is red: is it mine?
    run = await ask(client, "run_tests", progress)
    assert [it["test"] for it in run["failures"]] == [VICTIM], run
    assert any("running 3 tests" in line for _, line in heard), heard
    triage = await ask(client, "triage_failure")
    verdict = triage["failures"][0]["latest_verdict"]["verdict"]
    assert verdict == run["failures"][0]["verdict"] == "flaky", triage
    assert triage["failures"][0]["next"].startswith("not yours"), triage
    known = {"test": "test_empty_cart", "message": "AssertionError: the cart is not empty"}
    again = await ask(client, "triage_failure", failures=[known, {"test": "test_unseen"}])
    seen, unseen = again["failures"]
    assert seen["failed_like_this"]["runs"] == 1 and "does not excuse" in seen["next"], again
    assert "standing" not in unseen and "does not settle" in unseen["next"], again

    # Who makes it fail?
    hunt = await ask(client, "hunt", victim="test_empty_cart", budget_seconds=60)
    assert [it["polluters"] for it in hunt["flaky"]] == [["test_shop.py::test_add"]], hunt
    listed = await ask(client, "list_flaky", limit=1)
    assert listed["tests"][0]["kind"] == "victim" and listed["total"] == 1, listed
    explained = (await ask(client, "explain_test", test="test_empty_cart"))["tests"][0]
    assert "shop.CART" in explained["hunted"]["left_behind"][0], explained
    repro = await ask(client, "repro_command", test="test_empty_cart")
    assert repro["order"] == ["test_shop.py::test_add", VICTIM], repro
    history = await client.read_resource("flakeproof://tests/test_shop.py%3A%3Atest_empty_cart")
    assert json.loads(history.contents[0].text)["test"]["id"] == VICTIM

    # Is it mended? Not before something is changed.
    before = await ask(client, "verify_fix", test="test_empty_cart")
    assert before["verdict"] in ("still_flaky", "always_fails"), before
    proposed = await ask(client, "propose_fix", test="test_empty_cart")
    patch = proposed["patches"][0]
    assert patch["proven"] and "monkeypatch.setattr(shop" in patch["diff"], proposed
    subprocess.run(["git", "apply"], cwd=project, input=patch["diff"], text=True, check=True)
    after = await ask(client, "verify_fix", test="test_empty_cart")
    assert after["verdict"] == "fixed" and after["failures"] == 0, after


async def over_stdio(program, project, *command):
    begin = time.monotonic()
    parameters = StdioServerParameters(
        command=program, args=["mcp", "--allow-run", "--", *command], cwd=project, env=dict(os.environ)
    )
    async with Client(parameters) as client:
        await lists(client, may_run=True)
        await mistakes(client)
        await dialogue(client, project)
        await cancelled(client, project)
    print(f"{time.monotonic() - begin:.1f} s")


async def over_http(url, token):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            await lists(client, may_run=False)
            await mistakes(client)
            assert (await ask(client, "list_flaky"))["total"] == 0
            await refused(client, "hunt", "--allow-run")


anyio.run({"stdio": over_stdio, "http": over_http}[sys.argv[1]], *sys.argv[2:])
