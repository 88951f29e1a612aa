"""A conformance test kit and schema validator for agent protocols."""

__version__ = "0.1.0"

KIT = {"name": "agent-conformance-kit", "version": __version__}
"""How the kit names itself in everything that it writes."""
