"""Checks of arguments that the compiled part takes as numbers of a type."""

from __future__ import annotations

import operator
from typing import Any, Optional


def text(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, found {type(value).__name__}")
    return value


def texts(name: str, value: Any) -> list[str]:
    """A list of strings: a single one would be taken for its letters."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of strings, found the string {value!r}")
    return [text(f"each of {name}", one) for one in value]


def whole(name: str, value: Any, least: int = 0) -> int:
    """An integer from ``least`` on."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, found {type(value).__name__}") from None
    if not least <= number < 2**63:
        raise ValueError(f"{name} = {number}: expected an integer from {least} on")
    return number


def perhaps_whole(name: str, value: Any, least: int = 0) -> Optional[int]:
    """An integer from ``least`` on, or None."""
    return None if value is None else whole(name, value, least)


def real(name: str, value: Any) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, found {type(value).__name__}") from None


def perhaps_real(name: str, value: Any) -> Optional[float]:
    """A number, or None."""
    return None if value is None else real(name, value)
