"""Access control of the stage: Host, Origin, token, cookie; and the headers that isolate the page."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Guard:
    """Checks requests to a stage at `host` and `port`, which may also be reached by these `names`.

    Requests with any other DNS name are refused, because a foreign site can make its name point at this machine (DNS rebinding).
    """

    def __init__(self, host: str, port: int, *, names: tuple[str, ...] = ()) -> None:
        self.token = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._cookie_name = f"bunraku_stage_{port}"  # cookies do not distinguish ports
        self._anywhere = host in ("0.0.0.0", "::", "")
        own = (socket.gethostname(), *names) if self._anywhere else (host, *names)
        self._hosts = {f"{name}:{port}".lower() for name in ("127.0.0.1", "localhost", "[::1]", *own)}
        self._port = port

    def host(self, value: str) -> bool:
        """Whether `value` is a Host header of this stage."""
        if value.lower() in self._hosts:
            return True
        name, _, port = value.rpartition(":")
        # If bound to all interfaces, the visitor may have typed any address of this machine, but no name.
        return self._anywhere and port == str(self._port) and _is_address(name.strip("[]"))

    def origin(self, value: str | None, host: str) -> bool:
        """Whether `value` is the Origin header of the stage's own page at this `host`."""
        return value is not None and value.lower() == f"http://{host.lower()}"

    def knows(self, headers: Headers) -> bool:
        """Whether the `headers` carry the cookie of this stage."""
        cookie = SimpleCookie()
        try:
            cookie.load(headers.get("cookie", ""))
        except CookieError:
            return False
        given = cookie[self._cookie_name].value if self._cookie_name in cookie else ""
        return hmac.compare_digest(given.encode(), self._cookie.encode())

    def token_in(self, query: bytes) -> bool:
        """Whether the `query` of an address carries the token."""
        given = parse_qs(query.decode("latin-1")).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self.token.encode())

    @property
    def set_cookie(self) -> str:
        """The header that sets the cookie of a visitor."""
        return f"{self._cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def headers_for(host: str) -> dict[str, str]:
    """The headers of every answer of a stage at this `host`."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; media-src blob:; "
        f"connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


class Guarded:
    """Middleware: passes to `app` only requests that the `guard` accepts."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers, guard = Headers(scope=scope), self._guard
        host = headers.get("host", "")
        problem, new = "", False
        if not guard.host(host):
            problem = "This host is not the stage's. Use the address that the stage printed."
        elif _changes(scope) and not guard.origin(headers.get("origin"), host):
            problem = "This origin is not the stage's own page."
        elif not guard.knows(headers):
            new = scope["type"] == "http" and scope["path"] == "/" and guard.token_in(scope["query_string"])
            if not new:
                problem = "Open the stage with the whole address that it printed: the token is part of it."
        if problem:
            await PlainTextResponse(problem, 403, {"X-Content-Type-Options": "nosniff"})(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in headers_for(host).items():
                    out.setdefault(name, value)
                if new:
                    out.append("Set-Cookie", guard.set_cookie)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _changes(scope: Scope) -> bool:
    """Whether a request could change something, so that its origin must be checked."""
    return scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
