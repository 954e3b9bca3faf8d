// Owner of the shared precompiled header; holds no code.
