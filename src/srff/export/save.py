"""Models as files: arrays, numbers and texts, and nothing that can be run.

A file is in the safetensors format, with JSON in its metadata
(:mod:`srff.export.format.container`).  What a class of model consists of is a table
(:mod:`srff.export.format.classes`), so that a file can name
nothing that is not in it; every size, type and number is checked before it is used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from srff._utils.atomic_files import replace_file
from srff.export.format.classes import CLASSES, NAMES, put_together, taken_apart
from srff.export.format.container import Refused, packed, read, unpacked

__all__ = ["ModelFileError", "load", "save"]


class ModelFileError(ValueError):
    """A file that is not a model, or not one that this version can load."""


def save(model: Any, path: str | os.PathLike, *, overwrite: bool = False) -> None:
    """Save a model, fitted or not, as one file that holds no code.

    What is loaded from it predicts the same numbers, bit for bit.  Parameters that are not plain
    data are left out and have their defaults in the loaded model: a ``callback``, a ``validation``
    pair, a ``RandomState``, a ``checkpoint`` folder, and, with a warning, a ``kernel`` that is
    neither a name nor an object of :mod:`srff.kernels`, a ``loss`` that is none of
    :mod:`srff.losses`, and an encoder of ``categories`` with settings that are not plain data.  A
    loss of the user's own whose ``prediction`` is not the identity cannot be saved.  Of attributes
    those are kept that the class documents, and what ``set_output`` was given.

    Parameters
    ----------
    model : SRFFRegressor, SRFFClassifier or RFFRegressor
        The model.
    path : path
        Where to write it.  The file is there whole or not at all.
    overwrite : bool, default=False
        Whether a file that is there may be replaced.

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from srff import RFFRegressor
    >>> from srff.export.save import load, save
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = RFFRegressor(n_components=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "sine.srff"))
    ...     same = load(os.path.join(folder, "sine.srff"))
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    if type(model) not in NAMES:
        raise TypeError(
            f"model is a {type(model).__name__}; accepted are {', '.join(CLASSES)}. Other objects, "
            "such as a Pipeline, can be kept by joblib.dump."
        )
    target = Path(os.path.realpath(path))  # what a link stands for, not the link, is replaced
    try:
        if not overwrite and os.path.lexists(target):
            raise FileExistsError
        parts, about = taken_apart(model)
        content = packed(parts.arrays, about)
        put_together(*unpacked(content))  # what could not be loaded is not written
        replace_file(target, content, overwrite=overwrite)
    except Refused as reason:
        raise ValueError(f"The model cannot be saved: {reason}.") from None
    except FileExistsError:
        raise FileExistsError(
            f"{os.fspath(path)} is there already; overwrite=True replaces it."
        ) from None
    except OSError as error:
        what = error.strerror or str(error)
        raise OSError(error.errno, f"{os.fspath(path)} cannot be written: {what}") from None


def load(path: str | os.PathLike) -> Any:
    """Load a model that :func:`save` wrote.

    Nothing in the file is run, whoever wrote it.  A file that is damaged, made up, or of a later
    format is refused.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : estimator
        Of the class that was saved; it predicts on the CPU wherever it was fitted.

    Raises
    ------
    ModelFileError
        If the file is not a model that this version can load; it says what is wrong.

    See Also
    --------
    save : The way there, with an example.

    Examples
    --------
    >>> import os, tempfile
    >>> from srff.export.save import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "notes.txt")
    ...     _ = open(name, "w").write("This is a text.")
    ...     load(name)
    Traceback (most recent call last):
        ...
    srff.export.save.ModelFileError: ...notes.txt cannot be loaded: it is cut off, or not in the
    safetensors format.
    """
    try:
        return put_together(*unpacked(read(path)))
    except Refused as reason:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {reason}.") from None
