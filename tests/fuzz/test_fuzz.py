"""A bounded run of the fuzzer: 500 programs, or as many as one minute allows."""

import os
import tempfile
import time

import pytest

_cache = tempfile.TemporaryDirectory(prefix="graphc-fuzz-cache-")
os.environ["GRAPHC_CACHE_DIR"] = _cache.name
os.chmod(_cache.name, 0o700)

import fuzz  # noqa: E402
import graphc as gc  # noqa: E402

SECONDS = 60
START = time.monotonic()


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_random_programs(first):
    for seed in range(first, first + 50):
        if time.monotonic() - START > SECONDS:
            pytest.skip(f"out of time at seed {seed}")
        found, text = fuzz.find(gc, seed)
        assert not found, text


def test_the_fuzzer_can_fail():
    class Wrong:
        """graphc with a fault."""

        def __getattr__(self, name):
            return getattr(gc, name)

        @staticmethod
        def add(x, y, **options):
            return gc.subtract(x, y, **options)

    statements = ["v1 = xp.asarray(data(1, (3,), 'int32')).copy()", "v2 = v1 * 2", "v3 = v1.copy()", "xp.add(v1, 1, out=v3)"]
    assert "v3" in fuzz.run(Wrong(), statements, False)
    assert len(fuzz.shrink(Wrong(), statements, False)) == 3
    assert fuzz.run(gc, statements, True) is None
