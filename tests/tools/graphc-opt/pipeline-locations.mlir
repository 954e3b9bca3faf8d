// Every launch knows the lines of the ops that it computes.
// RUN: graphc-opt %s --graphc-pipeline=to=lower | FileCheck %s

// CHECK: plan.launch {{.*}} lines "a.py:3; a.py:4; b.py:1"
func.func @f(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %0 = graph.exp %x : tensor<?x8xf32> loc("a.py":3:1)
  %1 = graph.neg %0 : tensor<?x8xf32> loc(fused["a.py":4:1, "b.py":1:7])
  %2 = graph.reduce <sum> %1 axes [1] : tensor<?x8xf32> -> tensor<?xf32> loc("total"("a.py":3:9))
  return %2 : tensor<?xf32>
}
