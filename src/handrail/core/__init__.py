"""The road: the stations that every call passes, in their one order, and the root that puts the parts together."""
