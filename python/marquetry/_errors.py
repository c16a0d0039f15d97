"""Exceptions with the kind of a failure, and its place in the file."""

from __future__ import annotations


class Error(Exception):
    """Base class of all errors of this package.

    ``kind`` is the kind of the failure: ``corrupt``, ``truncated``, ``unsupported``, ``limit``, ``memory``, ``argument``,
    ``io``, ``not found``, ``changed``, ``cancelled`` or ``encrypted``. ``file``, ``column``, ``row_group``, ``page`` and ``byte``
    are its place as far as it is known, and ``None`` otherwise.

    Subclasses also derive from Python's corresponding exceptions: a missing file is a ``FileNotFoundError``, a wrong argument a
    ``ValueError``, and an unknown column also a ``KeyError``.

    >>> import marquetry
    >>> try:
    ...     marquetry.open(b"id,name")
    ... except marquetry.Error as error:
    ...     print(error.kind)
    truncated
    """

    kind: str = "io"
    message: str = ""
    file: str | None = None
    column: str | None = None
    row_group: int | None = None
    page: int | None = None
    byte: int | None = None

    def __str__(self) -> str:
        # KeyError would show the text quoted, OSError with its number.
        return str(self.args[-1]) if self.args else ""


class DamageError(Error, ValueError):
    """The bytes contradict the format or themselves, or end before they should."""


class ArgumentError(Error, ValueError):
    """An argument is wrong, or asks for something impossible."""


class ColumnError(ArgumentError, KeyError):
    """There is no such column."""


class UnsupportedError(Error, NotImplementedError):
    """The bytes are valid, or may be, but this build cannot read or write them."""


class LimitError(Error, ValueError):
    """A number in the file exceeds a resource limit of the reader."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class IoError(Error, OSError):
    """The operating system or a store failed."""


class MissingFileError(IoError, FileNotFoundError):
    """There is no such file or object."""


class ForbiddenError(IoError, PermissionError):
    """The permission to open the file is missing."""


class ChangedError(IoError):
    """The file changed after it was opened."""


class CancelledError(Error):
    """The call was cancelled."""


class EncryptedError(Error, PermissionError):
    """Keys or additional data (AAD) for decryption are missing or wrong, or the file is not encrypted."""


_CLASSES: dict[str, type[Error]] = {
    "corrupt": DamageError,
    "truncated": DamageError,
    "unsupported": UnsupportedError,
    "limit": LimitError,
    "memory": OutOfMemoryError,
    "argument": ArgumentError,
    "io": IoError,
    "not found": MissingFileError,
    "changed": ChangedError,
    "cancelled": CancelledError,
    "encrypted": EncryptedError,
}


def make(
    facts: tuple[str, str, str, int | None, str | None],
    column: str | None,
    row_group: int | None,
    page: int | None,
    byte: int | None,
) -> Error:
    """Makes the exception of an error of the extension, which calls this."""
    import errno as numbers

    kind, message, text, errno, file = facts
    cls = _CLASSES.get(kind, Error)
    if cls is IoError and errno in (numbers.EACCES, numbers.EPERM):
        cls = ForbiddenError
    elif cls is ArgumentError and message.startswith(("no column", "there is no column")):
        cls = ColumnError
    error: Error
    if issubclass(cls, IoError | EncryptedError):
        error = cls(errno if errno is not None else _ERRNO.get(cls, numbers.EIO), text)
        if file is not None:
            setattr(error, "filename", file)
    else:
        error = cls(text)
    error.kind, error.message = kind, message
    error.file, error.column, error.row_group, error.page, error.byte = file, column, row_group, page, byte
    return error


# The error numbers of FileNotFoundError and PermissionError.
_ERRNO: dict[type[Error], int] = {MissingFileError: 2, ForbiddenError: 13, EncryptedError: 13}
