"""Messages made to order: valid ones, violations of one constraint each, and whole conversations."""
