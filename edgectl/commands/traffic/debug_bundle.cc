// edgectl debug bundle: writes an archive with what remote troubleshooting needs, without credentials.
#include <algorithm>
#include <functional>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/agents/redact.h"
#include "edgectl/archive_writer.h"
#include "edgectl/commands.h"
#include "edgectl/reports/status_report.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "program/dump/dump.h"
#include "program/format/format.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDebugBundle = "edgectl debug bundle";

/// Kinds that are not ours and say why a route goes where it goes. Secrets give their names and keys.
constexpr const char* kOtherKinds[] = {"gatewayclasses", "gateways.gateway.networking.k8s.io",
                                       "httproutes",     "grpcroutes",
                                       "tlsroutes",      "tcproutes",
                                       "udproutes",      "referencegrants",
                                       "ingresses",      "services",
                                       "endpointslices", "namespaces",
                                       "events",         "secrets"};

struct PageFile {
  const char* target;
  const char* file;
};
constexpr PageFile kAgentPages[] = {{"/debug/config", "config.json"},     {"/debug/endpoints", "endpoints.json"},
                                    {"/debug/stats", "metrics.txt"},      {"/debug/cache", "cache.txt"},
                                    {"/debug/heap", "heap.txt"},          {"/debug/logs", "logs.ndjson"},
                                    {"/debug/log-level", "log-level.txt"}};
constexpr PageFile kControllerPages[] = {{"/metrics", "metrics.txt"}, {"/debug/logs", "logs.ndjson"}};

/// A part of a path from what others chose.
std::string file_name(std::string name) {
  std::ranges::replace_if(
      name,
      [](char c) {
        return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-' && c != '_' &&
               c != '.';
      },
      '_');
  return name.starts_with('.') ? "_" + name : name;
}

/// Diagnostics below a message quote the text of configuration, with whatever stands in it.
std::string without_quotes(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    nlohmann::ordered_json object = parse_ordered_json(line);
    if (!object.is_object()) continue;
    if (const auto block = object.find("block"); block != object.end()) *block = kRedacted;
    out += json_line(object) + "\n";
  }
  return out;
}

class Bundle {
 public:
  Bundle(ArchiveWriter& archive, const cli::Arguments& arguments) : archive_(archive), arguments_(arguments) {}

  Status fill() {
    const nlohmann::ordered_json status = status_report(arguments_);
    add("status.json", indented_json(status));
    add("status.txt", status_text(status));
    add("versions.txt", "edgectl " EDGE_VERSION "\nprogram format " + std::to_string(program::kFormatVersion) + "\n");
    add_resources();
    add_controller();
    add_agents();
    add("missing.txt", missing_.empty() ? "nothing\n" : missing_);
    return fault_;
  }
  const std::string& missing() const { return missing_; }
  std::size_t files() const { return files_; }

 private:
  void add(const std::string& name, std::string_view bytes) {
    if (!fault_) return;
    fault_ = archive_.add("edge-bundle/" + name, bytes);
    ++files_;
  }
  void miss(const std::string& what, const std::string& why) { missing_ += shown(what + ": " + why) + "\n"; }

  void add_objects(Cluster& cluster, const kube::Resource& resource) {
    const auto list = cluster.api().list_all(resource, {});
    if (list.failure.not_found()) return;
    if (!list.ok()) {
      unread_ = true;
      return miss("resources/" + resource.plural, list.failure.text());
    }
    std::string text;
    for (const kube::Object& item : list.list.items) {
      Json object = parsed_json(item.text);
      held_back_ += redact(object);
      text += "---\n" + schemas::yaml_text(object);
    }
    if (!text.empty()) add("resources/" + file_name(resource.plural) + ".yaml", text);
  }

  void add_resources() {
    const auto cluster = Cluster::open(arguments_);
    if (!cluster) {
      unread_ = true;
      return miss("resources", cluster.error().text);
    }
    for (const schemas::Kind& kind : schemas::kinds()) {
      if (kind.own) add_objects(**cluster, resource_of(kind));
    }
    for (const char* word : kOtherKinds) {
      const auto found = (*cluster)->find(word);
      if (!found.failure.none()) {
        miss("resources/" + std::string(word), found.failure.text());
      } else if (found.type) {
        add_objects(**cluster, found.type->resource);
      }
    }
  }

