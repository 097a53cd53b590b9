"""What holds threads, memory or files, and is closed when a ``with`` ends."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Resource:
    """What has ``close``, as a ``with`` block."""

    def close(self) -> None:
        """Give back what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
