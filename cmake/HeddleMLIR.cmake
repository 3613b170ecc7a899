# Finds MLIR and LLVM 22 (Debian's packages) and sets up TableGen and the precompiled header.
# Everything links the shared libMLIR and libLLVM: mixing in their static libraries registers
# command-line options twice and aborts at start.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "expected LLVM 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})

# One precompiled header for every translation unit that uses MLIR: parsing NVVMDialect.h alone
# costs 11 s, with the header 1 to 3 s.
add_library(heddle_mlir_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_include_directories(heddle_mlir_pch SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(heddle_mlir_pch PUBLIC ${LLVM_DEFINITIONS_LIST})
set(HEDDLE_MLIR_FLAGS -fno-exceptions -Wno-deprecated-declarations)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  list(APPEND HEDDLE_MLIR_FLAGS -fpch-instantiate-templates)
endif()
target_compile_options(heddle_mlir_pch PUBLIC ${HEDDLE_MLIR_FLAGS})
target_precompile_headers(heddle_mlir_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

# heddle_mlir_library(name SOURCES... DEPENDS... LIBS...): a static library of the compiler.
function(heddle_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  heddle_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# Gives a target MLIR's headers, flags and the shared precompiled header.
function(heddle_use_mlir name)
  target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE ${HEDDLE_MLIR_FLAGS})
  target_precompile_headers(${name} REUSE_FROM heddle_mlir_pch)
endfunction()

# heddle_tool(name SOURCES... LIBS...): an executable of the compiler. Its sources are a main
# function that sees none of MLIR (the precompiled header is not for position-independent
# executables).
function(heddle_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} MLIR LLVM)
  # Debian keeps libMLIR outside the loader's path.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
