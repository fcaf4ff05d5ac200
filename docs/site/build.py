"""Collect the pages of the site by section, and build it with Sphinx.

    python docs/site/build.py build/site

The build needs no network. Warnings are errors, for example broken links.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import reference

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
_CODE = re.compile(r"(```.*?```|`[^`]*`)", flags=re.DOTALL)
_TABLE = re.compile(r"^\|.*\|$(\n\|.*\|$)+", flags=re.MULTILINE)
_MOST_WORDS = 4
"""Words of a name in the index; longer ones are sentences."""


@dataclass(frozen=True)
class Section:
    """Section of the site.

    Attributes
    ----------
    folder, title, words : str
    pages : tuple of str
        Relative to the root of the repository, in their order.
    groups : dict of str to tuple of str
        Titles of groups of pages within the section. Pages outside a group are listed last.
    """

    folder: str
    title: str
    words: str
    pages: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]

    def place(self, page: str) -> str:
        """Return the path of a page on the site."""
        name = Path(page).name
        name = f"{Path(page).parent.name}.md" if name == "README.md" else name.lower()
        return f"{self.folder}/{name}"


def sections() -> list[Section]:
    """Return all sections, with the pages in the folders of their names."""
    found = []
    for given in tomllib.loads((SITE / "pages.toml").read_text())["section"]:
        groups = {one["title"]: tuple(one["pages"]) for one in given.pop("group", [])}
        listed = [*given["pages"], *(page for pages in groups.values() for page in pages)]
        inside = (ROOT / "docs" / given["folder"]).glob("*.md")
        own = sorted({str(path.relative_to(ROOT)) for path in inside} - {*listed})
        if listed or own:
            found.append(Section(**{**given, "pages": (*listed, *own), "groups": groups}))
    return found


def places(parts: Sequence[Section]) -> dict[str, str]:
    """Return the path of each page on the site."""
    return {page: part.place(page) for part in parts for page in part.pages}


def outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield parts of a page, with True for text and False for code."""
    for at, partition in enumerate(_CODE.split(text)):
        yield partition, at % 2 == 0


