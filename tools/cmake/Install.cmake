# `cmake --install` and `find_package(graphc)`: libraries, headers under include/graphc, the graphc program. Wheels install
# their own files (frontends/python/CMakeLists.txt).

# All static libraries declared at or below a folder.
function(graphc_libraries_below folder out)
  get_property(found DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  set(libraries "")
  foreach(target IN LISTS found)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND libraries ${target})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    graphc_libraries_below("${subfolder}" below)
    list(APPEND libraries ${below})
  endforeach()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

function(graphc_install)
  if(SKBUILD OR NOT TARGET graphc_exec)
    return()
  endif()
  set(include "${CMAKE_INSTALL_INCLUDEDIR}/graphc")
  set(config "${CMAKE_INSTALL_LIBDIR}/cmake/graphc")

  # graphc::runtime runs programs, graphc::record records and runs arrays. Both are static and need no LLVM.
  set(libraries "")
  set(folders runtime dialects/opset compiler/api frontends/record)
  foreach(folder IN LISTS folders)
    graphc_libraries_below("${PROJECT_SOURCE_DIR}/${folder}" below)
    list(APPEND libraries ${below})
  endforeach()
  # Part of the compiler's shared library, which hides it.
  list(REMOVE_ITEM libraries graphc_compiler_api)
  set_target_properties(graphc_runtime PROPERTIES EXPORT_NAME runtime)
  set_target_properties(graphc_record PROPERTIES EXPORT_NAME record)
  foreach(library IN LISTS libraries)
    target_include_directories(${library} INTERFACE "$<INSTALL_INTERFACE:${include}>")
  endforeach()
  install(TARGETS graphc_runtime ${libraries} EXPORT graphcTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT graphcTargets NAMESPACE graphc:: DESTINATION "${config}")

  foreach(folder IN LISTS folders)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/" DESTINATION "${include}/${folder}"
      FILES_MATCHING PATTERN "*.h" PATTERN generated EXCLUDE)
  endforeach()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/dialects/opset/generated/" DESTINATION "${include}" FILES_MATCHING PATTERN "*.inc")

  if(TARGET graphc_compiler)
    set_target_properties(graphc_compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS graphc_compiler LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(FILES "${PROJECT_BINARY_DIR}/lib/graphc_units.pack" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
  if(TARGET graphc)
    set_target_properties(graphc PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS graphc RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()

  configure_package_config_file("${PROJECT_SOURCE_DIR}/tools/cmake/graphcConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/graphcConfig.cmake" INSTALL_DESTINATION "${config}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/graphcConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/graphcConfig.cmake" "${PROJECT_BINARY_DIR}/graphcConfigVersion.cmake" DESTINATION "${config}")
endfunction()
