# SPDX-License-Identifier: Apache-2.0
"""One virtual card of a guest: a heddle-sim process."""

import os
import socket
import subprocess

from tests.guest.limits import within

HEDDLE_SIM = "simulator/platform/heddle-sim"


class Card:
    """Starts the process; it ends with this object, or with the process that made it."""

    def __init__(self, folder, name, options, pass_fds=()):
        """`options` of heddle-sim (serial number 1 unless they have another); `pass_fds`: descriptors that they name."""
        if "--serial" not in options:
            options = ["--serial", "1", *options]
        self.socket_path = os.path.join(folder, name + ".s")
        self._control_path = os.path.join(folder, name + ".c")
        # The process ends when this pipe is closed.
        child_end, self._parent = os.pipe()
        ready, told = os.pipe()
        self._log = open(os.path.join(folder, name + ".log"), "wb")
        self.process = subprocess.Popen(
            [HEDDLE_SIM, "--socket", self.socket_path]
            + ["--control", self._control_path, "--parent-fd", str(child_end), "--ready-fd", str(told)]
            + options,
            pass_fds=[*pass_fds, child_end, told],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        os.close(child_end)
        os.close(told)
        line = os.read(ready, 16)
        os.close(ready)
        if not line:
            self.process.wait()
            self.close()
            with open(self._log.name, encoding="utf-8", errors="replace") as log:
                raise RuntimeError(f"heddle-sim {' '.join(options)} did not start: {log.read()}")

    def connect(self):
        """A connection to it."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.socket_path)
        return connection

    def control(self, line):
        """A command of the control socket; its line of JSON."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(within(20))
            connection.connect(self._control_path)
            connection.sendall(line.encode() + b"\n")
            text = b""
            while not text.endswith(b"\n"):
                piece = connection.recv(65536)
                if not piece:
                    break
                text += piece
        return text.decode()

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self._parent is not None:
            os.close(self._parent)
            self._parent = None
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()
        self._log.close()
