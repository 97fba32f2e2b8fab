"""Operations, transactions and committing them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from . import _native


@dataclass
class Transaction:
    """The change that made a version. `operation` is its name, such as ``"Append"``."""

    read_version: int
    operation: Any
    uuid: str = field(default_factory=lambda: str(uuid4()))
    transaction_properties: dict[str, str] | None = field(default_factory=dict)


class CommitVerbs:
    """Methods of LanceDataset."""

    _ds: _native.Dataset

    def read_transaction(self, version: int) -> Transaction | None:
        """The change that made `version`, where the version still tells."""
        info = self._ds.read_transaction(version)
        if info is None:
            return None
        return Transaction(info.read_version, info.operation, info.uuid, info.properties)
