# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor (QMP) over a connected socket: commands, and the events that come in between."""

import json
import socket
import time

from tests.guest.limits import within


class QmpError(RuntimeError):
    """The command failed, or QEMU is gone."""


class Qmp:
    def __init__(self, connection):
        self._socket = connection
        self._text = b""
        self.events = []
        self._receive(time.monotonic() + within(20))  # the greeting
        self.command("qmp_capabilities")

    def _receive(self, deadline):
        """The next message; events are kept. QmpError at the deadline."""
        while b"\n" not in self._text:
            left = deadline - time.monotonic()
            if left <= 0:
                raise QmpError("QEMU's monitor does not answer")
            self._socket.settimeout(left)
            try:
                piece = self._socket.recv(65536)
            except socket.timeout:
                continue
            except OSError as error:
                raise QmpError(f"QEMU's monitor is gone: {error}") from error
            if not piece:
                raise QmpError("QEMU's monitor is gone")
            self._text += piece
        line, self._text = self._text.split(b"\n", 1)
        message = json.loads(line)
        if "event" in message:
            self.events.append(message)
        return message

    def command(self, name, send_fd=None, **arguments):
        """Runs a command, with a descriptor if it needs one; returns what it returns."""
        text = json.dumps({"execute": name, "arguments": arguments}).encode()
        try:
            if send_fd is None:
                self._socket.sendall(text)
            else:
                socket.send_fds(self._socket, [text], [send_fd])
        except OSError as error:
            raise QmpError(f"QEMU's monitor is gone: {error}") from error
        deadline = time.monotonic() + within(20)
        while True:
            message = self._receive(deadline)
            if "return" in message:
                return message["return"]
            if "error" in message:
                raise QmpError(f"{name}: {message['error'].get('desc')}")

    def wait_event(self, name, seconds, **data):
        """Whether an event with these data comes, or has come since it was last asked for."""
        deadline = time.monotonic() + seconds
        while True:
            for event in self.events:
                found = event.get("data", {})
                if event["event"] == name and all(found.get(key) == value for key, value in data.items()):
                    self.events.remove(event)
                    return True
            try:
                self._receive(deadline)
            except QmpError:
                return False
