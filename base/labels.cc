#include "base/labels.h"

#include <algorithm>

namespace edge {
namespace {

constexpr std::size_t kMaxName = 63;
constexpr std::size_t kMaxPrefix = 253;

bool alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool any_alphanumeric(char c) { return alphanumeric(c) || (c >= 'A' && c <= 'Z'); }

bool is_subdomain(std::string_view text) {
  if (text.size() > kMaxPrefix) return false;
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (label.empty() || !alphanumeric(label.front()) || !alphanumeric(label.back())) return false;
    if (!std::ranges::all_of(label, [](char c) { return alphanumeric(c) || c == '-'; })) return false;
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && any_alphanumeric(text.front()) && any_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return any_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return is_name(key);
  return is_subdomain(key.substr(0, slash)) && is_name(key.substr(slash + 1));
}

bool is_label_value(std::string_view value) { return value.empty() || is_name(value); }

Result<Labels> parse_labels(const std::vector<std::string>& texts) {
  if (texts.size() > kMaxLabels) {
    return Error{ErrorCode::kInvalidArgument, "more than " + std::to_string(kMaxLabels) + " labels"};
  }
  Labels labels;
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string key = text.substr(0, equals);
    const std::string value = text.substr(std::min(equals + 1, text.size()));
    if (equals == text.size() || !is_label_key(key) || !is_label_value(value)) {
      return Error{ErrorCode::kInvalidArgument,
                   "`" + text.substr(0, 128) + "` is no label: KEY=VALUE as on a Kubernetes object"};
    }
    if (!labels.emplace(key, value).second) {
      return Error{ErrorCode::kInvalidArgument, "the label `" + key + "` stands twice"};
    }
  }
  return labels;
}

bool selects(const Labels& selector, const Labels& labels) {
  return std::ranges::all_of(selector, [&](const auto& wanted) {
    const auto found = labels.find(wanted.first);
    return found != labels.end() && found->second == wanted.second;
  });
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

}  // namespace edge
