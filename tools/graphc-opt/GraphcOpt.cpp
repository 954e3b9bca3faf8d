// mlir-opt with graphc's dialects, passes and the pipeline by phases (--graphc-pipeline=to=PHASE).
#include "compiler/passes/Passes.h"
#include "compiler/pipeline/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  graphc::registerDialects(registry);
  graphc::pass::registerGraphcPasses();
  graphc::registerPipeline();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "graphc optimizer\n", registry));
}
