"""New keys for each file, wrapped by a key management service."""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable, NoReturn, TypeVar

from .. import _marquetry
from .._errors import ArgumentError
from .._marquetry import FileDecryptionProperties, FileEncryptionProperties
from ._configuration import DecryptionConfiguration, EncryptionConfiguration, KmsConnectionConfig, text
from ._material import KeyMaterialFile

T = TypeVar("T")

# What parquet-java and pyarrow call a service that has no name.
_DEFAULT = "DEFAULT"


class ConfigurationError(ArgumentError, OSError):
    """What was asked of a :class:`CryptoFactory` is impossible. An ``OSError`` besides, as in pyarrow."""


class KmsClient:
    """A client of a key management service: what it is asked, it asks the service. Classes that are made from it do the asking.

    It may be called by several threads at a time. An exception that it raises comes out of whatever needed the key.
    """

    def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> str | bytes:
        """The key, wrapped with the master key of this name, as text."""
        raise NotImplementedError

    def unwrap_key(self, wrapped_key: str, master_key_identifier: str) -> bytes:
        """The key of which :meth:`wrap_key` made this text."""
        raise NotImplementedError


class CryptoFactory:
    """Makes the keys of files, and finds them again: ``pyarrow.parquet.encryption.CryptoFactory``.

    ``kms_client_factory`` makes a :class:`KmsClient` from a :class:`KmsConnectionConfig`. Clients, and the keys that wrap others, are kept
    for each access token, as long as configurations say.

    >>> import base64, marquetry.parquet as pq, pyarrow as pa
    >>> from marquetry.encryption import CryptoFactory, EncryptionConfiguration, KmsClient, KmsConnectionConfig
    >>> class Backwards(KmsClient):
    ...     "Wraps nothing: for the example only."
    ...     def __init__(self, connection):
    ...         super().__init__()
    ...     def wrap_key(self, key_bytes, master_key_identifier):
    ...         return base64.b64encode(key_bytes[::-1])
    ...     def unwrap_key(self, wrapped_key, master_key_identifier):
    ...         return base64.b64decode(wrapped_key)[::-1]
    >>> factory, connection = CryptoFactory(Backwards), KmsConnectionConfig()
    >>> configuration = EncryptionConfiguration("footer", column_keys={"staff": ["salary"]})
    >>> encryption = factory.file_encryption_properties(connection, configuration)
    >>> pq.write_table(pa.table({"salary": [7, 8]}), FOLDER + "/s.parquet", encryption_properties=encryption)
    >>> decryption = factory.file_decryption_properties(connection)
    >>> pq.read_table(FOLDER + "/s.parquet", decryption_properties=decryption).num_rows
    2
    """

    __slots__ = ("_make_client", "_kept", "__weakref__")

    def __init__(self, kms_client_factory: Callable[[KmsConnectionConfig], KmsClient]) -> None:
        if not callable(kms_client_factory):
            raise TypeError("Parameter kms_client_factory must be a callable")
        self._make_client, self._kept = kms_client_factory, _Kept()

    def file_encryption_properties(
        self,
        kms_connection_config: KmsConnectionConfig,
        encryption_config: EncryptionConfiguration,
        parquet_file_path: str | os.PathLike[str] | None = None,
        filesystem: Any = None,
    ) -> FileEncryptionProperties:
        """New keys, for one file. With ``internal_key_material=False`` their material is stored beside ``parquet_file_path`` now, before
        the file is written."""
        connection = _checked("kms_connection_config", kms_connection_config, KmsConnectionConfig)
        config = _checked("encryption_config", encryption_config, EncryptionConfiguration)
        columns = [(key, column) for key, columns in config.column_keys.items() for column in columns]
        if not columns and not config.uniform_encryption:
            raise ConfigurationError("Either column_keys or uniform_encryption must be set")
        if columns and config.uniform_encryption:
            raise ConfigurationError("Cannot set both column_keys and uniform_encryption")
        beside = None
        if not config.internal_key_material:
            beside = _beside(parquet_file_path, filesystem)
        options = {
            "algorithm": config.encryption_algorithm, "plaintext_footer": config.plaintext_footer,
            "external": beside is not None,
        }  # fmt: skip
        try:
            wrapper = self._wrapper(
                connection, config.cache_lifetime.total_seconds(), config.double_wrapping, config.data_key_length_bits
            )
            properties, material = wrapper.encryption(config.footer_key, columns, options)
        except ArgumentError as error:
            raise ConfigurationError(str(error)) from error
        if beside is not None and material is not None:
            beside.write(material)
        return properties

    def file_decryption_properties(
        self,
        kms_connection_config: KmsConnectionConfig,
        decryption_config: DecryptionConfiguration | None = None,
        parquet_file_path: str | os.PathLike[str] | None = None,
        filesystem: Any = None,
    ) -> FileDecryptionProperties:
        """The keys of files, which are unwrapped when they are needed. ``parquet_file_path`` is for a file whose key material is beside
        it. Files that are not encrypted are read, too."""
        connection = _checked("kms_connection_config", kms_connection_config, KmsConnectionConfig)._copy()
        if decryption_config is None:
            decryption_config = DecryptionConfiguration()
        config = _checked("decryption_config", decryption_config, DecryptionConfiguration)
        lifetime, read_url = config.cache_lifetime.total_seconds(), config.read_kms_url
        beside = None if parquet_file_path is None else KeyMaterialFile(parquet_file_path, filesystem)

        def unwrapper(instance_id: str | None, instance_url: str | None) -> _marquetry.KeyUnwrapper:
            return self._unwrapper(_named(connection, instance_id, instance_url, read_url), lifetime)

        def material() -> bytes:
            return (beside or _beside(None, None)).read()

        return _marquetry.decryption_with_kms(unwrapper, material)

    def rotate_master_keys(
        self,
        kms_connection_config: KmsConnectionConfig,
        parquet_file_path: str | os.PathLike[str],
        filesystem: Any = None,
        double_wrapping: bool = True,
        cache_lifetime_seconds: float = 600,
        read_kms_url: bool = False,
    ) -> None:
        """Has the keys of a file, whose key material is beside it, wrapped anew by the newest versions of their master keys. The Parquet
        file stays as it is; on this machine the key material is replaced in one step."""
        connection = _checked("kms_connection_config", kms_connection_config, KmsConnectionConfig)
        beside = _beside(parquet_file_path or None, filesystem)
        wrapper = self._wrapper(connection, cache_lifetime_seconds, bool(double_wrapping), None)
        old = beside.read()
        instance_id, instance_url = _marquetry.kms_instance(old) or (None, None)
        source = _named(connection, instance_id, instance_url, read_kms_url)
        beside.write(wrapper.rotate(old, self._unwrapper(source, cache_lifetime_seconds)))

    def remove_cache_entries_for_token(self, access_token: str | bytes) -> None:
        """Forgets the clients and keys of an access token."""
        self._kept.forget(text("access_token", access_token))

    def remove_cache_entries_for_all_tokens(self) -> None:
        """Forgets all clients and keys."""
        self._kept.forget(None)

    # What is kept for an access token

    def _client(self, connection: KmsConnectionConfig, lifetime: float) -> KmsClient:
        def make() -> KmsClient:
            client = self._make_client(connection._copy())
            if not isinstance(client, KmsClient):
                raise TypeError(f"callable must return KmsClient instances, but got {type(client)}")
            return client

        return self._kept.get(_service(connection), lifetime, make)

    def _wrapper(
        self, connection: KmsConnectionConfig, lifetime: float, double_wrapping: bool, bits: int | None
    ) -> _marquetry.KeyWrapper:
        options = {
            "double_wrapping": double_wrapping, "data_key_bits": bits, "cache_seconds": lifetime,
            "kms_instance": (connection.kms_instance_id or _DEFAULT, connection.kms_instance_url or _DEFAULT),
        }  # fmt: skip
        return self._kept.get(
            (*_service(connection), "wrapper", lifetime, double_wrapping, bits), lifetime,
            lambda: _marquetry.KeyWrapper(self._client(connection, lifetime), options),
        )  # fmt: skip

    def _unwrapper(self, connection: KmsConnectionConfig, lifetime: float) -> _marquetry.KeyUnwrapper:
        return self._kept.get(
            (*_service(connection), "unwrapper", lifetime), lifetime,
            lambda: _marquetry.KeyUnwrapper(self._client(connection, lifetime), lifetime),
        )  # fmt: skip

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle CryptoFactory: keys do not leave the process")


