"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine(device: str) -> str:
    """The processor, its cores, the memory and, if it is used, the GPU, in words."""
    text = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        names = [part for part in cpus.read_text().splitlines() if part.startswith("model name")]
        text = names[0].partition(":")[2].strip() if names else text
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    text += f", {os.cpu_count()} cores, {memory:.0f} GiB"
    if device.startswith("cuda"):
        import torch

        text += f", {torch.cuda.get_device_name(device)}"
    return text