  void add_page(const std::string& folder, const PageFile& page, const AgentPages::Said& said) {
    const auto body = AgentPages::body_of(said);
    if (body) {
      const bool logs = std::string_view(page.file).ends_with(".ndjson");
      add(folder + page.file, logs ? without_quotes(*body) : *body);
    } else {
      miss(folder + page.file, body.error().text);
    }
  }

  void add_controller() {
    auto client = find_controller(arguments_);
    if (!client) return miss("controller", client.error().text);
    controller_ = std::move(*client);
    const auto agents = controller_->agents();
    if (agents) {
      add("controller/agents.json", agents_json(*agents));
    } else {
      miss("controller/agents.json", agents.error().text);
    }
    const auto history = controller_->history();
    if (history) {
      add("controller/history.json", history_json(*history));
    } else {
      miss("controller/history.json", history.error().text);
    }
    for (const PageFile& page : kControllerPages) {
      add_page("controller/", page, {"controller", controller_->ask({}, {.target = page.target})});
    }
  }

  /// Programs have the values of header modifiers in them. Where these are credentials, or nobody can say, programs
  /// stay here.
  bool programs_are_plain() const { return held_back_ == 0 && !unread_; }

  void add_program(const std::string& folder, const std::string& agent) {
    if (!programs_are_plain())
      return miss(folder + "program.edgeprog", "resources have credentials in their specs, or could not be read");
    auto bytes = controller_->program(agent);
    if (!bytes) return miss(folder + "program.edgeprog", bytes.error().text);
    add(folder + "program.edgeprog", {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    const auto view = program::read(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)));
    if (!view) return miss(folder + "routes.txt", view.error().text);
    add(folder + "routes.txt", program::dump_routes(*view));
  }

  void add_agents() {
    auto pages = AgentPages::open(arguments_);
    if (!pages) return miss("agents", pages.error().text);
    const auto names = (*pages)->names();
    if (!names) return miss("agents", names.error().text);
    for (const std::string& name : *names) {
      const std::string folder = "agents/" + file_name(name) + "/";
      for (const PageFile& page : kAgentPages) add_page(folder, page, (*pages)->ask_one(name, {.target = page.target}));
      if (!(*pages)->controlled() || !controller_) continue;
      add_program(folder, name);
      if (const auto state = controller_->agent(name)) add(folder + "state.json", agent_json(*state));
    }
  }

  ArchiveWriter& archive_;
  const cli::Arguments& arguments_;
  std::unique_ptr<controller::InspectClient> controller_;
  std::string missing_;
  std::size_t held_back_ = 0;  ///< values taken out of specs
  bool unread_ = false;        ///< there are resources that were not looked through
  std::size_t files_ = 0;
  Status fault_;
};

int debug_bundle(const cli::Arguments& arguments) {
  const std::string path = arguments.one("output");
  auto archive = ArchiveWriter::create(path);
  if (!archive) {
    cli::print_error(kDebugBundle, archive.error().text);
    return cli::kExitFindings;
  }
  Bundle bundle(**archive, arguments);
  Status status = bundle.fill();
  if (status) status = (*archive)->finish();
  if (!status) {
    cli::print_error(kDebugBundle, status.error().text);
    return cli::kExitFindings;
  }
  if (!bundle.missing().empty()) cli::print_message("edgectl", "could not be had:\n" + bundle.missing());
  cli::write_text(stdout, path + ": " + std::to_string(bundle.files()) + " files\n");
  return cli::kExitOk;
}

}  // namespace

cli::Command debug_bundle_command() {
  return {.name = "debug bundle",
          .group = kTrafficGroup,
          .summary = "Write an archive for troubleshooting",
          .details =
              "Status, versions, resources, programs, endpoints, metrics and logs of the controller and of agents. "
              "Data of secrets, passwords and credentials in header fields are redacted; if resources have any of "
              "these in their specs, programs are omitted too. What could not be collected is listed in missing.txt.",
          .flags = joined(controller_flags(), {{.name = "output",
                                                .letter = 'o',
                                                .value = "FILE",
                                                .help = "Archive to write (.tar.gz); readable by its owner alone",
                                                .required = true}}),
          .examples = {"edgectl debug bundle -o edge.tar.gz"},
          .run = debug_bundle,
          .global = true};
}

}  // namespace edge::edgectl
