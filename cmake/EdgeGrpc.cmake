# edge_grpc and edge_gpr: gRPC as pkg-config tells of it. pkg_check_modules asks pkg-config two dozen times, and an answer takes
# the better part of a second, so many packages does gRPC stand on: 18 of the 20 seconds that a build directory's first
# configuration took.
find_package(PkgConfig REQUIRED)

function(edge_grpc_target target module)
  if(NOT DEFINED CACHE{${target}_libraries})
    foreach(question cflags libs)
      execute_process(COMMAND "${PKG_CONFIG_EXECUTABLE}" --${question} ${module} OUTPUT_VARIABLE answer
                      OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      separate_arguments(${question} UNIX_COMMAND "${answer}")
    endforeach()
    list(FILTER libs INCLUDE REGEX "^-[lL]")
    list(REMOVE_DUPLICATES libs)
    set(${target}_options "${cflags}" CACHE INTERNAL "")
    set(${target}_libraries "${libs}" CACHE INTERNAL "")
  endif()
  add_library(${target} INTERFACE)
  target_compile_options(${target} INTERFACE ${${target}_options})
  target_link_libraries(${target} INTERFACE ${${target}_libraries})
endfunction()

edge_grpc_target(edge_grpc grpc++)
edge_grpc_target(edge_gpr gpr)
