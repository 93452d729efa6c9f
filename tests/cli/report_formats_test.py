# SPDX-License-Identifier: Apache-2.0
"""Reports for other programs: a table of variants, a trace, and the page with every variant's source."""
import csv
import html.parser
import io
import json
import unittest

from fixture import FASTER, TASK, WRONG, CliTest, reply


class Page(html.parser.HTMLParser):
    """Ids of variants, and links to them."""

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "div" and "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given["href"].removeprefix("#"))
        if tag not in ("meta", "line", "circle", "polyline", "path", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass


class ReportFormats(CliTest):
    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        for name, code in (("r01-s01", FASTER), ("r01-s02", WRONG), ("r02-s01", FASTER.replace("256", "128")), ("r02-s02", FASTER)):
            self.write(f"replies/{name}.md", reply(code))
        self.run_cli("optimize", "task.cu", "--device", "sim", "--model", "replay:replies", "--rounds", "2", "--samples", "2", "--no-repair", "--out", "run")

    def report(self, form):
        return self.run_cli("report", "run", "--format", form).out

    def test_csv_has_a_row_for_each_variant(self):
        rows = {row["id"]: row for row in csv.DictReader(io.StringIO(self.report("csv")))}
        self.assertEqual(list(rows), ["r01-s01", "r01-s02", "r02-s01", "r02-s02"])
        self.assertEqual((rows["r01-s01"]["verdict"], rows["r01-s02"]["verdict"]), ("PREDICTED_FASTER", "WRONG_RESULT"))
        self.assertGreater(float(rows["r01-s01"]["low"]), 1)
        self.assertEqual((rows["r01-s02"]["speedup"], rows["r02-s02"]["status"], rows["r02-s02"]["same_as"]), ("", "duplicate", "r01-s01"))
        self.assertIn("C[", rows["r01-s02"]["message"])

    def test_trace_has_slices_that_lie_in_each_other(self):
        trace = json.loads(self.report("trace"))
        slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        rows = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event.get("name") == "thread_name"}
        self.assertIn("judge", rows.values())
        self.assertTrue(any(name.startswith("model replay") for name in rows.values()), rows)
        judged = {event["name"]: event for event in slices if rows[event["tid"]] == "judge"}
        self.assertLessEqual({"r01-s01", "r01-s02", "r02-s01", "compile", "check"}, set(judged))
        self.assertTrue({"r01-s01 final", "r02-s01 final"} & set(judged))
        for event in slices:
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event["dur"], 0)
        self.assertGreater(judged["r01-s01"]["dur"], 0)
        moments = [event["name"] for event in trace["traceEvents"] if event["ph"] == "i"]
        self.assertEqual([name[:12] for name in moments if name.startswith("round")], ["round 1 done", "round 2 done"])

    def test_the_page_opens_every_variant(self):
        text = (self.work / "run" / "report.html").read_text()
        page = Page()
        page.feed(text)
        self.assertEqual(page.ids, ["reference", "r01-s01", "r01-s02", "r02-s01", "r02-s02"])
        self.assertLessEqual(set(page.links), set(page.ids))
        self.assertIn("r01-s01", page.links)   # shown to round 2
        self.assertIn("if (i &lt; n) C[i] = A[i] + 2.0f;", text)
        self.assertRegex(text, r'<span class="hot">[^\n]*<em>\d+ % of the ')
        self.assertNotIn("http", text.replace("http://www.w3.org", ""))   # nothing from elsewhere
        self.assertLess(len(text), 300_000)


if __name__ == "__main__":
    unittest.main()
