"""Java properties files, read as Kafka's command-line tools read them."""

from __future__ import annotations

from pathlib import Path

import javaproperties

from moldau.errors import MoldauError

# what String.trim of Java cuts off
_JAVA_WHITE_SPACE = "".join(map(chr, range(0x21)))


def read_properties(file: Path) -> dict[str, str]:
    """The properties of a file, values trimmed as `ConfigDef.parseType` does.

    The file is ISO-8859-1 with escapes, as `Properties.load` has it. MoldauError names the file
    and never quotes it.
    """
    try:
        with file.open("rb") as stream:
            found = javaproperties.load(stream)
    except OSError as error:
        raise MoldauError(f"cannot read the properties file {file}: {error.strerror}") from None
    except javaproperties.InvalidUEscapeError:
        raise MoldauError(
            f"the properties file {file} has a \\u that four hexadecimal digits do not follow"
        ) from None
    return {name: value.strip(_JAVA_WHITE_SPACE) for name, value in found.items()}
