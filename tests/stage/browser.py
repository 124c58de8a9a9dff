"""Debian's chromium, headless, with an empty profile: what the end-to-end tests drive."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--no-default-browser-check", "--disable-default-apps", "--disable-extensions", "--mute-audio",
    "--hide-scrollbars", "--force-color-profile=srgb", "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-gpu-compositing",
)  # fmt: skip
FEWER_FRAMES = """{
  const next = window.requestAnimationFrame.bind(window)
  window.requestAnimationFrame = (draw) => setTimeout(() => next(draw), 60)
}"""
"""Some twelve pictures a second: a processor that draws the page sixty times takes three times as long for it."""
NO_PICTURES = """for (const draw of ['clear', 'drawArrays', 'drawElements', 'drawArraysInstanced', 'drawElementsInstanced'])
  WebGL2RenderingContext.prototype[draw] = () => {}"""
"""The wish in the address ends with the page: whoever reloads it, or follows a link, would have it draw."""
GREETED = "try { localStorage.setItem('bunraku-first-pull', 'done') } catch {}"


def missing() -> str:
    """Why there is no browser; empty where there is one."""
    if CHROMIUM is None or DRIVER is None:
        return "chromium and chromedriver are not installed"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    return ""


class Browser:
    """A page with its console, its requests, and hands that can drag."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for flag in (*FLAGS, "about:blank", f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.folder = folder
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_script_timeout(PATIENCE)
        self.driver.set_page_load_timeout(PATIENCE)
        self.driver.command_executor.client_config.timeout = PATIENCE  # type: ignore[union-attr]
        self._first: dict[str, str] = {}
        self._run_first(FEWER_FRAMES, True)
        self.renew()
        self.requests()  # of the browser's own first page

    def close(self) -> None:
        self.driver.quit()

    def renew(self) -> None:
        """As if just started."""
        self.size(1280, 720)
        self.scheme("light")
        self.greet(False)
        self.pictures(True)

    # -- looking -------------------------------------------------------------------------------------------------

    def size(self, width: int, height: int, *, mobile: bool = False, ratio: float = 1.0) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": mobile}
        self.cdp("Emulation.setDeviceMetricsOverride", **metrics)
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def scheme(self, name: str) -> None:
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def forget(self, origin: str) -> None:
        """What the page has kept for next time."""
        self.cdp("Storage.clearDataForOrigin", origin=origin, storageTypes="local_storage")

    def greet(self, on: bool) -> None:
        """Whether pages from now on show a visitor the first pull, which lies over the stage."""
        self._run_first(GREETED, not on)

    def pictures(self, on: bool) -> None:
        """Whether the stages of pages from now on are drawn: that keeps the processor busy."""
        self._run_first(NO_PICTURES, not on)

    def _run_first(self, script: str, on: bool) -> None:
        """Whether pages from now on run the `script` before their own."""
        if known := self._first.pop(script, None):
            self.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=known)
        if on:
            self._first[script] = self.cdp("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]

    def new_tab(self) -> None:
        """Goes to another tab, whose pages are as those of this one."""
        self.driver.switch_to.new_window("tab")
        for script in self._first:
            self.cdp("Page.addScriptToEvaluateOnNewDocument", source=script)

    def cdp(self, method: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(method, parameters)

    def leave(self) -> None:
        """Leaves the page of the last test, which may still ask for its stopped server, and forgets what it said."""
        self.driver.get("about:blank")
        self.requests()
        self.console()

    def go(self, address: str, *, quality: int | None = None) -> None:
        """Opens a page. It and those that follow draw pictures only if a `quality` is given, from 0 to 4."""
        self.pictures(quality is not None)
        wish = "pictures=off" if quality is None else f"quality={quality}"
        self.driver.get("about:blank")  # a new hash alone would not load anything
        self.driver.get(f"{address}#{wish}")
        self.wait("window.bunraku && bunraku.ready")

    def js(self, expression: str) -> Any:
        return self.driver.execute_script(f"return ({expression})")

    def frames(self, count: int = 1) -> None:
        """Waits until the page has drawn so many frames."""
        self.driver.execute_async_script(
            "let left = arguments[0]; const done = arguments[1];"
            "requestAnimationFrame(function next() { left-- > 0 ? requestAnimationFrame(next) : done() })", count,
        )  # fmt: skip

    def wait(self, condition: str | Callable[[], Any]) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            value = self.js(condition) if isinstance(condition, str) else condition()
            if value:
                return value
            assert time.monotonic() < deadline, f"never happened: {condition}; console: {self.console()}"
            time.sleep(0.03)

    def picture(self, path: Path) -> Path:
        from selenium.common.exceptions import TimeoutException

        path.parent.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.driver.save_screenshot(str(path))
            except TimeoutException:  # the driver waits for ten seconds, however busy the machine is
                if time.monotonic() > deadline:
                    raise
            else:
                return path

    def still(self, path: Path) -> Path:
        """A picture as soon as nothing on the page moves any more."""
        deadline, before = time.monotonic() + PATIENCE, b""
        while True:
            self.frames(3)
            if (now := self.picture(path).read_bytes()) == before:
                return path
            assert time.monotonic() < deadline, "the page never comes to rest"
            before = now

    def hear_notices(self) -> None:
        """From now on, `heard` on the page has all notices, also those that are gone after some seconds."""
        self.driver.execute_script(
            "window.heard = []; new MutationObserver((changes) => { for (const change of changes)"
            " for (const notice of change.addedNodes) heard.push(notice.textContent) })"
            ".observe(document.querySelector('#notices'), { childList: true })"
        )

    def console(self) -> list[str]:
        """Warnings and errors since the last call, but for those that a picture takes long, which a processor draws here."""
        told = [e["message"] for e in self.driver.get_log("browser") if e["level"] in ("WARNING", "SEVERE")]
        return [message for message in told if "GL Driver Message (OpenGL, Performance" not in message]

    def requests(self) -> list[str]:
        """Addresses that the page has asked for since the last call, websockets included."""
        out = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            document = message["params"].get("documentURL", "")
            if document.startswith(("chrome:", "chrome-")):
                continue  # the browser's own first page
            if message["method"] == "Network.requestWillBeSent":
                out.append(message["params"]["request"]["url"])
            elif message["method"] == "Network.webSocketCreated":
                out.append(message["params"]["url"])
        return out

    # -- acting --------------------------------------------------------------------------------------------------

    def click(self, selector: str) -> None:
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """x, y, width, height."""
        x, y, w, h = self.js(f"(r => [r.x, r.y, r.width, r.height])(document.querySelector({selector!r}).getBoundingClientRect())")
        return x, y, w, h

    def spot(self, expression: str) -> tuple[float, float]:
        """The place on the screen that `expression` tells, once the camera has come to rest: a busy machine draws few frames."""
        deadline, before = time.monotonic() + PATIENCE, (float("inf"),) * 2
        while True:
            self.frames(2)
            x, y = self.js(expression)
            if max(abs(x - before[0]), abs(y - before[1])) < 0.5:
                return x, y
            assert time.monotonic() < deadline, f"never comes to rest: {expression}"
            before = x, y

    def text(self, selector: str) -> str:
        return str(self.js(f"document.querySelector({selector!r})?.textContent ?? ''"))

    def key(self, key: str, *, code: str = "") -> None:
        more = {"windowsVirtualKeyCode": 27} if key == "Escape" else {"text": key} if len(key) == 1 else {}
        self.cdp("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, **more)
        self.cdp("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def hold(self, key: str, *, down: bool) -> None:
        self.cdp("Input.dispatchKeyEvent", type="keyDown" if down else "keyUp", key=key)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        held = kind != "mouseMoved" or more.pop("held", False)
        self.cdp(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if held else "none",
            buttons=1 if held and kind != "mouseReleased" else 0, clickCount=1 if held else 0, **more,
        )  # fmt: skip

    def drag(self, start: tuple[float, float], by: tuple[float, float], *, steps: int = 8, release: bool = True) -> None:
        x, y = start
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y)
        for k in range(1, steps + 1):
            self.mouse("mouseMoved", x + by[0] * k / steps, y + by[1] * k / steps, held=True)
            self.frames()
        if release:
            self.mouse("mouseReleased", x + by[0], y + by[1])
