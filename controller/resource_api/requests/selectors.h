// labelSelector and fieldSelector of a request: which objects to list, watch or delete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/registry.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

inline constexpr std::size_t kMaxRequirements = 200;
inline constexpr std::size_t kMaxSelectorBytes = std::size_t{64} << 10;

struct LabelRequirement {
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  std::string key;
  Operator test = Operator::kExists;
  std::vector<std::string> values{};
};

struct FieldRequirement {
  std::string field;  ///< `metadata.name`
  std::string value;
  bool equal = true;
};

class Selector {
 public:
  /// 400 when a text is not a valid selector, or uses a field that is not selectable.
  static objects::Answer<Selector> parse(std::string_view labels, std::string_view fields, const ResourceType& type);

  bool everything() const { return labels_.empty() && fields_.empty(); }
  bool matches(const Object& object) const;
  /// Returns the only name that can match; empty: there may be several.
  std::string_view name() const;

 private:
  std::vector<LabelRequirement> labels_{};
  std::vector<FieldRequirement> fields_{};
};

/// Parses `a=b,c in (d,e),!f`: Kubernetes' grammar, including `==`, `>` and `<`.
objects::Answer<std::vector<LabelRequirement>> parse_label_selector(std::string_view text);

}  // namespace edge::resource_api
