#include "edgectl/commands/objects/certificates.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/text/times.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/selection.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "net/tls/certificate_facts.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kGetCertificates = "edgectl get certificates";
constexpr const char* kMadeLabel = EDGE_API_GROUP "/acme";
constexpr const char* kHostNote = EDGE_API_GROUP "/acme-host";
constexpr const char* kListenerNote = EDGE_API_GROUP "/acme-listener";
constexpr const char* kFaultNote = EDGE_API_GROUP "/acme-fault";
constexpr const char* kDirectoryNote = EDGE_API_GROUP "/acme-directory";
constexpr std::int64_t kDaySeconds = 24LL * 3600;

/// One name of one namespace, or a listener whose names on demand get no certificates. Nothing of a key is ever read.
struct Row {
  std::string listener{};  ///< `gateway/listener`; empty: it is a name's
  std::string secret{};
  std::string issuer{};
  std::string directory{};
  std::int64_t until = 0;  ///< 0: there is no certificate
  std::string fault{};
  bool ordered = false;  ///< an order is under way, or waits
  bool waits = false;    ///< for what `fault` says, not for a time
  std::int64_t not_before = 0;
};
using Rows = std::map<std::pair<std::string, std::string>, Row>;

void take_certificate(const Json& secret, Row& row) {
  const Json& metadata = member_in(secret, "metadata");
  row.secret = text_in(metadata, "name");
  row.directory = text_in(member_in(metadata, "annotations"), kDirectoryNote);
  const auto chain = from_base64(text_in(member_in(secret, "data"), "tls.crt"));
  const auto facts = net::tls::certificate_facts(chain.value_or(std::string()));
  if (!facts) {
    row.fault = "tls.crt: " + facts.error().text;
    return;
  }
  row.until = facts->not_after;
  row.issuer = facts->issuer;
}

void take_order(const Json& secret, Row& row) {
  const auto text = from_base64(text_in(member_in(secret, "data"), "order.json"));
  const Json order = parse_json(text.value_or(std::string()));
  row.ordered = true;
  row.not_before = integer_in(order, "notBefore");
  const std::string& waits_for = text_in(order, "waitsFor");
  row.waits = !waits_for.empty();
  row.fault = row.waits ? waits_for : text_in(order, "fault");
  if (row.directory.empty()) row.directory = text_in(order, "directory");
}

/// What a controller has written of names on demand (controller/acme/name_faults.h). \returns whether something is
/// amiss.
bool take_names(const Json& secret, Row& row) {
  const Json& metadata = member_in(secret, "metadata");
  const Json& notes = member_in(metadata, "annotations");
  row.secret = text_in(metadata, "name");
  row.listener = text_in(notes, kListenerNote);
  row.fault = text_in(parse_json(text_in(notes, kFaultNote)), "text");
  return !row.listener.empty() && !row.fault.empty();
}

std::string state_of(const Row& row, std::int64_t now) {
  if (!row.listener.empty()) return "Refusing";
  if (row.until == 0) return row.not_before > now || row.waits ? "Waiting" : row.ordered ? "Ordering" : "Unreadable";
  if (row.until <= now) return "Expired";
  return row.ordered ? "Renewing" : "Valid";
}

std::string time_text(std::int64_t seconds) { return seconds == 0 ? "-" : rfc3339(seconds); }

OrderedJson rows_json(const Rows& rows, std::int64_t now) {
  OrderedJson list = OrderedJson::array();
  for (const auto& [name, row] : rows) {
    list.push_back({{"namespace", name.first},
                    {"host", row.listener.empty() ? name.second : std::string()},
                    {"state", state_of(row, now)},
                    {"secret", row.secret},
                    {"issuer", row.issuer},
                    {"directory", row.directory},
                    {"notAfter", row.until == 0 ? std::string() : time_text(row.until)},
                    {"nextTry", row.not_before > now ? time_text(row.not_before) : std::string()},
                    {"fault", row.fault}});
    if (!row.listener.empty()) list.back()["listener"] = row.listener;
  }
  return list;
}

