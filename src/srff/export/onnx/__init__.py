"""Models as ONNX graphs, for runtimes without Python."""

from srff.export.onnx.convert import to_onnx

__all__ = ["to_onnx"]
