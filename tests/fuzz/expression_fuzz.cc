// Any bytes as a routing expression: reading ends, faults point into the text, the canonical text means the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compiler/expr/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using edge::compiler::expr::parse_expression;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_expression(text);
  if (parsed.expression.has_value() == parsed.fault.has_value()) std::abort();
  if (parsed.fault) {
    if (parsed.fault->begin > parsed.fault->end || parsed.fault->end > size) std::abort();
    return 0;
  }
  const std::string canonical = edge::compiler::expr::to_text(*parsed.expression);
  // A name that needed no quotes may need them now, so the canonical text of the longest input can pass the limit.
  if (canonical.size() > edge::compiler::expr::kMaxExpressionBytes) return 0;
  const auto again = parse_expression(canonical);
  if (!again.expression || !(*again.expression == *parsed.expression)) std::abort();
  return 0;
}
