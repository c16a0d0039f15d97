"""Keys for encrypted files, given directly or wrapped by a key management service.

Keys are given as bytes. Columns may have keys of their own; without one of them, the other columns can still be read.

>>> import marquetry, pyarrow as pa
>>> from marquetry.encryption import create_decryption_properties, create_encryption_properties
>>> encryption = create_encryption_properties(b"0123456789012345", column_keys={"salary": b"1234567890123450"})
>>> marquetry.write(pa.table({"name": ["Ada"], "salary": [7]}), FOLDER + "/staff.parquet", encryption=encryption).num_rows
1
>>> decryption = create_decryption_properties(b"0123456789012345")
>>> file = marquetry.open(FOLDER + "/staff.parquet", decryption=decryption)
>>> file.read(["name"]).num_rows
1
>>> try:
...     file.read(["salary"])
... except marquetry.EncryptedError as error:
...     print(error.message)
the column is encrypted, and no key was given

If a key management service (KMS) has the master keys, :class:`CryptoFactory` makes new keys for each file and has the KMS wrap them.

Objects with keys do not show them, and cannot be pickled.
"""

from __future__ import annotations

from .._marquetry import FileDecryptionProperties, FileEncryptionProperties
from ._configuration import DecryptionConfiguration, EncryptionConfiguration, KmsConnectionConfig
from ._direct import create_decryption_properties, create_encryption_properties
from ._factory import ConfigurationError, CryptoFactory, KmsClient
from ._file import FileEncryption

__all__ = [
    "ConfigurationError", "CryptoFactory", "DecryptionConfiguration", "EncryptionConfiguration", "FileDecryptionProperties",
    "FileEncryption", "FileEncryptionProperties", "KmsClient", "KmsConnectionConfig", "create_decryption_properties",
    "create_encryption_properties",
]  # fmt: skip
