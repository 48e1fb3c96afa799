# Headers of the standard library, nlohmann/json and, for tests, GoogleTest are read once a build and not once a file: a
# third of the time of a clean build. The presets that engineers build with again and again, `dev` and `asan`, leave it
# off, and thereby hold that each file includes what it uses.
option(EDGE_PRECOMPILE "Read the headers of libraries once a build" OFF)

set(EDGE_STANDARD_HEADERS
    <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstring> <functional> <map> <memory> <mutex> <optional>
    <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <nlohmann/json.hpp>
    "${CMAKE_CURRENT_LIST_DIR}/shared_templates.h")

if(EDGE_PRECOMPILE)
  # A header compiled at another second must not give other objects: ccache knows them by their content.
  add_compile_options(SHELL:-Xclang SHELL:-fno-pch-timestamp)
  file(WRITE "${CMAKE_BINARY_DIR}/empty.cc" "")
  # What the precompiled headers promise: under the sanitizers two fifths of the time of the files that read JSON. A
  # function a section, so that a program takes what it uses of it.
  add_library(edge_shared_templates STATIC "${CMAKE_CURRENT_LIST_DIR}/shared_templates.cc")
  target_include_directories(edge_shared_templates PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_options(edge_shared_templates PRIVATE -fPIC -ffunction-sections)
  target_link_options(edge_shared_templates INTERFACE -Wl,--gc-sections)
  add_library(edge_library_headers OBJECT "${CMAKE_BINARY_DIR}/empty.cc")
  target_precompile_headers(edge_library_headers PRIVATE ${EDGE_STANDARD_HEADERS})
  target_compile_options(edge_library_headers PRIVATE ${EDGE_COVERAGE})
  if(EDGE_SANITIZE)
    # Of EDGE_WAITING_ROOMS and EDGE_UNFUZZED_ROOMS (EdgeTargets.cmake).
    foreach(kind waiting unfuzzed)
      add_library(edge_${kind}_headers OBJECT "${CMAKE_BINARY_DIR}/empty.cc")
      target_precompile_headers(edge_${kind}_headers PRIVATE ${EDGE_STANDARD_HEADERS})
      target_compile_options(edge_${kind}_headers PRIVATE -O0)
    endforeach()
    target_compile_options(edge_waiting_headers PRIVATE ${EDGE_COVERAGE})
  endif()
  # With the flags of a test: a program, not optimised.
  add_library(edge_test_headers OBJECT "${CMAKE_BINARY_DIR}/empty.cc")
  target_precompile_headers(edge_test_headers PRIVATE ${EDGE_STANDARD_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  target_link_libraries(edge_test_headers PRIVATE GTest::gmock GTest::gtest)
  set_target_properties(edge_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(edge_test_headers PRIVATE -fPIE -O0)
endif()

# edge_precompiled(TARGET HEADERS): TARGET reads what HEADERS has precompiled.
function(edge_precompiled target headers)
  if(EDGE_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    target_link_libraries(${target} PRIVATE edge_shared_templates)
  endif()
endfunction()
