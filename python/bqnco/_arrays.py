"""Arrays from and to the bytes that pass between Python and Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def array(buffer: bytearray, dtype: str, shape: list[int]) -> npt.NDArray[Any]:
    """The array of a buffer, which it owns from now on."""
    return np.frombuffer(buffer, dtype).reshape(shape)


def packed(values: Any, dtype: Any) -> bytes:
    """The numbers of an array, the last axis fastest."""
    return np.ascontiguousarray(values, dtype).tobytes()
