from __future__ import annotations

from harness.reference.endpoint.chat_request import Message
from harness.reference.endpoint.prompt import Prompt, to_prompt


def test_lone_user_message_is_the_prompt() -> None:
    assert to_prompt([Message("user", "hi")]) == Prompt("", "hi")


def test_empty_user_message_is_an_empty_prompt() -> None:
    assert to_prompt([Message("user", "")]) == Prompt("", "")


def test_leading_system_messages_are_apart() -> None:
    messages = [Message("system", "a"), Message("developer", "b"), Message("user", "hi")]
    assert to_prompt(messages) == Prompt("a\n\nb", "hi")


def test_conversation_keeps_its_order_and_roles() -> None:
    roles = ["user", "assistant", "system", "user", "assistant"]
    messages = [Message(role, str(index)) for index, role in enumerate(roles)]
    assert to_prompt(messages).text == "user: 0\n\nassistant: 1\n\nsystem: 2\n\nuser: 3\n\nassistant: 4"
