"""The panel in the sidebar of the 3D view (N): it simulates, imitates, follows a stage, and bakes.

bunraku itself runs in a Python of its own, which the preferences of the add-on name.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import bpy
from mathutils import Matrix

from .stage_link import LinkError, StageLink, frames_of, starts


class BunrakuPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    python: bpy.props.StringProperty(
        name="Python of bunraku", subtype="FILE_PATH",
        description="The interpreter in whose environment bunraku is installed; empty: the first python on the PATH",
    )  # fmt: skip

    def draw(self, context):
        """Draws the preferences; `context` is Blender's, here and below."""
        self.layout.prop(self, "python")


class BunrakuSettings(bpy.types.PropertyGroup):
    figure: bpy.props.StringProperty(name="Figure", default="marionette22", description="A figure of the library, or a figure file")
    duration: bpy.props.FloatProperty(name="Duration", default=3.0, min=0.01, description="Seconds, where nothing is animated")
    strings: bpy.props.BoolProperty(name="Find strings", description="Search strings that make the puppet do it; may take minutes")
    address: bpy.props.StringProperty(name="Stage", description="The whole address that the stage printed, token included")
    entry: bpy.props.StringProperty(name="Entry", description="The title of a live entry of the stage")


# -- bunraku in its own Python ---------------------------------------------------------------------------------------


def ask(context, then, verb, source, *options):
    """Runs bunraku, and calls `then` with the GLB file that it wrote; Blender stays usable meanwhile.

    context: Blender's
    verb, options: what it is asked for
    source: an armature, or the name of a figure
    """
    folder = Path(tempfile.mkdtemp(prefix="bunraku-"))
    preferences = context.preferences.addons[__package__].preferences
    python = bpy.path.abspath(preferences.python) or shutil.which("python3") or shutil.which("python") or "python"
    out, given = folder / "out.glb", source if isinstance(source, str) else exported(source, folder / "in.glb")
    command = [python, "-m", "bunraku.blender.requests", verb, str(given), str(out), *map(str, options)]
    try:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise RuntimeError(f"{python} cannot be started: {error.strerror}. Set the Python of bunraku in the preferences.") from None

    def finish():
        _, errors = process.communicate()
        try:
            if process.returncode:
                raise RuntimeError(errors.strip()[-600:] or f"bunraku ended with status {process.returncode}")
            then(out)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def wait():
        if process.poll() is None:
            return 0.2
        try:
            finish()
        except RuntimeError as error:
            text = str(error)
            bpy.context.window_manager.popup_menu(lambda menu, _: menu.layout.label(text=text[:200]), title="bunraku", icon="ERROR")
        return None

    if bpy.app.background:
        finish()
    else:
        bpy.app.timers.register(wait, first_interval=0.2)


def exported(armature, file):
    """Writes an armature with its meshes and its active action to a GLB file, and returns its path."""
    bpy.ops.object.select_all(action="DESELECT")
    for thing in (armature, *armature.children_recursive):
        thing.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.export_scene.gltf(
        filepath=str(file), use_selection=True, export_extras=True, export_animation_mode="ACTIVE_ACTIONS",
        export_optimize_animation_size=False,
    )  # fmt: skip
    return file


def imported(file):
    """The objects of a GLB file, and the armature among them."""
    before = set(bpy.data.objects)
    bpy.ops.import_scene.gltf(filepath=str(file))
    new = [thing for thing in bpy.data.objects if thing not in before]
    return new, next(thing for thing in new if thing.type == "ARMATURE")


def adopted(armature, file):
    """Gives an armature the action of its twin in a GLB file; the twin is removed."""
    new, twin = imported(file)
    data = armature.animation_data or armature.animation_data_create()
    data.action = twin.animation_data.action
    if hasattr(data, "action_slot") and twin.animation_data.action_slot is not None:
        data.action_slot = twin.animation_data.action_slot
    bpy.data.batch_remove([*new, *{thing.data for thing in new if thing.data is not None}])
    bpy.context.view_layer.objects.active = armature


def chosen(context):
    """The armature that is active in a `context`, also while one of its meshes is; None if there is none."""
    thing = context.object
    while thing is not None and thing.type != "ARMATURE":
        thing = thing.parent
    return thing


