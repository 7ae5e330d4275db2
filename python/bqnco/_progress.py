"""Progress: tqdm where it is installed, a line on standard error elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Optional


class Progress:
    """A bar over so many pieces of work; nothing is shown unless ``shown``."""

    def __init__(self, total: Optional[int], title: str, shown: bool) -> None:
        self.shown, self.title, self.total, self.last = shown, title, total, 0.0
        self.bar: Any = None
        if shown:
            try:
                from tqdm.auto import tqdm  # a widget in notebooks

                self.bar = tqdm(total=total, desc=title)
            except ImportError:
                pass

    def at(self, done: int, total: Optional[int] = None, text: str = "") -> None:
        """So much is done."""
        self.total = total if total is not None else self.total
        if self.bar is not None:
            self.bar.total = self.total
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.update(done - self.bar.n)
        elif self.shown and (time.monotonic() > self.last + 0.1 or done == self.total):
            self.last = time.monotonic()
            of = "" if self.total is None else f"/{self.total}"
            print(f"\r{self.title} {done}{of} {text}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.shown:
            print(file=sys.stderr)
