"""The schemas of a tool, under the name by which interfaces ask for them."""

from handrail.core.schema import input_schema, output_schema

__all__ = ["input_schema", "output_schema"]
