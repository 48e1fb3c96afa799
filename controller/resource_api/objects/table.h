// meta.k8s.io Tables, printed by `kubectl get`, made by the server from a kind's columns. And PartialObjectMetadata.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

class JsonPath;

/// A column after Name.
struct Column {
  std::string name;
  std::string type = "string";  ///< string, integer, number, boolean, date
  std::string format;
  std::string description;
  std::int64_t priority = 0;  ///< above 0: only with `-o wide`
  std::shared_ptr<const JsonPath> path;
  /// For built-in kinds: computes the cell where a path is not enough (ports of a Service). nullptr: by `path`.
  Json (*cell)(const Json& object, std::int64_t now) = nullptr;
};
using Columns = std::vector<Column>;

enum class IncludeObject : std::uint8_t { kNone, kMetadata, kObject };
/// Parses `Metadata` (and empty), `None`, `Object`; 400 for others.
Answer<IncludeObject> include_object(std::string_view parameter);

/// Compiles additionalPrinterColumns of a CRD's version. Errors are added to `causes`, below `path`.
Columns compile_columns(const Json& printer_columns, std::string_view path, Causes& causes);
/// Returns Age only.
Columns default_columns();

/// Returns {"kind":"Table","apiVersion":"meta.k8s.io/<version>","metadata":...,"columnDefinitions":[...],"rows":[]}.
/// `version`: v1 or v1beta1. `list_metadata`: resourceVersion, continue, remainingItemCount. In a watch, only the first
/// event has `with_columns`.
Json table_head(const Columns& columns, std::string_view version, const Json& list_metadata, bool with_columns = true);
/// Returns one row. `now` in seconds since 1970, for ages.
Json table_row(const Columns& columns, const Json& object, IncludeObject include, std::string_view version,
               std::int64_t now);

/// Returns metadata only, as kind PartialObjectMetadata of meta.k8s.io/<version>.
Json partial_metadata(const Json& object, std::string_view version);

/// Returns an age as worded by kubectl: `5s`, `3m20s`, `4h`, `2d3h`.
std::string age_text(std::int64_t seconds);

/// A JSONPath of the subset used in columns: `.a.b`, `.a[0]`, `.a[1:3]`, `..name`, `['x.y']`, `[*]`,
/// `[?(@.type=="Ready")].status`, with or without braces and `$`. Compiled; `find` returns at most 1,000 values.
class JsonPath {
 public:
  struct Step;
  /// nullptr and a message in `fault` when the text is invalid.
  static std::shared_ptr<const JsonPath> parse(std::string_view text, std::string& fault);
  std::vector<const Json*> find(const Json& object) const;
  ~JsonPath();

 private:
  JsonPath();
  std::vector<Step> steps_;
};

}  // namespace edge::resource_api::objects
