// A new op of GraphOps.td needs a round trip in this folder.
// RUN: %python %S/ops_without_test.py round-trips | FileCheck %s
// CHECK: {{[1-9][0-9]+}} ops
// CHECK-NEXT: nothing is missing
