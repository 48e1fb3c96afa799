// edgectl federation: how clusters that share objects are alike, what they disagree about, and who knows what; from the
// controller's pages (docs/federation.md).
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

#include "base/text/ascii.h"
#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "compiler/analyze/diff/diff.h"
#include "edgectl/agents/federation_pages.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/reports/diff_report.h"
#include "edgectl/reports/federation_report.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/client_config.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/complete.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/target.h"
#include "edgectl/shared_flags.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using controller::InspectClient;

constexpr std::string_view kStatus = "edgectl federation status";
constexpr std::string_view kPeers = "edgectl federation peers";
constexpr std::string_view kConflicts = "edgectl federation conflicts";
constexpr std::string_view kSync = "edgectl federation sync";
constexpr std::string_view kClock = "edgectl federation vector-clock";
constexpr std::chrono::milliseconds kLookAgain(300);

std::string kind_named(const std::string& word) {
  if (const schemas::Kind* const own = schemas::find_own_kind(word)) return std::string(own->kind);
  const std::string lower = ascii_lower(word);
  for (const schemas::Kind& kind : schemas::kinds()) {
    const bool same = ascii_lower(std::string(kind.kind)) == lower || kind.plural == lower;
    if (same) return std::string(kind.kind);
  }
  return word;
}

/// Of the kinds that may be federated, few belong to no namespace.
bool lies_in_namespace(const std::string& kind) { return !kind.ends_with("Class") && kind != "Namespace"; }

/// The object of the command line. nullopt: stderr says why.
std::optional<PageParameters> object_of(std::string_view command, const cli::Arguments& arguments, int& exit) {
  const auto config = ClientConfig::read(client_config_path());
  const auto target = config ? target_of(arguments, *config) : Result<Target>(config.error());
  if (!target) {
    exit = usage(command, target.error().text);
    return std::nullopt;
  }
  const std::string kind = kind_named(arguments.one("KIND"));
  std::string name = arguments.one("NAME");
  std::string space = target->name_space.empty() ? "default" : target->name_space;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    space = name.substr(0, slash);
    name = name.substr(slash + 1);
  }
  return PageParameters{{"kind", kind}, {"namespace", lies_in_namespace(kind) ? space : std::string()}, {"name", name}};
}

int show_status(const cli::Arguments& arguments) {
  int exit = cli::kExitOk;
  const auto controller = open_controller(kStatus, arguments, exit);
  if (controller == nullptr) return exit;
  const auto status = ask_federation(*controller, "GET", "status", {});
  if (!status) return tell(kStatus, status.error());
  return print(wants_data(arguments) ? data_text(arguments, indented_json(*status))
                                     : federation_status_text(*status, seconds_now()));
}

int show_peers(const cli::Arguments& arguments) {
  int exit = cli::kExitOk;
  const auto controller = open_controller(kPeers, arguments, exit);
  if (controller == nullptr) return exit;
  const auto peers = ask_federation_list(*controller, "peers", {});
  if (!peers) return tell(kPeers, peers.error());
  if (wants_data(arguments)) return print(data_text(arguments, indented_json(*peers)));
  const std::string table = federation_peers_table(*peers, arguments.one("output") == "wide", seconds_now());
  if (!table.empty()) return print(table);
  cli::print_message("edgectl", "there are no peers");
  return cli::kExitOk;
}

// ---- Conflicts ----

/// The version that `words` name: its number in the list, its author if it wrote but one, or its whole name. Empty:
/// none.
std::string version_named(const std::vector<Json>& versions, const std::string& words) {
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (fault == std::errc() && end == words.data() + words.size() && number >= 1 && number <= versions.size()) {
    return text_in(versions[number - 1], "version");
  }
  std::vector<std::string> found;
  for (const Json& version : versions) {
    const std::string& author = text_in(version, "author");
    if (text_in(version, "version") == words || (author.empty() ? words == "here" : author == words)) {
      found.push_back(text_in(version, "version"));
    }
  }
  return found.size() == 1 ? found.front() : std::string();
}

/// Of whoever runs this, for the controller's log and the event; empty: the system has none.
std::string login_name() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_name;
}

