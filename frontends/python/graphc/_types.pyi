"""Types that the stubs share. They exist for type checkers only."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._graphc import Array as Array

Scalar = bool | int | float | np.generic
ArrayLike = Array | np.ndarray[Any, Any] | Scalar | Sequence[Any]
DTypeLike = np.dtype[Any] | type | str
