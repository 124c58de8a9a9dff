"""The add-on as Blender loads it: a package of its own, called bunraku_link there. Nothing of bunraku is imported."""

bl_info = {
    "name": "bunraku", "author": "bunraku", "version": (0, 1, 0), "blender": (4, 2, 0), "category": "Animation",
    "location": "3D View > Sidebar > bunraku", "description": "Simulate, imitate and drive marionettes and other figures",
}  # fmt: skip


def register() -> None:
    """Called when the add-on is enabled."""
    from . import panel

    panel.register()


def unregister() -> None:
    """Called when the add-on is disabled or removed."""
    from . import panel

    panel.unregister()
