#include "runtime/shape/accept_encoding.h"

#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

using net::http1::HeadFields;
using net::http1::KnownField;
using program::ContentCoding;

// qvalue of RFC 9110 §12.4.2 in thousandths; 0 for what is none, so that it selects nothing.
std::int16_t weight_of(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1')) return 0;
  if (text.size() > 5 || (text.size() > 1 && text[1] != '.')) return 0;
  int weight = (text[0] - '0') * 1000;
  int position = 100;
  for (const char c : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (c < '0' || c > '9') return 0;
    weight += (c - '0') * position;
    position /= 10;
  }
  return static_cast<std::int16_t>(weight > 1000 ? 0 : weight);
}

}  // namespace

AcceptedCodings AcceptedCodings::of(const HeadFields& fields) {
  AcceptedCodings codings;
  if (!fields.has(KnownField::kAcceptEncoding)) return codings;
  const auto first = static_cast<std::size_t>(fields.index(KnownField::kAcceptEncoding));
  const std::size_t end = fields.repeated(KnownField::kAcceptEncoding) ? fields.size() : first + 1;
  for (std::size_t i = first; i < end; ++i) {
    if (fields.known(i) == KnownField::kAcceptEncoding) codings.add(fields[i].value);
  }
  return codings;
}

void AcceptedCodings::add(std::string_view value) {
  while (!value.empty()) {
    std::string_view item = next_part(value, ',');
    const std::string_view name = next_part(item, ';');
    std::int16_t weight = 1000;
    while (!item.empty()) {
      const std::string_view parameter = next_part(item, ';');
      if (parameter.size() >= 2 && (parameter[0] | 0x20) == 'q' && parameter[1] == '=') {
        weight = weight_of(parameter.substr(2));
      }
    }
    if (equals_ignoring_case(name, "gzip") || equals_ignoring_case(name, "x-gzip")) named_[kGzip] = weight;
    if (equals_ignoring_case(name, "br")) named_[kBrotli] = weight;
    if (equals_ignoring_case(name, "identity")) named_[kIdentity] = weight;
    if (name == "*") named_[kAny] = weight;
  }
}

int AcceptedCodings::weight(ContentCoding coding) const {
  const std::int16_t own = named_[coding == ContentCoding::kGzip ? kGzip : kBrotli];
  const std::int16_t weight = own >= 0 ? own : named_[kAny];
  return weight > 0 ? weight : 0;
}

std::optional<ContentCoding> choose_coding(std::span<const ContentCoding> algorithms, const AcceptedCodings& accepted) {
  for (const ContentCoding coding : algorithms) {
    const int weight = accepted.weight(coding);
    if (weight > 0 && weight >= accepted.identity_weight()) return coding;
  }
  return std::nullopt;
}

}  // namespace edge::runtime
