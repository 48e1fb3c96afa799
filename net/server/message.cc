#include "net/server/message.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace edge::net::server {
namespace {

const std::string* find(const FieldList& fields, std::string_view name) {
  const auto found =
      std::ranges::find_if(fields, [name](const auto& field) { return equals_ignoring_case(field.first, name); });
  return found == fields.end() ? nullptr : &found->second;
}

}  // namespace

std::string_view Request::field(std::string_view name) const {
  const std::string* const value = find(fields, name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

bool Request::has(std::string_view name) const { return find(fields, name) != nullptr; }

}  // namespace edge::net::server
