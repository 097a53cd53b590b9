"""Values as texts: the same in another process for the same value, another for any other.

Functions and classes of the user's are taken apart to their code, with all that it reads: defaults,
closures, globals, attributes.  Those of Python and of installed libraries are known by their names.
Objects are taken apart to their attributes, or as pickle does it.  Whatever cannot be is refused.
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import sys
import types
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from srff._utils.arrays import to_host

LONGEST = 300
"""Characters of a text at most: of a longer one the start and a digest are kept."""

_PLAIN = (type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes)
_NUMBER_TYPES = (bool, int, float, complex)
_BUILT_IN = (types.BuiltinFunctionType, types.MethodWrapperType)
_DESCRIPTORS = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_NO_BEHAVIOUR = {
    *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "_abc_impl"),
    *("__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    *("__dataclass_fields__", "__dataclass_params__", "__parameters__", "__orig_bases__"),
    *("__firstlineno__", "__static_attributes__"),
}
"""Attributes of a class that say nothing of what it does."""


class Indescribable(ValueError):
    """A value that cannot be told from others in another process."""


def described(value: Any) -> str:
    """A value as text."""
    if isinstance(value, types.GeneratorType):
        return "generator"  # of splits, which are told from others with the rows
    try:
        text = _Description().of(value)
    except RecursionError:
        raise Indescribable("it is nested too deep, or too long a chain of functions") from None
    return text if len(text) <= LONGEST else f"{text[:100]}... {_short(text.encode())}"


def digest(*arrays: np.ndarray) -> str:
    """A short text that other numbers, or other objects, would not give."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype}{array.shape}".encode())
        if array.dtype.hasobject or array.dtype.kind == "T":  # the bytes would be addresses
            found.update(_Description().of(array.tolist()).encode())
        else:
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


