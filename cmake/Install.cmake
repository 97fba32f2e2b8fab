# `cmake --install`: headers, archives and a CMake package for those who embed the engine, and the
# `glaive` command. The Python module is in a component of its own (python/CMakeLists.txt).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Glaive")

get_property(layers GLOBAL PROPERTY GLAIVE_LAYERS)
install(TARGETS glaive ${layers} EXPORT GlaiveTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/glaive"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT GlaiveTargets NAMESPACE Glaive:: DESTINATION "${package_dir}" COMPONENT development)

configure_package_config_file(cmake/GlaiveConfig.cmake.in "${CMAKE_BINARY_DIR}/GlaiveConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/GlaiveConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/GlaiveConfig.cmake"
  "${CMAKE_BINARY_DIR}/GlaiveConfigVersion.cmake"
  cmake/Dependencies.cmake
  cmake/FindArrow.cmake
  DESTINATION "${package_dir}" COMPONENT development)

if(TARGET glaive_cli)
  install(TARGETS glaive_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
endif()
