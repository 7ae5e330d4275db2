"""Checks of arguments that the compiled part takes as values of a type."""

from __future__ import annotations

import operator
import os
from typing import Any, Optional


def text(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, found {type(value).__name__}")
    return value


def perhaps_text(name: str, value: Any) -> Optional[str]:
    """A string, or None."""
    return None if value is None else text(name, value)


def texts(name: str, value: Any) -> list[str]:
    """A list of strings: a single one would be taken for its letters."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of strings, found the string {value!r}")
    return [text(f"each of {name}", one) for one in value]


def path(name: str, value: Any) -> str:
    """A path as a string."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} must be a path, found {type(value).__name__}")
    return os.fsdecode(value)


def perhaps_path(name: str, value: Any) -> Optional[str]:
    """A path as a string, or None."""
    return None if value is None else path(name, value)


def perhaps_callable(name: str, value: Any) -> Any:
    """Something to call, or None: it would fail at its first call, perhaps after hours."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be callable, found {type(value).__name__}")
    return value


def whole(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """An integer from ``least`` to ``most``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, found {type(value).__name__}") from None
    if number < least:
        raise ValueError(f"{name} = {number}: expected an integer from {least} on")
    if number > most:
        raise ValueError(f"{name} = {number}: expected at most {most}")
    return number


def perhaps_whole(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> Optional[int]:
    """An integer from ``least`` to ``most``, or None."""
    return None if value is None else whole(name, value, least, most)


def real(name: str, value: Any) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, found {type(value).__name__}") from None


def perhaps_real(name: str, value: Any) -> Optional[float]:
    """A number, or None."""
    return None if value is None else real(name, value)
