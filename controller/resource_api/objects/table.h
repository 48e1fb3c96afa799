// meta.k8s.io Tables: what `kubectl get` prints, made by the server from a kind's columns. And PartialObjectMetadata.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

class JsonPath;

/// A column behind Name.
struct Column {
  std::string name;
  std::string type = "string";  ///< string, integer, number, boolean, date
  std::string format;
  std::string description;
  std::int64_t priority = 0;  ///< above 0: with `-o wide` alone
  std::shared_ptr<const JsonPath> path;
  /// Of built-in kinds: computed, where a path cannot tell (ports of a Service). nullptr: by `path`.
  Json (*cell)(const Json& object, std::int64_t now) = nullptr;
};
using Columns = std::vector<Column>;

enum class IncludeObject : std::uint8_t { kNone, kMetadata, kObject };
/// `Metadata` (and empty), `None`, `Object`; 400 else.
Answer<IncludeObject> include_object(std::string_view parameter);

/// additionalPrinterColumns of a CRD's version. Faults go to `causes`, below `path`.
Columns compile_columns(const Json& printer_columns, std::string_view path, Causes& causes);
/// Age alone.
Columns default_columns();

/// {"kind":"Table","apiVersion":"meta.k8s.io/<version>","metadata":...,"columnDefinitions":[...],"rows":[]}.
/// `version`: v1 or v1beta1. `list_metadata`: resourceVersion, continue, remainingItemCount. In events of a watch,
/// `with_columns` is true of the first alone.
Json table_head(const Columns& columns, std::string_view version, const Json& list_metadata, bool with_columns = true);
/// One row. `now` in seconds since 1970, for ages.
Json table_row(const Columns& columns, const Json& object, IncludeObject include, std::string_view version,
               std::int64_t now);

/// metadata alone, as kind PartialObjectMetadata of meta.k8s.io/<version>.
Json partial_metadata(const Json& object, std::string_view version);

/// `5s`, `3m20s`, `4h`, `2d3h`: an age as kubectl words it.
std::string age_text(std::int64_t seconds);

/// A JSONPath of the subset that columns use: `.a.b`, `.a[0]`, `.a[1:3]`, `..name`, `['x.y']`, `[*]`,
/// `[?(@.type=="Ready")].status`, with or without braces and `$`. Compiled; find gives at most 1,000 values.
class JsonPath {
 public:
  struct Step;
  /// nullptr and a word in `fault` when it is none.
  static std::shared_ptr<const JsonPath> parse(std::string_view text, std::string& fault);
  std::vector<const Json*> find(const Json& object) const;
  ~JsonPath();

 private:
  JsonPath();
  std::vector<Step> steps_;
};

}  // namespace edge::resource_api::objects
