// What the tables of kinds must hold for decoding to go by them.
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/model/formats.h"
#include "program/filter_table.h"
#include "schemas/schema.h"

namespace edge::compiler::model {
namespace {

const schemas::Field* field_of(const schemas::Object& object, std::string_view name) {
  const auto found = std::ranges::find(object.fields, name, &schemas::Field::name);
  return found == object.fields.end() ? nullptr : &*found;
}

/// The schemas of routes know the types of the table, under the names and with the fields that it says.
TEST(Schemas, KnowTheFiltersOfTheTable) {
  const auto check = [](const schemas::Object& kind, bool proxy_route) {
    const schemas::Object& filter =
        *field_of(*field_of(*field_of(kind, "spec")->object, "rules")->object, "filters")->object;
    const std::span<const std::string_view> types = field_of(filter, "type")->values;
    std::size_t known = 0;
    for (const program::FilterTypeRow& row : program::kFilterTypes) {
      if (proxy_route && !row.proxy_route) continue;
      ++known;
      EXPECT_NE(std::ranges::find(types, row.name), types.end()) << row.name;
      EXPECT_NE(field_of(filter, row.field), nullptr) << row.field;
    }
    EXPECT_EQ(types.size(), known);
  };
  check(schemas::kProxyRoute, true);
  check(*schemas::find_kind("HTTPRoute")->body, false);
}

TEST(Schemas, AreWellFormed) {
  std::vector<const schemas::Object*> seen;
  const auto walk = [&](const auto& self, const schemas::Object& object) -> void {
    if (std::find(seen.begin(), seen.end(), &object) != seen.end()) return;
    seen.push_back(&object);
    EXPECT_LE(object.fields.size(), 60U);
    for (const schemas::Field& field : object.fields) {
      EXPECT_FALSE(field.name.empty());
      EXPECT_FALSE(field.text.empty()) << field.name;
      EXPECT_TRUE(field.text.ends_with('.')) << field.name;
      for (const schemas::Field& other : object.fields) EXPECT_TRUE(&other == &field || other.name != field.name);
      const bool holds = field.type == schemas::Type::kObject ||
                         (field.type == schemas::Type::kList && field.item == schemas::Type::kObject);
      EXPECT_EQ(holds, field.object != nullptr) << field.name;
      if (field.object != nullptr) self(self, *field.object);
      if (!field.default_value.empty() && field.type == schemas::Type::kString) {
        EXPECT_TRUE(has_format(field.default_value, field.format)) << field.name;
      }
    }
  };
  for (const schemas::Kind& kind : schemas::kinds()) walk(walk, *kind.body);
  walk(walk, schemas::metadata());
}

}  // namespace
}  // namespace edge::compiler::model
