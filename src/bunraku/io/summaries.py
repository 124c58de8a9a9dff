"""Figures, scenes and motions in words: a line, a tree, and hints at likely mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.tree import Tree

    from bunraku.figure import Figure


def summary(thing: Any) -> str:
    """One line about a figure, a scene or a motion (`thing`)."""
    from bunraku.figure import Figure
    from bunraku.motion import Motion
    from bunraku.scene import Scene

    match thing:
        case Figure():
            return f"figure {_counted(thing)}"
        case Scene():
            floor = "no floor" if thing.floor is None else f"floor at {thing.floor:g} m"
            return f"scene {thing.name}: {_count(len(thing.obstacles), 'obstacle')}, {floor}"
        case Motion():
            who = "; ".join(_counted(track.figure) for track in thing.tracks)
            return f"motion of {thing.duration:.3g} s in {_count(len(thing), 'sample')}: {who}"
    return str(thing)


def _counted(figure: Figure) -> str:
    kinematic = len(figure.kinematic)
    variables = "variable" if figure.n_q == 1 else "variables"
    parts = [f"{figure.n_dynamic} dynamic" + (f" + {kinematic} kinematic" if kinematic else "") + f" {variables}"]
    groups = {
        "body": figure.bodies, "string": figure.strings, "wire": figure.wires, "contact": figure.contacts,
        "closure": figure.closures,
    }  # fmt: skip
    parts += [_count(len(group), word) for word, group in groups.items() if group]
    return f"{figure.name}: {', '.join(parts)}, {figure.mass:.3g} kg"


def _count(n: int, word: str) -> str:
    many = "bodies" if word == "body" else f"{word}s"
    return f"{n} {word if n == 1 else many}"


def hints(thing: Any) -> list[str]:
    """Likely mistakes in `thing`, one line each: starts outside limits, short strings, open loops, points below planes, no mass."""
    from bunraku.figure import Figure, plain_kinematics

    if not isinstance(thing, Figure):
        return []
    found = [
        f"{v.name} starts at {v.start:.4g}, outside its limits {v.lower:.4g} … {v.upper:.4g}"
        for v in thing.variables if not v.lower <= v.start <= v.upper
    ]  # fmt: skip
    X_W = plain_kinematics.poses(thing.frames)
    for string in (*thing.strings, *thing.wires):
        wound = string.wound(0.0 if string.variable is None else float(thing.start[thing.index(string.variable)]))
        missing = plain_kinematics.path_length(X_W, string) - wound
        if missing > 1e-6:
            found.append(f"{string.kind} {string.name} is {1e3 * missing:.3g} mm too short at the start")
    for loop in thing.closures:
        apart = X_W[loop.b.frame][:3, :3].T @ (plain_kinematics.point(X_W, loop.a) - plain_kinematics.point(X_W, loop.b))
        wide = abs(apart[2]) if loop.kind == "plane" else (apart @ apart) ** 0.5
        if wide > 1e-6:
            found.append(f"closure {loop.name} is {1e3 * wide:.3g} mm open at the start; simulate from start: settle")
    for contact in thing.contacts:
        up = X_W[contact.plane.frame][:3, :3] @ contact.normal
        below = up @ (plain_kinematics.point(X_W, contact.plane) - plain_kinematics.point(X_W, contact.point))
        if below > 1e-6:
            found.append(f"contact {contact.name} is {1e3 * below:.3g} mm below its plane at the start")
    if thing.dynamic and not thing.mass > 0.0:
        found.append("nothing has a mass: it can be posed, but not simulated; give its frames bodies")
    return found


def tree(figure: Figure) -> Tree:
    """The frames of a `figure` as a tree for rich, with their masses, then strings, springs, inputs, contacts and closures."""
    from rich.markup import escape
    from rich.tree import Tree

    from bunraku.figure.frame import WORLD

    root = Tree(escape(_counted(figure)), style="bold", guide_style="dim")
    masses: dict[str, float] = {}
    for body in figure.bodies:
        masses[body.frame] = masses.get(body.frame, 0.0) + body.mass
    joint = {joint.frames[-1]: joint for joint in figure.groups}
    inner = {frame for group in figure.groups for frame in group.frames[:-1]}
    branches = {WORLD: root}
    for frame in figure.frames:
        if frame.name in inner:  # the joint's last frame stands for all of them
            branches[frame.name] = branches[frame.parent]
            continue
        moves = joint[frame.name].kind if frame.name in joint else _moves(frame)
        weight = f"  {masses[frame.name]:.3g} kg" if frame.name in masses else ""
        branches[frame.name] = branches[frame.parent].add(
            f"[cyan]{escape(frame.name)}[/cyan]{moves and '  ' + moves}{weight}", style="not bold"
        )
    for title, lines in _joins(figure).items():
        branch = root.add(f"[bold]{title}[/bold]")
        for line in lines:
            branch.add(escape(line), style="not bold")
    return root


def _moves(frame: Any) -> str:
    variable = frame.variable
    if variable is None:
        return ""
    axis = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z"}.get(variable.axis)
    named = axis or "({:.3g}, {:.3g}, {:.3g})".format(*variable.axis)
    words = {"rotate": "turns about", "translate": "slides along", "screw": "screws along"}[variable.motion]
    return f"{'[yellow]kinematic[/yellow] ' if variable.kinematic else ''}{words} {named}"


def _joins(figure: Figure) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for string in (*figure.strings, *figure.wires):
        way = " → ".join(at.frame for at in string.path)
        length = f"length {string.variable}" if string.variable else f"{string.length:.4g} m"
        lines.setdefault(f"{string.kind}s", []).append(f"{string.name}  {way}  {length}")
    others = {"springs": figure.springs, "inputs": figure.forces, "contacts": figure.contacts, "closures": figure.closures}
    lines |= {title: [", ".join(one.name for one in group)] for title, group in others.items() if group}
    return lines
