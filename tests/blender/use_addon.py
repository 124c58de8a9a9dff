"""Runs in Blender's own Python: installs the add-on, uses everything on its panel, and removes it; writes down what happened."""

import json
import os
import sys
import time
from pathlib import Path

out, archive, python, person, address, entry = sys.argv[1:]
os.environ["BLENDER_USER_RESOURCES"] = str(Path(archive).parent / "blender")

import bpy  # type: ignore[import-not-found]  # noqa: E402
from mathutils import Vector  # type: ignore[import-not-found]  # noqa: E402

bpy.ops.wm.read_factory_settings(use_empty=True)
seen = {}
bpy.ops.preferences.addon_install(filepath=archive, overwrite=True)
bpy.ops.preferences.addon_enable(module="bunraku_link")
from bunraku_link import panel  # type: ignore[import-not-found]  # noqa: E402

home = Path(panel.__file__).parent
seen["installed"] = [str(home), hasattr(bpy.types, "BUNRAKU_PT_panel")]
bpy.context.preferences.addons["bunraku_link"].preferences.python = python
settings, scene = bpy.context.scene.bunraku, bpy.context.scene
scene.render.fps = 24


def armature():
    return next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")


def heads(thing, frame):
    scene.frame_set(int(frame), subframe=frame - int(frame))
    return {bone.name: list(thing.matrix_world @ bone.head) for bone in thing.pose.bones}


def clear():
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])


# -- simulate: first the figure at rest, then with a control that an animator moves
settings.figure, settings.duration = "marionette22", 1.0
bpy.ops.bunraku.simulate()
puppet = armature()
seen["at_rest"] = [heads(puppet, 0), heads(puppet, 24)]
bpy.context.view_layer.objects.active = puppet
control = next(bone for bone in puppet.pose.bones if "left_arm" in bone.name and "spindle" in bone.name)
seen["control"] = control.name
puppet.animation_data.action = bpy.data.actions.new("by hand")
for frame, way in ((0, 0.0), (24, 0.0), (48, 0.4)):
    control.location = control.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, way, 0.0))
    control.keyframe_insert("location", frame=frame)
scene.frame_end = 48
bpy.ops.bunraku.simulate()
seen["moved"] = [heads(puppet, 0), heads(puppet, 24), heads(puppet, 48)]
seen["things"] = sorted(thing.type for thing in bpy.data.objects)

# -- imitate
clear()
bpy.ops.import_scene.gltf(filepath=person)
bpy.context.view_layer.objects.active = armature()
before = set(bpy.data.objects)
bpy.ops.bunraku.imitate()
(twin,) = [thing for thing in bpy.data.objects if thing not in before and thing.type == "ARMATURE"]
seen["imitated"] = [heads(twin, 0), heads(twin, 24)]
try:
    settings.figure = "nobody"
    bpy.ops.bunraku.imitate()
    seen["refused"] = ""
except RuntimeError as error:
    seen["refused"] = str(error)

# -- follow a stage, and bake
clear()
settings.address, settings.entry = address, entry
bpy.ops.bunraku.follow()
end = time.monotonic() + 60.0
while len(panel.LinkState.samples) < 30 and time.monotonic() < end:
    panel.tick()
    time.sleep(0.01)
samples = list(panel.LinkState.samples)
bpy.context.view_layer.update()
figure = armature()
seen["followed"] = {
    "samples": [[t, q.tolist()] for t, q in samples],
    "heads": {bone.name: list(figure.matrix_world @ bone.head) for bone in figure.pose.bones},
}
bpy.ops.bunraku.follow()  # once more: stop
seen["stopped"] = panel.LinkState.link is None
bpy.ops.bunraku.bake()
begin = samples[0][0]
seen["baked"] = [heads(figure, (t - begin) * 24) for t, _ in samples]

# -- remove
bpy.ops.preferences.addon_disable(module="bunraku_link")
try:
    bpy.ops.preferences.addon_remove(module="bunraku_link")
except RuntimeError as error:
    if "tag_redraw" not in str(error):  # at its end it wants to draw the preferences again, which have no window here
        raise
seen["removed"] = [home.exists(), hasattr(bpy.types, "BUNRAKU_PT_panel"), hasattr(bpy.types.Scene, "bunraku")]
Path(out).write_text(json.dumps(seen))
