"""Rows on a torch device (a GPU, or torch's own CPU), through the same block code.

Rows are standardised on the device and stay there while they fit.  Otherwise every pass streams
them: rows are written to one of two page-locked buffers and copied from there on a stream of their
own, while the device computes the sums of the block before.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from srff.core.engine import BlockFunction, Engine
from srff.core.features import Array
from srff.data.engines.blocks import Standardisation, picked, standardised_inputs, total_weight
from srff.data.engines.plan import MIN_ROWS, BlockPlan
from srff.data.scaling import Transform

BLOCK_ENTRIES = 2**26
"""Entries of a rows x D array on the device: large enough to fill it, small beside its memory."""

RESIDENT_SHARE = 0.6
"""Share of the device's free memory that rows may take: the rest is for blocks at work."""


def rows_in_block(n_features: int, n_components: int) -> int:
    """Rows of a block on a device."""
    return max(1, BLOCK_ENTRIES // max(n_components, n_features))


def import_torch(device: str) -> Any:
    """torch, or an error that says what to install."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={device!r} needs PyTorch: pip install 'srff[gpu]', or use device='cpu'."
        ) from None
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device={device!r} is not available to PyTorch: {reason}") from None
    return torch


class DeviceEngine(Engine):
    """Blocks of rows on a torch device; sums in float64 there, results as NumPy arrays."""

    def __init__(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray | None,
        standardisation: Standardisation,
        plan: BlockPlan,
        dtype: np.dtype,
        device: str,
        rows: np.ndarray | None = None,
    ) -> None:
        self._torch = import_torch(device)
        self._device = device
        self._dtype = getattr(self._torch, np.dtype(dtype).name)
        self._numpy_dtype = np.dtype(dtype)
        # Copies from and to page-locked memory are fast, and may overlap the device's work.
        self._locks = device.startswith("cuda")
        # Metal has no float64: sums and standardisation are then not made on the device.
        self._has_double = not device.startswith("mps")
        self._sum_dtype = self._torch.float64 if self._has_double else self._dtype
        self._data: tuple[Any, np.ndarray, np.ndarray | None] | None = (X, Y, weight)
        self._chosen, self._plan, self._n_rows = rows, plan, X.shape[0]
        self._standardisation = standardisation
        self.n_features, self.n = X.shape[1], total_weight(X, weight, rows)
        self._staging: _Staging | None = None
        self._blocks: list[tuple[Array, Array, Array | None]] | None = None
        if plan.cached and self._fits():
            try:
                self._blocks = list(self._stream(None))
            except self._torch.cuda.OutOfMemoryError:
                self._retreat()
        self._staging = None

    def close(self) -> None:
        """Give back the device's memory."""
        self._blocks, self._staging, self._data = None, None, None

    def _fits(self) -> bool:
        """Whether all rows find room on the device, as far as it tells."""
        if not self._locks:
            return True
        free, _ = self._torch.cuda.mem_get_info(self._torch.device(self._device))
        n_rows = self._n_rows if self._chosen is None else self._chosen.size
        needed = n_rows * (self.n_features + 2) * self._numpy_dtype.itemsize
        return bool(needed <= RESIDENT_SHARE * free)

    def _parameter(self, array: np.ndarray) -> Array:
        host = self._torch.empty(array.shape, dtype=self._dtype, pin_memory=self._locks)
        host.numpy()[...] = array  # rounded here: half of the bytes travel
        return host.to(self._device, non_blocking=self._locks)

    def _index(self, indices: np.ndarray) -> Array:
        return self._torch.as_tensor(indices, device=self._device)

    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, *arguments: Any, width: int = 0
    ) -> list[np.ndarray]:
        self.n_passes += 1
        arguments = self._here(arguments)
        while True:
            try:
                return self._sum_once(function, columns, arguments)
            except self._torch.cuda.OutOfMemoryError:
                self._retreat()

    def _sum_once(
        self, function: BlockFunction, columns: np.ndarray | None, arguments: tuple[Any, ...]
    ) -> list[np.ndarray]:
        total: list[Array] = []
        for X, Y, weight in self._taken(columns):
            sums = [part.to(self._sum_dtype) for part in function(X.T, Y, weight, *arguments)]
            total = [t.add_(p) for t, p in zip(total, sums, strict=True)] if total else sums
        return self._on_host(total)

    def _on_host(self, arrays: list[Array]) -> list[np.ndarray]:
        """Arrays of the device as NumPy's, in float64."""
        empty = self._torch.empty
        hosts = [empty(a.shape, dtype=a.dtype, pin_memory=self._locks) for a in arrays]
        for host, array in zip(hosts, arrays, strict=True):
            host.copy_(array, non_blocking=self._locks)
        if self._locks:
            self._torch.cuda.current_stream(self._torch.device(self._device)).synchronize()
        return [host.numpy().astype(np.float64, copy=False) for host in hosts]

    def _taken(self, columns: np.ndarray | None) -> Iterator[tuple[Array, Array, Array | None]]:
        """The blocks in some of the columns, kept or streamed."""
        if self._blocks is None:
            yield from self._stream(columns)
            return
        taken = None if columns is None else self._index(columns)
        for X, Y, weight in self._blocks:
            yield X if taken is None else X[taken], Y, weight

    def _stream(self, columns: np.ndarray | None) -> Iterator[tuple[Array, Array, Array | None]]:
        """The blocks one after the other, copied to the device and standardised there."""
        assert self._data is not None
        X, Y, weight = self._data
        inputs = self._standardisation.of(columns)
        for rows in self._plan.blocks(self._n_rows, self._chosen):
            block = self._inputs(picked(X, rows, columns), inputs)
            targets = self._standardisation.targets(Y[rows], self._numpy_dtype)
            w = None
            if weight is not None:
                counts = self._standardisation.weights(weight[rows], self._numpy_dtype)
                w = self._parameter(counts)
            yield block, self._parameter(targets), w

    def _inputs(self, raw: np.ndarray, inputs: Transform) -> Array:
        """``X'`` of one block on the device."""
        if not self._has_double:
            return self._parameter(standardised_inputs(raw, inputs, self._numpy_dtype))
        if self._locks:
            if self._staging is None or not self._staging.takes(raw):
                self._staging = _Staging(self._torch, self._device, raw)
            raw = self._staging.copied(raw)
        else:
            raw = self._torch.as_tensor(raw, device=self._device)
        return standardised_inputs(raw, inputs, self._dtype)

    def _retreat(self) -> None:
        """After running out of memory: stream rows that were kept, then make blocks smaller."""
        self._torch.cuda.empty_cache()
        if self._blocks is not None or self._plan.cached:
            what = "rows are streamed to it at every pass"
            self._blocks, self._plan = None, replace(self._plan, cached=False)
        elif self._plan.rows > MIN_ROWS:
            self._plan = replace(self._plan, rows=self._plan.rows // 2)
            what = f"rows are sent to it in blocks of {self._plan.rows}"
        else:
            raise MemoryError(
                f"device={self._device!r} has no room for a block of {self._plan.rows} rows: "
                "lower n_components, or use device='cpu'."
            )
        warnings.warn(
            f"device={self._device!r} ran out of memory: from here on {what}.",
            RuntimeWarning,
            stacklevel=2,
        )


class _Staging:
    """Two page-locked buffers that take turns: one is filled while the other is copied."""

    def __init__(self, torch: Any, device: str, raw: np.ndarray) -> None:
        self._torch, self._device = torch, device
        dtype = getattr(torch, raw.dtype.name)
        self._buffers = [torch.empty(raw.size, dtype=dtype, pin_memory=True) for _ in range(2)]
        self._copied = [torch.cuda.Event() for _ in range(2)]
        self._stream = torch.cuda.Stream(device)
        self._turn = 0

    def takes(self, raw: np.ndarray) -> bool:
        """Whether a block of this size finds room."""
        return bool(raw.size <= self._buffers[0].numel())

    def copied(self, raw: np.ndarray) -> Array:
        """The block on the device, once the work that is queued there gets to it."""
        torch, turn = self._torch, self._turn
        self._turn = 1 - turn
        self._copied[turn].synchronize()
        host = self._buffers[turn][: raw.size].reshape(raw.shape)
        host.numpy()[...] = raw
        with torch.cuda.stream(self._stream):
            block = host.to(self._device, non_blocking=True)
            self._copied[turn].record(self._stream)
        current = torch.cuda.current_stream(torch.device(self._device))
        current.wait_event(self._copied[turn])
        block.record_stream(current)
        return block
