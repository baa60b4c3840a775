"""The documents: every link inside the repository leads to something, and every page is reached from the README or CONTRIBUTING."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [p for folder in (".", "docs", "examples", "benchmarks", "fuzz", "web") for p in sorted((ROOT / folder).glob("*.md"))]


def links(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http:", "https:", "mailto:", "#")):
            yield target.split("#")[0]


class Documents(unittest.TestCase):
    def test_links_lead_to_something(self):
        broken = [f"{page.relative_to(ROOT)}: {target}" for page in PAGES for target in links(page) if not (page.parent / target).exists()]
        self.assertEqual(broken, [])

    def test_pages_are_reached(self):
        reached, unread = set(), [ROOT / "README.md"]
        while unread:
            page = unread.pop().resolve()
            if page in reached or not page.exists():
                continue
            reached.add(page)
            unread += [page.parent / target for target in links(page) if target.endswith(".md")]
        lost = [str(page.relative_to(ROOT)) for page in PAGES if page.resolve() not in reached and page.name != "CHANGELOG.md"]
        self.assertEqual(lost, [])


if __name__ == "__main__":
    unittest.main()
