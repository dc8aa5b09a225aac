"""Every link of the site that stays in it leads to a page, and to a place on it that exists. usage: check_links.py SITE"""
import html.parser
import os
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value is None:
                continue
            if name in ("id", "name"):
                self.places.add(value)
            elif (tag, name) in (("a", "href"), ("link", "href"), ("img", "src"), ("script", "src")):
                self.links.append(value)


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    files = {str(file) for file in site.rglob("*") if file.is_file()}
    pages = {name: Page(pathlib.Path(name).read_text(errors="replace")) for name in sorted(files) if name.endswith(".html")}
    dead, checked = [], 0
    for name, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # another site
            path = urllib.parse.unquote(parts.path)
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            target = target if target in files else os.path.join(target, "index.html")
            place = urllib.parse.unquote(parts.fragment)
            checked += 1
            where = f"{os.path.relpath(name, site)}: {link}"
            if target not in files:
                dead.append(f"{where}: there is no such file")
            elif place and target in pages and place not in pages[target].places and place != "nested-classes":
                # doxygen heads a list of classes that are all private by that name, and leaves the list out
                dead.append(f"{where}: there is no such place on the page")
    print("\n".join(sorted(set(dead))[:40]))
    print(f"{len(pages)} pages, {checked} links, {len(dead)} dead")
    return 1 if dead or checked < 100 else 0


sys.exit(main())
