#include "agent/observe/span_export.h"

#include <algorithm>
#include <array>
#include <utility>

#include <unistd.h>

#include "agent/observe/grpc_span_sender.h"
#include "base/os/file.h"
#include "net/client/url.h"
#include "net/http1/head.h"
#include "runtime/observe/trace/http_sender.h"

namespace edge::agent {
namespace {

using runtime::trace::SpanSender;

constexpr std::size_t kMaxHeaderFile = 16 << 10;
constexpr std::string_view kEndpoint = "otlp-endpoint";
constexpr std::string_view kHeader = "otlp-header";
constexpr std::string_view kService = "otlp-service";

Error wrong(std::string_view flag, std::string_view what) {
  return {ErrorCode::kInvalidArgument, "--" + std::string(flag) + " " + std::string(what)};
}

/// A field that a message must not be framed by, or cannot have: gRPC, which aborts, has fewer names than HTTP.
bool may_be_sent(std::string_view name) {
  using net::http1::KnownField;
  const auto sound = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  if (name.empty() || !std::ranges::all_of(name, sound)) return false;
  const KnownField known = net::http1::recognise_field(name);
  return known != KnownField::kHost && known != KnownField::kContentLength && known != KnownField::kContentType &&
         !net::http1::always_hop_by_hop(known);
}

/// `NAME=VALUE`, or `NAME=@FILE`.
Result<std::pair<std::string, std::string>> read_header(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return wrong(kHeader, "takes NAME=VALUE or NAME=@FILE");
  std::string name = text.substr(0, equals);
  std::string value = text.substr(equals + 1);
  if (!may_be_sent(name)) return wrong(kHeader, "names no header that can be set");
  if (value.starts_with('@')) {
    auto content = read_file(value.substr(1), kMaxHeaderFile);
    if (!content) return content.error();
    value = std::move(*content);
    while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
  }
  if (std::ranges::any_of(value, [](char c) { return c < 0x20 || c > 0x7e; })) {
    return wrong(kHeader, "has a value of `" + name + "` with bytes other than visible ASCII");
  }
  return std::pair(std::move(name), std::move(value));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : std::string();
}

/// The endpoint, with the scheme of its URL.
struct Endpoint {
  bool grpc = false;
  net::client::Url url;
};

Result<Endpoint> read_endpoint(std::string text) {
  constexpr std::string_view kTakes = "takes http://, https://, grpc:// or grpcs:// with HOST:PORT";
  Endpoint endpoint;
  endpoint.grpc = text.starts_with("grpc://") || text.starts_with("grpcs://");
  if (endpoint.grpc) text.replace(0, std::string_view("grpc").size(), "http");
  auto url = net::client::parse_url(text);
  if (!url || (endpoint.grpc && url->target != "/")) return wrong(kEndpoint, kTakes);
  endpoint.url = std::move(*url);
  return endpoint;
}

Result<std::shared_ptr<const net::tls::Authorities>> authorities_of(const std::string& pem) {
  auto authorities = std::make_shared<net::tls::Authorities>();
  if (Status status = authorities->add_system(); !status) return status.error();
  if (!pem.empty()) {
    if (Status status = authorities->add(pem); !status) return status.error();
  }
  return std::shared_ptr<const net::tls::Authorities>(std::move(authorities));
}

Result<std::unique_ptr<SpanSender>> sender_of(const SpanExportOptions& options) {
  auto endpoint = read_endpoint(options.endpoint);
  if (!endpoint) return endpoint.error();
  net::client::Url& url = endpoint->url;
  if (endpoint->grpc) {
    const bool v6 = url.host.find(':') != std::string::npos;
    const std::string host = v6 ? "[" + url.host + "]" : url.host;
    return make_grpc_sender({host + ":" + std::to_string(url.port), url.secure, options.authorities, options.fields});
  }
  std::shared_ptr<const net::tls::Authorities> authorities;
  if (url.secure) {
    auto read = authorities_of(options.authorities);
    if (!read) return read.error();
    authorities = std::move(*read);
  }
  return runtime::trace::make_http_sender(std::move(url), options.fields, std::move(authorities));
}

}  // namespace

std::vector<cli::Flag> span_export_flags() {
  return {{.name = kEndpoint,
           .value = "URL",
           .help = "Collector that spans are exported to: http(s)://HOST:PORT[/PATH] for OTLP over HTTP, "
                   "grpc(s)://HOST:PORT for OTLP over gRPC"},
          {.name = kHeader,
           .value = "NAME=VALUE",
           .help = "Header sent to the collector; a value that begins with @ names a file that contains the value",
           .repeatable = true},
          {.name = kService, .value = "NAME", .help = "service.name of the spans", .fallback = "edge-proxy"}};
}

Result<SpanExportOptions> span_export_options(const cli::Arguments& arguments) {
  SpanExportOptions options;
  options.service = arguments.one(kService);
  if (arguments.has(kEndpoint)) {
    options.endpoint = arguments.one(kEndpoint);
    if (auto endpoint = read_endpoint(options.endpoint); !endpoint) return endpoint.error();
  }
  if (arguments.has(kHeader)) {
    for (const std::string& text : arguments.all(kHeader)) {
      auto header = read_header(text);
      if (!header) return header.error();
      options.fields.push_back(std::move(*header));
    }
  }
  return options;
}

void write_span_metrics(metrics::Exposition& out, const runtime::trace::SpanCounts& counts) {
  using metrics::Family;
  using metrics::labels;
  out.one(Family::kSpansSampled, counts.recorded);
  out.one(Family::kSpansExported, counts.exported);
  out.begin(Family::kSpansDropped);
  out.sample(counts.full, labels({{"reason", "full"}}));
  out.sample(counts.refused, labels({{"reason", "refused"}}));
  out.sample(counts.unreachable, labels({{"reason", "unreachable"}}));
  out.sample(counts.at_end, labels({{"reason", "shutdown"}}));
}

Result<std::unique_ptr<runtime::trace::SpanExporter>> start_span_export(
    const SpanExportOptions& options, std::shared_ptr<runtime::trace::SpanBuffers> buffers) {
  if (options.endpoint.empty()) return std::unique_ptr<runtime::trace::SpanExporter>();
  auto sender = sender_of(options);
  if (!sender) return sender.error();
  const std::string host = host_name();
  runtime::trace::ExporterOptions exporter;
  exporter.resource = {{"service.name", options.service},
                       {"service.instance.id", options.instance.empty() ? host : options.instance},
                       {"host.name", host}};
  exporter.tell = options.tell;
  return std::make_unique<runtime::trace::SpanExporter>(std::move(buffers), std::move(*sender), std::move(exporter));
}

}  // namespace edge::agent
