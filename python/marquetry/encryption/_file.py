"""What a file says of its encryption."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileEncryption:
    """How a file is encrypted: ``marquetry.File.encryption``.

    ``algorithm`` is ``None`` if it is not known. ``footer_key_metadata`` are the bytes by which the writer wants its key to be found.
    ``aad_prefix`` is there if the file has it stored; ``wants_aad_prefix`` says that it is not, and has to be given.
    """

    algorithm: str | None
    has_encrypted_footer: bool
    footer_key_metadata: bytes | None
    aad_prefix: bytes | None
    wants_aad_prefix: bool
