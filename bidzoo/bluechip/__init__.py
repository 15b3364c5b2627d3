"""The Blue Chip Bridge network protocol, version 18: a table manager, and a client that seats any policy."""
