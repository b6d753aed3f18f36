"""Keys of the tests, and what they sign."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.evidence.samples import files


class Signer:
    """A key pair, the same at each run of the tests."""

    def __init__(self, seed: bytes) -> None:
        self.private = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public(self) -> Ed25519PublicKey:
        return self.private.public_key()

    def envelope(self) -> str:
        """The envelope of the sample."""
        made = files(key=self.private).envelope
        assert made is not None
        return made

    def write(self, folder: Path, name: str = "key") -> tuple[Path, Path]:
        """The files of the private and the public key."""
        private, public = folder / f"{name}.pem", folder / f"{name}.pub"
        private.write_bytes(self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public.write_bytes(self.public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        return private, public


KEY, OTHER = Signer(b"k" * 32), Signer(b"o" * 32)
