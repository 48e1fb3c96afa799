// All facts about filters that compiler and runtime share: the types in configuration, the operations in programs, with
// their names, order, sides and conflicts; and the fields that filters must not edit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "program/format/treatments.h"

namespace edge::program {

/// The `type` of a filter.
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
  std::string_view name;                 ///< the value of `type`
  std::string_view field;                ///< that contains its settings
  bool proxy_route;                      ///< a type of ProxyRoute too; else only of Gateway API
  bool once;                             ///< a rule has at most one
  bool of_backend;                       ///< may be on one backend of a rule (Gateway API)
  std::optional<FilterType> excludes{};  ///< a type that cannot be in the same rule
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
/// \returns nullptr for an unknown name.
constexpr const FilterTypeRow* find_filter_type(std::string_view name) {
  for (const FilterTypeRow& row : kFilterTypes)
    if (row.name == name) return &row;
  return nullptr;
}

enum class Side : std::uint8_t { kRequest, kResponse };
/// The effect of an operation on the fields of its side.
enum class Edit : std::uint8_t { kNone, kSet, kAdd, kRemove };
/// The order of operations in a filter list; equal ones keep the order in which they were written.
enum class FilterOrder : std::uint8_t {
  kAsWritten,
  kRedirectPart,  ///< collected until the redirect answers
  kAnswer,        ///< answers the request: always last
};

/// The meaning of FilterRecord::detail.
enum class Detail : std::uint8_t {
  kNone,
  kPrefix,    ///< bytes of the path that the value replaces
  kRedirect,  ///< redirect_status, redirect_port
  kSeconds,
  kMilliseconds,
  kStatus,
};

struct FilterOpRow {
  FilterOp op;
  Side side;
  Edit edit;
  FilterOrder order;
  bool has_value;
  Detail detail;
  std::string_view name;  ///< in dumps
  /// In explanations; `{name}`, `{value}`, `{status}`, `{port}`, `{detail}` are replaced by the record's.
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
                "have the session's cookie outlive the browser's run, by at most {detail}s"},
    FilterOpRow{FilterOp::kSessionTimeout, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, false,
                Detail::kSeconds, "session timeout", "end sessions {detail}s after they began"},
    FilterOpRow{FilterOp::kSessionIdle, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, false, Detail::kSeconds,
                "session idle", "end sessions after {detail}s without a request"},
    FilterOpRow{FilterOp::kRetryStatus, Side::kResponse, Edit::kNone, FilterOrder::kAsWritten, false, Detail::kStatus,
                "retry status", "try again after an answer of status {detail}"},
    FilterOpRow{FilterOp::kRetryPause, Side::kRequest, Edit::kNone, FilterOrder::kAsWritten, false,
                Detail::kMilliseconds, "retry pause", "wait at least {detail}ms before another try"},
};
/// Operations count from 1.
static_assert([] {
  for (std::size_t i = 0; i < kFilterOps.size(); ++i)
    if (static_cast<std::size_t>(kFilterOps[i].op) != i + 1) return false;
  return true;
}());
static_assert(kFilterOps.size() == kFilterOpCount);

/// Unchecked bytes of a program may contain any number.
constexpr bool is_filter_op(FilterOp op) {
  return static_cast<std::uint32_t>(op) - 1 < static_cast<std::uint32_t>(kFilterOps.size());
}
/// Requires is_filter_op().
constexpr const FilterOpRow& row_of(FilterOp op) { return kFilterOps[static_cast<std::uint32_t>(op) - 1]; }

/// The effect of each operation on the fields of one side, by its number: kNone for those of the other.
using SideEdits = std::array<Edit, kFilterOpCount + 1>;
constexpr SideEdits make_side_edits(Side side) {
  SideEdits edits{};
  for (const FilterOpRow& row : kFilterOps)
    if (row.side == side) edits[static_cast<std::size_t>(row.op)] = row.edit;
  return edits;
}
inline constexpr SideEdits kRequestEdits = make_side_edits(Side::kRequest);
inline constexpr SideEdits kResponseEdits = make_side_edits(Side::kResponse);

/// Returns FilterRecord::detail of a kRedirect.
constexpr std::uint32_t redirect_detail(std::uint32_t status, std::uint32_t port) { return status | port << 16; }
constexpr std::uint32_t redirect_status(const FilterRecord& filter) { return filter.detail & 0xffff; }
/// 0: the scheme's default.
constexpr std::uint32_t redirect_port(const FilterRecord& filter) { return filter.detail >> 16; }

constexpr bool details_retries(FilterOp op) { return op == FilterOp::kRetryStatus || op == FilterOp::kRetryPause; }
constexpr bool keeps_sessions(FilterOp op) { return op == FilterOp::kSessionCookie || op == FilterOp::kSessionHeader; }

/// Returns the operation that answers the request; nullptr: none, so that it is forwarded.
constexpr const FilterRecord* answer_of(std::span<const FilterRecord> filters) {
  const bool answers = !filters.empty() && row_of(filters.back().op).order == FilterOrder::kAnswer;
  return answers ? &filters.back() : nullptr;
}

/// The fields for framing or for one hop: the proxy writes them itself, so that the compiler rejects filters that name
/// them, and the runtime ignores them (*safe*: no filter can split a message).
inline constexpr std::array<std::string_view, 12> kReservedFields = {
    "connection",          "content-length",   "host", "http2-settings", "keep-alive",        "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te",   "trailer",        "transfer-encoding", "upgrade"};

/// In addition the fields that the proxy itself sends to backends: filters may change them, since their authors control
/// the backend, but policies may not, by another service's response or a token.
inline constexpr std::array<std::string_view, 8> kProxyFields = {"expect",
                                                                 "via",
                                                                 "x-forwarded-client-cert",
                                                                 "x-forwarded-for",
                                                                 "x-forwarded-host",
                                                                 "x-forwarded-proto",
                                                                 "x-request-id",
                                                                 "x-ssl-client-verify"};

/// In any spelling (base/field_name.h).
bool is_reserved_field(std::string_view name);
/// The same for the fields that policies may not write.
bool is_reserved_from_policies(std::string_view name);

}  // namespace edge::program
