// Edits by authentication of the fields sent to the backend: the client's own fields of these names are always removed,
// so that only the policy can state the user's identity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/field_name.h"
#include "net/http1/write.h"
#include "program/filters.h"

namespace edge::runtime {

class RequestEdits {
 public:
  /// Removes all incoming fields of the name (same_field), unless policies may not edit it (program/filter_table.h).
  void remove(std::string_view name);
  /// Removes them, and sends this value. A value that is empty or contains a line break is not sent; incoming fields
  /// are removed all the same.
  void set(std::string_view name, std::string_view value);
  /// Sets a field that policies may not edit: what the proxy itself states. `name` and `value` are valid.
  void state(std::string_view name, std::string_view value);

  /// Removes all that comes behind the body: policies have looked at the fields before it alone.
  void drop_trailers() { drops_trailers_ = true; }
  bool drops_trailers() const { return drops_trailers_; }

  /// Adds the edits of a later policy, which takes precedence.
  void join(RequestEdits later);

  bool none() const { return removed_.empty(); }
  bool drops(std::string_view name) const;
  /// Returns the value set for the name; empty: none.
  std::string_view value(std::string_view name) const;
  struct Line {
    std::string name;
    std::string value;
  };
  const std::vector<Line>& lines() const { return set_; }
  /// Writes the fields. Names that the route's filters edit are omitted: filters apply after policies.
  void write(net::http1::HeadWriter& out, const program::FieldEdits& filters) const;

 private:
  /// Removes them, and what was set before, whatever the name.
  void forget(std::string_view name);

  std::vector<std::string> removed_;  ///< lower case, `-` for `_`
  std::vector<Line> set_;
  bool drops_trailers_ = false;
};

}  // namespace edge::runtime