/// Asks at the terminal; empty: nothing was chosen.
std::string ask_which(const std::vector<Json>& versions) {
  cli::write_text(stderr, "\nWhich one stays? 1 to " + std::to_string(versions.size()) + ", or nothing: ");
  std::string line;
  if (!std::getline(std::cin, line) || line.empty()) return {};
  return version_named(versions, line);
}

int resolve(const cli::Arguments& arguments) {
  if (!arguments.has("KIND") || !arguments.has("NAME")) {
    return usage(kConflicts, "--resolve takes KIND and NAME of the object");
  }
  int exit = cli::kExitOk;
  auto object = object_of(kConflicts, arguments, exit);
  if (!object) return exit;
  const auto controller = open_controller(kConflicts, arguments, exit);
  if (controller == nullptr) return exit;
  PageParameters asked = *object;
  asked.emplace_back("contents", "1");
  const auto found = ask_federation(*controller, "GET", "conflicts", asked);
  if (!found) return tell(kConflicts, found.error());
  const Json& items = list_in(*found, "items");
  if (items.empty()) return failed(kConflicts, "there is no conflict about " + shown(arguments.one("NAME")));
  const std::vector<Json> versions = federation_versions(items.front());
  std::string kept;
  if (arguments.has("keep")) {
    kept = version_named(versions, arguments.one("keep"));
    if (kept.empty()) {
      print(federation_conflict_text(items.front(), seconds_now()));
      return usage(kConflicts, "--keep takes the number, the author or the name of one of these versions, not `" +
                                   shown(arguments.one("keep")) + "`");
    }
  } else {
    exit = print(federation_conflict_text(items.front(), seconds_now()));
    if (exit != cli::kExitOk) return exit;
    if (::isatty(STDIN_FILENO) == 0) return usage(kConflicts, "--keep says which of these versions stays");
    kept = ask_which(versions);
    if (kept.empty()) return failed(kConflicts, "nothing was chosen; the conflict stays");
  }
  object->emplace_back("keep", kept);
  object->emplace_back("by", login_name());
  const auto done = ask_federation(*controller, "POST", "resolve", *object);
  if (!done) return tell(kConflicts, done.error());
  return print("resolved: " + shown(kept) + " is written over the others\n");
}

int show_conflicts(const cli::Arguments& arguments) {
  if (arguments.has("resolve")) return resolve(arguments);
  if (arguments.has("keep")) return usage(kConflicts, "--keep goes with --resolve");
  int exit = cli::kExitOk;
  PageParameters asked;
  const bool one = arguments.has("KIND");
  if (one) {
    if (!arguments.has("NAME")) return usage(kConflicts, "NAME of the object is missing");
    auto object = object_of(kConflicts, arguments, exit);
    if (!object) return exit;
    asked = std::move(*object);
  }
  const bool data = wants_data(arguments);
  if (one || data) asked.emplace_back("contents", "1");
  const auto controller = open_controller(kConflicts, arguments, exit);
  if (controller == nullptr) return exit;
  const auto conflicts = ask_federation_list(*controller, "conflicts", asked);
  if (!conflicts) return tell(kConflicts, conflicts.error());
  if (data) return print(data_text(arguments, indented_json(*conflicts)));
  if (one && !conflicts->empty()) return print(federation_conflict_text(conflicts->front(), seconds_now()));
  const std::string table = federation_conflicts_table(*conflicts, seconds_now());
  if (!table.empty()) return print(table);
  cli::print_message("edgectl", "there are no conflicts");
  return cli::kExitOk;
}

// ---- Synchronizing ----

/// Whether the compiler reads the kind, so that a change of it may change what requests get.
bool is_compiled(const std::string& kind) { return schemas::find_kind(kind) != nullptr; }

/// The difference that the changes make for requests here; empty: none of them is of a kind that is compiled. `exit` is
/// set when it cannot be told, and stderr says why.
std::string routing_difference(const cli::Arguments& arguments, const Json& items, bool data, int& exit) {
  Upcoming upcoming;
  bool any = false;
  for (const Json& item : items) {
    const std::string& kind = text_in(item, "kind");
    if (!text_in(item, "at").empty() || !is_compiled(kind)) continue;
    any = true;
    const Json& after = member_in(item, "after");
    if (after.is_object()) {
      upcoming.objects.push_back(json_line(after));
    } else {
      upcoming.gone.insert(resource_key(kind, text_in(item, "namespace"), text_in(item, "name")));
    }
  }
  if (!any) return {};
  const auto cluster = open_cluster(kSync, arguments, exit);
  if (cluster == nullptr) return {};
  const Compiling how = compiling_for(program::Target::kTablesOnly, arguments);
  const auto before = program_of_upcoming(kSync, *cluster, {}, how, exit);
  if (!before) return {};
  const auto after = program_of_upcoming(kSync, *cluster, upcoming, how, exit);
  if (!after) return {};
  compiler::analyze::ProgramDiff programs(before->view, after->view, {});
  const compiler::analyze::Diff found = programs.run();
  return data ? diff_json(found, nullptr) : diff_text(found, nullptr);
}

