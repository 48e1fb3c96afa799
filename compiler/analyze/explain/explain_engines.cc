#include "compiler/analyze/explain/explain_engines.h"

#include <span>

#include "compiler/emit/native.h"
#include "compiler/emit/regex.h"

namespace edge::compiler::analyze {
namespace {

using State = ExplainedEngine::State;

ExplainedEngine not_run(ExplainedEngine engine, std::string why) {
  engine.state = State::kNotRun;
  engine.note = std::move(why);
  return engine;
}

ExplainedEngine compare_native(program::Target target, const std::vector<const program::Section*>& hosts,
                               const program::RequestView& request, const program::RegexMatcher& regex) {
  ExplainedEngine engine{"native code", State::kNotNeeded, {}};
  std::vector<emit::NativeInput> inputs;
  for (const program::Section* host : hosts) {
    if (emit::needs_code(host->view)) inputs.push_back({host->id, host->view});
  }
  if (inputs.empty()) return engine;
  // Tables alone are what a program without native code runs on; the code is still worth asking.
  if (target == program::Target::kTablesOnly) target = program::Target::kX8664;
  const auto shard = emit::build_native(target, inputs);
  if (!shard) return not_run(engine, shard.error().text);
  const auto code = emit::NativeCode::load(target, shard->object);
  if (!code) return not_run(engine, code.error().text);

  engine.state = State::kAgrees;
  const program::NativeIndex& index = code->index();
  for (const program::Section* host : hosts) {
    const program::SlotValues values(*host, request, regex);
    const auto groups = host->view.array(host->view.header<program::HostHeader>().groups);
    for (const program::NativeHost& native : std::span(index.hosts, index.host_count)) {
      if (native.host_id != host->id) continue;
      for (std::size_t g = 0; g < std::min<std::size_t>(groups.size(), native.function_count); ++g) {
        if (native.functions[g] == nullptr) continue;
        if (native.functions[g](&values.input()) != program::decide_group(host->view, groups[g], values.input())) {
          engine.state = State::kDisagrees;
          engine.note = "group " + std::to_string(g);
        }
      }
    }
  }
  return engine;
}

ExplainedEngine compare_regex(const std::vector<const program::Section*>& hosts, const program::RequestView& request,
                              const program::RegexMatcher& regex, const std::string& worker) {
  ExplainedEngine engine{"Hyperscan", State::kNotNeeded, {}};
  emit::RegexCompiler compiler(worker);
  for (const program::Section* host : hosts) {
    const auto& header = host->view.header<program::HostHeader>();
    const auto regexes = host->view.array(header.regexes);
    const program::SlotValues values(*host, request, regex);
    for (const program::RegexSetRecord& set : host->view.array(header.regex_sets)) {
      const program::SlotValue& subject = values.input().slots[set.slot];
      if (subject.data == nullptr) continue;
      std::vector<std::string> patterns;
      for (std::uint32_t i = 0; i < set.count; ++i) {
        patterns.emplace_back(host->view.string(regexes[set.first + i].pattern));
      }
      const auto outcomes = compiler.compile({patterns});
      if (!outcomes) return not_run(engine, outcomes.error().text);
      if (outcomes->empty() || outcomes->front().database == nullptr) return not_run(engine, "a pattern was refused");
      const std::string_view text(subject.data, subject.size);
      const auto hits = emit::RegexCompiler::scan(outcomes->front().database->bytes, patterns.size(), text);
      if (!hits) return not_run(engine, hits.error().text);
      if (engine.state == State::kNotNeeded) engine.state = State::kAgrees;
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        if ((*hits)[i] == regex(patterns[i], text)) continue;
        engine.state = State::kDisagrees;
        engine.note = "pattern " + patterns[i];
      }
    }
  }
  return engine;
}

}  // namespace

std::vector<ExplainedEngine> compare_engines(program::Target target, const std::vector<const program::Section*>& hosts,
                                             const program::RequestView& request, const program::RegexMatcher& regex,
                                             const std::string& regex_worker) {
  return {compare_native(target, hosts, request, regex), compare_regex(hosts, request, regex, regex_worker)};
}

}  // namespace edge::compiler::analyze
