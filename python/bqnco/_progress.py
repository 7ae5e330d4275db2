"""Progress: tqdm where it is installed (a widget in notebooks), a line on standard error elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Optional

#: Seconds between two changes of the line.
_INTERVAL = 0.1


class Progress:
    """A bar over so many pieces of work; nothing is shown unless ``shown``."""

    def __init__(self, total: Optional[int], title: str, shown: bool) -> None:
        self.shown, self.title, self.total = shown, title, total
        self.bar: Any = None
        self.last, self.line = 0.0, ""  # when the line was last written, and what it says
        if shown:
            try:
                from tqdm.auto import tqdm

                self.bar = tqdm(total=total, desc=title)
            except ImportError:
                pass

    def at(self, done: int, total: Optional[int] = None, text: str = "") -> None:
        """So much is done."""
        if total is not None and total != self.total:
            self.total = total
            if self.bar is not None:
                self.bar.reset(total)
        if self.bar is not None:
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.update(done - self.bar.n)
        elif self.shown:
            of = "" if self.total is None else f"/{self.total}"
            self._say(f"{self.title} {done}{of} {text}".rstrip(), done == self.total)

    def _say(self, line: str, at_once: bool) -> None:
        """Replaces the line, unless that was done just now."""
        blank = " " * (len(self.line) - len(line))
        now = time.monotonic()
        if at_once or now > self.last + _INTERVAL:
            print(f"\r{line}{blank}", end="", file=sys.stderr, flush=True)
            self.last, self.line = now, line

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.line:
            print(file=sys.stderr)
