"""Writes reference/cpp.md of doxygen's tag file: a heading for each header, what its first comment says, and a line for
each class and function, with links to doxygen's pages. With it the search of the site finds the names of the library.
usage: cpp_pages.py TAGFILE INCLUDE > cpp.md"""
import html
import pathlib
import sys
import xml.etree.ElementTree as xml

KINDS = {"class", "struct", "enum", "enumeration", "function", "typedef", "variable"}


def text(node, name):
    found = node.find(name)
    return "" if found is None or found.text is None else found.text


def link(name, page):
    return f"<a href=\"cpp/{page}\"><code>{name.replace('&', '&amp;').replace('<', '&lt;')}</code></a>"


def page_of(node, name="filename"):
    page = text(node, name)
    return page if page.endswith(".html") else page + ".html"


def headers(root):
    """Header -> lines. A class stands with the header that doxygen names for it, members of a namespace with theirs."""
    found = {}
    for compound in root.findall("compound"):
        if compound.get("kind") == "file" and text(compound, "name").endswith(".hpp"):
            path = text(compound, "path").rstrip("/").split("include/")[-1]
            found[path + "/" + text(compound, "name")] = compound
    return found


def purpose(file):
    """The comment that the header begins with, as one paragraph."""
    lines = []
    for line in file.read_text().splitlines():
        if not line.startswith("// "):
            break
        lines.append(line[3:])
    return html.escape(" ".join(lines), quote=False)


def main():
    root = xml.parse(sys.argv[1]).getroot()
    classes = {text(c, "name"): c for c in root.findall("compound") if c.get("kind") in ("class", "struct")}
    print("# C++ reference\n\nMade of the headers in `include/`. "
          "<a href=\"cpp/index.html\">All pages</a>, with a search of their own.\n")
    for header, compound in sorted(headers(root).items()):
        print(f"## {header}\n\n{purpose(pathlib.Path(sys.argv[2]) / header)}\n")
        for node in compound.findall("class"):
            known = classes.get(node.text)
            if known is None:
                continue
            members = [f"{link(text(m, 'name'), text(m, 'anchorfile') + '#' + text(m, 'anchor'))}"
                       for m in known.findall("member") if not text(m, "name").startswith(("~", "operator"))]
            print(f"- {link(node.text, page_of(known))}" + (": " + ", ".join(members) if members else ""))
        for member in compound.findall("member"):
            if member.get("kind") in KINDS and not text(member, "name").startswith("operator"):
                print(f"- {link(text(member, 'name'), text(member, 'anchorfile') + '#' + text(member, 'anchor'))}")
        print()


main()
