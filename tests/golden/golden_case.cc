#include "tests/golden/golden_case.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/compile.h"
#include "compiler/ir/dump.h"
#include "compiler/ir/lower.h"
#include "compiler/link/dump/conditions_text.h"
#include "compiler/link/dump/dump.h"
#include "compiler/opt/passes.h"
#include "program/dump/dump.h"
#include "program/evaluate/path_rules.h"
#include "tests/reference/engines.h"

namespace edge::golden {

namespace fs = std::filesystem;

namespace {

std::string render_all(const Diagnostics& diagnostics, const SourceMap& sources) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    text += render(diagnostic, sources, Colour::kNo);
    if (!text.ends_with('\n')) text += '\n';
  }
  text += std::to_string(diagnostics.errors()) + " errors, " + std::to_string(diagnostics.warnings()) + " warnings\n";
  return text;
}

std::string dump_ir(const compiler::LinkedConfig& config) {
  // The faults that preparing finds were reported by the compile already.
  Diagnostics ignored;
  compiler::ir::PreparedRoutes prepared;
  prepared.prepare(config, ignored);
  std::string text;
  for (const auto& [key, routes] : compiler::ir::collect_hosts(config)) {
    compiler::ir::Host host = compiler::ir::lower_host(config, prepared, key, routes);
    compiler::opt::optimize(host);
    text += compiler::ir::dump(config, host);
  }
  return text;
}

std::string engine_result_text(const reference::EngineResult& engine_result, const program::ProgramView& program) {
  if (engine_result.listener == program::kNone) return "no listener";
  const program::SectionView& section = program.listeners().view;
  const auto& header = section.header<program::ListenersHeader>();
  const program::ListenerRecord& listener = section.array(header.listeners)[engine_result.listener];
  const program::GatewayRecord& gateway = section.array(header.gateways)[listener.gateway];
  std::string text = "listener " + std::string(section.string(gateway.name_space)) + "/" +
                     std::string(section.string(gateway.name)) + "/" + std::string(section.string(listener.name));
  if (!engine_result.found()) return text + ": nothing matches, 404";
  text += ", host " + std::string(engine_result.host.empty() ? "(every)" : engine_result.host);
  text += ": route " + std::string(engine_result.name_space) + "/" + std::string(engine_result.route);
  return text + " rules[" + std::to_string(engine_result.rule) + "].matches[" + std::to_string(engine_result.match) +
         "]";
}

std::string answer(reference::Engines& engines, std::string_view line, std::string& disagreements) {
  const reference::ParsedRequest parsed = reference::parse_request_line(line);
  if (!parsed.request) return "refused, 400: " + parsed.fault;
  const auto bind = engines.bind_of(*parsed.request);
  if (!bind) return "nothing listens there";
  const reference::RequestViewOf request(*parsed.request);
  if (program::AdmittedRequest(engines.view(), *bind, request.view()).refused()) return "refused, 400: path";
  const std::string tables = engine_result_text(engines.evaluate(*bind, request.view()), engines.view());
  const std::string runtime = engine_result_text(engines.decide(*bind, request.view()), engines.view());
  if (tables != runtime) {
    disagreements.append(line).append("\n  tables:  ").append(tables).append("\n  runtime: ").append(runtime) += '\n';
  }
  return tables;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

}  // namespace

CaseResult run_case(const std::string& input, std::string_view requests) {
  CaseResult result;
  SourceMap sources;
  sources.add("input.yaml", input);
  Diagnostics diagnostics;
  const compiler::LinkedConfig config = compiler::read_config(sources, diagnostics);
  compiler::Compiler compiler({});
  const auto artifact = compiler.compile(config, diagnostics);
  diagnostics.finish(sources);
  result.outputs["diagnostics.txt"] = render_all(diagnostics, sources);
  result.outputs["linked.txt"] = compiler::link::dump(config);
  // Of Gateway API, whose specification words them.
  const bool has_classes = std::any_of(config.statuses.begin(), config.statuses.end(),
                                       [](const auto& status) { return status.kind == "GatewayClass"; });
  if (has_classes) result.outputs["conditions.txt"] = compiler::link::conditions_text(config);
  result.outputs["ir.txt"] = dump_ir(config);
  if (artifact) {
    result.program = artifact->bytes;
    auto engines = reference::Engines::open(artifact->bytes);
    if (!engines) {
      result.disagreements = "the program cannot be loaded: " + engines.error().text + "\n";
      return result;
    }
    result.outputs["program.txt"] = program::dump_routes(engines->view());
    std::string& routes = result.outputs["routes.txt"];
    for (const std::string_view line : lines_of(requests)) {
      routes.append(line) += '\n';
      if (line.empty() || line.starts_with('#')) continue;
      routes += "  -> " + answer(*engines, line, result.disagreements) + "\n";
    }
  }
  std::erase_if(result.outputs, [](const auto& output) { return output.second.empty(); });
  return result;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> case_names() {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(EDGE_GOLDEN_DIR)) {
    if (entry.path().filename() != "input.yaml") continue;
    names.insert(fs::relative(entry.path().parent_path(), EDGE_GOLDEN_DIR).string());
  }
  return {names.begin(), names.end()};
}

const CaseResult& result_of(const std::string& name) {
  static std::map<std::string, CaseResult> results;
  const auto known = results.find(name);
  if (known != results.end()) return known->second;
  const fs::path folder = fs::path(EDGE_GOLDEN_DIR) / name;
  return results.emplace(name, run_case(read_text(folder / "input.yaml"), read_text(folder / "requests.txt")))
      .first->second;
}

std::map<std::string, std::string> kept_texts(const std::string& name) {
  std::map<std::string, std::string> texts;
  const fs::path expected = fs::path(EDGE_GOLDEN_DIR) / name / "expected";
  if (!fs::is_directory(expected)) return texts;
  for (const auto& entry : fs::directory_iterator(expected))
    texts.emplace(entry.path().filename().string(), read_text(entry.path()));
  return texts;
}

std::string shuffle_documents(const std::string& input, std::uint32_t seed) {
  std::vector<std::string> documents(1);
  for (const std::string_view line : lines_of(input)) {
    if (line == "---") {
      documents.emplace_back();
    } else {
      documents.back().append(line) += '\n';
    }
  }
  std::mt19937 random(seed);
  std::shuffle(documents.begin(), documents.end(), random);
  std::string text;
  for (const std::string& document : documents) text += "---\n" + document;
  return text;
}

}  // namespace edge::golden
