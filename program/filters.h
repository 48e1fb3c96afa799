// What a rule's filters do to a head: field edits, rewrites, redirects. Rule D11. Part of a program's meaning: the
// runtime serves by it, and tools that say what a program does to a request (explain, route tests) run the same code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "program/filter_table.h"
#include "program/format/format.h"
#include "program/read.h"

namespace edge::program {

/// The field edits of one side. Later ones see what earlier ones did; an edit of a reserved field is ignored. Names
/// are compared as base/field_name.h does it: an edit of `X-Role` holds for `x_role` too.
class FieldEdits {
 public:
  FieldEdits(const SectionView& section, std::span<const FilterRecord> filters, Side side, std::string_view request_id)
      : section_(section),
        filters_(filters),
        edits_(side == Side::kRequest ? kRequestEdits : kResponseEdits),
        request_id_(request_id) {}

  bool none() const { return filters_.empty(); }
  /// An incoming field of this name is not forwarded: something sets or removes it.
  bool drops(std::string_view name) const;
  /// Some edit names it, so a value of our own would only stand beside it.
  bool names(std::string_view name) const;
  /// Calls `out.field(name, value)` for each field that the edits leave behind.
  template <typename Out>
  void write(Out& out) const {
    std::string expanded;
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      if (stays(i)) out.field(section_.string(filters_[i].name), value(i, expanded));
    }
  }

 private:
  Edit edit(const FilterRecord& filter) const { return edits_[static_cast<std::uint32_t>(filter.op)]; }
  /// Filter `i` writes a field, and no later one takes it away again.
  bool stays(std::size_t i) const;
  /// With the request's id in place of its token; `storage` holds what is no view into the program.
  std::string_view value(std::size_t i, std::string& storage) const;

  const SectionView& section_;
  std::span<const FilterRecord> filters_;
  const SideEdits& edits_;
  std::string_view request_id_;
};

/// Path of a rewrite or redirect: `value` in place of the first `prefix` bytes of `path`, on a segment boundary.
std::string replace_prefix(std::string_view path, std::size_t prefix, std::string_view value);

struct Rewrite {
  std::optional<std::string> path;
  std::string_view host;
};
/// URLRewrite; empty when there is none.
Rewrite rewrite(const SectionView& section, std::span<const FilterRecord> filters, std::string_view path);

/// Session persistence of a rule that has it (TreatmentFlags::kPersists).
struct SessionSettings {
  std::string_view name;
  bool by_header = false;
  std::string_view path{};         ///< of the cookie
  std::uint32_t cookie_age_s = 0;  ///< 0: until the browser ends
  std::uint32_t timeout_s = 0;     ///< since the endpoint was chosen; 0: no bound
  std::uint32_t idle_s = 0;        ///< since the last request; 0: no bound
};
SessionSettings session_settings(const SectionView& section, std::span<const FilterRecord> filters);

struct Redirect {
  int status = 302;
  std::string location;
};
struct RedirectRequest {
  std::string_view scheme;
  /// As the client named it, with its port.
  std::string_view authority;
  std::string_view path;
  std::string_view query;
  bool has_query = false;
};
/// RequestRedirect; nullopt when there is none.
std::optional<Redirect> redirect(const SectionView& section, std::span<const FilterRecord> filters,
                                 const RedirectRequest& request);

}  // namespace edge::program
