"""Callbacks of a write, as fragments are begun and finished."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from typing import Any

from ._engine.fragment_metadata import FragmentMetadata
from ._native import Progress as Progress


class FragmentWriteProgress(ABC):
    """Told of each fragment that a write begins and completes."""

    def _do_begin(self, fragment_json: str, **kwargs: Any) -> None:
        self.begin(_fragment(fragment_json), **kwargs)

    @abstractmethod
    def begin(self, fragment: FragmentMetadata, **kwargs: Any) -> None:
        """A fragment is about to be written; its id may not be given yet."""

    def _do_complete(self, fragment_json: str, **kwargs: Any) -> None:
        self.complete(_fragment(fragment_json), **kwargs)

    @abstractmethod
    def complete(self, fragment: FragmentMetadata, **kwargs: Any) -> None:
        """A fragment was written whole."""


class NoopFragmentWriteProgress(FragmentWriteProgress):
    """Does nothing."""

    def begin(self, fragment: FragmentMetadata, **kwargs: Any) -> None:
        pass

    def complete(self, fragment: FragmentMetadata, **kwargs: Any) -> None:
        pass


class FileSystemFragmentWriteProgress(FragmentWriteProgress):
    """Keeps a JSON file for each fragment, and beside it another while it is being written.

    Parameters
    ----------
    base_uri : str
        Folder for the files.
    metadata : dict of str to str, optional
        Put into the files, to tell writers apart.
    """

    PROGRESS_EXT: str = ".in_progress"

    def __init__(self, base_uri: str, metadata: dict[str, str] | None = None) -> None:
        from pyarrow.fs import FileSystem

        self._fs, self._base_path = FileSystem.from_uri(base_uri)
        self._metadata = metadata or {}

    def _in_progress_path(self, fragment: FragmentMetadata) -> str:
        return os.path.join(self._base_path, f"fragment_{fragment.id}{self.PROGRESS_EXT}")

    def _fragment_file(self, fragment: FragmentMetadata) -> str:
        return os.path.join(self._base_path, f"fragment_{fragment.id}.json")

    def begin(self, fragment: FragmentMetadata, **kwargs: Any) -> None:
        self._fs.create_dir(self._base_path, recursive=True)
        state = {"fragment_id": fragment.id, "metadata": self._metadata}
        self._write(self._in_progress_path(fragment), state)
        self._write(self._fragment_file(fragment), fragment.to_json())

    def complete(self, fragment: FragmentMetadata, **kwargs: Any) -> None:
        self._fs.delete_file(self._in_progress_path(fragment))

    def _write(self, path: str, value: Any) -> None:
        with self._fs.open_output_stream(path) as out:
            out.write(json.dumps(value).encode())


def _fragment(text: str) -> FragmentMetadata:
    return FragmentMetadata.from_json(text)
