"""Rows on a torch device (a GPU, or torch's own CPU), through the same block code."""

from __future__ import annotations

from typing import Any

import numpy as np

from srff.engines.base import (
    BlockFunction,
    Engine,
    Standardisation,
    standardised_block,
    total_weight,
)
from srff.engines.plan import BlockPlan
from srff.features import Array

BLOCK_ENTRIES = 2**26
"""Entries of a rows x D array on the device: large enough to fill it, small beside its memory."""


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
    """Blocks of rows kept on a torch device; sums in float64 there, results as NumPy arrays."""

    def __init__(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray | None,
        standardisation: Standardisation,
        n_components: int,
        dtype: np.dtype,
        device: str,
        rows: np.ndarray | None = None,
    ) -> None:
        self._torch = import_torch(device)
        self._device = device
        self._dtype = getattr(self._torch, np.dtype(dtype).name)
        # Metal has no float64: its sums stay in the blocks' own precision.
        self._sum_dtype = self._dtype if device.startswith("mps") else self._torch.float64
        self.n_features, self.n = X.shape[1], total_weight(X, weight, rows)
        plan = BlockPlan(max(1, BLOCK_ENTRIES // max(n_components, self.n_features)), cached=True)
        self._blocks = []
        for s in plan.blocks(X.shape[0], rows):
            block, targets = standardised_block(X, Y, s, standardisation, np.dtype(dtype))
            w = None if weight is None else self._parameter(weight[s])
            self._blocks.append((self._parameter(block), self._parameter(targets), w))

    def close(self) -> None:
        """Give back the device's memory."""
        self._blocks = []

    def _parameter(self, array: np.ndarray) -> Array:
        return self._torch.as_tensor(array, dtype=self._dtype, device=self._device)

    def _index(self, indices: np.ndarray) -> Array:
        return self._torch.as_tensor(indices, device=self._device)

    def _sum(self, function: BlockFunction, columns: np.ndarray | None) -> list[np.ndarray]:
        self.n_passes += 1
        taken = None if columns is None else self._index(columns)
        total: list[Array] = []
        for X, Y, weight in self._blocks:
            parts = function((X if taken is None else X[taken]).T, Y, weight)
            sums = [part.to(self._sum_dtype) for part in parts]
            total = [t + p for t, p in zip(total, sums, strict=True)] if total else sums
        return [t.cpu().numpy().astype(np.float64) for t in total]
