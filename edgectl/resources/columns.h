// Objects as rows: the columns of a kind's table (schemas/schema.h), those that `-o custom-columns=` names, and the
// values behind a path.
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
  /// NAMESPACE, NAME and what the kind's table says. Precondition: kind.manifest.
  static Columns of_kind(const schemas::Kind& kind, bool wide);
  /// NAMESPACE, NAME and AGE, of which every kind has something to say.
  static Columns of_any(bool namespaced);
  /// By a list of heads and paths; the path of an age ends in `Timestamp`.
  struct Column {
    std::string_view head, path;
  };
  static Columns of(std::initializer_list<Column> columns);
  /// `NAME:.metadata.name,HOSTS:.spec.hostnames`
  static Result<Columns> custom(std::string_view text);

  const std::vector<std::string>& heads() const { return heads_; }
  /// `now` in seconds since 1970, for ages. `prefix` stands before the name where several types are shown.
  std::vector<std::string> cells(const nlohmann::json& object, std::int64_t now, std::string_view prefix = {}) const;

 private:
  struct Cell {
    std::shared_ptr<const resource_api::objects::JsonPath> path;
    /// Where nothing is found at `path`: a list of the spec that is counted, or a reference that is named.
    std::shared_ptr<const resource_api::objects::JsonPath> spec;
    bool age = false;
    bool name = false;
  };
  void add(std::string head, std::string_view path, bool age);

  std::vector<std::string> heads_;
  std::vector<Cell> cells_;
};

/// `5d`, `3m20s` since an RFC 3339 time; `<unknown>` when it is none.
std::string age_of(std::string_view timestamp, std::int64_t now);
/// Seconds since 1970.
std::int64_t seconds_now();

/// A value in a cell: strings as they are, lists joined by commas, `<none>` for nothing.
std::string cell_text(const nlohmann::json& value);

/// `-o jsonpath=TEMPLATE` as kubectl takes it: text with `{.path}`, `{"text"}`, `{range .items[*]}` and `{end}`.
/// kInvalidArgument tells what cannot be read.
Result<std::string> fill_template(std::string_view text, const nlohmann::json& object);

}  // namespace edge::edgectl
