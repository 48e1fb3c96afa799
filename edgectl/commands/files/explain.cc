#include "compiler/analyze/explain/explain.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/text/json.h"
#include "cli/terminal.h"
#include "compiler/analyze/explain/passage.h"
#include "compiler/analyze/space/witness.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/input.h"
#include "edgectl/reports/explain_report.h"
#include "edgectl/reports/request_line.h"
#include "edgectl/resources/answering_nodes.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/spoke.h"
#include "edgectl/shared_flags.h"
#include "schemas/describe.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace analyze = compiler::analyze;
constexpr std::string_view kExplain = "edgectl explain";

/// Of the connected edge, where the request goes to a virtual address.
std::optional<AnsweringNodes> nodes_of(const cli::Arguments& arguments, const std::string& bind) {
  std::string address = bind.substr(0, bind.rfind(':'));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  const auto ip = parse_ip(address);
  if (!ip) return std::nullopt;
  const auto cluster = Cluster::open(arguments);
  return cluster ? answering_nodes(**cluster, *ip) : std::nullopt;
}

std::string nodes_text(const AnsweringNodes& found) {
  std::string out = "node      ";
  for (const std::string& node : found.nodes) out += (&node == &found.nodes.front() ? "" : ", ") + node;
  if (found.nodes.empty()) out += "none" + (found.reason.empty() ? "" : ", " + found.reason);
  return out + " (ProxyVIP " + found.vip + ")\n";
}

std::string data_of(const analyze::Explanation& explanation, const std::optional<AnsweringNodes>& nodes) {
  OrderedJson document = explanation_json(explanation);
  if (nodes) {
    document["vip"] = nodes->vip;
    document["nodes"] = nodes->nodes;
  }
  return indented_json(document);
}

/// What somebody may have meant by a request that is none.
std::string hint_of(const std::string& word) {
  const std::size_t dot = std::min(word.find('.'), word.size());
  if (const schemas::Kind* kind = schemas::find_own_kind(word.substr(0, dot)); kind != nullptr) {
    const bool field = dot < word.size() && schemas::describe(*kind, word.substr(dot + 1));
    if (dot == word.size() || field) return "; `edgectl schema " + word + "` tells what that is";
  }
  std::error_code code;
  if (std::filesystem::exists(word, code)) return "; that is a file: the request stands before the paths";
  // A field without its kind: the first that has it.
  for (const std::string& path : {word, "spec." + word}) {
    for (const schemas::Kind& kind : schemas::kinds()) {
      if (!kind.own || path == "spec." || !schemas::describe(kind, path)) continue;
      return "; `edgectl schema " + std::string(kind.kind) + "." + path + "` tells what that is";
    }
  }
  return {};
}

constexpr std::size_t kMostBody = std::size_t{1} << 20;

/// The body as typed, or that of the file; nullopt: none is given.
Result<std::optional<std::string>> body_of(const cli::Arguments& arguments) {
  if (!arguments.has("body")) return std::optional<std::string>();
  std::string text = arguments.one("body");
  if (text.starts_with('@')) {
    auto read = read_file(text.substr(1), kMostBody);
    if (!read) return read.error();
    text = *std::move(read);
  }
  if (text.size() > kMostBody) return Error{ErrorCode::kInvalidArgument, "--body takes at most 1 MiB"};
  return std::optional(std::move(text));
}

/// As a client would: with the length of its body, unless its fields say how it comes.
void add_length(const std::string& body, analyze::Witness& request) {
  const bool told = std::ranges::any_of(request.headers, [](const auto& field) {
    return field.first == "content-length" || field.first == "transfer-encoding";
  });
  if (!told) request.headers.emplace_back("content-length", std::to_string(body.size()));
}

