"""How much a load takes in at once, so that a file, whatever it holds, fits into memory."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ByteSize, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from moldau.errors import MoldauError
from moldau.settings.fields import Section, Whole

_MIB = 1024 * 1024
_FREE_BYTES = 64 * _MIB  # so much may come out of any file


def _bytes(told: Any) -> ByteSize:
    try:
        return TypeAdapter(ByteSize).validate_python(told)
    except ValidationError:
        raise PydanticCustomError("bytes", "bytes, such as 16777216 or 16MiB") from None


LineBytes = Annotated[ByteSize, BeforeValidator(_bytes)]


class Limits(Section):
    """`limits:` of moldau.yml."""

    line_bytes: Annotated[LineBytes, Field(ge=1024, le=1024 * _MIB)] = ByteSize(16 * _MIB)
    """A longer line is refused. A record of Kafka has a mebibyte at most unless told otherwise."""

    batch_bytes: Annotated[LineBytes, Field(ge=8 * _MIB, le=1024 * _MIB)] = ByteSize(128 * _MIB)
    """A larger batch of a segment is refused. Kafka takes batches of a mebibyte unless told
    otherwise."""

    expansion: Annotated[Whole, Field(ge=2)] = 200
    """A compressed file out of which more than so many times its bytes come is refused, beyond
    64 MiB. Exports of Kafka's records grow 5 to 40 times."""

    def refuse_bomb(self, file: str, unpacked_bytes: int, packed_bytes: int) -> None:
        """MoldauError if too many bytes came, or would come, out of so many of a file."""
        if unpacked_bytes > max(_FREE_BYTES, self.expansion * packed_bytes):
            raise MoldauError(
                f"{file} grows more than {self.expansion} times when it is read: nothing of it is "
                "taken, unless moldau.yml allows more (`limits: expansion`)"
            )
