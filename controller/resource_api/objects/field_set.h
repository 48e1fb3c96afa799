// A set of fields of an object, for managedFields: paths of field names, list items by key, by value or by index. Its
// text form is fieldsV1.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// One step of a path. The text is that of fieldsV1: `f:name`, `k:{"port":80,"protocol":"TCP"}` (keys sorted, no
/// spaces), `v:"text"`, `i:0`.
struct PathStep {
  std::string text;

  static PathStep field(std::string_view name);
  static PathStep key(const Json& keys);
  static PathStep value(const Json& value);
  static PathStep index(std::size_t at);

  auto operator<=>(const PathStep&) const = default;
};

/// A set of paths. A path may be a member and have members below it (`.` in fieldsV1).
class FieldSet {
 public:
  bool empty() const { return !member_ && below_.empty(); }
  /// Returns whether the path to this node is in the set.
  bool member() const { return member_; }
  void set_member(bool member) { member_ = member; }
  FieldSet& at(const PathStep& step) { return below_[step]; }
  void insert(std::span<const PathStep> path);
  const FieldSet* find(const PathStep& step) const;
  const std::map<PathStep, FieldSet>& below() const { return below_; }

  /// Union, intersection and difference.
  FieldSet united(const FieldSet& other) const;
  FieldSet intersected(const FieldSet& other) const;
  FieldSet without(const FieldSet& other) const;
  /// Returns the set without the paths in `other` and all below them.
  FieldSet without_below(const FieldSet& other) const;
  bool operator==(const FieldSet&) const = default;

  /// Visits every path in readable form: `.spec.ports[port=80,protocol="TCP"].name`.
  void each(const std::function<void(const std::string& path)>& visit) const;

  /// Parses fieldsV1. 400 when it is invalid or nested too deeply.
  static Answer<FieldSet> parse(const Json& fields_v1);
  Json to_json() const;

 private:
  bool member_ = false;
  std::map<PathStep, FieldSet> below_;
};

}  // namespace edge::resource_api::objects
