#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/os/file.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/input.h"
#include "edgectl/reports/diagnostics_output.h"
#include "edgectl/shared_flags.h"
#include "net/tls/certificate_files.h"
#include "program/read.h"
#include "program/session_secret.h"
#include "program/values/certificate_file.h"

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
  std::fprintf(stderr, "%zu hosts; %zu native shards, %zu of them from the cache; %zu regex sets, %zu from the cache\n",
               stats.hosts, stats.native_shards_built + stats.native_shards_from_disk, stats.native_shards_from_disk,
               stats.regex_sets_built + stats.regex_sets_from_disk, stats.regex_sets_from_disk);
}

/// As the XDG base directory specification has it; empty, for no cache, where there is no home.
std::string default_cache_dir() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/edge";
  const char* const home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/edge" : std::string();
}

/// Adds the certificates and keys that listeners have in files, which without `--tls-files` are left to the agent.
Status add_file_pairs(const std::shared_ptr<const std::vector<std::byte>>& program, const cli::Arguments& arguments,
                      program::SecretSet& secrets) {
  const auto view = program::read(program);
  if (!view) return view.error();
  std::vector<program::NamedSecret> named = program::file_secrets(*view);
  if (named.empty()) return {};
  if (!arguments.has("tls-files")) {
    cli::write_text(stderr, "note: certificates in files are not written without --tls-files DIR\n");
    return {};
  }
  std::vector<std::string> directories;
  for (const std::string& path : arguments.all("tls-files")) {
    std::error_code error;
    directories.push_back(std::filesystem::canonical(path, error).string());
    if (error) return Error{ErrorCode::kInvalidArgument, "--tls-files: `" + path + "`: " + error.message()};
  }
  std::set<net::tls::CertificateFiles::Names> pairs;
  for (const program::NamedSecret& secret : named) {
    auto pair = program::files_of_secret(secret.name);
    pairs.insert({std::move(pair->certificate), std::move(pair->key)});
  }
  net::tls::CertificateFiles files(std::move(directories));
  files.follow(pairs);
  // A fault is told when two looks have seen it.
  files.look();
  files.look();
  for (const auto& line : files.take_lines()) {
    if (line.warning) return Error{ErrorCode::kFailedPrecondition, line.text};
  }
  for (program::NamedSecret& secret : named) {
    const auto names = program::files_of_secret(secret.name);
    const auto* const pair = files.find({names->certificate, names->key});
    if (pair == nullptr) return Error{ErrorCode::kFailedPrecondition, names->certificate + ": cannot be used"};
    secret.values = {{std::string(program::kCertificateKey), pair->certificate},
                     {std::string(program::kPrivateKeyKey), pair->key}};
    secrets.secrets.push_back(std::move(secret));
  }
  return {};
}

Status write_secret_values(const Compiled& compiled, const std::optional<program::SigningKey>& key,
                           const cli::Arguments& arguments) {
  program::SecretSet secrets = compiled.secrets;
  if (key) {
    if (auto sessions = program::session_secret(*key)) secrets.secrets.push_back(std::move(*sessions));
  }
  if (Status added = add_file_pairs(compiled.artifact->bytes, arguments, secrets); !added) return added;
  secrets.sort();
  const std::string text = program::write_secrets(secrets);
  return write_file(arguments.one("secrets-out"), std::string_view(text), FileAccess::kOwnerOnly);
}

