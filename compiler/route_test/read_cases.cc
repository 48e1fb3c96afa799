#include <set>
#include <utility>

#include "base/text/ascii.h"
#include "compiler/model/decode.h"
#include "compiler/model/fields.h"
#include "compiler/model/validate.h"
#include "compiler/route_test/route_test.h"
#include "compiler/route_test/schema.h"
#include "compiler/yaml/read.h"
#include "program/claim_field.h"

namespace edge::compiler::route_test {
namespace {

using model::Fields;
using model::Report;
using yaml::Node;

std::string_view scalar(Node map, std::string_view key) {
  const Node value = map.find(key);
  return value && value.is_scalar() ? value.text() : std::string_view();
}

/// Reads one document.
class CaseReader {
 public:
  CaseReader(std::vector<Case>& cases, Diagnostics& diagnostics) : cases_(cases), diagnostics_(diagnostics) {}

  void document(Node root) {
    const Node metadata = root.find("metadata");
    name_space_ = scalar(metadata, "namespace");
    if (name_space_.empty()) name_space_ = "default";
    std::string name(scalar(metadata, "name").substr(0, 253));
    Report report(diagnostics_,
                  std::string(model::kRouteTestKind) + (name.empty() ? "" : " " + name_space_ + "/" + name));
    model::validate(root, kDocument, nullptr, report);
    if (!report.ok()) return;
    int index = 0;
    Fields(root).entries("tests", [&](const Fields& entry) { read(entry, index++, report); });
  }

 private:
  void read(const Fields& entry, int index, Report& report) {
    Case out;
    out.span = entry.span();
    if (auto name = entry.text("name")) out.name = std::move(name->value);
    prefix_ = "tests[" + std::to_string(index) + "].";
    faults_ = false;
    read_request(entry.object("request"), out.request, report);
    read_expectation(entry.object("expect"), out.expect, report);
    if (!faults_) cases_.push_back(std::move(out));
  }

  void fault(Report& report, Span span, std::string_view field, std::string text) {
    faults_ = true;
    report.fault(DiagnosticCode::kInvalidRouteTest, span, prefix_ + std::string(field), std::move(text));
  }

  void read_request(const Fields& fields, analyze::TypedRequest& out, Report& report) {
    const auto url = fields.needed_text("url");
    if (Status status = out.set_url(url.value); !status) fault(report, url.span, "request.url", status.error().text);
    if (const auto method = fields.text("method")) out.request.method = method->value;
    fields.entries("headers", [&](const Fields& header) {
      const auto name = header.needed_text("name");
      const Status status = out.add_header(name.value, header.needed_text("value").value);
      if (!status) fault(report, header.span(), "request.headers", status.error().text);
    });
    analyze::NameValues claims;
    fields.entries("claims", [&](const Fields& claim) {
      claims.emplace_back(claim.needed_text("name").value, claim.needed_text("value").value);
    });
    for (auto& field : program::claim_fields(claims)) out.request.headers.push_back(std::move(field));
    const auto source = fields.ip("source");
    out.request.source = source ? source->value : *parse_ip("127.0.0.1");
    if (const auto port = fields.integer("port")) {
      out.request.port = static_cast<std::uint16_t>(port->value);
      out.port_written = true;
    }
  }

  std::optional<std::string> qualified(const Fields& fields, std::string_view key) const {
    auto text = fields.text(key);
    if (!text) return std::nullopt;
    return qualified(text->value);
  }
  std::string qualified(const std::string& name) const {
    const bool whole = name.find('/') != std::string::npos || name == analyze::kUnresolvedBackend;
    return whole ? name : name_space_ + "/" + name;
  }

  static analyze::NameValues name_values(const Fields& fields, std::string_view key) {
    analyze::NameValues out;
    for (const model::NameValue& entry : model::name_values(fields, key)) {
      out.emplace_back(ascii_lower(entry.name.value), entry.value.value);
    }
    return out;
  }

  static std::vector<std::string> names(const Fields& fields, std::string_view key) {
    std::vector<std::string> out;
    for (const Located<std::string>& name : fields.strings(key)) out.push_back(ascii_lower(name.value));
    return out;
  }

  static std::optional<std::string> plain(const Fields& fields, std::string_view key) {
    auto text = fields.text(key);
    return text ? std::optional(std::move(text->value)) : std::nullopt;
  }

  static std::optional<std::uint32_t> number(const Fields& fields, std::string_view key) {
    const auto value = fields.integer(key);
    return value ? std::optional(static_cast<std::uint32_t>(value->value)) : std::nullopt;
  }

  void read_expectation(const Fields& fields, Expectation& out, Report& report) {
    if (const auto status = fields.integer("status")) out.status = static_cast<int>(status->value);
    out.location = plain(fields, "location");
    out.reason = plain(fields, "reason");
    out.listener = plain(fields, "listener");
    out.route = qualified(fields, "route");
    out.rule = number(fields, "rule");
    out.match = number(fields, "match");
    if ((out.rule || out.match) && !out.route) {
      fault(report, fields.span(), "expect", "`rule` and `match` count within a route; name it with `route`");
    }
    if (fields.node("policies")) {
      out.policies.emplace();
      for (Located<std::string>& policy : fields.strings("policies")) out.policies->push_back(std::move(policy.value));
    }
    read_backends(fields, out, report);
    out.path = plain(fields, "path");
    out.host = plain(fields, "host");
    out.headers = name_values(fields, "headers");
    out.absent_headers = names(fields, "absentHeaders");
    out.response_headers = name_values(fields, "responseHeaders");
    out.removed_response_headers = names(fields, "removedResponseHeaders");
    const bool forwarded = out.backends || out.path || out.host || !out.headers.empty() || !out.absent_headers.empty();
    if (out.status.value_or(0) != 0 && forwarded) {
      fault(report, fields.span(), "expect",
            "no backend sees a request that the proxy answers itself with " + std::to_string(*out.status));
    }
  }

  void read_backends(const Fields& fields, Expectation& out, Report& report) {
    const auto one = qualified(fields, "backend");
    const Node list = fields.node("backends");
    if (one && list) fault(report, list.span(), "expect.backends", "`backend` and `backends` say the same; give one");
    if (one) out.backends = {*one};
    if (!list) return;
    std::set<std::string> all;
    for (const Located<std::string>& name : fields.strings("backends")) all.insert(qualified(name.value));
    out.backends.emplace(all.begin(), all.end());
  }

  std::vector<Case>& cases_;
  Diagnostics& diagnostics_;
  std::string name_space_;
  std::string prefix_;
  bool faults_ = false;
};

}  // namespace

std::vector<Case> read_cases(const SourceMap& sources, Diagnostics& diagnostics) {
  std::vector<Case> cases;
  for (std::uint32_t source = 0; source < sources.size(); ++source) {
    // The compiler has read, and judged, every document already; most texts hold no test and are not read again.
    if (sources[source].text().find(model::kRouteTestKind) == std::string_view::npos) continue;
    Diagnostics repeated;
    yaml::read_documents(sources, source, repeated, {}, [&](const yaml::Document& document) {
      const Node root = document.root();
      if (!root.is_map() || scalar(root, "kind") != model::kRouteTestKind) return;
      const std::string_view version = scalar(root, "apiVersion");
      if (version.substr(0, version.find('/')) != schemas::kApiGroup) return;
      CaseReader(cases, diagnostics).document(root);
    });
  }
  return cases;
}

}  // namespace edge::compiler::route_test
