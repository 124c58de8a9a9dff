"""Edits of takes: trim, mirror, loop, layers and keys. Each makes a new version out of an old one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bunraku.errors import BunrakuError, MotionError
from bunraku.motion import Key, Layer, Motion
from bunraku.motion.layers import held_by_limits, keyed
from bunraku.stage.messages import LayerJson, TakeJson
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.takes import Version, trimmed
from bunraku.stage.wire import CloseCode, Refusal


def edited(version: Version, wish: Mapping[str, Any], limits: StageLimits) -> Version:
    """A `version` after the `wish` of a page.

    Raises Refusal if the wish is malformed, BunrakuError if it is impossible or exceeds the `limits`.
    """
    match wish:
        case {"edit": "trim", "start": int(start) | float(start), "stop": int(stop) | float(stop), **rest} if not rest:
            return _trimmed(version, float(start), float(stop))
        case {"edit": "mirror", **rest} if not rest:
            return _mirrored(version)
        case {"edit": "loop", "blend": int(blend) | float(blend), "travel": bool(travel), "times": int(times), **rest} if not rest:
            return _looped(version, float(blend), travel, times, limits)
        case {"edit": "add layer", **rest} if not rest:
            return _with_layer(version, limits)
        case {"edit": str(edit), "layer": int(layer), **rest} if (change := _layer_edit(edit)) and not isinstance(layer, bool):
            if not (edit == "set keys" and layer == 0 and not version.layers) and not 0 <= layer < len(version.layers):
                raise MotionError(f"there is no layer {layer + 1}", advice="it was removed or merged: choose another one")
            new = change(version, layer, rest)
            if sum(len(curve.keys) for one in new.layers for curve in one.curves) > limits.take_keys:
                raise BunrakuError(f"a take has at most {limits.take_keys} keys\n  advice: merge a layer into the recording")
            return new
    raise _malformed()


def _malformed() -> Refusal:
    return Refusal(CloseCode.MALFORMED, "no such edit of a take, or its fields are wrong")


# -- the whole take ----------------------------------------------------------------------------------------------


def _trimmed(version: Version, start: float, stop: float) -> Version:
    """Layers keep keys outside of what is left: the curves inside stay as they are."""
    motion = version.recording.motion
    recording = trimmed(version.recording, start, stop)
    zero = float(motion.t[motion.t >= start - 1e-9][0])
    return Version(recording, tuple(layer.shift(-zero) for layer in version.layers))


def _mirrored(version: Version) -> Version:
    recording = version.recording
    layers = tuple(layer.mirror(recording.motion) for layer in version.layers)
    return Version(replace(recording, motion=recording.motion.mirror()), layers)


def _looped(version: Version, blend: float, travel: bool, times: int, limits: StageLimits) -> Version:
    """Layers become part of the recording: the seam closes what is seen."""
    motion = version.seen.motion
    if not 1 <= times <= 1000 or times * motion.duration > limits.take_seconds:
        raise BunrakuError(f"the loop would last {times * motion.duration:.4g} s\n  advice: at most {limits.take_seconds:g} s")
    return Version(replace(version.recording, motion=motion.loop(blend, travel=travel, times=times), series=()))


# -- layers ------------------------------------------------------------------------------------------------------


def _with_layer(version: Version, limits: StageLimits) -> Version:
    if len(version.layers) >= limits.take_layers:
        raise BunrakuError(f"a take has at most {limits.take_layers} layers\n  advice: merge one into the recording")
    names = {layer.name for layer in version.layers}
    name = next(name for k in range(1, len(names) + 2) if (name := f"Layer {k}") not in names)
    return replace(version, layers=(*version.layers, Layer(name)))


def _changed(version: Version, which: int, wish: Mapping[str, Any]) -> Version:
    match wish:
        case {"name": str(name), "weight": int(weight) | float(weight), "muted": bool(muted), **rest} if not rest:
            if not 0.0 <= weight <= 2.0 or not 0 < len(name.strip()) <= 80 or not name.isprintable():
                raise _malformed()
            layer = replace(version.layers[which], name=name.strip(), weight=float(weight), muted=muted)
            return replace(version, layers=_put(version.layers, which, layer))
    raise _malformed()


def _removed(version: Version, which: int, wish: Mapping[str, Any]) -> Version:
    if wish:
        raise _malformed()
    return replace(version, layers=_put(version.layers, which))


def _merged(version: Version, which: int, wish: Mapping[str, Any]) -> Version:
    if wish:
        raise _malformed()
    layer = version.layers[which]
    if not layer.acts:
        raise MotionError(f"{layer.name} has no effect: nothing to merge", advice="unmute it, or remove it")
    recording = Version(version.recording, (layer,)).seen
    return Version(recording, _put(version.layers, which))


def _put(layers: tuple[Layer, ...], which: int, *new: Layer) -> tuple[Layer, ...]:
    return (*layers[:which], *new, *layers[which + 1 :])


# -- keys --------------------------------------------------------------------------------------------------------


def _set_keys(version: Version, which: int, wish: Mapping[str, Any]) -> Version:
    match wish:
        case {"track": int(track), "t": int(t) | float(t), "values": dict(values), **rest} if not rest and values:
            if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in values.values()):
                raise _malformed()
            if not version.layers:
                version = _with_layer(version, StageLimits())
            motion = version.recording.motion
            at = _sample_time(motion, float(t))
            return replace(version, layers=keyed(motion, version.layers, which, _track(motion, track), at, values))
    raise _malformed()


def _zero_key(version: Version, which: int, wish: Mapping[str, Any]) -> Version:
    name, variable, t, rest = _named(version.recording.motion, wish)
    if rest:
        raise _malformed()
    version.recording.motion.track(name).column(variable)  # raises UnknownName
    at = _sample_time(version.recording.motion, t)
    layer = version.layers[which].keyed(name, variable, Key(at, 0.0))
    return replace(version, layers=_put(version.layers, which, layer))


def _deleted_key(version: Version, which: int, wish: Mapping[str, Any]) -> Version:
    name, variable, t, rest = _named(version.recording.motion, wish)
    if rest:
        raise _malformed()
    return replace(version, layers=_put(version.layers, which, version.layers[which].unkeyed(name, variable, t)))


def _moved_key(version: Version, which: int, wish: Mapping[str, Any]) -> Version:
    motion = version.recording.motion
    name, variable, t, more = _named(motion, wish)
    match more:
        case {"to": int(to) | float(to), "value": int(value) | float(value), **rest} if not rest:
            layers = _put(version.layers, which, version.layers[which].unkeyed(name, variable, t))
            at = _sample_time(motion, float(to))
            return replace(version, layers=keyed(motion, layers, which, name, at, {variable: float(value)}))
    raise _malformed()


def _named(motion: Motion, wish: Mapping[str, Any]) -> tuple[str, str, float, dict[str, Any]]:
    """Track, variable and time of a key, and what else the wish says."""
    match wish:
        case {"track": int(track), "variable": str(variable), "t": int(t) | float(t), **rest}:
            return _track(motion, track), variable, float(t), rest
    raise _malformed()


def _track(motion: Motion, index: int) -> str:
    if not 0 <= index < len(motion.tracks):
        raise _malformed()
    return motion.names[index]


def _sample_time(motion: Motion, t: float) -> float:
    """The time of the nearest sample: a key between two samples would not be seen exactly."""
    return float(motion.t[np.argmin(np.abs(motion.t - t))])


def _layer_edit(name: str) -> Callable[[Version, int, Mapping[str, Any]], Version] | None:
    """The edit of a layer that has this name; None if there is none."""
    return {
        "change layer": _changed, "remove layer": _removed, "merge layer": _merged,
        "set keys": _set_keys, "zero key": _zero_key, "move key": _moved_key, "delete key": _deleted_key,
    }.get(name)  # fmt: skip


# -- for the page ------------------------------------------------------------------------------------------------


def described(version: Version) -> TakeJson:
    """The layers of a `version`, and what is not as in a recording of physics."""
    motion = version.recording.motion
    layers: list[LayerJson] = [
        {
            "name": layer.name, "weight": layer.weight, "muted": layer.muted,
            "curves": [
                {
                    "track": motion.names.index(curve.track),
                    "variable": motion.track(curve.track).figure.index(curve.variable),
                    "keys": [(key.t, key.offset) for key in curve.keys],
                }
                for curve in layer.curves
            ],
        }
        for layer in version.layers
    ]  # fmt: skip
    held = held_by_limits(motion, version.layers)
    return {
        "layers": layers,
        "held": [(motion.names.index(track), motion.track(track).figure.index(variable)) for track, variable in held],
        "kinematic": all(track.tension is None for track in version.seen.motion.tracks),
    }
