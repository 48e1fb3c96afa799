find_package(GTest REQUIRED)
include(GoogleTest)
include(EdgePrecompiled)

# Rooms whose tests wait for a peer more than they compute: under the sanitizers these are not optimised, which takes a
# third of the time off compiling them.
set(EDGE_WAITING_ROOMS agent cli controller daemon edgectl schemas standalone compiler/link compiler/lint
                       compiler/translate)

# Of these, the folders that no fuzz target goes through.
set(EDGE_UNFUZZED_ROOMS cli daemon edgectl edgectl/observe edgectl/resources standalone)

# edge_compiled(TARGET): the flags and the precompiled headers of what is ours and is no test.
function(edge_compiled target)
  set(headers edge_library_headers)
  set(options ${EDGE_COVERAGE})
  if(EDGE_SANITIZE)
    file(RELATIVE_PATH here "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
    foreach(room IN LISTS EDGE_WAITING_ROOMS)
      if("${here}/" MATCHES "^${room}/")
        set(options -O0 ${EDGE_COVERAGE})
        set(headers edge_waiting_headers)
      endif()
    endforeach()
    if(here IN_LIST EDGE_UNFUZZED_ROOMS)
      set(options -O0)
      set(headers edge_unfuzzed_headers)
    endif()
  endif()
  target_compile_options(${target} PRIVATE ${options})
  edge_precompiled(${target} ${headers})
endfunction()

# edge_library(NAME SOURCES a.cc ... [DEPS edge_base ...] [PRIVATE third-party ...])
# A folder of the house as a static library. DEPS are rooms of ours (public); third-party libraries stay PRIVATE, so
# that their headers can appear in no header of ours.
function(edge_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE})
  edge_compiled(${name})
endfunction()

# edge_executable(NAME SOURCES a.cc ... [DEPS ...] [PRIVATE ...]): a program in <build>/bin, compiled as a library is.
function(edge_executable name)
  edge_program(${name} ${ARGN})
  # `-fPIC` as the precompiled headers have it, not the `-fPIE` of a program.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  edge_compiled(${name})
endfunction()

# edge_program(NAME SOURCES a.cc ... [DEPS ...] [PRIVATE ...]): a program in <build>/bin, the rest is the caller's.
function(edge_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;PRIVATE" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_PRIVATE})
endfunction()

# Off in the build for sanitizers and fuzz targets (`fuzz`): the same code is gone through there by the tests within one
# process, and what these wait for is longest there.
option(EDGE_PROCESS_TESTS "Tests that drive programs, ours and others, as processes, and those of fleets" ON)

# Begun first, the longest before, so that at the end none is waited for alone. Seconds would not do: they differ by build.
set(EDGE_LONG_TESTS resource_api_test cli_process_test runtime_test resource_api_crash_test oidc_test tables_test cli_test
                    cache_store_test mutations_test control_test daemon_test observers_test)

# edge_test(NAME SOURCES a_test.cc ... [DEPS ...] [PRIVATE ...] [LABELS ...] [OPTIMIZED]): a GoogleTest program, one
# ctest entry. The test's own files are not optimised, which under the sanitizers takes a quarter of the time to compile;
# what they test is. OPTIMIZED is for those that do much work themselves.
function(edge_test name)
  cmake_parse_arguments(arg "OPTIMIZED" "" "SOURCES;DEPS;PRIVATE;LABELS" ${ARGN})
  edge_program(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} PRIVATE ${arg_PRIVATE} GTest::gmock GTest::gtest_main)
  if(NOT arg_OPTIMIZED)
    target_compile_options(${name} PRIVATE -O0)
    edge_precompiled(${name} edge_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 1200)
  list(FIND EDGE_LONG_TESTS ${name} place)
  if(NOT place EQUAL -1)
    math(EXPR cost "100 - ${place}")
    set_tests_properties(${name} PROPERTIES COST ${cost})
  endif()
endfunction()

# edge_fuzzer(NAME SOURCES a_fuzz.cc ... [DEPS ...]): a libFuzzer program; built with -DEDGE_FUZZ=ON alone. Its seeds are
# in tests/fuzz/corpus/NAME. script/test reads the names from <build>/fuzzers.txt.
function(edge_fuzzer name)
  if(NOT EDGE_FUZZ)
    return()
  endif()
  edge_executable(${name} ${ARGN})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_property(GLOBAL APPEND PROPERTY EDGE_FUZZERS ${name})
endfunction()

# edge_benchmark(NAME SOURCES a_bench.cc ... [DEPS ...] [PRIVATE ...]): a program for script/bench. Not built with
# sanitizers: its figures would mean nothing.
function(edge_benchmark name)
  edge_program(${name} ${ARGN})
  if(EDGE_SANITIZE)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
