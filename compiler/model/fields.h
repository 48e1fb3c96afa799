// Reads the fields of a validated map, whose types and formats are correct.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "compiler/model/backend.h"
#include "compiler/model/metadata.h"
#include "compiler/yaml/document.h"

namespace edge::compiler::model {

/// Each function returns nothing for an absent field. A Fields without a node has no fields.
class Fields {
 public:
  explicit Fields(yaml::Node map) : map_(map) {}

  explicit operator bool() const { return static_cast<bool>(map_); }
  /// Nowhere without a node.
  Span span() const { return map_ ? map_.span() : Span{}; }
  /// Null counts as absent.
  yaml::Node node(std::string_view key) const;
  /// The same with null, which is a fault of its own in fields that narrow (schemas/fields.h).
  yaml::Node written(std::string_view key) const { return map_ ? map_.find(key) : yaml::Node(); }
  Fields object(std::string_view key) const { return Fields(node(key)); }

  Maybe<std::string> text(std::string_view key) const;
  Maybe<bool> boolean(std::string_view key) const;
  Maybe<std::int64_t> integer(std::string_view key) const;
  Maybe<std::chrono::nanoseconds> duration(std::string_view key) const;
  Maybe<std::uint64_t> size(std::string_view key) const;
  Maybe<HostPattern> hostname(std::string_view key) const;
  Maybe<IpAddress> ip(std::string_view key) const;
  std::vector<Located<std::string>> strings(std::string_view key) const;
  std::vector<Located<std::int64_t>> integers(std::string_view key) const;
  std::vector<Located<HostPattern>> hostnames(std::string_view key) const;
  std::vector<Located<Cidr>> cidrs(std::string_view key) const;
  /// A percentage in thousandths: `0.5%` is 500.
  Maybe<std::int64_t> percent(std::string_view key) const;
  std::vector<NameValue> string_map(std::string_view key) const;

  /// For required fields: empty or 0 where the map was not valid.
  Located<std::string> needed_text(std::string_view key) const;
  Located<std::int64_t> needed_integer(std::string_view key) const;
  /// Returns a port by number or name.
  PortRef port(std::string_view key) const;
  /// Returns `name` and `namespace` of this map.
  Reference reference() const;
  /// Returns references written as one string, `name` or `namespace/name`.
  std::optional<Reference> named_reference(std::string_view key) const;
  std::vector<Reference> named_references(std::string_view key) const;

  /// Calls `each` with the Fields of every entry of a list.
  template <typename Each>
  void entries(std::string_view key, Each each) const {
    const yaml::Node list = node(key);
    if (!list) return;
    for (const yaml::Node entry : list) each(Fields(entry));
  }

 private:
  yaml::Node map_;
};

/// Of a list of objects that have a `name` and a `value`.
std::vector<NameValue> name_values(const Fields& fields, std::string_view key);

}  // namespace edge::compiler::model
