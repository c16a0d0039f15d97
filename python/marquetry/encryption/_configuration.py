"""Configuration of key management: which master keys wrap the keys of a file, and how to reach the key management service."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

_ALGORITHMS = ("AES_GCM_V1", "AES_GCM_CTR_V1")


def text(what: str, value: Any) -> str:
    """Returns text, decoded if it is bytes. Raises ``TypeError`` for other types."""
    if isinstance(value, bytes):
        return value.decode("utf8")
    if not isinstance(value, str):
        raise TypeError(f"{what} is text, not {type(value).__name__}")
    return value


def algorithm(name: str) -> str:
    """Returns the name of an algorithm in upper case. Raises ``ValueError`` if it is unknown."""
    known = text("encryption_algorithm", name).upper()
    if known not in _ALGORITHMS:
        raise ValueError(f"Invalid cipher name: {name!r}; one of {' and '.join(_ALGORITHMS)} is wanted")
    return known


def _flag(slot: str, doc: str) -> Any:
    """Makes a boolean property."""

    def set_flag(self: Any, value: Any) -> None:
        setattr(self, slot, bool(value))

    return property(lambda self: getattr(self, slot), set_flag, doc=doc)


class EncryptionConfiguration:
    """The columns to encrypt, and their master keys: ``pyarrow.parquet.encryption.EncryptionConfiguration``.

    - ``footer_key``: name of the master key of the footer key.
    - ``column_keys``: dictionary from names of master keys to lists of columns that they encrypt. Default: none.
    - ``uniform_encryption``: whether to encrypt all columns, with keys under the footer's master key. Default: false. Exactly one of this
      and ``column_keys`` is required.
    - ``encryption_algorithm``: ``AES_GCM_V1`` (the default) or ``AES_GCM_CTR_V1``.
    - ``plaintext_footer``: whether the footer is signed instead of encrypted. Default: false.
    - ``double_wrapping``: whether data keys are wrapped with keys that the KMS has wrapped, instead of by the KMS itself. Default: true.
    - ``cache_lifetime``: ``timedelta`` for which clients and wrapping keys are reused. Default: 10 minutes.
    - ``internal_key_material``: whether wrapped keys are stored in the file, instead of in a file beside it. Default: true.
    - ``data_key_length_bits``: length of data keys. Default: 128.

    >>> from marquetry.encryption import EncryptionConfiguration
    >>> EncryptionConfiguration("footer", column_keys={"staff": ["salary", "name"]}).data_key_length_bits
    128
    """

    __slots__ = (
        "_footer_key", "_column_keys", "_uniform_encryption", "_encryption_algorithm", "_plaintext_footer",
        "_double_wrapping", "_cache_lifetime", "_internal_key_material", "data_key_length_bits",
    )  # fmt: skip

    def __init__(
        self,
        footer_key: str | bytes,
        *,
        column_keys: dict[str, list[str]] | None = None,
        uniform_encryption: bool | None = None,
        encryption_algorithm: str | None = None,
        plaintext_footer: bool | None = None,
        double_wrapping: bool | None = None,
        cache_lifetime: timedelta | None = None,
        internal_key_material: bool | None = None,
        data_key_length_bits: int | None = None,
    ) -> None:
        self._footer_key = text("footer_key", footer_key)
        self._column_keys: dict[str, list[str]] = {}
        self.column_keys = column_keys
        self.uniform_encryption = bool(uniform_encryption)
        self.encryption_algorithm = encryption_algorithm or "AES_GCM_V1"
        self.plaintext_footer = bool(plaintext_footer)
        self.double_wrapping = double_wrapping is None or double_wrapping
        self.cache_lifetime = timedelta(minutes=10) if cache_lifetime is None else cache_lifetime
        self.internal_key_material = internal_key_material is None or internal_key_material
        self.data_key_length_bits = 128 if data_key_length_bits is None else int(data_key_length_bits)

    @property
    def footer_key(self) -> str:
        """Name of the footer's master key."""
        return self._footer_key

    @property
    def column_keys(self) -> Any:
        """Encrypted columns, as a dictionary from names of master keys to lists of columns."""
        return {key: list(columns) for key, columns in self._column_keys.items()}

    @column_keys.setter
    def column_keys(self, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            raise TypeError(f"column_keys is a dict of lists of columns, not {type(value).__name__}")
        self._column_keys = {
            text("a master key", key): [text("a column", column).strip() for column in columns] for key, columns in value.items()
        }

    uniform_encryption = _flag("_uniform_encryption", "Whether all columns are encrypted, under the footer's master key.")
    plaintext_footer = _flag("_plaintext_footer", "Whether the footer is signed instead of encrypted.")
    double_wrapping = _flag("_double_wrapping", "Whether data keys are wrapped with keys that the KMS has wrapped.")
    internal_key_material = _flag("_internal_key_material", "Whether wrapped keys are stored in the file, instead of beside it.")

    @property
    def encryption_algorithm(self) -> str:
        """``AES_GCM_V1``, or ``AES_GCM_CTR_V1``, which does not detect modified pages."""
        return self._encryption_algorithm

    @encryption_algorithm.setter
    def encryption_algorithm(self, value: str) -> None:
        self._encryption_algorithm = algorithm(value)

    @property
    def cache_lifetime(self) -> timedelta:
        """Time for which clients and wrapping keys are reused."""
        return self._cache_lifetime

    @cache_lifetime.setter
    def cache_lifetime(self, value: timedelta) -> None:
        if not isinstance(value, timedelta):
            raise TypeError("cache_lifetime should be a timedelta")
        self._cache_lifetime = value


class DecryptionConfiguration:
    """The settings of unwrapping keys: ``pyarrow.parquet.encryption.DecryptionConfiguration``.

    - ``cache_lifetime``: time for which clients and wrapping keys are reused, as a ``timedelta`` or in seconds. Default: 10 minutes.
    - ``read_kms_url``: whether the URL of the KMS may come from the file. Default: false. The writer of the file then decides where the
      access token is sent, so use it only with clients that check the URL first.

    >>> from marquetry.encryption import DecryptionConfiguration
    >>> DecryptionConfiguration(cache_lifetime=300).cache_lifetime.total_seconds()
    300.0
    """

    __slots__ = ("_cache_lifetime", "_read_kms_url")

    def __init__(
        self, *, cache_lifetime: timedelta | float | None = None, read_kms_url: bool | None = None
    ) -> None:
        self.cache_lifetime = timedelta(minutes=10) if cache_lifetime is None else cache_lifetime
        self.read_kms_url = bool(read_kms_url)

    @property
    def cache_lifetime(self) -> Any:
        """Time for which clients and wrapping keys are reused, as a ``timedelta``. It can also be set in seconds."""
        return self._cache_lifetime

    @cache_lifetime.setter
    def cache_lifetime(self, value: Any) -> None:
        self._cache_lifetime = value if isinstance(value, timedelta) else timedelta(seconds=float(value))

    read_kms_url = _flag("_read_kms_url", "Whether the URL of the KMS may come from the file.")


class KmsConnectionConfig:
    """The connection to a key management service: ``pyarrow.parquet.encryption.KmsConnectionConfig``.

    A client of the service is made from it. Its text shows neither the token nor ``custom_kms_conf``, and it cannot be pickled.

    - ``kms_instance_id``: id of the service, if there are several.
    - ``kms_instance_url``: URL of the service.
    - ``key_access_token``: token that authorizes access to the service. Default: ``"DEFAULT"``.
    - ``custom_kms_conf``: dictionary of texts for the client.

    >>> from marquetry.encryption import KmsConnectionConfig
    >>> KmsConnectionConfig(kms_instance_url="https://kms.example.org", key_access_token="secret")
    <KmsConnectionConfig kms_instance_id='' kms_instance_url='https://kms.example.org'>
    """

    __slots__ = ("_instance_id", "_instance_url", "_token", "_custom")

    def __init__(
        self,
        *,
        kms_instance_id: str | None = None,
        kms_instance_url: str | None = None,
        key_access_token: str | None = None,
        custom_kms_conf: dict[str, str] | None = None,
    ) -> None:
        self._instance_id = self._instance_url = ""
        if kms_instance_id is not None:
            self.kms_instance_id = kms_instance_id
        if kms_instance_url is not None:
            self.kms_instance_url = kms_instance_url
        # Shared with the copies that clients have, so that they see a refreshed token.
        self._token = ["DEFAULT"]
        if key_access_token is not None:
            self.refresh_key_access_token(key_access_token)
        self._custom: dict[str, str] = {}
        self.custom_kms_conf = custom_kms_conf

    def _copy(self, instance_id: str | None = None, instance_url: str | None = None) -> KmsConnectionConfig:
        """Copies the configuration, for another service if one is given. The copy shares the token."""
        out = object.__new__(KmsConnectionConfig)
        out._instance_id = self._instance_id if instance_id is None else instance_id
        out._instance_url = self._instance_url if instance_url is None else instance_url
        out._token, out._custom = self._token, dict(self._custom)
        return out

    @property
    def kms_instance_id(self) -> str:
        """Id of the service, if there are several."""
        return self._instance_id

    @kms_instance_id.setter
    def kms_instance_id(self, value: str) -> None:
        self._instance_id = text("kms_instance_id", value)

    @property
    def kms_instance_url(self) -> str:
        """URL of the service."""
        return self._instance_url

    @kms_instance_url.setter
    def kms_instance_url(self, value: str) -> None:
        self._instance_url = text("kms_instance_url", value)

    @property
    def key_access_token(self) -> str:
        """Token that authorizes access to the service."""
        return self._token[0]

    @key_access_token.setter
    def key_access_token(self, value: str) -> None:
        self.refresh_key_access_token(value)

    def refresh_key_access_token(self, value: str) -> None:
        """Replaces the access token, also for existing clients."""
        self._token[0] = text("key_access_token", value)

    @property
    def custom_kms_conf(self) -> Any:
        """Further settings for the client, as a dictionary of texts. Assigning a dictionary adds its entries."""
        return dict(self._custom)

    @custom_kms_conf.setter
    def custom_kms_conf(self, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, dict) or not all(isinstance(part, str) for pair in value.items() for part in pair):
            raise TypeError("Expected custom_kms_conf to be a dictionary of strings")
        self._custom.update(value)

    def __repr__(self) -> str:
        return f"<KmsConnectionConfig kms_instance_id={self._instance_id!r} kms_instance_url={self._instance_url!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle KmsConnectionConfig: access tokens do not leave the process")
