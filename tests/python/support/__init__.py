"""What the Python tests share: the op table, edge values, reference semantics, exact comparisons."""
