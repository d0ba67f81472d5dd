"""The rules of every game: pure, standard library only.

No gRPC, protobuf, asyncio, clock, operating system or `random`; tests/test_architecture.py holds to it.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - from a source tree any Python may come here
    raise ImportError("Pegboard needs Python 3.11 or newer, and this is " + sys.version.split()[0])
