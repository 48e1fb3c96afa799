#include <optional>

#include "base/text/ascii.h"
#include "program/evaluate/evaluate.h"

namespace edge::program {
namespace {

std::string query_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      decoded.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return decoded;
}

std::optional<std::string> query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (query_decoded(pair.substr(0, equals)) != key) continue;
    return equals == std::string_view::npos ? std::string() : query_decoded(pair.substr(equals + 1));
  }
  return std::nullopt;
}

/// Present even when empty: an absent slot is told by a null pointer.
SlotValue present(std::string_view text) { return {text.data() == nullptr ? "" : text.data(), text.size()}; }

SlotValue header_value(std::span<const Field> headers, std::string_view name, std::string& joined) {
  SlotValue value{nullptr, 0};
  for (const Field& field : headers) {
    if (!equals_ignoring_case(field.name, name)) continue;
    if (value.data == nullptr) {
      value = present(field.value);
      continue;
    }
    if (value.data != joined.data()) joined.assign(value.data, value.size);
    joined.append(", ").append(field.value);
    value = present(joined);
  }
  return value;
}

}  // namespace

SlotValues::SlotValues(const Section& host, const RequestView& request, const RegexMatcher& regex)
    : source_(request.source) {
  const auto& header = host.view.header<HostHeader>();
  const auto slots = host.view.array(header.slots);
  storage_.resize(slots.size());
  values_ = {present(request.method), present(request.path)};
  values_.reserve(kFirstHostSlot + slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::string_view name = host.view.string(slots[i].name);
    if (slots[i].kind == SlotKind::kHeader) {
      values_.push_back(header_value(request.headers, name, storage_[i]));
    } else if (auto value = query_value(request.query, name)) {
      storage_[i] = std::move(*value);
      values_.push_back(present(storage_[i]));
    } else {
      values_.push_back({nullptr, 0});
    }
  }

  const auto regexes = host.view.array(header.regexes);
  hits_.resize((regexes.size() + 63) / 64);
  for (std::size_t i = 0; i < regexes.size(); ++i) {
    const SlotValue& subject = values_[regexes[i].slot];
    if (subject.data != nullptr && regex(host.view.string(regexes[i].pattern), {subject.data, subject.size}))
      hits_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  input_ = {values_.data(), source_.bytes.data(), hits_.empty() ? nullptr : hits_.data()};
}

}  // namespace edge::program
