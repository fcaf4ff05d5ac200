"""What the rules share: trees of all sources, which would fill the memory of the other tests."""

import pytest

from support import parsed


@pytest.fixture(scope="package", autouse=True)
def _trees():
    yield
    parsed.tree.cache_clear()
    parsed.nodes.cache_clear()
