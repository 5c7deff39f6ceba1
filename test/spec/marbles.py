#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""marbles.py SOURCE [--write]: docs/marbles has a picture of each operator that
changes what comes when, or in which order, drawn from test/flow/marbles.c, where
it is a test; operators without one are left out here, with the reason why. This
compares the pictures with those tests, or draws them."""

import pathlib
import re
import sys
import textwrap
from html import escape

sys.dont_write_bytecode = True  # next to the sources
import verified

LEFT_OUT = {
    "item for item, as they come": """
        weir_flow_map weir_flow_map_n weir_flow_index weir_flow_filter
        weir_flow_filter_map weir_flow_distinct_until_changed weir_flow_take
        weir_flow_drop weir_flow_take_while weir_flow_drop_while weir_flow_limit
        weir_flow_limit_weighted weir_flow_map_concat weir_flow_stateful_map weir_flow_peek weir_flow_scan
        weir_flow_map_error weir_flow_materialize weir_flow_dematerialize
        weir_flow_nats_done""",
    "one result or none, at the end": """
        weir_flow_for_each weir_flow_for_each_n weir_flow_ignore weir_flow_fold
        weir_flow_fold_n weir_flow_reduce weir_flow_first weir_flow_last
        weir_flow_count weir_flow_collect weir_flow_all""",
    "items are asked for otherwise, and are the same": """
        weir_flow_async weir_flow_limit_rate""",
    "begins, and waits for nothing but its function": """
        weir_flow_array weir_flow_range weir_flow_single weir_flow_empty
        weir_flow_fail weir_flow_never weir_flow_unfold weir_flow_resource
        weir_flow_from_queue weir_flow_defer weir_flow_lazy""",
    "as blocks of bytes are read and written": """
        weir_flow_read weir_flow_read_file weir_flow_write weir_flow_write_file
        weir_flow_deflate weir_flow_inflate weir_flow_zstd weir_flow_unzstd
        weir_flow_child weir_flow_tail
        weir_flow_lines weir_flow_delimited weir_flow_length_prefixed
        weir_flow_length_field weir_flow_json_objects
        weir_connection_read weir_connection_write weir_connection_run""",
    "as the kernel tells it": """
        weir_flow_signals weir_flow_fd weir_flow_inotify
        weir_flow_datagrams weir_flow_datagrams_send
        weir_flow_connect weir_flow_listen weir_flow_each_connection
        weir_connection_pipe weir_flow_from_nats weir_flow_into_nats
        weir_flow_nats_process weir_flow_nats_give weir_flow_nats_take""",
    "as its parts do": """
        weir_flow_operator weir_flow_operator_source weir_flow_operator_inputs
        weir_flow_operator_outlets
        weir_flow_graph_inlet weir_flow_graph_build""",
    "as others send or take": """
        weir_flow_from_publisher weir_flow_into weir_flow_from_out weir_flow_into_in
        weir_flow_to_actor weir_flow_from_channel weir_flow_into_channel
        weir_flow_into_hub weir_flow_from_hub weir_flow_from_share""",
}

# --- What test/flow/marbles.c says --------------------------------------------


def arguments(text, start):
    """What stands in the brackets that open at text[start], split at commas."""
    parts, depth, at = [""], 0, start
    while True:
        string = re.compile(r'"(?:\\.|[^"\\])*"').match(text, at)
        piece = string[0] if string else text[at]
        at += len(piece)
        depth += (piece in "([{") - (piece in ")]}") if len(piece) == 1 else 0
        if depth == 0:
            return [part.strip() for part in parts]
        if piece == "," and depth == 1:
            parts.append("")
        elif depth > 1 or piece not in "([{":
            parts[-1] += piece


def value(text):
    """A string, a list of them in braces (NULL: None), or as it is written."""
    if text.startswith("{"):
        return [value(part) for part in arguments(text, 0)]
    strings = re.findall(r'"([^"]*)"', text)
    return "".join(strings) if strings else None if text == "NULL" else text


def moments(row):
    """(label, ms) of each."""
    return [(label, int(ms)) for label, ms in
            re.findall(r"(\[[^]]*\]|[^@ ]+)@(\d+)", row or "")]


def pictures(source):
    """{name: what is drawn} of each."""
    found = {}
    text = (source / "test/flow/marbles.c").read_text()
    for macro in re.finditer(r"^(?:FAN_)?PICTURE(?=\()", text, re.M):
        name, call, *fields = arguments(text, macro.end())
        picture = {"call": re.sub(r"\s+", " ", call), "in": [], "asked": []}
        for field in fields:
            key, what = re.match(r"\.(\w+)\s*=\s*(.*)", field, re.S).groups()
            picture[key] = value(what)
        picture["operator"] = re.match(
            r"(?:weir_flow_delay_errors\()?weir_flow_(\w+)", call)[1]
        found[name] = picture
    return found


# --- What is drawn --------------------------------------------------------------

LEFT, RADIUS, ROW = 76, 10, 30  # where timelines begin, and sizes
GREY = "#7a7a7a"  # readable on white and on black
STYLE = f"""text{{font:11px sans-serif;fill:{GREY}}}
.call{{font:bold 12px monospace}}
.item{{font-weight:bold;fill:#fff;text-anchor:middle}}
.error{{fill:#e5484d}}
path{{stroke:{GREY};fill:none}}
.grid{{opacity:.25}}
.solid{{fill:{GREY};stroke:none}}
.missed{{opacity:.4}}"""
COLOURS = ["#2f6fd0", "#c2620e", "#2e8550", "#8a5cc8", "#c0407a", "#157f8f"]


def colour(label):
    return COLOURS[(ord(label[0].lower()) - (49 if label[0].isdigit() else 97))
                   % len(COLOURS)]


class Drawing:
    def __init__(self, picture):
        self.picture = picture
        rows = picture["in"] + picture["asked"] + picture["out"]
        rows += [picture.get("made"), picture.get("acts")]
        times = [ms for row in rows for _, ms in moments(row)]
        self.last = max(times + [int(picture.get("until_ms", 0))])
        self.scale = min(5, 520 / self.last)
        self.width = max(480, int(LEFT + self.last * self.scale + 60))
        self.parts = []
        self.y = 8

    def x(self, ms):
        return LEFT + RADIUS + round(ms * self.scale)

    def add(self, *parts):
        self.parts += parts

    def text(self, x, y, words, kind=""):
        kind = f' class="{kind}"' if kind else ""
        self.add(f'<text x="{x}" y="{y}"{kind}>{escape(words, False)}</text>')

    def item(self, x, y, label):
        size = 11 if len(label) < 3 else 9
        self.add(f'<circle cx="{x}" cy="{y}" r="{RADIUS}" '
                 f'fill="{colour(label)}"/>',
                 f'<text x="{x}" y="{y + 4}" class="item" '
                 f'style="font-size:{size}px">{escape(label)}</text>')

    def moment(self, x, y, label):
        """At x or, of what is wide, from there on; where it ends."""
        if label == "|":
            self.add(f'<path d="M{x} {y - 11}v22" stroke-width="2"/>')
        elif label.startswith("!"):
            self.add(f'<path d="M{x - 7} {y - 7}l14 14m0 -14l-14 14" '
                     'stroke-width="2" style="stroke:#e5484d"/>')
            self.text(x + 12, y + 4, label[1:], "error")
        elif label.startswith("["):
            items = label[1:-1].split()
            width = 22 * len(items) + 4
            self.add(f'<rect x="{x - 13}" y="{y - 13}" width="{width}" '
                     f'height="26" rx="13" fill="none" stroke="{GREY}"/>')
            for i, one in enumerate(items):
                self.item(x + 22 * i, y, one)
            return x - 13 + width
        else:
            self.item(x, y, label)
        return x + RADIUS

    def timeline(self, row, name, ended=None, dashed=False):
        """`ended`: when nobody took any more."""
        y = self.y + ROW // 2
        found = moments(row)
        last = self.last if not found or found[-1][0][0] not in "|!" \
            else found[-1][1]
        self.text(8, y + 4, name)
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.add(f'<path d="M{LEFT} {y}H{self.x(last) + 2}"{dashes}/>')
        if last == self.last and (not found or found[-1][1] < last):
            self.add(f'<path d="M{self.x(last)} {y - 4}l6 4l-6 4"/>')
        free = 0
        for label, ms in found:
            missed = ended is not None and ms > ended
            self.add(*['<g class="missed">'] * missed)
            x = max(self.x(ms), free + (3 if label in "|" else RADIUS))
            free = self.moment(x, y, label)
            self.add(*["</g>"] * missed)
        self.y += ROW

    def marks(self, row, name, up):
        y = self.y + (12 if up else 11)
        self.text(8, self.y + 16, name)
        for _, ms in moments(row):
            self.add(f'<path class="solid" d="M{self.x(ms) - 5} {y}h10l-5 '
                     f'{-9 if up else 9}z"/>')
        self.y += 24

    def box(self):
        call = textwrap.wrap(self.picture["call"], (self.width - 30) // 7,
                             break_on_hyphens=False)
        note = self.picture.get("note")
        height = 10 + 16 * len(call) + (16 if note else 0)
        self.add(f'<rect x="6" y="{self.y + 4}" width="{self.width - 12}" '
                 f'height="{height}" rx="5" fill="{GREY}" fill-opacity=".1" '
                 f'stroke="{GREY}"/>')
        for i, line in enumerate(call):
            self.text(14, self.y + 20 + 16 * i, line, "call")
        if note:
            self.text(14, self.y + 20 + 16 * len(call), note)
        self.y += height + 10

    def axis(self):
        ticks = range(0, self.last + 1, 10)
        grid = "".join(f"M{self.x(ms)} 4V{self.y}" for ms in ticks)
        self.parts.insert(0, f'<path class="grid" d="{grid}"/>')
        for ms in ticks[::2]:
            self.add(f'<text x="{self.x(ms)}" y="{self.y + 12}" '
                     f'text-anchor="middle">{ms}</text>')
        self.text(self.x(ticks[::2][-1]) + 13, self.y + 12, "ms")
        self.y += 18

    def names(self):
        if "flows" in self.picture["call"]:
            return ["flows[0]", "flows[1]"]
        return ["flow", "other"]

    def draw(self):
        picture = self.picture
        outs = [moments(row) for row in picture["out"]]
        over = [out[-1][1] for out in outs if out[-1][0][0] in "|!"]
        ended = max(over) if len(over) == len(outs) else None
        for row, name in zip(picture["in"], self.names()):
            self.timeline(row, name, ended)
        if "made" in picture:
            for_item = " for x" if "x" in picture["made"] else ""
            self.timeline(picture["made"], "made" + for_item, dashed=True)
        if "acts" in picture:
            self.marks(picture["acts"], moments(picture["acts"])[0][0], False)
        self.box()
        for i, row in enumerate(picture["out"]):
            self.timeline(row, f"outlets[{i}]" if len(outs) > 1 else "out")
            if i < len(picture["asked"]) and picture["asked"][i]:
                self.marks(picture["asked"][i], "asked", True)
        self.axis()
        size = f'width="{self.width}" height="{self.y}"'
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'viewBox="0 0 {self.width} {self.y}">',
            f"<title>{escape(picture['call'], False)}</title>",
            f"<style>{STYLE}</style>", *self.parts, "</svg>\n"])


# --- What is there ----------------------------------------------------------------


def check_operators(source, found, problems):
    known = {("weir_" if name.startswith("connection_") else "weir_flow_") + name
             for names in verified.operators(source).values() for name in names}
    drawn = {f"weir_flow_{picture['operator']}" for picture in found.values()}
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    for name in sorted(known - drawn - left_out):
        problems.append(f"{name} has no picture: draw one in"
                        " test/flow/marbles.c, or name it in LEFT_OUT")
    for name in sorted(drawn & left_out):
        problems.append(f"{name} has a picture, and is in LEFT_OUT, too")
    for name in sorted((drawn | left_out) - known):
        problems.append(f"{name} is drawn, or in LEFT_OUT, and is no operator")


def main():
    source = pathlib.Path(sys.argv[1])
    folder = source / "docs/marbles"
    problems = []
    found = pictures(source)
    wanted = {f"{name}.svg": Drawing(picture).draw()
              for name, picture in found.items()}
    check_operators(source, found, problems)
    there = {path.name: path.read_text() for path in folder.glob("*")}
    if "--write" in sys.argv[2:]:
        folder.mkdir(exist_ok=True)
        for name in there.keys() - wanted.keys():
            (folder / name).unlink()
        for name, text in wanted.items():
            (folder / name).write_text(text)
    else:
        for name in sorted(there.keys() | wanted.keys()):
            if there.get(name) != wanted.get(name):
                problems.append(f"docs/marbles/{name} is not what the test says: "
                                "run test/spec/marbles.py . --write")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
