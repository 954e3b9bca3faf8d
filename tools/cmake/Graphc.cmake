# Shared build rules: warnings, one function per kind of target, code generation from the op list, installation.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  # Precompiled headers hash the same only when ccache may ignore their time stamps.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_PCH_EXTSUM=1 "${CCACHE_PROGRAM}")
endif()
find_program(LLD_PROGRAM NAMES ld.lld-22 ld.lld)
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options("-fuse-ld=lld")
endif()

set(GRAPHC_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers)

# graphc_library(name SOURCES ... [LINK ...]): a static library graphc_<folder> whose include root is the repository.
function(graphc_library name)
  cmake_parse_arguments(ARG "INTERFACE" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
  target_compile_options(${name} PRIVATE ${GRAPHC_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(GRAPHC_SANITIZE)
    target_compile_options(${name} PUBLIC -fsanitize=${GRAPHC_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${name} PUBLIC -fsanitize=${GRAPHC_SANITIZE})
  endif()
endfunction()

# graphc_unit_test(name SOURCES ... LINK ...): a GoogleTest program that lit runs from ${build}/tests/unit.
function(graphc_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE ${GRAPHC_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/unit")
endfunction()

# Files generated from dialects/graph/GraphOps.td, the one list of operations.
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
if(GRAPHC_COMPILER)
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
  message(STATUS "MLIR ${LLVM_PACKAGE_VERSION}: ${MLIR_DIR}")
  # Debian's LLVM is a shared library but its MLIR package leaves this unset; without it targets mix libMLIR.so with archives.
  set(MLIR_LINK_MLIR_DYLIB ON)
  set(LLVM_LINK_LLVM_DYLIB ON)
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endif()
find_program(LLVM_TBLGEN NAMES llvm-tblgen-22 llvm-tblgen HINTS /usr/lib/llvm-22/bin)

# graphc_opgen(output kind): runs tools/opgen.py on the op list. Without LLVM the checked-in table is used, so that the
# runtime and the recorder build on a machine that has no tblgen; `tools/checks` keeps it equal to the generated one.
function(graphc_opgen output kind)
  set(td "${PROJECT_SOURCE_DIR}/dialects/graph/GraphOps.td")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/tools/opgen.py" --kind ${kind} --tblgen "${LLVM_TBLGEN}"
            --mlir-include "${MLIR_INCLUDE_DIRS}" --output "${output}"
    DEPENDS "${td}" "${PROJECT_SOURCE_DIR}/dialects/graph/GraphBase.td" "${PROJECT_SOURCE_DIR}/tools/opgen.py"
    COMMENT "opgen ${kind}" VERBATIM)
endfunction()

# Code that includes MLIR shares one precompiled header (tools/cmake/MlirPch.h): header parsing is most of its build time.
# graphc_mlir_library(name SOURCES ... LINK ... DEPENDS ...)
if(GRAPHC_COMPILER)
  set(GRAPHC_MLIR_FLAGS -fno-exceptions -Wno-unused-but-set-variable -Werror=deprecated-declarations)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND GRAPHC_MLIR_FLAGS -Xclang -fno-pch-timestamp)
  endif()
  add_library(graphc_mlir_pch OBJECT "${PROJECT_SOURCE_DIR}/tools/cmake/MlirPch.cpp")
  target_include_directories(graphc_mlir_pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_options(graphc_mlir_pch PRIVATE ${GRAPHC_WARNINGS} ${GRAPHC_MLIR_FLAGS})
  target_precompile_headers(graphc_mlir_pch PRIVATE "${PROJECT_SOURCE_DIR}/tools/cmake/MlirPch.h")
  # A precompiled header holds the path of its build folder, so that no two folders would share what is compiled with it.
  # ccache takes this sum for its contents: the one header of ours in it and LLVM's version; the compiler,
  # which comes with LLVM's headers, it hashes itself.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/cmake/MlirPch.h")
  file(SHA256 "${PROJECT_SOURCE_DIR}/tools/cmake/MlirPch.h" pch_header)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/graphc_mlir_pch.dir/cmake_pch.hxx.pch.sum"
       "${pch_header} ${LLVM_PACKAGE_VERSION}\n")

  add_library(graphc_llvm_shared INTERFACE)
  target_link_libraries(graphc_llvm_shared INTERFACE MLIR LLVM)

  # The archives of MLIR and of LLVM's x86 code generator. Loading the shared libraries takes 40 ms of relocations and puts
  # LLVM on the user's machine; the part of the archives that the compiler uses loads in a fifth of that and is all that ships.
  add_library(graphc_llvm_archives INTERFACE)
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
  list(FILTER archives EXCLUDE REGEX "CAPI|Test|MlirOptMain|Lsp|MLIR.*Runner|MLIRExecutionEngine|Python")
  find_library(ZSTD_ARCHIVE NAMES libzstd.a)
  if(GRAPHC_STATIC_LLVM AND NOT (archives MATCHES "LLVMX86CodeGen" AND archives MATCHES "MLIRIR" AND ZSTD_ARCHIVE))
    message(STATUS "The archives of LLVM or zstd are missing: the compiler library will need LLVM's shared libraries")
    set(GRAPHC_STATIC_LLVM OFF)
  endif()
  target_link_libraries(graphc_llvm_archives INTERFACE -Wl,--start-group ${archives} -Wl,--end-group
    -Wl,-Bstatic -lz -lzstd -Wl,-Bdynamic -lrt ${CMAKE_DL_LIBS} -lm)

  function(graphc_mlir_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
    target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_compile_options(${name} PRIVATE ${GRAPHC_WARNINGS} ${GRAPHC_MLIR_FLAGS})
    target_precompile_headers(${name} REUSE_FROM graphc_mlir_pch)
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
    # Who links the final program decides, by its property GRAPHC_LLVM_ARCHIVES, where MLIR comes from. All from one place: a
    # program that mixes the shared libraries with the archives has two of every global.
    target_link_libraries(${name} PUBLIC
      "$<IF:$<BOOL:$<TARGET_PROPERTY:GRAPHC_LLVM_ARCHIVES>>,graphc_llvm_archives,graphc_llvm_shared>")
    if(ARG_DEPENDS)
      add_dependencies(${name} ${ARG_DEPENDS})
    endif()
  endfunction()

  # graphc_tablegen(target td [kind output]...): mlir-tblgen outputs named by repository path, e.g. GraphOps.h.inc.
  function(graphc_tablegen target td)
    set(LLVM_TARGET_DEFINITIONS ${td})
    list(LENGTH ARGN count)
    math(EXPR last "${count} - 1")
    foreach(i RANGE 0 ${last} 2)
      math(EXPR j "${i} + 1")
      list(GET ARGN ${i} output)
      list(GET ARGN ${j} flags)
      string(REPLACE "," ";" flags "${flags}")
      mlir_tablegen(${output} ${flags} "-I${PROJECT_SOURCE_DIR}" "-I${MLIR_INCLUDE_DIRS}")
    endforeach()
    add_custom_target(${target} DEPENDS ${TABLEGEN_OUTPUT})
  endfunction()
endif()