class Asking:
    """An operator whose `work` may fail with a message."""

    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        """Does the work in a `context` of Blender."""
        try:
            self.work(context, context.scene.bunraku)
        except (RuntimeError, LinkError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class BUNRAKU_OT_simulate(Asking, bpy.types.Operator):
    """Simulate: the controls of the active armature move as they are animated, and the rest obeys physics. Without an
    armature, the figure hangs at rest"""

    bl_idname = "bunraku.simulate"
    bl_label = "Simulate"

    def work(self, context, settings):
        """What the button does, in a `context` of Blender, with the `settings` of the panel."""
        armature = chosen(context)
        if armature is None:
            ask(context, imported, "simulate", settings.figure, "--duration", settings.duration)
            return
        known = [] if "figure" in armature else ["--figure", settings.figure]
        ask(context, lambda file: adopted(armature, file), "simulate", armature, "--duration", settings.duration, *known)


class BUNRAKU_OT_imitate(Asking, bpy.types.Operator):
    """Imitate: the figure does what the active armature, a person, does"""

    bl_idname = "bunraku.imitate"
    bl_label = "Imitate"

    @classmethod
    def poll(cls, context):
        """Whether there is an armature in a `context` of Blender."""
        return chosen(context) is not None

    def work(self, context, settings):
        """What the button does, in a `context` of Blender, with the `settings` of the panel."""
        options = ["--strings"] if settings.strings else []
        ask(context, imported, "imitate", chosen(context), "--figure", settings.figure, *options)


# -- the live link -----------------------------------------------------------------------------------------------------


class LinkState:
    """The stage that is followed, the armature that shows it, and what was recorded."""

    link = None
    figure = {}
    armature = ""
    rest = {}
    samples = []


def follow(context, address, entry):
    """Begins to follow a live `entry` of the stage at an `address`.

    The armature that is active in the `context` shows it if it has the bones; otherwise a new one does.
    """
    unfollow()
    link = StageLink(address)
    figure = link.join(entry)[0]
    names = [frame["name"] for frame in figure["frames"]]
    rest = dict(zip(names, map(Matrix, frames_of(figure, starts(figure)).tolist()), strict=True))
    armature = chosen(context)
    if armature is None or not set(names) & {bone.name for bone in armature.data.bones}:
        armature = built(context, figure, rest)
    LinkState.link, LinkState.figure, LinkState.armature = link, figure, armature.name
    LinkState.rest, LinkState.samples = rest, []
    if not bpy.app.background:
        bpy.app.timers.register(tick)


def unfollow():
    """Leaves the stage; what was recorded stays."""
    if LinkState.link is not None:
        LinkState.link.close()
        LinkState.link = None


def tick():
    """Shows the newest sample, and keeps all."""
    if LinkState.link is None:
        return None
    try:
        new = LinkState.link.poll()
    except LinkError:
        LinkState.link = None
        return None
    LinkState.samples += [(t, q[0]) for t, q in new]
    armature = bpy.data.objects.get(LinkState.armature)
    if new and armature is not None:
        pose(armature, new[-1][1][0])
    return 1 / 60


def pose(armature, q):
    """Puts the bones of an `armature` where the frames of their names are, at the configuration `q`."""
    names = [frame["name"] for frame in LinkState.figure["frames"]]
    X = dict(zip(names, map(Matrix, frames_of(LinkState.figure, q).tolist()), strict=True))
    placed = {}
    for bone in armature.pose.bones:  # parents first
        at_rest = bone.bone.matrix_local
        above = placed.get(bone.parent.name, bone.parent.bone.matrix_local) if bone.parent else Matrix()
        between = bone.parent.bone.matrix_local.inverted() @ at_rest if bone.parent else at_rest
        if bone.name in X:
            placed[bone.name] = X[bone.name] @ LinkState.rest[bone.name].inverted() @ at_rest
        else:
            placed[bone.name] = above @ between
        bone.rotation_mode = "QUATERNION"
        bone.matrix_basis = between.inverted() @ above.inverted() @ placed[bone.name]


def built(context, figure, rest):
    """An armature in the `context`, with a bone for each frame of a `figure` that moves; `rest` has their places, by name."""
    data = bpy.data.armatures.new(figure["name"])
    armature = bpy.data.objects.new(figure["name"], data)
    context.collection.objects.link(armature)
    context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    frames, bones = figure["frames"], {}
    for k, frame in enumerate(frames):
        above = frame["parent"]
        while above >= 0 and above not in bones:
            above = frames[above]["parent"]
        if "motion" not in frame:
            continue
        bones[k] = bone = data.edit_bones.new(frame["name"])
        bone.length = 0.05
        bone.matrix = rest[frame["name"]]
        bone.parent = bones.get(above)
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


class BUNRAKU_OT_follow(Asking, bpy.types.Operator):
    """Follow a live entry of a running stage; once more to stop"""

    bl_idname = "bunraku.follow"
    bl_label = "Follow the stage"

    def work(self, context, settings):
        """What the button does, in a `context` of Blender, with the `settings` of the panel."""
        if LinkState.link is not None:
            unfollow()
        else:
            follow(context, settings.address, settings.entry)


class BUNRAKU_OT_bake(Asking, bpy.types.Operator):
    """Bake: what was followed becomes keys of a new action; without a stage, what constraints and drivers do in the frame range"""

    bl_idname = "bunraku.bake"
    bl_label = "Bake"

    def work(self, context, settings):
        """What the button does, in a `context` of Blender, with the `settings` of the panel."""
        armature = bpy.data.objects.get(LinkState.armature) if LinkState.samples else chosen(context)
        if armature is None:
            raise RuntimeError("choose an armature, or follow a stage first")
        scene = context.scene
        if not LinkState.samples:
            bpy.ops.object.mode_set(mode="POSE")
            span = {"frame_start": scene.frame_start, "frame_end": scene.frame_end}
            bpy.ops.nla.bake(**span, visual_keying=True, only_selected=False, bake_types={"POSE"})
            bpy.ops.object.mode_set(mode="OBJECT")
            return
        (armature.animation_data or armature.animation_data_create()).action = bpy.data.actions.new(f"{armature.name} followed")
        begin, rate = LinkState.samples[0][0], scene.render.fps / scene.render.fps_base
        for t, q in LinkState.samples:
            pose(armature, q)
            for bone in armature.pose.bones:
                for path in ("location", "rotation_quaternion"):
                    bone.keyframe_insert(path, frame=(t - begin) * rate)
        scene.frame_start, scene.frame_end = 0, int((LinkState.samples[-1][0] - begin) * rate) + 1
        LinkState.samples = []


class BUNRAKU_PT_panel(bpy.types.Panel):
    bl_label = "bunraku"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "bunraku"

    def draw(self, context):
        """Draws the panel in a `context` of Blender."""
        settings, column = context.scene.bunraku, self.layout.column()
        column.prop(settings, "figure")
        column.prop(settings, "duration")
        column.operator("bunraku.simulate")
        column.separator()
        column.prop(settings, "strings")
        column.operator("bunraku.imitate")
        column.separator()
        column.prop(settings, "address")
        column.prop(settings, "entry")
        column.operator("bunraku.follow", text="Stop" if LinkState.link is not None else "Follow the stage")
        column.operator("bunraku.bake", text=f"Bake {len(LinkState.samples)} samples" if LinkState.samples else "Bake")


def classes():
    """All that Blender has to know."""
    operators = (BUNRAKU_OT_simulate, BUNRAKU_OT_imitate, BUNRAKU_OT_follow, BUNRAKU_OT_bake)
    return (BunrakuPreferences, BunrakuSettings, *operators, BUNRAKU_PT_panel)


def register():
    """Called when the add-on is enabled."""
    for one in classes():
        bpy.utils.register_class(one)
    bpy.types.Scene.bunraku = bpy.props.PointerProperty(type=BunrakuSettings)


def unregister():
    """Called when the add-on is disabled or removed."""
    unfollow()
    del bpy.types.Scene.bunraku
    for one in reversed(classes()):
        bpy.utils.unregister_class(one)
