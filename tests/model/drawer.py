"""A system keyring for tests: a backend of the real `keyring` package, chosen by PYTHON_KEYRING_BACKEND."""

from __future__ import annotations

import threading
from typing import ClassVar

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class Drawer(KeyringBackend):
    """A keyring of the test's own, that also can be locked or never answer."""

    priority = 1
    entries: ClassVar[dict[tuple[str, str], str]] = {}
    asked: ClassVar[list[tuple[str, str]]] = []
    locked: ClassVar[bool] = False
    opened: ClassVar[threading.Event | None] = None

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.append((service, username))
        if self.opened is not None:
            self.opened.wait(20)
        if self.locked:
            raise KeyringLocked("the drawer is locked")
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]
