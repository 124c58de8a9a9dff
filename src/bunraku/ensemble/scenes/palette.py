"""The colours of the scenes."""

from __future__ import annotations

from bunraku.figure.shape import Color


class Palette:
    """Red, green and blue, each from 0 to 1."""

    steel: Color = (0.62, 0.65, 0.69)
    zinc: Color = (0.55, 0.6, 0.66)
    rust: Color = (0.62, 0.33, 0.2)
    yellow: Color = (0.88, 0.68, 0.14)
    orange: Color = (0.9, 0.4, 0.1)
    blue: Color = (0.2, 0.38, 0.62)
    green: Color = (0.3, 0.46, 0.34)
    plaster: Color = (0.78, 0.76, 0.72)
    concrete: Color = (0.72, 0.71, 0.68)
    gray: Color = (0.5, 0.5, 0.5)
    pine: Color = (0.78, 0.6, 0.38)
    oak: Color = (0.72, 0.52, 0.32)
    walnut: Color = (0.4, 0.26, 0.16)
    cream: Color = (0.93, 0.9, 0.84)
    teal: Color = (0.22, 0.42, 0.46)
    brass: Color = (0.78, 0.62, 0.3)
    wine: Color = (0.5, 0.16, 0.18)
    leaf: Color = (0.3, 0.48, 0.27)
    shade: Color = (0.97, 0.92, 0.78)
    black: Color = (0.05, 0.05, 0.06)
    ebony: Color = (0.12, 0.12, 0.13)
    ivory: Color = (0.96, 0.95, 0.9)
