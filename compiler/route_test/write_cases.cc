#include <algorithm>

#include "compiler/route_test/route_test.h"
#include "program/claim_field.h"
#include "schemas/schema.h"

namespace edge::compiler::route_test {
namespace {

/// A double-quoted YAML scalar (YAML 1.2 §7.3.1); what a reader could take for something else is always quoted.
std::string in_quotes(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      ((out += "\\x") += kHex[byte >> 4]) += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// Plain where nobody could misread it.
std::string scalar(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '/';
  };
  const bool begins = !text.empty() && (text.front() == '/' || (text.front() >= 'a' && text.front() <= 'z'));
  const bool word = begins && std::ranges::all_of(text, plain) && text.find('/') != std::string_view::npos;
  return word ? std::string(text) : in_quotes(text);
}

std::string url_of(const Case& one) {
  const analyze::Witness& request = one.request.request;
  std::string url = "http://" + (one.written_host.empty() ? request.host : one.written_host);
  if (request.port != 80) url += ":" + std::to_string(request.port);
  url += request.path;
  if (!request.query.empty()) url += "?" + request.query;
  return url;
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + scalar(name);
  return "[" + text + "]";
}

void append_fields(const std::string& indent, const char* key, const analyze::NameValues& fields, std::string& out) {
  if (fields.empty()) return;
  out += indent + key + ":\n";
  for (const auto& [name, value] : fields) {
    out += indent + "  - {name: " + in_quotes(name) + ", value: " + in_quotes(value) + "}\n";
  }
}

void append_text(const char* key, const std::optional<std::string>& value, std::string& out) {
  if (value) out += "      " + std::string(key) + ": " + scalar(*value) + "\n";
}

void append_expectation(const Expectation& expect, std::string& out) {
  const std::string indent(6, ' ');
  if (expect.status) out += indent + "status: " + std::to_string(*expect.status) + "\n";
  append_text("location", expect.location, out);
  append_text("route", expect.route, out);
  if (expect.rule) out += indent + "rule: " + std::to_string(*expect.rule) + "\n";
  if (expect.match) out += indent + "match: " + std::to_string(*expect.match) + "\n";
  if (expect.policies) out += indent + "policies: " + list_text(*expect.policies) + "\n";
  if (expect.backends) out += indent + "backends: " + list_text(*expect.backends) + "\n";
  append_text("path", expect.path, out);
  append_text("host", expect.host, out);
  append_fields(indent, "headers", expect.headers, out);
  append_fields(indent, "responseHeaders", expect.response_headers, out);
  if (!expect.removed_response_headers.empty()) {
    out += indent + "removedResponseHeaders: " + list_text(expect.removed_response_headers) + "\n";
  }
}

void append_case(const Case& one, std::string& out) {
  const analyze::Witness& request = one.request.request;
  out += "  - name: " + in_quotes(one.name) + "\n    request:\n";
  if (request.method != "GET") out += "      method: " + in_quotes(request.method) + "\n";
  out += "      url: " + in_quotes(url_of(one)) + "\n";
  analyze::NameValues headers = request.headers;
  const analyze::NameValues claims = program::take_claims(headers);
  append_fields("      ", "headers", headers, out);
  append_fields("      ", "claims", claims, out);
  if (request.source != *parse_ip("127.0.0.1")) out += "      source: " + in_quotes(to_string(request.source)) + "\n";
  out += "    expect:\n";
  append_expectation(one.expect, out);
}

}  // namespace

std::string write_cases(const std::vector<Case>& cases, std::string_view name) {
  std::string out = "apiVersion: " + std::string(schemas::kApiGroup) +
                    "/v1alpha1\nkind: RouteTest\nmetadata:\n  name: " + in_quotes(name) + "\ntests:\n";
  for (const Case& one : cases) append_case(one, out);
  return out;
}

}  // namespace edge::compiler::route_test
