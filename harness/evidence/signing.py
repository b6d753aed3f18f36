"""Signatures with an Ed25519 key, and the DSSE envelope that carries one.

A signature is over the pre-authentication encoding of DSSE, so that it says what kind of thing was signed. The library
is an extra: seals are made and checked without it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.evidence.refusal import Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

STATEMENT_TYPE = "application/vnd.in-toto+json"
MARKDOWN_TYPE = "application/vnd.turnproof.evidence+markdown"

_MAKE = "Make one with: openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out key.pub"


@dataclass(frozen=True)
class Signature:
    """A signature with the id of its key: the SHA-256 digest of the public key's DER form."""

    keyid: str
    sig: bytes


def encoded(kind: str, payload: bytes) -> bytes:
    """The pre-authentication encoding of DSSE: what is signed of a payload of a kind."""
    name = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key in a PEM file without a passphrase; raises UsageError."""
    _expect_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_read(path), None)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path}: no private key in PEM without a passphrase", _MAKE) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path}: a private key, but not of Ed25519", _MAKE)
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """The public key in a PEM file; raises UsageError."""
    _expect_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(_read(path))
    except ValueError as error:
        raise UsageError(f"{path}: no public key in PEM", _MAKE) from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{path}: a public key, but not of Ed25519", _MAKE)
    return key


def sign(kind: str, payload: bytes, key: Ed25519PrivateKey) -> Signature:
    """The signature of `key` on a payload of a kind."""
    return Signature(keyid_of(key.public_key()), key.sign(encoded(kind, payload)))


def expect_signed(kind: str, payload: bytes, signatures: Sequence[Signature], key: Ed25519PublicKey) -> str:
    """The id of the key, when one of the signatures is its own on this payload; raises Refused when none is."""
    from cryptography.exceptions import InvalidSignature

    wanted = keyid_of(key)
    own = [signature for signature in signatures if signature.keyid == wanted]
    if not signatures:
        raise Refused(
            "wrongly signed", "it has no signature", "Give the envelope, or ask for evidence that was made with --sign."
        )
    if not own:
        others = ", ".join(signature.keyid[:16] for signature in signatures)
        raise Refused("wrongly signed", f"it is signed by the key {others}, not by {wanted[:16]}")
    for signature in own:
        try:
            key.verify(signature.sig, encoded(kind, payload))
        except InvalidSignature:
            continue
        return wanted
    raise Refused("wrongly signed", f"the signature that names the key {wanted[:16]} is not on this evidence")


def keyid_of(key: Ed25519PublicKey) -> str:
    """The id of a key."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def envelope(payload: bytes, signatures: Sequence[Signature]) -> dict[str, Any]:
    """The DSSE envelope of a statement."""
    signed = [{"keyid": one.keyid, "sig": base64.b64encode(one.sig).decode()} for one in signatures]
    return {"payloadType": STATEMENT_TYPE, "payload": base64.b64encode(payload).decode(), "signatures": signed}


def opened(value: Mapping[str, Any]) -> tuple[bytes, tuple[Signature, ...]]:
    """The payload of an envelope, and its signatures; raises ValueError, KeyError or TypeError when it is none."""
    signed = value["signatures"]
    whole = set(value) == {"payloadType", "payload", "signatures"} and all(
        set(one) == {"keyid", "sig"} for one in signed
    )
    if value["payloadType"] != STATEMENT_TYPE or not whole:
        raise ValueError("it is no envelope of a statement")
    try:
        payload = base64.b64decode(value["payload"], validate=True)
        found = [Signature(str(one["keyid"]), base64.b64decode(one["sig"], validate=True)) for one in signed]
    except binascii.Error as error:
        raise ValueError("what should be in base64 is not") from error
    return payload, tuple(found)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", _MAKE) from error


def _expect_library() -> None:
    if importlib.util.find_spec("cryptography") is None:
        raise UsageError("signatures need a library that is not installed", "pip install 'turnproof[signing]'")
