"""A server that speaks the Anthropic Messages API over real HTTP on loopback. See `server.WireServer`."""