int preview(const cli::Arguments& arguments, InspectClient& controller) {
  const auto items = ask_federation_list(controller, "preview", {{"peer", arguments.one("PEER")}});
  if (!items) return tell(kSync, items.error());
  const bool data = wants_data(arguments);
  int exit = cli::kExitOk;
  const std::string routing = routing_difference(arguments, *items, data, exit);
  if (data) {
    Json all = {{"items", *items}};
    if (!routing.empty()) all["routing"] = parse_json(routing);
    return std::max(exit, print(data_text(arguments, indented_json(all))));
  }
  const std::string table = federation_preview_table(*items);
  if (table.empty()) {
    cli::print_message("edgectl", "nothing would change, as far as this cluster knows");
    return exit;
  }
  return std::max(exit, print(table + (routing.empty() ? "" : "\nRequests here:\n" + routing)));
}

/// What is awaited of a peer, and the last line about it.
struct Awaited {
  std::string name;
  std::int64_t comparison = 0;
  bool connected = false;
  std::string said{};
  bool done = false;
};

/// Looks at a peer; tells what is another than before.
void look_at(const Json& peer, Awaited& awaited) {
  const bool connected = member_in(peer, "connected") == true;
  const std::int64_t lag = integer_in(peer, "lagVersions");
  const bool compared = integer_in(peer, "comparisons") >= awaited.comparison;
  awaited.connected = connected;
  awaited.done = connected && compared && lag == 0 && member_in(peer, "comparing") != true;
  const std::string text = !connected     ? "is away; it is compared when it comes"
                           : awaited.done ? "is synchronized"
                           : !compared    ? "is compared"
                                          : std::to_string(lag) + " versions are to be acknowledged";
  if (std::exchange(awaited.said, text) != text) cli::print_message("edgectl", shown(awaited.name) + ": " + text);
}

int synchronize(const cli::Arguments& arguments) {
  const auto patience = parse_duration(arguments.one("timeout"));
  if (!patience || patience->count() <= 0) {
    return usage(kSync, "`--timeout` takes a duration such as `1m`, not `" + shown(arguments.one("timeout")) + "`");
  }
  int exit = cli::kExitOk;
  const auto controller = open_controller(kSync, arguments, exit);
  if (controller == nullptr) return exit;
  if (arguments.has("dry-run")) return preview(arguments, *controller);
  const auto started = ask_federation(*controller, "POST", "sync", {{"peer", arguments.one("PEER")}});
  if (!started) return tell(kSync, started.error());
  std::map<std::string, Awaited> awaited;  // by UID, or name where it never came
  const auto name_of = [](const Json& peer) {
    return text_in(peer, "cluster").empty() ? text_in(peer, "name") : text_in(peer, "cluster");
  };
  for (const Json& one : list_in(*started, "items")) {
    awaited[name_of(one)] = {.name = text_in(one, "name"), .comparison = integer_in(one, "comparison")};
  }
  const auto until = std::chrono::steady_clock::now() + *patience;
  Json shown_peers = Json::array();
  for (;;) {
    const auto peers = ask_federation_list(*controller, "peers", {});
    if (!peers) return tell(kSync, peers.error());
    shown_peers = Json::array();
    bool waits = false;
    for (const Json& peer : *peers) {
      const auto found = awaited.find(name_of(peer));
      if (found == awaited.end()) continue;
      look_at(peer, found->second);
      waits = waits || (found->second.connected && !found->second.done);
      shown_peers.push_back(peer);
    }
    if (!waits || std::chrono::steady_clock::now() >= until) break;
    std::this_thread::sleep_for(kLookAgain);
  }
  const bool all = std::ranges::all_of(awaited, [](const auto& one) { return one.second.done; });
  exit = print(wants_data(arguments) ? data_text(arguments, indented_json(shown_peers))
                                     : federation_peers_table(shown_peers, /*wide=*/false, seconds_now()));
  return all ? exit : cli::kExitFindings;
}

