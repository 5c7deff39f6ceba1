#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""browser.py PROGRAM: the page of PROGRAM (test/examples/staged.c) in a real browser,
Chromium without a window, which chromedriver drives: what a user sees and does. Each
wait is for a state of the page. Skipped where chromedriver or a loopback device is
missing."""

import atexit
import contextlib
import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

PATIENCE = 20  # seconds, for a state that comes within one or two
ROWS = "[...document.querySelectorAll('#rows tr')]"
KEYS = {"down": "\uE015", "up": "\uE013", "right": "\uE014", "left": "\uE012",
        "enter": "\uE007", "tab": "\uE004", "escape": "\uE00C", "end": "\uE010"}


def skip(why):
    print(why)
    sys.exit(77)


class Staged:
    """The program, which serves its page."""

    def __init__(self, stage):
        self.process = subprocess.Popen([sys.argv[1], stage], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.url = f"http://{self.process.stdout.readline().strip()}/"

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


class Browser:
    """Chromium, by the WebDriver protocol."""

    def __init__(self):
        for _ in range(5):  # its free port may be taken until it listens
            driver = subprocess.Popen(["chromedriver", "--port=0"],
                                      stdout=subprocess.PIPE, text=True)
            atexit.register(driver.kill)
            port = next((match[1] for match in
                         (re.search(r"started successfully on port (\d+)", line)
                          for line in driver.stdout) if match), None)
            if port:
                break
        self.base = f"http://127.0.0.1:{port}/session"
        args = ["--headless=new", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--window-size=1280,900"]
        value = self.call("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/" + value["sessionId"]
        atexit.register(self.close)

    def close(self):
        with contextlib.suppress(OSError):
            self.call("DELETE", "")

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def cdp(self, command, **params):
        self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, url):
        self.call("POST", "/url", {"url": url})
        if url.startswith("http"):
            self.get("page.period_ms = 100")  # nobody watches

    def get(self, script):
        return self.call("POST", "/execute/sync",
                         {"script": f"return {script}", "args": []})

    def until(self, script, what=True):
        """Waits until the expression has that value, or a truth."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.get(script)
            if value == what or what is True and value:
                return value
            assert time.monotonic() < end, f"{script} is {value!r}, not {what!r}"

    def press(self, *keys):
        actions = [{"type": kind, "value": KEYS[key]} for key in keys
                   for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": actions}]})

    def click(self, selector):
        """As the mouse does, in the middle of what is there."""
        element = self.call("POST", "/element", {"using": "css selector",
                                                 "value": selector})
        identity = next(iter(element.values()))
        self.call("POST", f"/element/{identity}/click", {})

    def faults(self):
        """What the console has told, such as errors and what the policy has refused; but
        not that a server is gone, or that a look is."""
        return [entry["message"] for entry in
                self.call("POST", "/se/log", {"type": "browser"})
                if not re.search(r"net::ERR_|410 \(Gone\)", entry["message"])]


def text(selector):
    return f"document.querySelector({json.dumps(selector)}).textContent"


def a_user_finds_the_culprit(browser):
    staged = Staged("stalled")
    browser.open(staged.url)
    browser.until(text("#why-all"), "4 held up by: database waits for a permit in database")
    browser.until(text("#counts"), "10 actors, 8 links")
    # the graph: each actor and link once, with what is in it
    assert browser.get("document.querySelectorAll('svg .node').length") == 10
    assert browser.get("document.querySelectorAll('svg .link').length") == 8
    assert browser.get("document.querySelectorAll('svg .link.full').length") == 3
    assert browser.get("[...document.querySelectorAll('.node.held .name')]"
                       ".map(e => e.textContent).sort().join()") == "look up,parse,read requests"
    # the first row is the one that holds up most
    assert browser.get(f"{ROWS}[0].dataset.name") == "database"
    # of a flow it is said which operator waits
    for name, waits in (("database", "waits for a permit in database"),
                        ("sensor a", "waits for a time in sensor a")):
        browser.until(f"{ROWS}.find(row => row.dataset.name.startsWith('{name}')).innerText"
                      f".includes('{waits}')")
    # a click upon one that is held up tells the way to the culprit
    browser.click("#rows tr[data-name='parse']")
    browser.until(text("#why-one"), "parse waits for room in look up\n"
                  "look up waits for room in database\ndatabase waits for a permit in database")
    assert browser.get(text("#one-title")) == "parse"
    assert browser.get("document.querySelectorAll('.node.way').length") == 2
    # and one upon a box of the graph
    browser.click(".node.root")
    browser.until(text("#why-one"), "database waits for a permit in database")
    assert browser.get("document.querySelector('tr[aria-selected=true]')"
                       ".dataset.name") == "database"
    # what moves has a rate, and a line
    browser.until(f"{ROWS}.find(row => row.dataset.name === 'merge')"
                  ".querySelector('.past path').getAttribute('d').includes('L')")
    # the link to a trace gives one, that of a second while nobody watches
    assert browser.get("document.getElementById('trace').download") == "trace.json"
    slices = browser.call("POST", "/execute/async", {"args": [], "script":
                          "fetch(document.getElementById('trace').href.replace('=5', '=1'))"
                          ".then((answer) => answer.json()).then((trace) => arguments[0]("
                          "trace.traceEvents.filter((event) => event.ph === 'X').length))"})
    assert slices > 0
    # it goes on
    staged.say("open")
    browser.until(text("#counts"), "5 actors, 4 links")
    staged.say("end")
    browser.until("!document.getElementById('empty').hidden")
    assert browser.get(text("#one-title")) == "It has ended"
    assert browser.get(text("#why-all")) == "no actor is alive"
    staged.end()
    # the server is gone, and the page says so
    browser.until("document.body.className", "gone")
    assert browser.get(text("#state")).startswith("no answer; this is what it was")
    assert not (faults := browser.faults()), faults


def the_keyboard_is_enough(browser):
    staged = Staged("stalled")
    browser.open(staged.url + "#actor=look+up")
    # the address says which actor is selected
    browser.until(f"{text('#why-one')}.startsWith('look up waits for room in database')")
    # the skip link, that to a trace, the button, the graph, the selected one's links, the
    # heads, a row
    seen = []
    for _ in range(20):
        browser.press("tab")
        seen.append(browser.get("(e => e.className === 'skip' ? 'skip' : e.id || e.tagName)"
                                "(document.activeElement)"))
        if seen[-1] == "TR":
            break
    assert seen[:3] == ["skip", "trace", "pause"] and "svg" in seen and "filter" in seen, seen
    assert browser.get("document.activeElement.dataset.name") == "look up"
    browser.press("end")
    last = browser.get(f"{ROWS}.at(-1).dataset.name")
    assert browser.get("document.activeElement.dataset.name") == last
    browser.press("up", "up", "down", "enter")
    name = browser.get(f"{ROWS}.at(-2).dataset.name")
    assert browser.get(text("#one-title")) == name
    # the focus stays where it is while the page goes on
    number = browser.get("page.number")
    browser.until(f"page.number !== {json.dumps(number)}")
    assert browser.get("document.activeElement.dataset.name") == name
    browser.press("escape")
    assert browser.get(text("#one-title")) == "Nothing is selected"
    # in the graph, arrows go along the links
    browser.get("document.querySelector('#canvas svg').focus()")
    browser.press("right")
    first = browser.get(text("#one-title"))
    browser.press("right")
    assert browser.get(text("#one-title")) != first
    assert "is selected" in browser.get(text("#said"))
    staged.end()


def the_table_sorts_filters_and_stops(browser):
    staged = Staged("stalled")
    browser.open(staged.url)
    browser.until(f"{ROWS}.length", 10)
    browser.click("[data-sort=name]")
    names = browser.get(f"{ROWS}.map(row => row.dataset.name)")
    assert names == sorted(names)
    browser.click("[data-sort=name]")
    assert browser.get(f"{ROWS}.map(row => row.dataset.name)") == names[::-1]
    assert browser.get("document.querySelector('th[aria-sort]').ariaSort") == "descending"
    browser.get("(f => { f.value = 'SENSOR'; f.dispatchEvent(new Event('input')); })"
                "(document.getElementById('filter'))")
    assert browser.get(f"{ROWS}.length") == 2
    browser.click("#pause")
    number = browser.get("page.number")
    staged.say("end")
    browser.call("POST", "/execute/async",
                 {"script": "setTimeout(arguments[0], 400)", "args": []})
    assert browser.get("page.number") == number
    assert browser.get(text("#state")) == "paused"
    browser.click("#pause")
    browser.until("!document.getElementById('empty').hidden")
    staged.end()


def names_are_text(browser):
    staged = Staged("hostile")
    browser.open(staged.url)
    browser.until(f"{ROWS}.length", 10)
    for i in range(10):
        browser.get(f"{ROWS}[{i}].click()")
        browser.until(f"{text('#why-one')} !== '...'")
    assert browser.get("document.title") == "weir: a look inside"
    assert browser.get("document.querySelectorAll('img, svg[onload]').length") == 0
    assert browser.get("document.scripts.length") == 1
    assert browser.get(f"{ROWS}.some(row => row.dataset.name.includes("
                       "\"<img src=x onerror=document.title='owned'>\"))")
    assert not (faults := browser.faults()), faults
    # a page that another site has sent gets nothing, not even an error to read
    browser.open("data:text/html,<p>another site")
    got = browser.call("POST", "/execute/async", {"args": [], "script":
                       f"fetch('{staged.url}why').then(() => arguments[0]('read'),"
                       " () => arguments[0]('refused'))"})
    assert got == "refused"
    browser.faults()
    staged.end()


def contrast(browser):
    """Of all text that is seen, the least contrast to what is behind it (WCAG 2.1)."""
    return browser.get("""(() => {
        const light = (c) => { const [r, g, b] = c.map((x) => (x /= 255) <= 0.03928
            ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const parse = (s) => s.match(/[\\d.]+/g).map(Number);
        const behind = (e) => {
            const box = e.closest('.node')?.querySelector('.box');
            if (box) return parse(getComputedStyle(box).fill);
            for (; e; e = e.parentElement) {
                const c = parse(getComputedStyle(e).backgroundColor);
                if (c.length < 4 || c[3] > 0) return c;
            }
            return [255, 255, 255];
        };
        let least = [99];
        for (const e of document.querySelectorAll('body *')) {
            if (!e.getClientRects().length ||
                ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
            const style = getComputedStyle(e);
            const fore = parse(e instanceof SVGElement ? style.fill : style.color);
            const [a, b] = [light(fore.slice(0, 3)), light(behind(e).slice(0, 3))];
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 100)];
        }
        return least;
    })()""")


def it_is_readable_dark_light_and_narrow(browser):
    staged = Staged("stalled")
    browser.open(staged.url + "#actor=parse")
    browser.until(f"{text('#why-one')}.startsWith('parse waits')")
    for scheme, background in [("dark", "rgb(20, 23, 28)"), ("light", "rgb(255, 255, 255)")]:
        browser.cdp("Emulation.setEmulatedMedia",
                    features=[{"name": "prefers-color-scheme", "value": scheme},
                              {"name": "prefers-reduced-motion", "value": "reduce"}])
        browser.until("getComputedStyle(document.body).backgroundColor", background)
        least = contrast(browser)
        assert least[0] >= 4.5, (scheme, least)
    browser.cdp("Emulation.setDeviceMetricsOverride", width=360, height=700,
                deviceScaleFactor=1, mobile=False)
    # nothing sticks out, and the graph goes down
    browser.until("innerWidth === 360 && document.documentElement.scrollWidth <= 360")
    browser.until("page.drawn.down")
    browser.cdp("Emulation.clearDeviceMetricsOverride")
    staged.end()


def hundreds_of_actors_are_drawn_at_once(browser):
    staged = Staged("many")
    browser.open(staged.url)
    browser.until(f"{ROWS}.length", 312)
    assert browser.get("document.querySelectorAll('svg .node').length") == 312
    # no two boxes lie upon each other
    assert browser.get("""(() => {
        const spots = page.drawn.spots;
        return spots.every((a, i) => spots.every((b, j) => i >= j ||
            Math.abs(a.x - b.x) >= WIDTH || Math.abs(a.y - b.y) >= HEIGHT));
    })()""")
    # one look is shown in much less than the second to the next
    assert browser.get("(t => { page.drawn = {}; show(page.look);"
                       " return performance.now() - t; })(performance.now())") < 900
    staged.end()


def main():
    if not shutil.which("chromedriver"):
        skip("chromedriver is not installed")
    try:
        socket.create_server(("127.0.0.1", 0)).close()
    except OSError as error:
        skip(f"there is no loopback device: {error}")
    browser = Browser()
    for test in (a_user_finds_the_culprit, the_keyboard_is_enough,
                 the_table_sorts_filters_and_stops, names_are_text,
                 it_is_readable_dark_light_and_narrow,
                 hundreds_of_actors_are_drawn_at_once):
        start = time.monotonic()
        test(browser)
        print(f"{test.__name__}: {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
