#include "schemas/formats.h"

#include <cstddef>
#include <iterator>

namespace edge::schemas {
namespace {

#define EDGE_LABEL "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
#define EDGE_NAME EDGE_LABEL "(\\." EDGE_LABEL ")*"
#define EDGE_HOST_LABEL "[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
#define EDGE_HOST EDGE_HOST_LABEL "(\\." EDGE_HOST_LABEL ")*"
/// As containers and services are named too.
#define EDGE_ENDPOINT_LABEL "[A-Za-z0-9_]([-A-Za-z0-9_]{0,61}[A-Za-z0-9_])?"
#define EDGE_IPV6 "[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*"
#define EDGE_TOKEN "[-!#$%&'*+.^_`|~0-9A-Za-z]+"

struct FormatRow {
  Format format;
  std::string_view text;
  std::string_view pattern{};
  std::uint32_t longest = 0;
};
/// In the order of the enumeration.
constexpr FormatRow kFormats[] = {
    {Format::kNone, "a string"},
    {Format::kName, "a name of small letters, digits, `-` and `.` (RFC 1123)", "^" EDGE_NAME "$", 253},
    {Format::kNamespace, "a name of at most 63 small letters, digits and `-` (RFC 1123)", "^" EDGE_LABEL "$", 63},
    {Format::kNamespacedName, "`name` or `namespace/name`", "^(" EDGE_LABEL "/)?" EDGE_NAME "$", 317},
    {Format::kLabel, "a name of at most 63 small letters, digits and `-` (RFC 1123)", "^" EDGE_LABEL "$", 63},
    {Format::kLabelValue, "at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
     "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$", 63},
    {Format::kHostname, "a host name, or `*.` before one", "^((\\*\\.)?" EDGE_HOST "\\.?|\\[?" EDGE_IPV6 "\\]?)$", 256},
    {Format::kCidr, "an address with a prefix length, such as `10.0.0.0/8`"},
    {Format::kIp, "an IP address"},
    {Format::kDuration, "a duration such as `500ms`, `30s` or `1h30m`",
     "^(0|(([0-9]{1,18}|[0-9]{0,17}\\.[0-9]{1,18})(ns|us|ms|s|m|h))+)$"},
    {Format::kSize, "a size such as `1024`, `64Ki`, `10Mi` or `1MB`", "^[0-9]{1,19}(Ki|Mi|Gi|KB|MB|GB)?$"},
    {Format::kTimestamp, "a time such as `2026-01-31T12:00:00Z`"},
    {Format::kUrl, "an http or https URL", "^https?://[!-~]+$"},
    {Format::kPath, "a path that begins with `/`", "^/"},
    {Format::kHeaderName, "a header name", "^" EDGE_TOKEN "$"},
    {Format::kHeaderValue, "a header value: no control bytes, no spaces around it",
     "^([^\\x00-\\x20\\x7f]([^\\x00-\\x08\\x0a-\\x1f\\x7f]*[^\\x00-\\x20\\x7f])?)?$"},
    {Format::kMethod, "a method", "^" EDGE_TOKEN "$"},
    {Format::kRateLimitKey,
     "`source-ip`, `header:NAME`, `cookie:NAME`, `query:NAME`, `jwt:CLAIM`, `identity`, `host` or `path`",
     "^(source-ip|host|path|identity|(header|cookie):" EDGE_TOKEN "|(query|jwt):[^\\n]+)$"},
    {Format::kPercent, "a percentage such as `0.5%`", "^(100(\\.0{1,3})?|[0-9]{1,2}(\\.[0-9]{1,3})?)%$"},
    {Format::kCountOrPercent, "a number, or a whole percentage such as `10%`", "^(100|[0-9]{1,2})%$"},
    {Format::kHostPort, "a host and a port, such as `edge.example.com:9090`",
     "^(\\[" EDGE_IPV6 "\\]|" EDGE_HOST "\\.?):[0-9]{1,5}$"},
    {Format::kEndpointAddress,
     "a host and a port, such as `127.0.0.1:8080` or `api.example.org:443`, or a name with SRV records, such as "
     "`_http._tcp.example.org`",
     "^((\\[" EDGE_IPV6 "\\]|" EDGE_ENDPOINT_LABEL "(\\." EDGE_ENDPOINT_LABEL
     ")*\\.?):[0-9]{1,5}|_[-A-Za-z0-9]+\\._[-A-Za-z0-9]+(\\." EDGE_ENDPOINT_LABEL ")+\\.?)$",
     260},
    {Format::kWireGuardKey, "a WireGuard key: 32 bytes in base64", "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$"},
    {Format::kFilePath, "the absolute path of a file, of at most 1024 bytes, without `.`, `..`, `//` and `:`",
     "^(/(\\.{0,2}[^\\x00-\\x1f./:\\x7f]|\\.{3})[^\\x00-\\x1f/:\\x7f]*)+$", 1024},
    {Format::kBgpCommunity, "a community such as `64512:100`, a large one such as `64512:1:2`, or `no-export`",
     "^([0-9]{1,5}:[0-9]{1,5}|[0-9]{1,10}:[0-9]{1,10}:[0-9]{1,10}|no-export|no-advertise|no-peer|graceful-shutdown)$"},
    {Format::kCountry, "a country's code of two capital letters (ISO 3166-1), such as `DE`", "^[A-Z]{2}$"},
    {Format::kBgpPassword, "at most 80 printable characters of ASCII, without `\"`", "^[ !#-~]{1,80}$"},
    {Format::kErrorStatus, "a status of an error such as `404`, or a class: `4xx`, `5xx`", "^[45]([0-9]{2}|xx)$"},
    {Format::kPage, "a text of at most 64 KiB", {}, 65536},
    {Format::kUri, "a URI such as `spiffe://example.org/ns/shop`", "^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$", 2048},
    {Format::kUriPrefix,
     "the beginning of a URI, up to a `/` or `:` behind its scheme, such as `spiffe://example.org/`",
     "^[A-Za-z][A-Za-z0-9+.-]*:[!-~]*[!-.0-9;-~][!-~]*[/:]$", 2048},
    {Format::kEmail, "an email address", "^[!-?A-~]+@[!-?A-~]+$", 320},
    {Format::kPattern, "a regular expression (RE2) of at most 1 KiB", "^[^\\x00-\\x1f\\x7f]+$", 1024},
    {Format::kMediaRange, "a media type such as `application/json`, or `text/*`", "^" EDGE_TOKEN "/" EDGE_TOKEN "$",
     256},
    {Format::kSha256, "a SHA-256 of 64 hexadecimal digits, with or without `:` between pairs",
     "^([0-9A-Fa-f]{64}|([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2})$"},
};

constexpr bool is_row_of_each() {
  for (std::size_t i = 0; i < std::size(kFormats); ++i) {
    if (static_cast<std::size_t>(kFormats[i].format) != i) return false;
  }
  return std::size(kFormats) == static_cast<std::size_t>(Format::kSha256) + 1;
}
static_assert(is_row_of_each());

const FormatRow* find_format(Format format) {
  const auto index = static_cast<std::size_t>(format);
  return index < std::size(kFormats) ? &kFormats[index] : nullptr;
}

}  // namespace

std::string_view format_text(Format format) {
  const FormatRow* row = find_format(format);
  return row == nullptr ? std::string_view() : row->text;
}

std::string_view format_pattern(Format format) {
  const FormatRow* row = find_format(format);
  return row == nullptr ? std::string_view() : row->pattern;
}

std::uint32_t format_length(Format format) {
  const FormatRow* row = find_format(format);
  return row == nullptr ? 0 : row->longest;
}

}  // namespace edge::schemas
