// A sort by several keys: by the first, then what it gives by the next one, which decides before it.
// RUN: graphc-opt %s "--graphc-decompose=argsorts=true" | FileCheck %s
// RUN: graphc-opt %s --graphc-decompose | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @two
// CHECK: %[[FIRST:.*]] = graph.library "argsort" %arg0 to(%{{.*}}) params [0] : tensor<3x?xf32> -> tensor<3x?xi64>
// CHECK: %[[KEY:.*]] = graph.gather %arg1[%[[LINE:.*]], %[[FIRST]]] axes [0, 1] at 0
// CHECK: %[[NEXT:.*]] = graph.library "argsort" %[[KEY]]
// CHECK: %[[LAST:.*]] = graph.gather %[[FIRST]][%[[LINE]], %[[NEXT]]] axes [0, 1] at 0
// CHECK: return %[[LAST]]
// HOST-LABEL: func.func @two
// HOST: graph.library "lexsort"
func.func @two(%a: tensor<3x?xf32>, %b: tensor<3x?xi8>, %n: index) -> tensor<3x?xi64> {
  %0 = graph.library "lexsort" %a, %b to (%n) params [] : tensor<3x?xf32>, tensor<3x?xi8> -> tensor<3x?xi64>
  return %0 : tensor<3x?xi64>
}

// CHECK-LABEL: func.func @complex
// CHECK: graph.library "lexsort"
func.func @complex(%a: tensor<1x9xf32>, %b: tensor<1x9xcomplex<f32>>) -> tensor<1x9xi64> {
  %0 = graph.library "lexsort" %a, %b params [] : tensor<1x9xf32>, tensor<1x9xcomplex<f32>> -> tensor<1x9xi64>
  return %0 : tensor<1x9xi64>
}
