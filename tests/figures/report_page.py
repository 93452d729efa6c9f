#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run's page as its reader has it, in headless Chromium: size, contrast, a phone's width, keyboard, names of pictures.

  report_page.py CUDAL1 [--variants 40] [--page FILE] [--screenshots FOLDER]

Without --page it makes a run of that many variants on the simulator, with a program as the model. Everything that can be opened is opened.
Both colour schemes are looked at, 390 and 1280 pixels wide. Exits with 1 where something falls short.
"""
import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODEL = """\
#!{python}
import hashlib, sys
number = int(hashlib.sha256(sys.stdin.read().encode()).hexdigest()[:8], 16)
text = {reply!r}.replace("256", str(32 * (1 + number % 16)))
text = text.replace("1.0f", "2.0f") if number % 7 == 0 else text
sys.stdout.write("I cannot." if number % 11 == 0 else text.replace("n) {{", "n) {{ const int unique = %d;" % (number % 100000)))
"""
# Every text that can be seen, with the colour behind it.
CONTRAST = """(() => {
  const parse = text => { const found = text.match(/[\\d.]+/g).map(Number); return found.length < 4 ? [...found, 1] : found; };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat([1]);
  const light = c => { const v = c.slice(0, 3).map(x => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const canvas = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const behind = element => { const all = []; for (let e = element; e; e = e.parentElement) all.push(parse(getComputedStyle(e).backgroundColor)); return all.reverse().reduce((below, top) => over(top, below), canvas); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), low = [];
  let texts = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || ['STYLE', 'SCRIPT', 'TITLE', 'title', 'desc'].includes(element.tagName) || !element.getClientRects().length) continue;
    const style = getComputedStyle(element), drawn = element instanceof SVGElement, back = behind(element);
    const ink = parse(drawn ? style.fill : style.color);
    ink[3] *= drawn ? Number(style.fillOpacity) * Number(style.opacity) : Number(style.opacity);
    const a = light(over(ink, back)), b = light(back), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    ++texts;
    if (ratio < (large ? 3 : 4.5)) low.push([Math.round(100 * ratio) / 100, element.tagName + '.' + (element.getAttribute('class') || ''), node.data.trim().slice(0, 40)]);
  }
  return {texts, low};
})()"""
WIDTH = """(() => ({page: document.documentElement.scrollWidth, window: innerWidth,
  wide: [...document.querySelectorAll('body *')].filter(e => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, pre, svg'))
    .map(e => e.tagName + '.' + e.className + ' ' + Math.round(e.getBoundingClientRect().right)).slice(0, 5)}))()"""
REACHABLE = """(() => { const all = [...document.querySelectorAll('a[href], summary, button, input, select')].filter(e => e.checkVisibility());
  all.forEach((e, i) => e.dataset.order = i); return all.length; })()"""
FOCUS = """(() => { const e = document.activeElement, s = getComputedStyle(e);
  return {order: e.dataset.order === undefined ? null : Number(e.dataset.order), tag: e.tagName + '.' + e.className, outline: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1}; })()"""
REGIONS = """[...document.querySelectorAll('.scroll, pre')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0).length"""
PICTURES = """[...document.querySelectorAll('svg')].filter(e => !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby') && !e.querySelector(':scope > title') && e.getAttribute('aria-hidden') !== 'true').length"""
CELLS = """[...document.querySelectorAll('td, th, p, li, summary, text')].map(e => e.textContent).filter(t => /\\bnan\\b|\\binf\\b|undefined|NaN|\\{\\{/.test(t)).slice(0, 5)"""
HEADINGS = """(() => { let last = 0, bad = []; for (const h of document.querySelectorAll('h1, h2, h3, h4')) { const level = Number(h.tagName[1]); if (level > last + 1) bad.push(h.textContent); last = level; } return bad; })()"""


class Chromium:
    """Spoken to through two pipes, so that no package is needed."""

    def __init__(self, program, folder):
        to_it, from_us = os.pipe()
        from_it, to_us = os.pipe()
        high_in, high_out = os.dup2(to_it, 60), os.dup2(to_us, 61)   # out of the way of 3 and 4, where it looks for them

        def child():
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        os.set_inheritable(high_in, True)
        os.set_inheritable(high_out, True)
        self.process = subprocess.Popen([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"],
                                        preexec_fn=child, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for descriptor in (to_it, to_us, high_in, high_out):
            os.close(descriptor)
        self.out, self.into, self.number = os.fdopen(from_it, "rb"), os.fdopen(from_us, "wb"), 0
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.ask("Page.enable")

    session = None

    def message(self):
        text = bytearray()
        while (byte := self.out.read(1)) not in (b"\0", b""):
            text += byte
        if not text:
            raise RuntimeError("Chromium has ended")
        return json.loads(bytes(text))

    def ask(self, method, **parameters):
        self.number += 1
        words = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": self.session} if self.session else {})
        self.into.write(json.dumps(words).encode() + b"\0")
        self.into.flush()
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def show(self, page, width, scheme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=page.as_uri())
        self.value("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))")
        self.value("document.location.href")

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            more = {"text": "\r"} if name == "Enter" and kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **more)

    def end(self):
        self.process.terminate()
        self.process.wait()


def made(program, variants, folder):
    """The page of a run of so many variants."""
    sys.path.insert(0, str(HERE.parent / "cli"))
    from fixture import FASTER, TASK, reply
    (folder / "task.cu").write_text(TASK)
    model = folder / "model.py"
    model.write_text(MODEL.format(python=sys.executable, reply=reply(FASTER)))
    model.chmod(0o755)
    rounds = -(-variants // 8)
    subprocess.run([program, "optimize", "task.cu", "--device", "sim", "--model", f"cmd:{model}", "--rounds", str(rounds + 1), "--samples", "8", "--out", "run", "-q"],
                   cwd=folder, stdout=subprocess.DEVNULL)
    return folder / "run" / "report.html"


def looked_at(chromium, page, screenshots):
    short = []

    def want(good, what):
        print(f"{'ok   ' if good else 'SHORT'} {what}", flush=True)
        if not good:
            short.append(what)

    text = page.read_text()
    shown = text.count("<details><summary><b>") - 1
    want(len(text.encode()) <= 300_000 * max(1, shown / 40), f"{len(text.encode()) / 1000:.0f} KB with {shown} variants (300 KB for 40)")
    want("http" not in text.replace("http://www.w3.org", ""), "nothing is loaded from elsewhere")
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            chromium.show(page, width, scheme)
            chromium.value("document.querySelectorAll('details').forEach(d => d.open = true)")
            found = chromium.value(CONTRAST)
            want(not found["low"], f"{width} px, {scheme}: {found['texts']} texts, contrast too low in {len(found['low'])} {sorted(found['low'])[:4] or ''}")
            wide = chromium.value(WIDTH)
            want(wide["page"] <= width and not wide["wide"], f"{width} px, {scheme}: the page is {wide['page']} px wide {wide['wide'] or ''}")
            if screenshots:
                screenshots.mkdir(parents=True, exist_ok=True)
                height = min(chromium.value("document.documentElement.scrollHeight"), 6000)
                picture = chromium.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
                (screenshots / f"{width}_{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
    chromium.show(page, 390, "light")
    want(chromium.value(REGIONS) == 0, "what scrolls sideways can be focused")
    count, order, bare = chromium.value(REACHABLE), [], set()
    for _ in range(4 * count + 100):
        chromium.key("Tab", 9)
        at = chromium.value(FOCUS)
        if at["tag"] == "BODY." and order:
            break
        if not at["outline"]:
            bare.add(at["tag"])
        if at["order"] is not None:
            if order and at["order"] == order[0]:
                break
            order.append(at["order"])
    want(order == list(range(count)), f"the tabulator reaches {len(order)} of {count} links and entries, in their order")
    want(not bare, f"what has the focus is outlined {sorted(bare) or ''}")
    chromium.value("document.querySelector('summary').focus()")
    before = chromium.value("document.querySelector('summary').parentElement.open")
    chromium.key("Enter", 13)
    want(chromium.value("document.querySelector('summary').parentElement.open") != before, "Enter opens an entry")
    chromium.value("document.querySelectorAll('details').forEach(d => d.open = false)")
    linked = chromium.value("(() => { const a = [...document.querySelectorAll('a[href^=\"#r\"]')].find(e => e.checkVisibility()); a.focus(); return a.getAttribute('href').slice(1); })()")
    chromium.key("Enter", 13)
    want(chromium.value(f"new Promise(done => setTimeout(() => done(document.getElementById({linked!r}).closest('details').open), 300))"), f"Enter on a link opens its entry ({linked})")
    want(chromium.value(PICTURES) == 0, "every picture has a name")
    want(not (cells := chromium.value(CELLS)), f"no cell is broken {cells or ''}")
    want(not (skipped := chromium.value(HEADINGS)), f"no level of headings is left out {skipped or ''}")
    want(bool(chromium.value("document.documentElement.lang && document.title")), "the page has a language and a title")
    return short


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--variants", type=int, default=40)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    given = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        sys.exit("there is no Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="cudal1-page-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        page = given.page.resolve() if given.page else made(str(pathlib.Path(given.program).resolve()), given.variants, folder)
        chromium = Chromium(browser, folder / "profile")
        try:
            short = looked_at(chromium, page, given.screenshots)
        finally:
            chromium.end()
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
