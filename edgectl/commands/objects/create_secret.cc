// edgectl create secret: makes a Secret from files and literals, checks it, and prints it or sends it to the cluster.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/text/base64.h"
#include "cli/terminal.h"
#include "controller/resource_api/objects/metadata.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/write/write.h"
#include "edgectl/shared_flags.h"
#include "net/tls/certificate.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
namespace objects = resource_api::objects;

constexpr std::string_view kSecretTls = "edgectl create secret tls";
constexpr std::string_view kSecretGeneric = "edgectl create secret generic";
/// What a server takes as the values of one Secret.
constexpr std::size_t kMostSecretBytes = std::size_t{1} << 20;
constexpr std::size_t kMostSecretKeyBytes = 253;
constexpr std::int64_t kNearEnd = std::int64_t{14} * 24 * 3600;

/// Values by key.
using Values = std::map<std::string, std::string>;

bool is_key(std::string_view key) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !key.empty() && key.size() <= kMostSecretKeyBytes && key != "." && key != ".." &&
         std::ranges::all_of(key, fits);
}

Status add_value(Values& values, const std::string& key, std::string value) {
  if (!is_key(key)) {
    return Error{ErrorCode::kInvalidArgument,
                 "a key of a Secret has letters, digits, `-`, `_` and `.`, not `" + shown(key) + "`"};
  }
  std::size_t size = value.size();
  for (const auto& [other, there] : values) size += there.size();
  if (size > kMostSecretBytes) return Error{ErrorCode::kResourceExhausted, "a Secret holds at most 1 MiB"};
  if (values.emplace(key, std::move(value)).second) return {};
  return Error{ErrorCode::kInvalidArgument, "the key `" + key + "` is given twice"};
}

Status add_file(Values& values, const std::string& key, const std::string& path) {
  auto content = read_file(path, kMostSecretBytes);
  return content ? add_value(values, key, std::move(*content)) : Status(content.error());
}

/// `KEY=PATH`, or PATH, whose last part is the key then.
Status add_named_file(Values& values, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return add_file(values, text.substr(0, equals), text.substr(equals + 1));
  return add_file(values, text.substr(text.rfind('/') + 1), text);
}

Status add_literal(Values& values, const std::string& text) {
  const std::size_t equals = text.find('=');
  // The text may be the secret: it is not repeated.
  if (equals == std::string::npos) return Error{ErrorCode::kInvalidArgument, "--from-literal takes KEY=VALUE"};
  return add_value(values, text.substr(0, equals), text.substr(equals + 1));
}

Json secret_of(const cli::Arguments& arguments, std::string_view type, const Values& values) {
  Json data = Json::object();
  for (const auto& [key, value] : values) data[key] = to_base64(value);
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", {{"name", arguments.one("NAME")}}},
          {"type", type},
          {"data", std::move(data)}};
}

int print_secret(std::string_view command, const cli::Arguments& arguments, const Type& type, const Json& object) {
  const Output output = arguments.has("output") ? output_of(arguments) : Output{.form = Form::kYaml};
  if (output.form == Form::kName) return print(type.qualified(arguments.one("NAME")) + "\n");
  const auto text = object_text(output, object);
  return text ? print(*text) : usage(command, text.error().text);
}

int make_namespace(std::string_view command, Cluster& cluster, const WriteSettings& settings) {
  const Json json = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", cluster.name_space()}}}};
  const Type type{{.group = {}, .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false}};
  const WriteResult made = create_object(cluster, type, {}, json, settings);
  if (made.failure.none() || made.failure.already_exists()) return cli::kExitOk;
  return tell(command, made.failure, "namespace/" + cluster.name_space());
}

/// By a server-side apply: unlike the other it keeps no copy of the values in an annotation.
int send_secret(std::string_view command, const cli::Arguments& arguments, Json secret) {
  const std::string fault = objects::name_fault(arguments.one("NAME"), objects::NameRule::kSubdomain);
  if (!fault.empty()) return usage(command, "NAME: " + fault);
  const Type type{{.group = {}, .version = "v1", .plural = "secrets", .kind = "Secret"}};
  const std::string dry_run = arguments.one("dry-run");
  if (dry_run == "client") {
    const std::string name_space = arguments.one("namespace");
    if (!name_space.empty()) secret["metadata"]["namespace"] = name_space;
    return print_secret(command, arguments, type, secret);
  }
  WriteSettings settings{.server_side = true,
                         .force = true,
                         .dry_run = dry_run == "server" ? DryRun::kServer : DryRun::kNone,
                         .field_manager = arguments.one("field-manager")};
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(command, arguments, exit);
  if (cluster == nullptr) return exit;
  if (arguments.has("create-namespaces")) exit = make_namespace(command, *cluster, settings);
  if (exit != cli::kExitOk) return exit;
  secret["metadata"]["namespace"] = cluster->name_space();
  const WriteResult result = apply_object(*cluster, type, cluster->name_space(), secret, settings);
  tell_warnings(result.warnings);
  if (!result.failure.none()) return tell(command, result.failure, "secret/" + arguments.one("NAME"));
  if (arguments.has("output")) return print_secret(command, arguments, type, plain_object(result.object.text));
  return print(done_text(type, result.object.name, result.done, settings.dry_run));
}

