"""Landmarks: which marker is on which place of the body, by the names of the common marker sets.

Plug-in Gait and Helen Hayes (LASI, LKNE), CAST and IOR (L_IAS, L_FLE; l asis, l knee 1), OpenSim (L.ASIS, L.Knee.Lat).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import ClassVar


class MarkerNames:
    """Names that may mean a place of the body, without side, the likeliest first."""

    sided: ClassVar[dict[str, str]] = {
        "front of the hip": "asis asi ias",
        "back of the hip": "psis psi ips",
        "outer knee": "kneelat kne knee knee1 fle kl lfe kneelateral",
        "inner knee": "kneemed knm knem kneem fme km mfe mkne kneemedial",
        "outer ankle": "anklelat ank ankle mall fal al lmal anklelateral",
        "inner ankle": "anklemed ankm anklem tam am mmal anklemedial",
        "heel": "heel hee fcc h cal",
        "toe": "toetip toe met fm2 mt2 toemed fm1 fm midfootsup",
        "shoulder": "acromium acromion sho should shoulder saj acr acrom",
        "outer elbow": "elbowlat elb elbow hle elbowlateral",
        "inner elbow": "elbowmed elbm hme elbowmedial",
        "outer wrist": "wristlat wra wri wrist rsp wristlateral",
        "inner wrist": "wristmed wrb uhe wristmedial",
        "hand": "fin hand hm2 finger",
        "front of the head": "fhd hdf temple headfront",
        "back of the head": "bhd hdb headback",
    }
    middle: ClassVar[dict[str, str]] = {
        "sacrum": "sacrum sacral vsacral sacr sac s1",
        "back": "t10 t8 tv8 tv10",
        "nape": "c7 cv7",
        "chest": "clav snj ijn sternum strn sxs",
        "top of the head": "tophead headtop vertex",
    }
    clusters: ClassVar[dict[str, str]] = {
        "thigh": "thigh thi t wand1",
        "shank": "shank tib s wand2",
        "foot": "heel toe midfoot met",
    }
    """Markers anywhere on these parts, whose names only begin so."""


def landmarks(names: Iterable[str]) -> dict[str, str]:
    """Markers by landmark ("left outer knee"), among the `names` of all; of several that may mean one, the likeliest."""
    known = {_compact(name): name for name in reversed(list(names))}
    return {landmark: known[name] for landmark, meant in _table().items() for name in reversed(meant) if name in known}


def cluster(names: Iterable[str], side: str, part: str) -> list[str]:
    """The markers among `names` anywhere on the thigh, shank or foot (`part`) of a `side`."""
    begins = [f"{letter}{word}" for letter in (side[0], side) for word in MarkerNames.clusters[part].split()]
    pattern = re.compile(rf"(?:{'|'.join(begins)})(?:\d|upper|front|rear|lat|med|sup|tip|$)")
    return [name for name in names if pattern.match(_compact(name))]


def _compact(name: str) -> str:
    """L.Knee.Lat is lkneelat; names of subjects, before a colon, are left out."""
    return re.sub(r"[^a-z0-9]", "", name.rpartition(":")[2].lower())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """The names that may mean each landmark, the likeliest first."""
    out: dict[str, tuple[str, ...]] = {landmark: tuple(words.split()) for landmark, words in MarkerNames.middle.items()}
    for side in ("left", "right"):
        for landmark, words in MarkerNames.sided.items():
            long = [w for word in words.split() for w in (f"{side[0]}{word}", f"{side}{word}", f"{word}{side[0]}")]
            out[f"{side} {landmark}"] = tuple(w for w in long if len(w) > 1)
    return out
