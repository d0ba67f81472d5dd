"""How fields of named tuples travel: pairs of conversions, and messages made of them.

Events are named tuples whose fields are those of their messages; one line a kind of event says which
fields are more than plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Field(NamedTuple):
    """A conversion to what a message's constructor takes, and back from what the message holds.

    `write` returns None for a field that stays unset; `absent` is what an unset field is read as.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    absent: Any = None


def _same(value: Any) -> Any:
    return value


PLAIN = Field(_same, _same)
NUMBERS = Field(_same, tuple)


class Kind:
    """One kind of event: its named tuple, its field in the `oneof`, its conversions."""

    def __init__(self, oneof: str, event: Any, message: Any, **fields: Field) -> None:
        """Take the oneof's field, the named tuple, the message class and the special fields."""
        described = message.DESCRIPTOR.fields_by_name
        assert set(described) == set(event._fields), (
            f"{event.__name__}: fields of tuple and message"
        )
        assert fields.keys() <= set(described), f"{event.__name__} lacks some of {set(fields)}"
        self.oneof = oneof
        self.event = event
        self._message = message
        self._fields = [
            (name, *fields.get(name, PLAIN), described[name].has_presence) for name in event._fields
        ]

    def write(self, event: Any) -> Any:
        """Return the message of an event."""
        values = {}
        for (name, write, *_), value in zip(self._fields, event, strict=True):
            written = write(value)
            if written is not None:
                values[name] = written
        return self._message(**values)

    def read(self, message: Any) -> Any:
        """Return the event of a message."""
        return self.event(
            *[
                absent if optional and not message.HasField(name) else read(getattr(message, name))
                for name, _, read, absent, optional in self._fields
            ]
        )


class Kinds:
    """All kinds of events of a family."""

    def __init__(self, wrapper: Any, kinds: Iterable[Kind]) -> None:
        """Take the message class with the `oneof`, and the kinds."""
        listed = tuple(kinds)
        self._wrapper = wrapper
        self._by_event = {kind.event: kind for kind in listed}
        self._by_oneof = {kind.oneof: kind for kind in listed}

    def write(self, event: Any) -> Any:
        """Return the wrapped message of any event of the family."""
        kind = self._by_event[type(event)]
        return self._wrapper(**{kind.oneof: kind.write(event)})

    def read(self, wrapper: Any) -> Any | None:
        """Return the event, or None for a kind that this version does not know."""
        oneof = wrapper.WhichOneof("kind")
        kind = self._by_oneof.get(oneof)
        return None if kind is None else kind.read(getattr(wrapper, oneof))
