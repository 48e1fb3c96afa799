// What a rule's filters do to a head: field edits, rewrites, redirects. Rule D11.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/http1/write.h"
#include "program/format.h"
#include "program/read.h"

namespace edge::runtime {

enum class Side : std::uint8_t { kRequest, kResponse };

/// The field edits of one side. Later ones see what earlier ones did. Fields that frame a message or belong to one hop
/// cannot be edited: an edit of them is ignored (*safe*: no filter can make a second message out of one).
class FieldEdits {
 public:
  FieldEdits(const program::SectionView& section, std::span<const program::FilterRecord> filters, Side side,
             std::string_view request_id)
      : section_(section), filters_(filters), side_(side), request_id_(request_id) {}

  bool none() const { return filters_.empty(); }
  /// An incoming field of this name is not forwarded: something sets or removes it.
  bool drops(std::string_view name) const;
  /// Some edit names it, so a value of our own would only stand beside it.
  bool names(std::string_view lower_name) const;
  /// Writes what the edits leave behind.
  void write(net::http1::HeadWriter& out) const;

 private:
  enum class Kind : std::uint8_t { kOther, kSet, kAdd, kRemove };
  Kind kind(const program::FilterRecord& filter) const;

  const program::SectionView& section_;
  std::span<const program::FilterRecord> filters_;
  Side side_;
  std::string_view request_id_;
};

/// Path of a rewrite or redirect: `value` in place of the first `prefix` bytes of `path`, on a segment boundary.
std::string replace_prefix(std::string_view path, std::size_t prefix, std::string_view value);

struct Rewrite {
  std::optional<std::string> path;
  std::string_view host;
};
/// URLRewrite; empty when there is none.
Rewrite rewrite(const program::SectionView& section, std::span<const program::FilterRecord> filters,
                std::string_view path);

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
std::optional<Redirect> redirect(const program::SectionView& section, std::span<const program::FilterRecord> filters,
                                 const RedirectRequest& request);

}  // namespace edge::runtime
