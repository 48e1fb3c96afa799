// A node against its schema: unknown fields, wrong types, formats, ranges, values, what is required.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/yaml/document.h"
#include "schemas/schema.h"

namespace edge::compiler::model {

/// Where in a resource: a chain on the stack, made into text only when there is a fault.
struct FieldPath {
  const FieldPath* above = nullptr;
  std::string_view name{};
  /// Position in a list; then `name` is empty.
  int index = -1;

  std::string text() const;
};

/// Collects the faults of one resource.
class Report {
 public:
  Report(Diagnostics& diagnostics, std::string resource) : diagnostics_(diagnostics), resource_(std::move(resource)) {}

  /// An error; the resource is at fault from now on.
  void fault(DiagnosticCode code, Span span, std::string field, std::string message, std::string fix = {});
  void add(Diagnostic diagnostic);
  bool ok() const { return ok_; }
  /// Messages must not repeat what was written: it is a secret.
  void hide_values() { hides_values_ = true; }
  bool hides_values() const { return hides_values_; }
  const std::string& resource() const { return resource_; }

 private:
  Diagnostics& diagnostics_;
  std::string resource_;
  bool ok_ = true;
  bool hides_values_ = false;
};

/// Checks `node`, which is to be a map, and everything below it. Faults go to `report`.
void validate(yaml::Node node, const schemas::Object& object, const FieldPath* path, Report& report);

/// The value of `key`, nothing when it is absent or null: both mean that the field is not given.
yaml::Node given(yaml::Node map, std::string_view key);

/// At most 60 bytes of a value, whole characters; `in_quotes` puts it in backquotes.
std::string clipped(std::string_view text);
std::string in_quotes(std::string_view text);

}  // namespace edge::compiler::model
