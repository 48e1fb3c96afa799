#include "compiler/link/retry_on.h"

#include <string_view>
#include <utility>

#include "compiler/link/defaults.h"
#include "program/format/format.h"

namespace edge::compiler::link {
namespace {

constexpr std::pair<std::string_view, program::RetryOn> kNames[] = {
    {"5xx", program::kRetry5xx},
    {"reset", program::kRetryReset},
    {"connect-failure", program::kRetryConnectFailure},
    {"retriable-4xx", program::kRetryRetriable4xx},
    {"refused-stream", program::kRetryRefusedStream},
    {"429", program::kRetry429},
    {"500", program::kRetry500},
    {"502", program::kRetry502},
    {"503", program::kRetry503},
    {"504", program::kRetry504},
};

}  // namespace

std::uint16_t retry_on_bits(const std::vector<Located<std::string>>& names) {
  if (names.empty()) return kDefaults.retry_on;
  std::uint16_t bits = 0;
  for (const Located<std::string>& name : names) {
    const std::string_view text = name.value == "connection-failure" ? "connect-failure" : std::string_view(name.value);
    for (const auto& [known, bit] : kNames) {
      if (known == text) bits |= bit;
    }
  }
  return bits;
}

std::string retry_on_text(std::uint16_t bits) {
  std::string text;
  for (const auto& [name, bit] : kNames) {
    if ((bits & bit) == 0) continue;
    if (!text.empty()) text += ",";
    text += name;
  }
  return text;
}

}  // namespace edge::compiler::link
