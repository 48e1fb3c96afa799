// Any bytes as a configuration: the front half of the compiler and the lowering of every host, whose result must not
// depend on chance. What is refused is refused with a diagnostic that can be printed.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/compile.h"
#include "compiler/ir/lower.h"
#include "compiler/link/linked_config.h"
#include "compiler/opt/passes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  edge::SourceMap sources;
  sources.add("fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size));
  edge::Diagnostics diagnostics(100);
  const auto config = edge::compiler::read_config(sources, diagnostics);
  edge::compiler::ir::PreparedRoutes prepared;
  prepared.prepare(config, diagnostics);
  for (const auto& [key, routes] : edge::compiler::ir::collect_hosts(config)) {
    auto host = edge::compiler::ir::lower_host(config, prepared, key, routes);
    edge::compiler::opt::optimize(host);
  }
  diagnostics.finish(sources);
  for (const auto& diagnostic : diagnostics.all()) (void)edge::render(diagnostic, sources, edge::Colour::kNo);
  return 0;
}
