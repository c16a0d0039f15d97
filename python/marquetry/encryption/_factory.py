"""Encryption with new keys for each file, which a key management service wraps."""

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

# The name that parquet-java and pyarrow give a service without one.
_DEFAULT = "DEFAULT"


class ConfigurationError(ArgumentError, OSError):
    """A configuration for :class:`CryptoFactory` is invalid. Also an ``OSError``, as in pyarrow."""


class KmsClient:
    """Base class of clients of a key management service. Subclasses implement both methods.

    Several threads may call a client at a time. Its exceptions are raised by the call that needed the key.
    """

    def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> str | bytes:
        """Returns a key wrapped with a master key, as text."""
        raise NotImplementedError

    def unwrap_key(self, wrapped_key: str, master_key_identifier: str) -> bytes:
        """Returns the key that :meth:`wrap_key` wrapped."""
        raise NotImplementedError


class CryptoFactory:
    """Creates encryption and decryption properties with keys that a KMS wraps: ``pyarrow.parquet.encryption.CryptoFactory``.

    ``kms_client_factory`` makes a :class:`KmsClient` from a :class:`KmsConnectionConfig`. Clients and wrapping keys are cached for each
    access token, for the lifetime in the configuration.

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
        """Creates the encryption properties of one file, with new keys.

        With ``internal_key_material=False`` this call stores the key material beside ``parquet_file_path``, in ``filesystem``.

        Raises :class:`ConfigurationError` unless exactly one of ``column_keys`` and ``uniform_encryption`` is set.
        """
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
        """Creates decryption properties, whose keys are unwrapped when they are needed. Files without encryption are read, too.

        ``parquet_file_path`` and ``filesystem`` are required for a file whose key material is beside it.
        """
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
        """Wraps the keys of a file again, with the newest versions of their master keys.

        The key material must be beside the file. The Parquet file stays as it is; on this machine the key material is replaced in one step.
        """
        connection = _checked("kms_connection_config", kms_connection_config, KmsConnectionConfig)
        beside = _beside(parquet_file_path or None, filesystem)
        wrapper = self._wrapper(connection, cache_lifetime_seconds, bool(double_wrapping), None)
        old = beside.read()
        instance_id, instance_url = _marquetry.kms_instance(old) or (None, None)
        source = _named(connection, instance_id, instance_url, read_kms_url)
        beside.write(wrapper.rotate(old, self._unwrapper(source, cache_lifetime_seconds)))

    def remove_cache_entries_for_token(self, access_token: str | bytes) -> None:
        """Removes the clients and keys of an access token from the cache."""
        self._kept.forget(text("access_token", access_token))

    def remove_cache_entries_for_all_tokens(self) -> None:
        """Removes all clients and keys from the cache."""
        self._kept.forget(None)

    # Cached by access token

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
    """A cache with lifetimes. Its keys begin with an access token."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], tuple[float, Any]] = {}
        # Entries are made one at a time. Reentrant, because making a wrapper makes a client.
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
    """Returns the connection to the KMS of a file. The file supplies an id that the connection lacks, and a URL only if that is allowed."""
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
