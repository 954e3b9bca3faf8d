// The shared library is graphc_compiler_api; only graphcCompilerApi() of it is visible
// (compiler/api/Compiler.h).
