#include "runtime/policy/request_filter.h"

#include <algorithm>
#include <utility>

#include "base/field_name.h"
#include "base/text/ascii.h"
#include "program/format/records.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::KnownField;
using net::http1::RequestHead;
using program::Pattern;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool finds(const std::vector<Pattern>& patterns, std::string_view subject) {
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) { return pattern.found_in(subject); });
}

/// As it is written, and as a backend may decode it.
bool finds_in_url(const std::vector<Pattern>& patterns, std::string_view text, bool query) {
  if (patterns.empty()) return false;
  if (finds(patterns, text)) return true;
  return text.find_first_of(query ? "%+" : "%") != std::string_view::npos &&
         finds(patterns, percent_decoded(text, query));
}

std::vector<std::string_view> texts_of(const program::SectionView& section,
                                       program::ArrayRef<program::StringRef> refs) {
  std::vector<std::string_view> texts;
  for (const program::StringRef& ref : section.array(refs)) texts.push_back(section.string(ref));
  return texts;
}

std::uint64_t parameters_in(std::string_view query) {
  if (query.empty()) return 0;
  // Servers separate by `&`, and some by `;`.
  return static_cast<std::uint64_t>(std::ranges::count_if(query, [](char c) { return c == '&' || c == ';'; })) + 1;
}

bool has_body(const RequestHead& head) {
  return head.body.kind != BodyKind::kNone && !(head.body.kind == BodyKind::kLength && head.body.length == 0);
}

PolicyAnswer refuse(int status, std::string_view reason, std::string_view text) { return {status, reason, text, {}}; }

}  // namespace

RequestFilter::RequestFilter(const program::SectionView& policies, const program::RequestFilterRecord& settings,
                             std::shared_ptr<RateLimitTally> tally)
    : policies_(policies),
      settings_(settings),
      tally_(std::move(tally)),
      methods_(texts_of(policies, settings.methods)),
      content_types_(texts_of(policies, settings.content_types)),
      paths_(patterns_of(settings.paths)),
      queries_(patterns_of(settings.queries)),
      bodies_(patterns_of(settings.bodies)) {
  for (const std::string_view method : methods_) allow_.append(allow_.empty() ? "Allow: " : ", ").append(method);
  if (!allow_.empty()) allow_ += "\r\n";
  for (const program::FieldRecord& field : policies.array(settings.headers)) {
    headers_.push_back(
        {policies.string(field.name), Pattern(policies.string(field.value), program::kFilterPatternBytes)});
    usable_ = usable_ && headers_.back().pattern.ok();
  }
}

RequestFilter::Patterns RequestFilter::patterns_of(program::ArrayRef<program::StringRef> texts) {
  Patterns patterns;
  for (const std::string_view text : texts_of(policies_, texts)) {
    patterns.emplace_back(text, program::kFilterPatternBytes);
    usable_ = usable_ && patterns.back().ok();
  }
  return patterns;
}

bool RequestFilter::limits_fields() const {
  return !headers_.empty() || settings_.max_headers != 0 || settings_.max_header_size != 0 ||
         settings_.max_headers_size != 0;
}

std::optional<PolicyAnswer> RequestFilter::pass(const PolicyRequest& policy_request, std::string_view method) const {
  return conclude(policy_request, fault_of(policy_request, method), inspected() == 0 || !has_body(policy_request.head));
}

std::optional<PolicyAnswer> RequestFilter::pass_body(const PolicyRequest& policy_request,
                                                     std::string_view beginning) const {
  return conclude(policy_request, finds(bodies_, beginning.substr(0, inspected())) ? pattern_found() : std::nullopt,
                  true);
}

std::optional<PolicyAnswer> RequestFilter::conclude(const PolicyRequest& policy_request,
                                                    std::optional<PolicyAnswer> fault, bool counts_pass) const {
  if (!usable_) return refuse(503, "policy-unavailable", "A policy that protects this route cannot be enforced.");
  if (tally_ != nullptr && (fault || counts_pass)) tally_->count(policy_request.source.bytes.back(), !fault);
  if (settings_.shadow != 0) return std::nullopt;
  return fault;
}

std::optional<PolicyAnswer> RequestFilter::pattern_found() const {
  return refuse(static_cast<int>(settings_.status), "pattern-refused",
                "The request contains something that is not accepted here.");
}

std::optional<PolicyAnswer> RequestFilter::fault_of(const PolicyRequest& policy_request,
                                                    std::string_view method) const {
  const RequestHead& head = policy_request.head;
  if (!methods_.empty() && !std::ranges::binary_search(methods_, method)) {
    PolicyAnswer answer = refuse(405, "method-refused", "The method is not allowed here.");
    answer.fields = allow_;
    return answer;
  }
  if (auto fault = fault_of_fields(head)) return fault;
  if (parameters_in(head.query) > settings_.max_query_parameters) {
    return refuse(400, "query-refused", "The query has too many parameters.");
  }
  if (auto fault = fault_of_type(head)) return fault;
  const bool too_large =
      settings_.max_body_size != 0 && head.body.kind == BodyKind::kLength && head.body.length > settings_.max_body_size;
  if (too_large) return refuse(413, "body-too-large", "The request's body is larger than allowed.");
  if (finds_in_url(paths_, policy_request.path, false) || finds_in_url(queries_, head.query, true)) {
    return pattern_found();
  }
  return std::nullopt;
}

std::optional<PolicyAnswer> RequestFilter::fault_of_fields(const RequestHead& head) const {
  if (!limits_fields()) return std::nullopt;
  const auto too_much = [] {
    return refuse(431, "headers-refused", "The header fields are more or larger than allowed.");
  };
  const auto all = head.fields.all();
  if (settings_.max_headers != 0 && all.size() > settings_.max_headers) return too_much();
  std::uint64_t sum = 0;
  for (const Field& field : all) {
    const std::uint64_t size = field.name.size() + field.value.size();
    sum += size;
    if (settings_.max_header_size != 0 && size > settings_.max_header_size) return too_much();
    if (settings_.max_headers_size != 0 && sum > settings_.max_headers_size) return too_much();
  }
  for (const Named& named : headers_) {
    const bool found = std::ranges::any_of(all, [&](const Field& field) {
      return (named.name.empty() || same_field(field.name, named.name)) && named.pattern.found_in(field.value);
    });
    if (found) return pattern_found();
  }
  return std::nullopt;
}

std::optional<PolicyAnswer> RequestFilter::fault_of_type(const RequestHead& head) const {
  if (content_types_.empty() || !has_body(head)) return std::nullopt;
  const auto refused = [] { return refuse(415, "type-refused", "The body's media type is not accepted here."); };
  // Of two fields a backend may believe either.
  if (std::ranges::count_if(head.fields.all(),
                            [](const Field& field) { return same_field(field.name, "content-type"); }) != 1) {
    return refused();
  }
  std::string_view value;
  for (const Field& field : head.fields.all()) {
    if (same_field(field.name, "content-type")) value = field.value;
  }
  std::string type = ascii_lower(trim_blanks(value.substr(0, value.find(';'))));
  if (std::ranges::binary_search(content_types_, std::string_view(type))) return std::nullopt;
  const std::size_t slash = type.find('/');
  if (slash == std::string::npos || slash + 1 == type.size()) return refused();
  type.replace(slash + 1, std::string::npos, "*");
  if (std::ranges::binary_search(content_types_, std::string_view(type))) return std::nullopt;
  return refused();
}

std::string percent_decoded(std::string_view text, bool query) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool encoded =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    if (encoded) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace edge::runtime
