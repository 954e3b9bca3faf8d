#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Gil.h"
#include "frontends/python/bindings/NumpyDraws.h"

PYBIND11_MODULE(_graphc, m) {
  m.doc() = "The compiled part of graphc; frontends/python/bindings/README.md describes it.";
  graphc::py::registerExit();
  graphc::py::installLocationSource();
  graphc::py::defineArray(m);
  graphc::py::defineFourier(m);
  graphc::py::defineFunctions(m);
  graphc::py::defineConstructors(m);
  graphc::py::defineUfuncs(m);
  graphc::py::defineHandover(m);
  graphc::py::defineExact(m);
  graphc::py::defineFlat(m);
  graphc::py::defineUfuncMethods(m);
  graphc::py::defineNumpyDraws(m);
  graphc::py::defineRandom(m);
  graphc::py::defineJit(m);
  graphc::py::defineFloatErrors(m);
  graphc::py::defineInfo(m);
}