def moved(text: str, page: str, known: Mapping[str, str]) -> str:
    """Return a page with links to paths on the site; files that are not on the site are named without a link.

    Parameters
    ----------
    text : str
    page : str
        Relative to the root of the repository.
    known : mapping of str to str
        Places of all pages.
    """

    def changed(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        if target.startswith(("http:", "https:", "#", "mailto:")):
            return match[0]
        name, hash_, part = target.partition("#")
        here, there = Path(known[page]).parent, os.path.normpath(Path(page).parent / name)
        if there in known:
            return f"{words}({os.path.relpath(known[there], here)}{hash_}{part})"
        if (ROOT / there).suffix in {".svg", ".png"}:
            return f"{words}({os.path.relpath(f'images/{Path(there).name}', here)})"
        if there == "README.md":
            return f"{words}({os.path.relpath('index.md', here)})"
        if there in {f"docs/{Path(place).parent.name}" for place in known.values()}:
            return f"{words}({os.path.relpath(f'{Path(there).name}/index.md', here)})"
        return f"{words.strip('[]')} (`{there}`)"

    partitions = [_LINK.sub(changed, partition) if is_text else partition for partition, is_text in outside_code(text)]
    return "".join(partitions)


def with_terms(text: str, terms: Iterable[str]) -> str:
    """Return a page whose first line the search lists first for each of the terms, and the index names."""
    entries = ", ".join(f"! {term}" for term in terms)
    return f"```{{index}} {entries}\n```\n\n{text}"


def with_names(glossary: str) -> str:
    """Return the glossary; the search finds each of its tables by the terms and by their names elsewhere."""
    return _TABLE.sub(lambda table: with_terms(table[0], names_in(table[0])), glossary)


def names_in(table: str) -> list[str]:
    """Return the terms of a table of the glossary, and the names that others use, without duplicates."""
    rows = [row.strip("|").split("|") for row in table.splitlines()[2:]]
    names = [name.strip(" `") for row in rows for name in re.split(r"[,;:()]| and ", f"{row[0]},{row[-1]}")]
    return [name for name in dict.fromkeys(names) if 0 < len(name.split()) <= _MOST_WORDS]


def index_of(part: Section, pages: Sequence[str], written: str = "") -> str:
    """Return the first page of a section: its text, or its title, and the list of its pages."""
    text = written or f"# {part.title}\n\n{part.words}\n"
    groups = {title: [part.place(page) for page in group] for title, group in part.groups.items()}
    grouped = {page for group in groups.values() for page in group}
    rest = [page for page in pages if page not in grouped]
    lists = [_list_of(group, f":caption: {title}\n") for title, group in groups.items()]
    return "\n".join([text, *lists, *([_list_of(rest)] if rest else [])])


def _list_of(pages: Sequence[str], caption: str = "") -> str:
    """Return the table of contents of some pages of a section."""
    names = "\n".join(Path(page).stem for page in pages if Path(page).name != "index.md")
    return f"```{{toctree}}\n:maxdepth: 1\n{caption}\n{names}\n```\n"


def with_pictures(text: str, folder: Path) -> str:
    """Return a page with each named picture of a folder below the paragraph that names it first."""
    parts, shown = [], set[str]()
    for part in text.split("\n\n"):
        named = [] if part.startswith("|") else re.findall(r"`([\w-]+)`", part)
        known = [name for name in dict.fromkeys(named) if (folder / f"{name}.svg").exists()]
        new = [name for name in known if name not in shown and f"{name}.svg" not in text]
        shown.update(new)
        parts += [part, *(f"![{name}]({name}.svg)" for name in new)]
    return "\n\n".join(parts)


def home(parts: Sequence[Section]) -> str:
    """Return the home page of the site."""
    page = "docs/site/home.md"
    found = moved((SITE / "home.md").read_text(), page, {**places(parts), page: "index.md"})
    rows = "\n".join(f"- **[{part.title}]({part.folder}/index.md)**: {part.words}" for part in parts)
    rows += "\n- **[Gallery](gallery/index.md)**: Every plot with its code."
    names = "\n".join([*(f"{part.folder}/index" for part in parts), "gallery/index"])
    return f"{found}\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def put_together(source: Path, *, quick: bool = False) -> None:
    """Write the sources of all pages into a new folder for Sphinx."""
    parts = sections()
    known = places(parts)
    terms = tomllib.loads((SITE / "pages.toml").read_text())["terms"]
    for page, place in known.items():
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        text = moved((ROOT / page).read_text(), page, known)
        text = with_names(text) if page == "docs/glossary.md" else text
        (source / place).write_text(with_terms(text, terms[page]) if page in terms else text)
    shutil.copytree(ROOT / "docs" / "images", source / "images")
    draw(source, quick=quick)
    for page in (source / "papers").glob("*.md"):
        page.write_text(with_pictures(page.read_text(), page.parent))
    for part in parts:
        made = reference.write(source / part.folder, quick=quick) if part.folder == "reference" else []
        own = [part.place(page) for page in part.pages]
        first = source / part.folder / "index.md"
        first.write_text(index_of(part, [*own, *made], first.read_text() if first.exists() else ""))
    (source / "index.md").write_text(home(parts))
    shutil.copy(SITE / "conf.py", source)
    shutil.copy(SITE / "ranks.js", source)
    shutil.copytree(SITE / "static", source / "static")


def draw(source: Path, *, quick: bool) -> None:
    """Draw the gallery and the figures of the papers."""
    if quick:
        (source / "gallery").mkdir()
        (source / "gallery" / "index.md").write_text("# Gallery\n")
        return
    for script, folder in {"scripts/gallery": "gallery", "examples/papers/all.py": "papers"}.items():
        command = [sys.executable, str(ROOT / script), str(source / folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only check links, without docstrings and pictures")
    parser.add_argument("output", type=Path, nargs="?", default=ROOT / "build" / "site")
    options = parser.parse_args(arguments)
    source = options.output.with_name(f"{options.output.name}-source")
    for folder in (source, options.output):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    put_together(source, quick=options.quick)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        str(source),
        str(options.output),
    ]
    subprocess.run(command, check=True)  # noqa: S603
    shutil.rmtree(options.output / ".doctrees", ignore_errors=True)
    print(f"wrote {options.output / 'index.html'}")


if __name__ == "__main__":
    main()
