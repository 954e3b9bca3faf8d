"""npy.py FILE EXPRESSION: saves the NumPy array that an expression over np gives."""

import sys

import numpy as np

np.save(sys.argv[1], eval(sys.argv[2], {"np": np}))
