# edge_llvm: LLVM and lld 19 from Debian, lld as the static archives that it comes as. LLVM is its one shared library (fast to
# link, as some eighty programs of the tests are); with EDGE_STATIC_LLVM, for packages, the archives: then only the code
# that is called is carried, a quarter of the 190 MB of libLLVM and what it depends on.
option(EDGE_STATIC_LLVM "Link LLVM from its static archives" OFF)
find_program(LLVM_CONFIG llvm-config-19 REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_include OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm_lib OUTPUT_STRIP_TRAILING_WHITESPACE)

add_library(edge_llvm INTERFACE)
target_include_directories(edge_llvm SYSTEM INTERFACE ${llvm_include})
target_link_libraries(edge_llvm INTERFACE ${llvm_lib}/liblldELF.a ${llvm_lib}/liblldCommon.a)
if(EDGE_STATIC_LLVM)
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libfiles core orcjit native passes lto option
    OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(llvm_archives UNIX_COMMAND "${llvm_archives}")
  list(FILTER llvm_archives EXCLUDE REGEX "libPolly")
  execute_process(COMMAND ${LLVM_CONFIG} --targets-built OUTPUT_VARIABLE llvm_targets OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(llvm_targets UNIX_COMMAND "${llvm_targets}")
  execute_process(COMMAND ${LLVM_CONFIG} --host-target OUTPUT_VARIABLE llvm_host OUTPUT_STRIP_TRAILING_WHITESPACE)
  # lld makes every target known to LLVM, and its link-time optimisation the Polly passes. Neither is used here: native
  # code is made for this machine's processor, and linked as it is.
  set(absent "// Targets of LLVM that are not linked (cmake/EdgeLlvm.cmake).\n#include <llvm/Passes/PassPlugin.h>\n\nextern \"C\" {\n")
  foreach(target IN LISTS llvm_targets)
    if((target STREQUAL "X86" AND llvm_host MATCHES "^x86_64") OR (target STREQUAL "AArch64" AND llvm_host MATCHES "^aarch64"))
      continue()
    endif()
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
      string(APPEND absent "void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endforeach()
  string(APPEND absent "}\n\nllvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }\n")
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/absent_targets.cc" CONTENT "${absent}")
  add_library(edge_llvm_absent STATIC "${CMAKE_BINARY_DIR}/absent_targets.cc")
  target_include_directories(edge_llvm_absent SYSTEM PRIVATE ${llvm_include})
  set_target_properties(edge_llvm_absent PROPERTIES UNITY_BUILD OFF)
  target_compile_options(edge_llvm_absent PRIVATE -Wno-missing-prototypes)
  target_link_libraries(edge_llvm INTERFACE
    -Wl,--start-group edge_llvm_absent ${llvm_archives} -Wl,--end-group -Wl,--as-needed z3 xml2)
else()
  target_link_libraries(edge_llvm INTERFACE ${llvm_lib}/libLLVM-19.so)
endif()
target_link_libraries(edge_llvm INTERFACE z zstd)
