"""An agent endpoint on aiohttp, in front of an opencode server that runs already: python endpoint.py PORT.

Each turn gets a session of its own and waits on opencode's synchronous route. It streams an answer as one chunk.
"""

import asyncio
import json
import os
import sys
import time
import uuid

import aiohttp
from aiohttp import web

AGENTS = {"solver": ("house", "open/weights-7b"), "clerk": ("house", "tiny"), "private": ("house", "tiny")}
KEYS = {os.environ["ENDPOINT_KEY"]: ["solver", "clerk"]}
OPENCODE, PASSWORD = os.environ.get("OPENCODE_URL"), os.environ.get("OPENCODE_PASSWORD", "")
DEADLINE = float(os.environ.get("DEADLINE", "6"))
TRUTHY_FLAG = os.environ.get("FLAW") == "truthy-flag"  # for a look at what a failure is told like


def refuse(status, type_, code, message, param=None):
    error = {"message": message, "type": type_, "code": code, "param": param}
    return web.json_response({"error": error}, status=status)


async def turn(agent, text):
    """One turn in a session of its own; its text and finish, or None when it failed. Leaving it aborts it upstream."""
    auth = aiohttp.BasicAuth("opencode", PASSWORD)
    async with aiohttp.ClientSession(OPENCODE, auth=auth) as http:
        async with http.post("/session", json={"title": agent}) as answer:
            session = (await answer.json())["id"]
        provider, model = AGENTS[agent]
        prompt = {"model": {"providerID": provider, "modelID": model}, "parts": [{"type": "text", "text": text}]}
        try:
            async with asyncio.timeout(DEADLINE), http.post(f"/session/{session}/message", json=prompt) as answer:
                body = await answer.json()
        except BaseException:
            await asyncio.shield(http.post(f"/session/{session}/abort"))
            raise
    if answer.status != 200 or body["info"].get("error") or body["info"].get("finish") in (None, "tool-calls"):
        return None
    finish = "length" if body["info"]["finish"] == "length" else "stop"
    return "".join(part["text"] or "" for part in body["parts"] if part["type"] == "text"), finish


async def complete(request):
    agents = KEYS.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
    if agents is None or not request.headers.get("Authorization", "").startswith("Bearer "):
        return refuse(401, "invalid_request_error", "invalid_api_key", "no such key")
    if request.method == "GET":
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "house"} for name in agents]
        return web.json_response({"object": "list", "data": listed})
    body = await request.json()
    if body["model"] not in agents:
        return refuse(404, "invalid_request_error", "model_not_found", f"no model {body['model']}")
    stream = bool(body.get("stream")) if TRUTHY_FLAG else body.get("stream") or False
    if not isinstance(body.get("stream"), bool | None) and not TRUTHY_FLAG:
        return refuse(400, "invalid_request_error", None, "stream must be a boolean", "stream")
    users = [message for message in body["messages"] if message["role"] == "user"]
    if not users:
        return refuse(400, "invalid_request_error", None, "there is no user message", "messages")
    content = users[-1]["content"]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    try:
        said = await turn(body["model"], text)
    except (TimeoutError, aiohttp.ClientError, ValueError, KeyError):
        said = None
    if said is None:
        return refuse(502, "server_error", "agent_error", "the agent's turn failed")
    text, finish = said
    frame = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body["model"]}
    if not stream:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        return web.json_response({**frame, "object": "chat.completion", "choices": [choice]})
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish}
    chunk = json.dumps({**frame, "object": "chat.completion.chunk", "choices": [choice]})
    return web.Response(text=f"data: {chunk}\n\ndata: [DONE]\n\n", content_type="text/event-stream")


def serve(port):
    """Serve until SIGTERM or Ctrl-C; a client that leaves ends its turn."""
    app = web.Application()
    app.add_routes([web.get("/v1/models", complete), web.post("/v1/chat/completions", complete)])
    web.run_app(app, host="127.0.0.1", port=port, handler_cancellation=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
