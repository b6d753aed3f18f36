"""The keys of a LiteLLM proxy without a database: who may use which models."""

import os

from litellm.proxy._types import ProxyErrorTypes, ProxyException, UserAPIKeyAuth

MODELS = {
    os.environ["WIDE_KEY"]: ["vendor/large-1", "small-1"],
    os.environ["NARROW_KEY"]: ["small-1"],
}


async def user_api_key_auth(request, api_key):  # noqa: ARG001 - it is LiteLLM that calls it
    """The rights of a key; raises what the proxy answers with 401 for one that nobody has."""
    if api_key not in MODELS:
        message = "Authentication Error, Invalid proxy server token passed"
        raise ProxyException(message=message, type=ProxyErrorTypes.token_not_found_in_db, param="key", code=401)
    return UserAPIKeyAuth(api_key=api_key, models=MODELS[api_key])
