from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import FigureError
from bunraku.figure import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.render.triangles import triangles

SIZE = st.floats(0.05, 2.0)
SOLIDS = st.one_of(
    st.builds(Sphere, SIZE), st.builds(Capsule, SIZE, SIZE), st.builds(Cylinder, SIZE, SIZE),
    st.builds(Box, st.tuples(SIZE, SIZE, SIZE)),
)  # fmt: skip


def second_moments(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """xx, yy, zz of a solid of mass 1 from its surface: tetrahedra to the origin."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    six = np.sum(a * np.cross(b, c), axis=1)
    squares = np.einsum("n,ni->i", six, a * a + b * b + c * c + a * b + b * c + c * a) / 60
    return (squares.sum() - squares) / (six.sum() / 6)


@given(SOLIDS)
def test_inertia_is_that_of_the_solid_that_is_drawn(solid: Sphere | Capsule | Cylinder | Box) -> None:
    expected = second_moments(*[triangles(solid, 160)[k] for k in (0, 2)])
    np.testing.assert_allclose(solid.unit_inertia()[:3], expected, rtol=3e-3)
    assert solid.unit_inertia()[3:] == (0.0, 0.0, 0.0)


def test_a_capsule_of_no_length_is_a_sphere() -> None:
    np.testing.assert_allclose(Capsule(0.3, 1e-12).unit_inertia(), Sphere(0.3).unit_inertia(), atol=1e-9)


@pytest.mark.parametrize(
    ("geometry", "field"),
    [
        (Sphere(0.0), "radius"), (Sphere(-1.0), "radius"), (Sphere(math.nan), "radius"), (Capsule(0.1, -0.2), "length"),
        ("sphere", "geometry"), (None, "geometry"),
        (Cylinder(math.inf, 1.0), "radius"), (Box((1.0, 0.0, 1.0)), "size"), (Mesh("a.stl", (1.0, 0.0, 1.0)), "scale"),
    ],
)  # fmt: skip
def test_sizes_are_positive_and_finite(geometry: object, field: str) -> None:
    with pytest.raises(FigureError, match=f"shape 'crate': {field}: "):
        Shape("world", geometry, name="crate")


def test_a_mesh_may_be_mirrored() -> None:
    Shape("world", Mesh("a.stl", (-1.0, 1.0, 1.0)))


@pytest.mark.parametrize("field", ["position", "rotation", "color"])
def test_places_and_colours_are_finite(field: str) -> None:
    with pytest.raises(FigureError, match="finite"):
        Shape("world", Sphere(1.0), **{field: (math.nan,) * (4 if field == "rotation" else 3)})


def test_a_shape_is_called_after_its_frame() -> None:
    assert Shape("elbow", Sphere(1.0)).name == "elbow"
    assert Shape("elbow", Sphere(1.0), name="cap").name == "cap"
