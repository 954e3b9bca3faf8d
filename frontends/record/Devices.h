//===- Devices.h - Devices and the compiler, as frontends see them ----------------------------===//
//
// Frontends see the recorder only. What they may ask of the runtime and of the compiler's loader
// without recording anything is named here: finding, testing and listing devices, and whether a
// compiler exists and is in memory.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_DEVICES_H
#define GRAPHC_FRONTENDS_RECORD_DEVICES_H

#include "compiler/api/Loader.h"       // IWYU pragma: export
#include "frontends/record/SelfTest.h" // IWYU pragma: export
#include "runtime/drivers/Choice.h"    // IWYU pragma: export
#include "runtime/drivers/Drivers.h"   // IWYU pragma: export

#endif // GRAPHC_FRONTENDS_RECORD_DEVICES_H
