// Any bytes as YAML: reading ends, every span lies in the text, every diagnostic can be printed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/yaml/read.h"

namespace {

using edge::compiler::yaml::Node;

void check(const Node& node, std::size_t text_size) {
  const edge::Span span = node.span();
  if (span.somewhere() && (span.begin > span.end || span.end > text_size)) std::abort();
  const edge::Span key = node.key_span();
  if (key.somewhere() && (key.begin > key.end || key.end > text_size)) std::abort();
  if (!node.is_map() && !node.is_list()) return;
  std::uint32_t children = 0;
  for (const Node child : node) {
    check(child, text_size);
    ++children;
  }
  if (children != node.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  edge::SourceMap sources;
  const std::uint32_t source = sources.add("fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size));
  edge::Diagnostics diagnostics(100);
  for (const auto& document : edge::compiler::yaml::read_documents(sources, source, diagnostics)) {
    check(Node(&document, 0), size);
  }
  diagnostics.finish(sources);
  for (const auto& diagnostic : diagnostics.all()) (void)edge::render(diagnostic, sources, edge::Colour::kNo);
  return 0;
}
