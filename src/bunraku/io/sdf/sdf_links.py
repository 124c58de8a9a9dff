"""SDF links as URDF writes them, so that one reader makes bodies and shapes of both."""

from __future__ import annotations

from bunraku.io.leftovers import Leftovers
from bunraku.io.sdf.sdf_poses import local_pose
from bunraku.io.xml_text import Element
from bunraku.spatial import so3


def as_urdf(model: Element, leftovers: Leftovers) -> Element:
    """A <robot> with the links of an SDF `model`; each element keeps its place in the file. Adds to `leftovers`."""
    return _made("robot", model, {}, [_link(link, leftovers) for link in model.all("link")])


def _made(tag: str, like: Element, attributes: dict[str, str], children: list[Element]) -> Element:
    return Element(tag, attributes, like.source, like.index, children)


def _link(link: Element, leftovers: Leftovers) -> Element:
    name = link.word("name")
    children: list[Element] = []
    for child in link.children:
        if child.tag == "inertial":
            children.append(_inertial(child))
        elif child.tag in ("visual", "collision"):
            children += _shape(child, name, leftovers)
        elif child.tag not in (
            "pose",
            "gravity",
            "self_collide",
            "kinematic",
            "must_be_base_link",
            "velocity_decay",
            "enable_wind",
        ):
            leftovers.add("elements left out", f"link/{child.tag}")
    return _made("link", link, {"name": name}, children)


def _origin(element: Element) -> list[Element]:
    pose = element.child("pose")
    if pose is None:
        return []
    if pose.attributes.get("relative_to", "").strip():
        raise pose.error("only poses relative to the link are read here", advice="leave relative_to out")
    X = local_pose(element)
    zyx = so3.angles_zyx(X[:3, :3])
    return [_made("origin", pose, {"xyz": _text(X[:3, 3].tolist()), "rpy": _text(zyx[::-1].tolist())}, [])]


def _text(numbers: list[float]) -> str:
    return " ".join(map(repr, numbers))


def _inertial(inertial: Element) -> Element:
    mass = inertial.child("mass")
    kilograms = 1.0 if mass is None else mass.inner(1)[0]  # SDF's default
    children = [*_origin(inertial), _made("mass", mass or inertial, {"value": repr(kilograms)}, [])]
    inertia = inertial.child("inertia")
    moments = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}  # SDF's defaults
    for own in inertia.children if inertia is not None else []:
        if own.tag in moments:
            moments[own.tag] = own.inner(1)[0]
    children.append(_made("inertia", inertia or inertial, {word: repr(value) for word, value in moments.items()}, []))
    return _made("inertial", inertial, {}, children)


def _shape(shape: Element, link: str, leftovers: Leftovers) -> list[Element]:
    geometry = shape.needed("geometry")
    own = next(iter(geometry.children), None)
    if own is None or own.tag not in ("box", "sphere", "cylinder", "capsule", "mesh"):
        leftovers.add("shapes that are not box, sphere, cylinder, capsule or mesh", f"{link}/{'' if own is None else own.tag}")
        return []
    words: dict[str, str] = {}
    for part in own.children:
        if part.tag in ("radius", "length"):
            words[part.tag] = repr(part.inner(1)[0])
        elif part.tag in ("size", "scale"):
            words[part.tag] = _text(list(part.inner(3)))
        elif part.tag == "uri":
            words["filename"] = part.text.strip()
        else:
            leftovers.add("elements left out", f"{own.tag}/{part.tag}")
    solid = _made("geometry", geometry, {}, [_made(own.tag, own, words, [])])
    return [_made(shape.tag, shape, {"name": shape.attributes.get("name", "")}, [*_origin(shape), solid, *_material(shape)])]


def _material(shape: Element) -> list[Element]:
    material = shape.child("material")
    color = None if material is None else material.child("diffuse") or material.child("ambient")
    if material is None or color is None:
        return []
    rgba = [float(word) for word in color.text.split()[:4]] if len(color.text.split()) in (3, 4) else list(color.inner(4))
    rgba += [1.0] * (4 - len(rgba))
    return [_made("material", material, {"name": ""}, [_made("color", color, {"rgba": _text(rgba)}, [])])]
