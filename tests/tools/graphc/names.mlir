// REQUIRES: compiler, graphc
// A function called like one that the compiler makes for what many operations share.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python -c "print('func.func @elementary(%%x0: tensor<?xf32>) -> tensor<?xf32> {'); [print(f' %%y{i} = graph.exp %%x{i} : tensor<?xf32>\n %%z{i} = graph.neg %%y{i} : tensor<?xf32>\n %%x{i+1} = graph.sin %%z{i} : tensor<?xf32>') for i in range(40)]; print(' return %%x40 : tensor<?xf32>\n}')" > %t/elementary.mlir
// RUN: sed s/@elementary/@other/ %t/elementary.mlir > %t/other.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t/x.npy', np.linspace(-1, 1, 100, dtype=np.float32))"
// RUN: graphc compile --target=cpu %t/elementary.mlir -o %t/elementary.gco
// RUN: graphc compile --target=cpu %t/other.mlir -o %t/other.gco
// RUN: graphc run %t/elementary.gco %t/x.npy -o %t/y.npy
// RUN: graphc run %t/other.gco %t/x.npy -o %t/z.npy
// RUN: cmp %t/y.npy %t/z.npy