int explain(const cli::Arguments& arguments) {
  auto typed =
      parse_request(arguments.one("REQUEST"), arguments.all("header"), arguments.all("claim"), arguments.one("source"));
  if (!typed) return usage(kExplain, typed.error().text + hint_of(arguments.one("REQUEST")));
  const auto body = body_of(arguments);
  if (!body) return usage(kExplain, body.error().text);
  if (*body) add_length(**body, typed->request);
  std::uint16_t port = typed->request.port;
  if (arguments.has("port")) {
    const std::string text = arguments.one("port");
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (fault != std::errc() || end != text.data() + text.size() || port == 0) {
      return usage(kExplain, "--port takes 1 to 65535, not `" + text + "`");
    }
  }
  std::vector<std::string> paths = paths_of(arguments);
  if (arguments.has("agent")) {
    if (!paths.empty()) return usage(kExplain, "--agent goes with neither a program nor configuration");
    paths = {"http://" + arguments.one("agent")};
  }
  if (!spoke_of(arguments).empty() && !paths.empty()) {
    return usage(kExplain, "--cluster goes without --agent, program and configuration");
  }
  int exit = cli::kExitOk;
  const auto program =
      program_of_paths_or_edge(kExplain, arguments, paths, compiling_for(program::Target::kX8664V2, arguments), exit);
  if (!program) return exit;
  const auto bind = analyze::bind_of_port(program->view, port, typed->port_written || arguments.has("port"));
  if (!bind) {
    const bool other_port = bind.error().code == ErrorCode::kNotFound;
    return failed(kExplain, bind.error().text + (other_port ? " (name it in the URL or with --port)" : ""));
  }

  const analyze::WitnessView view(typed->request);
  const analyze::Handshake handshake{typed->server_name, program->ordered ? &*program->ordered : nullptr};
  const analyze::Explanation explanation = analyze::explain(program->view, *bind, view.view(), &handshake, *body);
  const auto nodes = paths.empty() ? nodes_of(arguments, explanation.bind) : std::nullopt;
  std::string text;
  if (!wants_data(arguments)) {
    text = analyze::explanation_text(explanation, arguments.has("all"));
    const std::size_t after = text.find('\n', text.find("\nbind ") + 1) + 1;
    if (nodes) text.insert(after, nodes_text(*nodes));
  }
  const bool written =
      cli::write_text(stdout, wants_data(arguments) ? data_text(arguments, data_of(explanation, nodes)) : text);
  if (program->faults) {
    cli::print_error(kExplain, "the configuration has errors; what is at fault takes no part above");
  }
  const bool answered = explanation.matched || explanation.redirect;
  const bool fine = written && !program->faults && explanation.agree && answered;
  return fine ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command explain_command() {
  return {
      .name = "explain",
      .group = kFilesGroup,
      .summary = "Explain which rule matches a request, and why the others do not",
      .details =
          "Shows the path through the match tree, the matching rule, and for every other rule the first condition that "
          "failed. The interpreter, the native code and the regex engine each decide; they must agree.",
      .flags = joined(
          {file_flag(kFilesOrProgram, /*required=*/false),
           {.name = "agent",
            .value = "ADDR",
            .help = "Use the program that this agent runs, by its health address, e.g. 127.0.0.1:9091"},
           {.name = "header",
            .letter = 'H',
            .value = "FIELD",
            .help = "Header field, `name: value`",
            .repeatable = true},
           {.name = "claim",
            .value = "CLAIM",
            .help = "Claim of the request's token, `name=value`, as if the token had been verified; of several "
                    "of one name, the elements of a list",
            .repeatable = true},
           {.name = "body", .value = "TEXT", .help = "Body of the request; @FILE is what that file has. At most 1 MiB"},
           {.name = "source", .value = "IP", .help = "Client address", .fallback = "127.0.0.1"},
           {.name = "port", .value = "PORT", .help = "Port of the listener (default: the URL's)"},
           {.name = "all", .help = "Also list every rule that was ruled out by its path or by an earlier match"},
           controller_class_flag(),
           form_flag({"text", "json", "yaml"})},
          remote_cluster_flags()),
      .positional =
          cli::Positional{.name = "REQUEST", .help = "`[METHOD] URL`, e.g. 'GET http://shop.example/cart?id=7'"},
      .second = paths_argument(kPathsOrEdge),
      .examples = {"edgectl explain 'GET https://shop.example/cart' config/ -H 'x-env: staging'",
                   "edgectl explain https://shop.example/cart"},
      .run = explain,
      .global = true};
}

}  // namespace edge::edgectl
