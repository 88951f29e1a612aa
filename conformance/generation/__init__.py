"""Messages made to order: valid ones, violations of one constraint each, and whole conversations.

Valid messages: `choosing` what decides, `schemata` schemas in their places, `opposites` what a negation
allows, `shapes` the ways in which several schemas can hold at once, `building` a value of one of them.
Conversations: `dialogue` what two parties say, `walks` through the lifecycles, `recording` as transcripts.
Negative tests: `refusals` what is tried and how it is refused, `spoiling` the messages.
"""
