# One layer of the engine: every source in its folders, in one library, with the tests beside them.
# MAY_USE is the layer's row of the table in docs/architecture.md: a layer that calls further fails
# to link. (Headers all lie under src/; that none is included from further is ./run check's part.)
# PRIVATELY is linked as well but not passed on; HEADER_ONLY is needed by nothing but our sources.
#
#   glaive_layer(table FOLDERS src/table MAY_USE glaive::core glaive::wire)
function(glaive_layer name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;MAY_USE;PRIVATELY;HEADER_ONLY" ${ARGN})
  set(sources)
  set(headers)
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS "${folder}/*.cc")
    list(APPEND sources ${found})
    file(GLOB found CONFIGURE_DEPENDS "${folder}/*.h")
    list(APPEND headers ${found})
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  add_library(glaive_${name} STATIC ${sources})
  add_library(glaive::${name} ALIAS glaive_${name})
  set_target_properties(glaive_${name} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY GLAIVE_LAYERS glaive_${name})
  target_compile_features(glaive_${name} PUBLIC cxx_std_20)
  target_include_directories(glaive_${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>")
  list(TRANSFORM ARG_HEADER_ONLY REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>" OUTPUT_VARIABLE build_only)
  target_link_libraries(glaive_${name}
    PUBLIC ${ARG_MAY_USE}
    PRIVATE ${ARG_PRIVATELY} ${build_only} $<BUILD_INTERFACE:glaive::options>)

  glaive_headers_alone(${name} LINK glaive::${name} ${ARG_PRIVATELY} ${ARG_HEADER_ONLY}
    HEADERS ${headers})
  if(GLAIVE_TESTS AND tests)
    add_executable(glaive_${name}_test ${tests})
    set(testing)
    if(NOT name MATCHES "^(core|wire|encoding)$")
      set(testing glaive::testing)
    endif()
    target_link_libraries(glaive_${name}_test
      PRIVATE ${testing} glaive::${name} ${ARG_PRIVATELY} ${ARG_HEADER_ONLY} glaive::options
              GTest::gmock GTest::gtest_main)
    gtest_discover_tests(glaive_${name}_test DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120)
  endif()
endfunction()
