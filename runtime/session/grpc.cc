#include "runtime/session/grpc.h"

#include <charconv>

#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

constexpr std::string_view kType = "application/grpc";
constexpr std::size_t kMostDigits = 8;

net::Duration unit_of(char unit) {
  switch (unit) {
    case 'H':
      return std::chrono::hours(1);
    case 'M':
      return std::chrono::minutes(1);
    case 'S':
      return std::chrono::seconds(1);
    case 'm':
      return std::chrono::milliseconds(1);
    case 'u':
      return std::chrono::microseconds(1);
    case 'n':
      return std::chrono::nanoseconds(1);
    default:
      return net::Duration(0);
  }
}

}  // namespace

bool is_grpc(const net::http1::HeadFields& fields) {
  if (!fields.has(net::http1::KnownField::kContentType)) return false;
  const std::string_view type = fields.value(net::http1::KnownField::kContentType);
  if (!starts_with_ignoring_case(type, kType)) return false;
  return type.size() == kType.size() || type[kType.size()] == '+' || type[kType.size()] == ';';
}

int grpc_status(int http_status) {
  switch (http_status) {
    case 400:
    case 500:
      return 13;  // INTERNAL
    case 401:
      return 16;  // UNAUTHENTICATED
    case 403:
      return 7;  // PERMISSION_DENIED
    case 404:
      return 12;  // UNIMPLEMENTED
    case 408:
    case 504:
      return 4;  // DEADLINE_EXCEEDED
    case 413:
    case 431:
      return 8;  // RESOURCE_EXHAUSTED
    case 429:
    case 502:
    case 503:
      return 14;  // UNAVAILABLE: may be tried again
    default:
      return 2;  // UNKNOWN
  }
}

std::optional<net::Duration> grpc_timeout(const net::http1::HeadFields& fields) {
  for (const Field& field : fields.all()) {
    if (!equals_ignoring_case(field.name, "grpc-timeout")) continue;
    if (field.value.size() < 2 || field.value.size() > kMostDigits + 1) return std::nullopt;
    const net::Duration unit = unit_of(field.value.back());
    const std::string_view digits = field.value.substr(0, field.value.size() - 1);
    std::int64_t count = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || count < 0) return std::nullopt;
    if (unit.count() == 0) return std::nullopt;
    // No more than our times hold.
    return count > net::Duration::max() / unit / 2 ? net::Duration::max() / 2 : count * unit;
  }
  return std::nullopt;
}

}  // namespace edge::runtime
