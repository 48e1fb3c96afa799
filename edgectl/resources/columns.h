// Formats objects as rows: the columns of a kind's table (schemas/schema.h), those of `-o custom-columns=`, and values
// by path.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "controller/resource_api/objects/table.h"
#include "schemas/schema.h"

namespace edge::edgectl {

class Columns {
 public:
  /// Returns NAMESPACE, NAME and the columns of the kind's table. Precondition: kind.manifest.
  static Columns of_kind(const schemas::Kind& kind, bool wide);
  /// Returns NAMESPACE, NAME and AGE, which every kind has.
  static Columns of_any(bool namespaced);
  /// Makes columns from a list of heads and paths; the path of an age ends in `Timestamp`.
  struct Column {
    std::string_view head, path;
  };
  static Columns of(std::initializer_list<Column> columns);
  /// `NAME:.metadata.name,HOSTS:.spec.hostnames`
  static Result<Columns> custom(std::string_view text);

  const std::vector<std::string>& heads() const { return heads_; }
  /// `now` in seconds since 1970, for ages. `prefix` precedes the name where several types are shown.
  std::vector<std::string> cells(const nlohmann::json& object, std::int64_t now, std::string_view prefix = {}) const;

 private:
  struct Cell {
    std::shared_ptr<const resource_api::objects::JsonPath> path;
    /// The fallback where nothing is found at `path`: a list of the spec to count, or a reference to name.
    std::shared_ptr<const resource_api::objects::JsonPath> spec;
    bool age = false;
    bool name = false;
  };
  void add(std::string head, std::string_view path, bool age);

  std::vector<std::string> heads_;
  std::vector<Cell> cells_;
};

/// Returns the time since an RFC 3339 time: `5d`, `3m20s`; `<unknown>` when it is invalid.
std::string age_of(std::string_view timestamp, std::int64_t now);
/// Returns seconds since 1970.
std::int64_t seconds_now();

/// Formats a value for a cell: strings unchanged, lists joined by commas, `<none>` for nothing.
std::string cell_text(const nlohmann::json& value);

/// Fills in `-o jsonpath=TEMPLATE` as in kubectl: text with `{.path}`, `{"text"}`, `{range .items[*]}` and `{end}`.
/// kInvalidArgument describes the syntax error.
Result<std::string> fill_template(std::string_view text, const nlohmann::json& object);

}  // namespace edge::edgectl
