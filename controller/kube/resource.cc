#include "controller/kube/resource.h"

#include <algorithm>

namespace edge::kube {
namespace {

/// Unreserved characters stay (RFC 3986 §2.3); a selector's `=` and `,` are encoded, which every server reads.
void append_encoded(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
}

}  // namespace

bool Resource::has_verb(std::string_view verb) const { return std::ranges::find(verbs, verb) != verbs.end(); }

bool Resource::has_subresource(std::string_view name) const {
  return std::ranges::find(subresources, name) != subresources.end();
}

std::string path_of(const Resource& resource, std::string_view name_space, std::string_view name,
                    std::string_view subresource) {
  std::string path = resource.group.empty() ? "/api" : "/apis";
  const auto part = [&path](std::string_view text) {
    path += '/';
    append_encoded(path, text);
  };
  if (!resource.group.empty()) part(resource.group);
  part(resource.version);
  if (resource.namespaced && !name_space.empty()) {
    part("namespaces");
    part(name_space);
  }
  if (!resource.plural.empty()) part(resource.plural);
  if (!name.empty()) part(name);
  if (!subresource.empty()) part(subresource);
  return path;
}

Query& Query::add(std::string_view name, std::string_view value) {
  text_ += text_.empty() ? '?' : '&';
  append_encoded(text_, name);
  text_ += '=';
  append_encoded(text_, value);
  return *this;
}

Query& Query::add_some(std::string_view name, std::string_view value) {
  return value.empty() ? *this : add(name, value);
}

}  // namespace edge::kube
