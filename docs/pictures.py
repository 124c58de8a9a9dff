"""Makes the pictures of the tutorial by doing what it says.

python docs/pictures.py
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
PICTURES = {"pip.png": 600, "wave.png": 1200, "tension.png": 1000}  # and their widths in pixels


def main() -> None:
    page = (HERE / "tutorial.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
            exec(block, names)
        for name, width in PICTURES.items():
            picture = Image.open(name).convert("RGB")
            small = picture.resize((width, round(width * picture.height / picture.width)), Image.Resampling.LANCZOS)
            # Half the levels are enough for the eye, and for the file.
            small.point(lambda level: level & 0xFE).save(HERE / "_static" / f"tutorial_{name}", optimize=True)


if __name__ == "__main__":
    main()
