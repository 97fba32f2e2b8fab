# Every header compiles by itself: each gets a source that includes only it, twice. They are built
# by the target `glaive_headers`, not by `all`.
#
#   glaive_headers_alone(core LINK glaive::core HEADERS src/core/error.h src/core/executor.h)
add_custom_target(glaive_headers)

function(glaive_headers_alone name)
  cmake_parse_arguments(ARG "" "" "LINK;HEADERS" ${ARGN})
  set(sources)
  foreach(header IN LISTS ARG_HEADERS)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${header}")
    set(source "${PROJECT_BINARY_DIR}/headers_alone/${path}.cc")
    set(content "#include \"${header}\"\n#include \"${header}\"\n")
    file(GENERATE OUTPUT "${source}" CONTENT "${content}")
    list(APPEND sources "${source}")
  endforeach()
  if(sources)
    add_library(glaive_${name}_headers OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(glaive_${name}_headers PRIVATE ${ARG_LINK} glaive::options)
    target_compile_options(glaive_${name}_headers PRIVATE -O0 -g0)
    add_dependencies(glaive_headers glaive_${name}_headers)
  endif()
endfunction()
