"""Runs in Blender's own Python: imports a file, and writes down its armatures, meshes and materials at the given times."""

import json
import sys
from pathlib import Path

import bpy  # type: ignore[import-not-found]

out, file, *times = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
suffix = Path(file).suffix
if suffix == ".glb":
    bpy.ops.import_scene.gltf(filepath=file)
elif suffix == ".bvh":
    bpy.ops.import_anim.bvh(filepath=file, global_scale=0.01)  # centimetres
else:
    bpy.ops.wm.usd_import(filepath=file)

scene = bpy.context.scene
rate = scene.render.fps / scene.render.fps_base
armatures = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
skinned = [thing for thing in bpy.data.objects if thing.type == "MESH" and any(m.type == "ARMATURE" for m in thing.modifiers)]


def rows(matrix):
    return [list(row) for row in matrix]


moments = []
for k, time in enumerate(times):
    frame = 1.0 + k if suffix == ".bvh" else float(time) * rate  # every sample of a BVH file is a frame, from 1
    scene.frame_set(int(frame), subframe=frame - int(frame))
    bones = {bone.name: rows(a.matrix_world @ bone.matrix) for a in armatures for bone in a.pose.bones}
    moments.append(bones)
shapes = {}
deps = bpy.context.evaluated_depsgraph_get()
for thing in skinned:
    solid = thing.evaluated_get(deps)
    mesh = solid.to_mesh()
    corners = [solid.matrix_world @ v.co for v in mesh.vertices]
    shapes[thing.name] = {
        "low": [min(c[k] for c in corners) for k in range(3)],
        "high": [max(c[k] for c in corners) for k in range(3)],
        "material": thing.material_slots[0].material.name if thing.material_slots else "",
    }
colors = {}
for material in bpy.data.materials:
    shader = material.node_tree and material.node_tree.nodes.get("Principled BSDF")
    if shader:
        colors[material.name] = list(shader.inputs["Base Color"].default_value)
Path(out).write_text(
    json.dumps({
        "types": [thing.type for thing in bpy.data.objects],
        "armatures": {
            a.name: {
                "matrix": rows(a.matrix_world),
                "bones": {b.name: b.parent.name if b.parent else "" for b in a.data.bones},
                "heads": {b.name: list(a.matrix_world @ b.head_local) for b in a.data.bones},
                "tails": {b.name: list(a.matrix_world @ b.tail_local) for b in a.data.bones},
            }
            for a in armatures
        },
        "moments": moments,
        "shapes": shapes,
        "colors": colors,
    })
)  # fmt: skip
