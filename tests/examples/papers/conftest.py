"""The scripts of examples/papers as modules."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "papers"


@pytest.fixture(scope="session")
def script():
    """Import a script by name; they find each other in their folder."""
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module
    sys.path.remove(str(FOLDER))
