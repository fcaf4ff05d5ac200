"""``deciban statement``: a likelihood ratio in numbers and words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deciban import tables
from deciban.cli.shared.options import OutputOptions, SectionedCommand, options, print_json, require_own_stream


@click.command("statement", cls=SectionedCommand)
@options("statement", "tables", "json")
def statement_command(*, llr: float, output: Path | None, shown: OutputOptions, **given: Any) -> None:
    """State a likelihood ratio in numbers and in words.

    The sentence names both propositions of the case. There is no default verbal scale: enfsi2015, afsp2009, or your own
    file. With --model, the statement contains the bounds of the llr and the data behind the calibration.

    \b
    deciban statement --llr 5.8 --propositions 'same speaker' 'different speakers' --scale enfsi2015
    deciban statement --llr 6 --model model.json --propositions 'same speaker' 'different speakers'
    deciban statement --llr 6 --propositions 'same source' 'different sources' --case case.toml -o case.html
    """
    from deciban.workflows.statements import statement

    require_own_stream(output, as_json=shown.as_json)
    found, scale = statement(llr, **given), given["scale"]
    files = {"model": [given["model"]], "scale": [scale if scale is not None and scale.endswith(".toml") else None]}
    files["case"] = [given["case"]]
    if output is not None:
        from deciban.io.source import described
        from deciban.io.writing import plainly_opened, refuse_overwriting, target_name
        from deciban.report.page import statement_page

        refuse_overwriting([output], [one for several in files.values() for one in several])
        text = statement_page(found.rows, described(files))
        with plainly_opened(output) as stream:
            stream.write(text.encode())
        click.echo(f"wrote {target_name(output)}", err=True)
    if shown.as_json:
        print_json(found.to_dict(), files=files)
        return
    if str(output) == "-":  # the page is the output
        return
    out = tables.console(shown.table_style)
    out.print(tables.Table(("property", "value"), tuple(found.rows), prose=(1,), has_headings=False))