std::string rows_text(const Rows& rows, std::int64_t now, bool everywhere, bool wide, bool heads) {
  std::vector<std::string> names = {"HOST", "STATE", "DAYS", "EXPIRES", "ISSUER"};
  if (everywhere) names.insert(names.begin(), "NAMESPACE");
  if (wide) names.insert(names.end(), {"SECRET", "DIRECTORY", "NEXT TRY"});
  names.emplace_back("FAULT");
  TextTable table(std::move(names));
  for (const auto& [name, row] : rows) {
    std::vector<std::string> cells;
    if (everywhere) cells.push_back(name.first);
    cells.push_back(shown(name.second));
    cells.push_back(state_of(row, now));
    cells.push_back(row.until == 0 ? "-" : std::to_string((row.until - now) / kDaySeconds));
    cells.push_back(time_text(row.until));
    cells.push_back(row.issuer.empty() ? "-" : shown(row.issuer));
    if (wide) {
      cells.push_back(row.secret.empty() ? "-" : row.secret);
      cells.push_back(shown(row.directory));
      cells.push_back(row.not_before > now ? time_text(row.not_before) : "-");
    }
    cells.push_back(row.fault.empty() ? "-" : shown(row.fault));
    table.add(std::move(cells));
  }
  return table.take(heads);
}

}  // namespace

bool asks_for_certificates(const cli::Arguments& arguments) { return arguments.one("TYPE") == "certificates"; }

int get_certificates(Cluster& cluster, const cli::Arguments& arguments) {
  for (const char* const flag : {"watch", "sort-by", "field-selector"}) {
    if (!arguments.has(flag)) continue;
    cli::print_error(kGetCertificates,
                     std::string("--") + flag + " is for objects of the API, and these are made from several");
    return cli::kExitUsage;
  }
  const bool everywhere = arguments.has("all-namespaces");
  kube::ListOptions options;
  options.name_space = everywhere ? std::string() : cluster.name_space();
  options.label_selector = kMadeLabel;
  const kube::Resource secrets{.group = {}, .version = "v1", .plural = "secrets", .kind = "Secret"};
  const auto list = cluster.api().list_all(secrets, options);
  if (!list.ok()) return tell(kGetCertificates, list.failure, "secrets");
  Rows rows;
  for (const kube::Object& object : list.list.items) {
    const Json secret = parse_json(object.text);
    const Json& metadata = member_in(secret, "metadata");
    const std::string& role = text_in(member_in(metadata, "labels"), kMadeLabel);
    const std::string& host = text_in(member_in(metadata, "annotations"), kHostNote);
    const auto& hosts = arguments.all("NAME");
    if (Row row; role == "names" && hosts.empty() && take_names(secret, row)) {
      // No host name has brackets.
      rows.emplace(std::pair(object.name_space, "(" + row.listener + ")"), std::move(row));
    }
    const bool named = hosts.empty() || std::ranges::find(hosts, host) != hosts.end();
    if (host.empty() || !named) continue;
    Row& row = rows[{object.name_space, host}];
    if (role == "certificate") take_certificate(secret, row);
    if (role == "order") take_order(secret, row);
  }
  const std::int64_t now = std::time(nullptr);
  const Output output = output_of(arguments);
  if (output.tabular()) {
    if (rows.empty()) {
      cli::print_message("edgectl", "no certificate is ordered here");
      return cli::kExitOk;
    }
    const std::string text = rows_text(rows, now, everywhere, output.form == Form::kWide, !arguments.has("no-headers"));
    return cli::write_text(stdout, text) ? cli::kExitOk : cli::kExitFindings;
  }
  const auto text = object_text(output, parse_json(json_line(rows_json(rows, now))));
  if (!text) {
    cli::print_error(kGetCertificates, text.error().text);
    return cli::kExitUsage;
  }
  return cli::write_text(stdout, *text) ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace edge::edgectl
