# Flags that hold for every target. clang-19 with libstdc++ 12: g++ 12.2 miscompiles some coroutines.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "edge-proxy is built with clang 19 (cmake --preset release); found ${CMAKE_CXX_COMPILER_ID}")
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough -Werror)
# libstdc++ 12's own std::stable_sort calls a function that it has marked deprecated.
add_compile_options(-Wno-deprecated-declarations)
add_compile_definitions(EDGE_API_GROUP="${EDGE_API_GROUP}" EDGE_VERSION="${PROJECT_VERSION}")
add_link_options(-fuse-ld=lld-19)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -fno-omit-frame-pointer")
if(EDGE_SANITIZE)
  # object-size repeats what AddressSanitizer knows better, and takes two fifths of the time to compile.
  add_compile_options(-fsanitize=${EDGE_SANITIZE} -fno-sanitize=object-size -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EDGE_SANITIZE})
endif()
# What shows libFuzzer the ways through the code. Not for tests, nor for rooms that no target goes through: it takes a
# seventh of the time to compile, and half of the space.
set(EDGE_COVERAGE "")
if(EDGE_FUZZ)
  set(EDGE_COVERAGE -fsanitize=fuzzer-no-link)
endif()
