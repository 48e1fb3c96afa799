// Fields of the request to the backend that authentication decides: an incoming one of the same name always goes first,
// so that nobody can say who he is but the policy.
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
  /// Removes all incoming fields of the name (same_field), unless it is reserved from policies
  /// (program/filter_table.h).
  void remove(std::string_view name);
  /// The same, and the backend gets this one. A value that could end its line, or that is empty, is not sent; incoming
  /// ones are removed all the same.
  void set(std::string_view name, std::string_view value);

  /// Goes on with what a later policy says; of one name the later counts.
  void join(RequestEdits later);

  bool none() const { return removed_.empty(); }
  bool drops(std::string_view name) const;
  /// What is set under the name; empty: nothing.
  std::string_view value(std::string_view name) const;
  struct Line {
    std::string name;
    std::string value;
  };
  const std::vector<Line>& lines() const { return set_; }
  /// What the route's filters name is theirs: they come after policies.
  void write(net::http1::HeadWriter& out, const program::FieldEdits& filters) const;

 private:
  std::vector<std::string> removed_;  ///< lower case, `-` for `_`
  std::vector<Line> set_;
};

}  // namespace edge::runtime
