// A work-item of a map has one point where that takes longer than its memory, neighbours else.
// RUN: %python %S/Inputs/long_map.py 127 | graphc-opt - --graphc-form-kernels --graphc-assign-schedules="vector-bytes=0 groups=true" | FileCheck %s --check-prefix=NEIGHBOURS
// RUN: %python %S/Inputs/long_map.py 128 | graphc-opt - --graphc-form-kernels --graphc-assign-schedules="vector-bytes=0 groups=true" | FileCheck %s --check-prefix=POINT

// NEIGHBOURS: schedule = #kernel.schedule<map, vector = 4, cost = {{[0-9]+}}, group = 256>
// POINT: schedule = #kernel.schedule<map, vector = 1, cost = {{[0-9]+}}, group = 256>
