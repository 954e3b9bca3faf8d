// Every elementwise op on every dtype it takes becomes arith, math and vector ops on signless values, whatever the op list
// holds: none is left, no unsigned type is left, and what targets without f64 are given never computes in it.
// RUN: %python %S/all_ops.py 1 > %t.scalars
// RUN: graphc-opt %t.scalars --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops),graphc-verify-phase{phase=lower})' > %t.scalars.expanded
// RUN: FileCheck %s < %t.scalars.expanded
// RUN: %python %S/all_ops.py 8 > %t.vectors
// RUN: graphc-opt %t.vectors --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops),graphc-verify-phase{phase=lower})' > %t.vectors.expanded
// RUN: FileCheck %s < %t.vectors.expanded
// RUN: %python %S/all_ops.py 8 f32,i1,i8,i16,i32,i64,ui8,ui16,ui32,ui64 > %t.float32
// RUN: graphc-opt %t.float32 --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops{has-float64=false}))' > %t.float32.expanded
// RUN: FileCheck %s --check-prefix=FLOAT32 < %t.float32.expanded
// Nothing is left for a second run.
// RUN: graphc-opt %t.vectors.expanded --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops))' | diff %t.vectors.expanded -

// CHECK: module {
// CHECK-NOT: graph.
// CHECK-NOT: {{[ <x]ui[0-9]}}

// FLOAT32: module {
// FLOAT32-NOT: graph.
// FLOAT32-NOT: f64
