#include "schemas/formats.h"

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
  std::string_view pattern;
  std::uint32_t longest = 0;
};
constexpr FormatRow kFormats[] = {
    {Format::kName, "^" EDGE_NAME "$", 253},
    {Format::kNamespace, "^" EDGE_LABEL "$", 63},
    {Format::kNamespacedName, "^(" EDGE_LABEL "/)?" EDGE_NAME "$", 317},
    {Format::kLabel, "^" EDGE_LABEL "$", 63},
    {Format::kLabelValue, "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$", 63},
    {Format::kHostname, "^((\\*\\.)?" EDGE_HOST "\\.?|\\[?" EDGE_IPV6 "\\]?)$", 256},
    {Format::kDuration, "^(0|(([0-9]{1,18}|[0-9]{0,17}\\.[0-9]{1,18})(ns|us|ms|s|m|h))+)$"},
    {Format::kSize, "^[0-9]{1,19}(Ki|Mi|Gi|KB|MB|GB)?$"},
    {Format::kUrl, "^https?://[!-~]+$"},
    {Format::kPath, "^/"},
    {Format::kHeaderName, "^" EDGE_TOKEN "$"},
    {Format::kHeaderValue, "^([^\\x00-\\x20\\x7f]([^\\x00-\\x08\\x0a-\\x1f\\x7f]*[^\\x00-\\x20\\x7f])?)?$"},
    {Format::kMethod, "^" EDGE_TOKEN "$"},
    {Format::kRateLimitKey, "^(source-ip|host|path|identity|(header|cookie):" EDGE_TOKEN "|(query|jwt):[^\\n]+)$"},
    {Format::kPercent, "^(100(\\.0{1,3})?|[0-9]{1,2}(\\.[0-9]{1,3})?)%$"},
    {Format::kCountOrPercent, "^(100|[0-9]{1,2})%$"},
    {Format::kHostPort, "^(\\[" EDGE_IPV6 "\\]|" EDGE_HOST "\\.?):[0-9]{1,5}$"},
    {Format::kEndpointAddress,
     "^((\\[" EDGE_IPV6 "\\]|" EDGE_ENDPOINT_LABEL "(\\." EDGE_ENDPOINT_LABEL
     ")*\\.?):[0-9]{1,5}|_[-A-Za-z0-9]+\\._[-A-Za-z0-9]+(\\." EDGE_ENDPOINT_LABEL ")+\\.?)$",
     260},
    {Format::kWireGuardKey, "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$"},
    {Format::kFilePath, "^(/(\\.{0,2}[^\\x00-\\x1f./:\\x7f]|\\.{3})[^\\x00-\\x1f/:\\x7f]*)+$", 1024},
    {Format::kBgpCommunity,
     "^([0-9]{1,5}:[0-9]{1,5}|[0-9]{1,10}:[0-9]{1,10}:[0-9]{1,10}|no-export|no-advertise|no-peer|graceful-shutdown)$"},
    {Format::kCountry, "^[A-Z]{2}$"},
    {Format::kBgpPassword, "^[ !#-~]{1,80}$"},
    {Format::kErrorStatus, "^[45]([0-9]{2}|xx)$"},
    {Format::kPage, {}, 65536},
    {Format::kUri, "^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$", 2048},
    {Format::kUriPrefix, "^[A-Za-z][A-Za-z0-9+.-]*:[!-~]*[!-.0-9;-~][!-~]*[/:]$", 2048},
    {Format::kEmail, "^[!-?A-~]+@[!-?A-~]+$", 320},
    {Format::kPattern, "^[^\\x00-\\x1f\\x7f]+$", 1024},
    {Format::kMediaRange, "^" EDGE_TOKEN "/" EDGE_TOKEN "$", 256},
    {Format::kSha256, "^([0-9A-Fa-f]{64}|([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2})$"},
};

const FormatRow* find_format(Format format) {
  for (const FormatRow& row : kFormats) {
    if (row.format == format) return &row;
  }
  return nullptr;
}

}  // namespace

std::string_view format_text(Format format) {
  switch (format) {
    case Format::kNone:
      return "a string";
    case Format::kName:
      return "a name of small letters, digits, `-` and `.` (RFC 1123)";
    case Format::kNamespace:
    case Format::kLabel:
      return "a name of at most 63 small letters, digits and `-` (RFC 1123)";
    case Format::kLabelValue:
      return "at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends";
    case Format::kNamespacedName:
      return "`name` or `namespace/name`";
    case Format::kHostname:
      return "a host name, or `*.` before one";
    case Format::kCidr:
      return "an address with a prefix length, such as `10.0.0.0/8`";
    case Format::kIp:
      return "an IP address";
    case Format::kDuration:
      return "a duration such as `500ms`, `30s` or `1h30m`";
    case Format::kSize:
      return "a size such as `1024`, `64Ki`, `10Mi` or `1MB`";
    case Format::kTimestamp:
      return "a time such as `2026-01-31T12:00:00Z`";
    case Format::kUrl:
      return "an http or https URL";
    case Format::kPath:
      return "a path that begins with `/`";
    case Format::kHeaderName:
      return "a header name";
    case Format::kHeaderValue:
      return "a header value: no control bytes, no spaces around it";
    case Format::kMethod:
      return "a method";
    case Format::kRateLimitKey:
      return "`source-ip`, `header:NAME`, `cookie:NAME`, `query:NAME`, `jwt:CLAIM`, `identity`, `host` or "
             "`path`";
    case Format::kPercent:
      return "a percentage such as `0.5%`";
    case Format::kCountOrPercent:
      return "a number, or a whole percentage such as `10%`";
    case Format::kHostPort:
      return "a host and a port, such as `edge.example.com:9090`";
    case Format::kEndpointAddress:
      return "a host and a port, such as `127.0.0.1:8080` or `api.example.org:443`, or a name with SRV records, such "
             "as "
             "`_http._tcp.example.org`";
    case Format::kWireGuardKey:
      return "a WireGuard key: 32 bytes in base64";
    case Format::kFilePath:
      return "the absolute path of a file, of at most 1024 bytes, without `.`, `..`, `//` and `:`";
    case Format::kBgpCommunity:
      return "a community such as `64512:100`, a large one such as `64512:1:2`, or `no-export`";
    case Format::kCountry:
      return "a country's code of two capital letters (ISO 3166-1), such as `DE`";
    case Format::kBgpPassword:
      return "at most 80 printable characters of ASCII, without `\"`";
    case Format::kErrorStatus:
      return "a status of an error such as `404`, or a class: `4xx`, `5xx`";
    case Format::kPage:
      return "a text of at most 64 KiB";
    case Format::kUri:
      return "a URI such as `spiffe://example.org/ns/shop`";
    case Format::kUriPrefix:
      return "the beginning of a URI, up to a `/` or `:` behind its scheme, such as `spiffe://example.org/`";
    case Format::kEmail:
      return "an email address";
    case Format::kPattern:
      return "a regular expression (RE2) of at most 1 KiB";
    case Format::kMediaRange:
      return "a media type such as `application/json`, or `text/*`";
    case Format::kSha256:
      return "a SHA-256 of 64 hexadecimal digits, with or without `:` between pairs";
  }
  return {};
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
