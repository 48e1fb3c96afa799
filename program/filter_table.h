// Every fact about filters that compiler and runtime must agree on, once: the types as users write them, the operations
// that they become in a program, with their names, order, sides and conflicts; and the fields that no filter edits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "program/format/treatments.h"

namespace edge::program {

/// What a filter is by its `type`.
enum class FilterType : std::uint8_t {
  kRequestHeaders,
  kResponseHeaders,
  kRewrite,
  kRedirect,
  kMirror,
  kCors,
  kExternalAuth,
  kExtension,
};

struct FilterTypeRow {
  FilterType type;
  std::string_view name;                 ///< as `type` says it
  std::string_view field;                ///< that holds its settings
  bool proxy_route;                      ///< a type of ProxyRoute too; else of Gateway API alone
  bool once;                             ///< a rule has at most one
  bool of_backend;                       ///< one backend of a rule may have it (Gateway API)
  std::optional<FilterType> excludes{};  ///< no rule has this one beside it
};

inline constexpr std::array kFilterTypes = {
    FilterTypeRow{FilterType::kRequestHeaders, "RequestHeaderModifier", "requestHeaderModifier", true, false, true},
    FilterTypeRow{FilterType::kResponseHeaders, "ResponseHeaderModifier", "responseHeaderModifier", true, false, true},
    FilterTypeRow{FilterType::kRewrite, "URLRewrite", "urlRewrite", true, true, true, FilterType::kRedirect},
    FilterTypeRow{FilterType::kRedirect, "RequestRedirect", "requestRedirect", true, true, true, FilterType::kRewrite},
    FilterTypeRow{FilterType::kMirror, "RequestMirror", "requestMirror", true, false, false},
    FilterTypeRow{FilterType::kCors, "CORS", "cors", false, false, false},
    FilterTypeRow{FilterType::kExternalAuth, "ExternalAuth", "externalAuth", false, true, false},
    FilterTypeRow{FilterType::kExtension, "ExtensionRef", "extensionRef", false, false, false},
};
static_assert(kFilterTypes.size() == static_cast<std::size_t>(FilterType::kExtension) + 1);
static_assert([] {
  for (std::size_t i = 0; i < kFilterTypes.size(); ++i)
    if (static_cast<std::size_t>(kFilterTypes[i].type) != i) return false;
  return true;
}());

constexpr const FilterTypeRow& row_of(FilterType type) { return kFilterTypes[static_cast<std::size_t>(type)]; }
/// \returns nullptr when no type has the name.
constexpr const FilterTypeRow* find_filter_type(std::string_view name) {
  for (const FilterTypeRow& row : kFilterTypes)
    if (row.name == name) return &row;
  return nullptr;
}

enum class Side : std::uint8_t { kRequest, kResponse };
/// What an operation does to the fields of its side.
enum class Edit : std::uint8_t { kNone, kSet, kAdd, kRemove };
/// Operations of one filter list stand in this order, those of one place as they were written.
enum class FilterOrder : std::uint8_t {
  kAsWritten,
  kRedirectPart,  ///< gathered until the redirect answers
  kAnswer,        ///< answers the request: always last
};

/// What FilterRecord::detail is.
enum class Detail : std::uint8_t {
  kNone,
  kPrefix,    ///< bytes of the path that the value replaces
  kRedirect,  ///< redirect_status, redirect_port
  kSeconds,
};

struct FilterOpRow {
  FilterOp op;
  Side side;
  Edit edit;
  FilterOrder order;
  bool has_value;
  Detail detail;
  std::string_view name;  ///< in dumps
  /// In explanations; `{name}`, `{value}`, `{status}`, `{port}`, `{seconds}` stand for the record's.
  std::string_view sentence;
};

inline constexpr std::array kFilterOps = {
    FilterOpRow{FilterOp::kRequestHeaderSet, Side::kRequest, Edit::kSet, FilterOrder::kAsWritten, true, Detail::kNone,
                "request-header set", "set request header {name}: {value}"},
    FilterOpRow{FilterOp::kRequestHeaderAdd, Side::kRequest, Edit::kAdd, FilterOrder::kAsWritten, true, Detail::kNone,
                "request-header add", "add request header {name}: {value}"},
    FilterOpRow{FilterOp::kRequestHeaderRemove, Side::kRequest, Edit::kRemove, FilterOrder::kAsWritten, false,
                Detail::kNone, "request-header remove", "remove request header {name}"},
    FilterOpRow{FilterOp::kResponseHeaderSet, Side::kResponse, Edit::kSet, FilterOrder::kAsWritten, true, Detail::kNone,
                "response-header set", "set response header {name}: {value}"},
    FilterOpRow{FilterOp::kResponseHeaderAdd, Side::kResponse, Edit::kAdd, FilterOrder::kAsWritten, true, Detail::kNone,
                "response-header add", "add response header {name}: {value}"},
    FilterOpRow{FilterOp::kResponseHeaderRemove, Side::kResponse, Edit::kRemove, FilterOrder::kAsWritten, false,
                Detail::kNone, "response-header remove", "remove response header {name}"},
    FilterOpRow{FilterOp::kRewriteHost, Side::kRequest, Edit::kNone, FilterOrder::kAsWritten, true, Detail::kNone,
                "rewrite host", "rewrite host to {value}"},
    FilterOpRow{FilterOp::kRewritePrefix, Side::kRequest, Edit::kNone, FilterOrder::kAsWritten, true, Detail::kPrefix,
                "rewrite prefix", "rewrite matched prefix to {value}"},
    FilterOpRow{FilterOp::kRewriteFullPath, Side::kRequest, Edit::kNone, FilterOrder::kAsWritten, true, Detail::kNone,
                "rewrite path", "rewrite path to {value}"},
    FilterOpRow{FilterOp::kRedirect, Side::kRequest, Edit::kNone, FilterOrder::kAnswer, false, Detail::kRedirect,
                "redirect", "redirect with {status}{port}"},
    FilterOpRow{FilterOp::kRedirectScheme, Side::kRequest, Edit::kNone, FilterOrder::kRedirectPart, true, Detail::kNone,
                "redirect scheme", "redirect to scheme {value}"},
    FilterOpRow{FilterOp::kRedirectHost, Side::kRequest, Edit::kNone, FilterOrder::kRedirectPart, true, Detail::kNone,
                "redirect host", "redirect to host {value}"},
    FilterOpRow{FilterOp::kRedirectPrefix, Side::kRequest, Edit::kNone, FilterOrder::kRedirectPart, true,
                Detail::kPrefix, "redirect prefix", "redirect with matched prefix replaced by {value}"},
    FilterOpRow{FilterOp::kRedirectFullPath, Side::kRequest, Edit::kNone, FilterOrder::kRedirectPart, true,
                Detail::kNone, "redirect path", "redirect to path {value}"},
    FilterOpRow{FilterOp::kSessionCookie, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, true, Detail::kNone,
                "session cookie", "keep clients at their endpoint by the cookie {name} of path {value}"},
    FilterOpRow{FilterOp::kSessionHeader, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, false, Detail::kNone,
                "session header", "keep clients at their endpoint by the header {name}"},
    FilterOpRow{FilterOp::kSessionPermanent, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, false,
                Detail::kSeconds, "session permanent",
                "have the session's cookie outlive the browser's run, by at most {seconds}s"},
    FilterOpRow{FilterOp::kSessionTimeout, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, false,
                Detail::kSeconds, "session timeout", "end sessions {seconds}s after they began"},
    FilterOpRow{FilterOp::kSessionIdle, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, false, Detail::kSeconds,
                "session idle", "end sessions after {seconds}s without a request"},
};
/// Operations count from 1.
static_assert([] {
  for (std::size_t i = 0; i < kFilterOps.size(); ++i)
    if (static_cast<std::size_t>(kFilterOps[i].op) != i + 1) return false;
  return true;
}());
static_assert(kFilterOps.size() == kFilterOpCount);

/// Bytes of a program that nobody vouched for yet may hold any number.
constexpr bool is_filter_op(FilterOp op) {
  return static_cast<std::uint32_t>(op) - 1 < static_cast<std::uint32_t>(kFilterOps.size());
}
/// Of an operation that is_filter_op().
constexpr const FilterOpRow& row_of(FilterOp op) { return kFilterOps[static_cast<std::uint32_t>(op) - 1]; }

/// What each operation does to the fields of one side, by its number: kNone for those of the other.
using SideEdits = std::array<Edit, kFilterOpCount + 1>;
constexpr SideEdits make_side_edits(Side side) {
  SideEdits edits{};
  for (const FilterOpRow& row : kFilterOps)
    if (row.side == side) edits[static_cast<std::size_t>(row.op)] = row.edit;
  return edits;
}
inline constexpr SideEdits kRequestEdits = make_side_edits(Side::kRequest);
inline constexpr SideEdits kResponseEdits = make_side_edits(Side::kResponse);

/// FilterRecord::detail of a kRedirect.
constexpr std::uint32_t redirect_detail(std::uint32_t status, std::uint32_t port) { return status | port << 16; }
constexpr std::uint32_t redirect_status(const FilterRecord& filter) { return filter.detail & 0xffff; }
/// 0: that of the scheme.
constexpr std::uint32_t redirect_port(const FilterRecord& filter) { return filter.detail >> 16; }

constexpr bool keeps_sessions(FilterOp op) { return op == FilterOp::kSessionCookie || op == FilterOp::kSessionHeader; }

/// The operation that answers the request; nullptr: none does, and it is forwarded.
constexpr const FilterRecord* answer_of(std::span<const FilterRecord> filters) {
  const bool answers = !filters.empty() && row_of(filters.back().op).order == FilterOrder::kAnswer;
  return answers ? &filters.back() : nullptr;
}

/// The fields that frame a message or belong to one hop: the proxy writes them itself, so the compiler refuses filters
/// that name them, and the runtime ignores one that does (*safe*: no filter can make a second message out of one).
inline constexpr std::array<std::string_view, 12> kReservedFields = {
    "connection",          "content-length",   "host", "http2-settings", "keep-alive",        "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te",   "trailer",        "transfer-encoding", "upgrade"};

/// Beside them the fields that the proxy tells a backend itself: filters may change them, for who writes filters writes
/// for the backend, but not what a policy makes of a request by somebody else's answer or token.
inline constexpr std::array<std::string_view, 6> kProxyFields = {
    "expect", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id"};

/// In whichever spelling (base/field_name.h).
bool is_reserved_field(std::string_view name);
/// The same, of those that no policy may write.
bool is_reserved_from_policies(std::string_view name);

}  // namespace edge::program
