"""Files of both kinds of scores."""

import pytest

from support.both_kinds import MADE


@pytest.fixture(params=list(MADE))
def both(request, tmp_path):
    """Files of two classes, then of many: what holds for the ones holds for the others."""
    return MADE[request.param](tmp_path)
