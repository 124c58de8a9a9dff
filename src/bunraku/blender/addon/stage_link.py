"""A visitor of a running stage, who follows one of its live entries. Needs Python and numpy only, as Blender has them."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import struct
import urllib.parse
from typing import Any

import numpy as np


class LinkError(Exception):
    """The stage cannot be followed."""


class StageLink:
    """A connection to the stage at `address`, which it printed, token included.

    link = StageLink("http://127.0.0.1:8360/?token=…"); link.join(key); link.poll()
    """

    def __init__(self, address: str) -> None:
        parts = urllib.parse.urlsplit(address.strip())
        if parts.scheme != "http" or not parts.hostname or "token" not in parts.query:
            raise LinkError("give the whole address that the stage printed: http://…/?token=…")
        self.host, self.port = parts.hostname, parts.port or 80
        self.name = parts.netloc
        self.cookie = ""
        answer = self._ask(f"/?{parts.query}")
        self.cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
        if not self.cookie:
            raise LinkError("the stage did not accept the token: copy the address that it printed")
        self.figures: list[dict[str, Any]] = []
        self._socket: socket.socket | None = None
        self._heard = b""
        self._sent = 0

    def _ask(self, path: str) -> http.client.HTTPResponse:
        """The answer to a request."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request("GET", path, headers={"Host": self.name, "Cookie": self.cookie})
            answer = connection.getresponse()
            answer.body = answer.read()  # type: ignore[attr-defined]
        except OSError as error:
            raise LinkError(f"no stage answers at {self.name}: {error}") from None
        finally:
            connection.close()
        if answer.status != 200:
            raise LinkError(f"the stage refused {path.partition('?')[0]}: {answer.body.decode(errors='replace')[:200]}")  # type: ignore[attr-defined]
        return answer

    def _json(self, path: str) -> Any:
        return json.loads(self._ask(path).body)  # type: ignore[attr-defined]

    def entries(self) -> list[dict[str, Any]]:
        """The list of the stage: `id`, `title`, `about`, `group`."""
        found: list[dict[str, Any]] = self._json("/api/entries")["entries"]
        return found

    def join(self, key: str) -> list[dict[str, Any]]:
        """Begins to follow the live entry with the id or title `key`; returns descriptions of its figures. Raises LinkError."""
        known = {name: one["id"] for one in self.entries() for name in (one["title"], one["id"])}
        if key not in known:
            raise LinkError(f"there is no entry {key!r}: {', '.join(sorted(known)[:12])}")
        entry = self._json(f"/api/entries/{known[key]}")
        if not entry["live"]:
            raise LinkError(f"{key!r} is recorded: export it from the stage as GLB")
        self.figures = entry["figures"]
        self._open()
        self._say({"type": "hello", "version": 1})
        self._say({"type": "join", "entry": known[key]})
        return self.figures

    def poll(self) -> list[tuple[float, list[np.ndarray]]]:
        """The samples since the last call: time [s], and the variables of each figure. Raises LinkError once the stage is gone."""
        out = []
        for kind, data in self._frames():
            if kind == 2 and data[:1] == b"\x02":
                _, _, _, number, t = struct.unpack_from("<BBHId", data)
                q, place = [], struct.calcsize("<BBHId")
                for figure in self.figures:
                    count = len(figure["variables"])
                    q.append(np.frombuffer(data, "<f4", count, place).astype(float))
                    place += 4 * count
                out.append((t, q))
                self._send(2, struct.pack("<BI", 1, number))
            elif kind == 8:
                reason = data[2:].decode(errors="replace")
                self.close()
                raise LinkError(f"the stage has closed the connection {reason}".strip())
        return out

    def close(self) -> None:
        """Leaves the stage."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    # -- the websocket (RFC 6455) --------------------------------------------------------------------------------------

    def _open(self) -> None:
        self.close()
        key = base64.b64encode(os.urandom(16)).decode()
        head = [
            "GET /ws HTTP/1.1", f"Host: {self.name}", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13", f"Origin: http://{self.name}", f"Cookie: {self.cookie}",
        ]  # fmt: skip
        self._socket = socket.create_connection((self.host, self.port), timeout=10)
        self._socket.sendall("\r\n".join([*head, "", ""]).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            more = self._socket.recv(4096)
            if not more or len(answer) > 1 << 16:
                raise LinkError("the stage did not open a websocket")
            answer += more
        first, _, self._heard = answer.partition(b"\r\n\r\n")
        if b" 101 " not in first.partition(b"\r\n")[0] + b" ":
            raise LinkError("the stage did not open a websocket")
        self._sent = 0

    def _say(self, message: dict[str, Any]) -> None:
        self._sent += 1
        self._send(1, json.dumps({"n": self._sent, **message}).encode())

    def _send(self, kind: int, data: bytes) -> None:
        assert self._socket is not None
        mask = os.urandom(4)
        size = bytes([0x80 | len(data)]) if len(data) < 126 else struct.pack(">BH", 0x80 | 126, len(data))
        body = bytes(byte ^ mask[k % 4] for k, byte in enumerate(data))
        self._socket.settimeout(10)
        self._socket.sendall(bytes([0x80 | kind]) + size + mask + body)

    def _frames(self) -> list[tuple[int, bytes]]:
        """Whole messages that have arrived; never waits."""
        if self._socket is None:
            return []
        self._socket.setblocking(False)
        while True:
            try:
                more = self._socket.recv(1 << 16)
            except (BlockingIOError, InterruptedError):
                break
            except OSError as error:
                self.close()
                raise LinkError(f"the connection is lost: {error}") from None
            if not more:
                self.close()
                raise LinkError("the stage has closed the connection")
            self._heard += more
        out = []
        while (frame := self._frame()) is not None:
            kind, data = frame
            if kind == 9:
                self._send(10, data)
            else:
                out.append(frame)
        return out

    def _frame(self) -> tuple[int, bytes] | None:
        heard = self._heard
        if len(heard) < 2:
            return None
        kind, size, place = heard[0] & 15, heard[1] & 127, 2
        if size > 125:
            wide = ">H" if size == 126 else ">Q"
            if len(heard) < place + struct.calcsize(wide):
                return None
            (size,) = struct.unpack_from(wide, heard, place)
            place += struct.calcsize(wide)
        if len(heard) < place + size:
            return None
        self._heard = heard[place + size :]
        return kind, heard[place : place + size]


def starts(figure: dict[str, Any]) -> np.ndarray:
    """The configuration of a `figure` at its start."""
    return np.array([variable["start"] for variable in figure["variables"]], float)


def frames_of(figure: dict[str, Any], q: np.ndarray) -> np.ndarray:
    """X_WF (n, 4, 4) of the frames of a `figure`, as the stage describes it, at the configuration `q`."""
    out: list[np.ndarray] = []
    for frame in figure["frames"]:
        X = np.eye(4) if frame["parent"] < 0 else out[frame["parent"]]
        X = X @ _placed(_rotation(np.array(frame["rotation"], float)), np.array(frame["position"], float))
        if "motion" in frame:
            value, axis = float(q[frame["q"]]), np.array(frame["axis"], float)
            turn = value if frame["motion"] in ("rotate", "screw") else 0.0
            advance = {"translate": 1.0, "screw": frame["pitch"]}.get(frame["motion"], 0.0)
            half = np.concatenate([[np.cos(turn / 2)], np.sin(turn / 2) * axis])
            X = X @ _placed(_rotation(half), advance * value * axis)
        out.append(X)
    return np.array(out).reshape(-1, 4, 4)


def _placed(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