/// The file in place of the key: who types the command knows the files.
std::string file_fault(const Error& error, const cli::Arguments& arguments) {
  for (const auto& [key, flag] : {std::pair{"tls.crt: ", "cert"}, std::pair{"tls.key: ", "key"}}) {
    if (error.text.starts_with(key)) {
      return arguments.one(flag) + ": " + error.text.substr(std::string_view(key).size());
    }
  }
  return error.text;
}

/// Of a certificate that nobody will believe, or not for long.
void warn_of_end(const net::tls::Certificate& certificate) {
  const std::int64_t left = certificate.not_after() - seconds_now();
  if (left > kNearEnd) return;
  const std::string end = objects::time_text(certificate.not_after());
  tell_warnings({left <= 0 ? "the certificate ended at " + end : "the certificate ends at " + end});
}

int create_secret_tls(const cli::Arguments& arguments) {
  Values values;
  Status status = add_file(values, "tls.crt", arguments.one("cert"));
  if (status) status = add_file(values, "tls.key", arguments.one("key"));
  if (!status) return failed(kSecretTls, status.error().text);
  const auto certificate = net::tls::Certificate::read(values.at("tls.crt"), values.at("tls.key"));
  if (!certificate) return failed(kSecretTls, file_fault(certificate.error(), arguments));
  warn_of_end(**certificate);
  return send_secret(kSecretTls, arguments, secret_of(arguments, "kubernetes.io/tls", values));
}

int create_secret_generic(const cli::Arguments& arguments) {
  Values values;
  Status status;
  for (const std::string& text : arguments.all("from-file")) {
    if (status) status = add_named_file(values, text);
  }
  for (const std::string& text : arguments.all("from-literal")) {
    if (status) status = add_literal(values, text);
  }
  if (!status) {
    const bool wrong = status.error().code == ErrorCode::kInvalidArgument;
    return failed(kSecretGeneric, status.error().text, wrong ? cli::kExitUsage : cli::kExitFindings);
  }
  if (values.empty()) return usage(kSecretGeneric, "--from-file or --from-literal says what is in the Secret");
  return send_secret(kSecretGeneric, arguments, secret_of(arguments, arguments.one("type"), values));
}

std::vector<cli::Flag> secret_flags() {
  return {dry_run_flag({"none", "client", "server"}), create_namespaces_flag(), field_manager_flag(), result_flag()};
}

cli::Positional name_argument() { return {.name = "NAME", .help = "Name of the Secret"}; }

}  // namespace

std::vector<cli::Command> create_secret_commands() {
  return {{.name = "create secret tls",
           .group = kObjectsGroup,
           .summary = "Create or update a Secret from a certificate and its key",
           .details = "Checks that both can be parsed and belong together. `--dry-run client` prints the Secret in "
                      "YAML without contacting the cluster; otherwise it is applied to the cluster.",
           .flags = joined({{.name = "cert",
                             .value = "FILE",
                             .help = "Certificate in PEM, followed by its intermediate certificates",
                             .required = true},
                            {.name = "key", .value = "FILE", .help = "Private key in PEM", .required = true}},
                           secret_flags()),
           .positional = name_argument(),
           .examples = {"edgectl create secret tls site --cert fullchain.pem --key privkey.pem",
                        "edgectl create secret tls site --cert a.pem --key a.key --dry-run client > config/site.yaml"},
           .run = create_secret_tls,
           .global = true},
          {.name = "create secret generic",
           .group = kObjectsGroup,
           .summary = "Create a Secret from files and literals, or replace its values",
           .details =
               "`--dry-run client` prints the Secret in YAML without contacting the cluster; otherwise it is applied "
               "to the cluster. Command lines are visible in the list of processes: pass passwords in files.",
           .flags = joined({{.name = "from-file",
                             .value = "[KEY=]FILE",
                             .help = "Value from this file; the key defaults to the file's name",
                             .repeatable = true},
                            {.name = "from-literal", .value = "KEY=VALUE", .help = "Literal value", .repeatable = true},
                            {.name = "type", .value = "TYPE", .help = "Type of the Secret", .fallback = "Opaque"}},
                           secret_flags()),
           .positional = name_argument(),
           .examples = {"edgectl create secret generic users --from-file htpasswd=./htpasswd",
                        "edgectl create secret generic session --from-file session-secret=key.bin --dry-run client"},
           .run = create_secret_generic,
           .global = true}};
}

}  // namespace edge::edgectl
