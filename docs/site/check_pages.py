"""Links between the Markdown pages of the project lead to files, and to headings that exist; the site has each page of docs/ in
its list, and no page of it links to what the site has not. Quick: nothing is built.
usage: check_pages.py ROOT"""
import fnmatch
import pathlib
import re
import sys
import urllib.parse


def anchors(text):
    """As GitHub and the site make them of headings: lower case, blanks to dashes, most signs dropped, -1 for the second."""
    found, fenced = set(), False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = None if fenced else re.match(r"#{1,6} +(.*)", line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
            number = sum(1 for other in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", other))
            found.add(f"{slug}-{number}" if slug in found else slug)
    return found


def links(text):
    prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


ON_THE_SITE = {"traces/README.md"}  # beside docs/: tools/docs-site takes it along


def not_on_the_site(root, page, target):
    return page.is_relative_to(root / "docs") and not target.is_relative_to(root / "docs") and str(target.relative_to(root)) not in ON_THE_SITE


def pages_of_the_site(root):
    """Every page below docs/ but the decisions, which have a list of their own, and the parts of the site itself."""
    docs = root / "docs"
    return [page for page in sorted(docs.rglob("*.md")) if page.relative_to(docs).parts[0] not in ("decisions", "site")]


def unlisted(root):
    listed = set((root / "docs" / "site" / "index.md").read_text().split("\n"))
    names = [str(page.relative_to(root / "docs").with_suffix("")) for page in pages_of_the_site(root)]
    return [f"docs/site/index.md: {name} is in no toctree" for name in names
            if not any(fnmatch.fnmatch(name, pattern) for pattern in listed if pattern)]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = sorted([*root.glob("*.md"), *pages_of_the_site(root), *root.glob("docs/decisions/*.md")])
    texts = {page: page.read_text() for page in pages}
    known = {page: anchors(text) for page, text in texts.items()}
    dead, checked = unlisted(root), 0
    for page, text in texts.items():
        for link in links(text):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme:
                continue  # another site
            target = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
            checked += 1
            if not target.exists():
                dead.append(f"{page.relative_to(root)}: {link}: there is no such file")
            elif not_on_the_site(root, page, target):
                dead.append(f"{page.relative_to(root)}: {link}: the site of docs/ does not have it")
            elif parts.fragment and target in known and parts.fragment not in known[target]:
                dead.append(f"{page.relative_to(root)}: {link}: there is no such heading")
    print("\n".join(dead))
    print(f"{len(pages)} pages, {checked} links, {len(dead)} dead")
    return 1 if dead or checked < 50 else 0


sys.exit(main())
