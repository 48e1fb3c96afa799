#include "program/evaluate/request_filter.h"

#include <algorithm>
#include <map>

#include "base/field_name.h"
#include "base/text/ascii.h"
#include "program/format/records.h"

namespace edge::program {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// As it is written, and as a backend may decode it.
bool finds_in_url(const PatternSet& patterns, std::string_view text, bool query) {
  if (patterns.empty()) return false;
  if (patterns.finds_any(text)) return true;
  return text.find_first_of(query ? "%+" : "%") != std::string_view::npos &&
         patterns.finds_any(percent_decoded(text, query));
}

std::uint64_t parameters_in(std::string_view query) {
  if (query.empty()) return 0;
  // Servers separate by `&`, and some by `;`.
  return static_cast<std::uint64_t>(std::ranges::count_if(query, [](char c) { return c == '&' || c == ';'; })) + 1;
}

}  // namespace

HeadFilter::HeadFilter(const SectionView& policies, const RequestFilterRecord& settings)
    : settings_(settings),
      methods_(texts_of(policies, settings.methods)),
      content_types_(texts_of(policies, settings.content_types)),
      paths_(texts_of(policies, settings.paths)),
      queries_(texts_of(policies, settings.queries)) {
  std::map<std::string_view, std::vector<std::string_view>> by_name;
  for (const FieldRecord& field : policies.array(settings.headers)) {
    by_name[policies.string(field.name)].push_back(policies.string(field.value));
  }
  for (const auto& [name, texts] : by_name) headers_.push_back({name, PatternSet(texts)});
  usable_ = paths_.ok() && queries_.ok() &&
            std::ranges::all_of(headers_, [](const Named& named) { return named.patterns.ok(); });
}

bool HeadFilter::limits_fields() const {
  return !headers_.empty() || settings_.max_headers != 0 || settings_.max_header_size != 0 ||
         settings_.max_headers_size != 0;
}

std::optional<FilterFault> HeadFilter::fault_of(const FilteredHead& head) const {
  if (!methods_.empty() && !std::ranges::binary_search(methods_, head.method)) return FilterFault::kMethod;
  if (const auto fault = fault_of_fields(head.fields)) return fault;
  if (parameters_in(head.query) > settings_.max_query_parameters) return FilterFault::kQueryParameters;
  if (head.has_body && !content_types_.empty() && !takes_type(head.fields)) return FilterFault::kMediaType;
  if (settings_.max_body_size != 0 && head.body_length > settings_.max_body_size) return FilterFault::kBodyTooLarge;
  if (finds_in_url(paths_, head.path, false)) return FilterFault::kPathPattern;
  if (finds_in_url(queries_, head.query, true)) return FilterFault::kQueryPattern;
  return std::nullopt;
}

std::optional<FilterFault> HeadFilter::fault_of_fields(std::span<const Field> fields) const {
  if (!limits_fields()) return std::nullopt;
  if (settings_.max_headers != 0 && fields.size() > settings_.max_headers) return FilterFault::kTooManyFields;
  std::uint64_t sum = 0;
  for (const Field& field : fields) {
    const std::uint64_t size = field.name.size() + field.value.size();
    sum += size;
    if (settings_.max_header_size != 0 && size > settings_.max_header_size) return FilterFault::kFieldTooLarge;
    if (settings_.max_headers_size != 0 && sum > settings_.max_headers_size) return FilterFault::kFieldsTooLarge;
  }
  for (const Named& named : headers_) {
    const bool found = std::ranges::any_of(fields, [&](const Field& field) {
      return (named.name.empty() || same_field(field.name, named.name)) && named.patterns.finds_any(field.value);
    });
    if (found) return FilterFault::kFieldPattern;
  }
  return std::nullopt;
}

bool HeadFilter::takes_type(std::span<const Field> fields) const {
  const auto is_type = [](const Field& field) { return same_field(field.name, "content-type"); };
  // Of two fields a backend may believe either.
  if (std::ranges::count_if(fields, is_type) != 1) return false;
  const std::string_view value = std::ranges::find_if(fields, is_type)->value;
  std::string type = ascii_lower(trim_blanks(value.substr(0, value.find(';'))));
  if (std::ranges::binary_search(content_types_, std::string_view(type))) return true;
  const std::size_t slash = type.find('/');
  if (slash == std::string::npos || slash + 1 == type.size()) return false;
  type.replace(slash + 1, std::string::npos, "*");
  return std::ranges::binary_search(content_types_, std::string_view(type));
}

std::vector<std::string_view> texts_of(const SectionView& section, ArrayRef<StringRef> refs) {
  std::vector<std::string_view> texts;
  for (const StringRef& ref : section.array(refs)) texts.push_back(section.string(ref));
  return texts;
}

std::string percent_decoded(std::string_view text, bool query) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool encoded =
        text[i] == '%' && i + 2 < text.size() && digit_of(text[i + 1]) >= 0 && digit_of(text[i + 2]) >= 0;
    if (encoded) {
      out += static_cast<char>(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2]));
      i += 2;
    } else {
      out += query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace edge::program
