# Small helpers shared by all CMakeLists.txt of the project.

# heddle_unittest(name SOURCES... LIBS...): a GoogleTest executable, registered with CTest.
function(heddle_unittest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  find_package(GTest 1.12 REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
