# What the engine's libraries link. Included by the build and, installed, by GlaiveConfig.cmake, so
# that what is linked in the end is found in the same way.
include(CMakeFindDependencyMacro)

find_dependency(Arrow 26 COMPONENTS compute acero substrait)
find_dependency(Threads)

# Archives, by name: what a wheel holds must not need the machine's own shared libraries.
foreach(name IN ITEMS zstd lz4)
  if(NOT TARGET Glaive::${name})
    find_library(GLAIVE_${name}_ARCHIVE NAMES lib${name}.a REQUIRED)
    mark_as_advanced(GLAIVE_${name}_ARCHIVE)
    add_library(Glaive::${name} STATIC IMPORTED)
    set_target_properties(Glaive::${name} PROPERTIES
      IMPORTED_LOCATION "${GLAIVE_${name}_ARCHIVE}")
  endif()
endforeach()
