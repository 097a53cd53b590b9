"""Versions of what srff runs on, as an error report needs them."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from srff._utils.version import __version__

REQUIRED = (
    "numpy",
    "scipy",
    "scikit-learn",
    "array-api-compat",
    "jinja2",
    "joblib",
    "threadpoolctl",
    "typer",
    "rich",
)
"""What srff does not run without."""

OPTIONAL = (
    "torch",
    "skglm",
    "pandas",
    "pyarrow",
    "polars",
    "dask",
    "distributed",
    "onnx",
    "onnxruntime",
    "matplotlib",
)
"""What some of its abilities need, or what its input may be of."""

ABSENT = "absent"


def show_versions() -> None:
    """Print the versions of srff, Python, the packages that it uses, and its linear algebra.

    Copy all of it into a report of an error.  Packages that are not installed are ``absent``;
    those that srff can do without are not imported for it.

    Examples
    --------
    >>> import srff
    >>> srff.show_versions()
    srff ...
    <BLANKLINE>
    System
      python ...
    """
    print(f"srff {__version__}")
    sections = {
        "System": _system(),
        "Packages": _installed(REQUIRED),
        "Optional packages": _installed(OPTIONAL),
        "Threads": _threads(),
    }
    for title, lines in sections.items():
        print(f"\n{title}")
        for name, value in lines:
            print(f"  {name:<16} {value}")


def _system() -> Iterator[tuple[str, str]]:
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "platform", platform.platform()


def _installed(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each package with its version, from what was installed."""
    for name in names:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, ABSENT


def _threads() -> Iterator[tuple[str, str]]:
    """Cores, and the libraries that fits compute with."""
    from joblib import cpu_count
    from threadpoolctl import threadpool_info

    for name in ("numpy", "scipy.linalg", "sklearn"):
        import_module(name)  # a library is seen once it is loaded
    yield "cores", f"{cpu_count()} of {os.cpu_count()}"
    for pool in threadpool_info():
        file = os.path.basename(pool["filepath"])
        count = f"{pool['num_threads']} thread{'s' * (pool['num_threads'] != 1)}"
        name = " ".join(filter(None, (pool["internal_api"], pool["version"])))  # some have none
        yield pool["user_api"], f"{name}, {count}, {file}"
