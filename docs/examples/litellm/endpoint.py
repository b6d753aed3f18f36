"""The endpoint of ../aiohttp with a chain of its own: it starts a LiteLLM proxy, and an opencode that calls it.

python endpoint.py PORT. It needs: pip install 'turnproof[litellm-proxy]' aiohttp
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE, WORK = Path(__file__).parent, Path(os.environ["WORK"])
PROXY_KEY = f"sk-{secrets.token_urlsafe(24)}"
PASSWORD = secrets.token_urlsafe(24)
MODELS = ("open/weights-7b", "tiny")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, process, within):
    """Whether the condition came true, in so many seconds, while the process ran."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline and process.poll() is None:
        if condition():
            return True
        time.sleep(0.05)
    return False


def is_live(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def start_proxy():
    """The base URL of a LiteLLM proxy in front of $MODEL_URL, with a key of its own."""
    port = free_port()
    run = "from litellm import run_server; run_server()"
    options = ["--config", str(HERE / "proxy.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
    env = {**os.environ, **quiet, "LITELLM_MASTER_KEY": PROXY_KEY}
    process = subprocess.Popen([sys.executable, "-c", run, *options], env=env)
    if not until(lambda: is_live(f"http://127.0.0.1:{port}/health/liveliness"), process, within=90.0):
        sys.exit("the LiteLLM proxy did not come up")
    return f"http://127.0.0.1:{port}/v1"


def start_opencode(proxy_url):
    """The base URL of an opencode whose models are those of the proxy; None when none can be started."""
    options = {"baseURL": proxy_url, "apiKey": PROXY_KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {name: {} for name in MODELS}}
    settings = {"autoupdate": False, "share": "disabled", "provider": {"house": provider}}
    (WORK / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")
    log, port = WORK / "opencode.log", free_port()
    command = ["opencode", "serve", "--port", str(port), "--hostname", "127.0.0.1"]
    env = {**os.environ, "OPENCODE_SERVER_PASSWORD": PASSWORD}
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(command, cwd=WORK, env=env, stdout=output)
        except OSError as error:
            print("opencode cannot be started:", error, file=sys.stderr)
            return None
    # An answer on the port could be a stranger's: only what it says itself tells that it is ours.
    if not until(lambda: b"opencode server listening" in log.read_bytes(), process, within=40.0):
        print("opencode did not come up", file=sys.stderr)
        return None
    return f"http://127.0.0.1:{port}"


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    url = start_opencode(start_proxy())
    # Without an opencode every turn is refused with 502: nothing listens on port 1.
    os.environ |= {"OPENCODE_URL": url or "http://127.0.0.1:1", "OPENCODE_PASSWORD": PASSWORD}
    sys.path.insert(0, str(HERE.parent / "aiohttp"))
    from endpoint import serve

    serve(int(sys.argv[1]))


if __name__ == "__main__":
    main()
