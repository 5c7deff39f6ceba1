# SPDX-License-Identifier: BSD-2-Clause
"""Bars lying one below the other, as SVG: each with its name and its value in
words, so there is no legend. Scales are linear and begin at 0."""
from html import escape

# Readable on white and on black.
GREY, BLUE = "#7a7a7a", "#2f6fd0"
STYLE = f"""text{{font:12px sans-serif;fill:{GREY}}}
.title{{font:bold 15px sans-serif}}
.bold{{font-weight:bold}}
.end{{text-anchor:end}}
rect{{fill:{GREY}}}
.blue{{fill:{BLUE}}}
path{{stroke:{GREY};stroke-dasharray:4 3}}"""
WIDTH, LEFT, LONGEST, BAR = 720, 118, 420, 17


class Chart:
    """Of groups: [(title, [(name, value, words)])]. `about`: the names whose bars
    stand out. `limit`: (value, words) of a line across all groups, or None.
    `apart`: each group has a scale of its own."""

    def __init__(self, about, limit=None, apart=False):
        self.about = about
        self.limit = limit
        self.apart = apart
        self.parts = []
        self.y = 0

    def text(self, x, words, kind=""):
        kind = f' class="{kind.strip()}"' if kind else ""
        self.parts.append(f'<text x="{x}" y="{self.y}"{kind}>'
                          f"{escape(words, False)}</text>")

    def line_at(self, most):
        return LEFT + round(LONGEST * self.limit[0] / most)

    def bar(self, name, value, words, most):
        """The words are to the right of a line that would go through them."""
        bold = " bold" if name in self.about else ""
        fill = ' class="blue"' if name in self.about else ""
        length = max(1, round(LONGEST * value / most))
        x = LEFT + length + 6
        if self.limit and x - 8 < self.line_at(most) < x + 8 * len(words):
            x = self.line_at(most) + 6
        self.y += BAR
        self.text(LEFT - 8, name, "end" + bold)
        self.parts.append(f'<rect x="{LEFT}" y="{self.y - 11}" '
                          f'width="{length}" height="13"{fill}/>')
        self.text(x, words, bold)

    def line(self, most, top):
        x = self.line_at(most)
        self.parts.append(f'<path d="M{x} {top}V{self.y + 6}"/>')
        self.y += 20
        self.text(x, self.limit[1], "end" * (x > WIDTH / 2))

    def draw(self, title, below, groups):
        self.y = 20
        self.text(8, title, "title")
        self.y += 6
        top = self.y + 24
        most = max(value for _, rows in groups for _, value, _ in rows)
        most = max(most, self.limit[0]) if self.limit else most
        for name, rows in groups:
            self.y += 22
            self.text(8, name, "bold")
            own = max(value for _, value, _ in rows) if self.apart else most
            for row in rows:
                self.bar(*row, own)
        if self.limit:
            self.line(most, top)
        self.y += 26
        self.text(8, below)
        height = self.y + 10
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{height}" viewBox="0 0 {WIDTH} {height}">',
            f"<title>{escape(title, False)}</title>",
            f"<style>{STYLE}</style>", *self.parts, "</svg>\n"])
