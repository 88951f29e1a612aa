"""A conformance test kit and schema validator for agent protocols."""
