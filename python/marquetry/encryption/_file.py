"""The encryption of a file, according to its footer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileEncryption:
    """How a file is encrypted, as ``marquetry.File.encryption`` returns it.

    - ``algorithm``: the algorithm; ``None`` if it is unknown.
    - ``has_encrypted_footer``: whether the footer is encrypted; otherwise it is signed.
    - ``footer_key_metadata``: metadata by which readers find the footer key.
    - ``aad_prefix``: prefix of the additional authenticated data, if the file stores it.
    - ``wants_aad_prefix``: whether readers must supply the prefix.
    """

    algorithm: str | None
    has_encrypted_footer: bool
    footer_key_metadata: bytes | None
    aad_prefix: bytes | None
    wants_aad_prefix: bool
