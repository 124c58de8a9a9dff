"""What a name on the command line stands for, and options that several verbs have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bunraku.errors import BunrakuError


def complete(incomplete: str) -> Iterator[str]:
    from bunraku.figure import library

    yield from (name for name in library.NAMES if name.startswith(incomplete))
    yield from (str(path) for path in sorted(Path().glob(f"{incomplete}*")) if not path.name.startswith("."))


def thing_named(name: str) -> Any:
    """A figure of the library, what is in a file, or the motion that a simulation file orders."""
    from bunraku import io
    from bunraku.figure import library

    if recipe := order_in(name):
        if not hasattr(recipe, "run"):  # a humanoid is there already
            return recipe.figure
        made = recipe.run()
        return getattr(made, "motion", made)
    if Path(name).suffix.lower() in io.LOADERS or Path(name).exists():
        return io.load(name)
    return library.named(name)


def order_in(name: str | Path) -> Any:
    """What a simulation, climbing or carrying file orders, or the humanoid of a humanoid file; nothing for any other file."""
    from bunraku.io import yaml

    try:
        root = yaml.read(name) if Path(name).suffix.lower() in (".yaml", ".yml") else None
    except BunrakuError:  # whoever reads it next will say what is wrong
        return None
    if root is not None and root.get("humanoid"):
        from bunraku.locomotion.guide.humanoid_file import load_humanoid

        return load_humanoid(name)
    if root is not None and root.get("carry"):
        from bunraku.ensemble.errand_file import load_errand
        from bunraku.verbs.carry import CarryRecipe

        return CarryRecipe(load_errand(name))
    if root is None or not (root.get("simulate") or root.get("climb")):
        return None
    from bunraku.verbs import load_climb, load_recipe

    return load_climb(name) if root.get("climb") else load_recipe(name)


Source = Annotated[
    str,
    typer.Argument(metavar="FIGURE", autocompletion=complete, help="A name from [cyan]bunraku figures[/cyan], or a file."),
]

Output = Annotated[
    list[Path] | None, typer.Option("--output", "-o", help="The motion: NPZ, CSV, GLB, BVH, MP4 or PNG. May be repeated.")
]

Play = Annotated[
    bool | None, typer.Option("--play/--no-play", help="Open the stage and play it; done where no file is written.")
]

Browser = Annotated[bool | None, typer.Option("--browser/--no-browser", help="Open the page; without a display it is not.")]

Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")]
