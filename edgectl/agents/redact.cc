#include "edgectl/agents/redact.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// `secretRef`, `cookieName`, `tokenHeader`, `tokenEndpoint`: they say where something is, not what.
bool says_where(std::string_view name) {
  constexpr std::string_view kEnds[] = {"ref", "refs", "name", "header", "headers", "uri", "url", "endpoint"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

/// `password`, `clientSecret`, `apiKey`.
bool names_credential(std::string_view field) {
  const std::string name = ascii_lower(field);
  return !says_where(name) &&
         contains_any(name, {"password", "passwd", "secret", "token", "credential", "privatekey", "apikey"});
}

std::size_t redact_strings(Json& value) {
  if (value.is_string()) {
    value = kRedacted;
    return 1;
  }
  std::size_t count = 0;
  if (value.is_structured()) {
    for (Json& inner : value) count += redact_strings(inner);
  }
  return count;
}

std::size_t redact_fields(Json& value) {
  std::size_t count = 0;
  if (value.is_string()) return redact_user_information(value.get_ref<std::string&>());
  if (value.is_object()) {
    // `{name: Authorization, value: ...}`, as header modifiers and matches have them.
    const auto name = value.find("name");
    const auto text = value.find("value");
    if (name != value.end() && name->is_string() && text != value.end() && text->is_string() &&
        carries_credential(name->get_ref<const std::string&>())) {
      *text = kRedacted;
      ++count;
    }
    for (auto& [key, inner] : value.items()) {
      // `{add: {Authorization: ...}}`
      const bool field = inner.is_string() && carries_credential(key) && !says_where(ascii_lower(key));
      const bool held = names_credential(key) || field;
      count += held && !inner.is_boolean() && !inner.is_number() ? redact_strings(inner) : redact_fields(inner);
    }
  } else if (value.is_array()) {
    for (Json& inner : value) count += redact_fields(inner);
  }
  return count;
}

}  // namespace

std::size_t redact_user_information(std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = text.find_first_of("/?# \t\"'", begin);
    const std::size_t user = text.substr(begin, end - begin).rfind('@');
    if (user == std::string::npos) continue;
    text.replace(begin, user, kRedacted);
    ++count;
  }
  return count;
}

namespace {

void redact_urls(Json& value) {
  if (value.is_string()) {
    redact_user_information(value.get_ref<std::string&>());
  } else if (value.is_structured()) {
    for (Json& inner : value) redact_urls(inner);
  }
}

}  // namespace

bool carries_credential(std::string_view header) {
  const std::string name = ascii_lower(header);
  return contains_any(name, {"authorization", "cookie", "token", "secret", "api-key", "apikey", "password", "auth"});
}

std::size_t redact(Json& object) {
  if (!object.is_object()) return 0;
  if (const auto metadata = object.find("metadata"); metadata != object.end() && metadata->is_object()) {
    metadata->erase("managedFields");
    // Anything may stand in there, the whole object as it was applied above all.
    if (const auto notes = metadata->find("annotations"); notes != metadata->end()) redact_strings(*notes);
  }
  for (const char* part : {"data", "stringData", "binaryData"}) {
    if (const auto found = object.find(part); found != object.end()) redact_strings(*found);
  }
  // Its messages quote values that were refused.
  if (const auto status = object.find("status"); status != object.end()) redact_urls(*status);
  const auto spec = object.find("spec");
  return spec == object.end() ? 0 : redact_fields(*spec);
}

std::string redact_sentence(std::string text) {
  // `add response header x-token: value`
  constexpr std::string_view kHeader = " header ";
  const bool edits = text.starts_with("set ") || text.starts_with("add ");
  if (const std::size_t at = text.find(kHeader); edits && at != std::string::npos) {
    const std::size_t begin = at + kHeader.size();
    const std::size_t colon = text.find(": ", begin);
    if (colon != std::string::npos && carries_credential(text.substr(begin, colon - begin))) {
      return text.substr(0, colon + 2) + kRedacted;
    }
  }
  // `header:x-token == "value" AND …`: the quoted texts up to what another name begins.
  std::string out;
  bool secret = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '"') {
      for (const std::string_view kind : {"header:", "cookie:", "query:"}) {
        if (text.compare(at, kind.size(), kind) != 0) continue;
        const std::size_t begin = at + kind.size();
        const std::string name = text.substr(begin, text.find_first_of(" )", begin) - begin);
        secret = kind == "cookie:" || carries_credential(name);
      }
      if (text.compare(at, 5, " AND ") == 0 || text.compare(at, 4, " OR ") == 0) secret = false;
      out += text[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
    end = std::min(end + 1, text.size());
    out += secret ? '"' + std::string(kRedacted) + '"' : text.substr(at, end - at);
    at = end;
  }
  return out;
}

void redact_explanation(nlohmann::ordered_json& explanation) {
  if (!explanation.is_structured()) return;
  if (explanation.is_array()) {
    for (auto& inner : explanation) {
      if (inner.is_string()) {
        inner = redact_sentence(inner.get<std::string>());
      } else {
        redact_explanation(inner);
      }
    }
    return;
  }
  for (const auto& [name, inner] : explanation.items()) {
    // What the viewer has typed.
    if (name == "request" || name == "actual") continue;
    if (inner.is_string()) {
      inner = redact_sentence(inner.get<std::string>());
    } else {
      redact_explanation(inner);
    }
  }
}

}  // namespace edge::edgectl
