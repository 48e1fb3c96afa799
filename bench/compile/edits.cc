#include "bench/compile/edits.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "bench/compile/cost.h"
#include "bench/compile/documents.h"
#include "bench/compile/report.h"
#include "compiler/compile.h"
#include "compiler/workspace.h"
#include "program/sign.h"

namespace edge::bench {
namespace {

using compiler::DocumentEdit;
using compiler::Workspace;

constexpr std::size_t kEdits = 3000;
constexpr std::size_t kWindow = 100;

void tell(const char* name, double value, const char* unit, double goal = 0) {
  std::printf("%s|%.4f|%s|%.1f\n", name, value, unit, goal);
}

/// CPU time of one edit, of the regex worker too.
double cost(Workspace& workspace, const std::vector<DocumentEdit>& edits) {
  const double start = cpu_ms();
  if (!workspace.apply(edits)) {
    std::fprintf(stderr, "compile bench: an edit gave no program\n");
    std::exit(1);
  }
  return cpu_ms() - start;
}

/// Routes whose rules are of one kind, in random order.
std::vector<std::uint32_t> routes_of_kind(const Shape& shape, RuleKind kind, std::mt19937& random) {
  std::vector<std::uint32_t> routes;
  for (std::uint32_t route = 0; route < shape.routes; ++route) {
    if (rule_kind(shape, route) == kind) routes.push_back(route);
  }
  std::ranges::shuffle(routes, random);
  return routes;
}

void measure_kind(Workspace& workspace, const Shape& shape, RuleKind kind, const char* name, double goal,
                  std::mt19937& random) {
  std::vector<double> costs;
  std::vector<std::uint32_t> routes = routes_of_kind(shape, kind, random);
  routes.resize(std::min<std::size_t>(routes.size(), 60));
  for (const std::uint32_t route : routes) costs.push_back(cost(workspace, {route_document(shape, route, 1)}));
  tell(name, median(costs), "ms", goal);
}

/// Edits one after another must cost what the first ones did, in time and in memory.
void measure_drift(Workspace& workspace, const Shape& shape, std::mt19937& random) {
  std::vector<double> costs;
  double early = 0;
  for (std::size_t i = 0; i < kEdits; ++i) {
    const auto route = static_cast<std::uint32_t>(random() % shape.routes);
    costs.push_back(cost(workspace, {route_document(shape, route, static_cast<std::uint32_t>(i + 2))}));
    if (i + 1 == kWindow) early = resident_mb().anonymous;
  }
  const auto median_to = [&](std::size_t end) {
    const auto at = costs.begin() + static_cast<std::ptrdiff_t>(end);
    return median({at - kWindow, at});
  };
  tell("3,000 edits one after another: median of the first 100", median_to(kWindow), "ms", 25);
  tell("median of the 100 up to the 1,000th", median_to(1000), "ms", 25);
  tell("up to the 2,000th", median_to(2000), "ms", 25);
  tell("of the last 100", median_to(kEdits), "ms", 25);
  tell("1,000th to first", median_to(1000) / median_to(kWindow), "", 1.1);
  // A heap in use for a while costs a tenth more than a fresh one. What must not be is growth without an end.
  tell("last to 2,000th", median_to(kEdits) / median_to(2000), "", 1.05);
  tell("memory after all to after 100", resident_mb().anonymous / early, "", 1.05);
}

/// What `edgectl validate` does with one file of 10,000 routes: everything but writing the program.
void measure_validation() {
  const Shape shape{10'000, 200, Patterns::kDistinct};
  std::string text;
  for (const DocumentEdit& document : shared_documents()) text += "---\n" + *document.text;
  for (std::uint32_t route = 0; route < shape.routes; ++route) {
    text += "---\n" + *route_document(shape, route, 0).text;
  }
  SourceMap sources;
  sources.add("routes.yaml", std::move(text));
  Diagnostics diagnostics;
  const double start = cpu_ms();
  const compiler::LinkedConfig config = compiler::read_config(sources, diagnostics);
  compiler::Compiler compiler({});
  const bool compiled = compiler.compile(config, diagnostics).has_value();
  diagnostics.finish(sources);
  tell("10,000 routes in one file validated", cpu_ms() - start, "ms", 2000);
  if (!compiled || !diagnostics.ok()) std::exit(1);
}

}  // namespace

int edits_and_tell(const Shape& shape) {
  const auto key = program::SigningKey::generate();
  if (!key) return 1;
  compiler::CompileOptions options;
  options.key = &*key;
  Workspace workspace(options);
  std::mt19937 random(1);
  {
    std::vector<DocumentEdit> documents = shared_documents();
    for (std::uint32_t route = 0; route < shape.routes; ++route) documents.push_back(route_document(shape, route, 0));
    tell("all documents to a program, cold, with patterns", cost(workspace, documents), "ms");
  }
  tell("peak memory of the compiler, from YAML to the program", peak_mb(), "MB", 600);
  measure_kind(workspace, shape, RuleKind::kPath, "one path edited, YAML to a signed program", 25, random);
  measure_kind(workspace, shape, RuleKind::kPattern, "one pattern edited", 40, random);
  measure_kind(workspace, shape, RuleKind::kCondition, "one condition on a header or method edited", 40, random);
  tell("endpoints of a backend changed",
       cost(workspace, {{"slice " + backend_name(7),
                         "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " + backend_name(7) +
                             ", namespace: edge, labels: {kubernetes.io/service-name: " + backend_name(7) +
                             "}}\naddressType: IPv4\nports: [{port: 8080}]\nendpoints: [{addresses: [10.9.9.9]}]\n"}}),
       "ms", 25);
  measure_drift(workspace, shape, random);
  tell("peak memory after the edits", peak_mb(), "MB", 600);
  measure_validation();
  return 0;
}

void measure_edits_of_documents(Report& report, const Shape& shape) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
  const std::string command =
      std::string(self, static_cast<std::size_t>(length)) + " --edits " + std::to_string(shape.routes);
  std::FILE* pipe = popen(command.c_str(), "r");
  char line[256];
  while (pipe != nullptr && std::fgets(line, sizeof(line), pipe) != nullptr) {
    char name[128];
    char unit[16] = "";
    double value = 0;
    double goal = 0;
    // The unit may be empty.
    if (std::sscanf(line, "%127[^|]|%lf|%15[^|]|%lf", name, &value, unit, &goal) < 3 &&
        std::sscanf(line, "%127[^|]|%lf||%lf", name, &value, &goal) < 3)
      continue;
    report.add(name, value, unit, goal > 0 ? std::optional(goal) : std::nullopt);
  }
  if (pipe == nullptr || pclose(pipe) != 0) {
    std::fprintf(stderr, "compile bench: the process that edits gave no figures\n");
    std::exit(1);
  }
}

}  // namespace edge::bench
