"""What was asked of the store, and single files in it."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _native
from ..file import LanceFileSession
from .handle import Handle


@dataclass(frozen=True)
class IOStats:
    """Requests to the store, and bytes."""

    read_iops: int
    read_bytes: int
    write_iops: int
    written_bytes: int


class FileVerbs(Handle):
    """Methods of LanceDataset."""

    _io_recorder: _native.IoRecorder | None = None

    def io_stats_snapshot(self) -> IOStats:
        """What this process asked of its stores since the first call of this kind, or since the
        last of `io_stats_incremental`."""
        if self._io_recorder is None:
            self._io_recorder = _native.IoRecorder()
        stats = self._io_recorder.stats()
        return IOStats(
            read_iops=stats.get_requests + stats.list_requests + stats.head_requests,
            read_bytes=stats.bytes_read,
            write_iops=stats.put_requests,
            written_bytes=stats.bytes_written,
        )

    def io_stats_incremental(self) -> IOStats:
        """As `io_stats_snapshot`, and counts from 0 again."""
        stats = self.io_stats_snapshot()
        self._io_recorder = _native.IoRecorder()
        return stats

    @property
    def storage_options_accessor(self) -> None:
        """None: local stores have no options."""
        return None

    def new_file_session(self) -> LanceFileSession:
        """Reads and writes single files below the table's folder."""
        return LanceFileSession(self._ds.uri)