class _Kept:
    """What is used again for a while, by names that begin with an access token."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], tuple[float, Any]] = {}
        # One is made at a time. Making a wrapper makes a client.
        self._lock = threading.RLock()

    def get(self, name: tuple[Any, ...], lifetime: float, make: Callable[[], T]) -> T:
        with self._lock:
            now = time.monotonic()
            self._kept = {known: kept for known, kept in self._kept.items() if kept[0] > now}
            if name in self._kept:
                again: T = self._kept[name][1]
                return again
            made = make()
            if lifetime > 0:
                self._kept[name] = (time.monotonic() + lifetime, made)
            return made

    def forget(self, token: str | None) -> None:
        with self._lock:
            self._kept = {known: kept for known, kept in self._kept.items() if token not in (None, known[0])}


def _service(connection: KmsConnectionConfig) -> tuple[str, str, str]:
    return connection.key_access_token, connection.kms_instance_id, connection.kms_instance_url


def _named(connection: KmsConnectionConfig, instance_id: str | None, instance_url: str | None, read_url: bool) -> KmsConnectionConfig:
    """The service that has the keys of a file: what the connection leaves open the file says, the URL only if it may."""
    url = (instance_url if read_url else None) or _DEFAULT
    return connection._copy(connection.kms_instance_id or instance_id or _DEFAULT, connection.kms_instance_url or url)


def _beside(parquet: Any, filesystem: Any) -> KeyMaterialFile:
    if parquet is None:
        raise ConfigurationError("The Parquet file path must be specified when using external key material")
    return KeyMaterialFile(parquet, filesystem)


def _checked(what: str, value: Any, cls: type[T]) -> T:
    if not isinstance(value, cls):
        raise TypeError(f"{what} is a {cls.__name__}, not {type(value).__module__}.{type(value).__name__}")
    return value
