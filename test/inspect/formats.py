#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""formats.py PROGRAM SCHEMA: what weir_snapshot_json() writes is as the schema has it,
and what weir_snapshot_dot() writes is a graph for dot(1). The checks find what they are
for: what is left out, or added, is refused.
"""

import copy
import json
import subprocess
import sys

import jsonschema


def printed(program, how):
    return subprocess.run([program, how], check=True, stdout=subprocess.PIPE).stdout


def is_valid(schema, value):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def check_places(value):
    """Numbers are places in the other arrays."""
    for actor in value["actors"]:
        assert actor["root"] < len(value["actors"])
        assert actor["at_port"] is None or actor["at_port"] < len(value["ports"])
    for port in value["ports"]:
        assert port["actor"] < len(value["actors"])
        assert "object" not in port or port["object"] < len(value["objects"])
    for edge in value["links"] + value["demands"]:
        for end in edge["from"], edge["to"]:
            assert end is None or end < len(value["ports"])


def check_json(program, schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    value = json.loads(printed(program, "json"))
    jsonschema.Draft202012Validator(schema).validate(value)
    check_places(value)
    assert "a \"source\" \\  ä" in [actor["name"] for actor in value["actors"]]
    for name in "actors", "ports", "links", "demands", "objects":
        assert value[name], name
        for change in (lambda it: it.popitem(), lambda it: it.update(other=1)):
            broken = copy.deepcopy(value)
            entry = broken[name][0]
            for key in list(entry):
                if key not in schema["$defs"][name[:-1]]["required"]:
                    del entry[key]
            change(entry)
            assert not is_valid(schema, broken), f"{name}: {broken[name][0]}"
    return value


def check_dot(program, value):
    drawn = subprocess.run(["dot", "-Tjson"], input=printed(program, "dot"), check=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert not drawn.stderr, drawn.stderr
    graph = json.loads(drawn.stdout)
    colours = {node["label"]: node.get("fillcolor") for node in graph["objects"]}
    for actor in value["actors"]:
        colour = {"none": "red", "room": "black", "demand": "black"}
        # dot(1) leaves escapes of labels to who draws them
        label = actor["name"].replace("\\", "\\\\")
        assert colours[label] == colour.get(actor["wait"], "blue")
    edges = (len([link for link in value["links"] if link["from"] is not None]) +
             len(value["demands"]) + len([port for port in value["ports"]
                                          if "object" in port]))
    assert len(graph["edges"]) == edges


def main(program, path):
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    check_dot(program, check_json(program, schema))


if __name__ == "__main__":
    main(*sys.argv[1:])
