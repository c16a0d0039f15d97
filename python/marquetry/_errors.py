"""Exceptions: what is wrong, and where."""

from __future__ import annotations


class Error(Exception):
    """What goes wrong with a file.

    ``kind`` says what kind of failure it is: ``corrupt``, ``truncated``, ``unsupported``, ``limit``, ``memory``, ``argument``,
    ``io``, ``not found``, ``changed``, ``cancelled`` or ``encrypted``. ``file``, ``column``, ``row_group``, ``page`` and ``byte``
    say where, as far as it is known, and are ``None`` otherwise.

    Errors are also what Python's own are, where there is one: a file that is missing is a ``FileNotFoundError``, a wrong
    argument a ``ValueError``, a column that does not exist a ``KeyError`` besides.

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
        # KeyError and OSError would show something else.
        return str(self.args[-1]) if self.args else ""


class DamageError(Error, ValueError):
    """The bytes contradict the format or themselves, or end before they should."""


class ArgumentError(Error, ValueError):
    """The caller asked for something impossible."""


class ColumnError(ArgumentError, KeyError):
    """There is no such column."""


class UnsupportedError(Error, NotImplementedError):
    """The bytes are legal, or may be, but this build does not read or write them."""


class LimitError(Error, ValueError):
    """A number in the file exceeds the limits of reading."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory left for what was asked."""


class IoError(Error, OSError):
    """The operating system or a store failed."""


class MissingFileError(IoError, FileNotFoundError):
    """There is no such file or object."""


class ForbiddenError(IoError, PermissionError):
    """The file may not be opened."""


class ChangedError(IoError):
    """The file is no longer the one that was opened."""


class CancelledError(Error):
    """The call was cancelled."""


class EncryptedError(Error, PermissionError):
    """The bytes are encrypted."""


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
    """The exception of an error of the extension, which calls this."""
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


# FileNotFoundError and PermissionError have these numbers.
_ERRNO: dict[type[Error], int] = {MissingFileError: 2, ForbiddenError: 13, EncryptedError: 13}
