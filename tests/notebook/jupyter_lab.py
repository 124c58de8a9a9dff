"""A JupyterLab of its own, on a free port, and what the browser does in it."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from tests.stage.browser import Browser


def missing() -> str:
    """Why there is no JupyterLab; empty where there is one."""
    names = [name for name in ("jupyterlab", "ipykernel", "anywidget") if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(names)} (pip install jupyterlab anywidget)" if names else ""


class Lab:
    """A running JupyterLab whose files are in `folder`, in a `browser`."""

    def __init__(self, browser: Browser, folder: Path, address: str) -> None:
        self.browser, self.folder, self.address = browser, folder, address

    def open(self, path: Path) -> None:
        """Opens a notebook of the folder and runs all its cells."""
        driver = self.browser.driver
        driver.switch_to.default_content()
        driver.get("about:blank")
        driver.get(f"{self.address}/lab/tree/{path.name}?token=puppet&reset")
        self.browser.wait("window.jupyterapp?.shell?.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'")
        self.run_all()

    def run_all(self) -> None:
        self.browser.driver.execute_async_script(
            "const done = arguments[0]; window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => done(), done)"
        )

    def run(self, code: str) -> str:
        """Runs code in the kernel of the open notebook; what it printed, or its error."""
        return str(
            self.browser.driver.execute_async_script(
                """const [code, done] = arguments; let out = ''
                const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel
                const future = kernel.requestExecute({ code })
                future.onIOPub = ({ content }) => { out += content.text ?? (content.ename ? content.traceback.join('\\n') : '') }
                future.done.then(() => done(out))""",
                code,
            )
        )

    def cells(self) -> list[Any]:
        """The cells of the open notebook, with their outputs."""
        text = self.browser.js("JSON.stringify(window.jupyterapp.shell.currentWidget.content.model.toJSON())")
        return list(json.loads(text)["cells"])

    def errors(self) -> list[Any]:
        """Errors among the outputs of the open notebook."""
        outputs = [output for cell in self.cells() for output in cell.get("outputs", [])]
        return [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]

    def frames(self) -> list[Any]:
        """The frames of all outputs, in the order of the cells."""
        from selenium.webdriver.common.by import By

        self.browser.driver.switch_to.default_content()
        return list(self.browser.driver.find_elements(By.CSS_SELECTOR, ".jp-OutputArea iframe"))

    def enter(self, frame: Any) -> tuple[float, float]:
        """Scrolls to a frame and looks into it; where its corner is in the window [pixels]."""
        driver = self.browser.driver
        driver.switch_to.default_content()
        driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", frame)
        self.browser.frames(3)
        x, y = driver.execute_script("const r = arguments[0].getBoundingClientRect(); return [r.x, r.y]", frame)
        driver.switch_to.frame(frame)
        self.browser.wait("window.bunraku && bunraku.ready")
        return x, y


@contextmanager
def running(browser: Browser, folder: Path) -> Iterator[Lab]:
    """Starts JupyterLab and ends it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder.parent / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {f"JUPYTERLAB_{name}_DIR": str(folder.parent / f"lab_{name.lower()}") for name in ("SETTINGS", "WORKSPACES")}
    own["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # tests have another one
    settings = ["--allow-root", "--expose-app-in-browser", "--LabApp.news_url=", f"--ServerApp.root_dir={folder}"]
    settings += ["--ServerApp.token=puppet", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    settings += ["--ServerApp.port_retries=0", "--ServerApp.open_browser=False"]
    command = [sys.executable, "-m", "jupyterlab", *settings]
    with (folder.parent / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + PATIENCE
            while True:
                try:
                    urllib.request.urlopen(f"{address}/api/status?token=puppet", timeout=PATIENCE).close()
                    break
                except OSError:
                    assert server.poll() is None, (folder.parent / "lab.log").read_text()
                    assert time.monotonic() < deadline, (folder.parent / "lab.log").read_text()
                    time.sleep(0.2)
            yield Lab(browser, folder, address)
        finally:
            server.terminate()
            server.wait(PATIENCE)
