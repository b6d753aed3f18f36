"""Asks an endpoint through LiteLLM's SDK: MODE BASE_URL KEY MODEL TEXT. Prints {"text"} or {"raised", "status"}."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would be downloaded


def main(mode: str, url: str, key: str, model: str, text: str) -> None:
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    try:
        answer = litellm.completion(
            model=f"openai/{model}",
            api_base=url,
            api_key=key,
            messages=[{"role": "user", "content": text}],
            stream=mode == "stream",
            max_retries=0,
        )
        if mode == "stream":
            said = "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)
        else:
            said = answer.choices[0].message.content
        sys.stdout.write(json.dumps({"text": said}))
    except Exception as error:  # noqa: BLE001 - what is raised is what is asked
        sys.stdout.write(json.dumps({"raised": type(error).__name__, "status": getattr(error, "status_code", None)}))


main(*sys.argv[1:])
