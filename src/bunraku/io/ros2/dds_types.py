"""Message types of ROS 2 as DDS knows them: their names, the layout of their bytes, and the hashes that tell versions apart."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from bunraku.errors import MissingExtra
from bunraku.io.logs import ros_messages as ros


def module(name: str) -> Any:
    """The module `name` of cyclonedds; raises MissingExtra if it is not installed."""
    import importlib

    try:
        return importlib.import_module(f"cyclonedds.{name}")
    except ImportError:
        raise MissingExtra("cyclonedds", "ros2", "ROS 2") from None


def type_hash(kind: str) -> str:
    """The hash of the type `kind` ("sensor_msgs/JointState"), as ROS 2 writes it since Iron: "RIHS01_" and 64 digits.

    It is the SHA-256 of a JSON text about the type and all types that it uses (REP 2011). Names of fields count, defaults do not.
    """
    text = json.dumps({
        "type_description": _description(kind),
        "referenced_type_descriptions": [_description(inner) for inner in sorted(ros.used(kind)[1:])],
    })  # fmt: skip
    return f"RIHS01_{hashlib.sha256(text.encode()).hexdigest()}"


def _description(kind: str) -> dict[str, Any]:
    return {"type_name": _full_name(kind), "fields": [{"name": name, "type": _type(form)} for form, name in ros.fields(kind)]}


def _type(form: str) -> dict[str, Any]:
    """A type as type_description_interfaces/msg/FieldType: sequences without a bound have the number of their items plus 144."""
    numbers = {"uint8": 3, "int32": 6, "uint32": 7, "float64": 11, "bool": 15, "string": 17}
    item = form.removesuffix("[]")
    number = numbers.get(item, 1) + (144 if form != item else 0)
    nested = "" if item in numbers else _full_name(item)
    return {"type_id": number, "capacity": 0, "string_capacity": 0, "nested_type_name": nested}


def _full_name(kind: str) -> str:
    package, _, name = kind.partition("/")
    return f"{package}/msg/{name}"


@cache
def dds_type(kind: str) -> Any:
    """The class of cyclonedds for the type `kind`; its name for DDS is that of ROS 2: "sensor_msgs::msg::dds_::JointState_"."""
    types = module("idl.types")
    plain = {
        "uint8": types.uint8, "int32": types.int32, "uint32": types.uint32, "float64": types.float64, "bool": bool, "string": str,
    }  # fmt: skip
    fields = {}
    for form, name in ros.fields(kind):
        item = form.removesuffix("[]")
        own = plain[item] if item in plain else dds_type(item)
        fields[name] = types.sequence[own] if form != item else own
    package, _, name = kind.partition("/")
    made = module("idl").make_idl_struct(name, f"{package}::msg::dds_::{name}_", fields)
    return module("idl.annotations").final(made)


def filled(kind: str, values: dict[str, Any]) -> Any:
    """A message of the type `kind` from plain `values` by the names of fields."""
    out = {}
    for form, name in ros.fields(kind):
        item, value = form.removesuffix("[]"), values[name]
        if "/" in item:
            value = [filled(item, one) for one in value] if form != item else filled(item, value)
        out[name] = value
    return dds_type(kind)(**out)
