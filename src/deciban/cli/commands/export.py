"""``deciban export``: a trained model outside of deciban."""

from __future__ import annotations

import click

from deciban.cli.shared.options import SectionedCommand, options, print_json, require_own_stream
from deciban.cli.shared.parsing import files


@click.command("export", cls=SectionedCommand)
@click.argument("model", metavar="MODEL", shell_complete=files)
@options("export", "json")
def export_command(model: str, *, target: str, output: str, as_json: bool) -> None:
    """Write a trained model for use outside of deciban.

    python: a module with one function of about ten lines, which needs only the standard library. json: a table of
    steps, each with its numbers. onnx: a model for ONNX runtimes, in double precision (needs the package onnx).

    \b
    deciban export model.json --to python -o calibrate.py
    deciban export fusion.json --to onnx -o fusion.onnx
    """
    from deciban.io.source import require_one_stream
    from deciban.io.writing import plainly_opened, refuse_overwriting, target_name
    from deciban.models import load_model
    from deciban.models.exporting import exported

    require_own_stream(output, as_json=as_json)
    require_one_stream([model])
    refuse_overwriting([output], [model])
    found = exported(load_model(model))
    content = found.to_onnx() if target == "onnx" else getattr(found, f"to_{target}")().encode()
    with plainly_opened(output) as stream:
        stream.write(content)
    if as_json:
        about = {
            "to": target,
            "model": {"kind": found.kind},
            "inputs": list(found.inputs),
            "classes": list(found.classes),
        }
        print_json(about, files={"model": [model], "output": [output]})
    else:
        click.echo(f"wrote {target_name(output)}", err=output == "-")
