edge_library(edge_compiler SOURCES compile.cc compile_limits.cc compile_native.cc compile_regex.cc read_config.cc
  DEPS edge_program edge_compiler_lint edge_compiler_link edge_compiler_ir edge_compiler_emit edge_compiler_analyze)
edge_test(compile_test SOURCES compile_test.cc DEPS edge_compiler)
add_dependencies(compile_test edge-regexc)
edge_test(read_config_test SOURCES read_config_test.cc DEPS edge_compiler)
