set(compile_sources compile.cc compile_native.cc compile_regex.cc)
if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/read_config.cc")
  list(APPEND compile_sources read_config.cc)
endif()
edge_library(edge_compiler SOURCES ${compile_sources}
  DEPS edge_program edge_compiler_link edge_compiler_ir edge_compiler_emit edge_compiler_analyze)
