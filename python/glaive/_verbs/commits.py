"""Transactions, and making versions of operations that were put together elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .. import _native
from .._engine.arguments import check_size, check_time, native_dataset, refuse
from .._engine.exchange import (
    operation_to_native,
    transaction_from_native,
    transaction_to_native,
)
from .._engine.operations import LanceOperation, Transaction
from .._engine.option_kinds import set_option
from .._engine.options import Durability, ProgressFunction, version_options
from .._engine.session import native_session
from ..errors import InvalidInput, as_commit_conflicts, as_os_errors
from .handle import Handle

if TYPE_CHECKING:
    from .._engine.session import Session
    from ..commit import CommitLock
    from ..dataset import LanceDataset

# Property of a transaction under which its message is kept.
LANCE_COMMIT_MESSAGE_KEY = "__lance_commit_message"

_DEFAULT_COMMIT_TIMEOUT = timedelta(minutes=30)


class BulkCommitResult(TypedDict):
    dataset: LanceDataset
    merged: Transaction


class CommitVerbs(Handle):
    """Methods of LanceDataset."""

    @classmethod
    def commit(
        cls,
        base_uri: str | os.PathLike[str] | LanceDataset,
        operation: LanceOperation.BaseOperation | Transaction,
        read_version: int | None = None,
        commit_lock: CommitLock | None = None,
        storage_options: dict[str, str] | None = None,
        enable_v2_manifest_paths: bool | None = None,
        detached: bool | None = False,
        max_retries: int = 20,
        *,
        commit_message: str | None = None,
        enable_stable_row_ids: bool | None = None,
        namespace_client: Any | None = None,
        table_id: list[str] | None = None,
        namespace_client_managed_versioning: bool = False,
        base_store_params: dict[str, dict[str, str]] | None = None,
        commit_timeout: timedelta | None = _DEFAULT_COMMIT_TIMEOUT,
        strict: bool = False,
        idempotency_token: str | None = None,
        durability: Durability = None,
        session: Session | None = None,
        transaction_properties: dict[str, str] | None = None,
        progress: ProgressFunction | None = None,
    ) -> LanceDataset:
        """Makes a version of an operation, on top of whatever was committed since it was made.

        Parameters
        ----------
        base_uri : str, path or LanceDataset
            The table. An Overwrite makes one where there is none.
        operation : LanceOperation.BaseOperation or Transaction
            What changes. A transaction brings its own read version, id and properties.
        read_version : int, optional
            The version that the operation was made from; an Overwrite or Restore needs none.
        enable_v2_manifest_paths, enable_stable_row_ids : bool, optional
            For a new table.
        detached : bool
            Makes a version outside of the table's history, of the version read as it is. Nothing
            but its number, which is random, leads to it.
        max_retries : int
            Attempts when other writers are faster. 0, for an Overwrite: it becomes the version
            after `read_version`, or fails.
        commit_timeout : timedelta, optional
            For all attempts together; None: no limit.
        strict : bool
            Only if nothing was committed since `read_version`. Not in pylance.
        idempotency_token : str, optional
            Names this commit. If a version was made under the name, that one is returned and none
            is made. All transactions of the table are looked at. Not in pylance.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`. Properties join those of a Transaction.
        session : Session, optional
            Cache for opening the table, and of the object returned.

        Others
            Not supported: NotImplementedError when they are given.

        Raises
        ------
        CommitConflictError
            Another writer's change stands in the way. `retryable` tells whether the operation may
            be made again from the newer version. Or fragments were written for a `WriteTarget` of
            a table that has been removed since.
        """
        refuse(
            "LanceDataset.commit",
            commit_lock=_checked_lock(commit_lock),
            storage_options=storage_options,
            namespace_client=namespace_client,
            table_id=table_id,
            namespace_client_managed_versioning=namespace_client_managed_versioning,
            base_store_params=base_store_params,
        )
        target = _target(base_uri)
        transaction = _transaction(operation, read_version, commit_message)
        version = version_options(durability, transaction_properties, commit_message, progress)
        options = _options(detached, max_retries, commit_timeout, enable_v2_manifest_paths)
        options.enable_stable_row_ids = bool(enable_stable_row_ids)
        set_option(options, "strict", strict)
        set_option(options, "idempotency_token", idempotency_token)
        options.session = native_session(session)
        with as_os_errors(), as_commit_conflicts():
            return cls._made(_native.commit(target, transaction, options, version))

    @classmethod
    def commit_batch(
        cls,
        dest: str | os.PathLike[str] | LanceDataset,
        transactions: Sequence[Transaction],
        commit_lock: CommitLock | None = None,
        storage_options: dict[str, str] | None = None,
        enable_v2_manifest_paths: bool | None = None,
        detached: bool | None = False,
        max_retries: int = 20,
        base_store_params: dict[str, dict[str, str]] | None = None,
        commit_timeout: timedelta | None = _DEFAULT_COMMIT_TIMEOUT,
        session: Session | None = None,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> BulkCommitResult:
        """Commits several appends as one version. Other parameters are those of `commit`.

        Their properties are kept; one that two of them set to different values is refused.

        Returns
        -------
        dict
            ``dataset``: the version made. ``merged``: the transaction that made it.
        """
        refuse(
            "LanceDataset.commit_batch",
            commit_lock=_checked_lock(commit_lock),
            storage_options=storage_options,
            base_store_params=base_store_params,
        )
        batch = [transaction_to_native(_checked_transaction(each)) for each in transactions]
        options = _options(detached, max_retries, commit_timeout, enable_v2_manifest_paths)
        options.session = native_session(session)
        version = version_options(durability, transaction_properties, commit_message, progress)
        target = _target(dest)
        with as_os_errors(), as_commit_conflicts():
            result = _native.commit_batch(target, batch, options, version)
        return {
            "dataset": cls._made(result.dataset),
            "merged": transaction_from_native(result.merged),
        }

    def read_transaction(self, version: int) -> Transaction | None:
        """The transaction that made `version`, where the version still tells."""
        check_size("version", version, 0)
        with as_os_errors():
            transaction = _native.transaction_of(self._ds, version)
        return None if transaction is None else transaction_from_native(transaction)

    def get_transactions(self, recent_transactions: int = 10) -> list[Transaction | None]:
        """Those that made this version and the ones before it, newest first."""
        check_size("recent_transactions", recent_transactions, 0)
        return [
            None if transaction is None else transaction_from_native(transaction)
            for transaction in _native.recent_transactions(self._ds, recent_transactions)
        ]


def _checked_transaction(transaction: Any) -> Any:
    if not hasattr(transaction, "read_version") or not hasattr(transaction, "operation"):
        raise TypeError(f"transactions must be a list of Transaction, got {transaction!r} in it")
    return transaction


def _checked_lock(commit_lock: Any) -> Any:
    if commit_lock and not callable(commit_lock):
        raise TypeError(f"commit_lock must be a function, got {type(commit_lock)}")
    return commit_lock


def _target(destination: Any) -> Any:
    target = native_dataset(destination)
    if target is not None:
        return target
    if isinstance(destination, (str, os.PathLike)):
        return os.fspath(destination)
    raise TypeError(f"base_uri must be str, Path, or LanceDataset, got {type(destination)}")


def _transaction(
    operation: Any, read_version: int | None, message: str | None
) -> _native.Transaction:
    if type(operation).__name__ == "Transaction":
        if message is not None:
            raise InvalidInput(
                "commit_message is not supported when calling commit with a Transaction."
                " Set it among the transaction's properties instead."
            )
        return transaction_to_native(operation)
    if not any(base.__name__ == "BaseOperation" for base in type(operation).__mro__):
        raise TypeError(
            "operation must be a LanceOperation.BaseOperation or Transaction,"
            f" got {type(operation)}"
        )
    if read_version is None and type(operation).__name__ not in ("Overwrite", "Restore"):
        raise InvalidInput(
            "read_version is required for all operations except Overwrite and Restore"
        )
    transaction = _native.Transaction()
    set_option(transaction, "read_version", read_version)
    transaction.operation = operation_to_native(operation)
    return transaction


def _options(
    detached: bool | None,
    max_retries: int,
    timeout: timedelta | None,
    enable_v2_manifest_paths: bool | None,
) -> _native.CommitOptions:
    options = _native.CommitOptions()
    options.detached = bool(detached)
    set_option(options, "max_retries", max_retries)
    check_time("commit_timeout", timeout, optional=True)
    if timeout is not None and timeout <= timedelta(0):
        raise InvalidInput(f"commit_timeout must be positive, not {timeout}")
    options.timeout_ms = None if timeout is None else -(-timeout // timedelta(milliseconds=1))
    if enable_v2_manifest_paths is not None:
        set_option(options, "enable_v2_manifest_paths", enable_v2_manifest_paths)
    return options
