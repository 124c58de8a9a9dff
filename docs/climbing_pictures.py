"""Makes the pictures of the page on climbing: that of example 07, and the plot of its file.

python docs/climbing_pictures.py
"""

from __future__ import annotations

import re
import runpy
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from PIL import Image

import bunraku
from bunraku.verbs.climb.plot import draw

HERE = Path(__file__).parent


def kept(source: Path, name: str, width: int) -> None:
    picture = Image.open(source).convert("RGB")
    small = picture.resize((width, round(width * picture.height / picture.width)), Image.Resampling.LANCZOS)
    small.point(lambda level: level & 0xFE).save(HERE / "_static" / name, optimize=True)


def main() -> None:
    mpl.use("Agg")
    with tempfile.TemporaryDirectory() as folder:
        path, png = Path(folder) / "path.yaml", Path(folder) / "picture.png"
        found = re.search(r"^```yaml\n(.*?)^```$", (HERE / "climbing.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        assert found is not None
        path.write_text(found[1], encoding="utf-8")
        draw(bunraku.load(path).run(), png)
        kept(png, "climbing_plot.png", 1100)
        runpy.run_path(str(HERE.parent / "examples" / "07_gecko.py"))
        plt.savefig(png, dpi=110)
        kept(png, "climbing.png", 1100)


if __name__ == "__main__":
    main()
