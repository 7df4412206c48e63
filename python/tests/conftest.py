import os

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path_factory):
    """No key and no address of the machine, and a folder for data of the test's own."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
