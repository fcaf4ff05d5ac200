"""Coverage-guided fuzzing of one reader: ``python tests/fuzz/coverage_guided.py FORMAT -runs=100000``.

Needs the extra ``fuzz`` (atheris). Arguments after the format go to libFuzzer. A crash leaves ``crash-*`` behind. The
corpus begins with the golden files and with one file of each kind that the format can write.
"""

import os
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))

with atheris.instrument_imports(include=["deciban"]):
    from deciban.io.formats import binary_formats, formats, text_formats
    from support.hostile import read_or_refuse, seeds

    text_formats(), binary_formats()  # with the modules of them all


def main():
    format_name, options = sys.argv[1], sys.argv[2:]
    kinds = formats()[format_name].reads
    folder = Path(tempfile.mkdtemp())
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, (name, kind, data) in enumerate(seeds()):
        if name == format_name:
            (corpus / f"{number}").write_bytes(bytes([kinds.index(kind)]) + data)
    path = folder / "input"
    warnings.simplefilter("ignore")

    def read(data):
        if not data:
            return
        # Not a fresh file: making one costs more than reading it.
        path.write_bytes(data[1:])
        read_or_refuse(path, format_name, kinds[data[0] % len(kinds)])

    atheris.Setup([sys.argv[0], str(corpus), "-rss_limit_mb=3000", "-max_len=65536", *options], read)
    atheris.Fuzz()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
