#include <array>
#include <cstdio>

#include "base/file.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/diagnostics_output.h"
#include "edgectl/input.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kCompile = "edgectl compile";
constexpr std::size_t kMaxKeyBytes = 64 * 1024;

program::Target target_of(std::string_view name) {
  if (name == "tables-only") return program::Target::kTablesOnly;
  if (name == "x86-64") return program::Target::kX8664;
  if (name == "x86-64-v3") return program::Target::kX8664V3;
  if (name == "aarch64") return program::Target::kAarch64;
  return program::Target::kX8664V2;
}

void print_timings(const compiler::CompileStats& stats) {
  const std::array<std::pair<const char*, std::chrono::nanoseconds>, 6> stages = {{{"lower", stats.lower},
                                                                                   {"emit", stats.emit},
                                                                                   {"native", stats.native},
                                                                                   {"regex", stats.regex},
                                                                                   {"prove", stats.prove},
                                                                                   {"assemble", stats.assemble}}};
  for (const auto& [name, time] : stages) {
    std::fprintf(stderr, "%-9s %9.3f ms\n", name, std::chrono::duration<double, std::milli>(time).count());
  }
  std::fprintf(stderr, "%zu hosts, %zu native shards, %zu regex sets\n", stats.hosts, stats.native_shards_built,
               stats.regex_sets_built);
}

int failed(std::string_view text) {
  cli::print_error(kCompile, text);
  return cli::kExitFindings;
}

}  // namespace

int compile(const cli::Arguments& arguments) {
  compiler::CompileOptions options;
  options.target = target_of(arguments.one("target"));
  std::optional<program::SigningKey> key;
  if (arguments.has("sign-key")) {
    const auto pem = read_file(arguments.one("sign-key"), kMaxKeyBytes);
    if (!pem) return failed(pem.error().text);
    auto parsed = program::SigningKey::from_pem(*pem);
    if (!parsed) return failed(arguments.one("sign-key") + ": " + parsed.error().text);
    key = std::move(*parsed);
    options.key = &*key;
  }
  auto compiled = compile_paths(arguments.all("file"), options);
  if (!compiled) return failed(compiled.error().text);
  const Compiled& result = **compiled;
  const Colour colour = cli::colour_for(stderr);
  for (const Diagnostic& diagnostic : result.diagnostics.all()) {
    cli::write_text(stderr, render(diagnostic, result.sources, colour) + "\n");
  }
  if (!result.diagnostics.ok() || !result.artifact) {
    return failed("the configuration has errors; nothing was written");
  }
  const std::string output = arguments.one("output");
  if (Status status = write_file(output, std::span(*result.artifact->bytes), FileAccess::kEveryone); !status) {
    return failed(status.error().text);
  }
  if (arguments.has("endpoints-out")) {
    const std::string text = program::write_endpoints(result.endpoints);
    if (Status status = write_file(arguments.one("endpoints-out"), std::string_view(text), FileAccess::kEveryone);
        !status) {
      return failed(status.error().text);
    }
  }
  if (arguments.has("timings")) print_timings(result.artifact->stats);
  std::printf("%s: program=%s %zu bytes, %s\n", output.c_str(), program::to_hex(result.artifact->hash).c_str(),
              result.artifact->bytes->size(), key ? "signed" : "unsigned");
  return cli::kExitOk;
}

}  // namespace edge::edgectl
