"""Makes the meshes of the scenery of the theatre: python tools/scenery.py

Sheets of triangles that face +y, from 0 to 1 along x; the theatre scales them to its own size.
"""

from __future__ import annotations

from math import pi, sin

from bunraku.choreography.theatre import scenery_file
from bunraku.writing import writing

COLUMNS = 96
OUTLINES = {
    "sheet": lambda x: 1.0,
    "far_hills": lambda x: 0.75 + 0.25 * sin(2.0 * pi * 1.5 * x + 0.6),
    "near_hills": lambda x: 0.75 + 0.25 * sin(2.0 * pi * 2.2 * x + 2.4),
}


def main() -> None:
    for name, height in OUTLINES.items():
        count = 1 if name == "sheet" else COLUMNS
        lines = [f"# {name.replace('_', ' ')}, made by tools/scenery.py"]
        for k in range(count + 1):
            lines += [f"v {k / count:.6g} 0 0", f"v {k / count:.6g} 0 {height(k / count):.6g}"]
        for k in range(1, 2 * count, 2):
            lines += [f"f {k} {k + 1} {k + 3}", f"f {k} {k + 3} {k + 2}"]
        with writing(scenery_file(name)) as temporary:
            temporary.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
