"""What stands for a picture in tests of pages and commands."""

import hashlib
from xml.sax.saxutils import escape

import numpy as np

BEGINS = {"svg": '<?xml version="1.0"?>', "png": "\x89PNG", "pdf": "%PDF"}


def sketch(figure, file_format):
    """The words of a figure and a fingerprint of what is drawn, as the bytes of a file: equal for equal figures."""
    words, drawn = [], hashlib.sha256()
    for ax in figure.axes:
        legend = ax.get_legend()
        words += [ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), *(text.get_text() for text in ax.texts)]
        words += [] if legend is None else [text.get_text() for text in legend.get_texts()]
        shapes = [line.get_xydata() for line in ax.lines]
        shapes += [path.vertices for one in ax.collections for path in one.get_paths()]
        shapes += [one.get_patch_transform().transform(one.get_path().vertices) for one in ax.patches]
        shapes += [one.get_array() for one in ax.images]
        for shape in shapes:
            drawn.update(np.ascontiguousarray(shape).tobytes())
    lines = "".join(f"<text>{escape(word)}</text>" for word in [*words, drawn.hexdigest()])
    size = 'width="8" height="6"'
    text = f'{BEGINS[file_format]}<svg xmlns="http://www.w3.org/2000/svg" {size}>{lines}</svg>'
    return text.encode("latin-1", "xmlcharrefreplace")
