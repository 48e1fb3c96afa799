# What is kept on disk of compiled code and databases is named by the sources of the compiler that made it, too.
set(revised ${CMAKE_CURRENT_SOURCE_DIR}/../program/abi.h ${CMAKE_CURRENT_SOURCE_DIR}/compile_native.cc)
file(GLOB emitters CONFIGURE_DEPENDS emit/native*.cc emit/native*.h emit/regex*.cc emit/regex*.h)
list(APPEND revised ${emitters})
set(revision_header ${CMAKE_BINARY_DIR}/generated/compiler/emit_revision.h)
add_custom_command(OUTPUT ${revision_header}
  COMMAND ${CMAKE_COMMAND} "-DOUT=${revision_header}" "-DFILES=${revised}" -P ${CMAKE_SOURCE_DIR}/cmake/Revision.cmake
  DEPENDS ${revised} ${CMAKE_SOURCE_DIR}/cmake/Revision.cmake
  VERBATIM)

edge_library(edge_compiler SOURCES ${revision_header}
    compile.cc compile_hosts.cc compile_limits.cc compile_native.cc compile_refusals.cc
    compile_regex.cc compiled_hosts.cc disk_cache.cc read_config.cc workspace.cc workspace_link.cc workspace_resources.cc
  DEPS edge_program edge_compiler_lint edge_compiler_link edge_compiler_translate edge_compiler_ir edge_compiler_opt edge_compiler_emit edge_compiler_prove)
target_include_directories(edge_compiler PRIVATE ${CMAKE_BINARY_DIR}/generated)
edge_test(compile_test SOURCES compile_test.cc DEPS edge_compiler)
add_dependencies(compile_test edge-regexc)
edge_test(fingerprint_test SOURCES fingerprint_test.cc DEPS edge_compiler)
edge_test(workspace_test SOURCES workspace_test.cc DEPS edge_compiler)
add_dependencies(workspace_test edge-regexc)
edge_test(workspace_edits_test SOURCES workspace_edits_test.cc DEPS edge_compiler)
add_dependencies(workspace_edits_test edge-regexc)
edge_test(disk_cache_test SOURCES disk_cache_test.cc DEPS edge_compiler)
edge_test(read_config_test SOURCES read_config_test.cc DEPS edge_compiler)
