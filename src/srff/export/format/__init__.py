"""The file format: a safetensors container, the classes and settings it may hold."""