class _Description:
    """One value being taken apart: what it is within, and the functions and classes seen so far."""

    def __init__(self) -> None:
        self._within: list[int] = []
        self._numbers: dict[int, int] = {}

    def of(self, value: Any) -> str:
        """The text of a value; that of one within itself says how far up it is."""
        if type(value) in _PLAIN:
            return repr(value)
        if id(value) in self._within:
            return f"<{len(self._within) - self._within.index(id(value))} up>"
        self._within.append(id(value))
        try:
            return self._data(value) or self._code(value) or self._instance(value)
        finally:
            self._within.pop()

    def _data(self, value: Any) -> str:
        """Numbers, containers, arrays and tables; nothing for other values."""
        if isinstance(value, np.generic) and type(value.item()) in _PLAIN:
            return repr(value.item())
        if type(value) in (tuple, list):
            return f"[{', '.join(map(self.of, value))}]"
        if type(value) in (dict, types.MappingProxyType):
            return f"{{{', '.join(f'{self.of(k)}: {self.of(v)}' for k, v in value.items())}}}"
        if type(value) in (set, frozenset):  # whose order is another in every process
            return f"set [{', '.join(sorted(map(self.of, value)))}]"
        if isinstance(value, np.dtype) or _is_number_type(value):
            return str(np.dtype(value))
        if isinstance(value, np.random.RandomState):
            if value is np.random.mtrand._rand:  # seeded anew in every process
                return "NumPy's global RandomState"
            return f"RandomState {digest(*map(np.asarray, value.get_state()))}"
        return self._array(value) if _is_array(value) else ""

    def _array(self, value: Any) -> str:
        """An array or a table by its values, and the names of its columns."""
        if isinstance(value, np.ma.MaskedArray):
            return f"masked {self.of([value.filled(), np.ma.getmaskarray(value)])}"
        array = np.asarray(to_host(value))
        columns = getattr(value, "columns", None)
        names = "" if columns is None else f"{self.of(np.asarray(columns).tolist())} "
        return f"data {names}{digest(array)}"

    def _code(self, value: Any) -> str:
        """Functions, classes, modules and their parts; nothing for other values."""
        if isinstance(value, types.FunctionType):
            return self._numbered(value, _is_own_function(value), self._function)
        if isinstance(value, type):
            return self._numbered(value, not is_library(value.__module__), self._class)
        if isinstance(value, types.CodeType):
            return self._bytecode(value)
        if isinstance(value, types.MethodType):
            return f"{self.of(value.__func__)} of {self.of(value.__self__)}"
        if isinstance(value, types.ModuleType):
            if is_library(value.__name__):
                return f"module {value.__name__}"
            raise Indescribable(f"it holds the module {value.__name__!r}")
        if isinstance(value, _BUILT_IN):
            owner = value.__self__
            of = "" if isinstance(owner, types.ModuleType) else f" of {self.of(owner)}"
            return f"{getattr(value, '__module__', None)}.{value.__qualname__}{of}"
        if isinstance(value, _DESCRIPTORS):
            return f"{_name(value.__objclass__)}.{value.__name__}"
        if isinstance(value, staticmethod | classmethod):
            return f"{type(value).__name__} {self.of(value.__func__)}"
        if isinstance(value, property):
            return f"property {self.of([value.fget, value.fset, value.fdel])}"
        if isinstance(value, cached_property):  # which has a lock
            return f"cached_property {self.of(value.func)}"
        return ""

    def _numbered(self, value: Any, own: bool, taken_apart: Any) -> str:
        """A function or class: the user's own are taken apart once."""
        if not own:
            return _name(value)
        if id(value) in self._numbers:
            return f"{value.__qualname__} #{self._numbers[id(value)]}"
        self._numbers[id(value)] = len(self._numbers)
        return f"{value.__qualname__} {_short(taken_apart(value).encode())}"

    def _function(self, value: types.FunctionType) -> str:
        cells = [_content(cell) for cell in value.__closure__ or ()]
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, cells, vars(value)]
        seen = self._globals(value) if not is_library(value.__globals__.get("__name__")) else ""
        return f"{self.of(parts)} {seen}"

    def _globals(self, value: types.FunctionType) -> str:
        """What the code reads of its module: of modules of the user's own what it names."""
        codes = list(_codes(value.__code__))
        named = {name for code in codes for name in code.co_names}
        read = {i.argval for code in codes for i in dis.get_instructions(code) if _reads(i)}
        found = {n: value.__globals__[n] for n in sorted(read) if n in value.__globals__}
        return ", ".join(f"{name}: {self._seen(v, named)}" for name, v in found.items())

    def _seen(self, value: Any, named: set[str]) -> str:
        if not isinstance(value, types.ModuleType) or is_library(value.__name__):
            return self.of(value)
        if id(value) in self._within:
            return f"module {value.__name__}"
        self._within.append(id(value))
        found = {name: v for name, v in sorted(vars(value).items()) if name in named}
        text = ", ".join(f"{name}: {self._seen(v, named)}" for name, v in found.items())
        self._within.pop()
        return f"module {value.__name__} ({text})"

    def _bytecode(self, code: types.CodeType) -> str:
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        return self.of([code.co_code, code.co_exceptiontable, code.co_consts, names, counts])

    def _class(self, value: type) -> str:
        own = {k: v for k, v in sorted(vars(value).items()) if k not in _NO_BEHAVIOUR}
        slots = (types.GetSetDescriptorType, types.MemberDescriptorType)
        attributes = {k: v for k, v in own.items() if not isinstance(v, slots)}
        return self.of([type(value), value.__bases__, attributes])

    def _instance(self, value: Any) -> str:
        """The class, the attributes, and what pickle would keep beside them."""
        kind: Any = type(value)
        reduced = copyreg.dispatch_table.get(kind)
        try:
            parts: Any = reduced(value) if reduced else value.__reduce_ex__(4)
        except Exception as error:
            raise Indescribable(f"it holds a {_name(kind)} ({error})") from None
        default = (
            reduced is None
            and kind.__reduce_ex__ is object.__reduce_ex__
            and kind.__reduce__ is object.__reduce__
            and kind.__getstate__ is object.__getstate__
        )
        text = self.of(kind)
        if default or not is_library(kind.__module__) or isinstance(parts, str):
            text += f" {self.of(_attributes(value))}"
        if isinstance(parts, str):
            return f"{text} {parts}"
        function, arguments, state, *items = (*parts, None, None, None)[: max(5, len(parts))]
        rest: list[Any] = [] if default else [state]
        rest += [list(each) for each in items[:2] if each is not None]
        if function is not copyreg.__newobj__ or len(arguments) > 1:  # type: ignore[attr-defined]
            rest += [function, arguments]
        return f"{text} {self.of(rest)}" if rest else text


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots too, by name."""
    found = dict(getattr(value, "__dict__", {}))
    found.pop("__signature__", None)  # NumPy's functions have one once somebody has asked for it
    for kind in type(value).__mro__:
        if "__slots__" not in vars(kind):  # members of types made in C may be addresses
            continue
        for name, slot in vars(kind).items():
            if isinstance(slot, types.MemberDescriptorType):
                try:
                    found[name] = slot.__get__(value)
                except AttributeError:
                    continue
    return dict(sorted(found.items()))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return NotImplemented  # nothing is in it yet


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _reads(instruction: dis.Instruction) -> bool:
    return instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")


def _is_number_type(value: Any) -> bool:
    return isinstance(value, type) and (issubclass(value, np.generic) or value in _NUMBER_TYPES)


def _is_array(value: Any) -> bool:
    """Whether this is an array or a table of a library, which has no other state."""
    kind = type(value)
    arrays = hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")
    return arrays and is_library(kind.__module__)


def _is_own_function(value: types.FunctionType) -> bool:
    """Whether a function is to be taken apart: all but those that a library has by name."""
    of_library = is_library(value.__globals__.get("__name__"))
    return not of_library or "<locals>" in value.__code__.co_qualname


def _name(value: Any) -> str:
    module = "" if value.__module__ == "builtins" else f"{value.__module__}."
    return f"{module}{value.__qualname__}"


def is_library(module: Any) -> bool:
    """Whether a module, by its name, is this package's, Python's own or an installed one."""
    if not isinstance(module, str):
        return module is not None  # of a type that was not made in Python
    if module.startswith("_cython_"):  # where Cython's own types say that they are from
        return True
    top = module.partition(".")[0]
    if top in ("srff", *sys.builtin_module_names) or top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return any(part in ("site-packages", "dist-packages") for part in Path(file).parts)