int show_clock(const cli::Arguments& arguments) {
  int exit = cli::kExitOk;
  const auto object = object_of(kClock, arguments, exit);
  if (!object) return exit;
  const auto controller = open_controller(kClock, arguments, exit);
  if (controller == nullptr) return exit;
  const auto clock = ask_federation(*controller, "GET", "clock", *object);
  if (!clock) return tell(kClock, clock.error());
  return print(wants_data(arguments) ? data_text(arguments, indented_json(*clock))
                                     : federation_clock_text(*clock, seconds_now()));
}

cli::Positional kind_argument(bool required) {
  return {.name = "KIND",
          .help = "Kind of the object, by any of its names: `ProxyRoute`, `routes`, `rt`",
          .required = required,
          .complete = complete_type};
}
cli::Positional object_argument(bool required) {
  return {.name = "NAME", .help = "Name of the object, or NAMESPACE/NAME", .required = required};
}

cli::Command of_federation(std::string_view name, std::string_view summary, std::string_view details,
                           std::vector<cli::Flag> flags, int (*run)(const cli::Arguments&)) {
  return {.name = name,
          .group = kClusterGroup,
          .summary = summary,
          .details = details,
          .flags = joined(controller_flags(), std::move(flags)),
          .run = run,
          .global = true};
}

cli::Command conflicts_command() {
  cli::Command command = of_federation(
      "federation conflicts", "List what clusters disagree about, and resolve it",
      "With KIND and NAME the versions of one object are shown, and the fields in which each loser differs from the "
      "winner. `--resolve` writes the chosen version again, over all others; without --keep it asks at the terminal.",
      {{.name = "resolve", .help = "Resolve the conflict about KIND NAME"},
       {.name = "keep",
        .value = "VERSION",
        .help = "Version that stays, without asking: its number in the list, its author (`here`: this cluster), or its "
                "name"},
       form_flag({"table", "json", "yaml"})},
      show_conflicts);
  command.positional = kind_argument(/*required=*/false);
  command.second = object_argument(/*required=*/false);
  command.examples = {"edgectl federation conflicts", "edgectl federation conflicts route shop/cart",
                      "edgectl federation conflicts --resolve route shop/cart --keep berlin"};
  return command;
}

cli::Command sync_command() {
  cli::Command command = of_federation(
      "federation sync", "Compare with peers now, and wait until both sides are alike",
      "Without PEER with all of them. Exit code 1 when a peer is away, or not alike within --timeout. With --dry-run "
      "nothing is done: objects are listed that would change here and at peers, as far as this cluster knows, and what "
      "that changes for requests here.",
      {{.name = "dry-run", .help = "Show what would change"},
       {.name = "timeout", .value = "DURATION", .help = "How long to wait", .fallback = "1m"},
       controller_class_flag(),
       form_flag({"table", "json", "yaml"})},
      synchronize);
  command.positional = {.name = "PEER", .help = "Name or UID of one peer", .required = false};
  command.examples = {"edgectl federation sync", "edgectl federation sync berlin --dry-run"};
  return command;
}

}  // namespace

std::vector<cli::Command> federation_commands() {
  cli::Command status = of_federation("federation status", "Show what this cluster shares, and how much of it there is",
                                      {}, {form_flag({"text", "json", "yaml"})}, show_status);
  cli::Command peers =
      of_federation("federation peers", "List the clusters that objects are shared with, and how far each is behind",
                    {}, {form_flag({"table", "wide", "json", "yaml"})}, show_peers);
  cli::Command clock = of_federation("federation vector-clock",
                                     "Show the versions of an object, who wrote them, and which cluster knows which",
                                     {}, {form_flag({"text", "json", "yaml"})}, show_clock);
  clock.positional = kind_argument(/*required=*/true);
  clock.second = object_argument(/*required=*/true);
  clock.examples = {"edgectl federation vector-clock route cart -n shop"};
  return {std::move(status), std::move(peers), conflicts_command(), sync_command(), std::move(clock)};
}

}  // namespace edge::edgectl
