"""The gRPC service: adapters that check, call the host, and map errors."""
