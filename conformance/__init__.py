"""A conformance test kit and schema validator for agent protocols."""

__version__ = "0.1.0"
