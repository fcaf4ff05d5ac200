"""``deciban eval``."""

from __future__ import annotations

import click

from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options
from deciban.cli.shared.speech import tell, working


@click.command("eval", cls=SectionedCommand)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...")
@joining_options()
@options("json")
def eval_command(scores: tuple[str, ...], *, key: str | None, asked: Asked, quiet: bool, as_json: bool) -> None:
    """Evaluate score files, one per system, on the trials of a key.

    Prints the equal error rate on the ROC convex hull, normalized detection costs, Cllr and what calibration loses.

    Many classes, such as languages: a score file has a column for each class, and the key says of which one each
    segment is. Scores are natural-log likelihoods, up to a constant for each segment, or log posteriors with
    --posterior-prior. Prints Cllr and what calibration loses, C_avg, error rates, and figures of each class.

    \b
    deciban eval sysA.txt sysB.txt --key key.txt
    deciban eval sysA.txt --key key.txt --dcf 0.01:10:1 --dcf 0.001 --json
    deciban eval languages.tsv --key languages.key --preset lre17
    deciban eval logits.npy --key labels.npy --classes cat,dog,eel --prior 0.5,0.3,0.2
    """
    from deciban.workflows.evaluate import evaluate_joined
    from deciban.workflows.inputs import read_joined

    files = asked.files(scores, key)
    about = asked.about(files)
    with working() as say:
        joined = read_joined(files, None, about, progress=say)
        results = evaluate_joined(joined, about, say)
    tell(results.messages, quiet=quiet)
    if as_json:
        click.echo(results.to_json())
        return
    from deciban.cli.shared.tables import print_results

    print_results(results)
