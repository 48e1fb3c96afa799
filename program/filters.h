// Applies a rule's filters to a head: field edits, rewrites, redirects. Rule D11. Part of a program's semantics: the
// runtime and the tools that describe a program's effects (explain, route tests) run the same code.
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

/// The field edits of one side. Later edits see the results of earlier ones; an edit of a reserved field is ignored.
/// Names are compared as in base/field_name.h: an edit of `X-Role` applies to `x_role` too.
class FieldEdits {
 public:
  FieldEdits(const SectionView& section, std::span<const FilterRecord> filters, Side side, std::string_view request_id)
      : section_(section),
        filters_(filters),
        edits_(side == Side::kRequest ? kRequestEdits : kResponseEdits),
        request_id_(request_id) {}

  bool none() const { return filters_.empty(); }
  /// Returns whether an incoming field of this name is not forwarded, because an edit sets or removes it.
  bool drops(std::string_view name) const;
  /// Returns whether an edit names the field, so that the proxy must not add its own value.
  bool names(std::string_view name) const;
  /// Calls `out.field(name, value)` for each field that the edits produce.
  template <typename Out>
  void write(Out& out) const {
    std::string expanded;
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      if (stays(i)) out.field(section_.string(filters_[i].name), value(i, expanded));
    }
  }

 private:
  Edit edit(const FilterRecord& filter) const { return edits_[static_cast<std::uint32_t>(filter.op)]; }
  /// Whether filter `i` writes a field that no later one removes.
  bool stays(std::size_t i) const;
  /// With the request's id in place of its token; `storage` has values that are not views of the program.
  std::string_view value(std::size_t i, std::string& storage) const;

  const SectionView& section_;
  std::span<const FilterRecord> filters_;
  const SideEdits& edits_;
  std::string_view request_id_;
};

/// Returns the path of a rewrite or redirect: `value` in place of the first `prefix` bytes of `path`, on a segment
/// boundary.
std::string replace_prefix(std::string_view path, std::size_t prefix, std::string_view value);

struct Rewrite {
  std::optional<std::string> path;
  std::string_view host;
};
/// URLRewrite; empty when there is none.
Rewrite rewrite(const SectionView& section, std::span<const FilterRecord> filters, std::string_view path);
/// Returns the Host of a mirror's copies; empty: that of the request. `section`: of the host that has the mirror.
std::string_view host_of_copies(const SectionView& section, const MirrorRecord& mirror);

/// Session persistence of a rule that has it (TreatmentFlags::kPersists).
struct SessionSettings {
  std::string_view name;
  bool by_header = false;
  std::string_view path{};         ///< of the cookie
  std::uint32_t cookie_age_s = 0;  ///< 0: a session cookie
  std::uint32_t timeout_s = 0;     ///< since the endpoint was chosen; 0: none
  std::uint32_t idle_s = 0;        ///< since the last request; 0: none
};
SessionSettings session_settings(const SectionView& section, std::span<const FilterRecord> filters);

struct Redirect {
  int status = 302;
  std::string location;
};
struct RedirectRequest {
  std::string_view scheme;
  /// As sent by the client, with its port.
  std::string_view authority;
  std::string_view path;
  std::string_view query;
  bool has_query = false;
};
/// RequestRedirect; nullopt when there is none.
std::optional<Redirect> redirect(const SectionView& section, std::span<const FilterRecord> filters,
                                 const RedirectRequest& request);

}  // namespace edge::program
