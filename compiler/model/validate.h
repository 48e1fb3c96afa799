// Validates a node against its schema: unknown fields, types, formats, ranges, values, required fields.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/yaml/document.h"
#include "schemas/schema.h"

namespace edge::compiler::model {

/// A position in a resource: a linked list on the stack, formatted only for an error.
struct FieldPath {
  const FieldPath* above = nullptr;
  std::string_view name{};
  /// Index in a list; then `name` is empty.
  int index = -1;

  std::string text() const;
};

/// Collects the errors of one resource.
class Report {
 public:
  Report(Diagnostics& diagnostics, std::string resource) : diagnostics_(diagnostics), resource_(std::move(resource)) {}

  /// Adds an error; the resource is invalid from then on.
  void fault(DiagnosticCode code, Span span, std::string field, std::string message, std::string fix = {});
  void add(Diagnostic diagnostic);
  bool ok() const { return ok_; }
  /// Messages must not quote values, because they are secret.
  void hide_values() { hides_values_ = true; }
  bool hides_values() const { return hides_values_; }
  const std::string& resource() const { return resource_; }

 private:
  Diagnostics& diagnostics_;
  std::string resource_;
  bool ok_ = true;
  bool hides_values_ = false;
};

/// Validates `node`, which must be a map, and everything below it. Errors go to `report`.
void validate(yaml::Node node, const schemas::Object& object, const FieldPath* path, Report& report);

/// Returns the value of `key`, nothing when it is absent or null.
yaml::Node given(yaml::Node map, std::string_view key);

/// Returns at most 60 bytes of a value, in complete characters; `in_quotes` puts it in backquotes.
std::string clipped(std::string_view text);
std::string in_quotes(std::string_view text);

}  // namespace edge::compiler::model
