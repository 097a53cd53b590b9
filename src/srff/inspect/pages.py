"""HTML from the templates beside this module: every text that is filled in is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from srff.inspect.wording import figure, number, share

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(template: str, **data: Any) -> str:
    """The page that a template makes of the data."""
    return _environment().get_template(template).render(data)


@cache
def _environment() -> Environment:
    # Imported late: an estimator alone needs no pages.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("srff.inspect", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"number": number, "figure": figure, "share": share, "thousands": "{:,}".format}
    return made
