// `script/bench compile`: the compiler at 100,000 routes over 2,000 hosts, one core.
//
//   compile_bench [--json FILE] [--core N] [--routes N] [--only load]
//   compile_bench --edits N       (used by itself: what edits of N routes' documents cost)
//   compile_bench --load FILE KEY   (used by itself: memory of a process that holds the loaded program and nothing
//   else)
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <unistd.h>

#include "bench/compile/configuration.h"
#include "bench/compile/cost.h"
#include "bench/compile/edits.h"
#include "bench/compile/report.h"
#include "compiler/compile.h"
#include "program/read.h"
#include "program/sha256.h"
#include "program/sign.h"
#include "runtime/match/decide.h"
#include "runtime/match/load.h"

namespace edge::bench {
namespace {

constexpr std::uint32_t kHosts = 2'000;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "compile bench: %s\n", what.c_str());
  std::exit(1);
}

template <typename T>
T need(Result<T> result, const char* what) {
  if (!result) fail(std::string(what) + ": " + result.error().text);
  return std::move(*result);
}

compiler::Artifact need(std::optional<compiler::Artifact> artifact, const Diagnostics& diagnostics) {
  if (!artifact) fail("no program: " + (diagnostics.all().empty() ? "" : diagnostics.all()[0].message));
  return std::move(*artifact);
}

double ms(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

compiler::CompileOptions signed_with(const program::SigningKey& key) {
  compiler::CompileOptions options;
  options.key = &key;
  return options;
}

void report_stages(const compiler::CompileStats& stats) {
  std::printf(
      "    stages, ms of wall clock: lower %.0f, emit %.0f, native %.0f, regex %.0f, prove %.0f, assemble %.0f\n",
      ms(stats.lower), ms(stats.emit), ms(stats.native), ms(stats.regex), ms(stats.prove), ms(stats.assemble));
}

/// The route's rule becomes another of the same kind, then is set back: both are edits.
void measure_edits(Report& report, compiler::Compiler& compiler, compiler::LinkedConfig& config) {
  std::vector<double> costs;
  std::mt19937 random(1);
  for (int i = 0; i < 30; ++i) {
    const auto route = static_cast<std::uint32_t>(random() % config.routes.size());
    auto& match = config.routes[route].rules[0].matches[0];
    const auto before = match;
    if (match.headers.empty()) {
      match.path.value.value += "-edited";
    } else {
      match.headers[0].value.value += "-edited";
    }
    for (const bool back : {false, true}) {
      if (back) match = before;
      Diagnostics diagnostics;
      const double start = cpu_ms();
      need(compiler.recompile(config, {route}, diagnostics), diagnostics);
      costs.push_back(cpu_ms() - start);
    }
  }
  report.add("one route changed to a signed artifact, median of 60", median(costs), "ms", 25);
  report.add("one route changed, slowest of 60", *std::ranges::max_element(costs), "ms");
}

struct Loaded {
  std::shared_ptr<const runtime::LoadedProgram> program;
  runtime::MatchScratch scratch;
};

Loaded load(const compiler::Artifact& artifact, const program::VerifyKey& key,
            std::shared_ptr<const runtime::LoadedProgram> previous = nullptr) {
  Loaded loaded;
  auto view =
      need(program::read(artifact.bytes, previous ? &previous->view() : nullptr, program::Databases::kHashWhenSearched),
           "read");
  loaded.program = need(runtime::LoadedProgram::load(std::move(view), &key, previous), "load");
  if (const Status status = loaded.scratch.prepare(*loaded.program); !status) fail(status.error().text);
  return loaded;
}

/// Requests one after the other in one buffer, as a proxy has them: just received, warm in the cache, whatever the
/// program's tables are.
class WarmRequest {
 public:
  const program::RequestView& take(const OwnRequest& request) {
    char* at = buffer_;
    const auto copy = [&at](const std::string& text) {
      std::memcpy(at, text.data(), text.size());
      at += text.size();
      return std::string_view(at - text.size(), text.size());
    };
    fields_ = {Field{"Host", copy(request.host)}, Field{"User-Agent", "curl/7.88.1"}, Field{"Accept", "*/*"},
               Field{"X-Tenant", copy(request.tenant)}};
    const std::size_t count = request.tenant.empty() ? 3 : 4;
    view_ = {request.method, fields_[0].value, copy(request.path), {}, std::span(fields_).first(count), {}};
    return view_;
  }

 private:
  char buffer_[1024];
  std::array<Field, 4> fields_;
  program::RequestView view_;
};

enum class Work : bool { kCopyOnly, kDecide };

/// Nanoseconds a request, the best of several passes: what disturbs a pass only ever adds.
double pass_ns(Loaded& loaded, const std::vector<OwnRequest>& requests, Work work) {
  WarmRequest warm;
  double best = 1e9;
  for (int pass = 0; pass < 9; ++pass) {
    const std::size_t rounds = std::max<std::size_t>(1, 200'000 / requests.size());
    std::size_t found = 0;
    const double start = thread_ns();
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const OwnRequest& request : requests) {
        const program::RequestView& view = warm.take(request);
        if (work == Work::kDecide) {
          found += runtime::decide(*loaded.program, 0, view, loaded.scratch) ? 1 : 0;
        } else {
          found += view.path.front() == '/' ? 1 : 0;
        }
      }
    }
    const auto lookups = static_cast<double>(rounds * requests.size());
    best = std::min(best, (thread_ns() - start) / lookups);
    if (found != rounds * requests.size()) fail("a lookup found nothing");
  }
  return best;
}

void measure_lookups(Report& report, const Shape& shape, Loaded& loaded, double goal) {
  std::vector<std::uint32_t> routes;
  for (std::uint32_t i = 0; i < shape.routes; ++i) {
    if (!is_pattern(shape, i)) routes.push_back(i);
  }
  const std::uint32_t first = routes.front();
  const std::uint32_t last = routes.back();
  std::shuffle(routes.begin(), routes.end(), std::mt19937(7));
  routes.resize(std::min<std::size_t>(routes.size(), 20'000));
  const auto measure = [&](const char* what, const std::vector<std::uint32_t>& chosen) {
    std::vector<OwnRequest> owned;
    owned.reserve(chosen.size());
    for (const std::uint32_t route : chosen) owned.push_back(request_for(shape, route));
    const double cost = pass_ns(loaded, owned, Work::kDecide) - pass_ns(loaded, owned, Work::kCopyOnly);
    report.add("lookup at " + std::to_string(shape.routes) + " routes, " + what, cost, "ns", goal);
  };
  measure("random", routes);
  measure("first rule", {first});
  measure("last rule", {last});
  measure("one rule, hot", {routes[0]});
}

/// By the clock, and on all cores: what a first load leaves to a second thread nobody waits for.
void measure_load(Report& report, const std::string& what, const compiler::Artifact& artifact,
                  const compiler::Artifact& edited, const program::VerifyKey& key) {
  const AllCores all;
  std::vector<double> fresh;
  std::vector<double> next;
  std::vector<double> cost;
  for (int i = 0; i < 31; ++i) {
    const double cpu = process_ns();
    double start = wall_ns();
    const Loaded first = load(artifact, key);
    fresh.push_back((wall_ns() - start) / 1e6);
    cost.push_back((process_ns() - cpu) / 1e6);
    start = wall_ns();
    const Loaded second = load(edited, key, first.program);
    next.push_back((wall_ns() - start) / 1e6);
  }
  report.add(what + ": read, verify and load", median(fresh), "ms", 5);
  report.add(what + ": CPU time of that, of all threads", median(cost), "ms");
  report.add(what + ": the same beside the program before it", median(next), "ms", 5);
}

void write_file(const std::string& path, const void* data, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (!file.flush()) fail("cannot write " + path);
}

/// A process of its own loads the program from disk: this one is full of the compiler.
void measure_memory(Report& report, const compiler::Artifact& artifact, const program::SigningKey& signing_key) {
  char folder[] = "/tmp/edge-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) fail("mkdtemp");
  const std::string program = std::string(folder) + "/p.edgeprog";
  const std::string pem = std::string(folder) + "/key.pem";
  const std::string public_pem = signing_key.public_pem();
  write_file(program, artifact.bytes->data(), artifact.bytes->size());
  write_file(pem, public_pem.data(), public_pem.size());
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
  const std::string command = std::string(self, static_cast<std::size_t>(length)) + " --load " + program + " " + pem;
  std::FILE* pipe = popen(command.c_str(), "r");
  double anonymous = 0;
  double file = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf %lf", &anonymous, &file) != 2)
    fail("the loading process gave no figures");
  pclose(pipe);
  unlink(program.c_str());
  unlink(pem.c_str());
  rmdir(folder);
  report.add("memory of the loaded program, every page touched", anonymous + file, "MB", 12);
  report.add("of it not backed by the program's file", anonymous, "MB");
}

/// The other side of measure_memory.
int load_and_tell(const char* path, const char* pem) {
  std::ifstream file(pem);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto key = need(program::VerifyKey::from_pem(text), "key");
  // The code of the hash library is the process's, whatever it loads: 3 MB, in the file's own pages.
  const program::ManyHashes warm(std::uint64_t{1} << 30);
  const Resident before = resident_mb();
  auto view = need(program::read_file(path), "read");
  const auto loaded = need(runtime::LoadedProgram::load(std::move(view), &key), "load");
  runtime::MatchScratch scratch;
  if (const Status status = scratch.prepare(*loaded); !status) fail(status.error().text);
  unsigned sum = 0;
  for (const std::byte byte : loaded->view().bytes()) sum += static_cast<unsigned>(byte);
  const Resident after = resident_mb();
  std::printf("%.3f %.3f\n", after.anonymous - before.anonymous, after.file - before.file);
  return sum == 1 ? 1 : 0;
}

/// All that a program without patterns costs.
void run_without_patterns(Report& report, std::uint32_t routes, bool only_load) {
  const auto signing_key = need(program::SigningKey::generate(), "key");
  const auto key = program::VerifyKey::of(signing_key);
  const Shape shape{routes, std::min(kHosts, routes), Patterns::kNone};
  auto config = make_config(shape);
  compiler::Compiler compiler(signed_with(signing_key));
  Diagnostics diagnostics;
  double start = cpu_ms();
  const auto artifact = need(compiler.compile(config, diagnostics), diagnostics);
  report.add("full compile without patterns", cpu_ms() - start, "ms", 1000);
  report_stages(artifact.stats);
  report.add("artifact", static_cast<double>(artifact.bytes->size()) / 1e6, "MB");
  start = cpu_ms();
  need(compiler.compile(config, diagnostics), diagnostics);
  report.add("the same configuration compiled again", cpu_ms() - start, "ms");
  if (!only_load) measure_edits(report, compiler, config);

  config.routes[routes / 2].rules[0].matches[0].path.value.value += "-edited";
  const auto edited = need(compiler.recompile(config, {routes / 2}, diagnostics), diagnostics);
  measure_load(report, "program", artifact, edited, key);
  if (only_load) return;
  measure_memory(report, artifact, signing_key);
  Loaded loaded = load(artifact, key);
  measure_lookups(report, shape, loaded, 120);
  const std::pair<std::uint32_t, double> smaller[] = {{10'000, 90}, {10, 60}};
  for (const auto& [count, goal] : smaller) {
    const Shape small{count, std::max(1U, count / (100'000 / kHosts)), Patterns::kNone};
    compiler::Compiler small_compiler(signed_with(signing_key));
    Loaded small_loaded = load(need(small_compiler.compile(make_config(small), diagnostics), diagnostics), key);
    measure_lookups(report, small, small_loaded, goal);
  }
}

void run_with_patterns(Report& report, std::uint32_t routes, bool only_load) {
  const auto signing_key = need(program::SigningKey::generate(), "key");
  const Shape shape{routes, std::min(kHosts, routes), Patterns::kDistinct};
  const auto config = make_config(shape);
  compiler::Compiler compiler(signed_with(signing_key));
  Diagnostics diagnostics;
  const double start = cpu_ms();
  const auto artifact = need(compiler.compile(config, diagnostics), diagnostics);
  report.add("full compile with " + std::to_string(routes / 25) + " distinct patterns, cold", cpu_ms() - start, "ms",
             8000);
  report_stages(artifact.stats);
  report.add("artifact with patterns", static_cast<double>(artifact.bytes->size()) / 1e6, "MB");
  measure_load(report, "program with patterns", artifact, artifact, program::VerifyKey::of(signing_key));
  if (!only_load) measure_edits_of_documents(report, shape);
}

}  // namespace
}  // namespace edge::bench

int main(int argc, char** argv) {
  using namespace edge::bench;
  if (argc == 4 && std::strcmp(argv[1], "--load") == 0) return load_and_tell(argv[2], argv[3]);
  if (argc == 3 && std::strcmp(argv[1], "--edits") == 0) {
    const auto count = static_cast<std::uint32_t>(std::atoi(argv[2]));
    return edits_and_tell({count, std::min(kHosts, count), Patterns::kDistinct});
  }
  const char* json = nullptr;
  int core = 0;
  std::uint32_t routes = 100'000;
  bool only_load = false;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 == argc || (flag != "--json" && flag != "--core" && flag != "--routes" && flag != "--only")) {
      std::fprintf(stderr, "usage: compile_bench [--json FILE] [--core N] [--routes N] [--only load]\n");
      return 2;
    }
    if (flag == "--only") only_load = std::strcmp(argv[i + 1], "load") == 0;
    if (flag == "--json") json = argv[i + 1];
    if (flag == "--core") core = std::atoi(argv[i + 1]);
    if (flag == "--routes") routes = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
  }
  if (routes < 1000) fail("at least 1000 routes");
  pin_to_core(core);
  Report report("compile");
  std::printf(
      "%u routes over %u hosts, one core; CPU time, of all processes for compiles; loads by the clock, on all cores\n",
      routes, std::min(kHosts, routes));
  run_without_patterns(report, routes, only_load);
  run_with_patterns(report, routes, only_load);
  if (json != nullptr && !report.write_json(json)) fail(std::string("cannot write ") + json);
}
