"""Names and lists as a sentence shows them."""

from __future__ import annotations

LONGEST = 400
"""Characters of a line at most: other libraries like to quote whole lines of a file."""

MOST_LISTED = 8
"""Things that a sentence names before it counts the rest."""


def one_line(text: str, longest: int = LONGEST) -> str:
    """A text of any kind as one line that a terminal can show."""
    text = "".join(c if c.isprintable() else " " for c in text)
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 4].rstrip() + " ..."


def visible(text: str) -> str:
    """A text in which characters that a terminal obeys, or that nobody sees, are escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shown(name: object) -> str:
    """A column's name as an error shows it."""
    return one_line(repr(name), 60)


def listed(things: list[str], last: str = "and") -> str:
    """The first of some texts, and how many more there are."""
    if len(things) > MOST_LISTED:
        things = [*things[:MOST_LISTED], f"{len(things) - MOST_LISTED} more"]
    return f" {last} ".join([", ".join(things[:-1]), things[-1]] if len(things) > 1 else things)
