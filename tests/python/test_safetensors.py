"""Files of named arrays: against bytes written by hand, with headers that lie, and floats of 8 bits."""

import json
import pickle
import struct

import graphc as gc
import ml_dtypes
import numpy as np
import pytest
from graphc import float8, safetensors
from support import edge, exact

pytestmark = pytest.mark.graphc_only


def written(header, data=b"", *, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_bytes_written_by_hand(tmp_path):
    data = np.array([1.5, -2.0], "<f4").tobytes() + np.array([[1, 2, 3]], "<i2").tobytes()
    blob = written({"b": entry("I16", (1, 3), (8, 14)), "__metadata__": {"made": "here"}, "a": entry()}, data)
    for got in (safetensors.load(blob), safetensors.load(bytearray(blob))):
        assert set(got) == {"a", "b"}
        exact.assert_same(got["a"], np.array([1.5, -2.0], "f4"))
        exact.assert_same(got["b"], np.array([[1, 2, 3]], "i2"))
    path = tmp_path / "x.safetensors"
    path.write_bytes(blob)
    assert safetensors.metadata(path) == {"made": "here"}
    some = safetensors.load_file(path, names=["b"])
    assert list(some) == ["b"]
    exact.assert_same(some["b"], np.array([[1, 2, 3]], "i2"))


@pytest.mark.parametrize("dtype", [*edge.DTYPES, "bfloat16"])
def test_every_dtype_comes_back(tmp_path, dtype):
    x = edge.values("float32" if dtype == "bfloat16" else dtype)
    g = gc.asarray(x).astype(dtype)
    path = tmp_path / "x"
    safetensors.save_file({"x": g, "empty": g[:0], "0-d": g[0], "view": g[::-2], "p": gc.ones((3, 1))}, path, {"k": "ü"})
    got = safetensors.load_file(path)
    for name, want in {"x": g, "empty": g[:0], "0-d": g[0], "view": g[::-2]}.items():
        assert got[name].dtype == g.dtype and got[name].shape == want.shape
        exact.assert_same(got[name].astype("float64"), np.asarray(want.astype("float64")))
    assert safetensors.metadata(path) == {"k": "ü"}
    blob = path.read_bytes()
    start = 8 + struct.unpack("<Q", blob[:8])[0]
    header = json.loads(blob[8:start])
    assert start % 8 == 0 and all(v["data_offsets"][0] % g.itemsize == 0 for k, v in header.items() if k in ("x", "view"))
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


HOSTILE = {
    "nothing": b"",
    "seven bytes": b"\0" * 7,
    "a header longer than the file": written(b"{}", length=3),
    "a huge header": written(b"{}", length=2**63),
    "no object": written(b"[]"),
    "an object after a space": written(b" {}"),
    "not JSON": written(b"{1}"),
    "not UTF-8": written(b'{"\xff":1}'),
    "too deep": written(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
    "a number of many digits": written(b'{"a":{"dtype":"U8","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,0]}}'),
    "a name twice": written(b'{"a":%b,"a":%b}' % ((json.dumps(entry("U8", (0,), (0, 0))).encode(),) * 2)),
    "a key twice": written(b'{"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    "no dtype": written({"a": {"shape": [0], "data_offsets": [0, 0]}}),
    "another key": written({"a": {**entry("U8", (0,), (0, 0)), "more": 1}}),
    "unknown dtype": written({"a": entry("F7", (0,), (0, 0))}),
    "dtype no text": written({"a": entry([], (0,), (0, 0))}),
    "negative size": written({"a": entry("U8", (-1,), (0, 0))}),
    "size true": written({"a": entry("U8", (True,), (0, 1))}, b"\0"),
    "size 1.0": written({"a": entry("U8", (1.0,), (0, 1))}, b"\0"),
    "size infinite": written(b'{"a":{"dtype":"U8","shape":[Infinity],"data_offsets":[0,0]}}'),
    "a product that overflows": written({"a": entry("F64", (2**61, 8), (0, 0))}),
    "many axes": written({"a": entry("U8", (1,) * 65, (0, 1))}, b"\0"),
    "too few bytes for the shape": written({"a": entry("F32", (3,), (0, 8))}, b"\0" * 8),
    "beyond the end": written({"a": entry()}, b"\0" * 4),
    "from after to": written({"a": entry("U8", (0,), (1, 0))}, b"\0"),
    "negative offset": written({"a": entry("F32", (2,), (-8, 0))}, b"\0" * 8),
    "one offset": written({"a": {**entry(), "data_offsets": [0]}}, b"\0" * 8),
    "overlap": written({"a": entry(), "b": entry("F32", (2,), (4, 12))}, b"\0" * 12),
    "the same bytes": written({"a": entry(), "b": entry()}, b"\0" * 8),
    "a hole": written({"a": entry(), "b": entry("U8", (1,), (9, 10))}, b"\0" * 10),
    "a hole in front": written({"a": entry("U8", (1,), (1, 2))}, b"\0" * 2),
    "bytes at the end": written({"a": entry()}, b"\0" * 9),
    "metadata no map": written({"__metadata__": []}),
    "metadata no text": written({"__metadata__": {"a": 1}}),
    "bool of 2": written({"a": entry("BOOL", (1,), (0, 1))}, b"\2"),
}


@pytest.mark.parametrize("blob", HOSTILE.values(), ids=HOSTILE.keys())
def test_files_that_lie(blob, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(blob)
    for read in (lambda: safetensors.load(blob), lambda: safetensors.load_file(path)):
        with pytest.raises(ValueError, match="not a safetensors file") as caught:
            read()
        assert isinstance(caught.value, gc.errors.ArgumentError)


def test_every_truncation_is_refused():
    blob = safetensors.save({"a": gc.arange(5.0), "b": gc.zeros((2, 2), dtype="int16")})
    for length in range(len(blob)):
        with pytest.raises(ValueError):
            safetensors.load(blob[:length])


def test_random_damage_is_refused_or_harmless():
    rng = np.random.default_rng(0)
    blob = safetensors.save({"a": gc.arange(5.0), "b": gc.zeros((2, 2), dtype="int16")}, {"k": "v"})
    for _ in range(500):
        bad = bytearray(blob)
        bad[rng.integers(len(bad) - 48)] = rng.integers(256)
        try:
            got = safetensors.load(bytes(bad))
        except ValueError:
            continue
        assert sum(x.nbytes for x in got.values()) == 48


def test_mistakes(tmp_path):
    with pytest.raises(OSError, match="cannot read"):
        safetensors.load_file(tmp_path / "none")
    with pytest.raises(OSError, match="cannot write"):
        safetensors.save_file({}, tmp_path / "no" / "x")
    with pytest.raises(TypeError):
        safetensors.save({"a": np.array(["text"])})
    for tensors, notes in (({1: gc.ones(1)}, None), ({"__metadata__": gc.ones(1)}, None), ({}, {"a": 1})):
        with pytest.raises(ValueError):
            safetensors.save(tensors, notes)
    blob = safetensors.save({"a": gc.ones(1)})
    with pytest.raises(ValueError):
        safetensors.load(blob, float8="half")
    (tmp_path / "x").write_bytes(blob)
    with pytest.raises(KeyError):
        safetensors.load_file(tmp_path / "x", names=["b"])


FLOAT8 = ("float8_e4m3fn", "float8_e5m2")


@pytest.mark.parametrize("format", FLOAT8)
def test_all_bits_of_float8(format):
    bits = np.arange(256, dtype="u1")
    theirs = bits.view(getattr(ml_dtypes, format))
    exact.assert_same(float8.decode(bits, format), theirs.astype("f4"))
    exact.assert_same(float8.decode(theirs), theirs.astype("f4"))
    exact.assert_same(float8.decode(bits, theirs.dtype, dtype="float64"), theirs.astype("f8"))
    back = np.asarray(float8.encode(float8.decode(bits, format), format))
    nan = np.isnan(theirs.astype("f4"))
    np.testing.assert_array_equal(back[~nan], bits[~nan])
    assert np.isnan(back[nan].view(theirs.dtype).astype("f4")).all()


@pytest.mark.parametrize("format", FLOAT8)
def test_rounding_to_float8(format):
    rng = np.random.default_rng(3)
    every = np.arange(65536, dtype="u2").view("f2").astype("f4")
    x = np.concatenate([every, rng.standard_normal(50_000).astype("f4") * np.exp2(rng.integers(-30, 20, 50_000)).astype("f4")])
    want = x.astype(getattr(ml_dtypes, format))
    got = np.asarray(float8.encode(x, format)).view(want.dtype)
    exact.assert_same(got.astype("f4"), want.astype("f4"))


def test_float8_in_files(tmp_path):
    x = np.linspace(-4, 4, 24).reshape(4, 6).astype(ml_dtypes.float8_e4m3fn)
    y = np.linspace(-4, 4, 5).astype(ml_dtypes.float8_e5m2)
    path = tmp_path / "x"
    safetensors.save_file({"x": x, "y": y}, path)
    header = json.loads(path.read_bytes()[8:].split(b"}}")[0] + b"}}")
    assert (header["x"]["dtype"], header["y"]["dtype"]) == ("F8_E4M3", "F8_E5M2")
    exact.assert_same(safetensors.load_file(path)["x"], x.astype("f4"))
    bits = safetensors.load_file(path, float8="bits")["y"]
    np.testing.assert_array_equal(np.asarray(bits).view(y.dtype), y)


def test_float8_mistakes():
    for call in (
        lambda: float8.decode(gc.ones(2), "float8_e5m2"),
        lambda: float8.decode(gc.zeros(2, dtype="uint8"), "float8"),
        lambda: float8.encode(gc.ones(2), "float8_e5m2"),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("format", FLOAT8)
def test_arrays_of_float8(format):
    kind = np.dtype(getattr(ml_dtypes, format))
    theirs = np.linspace(-3, 3, 24).reshape(4, 6).astype(kind)
    kept = gc.asarray(theirs)
    assert isinstance(kept, float8.Stored) and (kept.dtype, kept.shape, kept.nbytes, len(kept)) == (kind, (4, 6), 24, 4)
    exact.assert_same(kept.astype("float32"), theirs.astype("f4"))
    exact.assert_same(gc.asarray(theirs, dtype="float64"), theirs.astype("f8"))
    back = np.asarray(kept)
    assert back.dtype == kind
    np.testing.assert_array_equal(back.view("u1"), theirs.view("u1"))
    np.testing.assert_array_equal(np.asarray(kept[1:, ::2].reshape(-1)), theirs[1:, ::2].reshape(-1))
    assert kept.tolist() == theirs.astype("f4").tolist() and format in repr(kept)
    np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(kept))), theirs)
    assert gc.asarray(kept).format == format
    for x in (np.linspace(-3, 3, 7, dtype="f4"), [0.1, 2.0]):
        np.testing.assert_array_equal(np.asarray(gc.asarray(x, dtype=format)), np.asarray(x, "f4").astype(kind))
        np.testing.assert_array_equal(np.asarray(gc.asarray(x, dtype=kind)), np.asarray(x, "f4").astype(kind))
    other = next(f for f in FLOAT8 if f != format)
    assert kept.astype(other).dtype == np.dtype(getattr(ml_dtypes, other))
    for call in (lambda: kept + 1, lambda: theirs + kept, lambda: float8.Stored(gc.ones(2), format)):
        with pytest.raises(TypeError):
            call()
