"""Fitted models as files: our own format, and ONNX."""
