"""Asks an endpoint through the official client: MODE BASE_URL KEY MODEL TEXT. Prints {"text"} or {"raised"}."""

from __future__ import annotations

import json
import sys
from typing import Any

import openai


def main(mode: str, url: str, key: str, model: str, text: str) -> None:
    messages: Any = [{"role": "user", "content": text}]
    client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
    try:
        if mode == "stream":
            chunks = client.chat.completions.create(model=model, messages=messages, stream=True)
            said = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
        else:
            said = client.chat.completions.create(model=model, messages=messages).choices[0].message.content or ""
        sys.stdout.write(json.dumps({"text": said}))
    except openai.APIError as error:
        sys.stdout.write(json.dumps({"raised": type(error).__name__, "status": getattr(error, "status_code", None)}))


main(*sys.argv[1:])
