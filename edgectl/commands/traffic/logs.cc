// edgectl logs: prints log messages of the controller and of agents: of their pods if they run in the cluster, else the
// recent ones that the daemons keep in memory.
#include <charconv>
#include <map>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "controller/kube/resource.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/agents/page_lines.h"
#include "edgectl/agents/web_client.h"
#include "edgectl/commands.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kLogs = "edgectl logs";
constexpr std::chrono::milliseconds kFollowAgain(500);

struct Wanted {
  std::string part;  ///< `controller` or `agent`
  std::string node;
  std::string since;  ///< a duration
  std::string tail;
  std::string form;  ///< `text`, `json` or `yaml`
  bool follow = false;
  bool timestamps = false;
};

/// One line of JSON, or one document of a YAML stream; without the end of its last line.
std::string data_line(const Wanted& wanted, const nlohmann::ordered_json& object) {
  if (wanted.form == "json") return json_line(object);
  std::string text = "---\n" + schemas::yaml_text(object);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

/// A message of a daemon as it keeps it, and whose it is. A line that is no such message is the `msg` of one.
std::string whole_message(const Wanted& wanted, std::string_view line, const char* source_name,
                          const std::string& source, std::string_view time) {
  nlohmann::ordered_json object = parse_ordered_json(line);
  if (!object.is_object()) object = {{"time", time}, {"msg", line}};
  object[source_name] = source;
  return data_line(wanted, object);
}

/// `2026-11-22T03:00:00.123Z warn sentence key=value`, the time only where it is asked for.
std::string message_line(const PageLine& line, bool with_source, bool timestamps) {
  const nlohmann::json object = parse_json(line.text);
  std::string out = timestamps ? shown(line.time) + " " : std::string();
  if (with_source) out += shown(line.source) + " ";
  out += shown(member_text(object, "level")) + " " + shown(member_text(object, "msg"));
  for (const auto& [key, value] : object.items()) {
    if (key == "time" || key == "level" || key == "program" || key == "seq" || key == "msg" || key == "block") continue;
    out += " " + shown(key) + "=" + shown(cell_text(value));
  }
  for (std::string_view block = text_in(object, "block"); !block.empty();) {
    const std::string_view part = block.substr(0, block.find('\n'));
    block.remove_prefix(std::min(part.size() + 1, block.size()));
    out += "\n    " + shown(part);
  }
  return out;
}

/// The pods of a part, when the cluster runs it.
std::vector<nlohmann::json> pods_of(Cluster& cluster, const Wanted& wanted) {
  std::vector<nlohmann::json> pods;
  const auto found = cluster.find("pods");
  if (!found.failure.none() || !found.type) return pods;
  kube::ListOptions options;
  options.label_selector = "app.kubernetes.io/part-of=edge,app.kubernetes.io/component=" + wanted.part;
  const auto list = cluster.api().list_all(found.type->resource, options);
  if (!list.ok()) return pods;
  for (const kube::Object& object : list.list.items) {
    nlohmann::json pod = parse_json(object.text);
    if (wanted.node.empty() || text_in(member_in(pod, "spec"), "nodeName") == wanted.node)
      pods.push_back(std::move(pod));
  }
  return pods;
}

/// Reads log lines of pods through the cluster's API. To follow a log it requests it repeatedly, since the last line's
/// time, as the client reads only complete responses.
class PodLogs {
 public:
  PodLogs(Cluster& cluster, const Wanted& wanted, std::vector<nlohmann::json> pods)
      : cluster_(cluster), wanted_(wanted), pods_(std::move(pods)) {}

  int run() {
    int exit = cli::kExitOk;
    do {
      for (const nlohmann::json& pod : pods_) exit = std::max(exit, print(pod));
      if (wanted_.follow) std::this_thread::sleep_for(kFollowAgain);
    } while (wanted_.follow && !closed_);
    return exit;
  }

 private:
  int print(const nlohmann::json& pod) {
    const nlohmann::json& metadata = member_in(pod, "metadata");
    const std::string& name = text_in(metadata, "name");
    std::string& last = last_[name];
    std::string target =
        "/api/v1/namespaces/" + text_in(metadata, "namespace") + "/pods/" + name + "/log?timestamps=true";
    if (!last.empty()) {
      target += "&sinceTime=" + url_encoded(last.substr(0, last.find('.')) + (last.find('.') < last.size() ? "Z" : ""));
    } else {
      if (!wanted_.tail.empty()) target += "&tailLines=" + wanted_.tail;
      if (const auto since = parse_duration(wanted_.since)) {
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(*since).count();
        target += "&sinceSeconds=" + std::to_string(std::max<std::int64_t>(seconds, 1));
      }
    }
    const kube::Reply reply = cluster_.api().send({.target = target, .accept = "*/*"});
    if (!reply.failure.none()) return tell(kLogs, reply.failure, "pod/" + name);
    std::string text;
    for (std::string_view rest = reply.body; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const std::size_t space = line.find(' ');
      const std::string_view time = line.substr(0, space);
      // Times of one log only grow; sinceTime knows whole seconds alone.
      if (space == std::string_view::npos || time <= last) continue;
      last = time;
      if (wanted_.form != "text") {
        text += whole_message(wanted_, line.substr(space + 1), "pod", name, time) + "\n";
        continue;
      }
      text += (wanted_.timestamps ? std::string(time) + " " : std::string()) +
              (pods_.size() > 1 ? name + " " : std::string()) + shown(line.substr(space + 1)) + "\n";
    }
    closed_ = closed_ || !cli::write_text(stdout, text);
    return cli::kExitOk;
  }

  Cluster& cluster_;
  const Wanted& wanted_;
  std::vector<nlohmann::json> pods_;
  std::map<std::string, std::string> last_;  ///< time of the last line, by pod
  bool closed_ = false;
};

/// By what the daemons keep. Sources are agents by name; the controller's is empty.
int print_kept(const cli::Arguments& arguments, const Wanted& wanted) {
  int exit = cli::kExitOk;
  const bool of_agents = wanted.part == "agent";
  std::unique_ptr<AgentPages> agents;
  std::unique_ptr<controller::InspectClient> controller;
  if (of_agents) {
    agents = AgentPages::open(kLogs, arguments, exit);
  } else {
    controller = open_controller(kLogs, arguments, exit);
  }
  if (agents == nullptr && controller == nullptr) return exit;
  const auto fetch = [&](const std::string& source, const std::string& target) {
    if (agents) return AgentPages::body_of(agents->ask_one(source, {.target = target}));
    return AgentPages::body_of({source, controller->ask({}, {.target = target})});
  };
  const auto sources = [&]() -> Result<std::vector<std::string>> {
    if (!of_agents) return std::vector<std::string>{"controller"};
    if (wanted.node.empty() || !agents->controlled()) return agents->names();
    return agents->names_on(wanted.node);
  };
  std::string first = query_part("since", wanted.since) + query_part("tail", wanted.tail);
  if (!first.empty()) first.erase(0, 1);
  PageLines lines(fetch, "/debug/logs", first);
  const auto text = [&](const PageLine& line) {
    if (wanted.form == "text") return message_line(line, of_agents, wanted.timestamps);
    return whole_message(wanted, line.text, of_agents ? "agent" : "part", line.source, line.time);
  };
  return print_lines(kLogs, lines, sources, text, wanted.follow);
}

int logs(const cli::Arguments& arguments) {
  const Wanted wanted{.part = arguments.one("PART"),
                      .node = arguments.one("node"),
                      .since = arguments.one("since"),
                      .tail = arguments.one("tail"),
                      .form = arguments.one("output"),
                      .follow = arguments.has("follow"),
                      .timestamps = arguments.has("timestamps")};
  if (!wanted.since.empty() && !parse_duration(wanted.since)) {
    cli::print_error(kLogs, "--since takes a duration such as 5m, not `" + wanted.since + "`");
    return cli::kExitUsage;
  }
  if (wanted.tail.find_first_not_of("0123456789") != std::string::npos || wanted.tail.size() > 4) {
    cli::print_error(kLogs, "--tail takes a number up to 9999, not `" + wanted.tail + "`");
    return cli::kExitUsage;
  }
  // The one agent whose address is given is asked itself.
  if (arguments.one("agent").empty()) {
    auto cluster = Cluster::open(arguments);
    if (cluster) {
      auto pods = pods_of(**cluster, wanted);
      if (!pods.empty()) return PodLogs(**cluster, wanted, std::move(pods)).run();
    }
  }
  return print_kept(arguments, wanted);
}

}  // namespace

cli::Command logs_command() {
  return {.name = "logs",
          .group = kTrafficGroup,
          .summary = "Print the messages of the controller or of agents",
          .details =
              "From the logs of their pods if they run in the cluster; else the recent messages that the daemons keep "
              "in memory.",
          .flags = joined(agent_page_flags(),
                          {{.name = "node", .value = "NODE", .help = "Only the agent on this node"},
                           {.name = "follow", .letter = 'f', .help = "Keep running, and print new lines"},
                           {.name = "tail", .value = "COUNT", .help = "Only the last lines"},
                           {.name = "since", .value = "DURATION", .help = "Only lines newer than this, e.g. 5m"},
                           {.name = "timestamps", .help = "Print the time of each line"},
                           form_flag({"text", "json", "yaml"})}),
          .positional = cli::Positional{.name = "PART", .help = "Daemon", .choices = {"controller", "agent"}},
          .examples = {"edgectl logs controller --tail 20", "edgectl logs agent --node edge-1 -f",
                       "edgectl logs agent --since 5m -o json"},
          .run = logs,
          .global = true};
}

}  // namespace edge::edgectl
