"""Writes the compiler's build id: build_id.py PREFIX OUTPUT SOURCE..."""
import hashlib
import sys

prefix, output, *sources = sys.argv[1:]
digest = hashlib.sha256()
for path in sorted(sources):
    with open(path, "rb") as source:
        digest.update(source.read())
text = f'#define GRAPHC_BUILD_ID "{prefix}.{digest.hexdigest()[:16]}"\n'
with open(output, "w") as new:
    new.write(text)
