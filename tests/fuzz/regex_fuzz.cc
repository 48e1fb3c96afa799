// Any bytes as a pattern: reading ends, faults point into the text, RE2 takes what is accepted, samples are bounded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compiler/expr/regex_matcher.h"
#include "compiler/expr/regex_sample.h"
#include "compiler/expr/regex_syntax.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edge::compiler::expr;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParsedRegex parsed = parse_regex(text);
  if (parsed.regex.has_value() == parsed.fault.has_value()) std::abort();
  if (parsed.fault) {
    if (parsed.fault->begin > parsed.fault->end || parsed.fault->end > size) std::abort();
    return 0;
  }
  if (re2_refusal(parsed.regex->pattern)) std::abort();
  const ParsedRegex again = parse_regex(parsed.regex->pattern);
  // The canonical form spells flags and classes out, so it may pass the limit of length; nothing else may change.
  if (!again.regex) {
    if (parsed.regex->pattern.size() <= kMaxRegexBytes) std::abort();
  } else if (again.regex->pattern != parsed.regex->pattern) {
    std::abort();
  }
  for (const std::string& sample : sample_matches(parsed.regex->root, 4)) {
    if (sample.size() > 64 * 1024) std::abort();
  }
  return 0;
}
