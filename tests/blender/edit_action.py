"""Runs in Blender's own Python: opens a GLB file, edits keys of its action, and exports it; writes down where the joints are."""

import json
import sys
from pathlib import Path

import bpy  # type: ignore[import-not-found]
from mathutils import Quaternion  # type: ignore[import-not-found]

out, file, bone, frames = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=file)
scene = bpy.context.scene
armature = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
scene.frame_start, scene.frame_end = 0, int(frames) - 1
edited = armature.pose.bones[bone]
for frame in range(4, 9):
    scene.frame_set(frame)
    edited.rotation_quaternion = edited.rotation_quaternion @ Quaternion((1.0, 0.1, 0.3, -0.2)).normalized()
    edited.keyframe_insert("rotation_quaternion", frame=frame)
heads = []
for frame in range(int(frames)):
    scene.frame_set(frame)
    heads.append({one.name: list(armature.matrix_world @ one.head) for one in armature.pose.bones})
stem = Path(file).with_suffix("")
bpy.ops.export_scene.gltf(filepath=f"{stem}-edited.glb")
bpy.ops.wm.usd_export(filepath=f"{stem}-edited.usdc", export_animation=True)
bpy.ops.object.select_all(action="DESELECT")
armature.select_set(True)
bpy.context.view_layer.objects.active = armature
bpy.ops.export_anim.bvh(filepath=f"{stem}-edited.bvh", frame_start=0, frame_end=int(frames) - 1)
Path(out).write_text(json.dumps(heads))
