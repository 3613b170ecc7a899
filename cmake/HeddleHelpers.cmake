# Small helpers shared by all CMakeLists.txt of the project.

# heddle_precompile(target HEADERS...): a precompiled header of its own for a library whose files include much
# of the same. Parsing the standard library and a large header again in every file is half of a clean build.
function(heddle_precompile name)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  heddle_instantiate_once(${name})
endfunction()

# Templates that the header instantiates are made with it, not in every file.
function(heddle_instantiate_once name)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-instantiate-templates>
      -Wno-deprecated-declarations) # of what the standard library instantiates in itself
  endif()
endfunction()

# The headers that most LLVM-free files use.
set(HEDDLE_COMMON_HEADERS
  <algorithm> <array> <chrono> <cstdint> <cstring> <functional> <map> <memory> <mutex> <optional> <set> <span>
  <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>)

# heddle_command_line(SOURCES...): files of this folder that declare a tool's options. The library for that is all
# templates, which take long to optimise and run once.
function(heddle_command_line)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Release>:-O0>" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# What every unit test is compiled with. Their own code is not optimised: it runs for a moment, and what it tests
# is optimised all the same.
function(heddle_test_options name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  heddle_instantiate_once(${name})
endfunction()

# heddle_unittest(name SOURCES... LIBS...): a GoogleTest executable, registered with CTest.
function(heddle_unittest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  find_package(GTest 1.12 REQUIRED)
  if(NOT TARGET heddle_test_pch)
    # An executable, since they are position-independent in their own way.
    add_executable(heddle_test_pch ${CMAKE_SOURCE_DIR}/cmake/test_pch.cpp)
    target_link_libraries(heddle_test_pch PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
    target_precompile_headers(heddle_test_pch PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${HEDDLE_COMMON_HEADERS})
    heddle_test_options(heddle_test_pch)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM heddle_test_pch)
  heddle_test_options(${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
