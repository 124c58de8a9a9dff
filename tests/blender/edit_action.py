"""Runs in Blender's own Python: opens a GLB file, turns bones in its action, and exports it; writes down the bones."""

import json
import sys
from pathlib import Path

import bpy  # type: ignore[import-not-found]
from mathutils import Quaternion, Vector  # type: ignore[import-not-found]

out, file, frames, edits = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=file)
scene = bpy.context.scene
armatures = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
scene.frame_start, scene.frame_end = 0, int(frames) - 1
for name, axis, angle in json.loads(edits):  # the axis is that of the world, at rest
    bone = next(armature.pose.bones[name] for armature in armatures if name in armature.pose.bones)
    turn = Quaternion(bone.bone.matrix_local.to_3x3().inverted() @ Vector(axis), angle)
    for frame in (6, 7):  # Blender finds what is between these keys and those far from them
        bone.keyframe_delete("rotation_quaternion", frame=frame)
    for frame in range(4, 9, 2):
        scene.frame_set(frame)
        bone.rotation_quaternion = bone.rotation_quaternion @ turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def rows(matrix):
    return [list(row) for row in matrix]


rest = {bone.name: rows(a.matrix_world @ bone.bone.matrix_local) for a in armatures for bone in a.pose.bones}
samples = []
for frame in range(int(frames)):
    scene.frame_set(frame)
    samples.append({bone.name: rows(a.matrix_world @ bone.matrix) for a in armatures for bone in a.pose.bones})
stem = Path(file).with_suffix("")
bpy.ops.export_scene.gltf(filepath=f"{stem}-edited.glb")
bpy.ops.wm.usd_export(filepath=f"{stem}-edited.usdc", export_animation=True)
for k, armature in enumerate(sorted(armatures, key=lambda one: one.name)):
    bpy.ops.object.select_all(action="DESELECT")
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.export_anim.bvh(filepath=f"{stem}-edited{k}.bvh", frame_start=0, frame_end=int(frames) - 1)
Path(out).write_text(json.dumps({"rest": rest, "samples": samples}))
