"""The rules of every game: pure, standard library only.

No gRPC, protobuf, asyncio, clock, operating system or `random`; tests/test_architecture.py holds to it.
"""
