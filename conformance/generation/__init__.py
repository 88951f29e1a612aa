"""Valid messages, made to order: a builder that walks a schema, and what draws its choices.

`choosing` what decides, `schemata` schemas in their places, `opposites` what a schema's negation allows,
`shapes` the ways in which several schemas can hold at once, `building` a value of one of them.
"""
