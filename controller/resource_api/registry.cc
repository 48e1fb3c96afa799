#include "controller/resource_api/registry.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "controller/resource_api/builtin_kinds.h"

namespace edge::resource_api {
namespace {

/// `v2beta3` as {stability, 2, 3}: greater is better; a name of another form has stability 0.
std::tuple<int, std::uint32_t, std::uint32_t> rank(std::string_view name) {
  const auto number = [&name](std::uint32_t& value) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error != std::errc{}) return false;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    return true;
  };
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  if (!name.starts_with('v')) return {0, 0, 0};
  name.remove_prefix(1);
  if (!number(major)) return {0, 0, 0};
  if (name.empty()) return {3, major, 0};
  const int stability = name.starts_with("beta") ? 2 : name.starts_with("alpha") ? 1 : 0;
  if (stability == 0) return {0, 0, 0};
  name.remove_prefix(stability == 2 ? 4 : 5);
  if (!number(minor) || !name.empty()) return {0, 0, 0};
  return {stability, major, minor};
}

}  // namespace

bool better_version(std::string_view a, std::string_view b) {
  const auto left = rank(a);
  const auto right = rank(b);
  return left != right ? left > right : a < b;
}

Registry::Registry() : types_(builtin_types()) { sort(); }

ResourceTypePtr Registry::find(std::string_view group, std::string_view version, std::string_view plural) const {
  for (const ResourceTypePtr& type : types_) {
    if (type->group == group && type->version == version && type->plural == plural) return type;
  }
  return nullptr;
}

ResourceTypePtr Registry::find_kind(std::string_view group, std::string_view version, std::string_view kind) const {
  for (const ResourceTypePtr& type : types_) {
    if (type->group == group && type->version == version && type->kind == kind) return type;
  }
  return nullptr;
}

ResourceTypePtr Registry::storage_of(std::string_view collection) const {
  ResourceTypePtr any;
  for (const ResourceTypePtr& type : types_) {
    if (type->collection != collection) continue;
    if (type->storage) return type;
    any = type;
  }
  return any;
}

void Registry::replace(std::string_view collection, std::vector<ResourceTypePtr> versions) {
  std::erase_if(types_, [&](const ResourceTypePtr& type) { return type->collection == collection; });
  std::move(versions.begin(), versions.end(), std::back_inserter(types_));
  sort();
  ++generation_;
}

void Registry::sort() {
  std::sort(types_.begin(), types_.end(), [](const ResourceTypePtr& a, const ResourceTypePtr& b) {
    if (a->group != b->group) return a->group < b->group;
    if (a->version != b->version) return better_version(a->version, b->version);
    return a->plural < b->plural;
  });
}

}  // namespace edge::resource_api
