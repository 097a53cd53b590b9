"""A graph as it grows: named nodes and constants, and what goes in and comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import onnx

ML = "ai.onnx.ml"
"""The domain of the look-up of texts."""

STRING = np.dtype(object)
"""The type of texts in arrays."""

TINY, HUGE = 1e-30, 1e30
"""Between these float32 has all its digits, and for what is some powers of ten from them too."""


@dataclass(frozen=True)
class Port:
    """What goes in or comes out: texts or numbers of a type, for each row."""

    name: str
    dtype: np.dtype
    width: int | None
    about: str

    def to_proto(self) -> onnx.ValueInfoProto:
        """Its declaration."""
        from onnx import TensorProto, helper

        text = self.dtype == STRING
        code = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(self.dtype)
        shape: list[str | int | None]
        shape = ["rows"] if self.width is None else ["rows", self.width]
        return helper.make_tensor_value_info(self.name, code, shape, self.about)


class Graph:
    """Nodes and constants in the order in which they were added; ``X`` goes in, ``y`` comes out.

    Where columns go in one by one, or something else comes out, ``inputs`` and ``outputs`` say so;
    other names then begin with ``prefix``, which none of the columns' does.
    """

    def __init__(self, dtype: np.dtype, names: list[str]) -> None:
        self.dtype, self.names = dtype, names
        self.warnings: list[str] = []
        self.inputs: list[Port] = []
        self.outputs = [Port("y", dtype, None, "The prediction.")]
        self.prefix = ""
        self.domains: set[str] = set()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, values: Any, dtype: Any = np.float64) -> str:
        """A named array."""
        from onnx import numpy_helper

        array = np.asarray(values, dtype=dtype, order="C")
        self._constants.append(numpy_helper.from_array(array, self.prefix + name))
        return self.prefix + name

    def add(
        self, operator: str, name: str, *inputs: str, domain: str = "", **attributes: Any
    ) -> str:
        """The result of an operator, under a name that no other has."""
        from onnx import helper

        self.domains.add(domain)
        if name not in {port.name for port in self.outputs}:
            name = self.prefix + name
        self._nodes.append(
            helper.make_node(
                operator, inputs, [name], name=f"{name}_{operator}", domain=domain, **attributes
            )
        )
        return name

    def cast(self, value: str, name: str, dtype: Any, given: Any) -> str:
        """The value in a type; the value itself if it is of that type already."""
        from onnx import helper

        if np.dtype(given) == np.dtype(dtype):
            return value
        return self.add("Cast", name, value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def shift(self, name: str, x: str, constant: str, values: np.ndarray) -> str:
        """``x`` plus a constant for each column."""
        # onnxruntime removes an Add of one number that float32 would round to zero, such as 1e-60.
        lost = values.size == 1 and abs(float(values[0])) < TINY
        return self.add("Sum" if lost else "Add", name, x, self.constant(constant, values))

    def out(self, value: str, name: str, given: Any) -> None:
        """Let a value of the ``given`` type out, as an output of the graph's type."""
        if self.cast(value, name, self.dtype, given) == value:
            self.add("Identity", name, value)

    def to_proto(self, name: str, about: str, used: np.ndarray) -> onnx.GraphProto:
        """The whole, with what goes in and comes out."""
        from onnx import helper

        shown = ", ".join(self.names[i] for i in used[:20]) + (", ..." if used.size > 20 else "")
        about_X = f"Inputs, one row a case; columns that are read: {shown or 'none'}."
        whole = Port("X", self.dtype, len(self.names), about_X)
        return helper.make_graph(
            self._nodes,
            name,
            [port.to_proto() for port in self.inputs or [whole]],
            [port.to_proto() for port in self.outputs],
            self._constants,
            doc_string=about,
        )
