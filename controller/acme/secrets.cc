#include "controller/acme/secrets.h"

#include <algorithm>
#include <charconv>
#include <span>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "program/sha256.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller::acme {
namespace {

using nlohmann::json;

constexpr const char* kDirectoryNote = EDGE_API_GROUP "/acme-directory";
constexpr const char* kHostNote = EDGE_API_GROUP "/acme-host";
constexpr const char* kReplacedNote = EDGE_API_GROUP "/acme-replaced-revoked";
constexpr const char* kListenerNote = EDGE_API_GROUP "/acme-listener";
constexpr const char* kFaultNote = EDGE_API_GROUP "/acme-fault";
constexpr const char* kClassNote = EDGE_API_GROUP "/acme-controller-class";

std::string short_hash(const std::string& text) {
  constexpr std::size_t kDigits = 16;
  return program::to_hex(program::sha256(std::as_bytes(std::span(text)))).substr(0, kDigits);
}

/// 0: it is none.
std::int64_t seconds_in(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return fault == std::errc() && end == text.data() + text.size() && seconds > 0 ? seconds : 0;
}

}  // namespace

const std::string* SecretView::value(std::string_view key) const {
  const auto found = data.find(std::string(key));
  return found == data.end() ? nullptr : &found->second;
}

SecretView read_secret(std::string_view text) {
  const json object = parse_json(text);
  const json& metadata = member_in(object, "metadata");
  SecretView view{.uid = text_in(metadata, "uid"), .resource_version = text_in(metadata, "resourceVersion")};
  view.role = text_in(member_in(metadata, "labels"), kMadeLabel);
  view.directory = text_in(member_in(metadata, "annotations"), kDirectoryNote);
  view.host = text_in(member_in(metadata, "annotations"), kHostNote);
  view.controller_class = text_in(member_in(metadata, "annotations"), kClassNote);
  view.fault = text_in(member_in(metadata, "annotations"), kFaultNote);
  view.replaced_revoked = seconds_in(text_in(member_in(metadata, "annotations"), kReplacedNote));
  const json& data = member_in(object, "data");
  if (!data.is_object()) return view;
  for (const auto& [key, value] : data.items()) {
    if (!value.is_string()) continue;
    if (auto bytes = from_base64(value.get_ref<const std::string&>())) view.data.emplace(key, *std::move(bytes));
  }
  return view;
}

std::int64_t last_revoked(const SecretView& certificate, std::int64_t now) {
  const std::string* const marked = certificate.value(kRevokedKey);
  // It was replaced whatever the mark says: one that cannot be read counts as of now.
  std::int64_t last = certificate.replaced_revoked;
  if (marked != nullptr) {
    const std::int64_t at = seconds_in(*marked);
    last = std::max(last, at > 0 ? at : now);
  }
  return std::min(last, now);
}

bool is_controllers_own(std::string_view text) {
  // Of most Secrets nothing needs to be read for it.
  if (text.find(kMadeLabel) == std::string_view::npos) return false;
  const json object = parse_json(text);
  return text_in(member_in(member_in(object, "metadata"), "labels"), kMadeLabel) == kControllerRole;
}

std::string write_secret(const SecretText& secret, std::string_view resource_version) {
  json object = {{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", secret.type}};
  json& metadata = object["metadata"];
  metadata = {{"name", secret.name}, {"namespace", secret.name_space}};
  metadata["labels"] = {{std::string(kMadeLabel), secret.role}};
  if (!secret.host.empty()) metadata["annotations"][kHostNote] = secret.host;
  if (!secret.directory.empty()) metadata["annotations"][kDirectoryNote] = secret.directory;
  if (!secret.controller_class.empty()) metadata["annotations"][kClassNote] = secret.controller_class;
  if (!secret.listener.empty()) metadata["annotations"][kListenerNote] = secret.listener;
  if (!secret.fault.empty()) metadata["annotations"][kFaultNote] = secret.fault;
  if (secret.replaced_revoked > 0) metadata["annotations"][kReplacedNote] = std::to_string(secret.replaced_revoked);
  if (!resource_version.empty()) metadata["resourceVersion"] = std::string(resource_version);
  json& data = object["data"];
  data = json::object();
  for (const auto& [key, value] : secret.data) data[key] = to_base64(value);
  return json_line(object);
}

std::string write_answers(const std::map<std::string, std::string>& answers) {
  json object = json::object();
  for (const auto& [key, value] : answers) object[key] = value;
  return json_line(object);
}

std::map<std::string, std::string> read_answers(std::string_view text, std::string_view host) {
  constexpr std::size_t kMost = 16;
  std::map<std::string, std::string> answers;
  const json object = parse_json(text);
  if (!object.is_object()) return answers;
  const std::string by_http = program::http_challenge_key(host, {}), by_tls = program::alpn_challenge_key(host);
  for (const auto& [key, value] : object.items()) {
    const bool of_host = key.starts_with(by_http) || key == by_tls;
    if (of_host && value.is_string() && answers.size() < kMost) answers.emplace(key, value.get<std::string>());
  }
  return answers;
}

std::string order_secret_of(std::string_view host) { return "acme-order-" + short_hash(std::string(host)); }

std::string account_secret_of(std::string_view directory, std::string_view email, std::string_view key_id) {
  return "acme-account-" + short_hash(std::string(directory) + "\n" + std::string(email) + "\n" + std::string(key_id));
}

}  // namespace edge::controller::acme