int compile(const cli::Arguments& arguments) {
  compiler::CompileOptions options;
  options.target = target_of(arguments.one("target"));
  std::optional<program::SigningKey> key;
  if (arguments.has("sign-key")) {
    const auto pem = read_file(arguments.one("sign-key"), kMaxKeyBytes);
    if (!pem) return failed(kCompile, pem.error().text);
    auto parsed = program::SigningKey::from_pem(*pem);
    if (!parsed) return failed(kCompile, arguments.one("sign-key") + ": " + parsed.error().text);
    key = std::move(*parsed);
    options.key = &*key;
  }
  if (!arguments.has("no-cache")) {
    options.cache_dir = arguments.has("cache-dir") ? arguments.one("cache-dir") : default_cache_dir();
  }
  const std::vector<std::string> paths = paths_of(arguments);
  if (paths.empty()) return usage(kCompile, "name the configuration: a path, or -f");
  auto compiled = compile_paths(paths, options, arguments.one("controller-class"));
  if (!compiled) return failed(kCompile, compiled.error().text);
  const Compiled& result = **compiled;
  const Colour colour = cli::colour_for(stderr);
  for (const Diagnostic& diagnostic : result.diagnostics.all()) {
    cli::write_text(stderr, render(diagnostic, result.sources, colour) + "\n");
  }
  if (!result.diagnostics.ok() || !result.artifact) {
    return failed(kCompile, "the configuration has errors; nothing was written");
  }
  const std::string output = arguments.one("output");
  if (Status status = write_file(output, std::span(*result.artifact->bytes), FileAccess::kEveryone); !status) {
    return failed(kCompile, status.error().text);
  }
  if (arguments.has("endpoints-out")) {
    const std::string text = program::write_endpoints(result.endpoints);
    if (Status status = write_file(arguments.one("endpoints-out"), std::string_view(text), FileAccess::kEveryone);
        !status) {
      return failed(kCompile, status.error().text);
    }
  }
  if (arguments.has("secrets-out")) {
    if (Status status = write_secret_values(result, key, arguments); !status) {
      return failed(kCompile, status.error().text);
    }
  }
  const std::string& cache_fault = result.artifact->stats.cache_fault;
  const bool asked = arguments.has("cache-dir") || arguments.has("timings");
  if (asked && !cache_fault.empty()) cli::write_text(stderr, cache_fault + "\n");
  if (arguments.has("timings")) print_timings(result.artifact->stats);
  std::printf("%s: program=%s %zu bytes, %s\n", output.c_str(), program::to_hex(result.artifact->hash).c_str(),
              result.artifact->bytes->size(), key ? "signed" : "unsigned");
  return cli::kExitOk;
}

}  // namespace

cli::Command compile_command() {
  return {
      .name = "compile",
      .group = kFilesGroup,
      .summary = "Compile configuration to a routing program",
      .details = "Writes nothing when the configuration has an error.",
      .flags = {file_flag(kFilesToRead, /*required=*/false),
                controller_class_flag(),
                {.name = "output",
                 .letter = 'o',
                 .value = "FILE",
                 .help = "Where to write the program (*.edgeprog)",
                 .required = true},
                {.name = "sign-key", .value = "PEM", .help = "Sign with this private key (edgectl key generate)"},
                {.name = "endpoints-out",
                 .value = "FILE",
                 .help = "Also write the endpoints of the backends, for edge-agent --endpoints"},
                {.name = "secrets-out",
                 .value = "FILE",
                 .help = "Also write the values of the referenced secrets and, with --sign-key, the key of client "
                         "sessions, for edge-agent --secrets; readable by the owner alone"},
                {.name = "tls-files",
                 .value = "DIR",
                 .help = "Directory below which --secrets-out reads the certificates and keys that listeners have in "
                         "files (tls.certFile, tls.keyFile)",
                 .repeatable = true},
                {.name = "target",
                 .value = "CPU",
                 .help = "Target CPU of the native code",
                 .fallback = "x86-64-v2",
                 .choices = {"tables-only", "x86-64", "x86-64-v2", "x86-64-v3", "aarch64"}},
                {.name = "cache-dir",
                 .value = "DIR",
                 .help = "Directory that caches regex databases and native code (default: $XDG_CACHE_HOME/edge)"},
                {.name = "no-cache", .help = "Neither read nor write the cache"},
                {.name = "timings", .help = "Print to stderr how long each stage took, and what came from the cache"}},
      .positional = paths_argument("What -f takes"),
      .examples = {"edgectl compile -f config/ -o site.edgeprog --sign-key edge.key --endpoints-out endpoints.json"},
      .run = compile};
}

}  // namespace edge::edgectl
