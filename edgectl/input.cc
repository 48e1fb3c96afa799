#include "edgectl/input.h"

#include <algorithm>
#include <cstring>

#include "base/os/file.h"
#include "base/owned.h"
#include "cli/terminal.h"
#include "compiler/compile.h"
#include "compiler/link/defaults.h"
#include "compiler/yaml/read.h"
#include "edgectl/agents/agent_source.h"
#include "edgectl/reports/diagnostics_output.h"

namespace edge::edgectl {
namespace {

/// From a file, or from the agent that runs it.
Result<program::ProgramView> read_stored(const std::string& path) {
  if (!is_agent(path)) return program::read_file(path);
  auto bytes = fetch_program(path);
  if (!bytes) return bytes.error();
  auto view = program::read(*bytes);
  if (!view) return Error{ErrorCode::kUnavailable, path + ": " + view.error().text};
  return view;
}

Result<ReadProgram> stored_program(const std::string& path, const std::vector<std::string>& texts) {
  auto view = read_stored(path);
  if (!view) return view.error();
  ReadProgram program{.view = std::move(*view)};
  if (Status status = compiler::yaml::read_sources(texts, program.sources); !status) return status.error();
  return program;
}

Result<ReadProgram> compiled_program(const std::vector<std::string>& paths, const Compiling& how) {
  compiler::CompileOptions options;
  options.target = how.target;
  auto compiled = compile_paths(paths, std::move(options), how.controller_class);
  if (!compiled) return compiled.error();
  return program_of(**compiled);
}

}  // namespace

cli::Flag controller_class_flag() {
  return {.name = "controller-class",
          .value = "CLASS",
          .help = "Controller name of the gateways and classes to serve (rule D8)",
          .fallback = compiler::link::kDefaults.controller_class};
}

cli::Positional paths_argument(std::string_view help) {
  return {.name = "PATH", .help = help, .required = false, .repeatable = true};
}

std::vector<std::string> paths_of(const cli::Arguments& arguments) {
  std::vector<std::string> paths = arguments.all("file");
  const std::vector<std::string>& plain = arguments.all("PATH");
  paths.insert(paths.end(), plain.begin(), plain.end());
  return paths;
}

Compiling compiling_for(program::Target target, const cli::Arguments& arguments) {
  return {.target = target, .controller_class = arguments.one("controller-class")};
}

bool is_program(const std::string& path) {
  if (is_agent(path)) return true;
  if (path == "-") return false;
  Owned<std::FILE, std::fclose> file(std::fopen(path.c_str(), "rb"));
  char magic[sizeof(program::kMagic)];
  return file && std::fread(magic, 1, sizeof(magic), file.get()) == sizeof(magic) &&
         std::memcmp(magic, program::kMagic, sizeof(magic)) == 0;
}

Result<ReadProgram> program_of(Compiled& compiled) {
  const bool faults = !compiled.diagnostics.ok();
  if (faults) cli::write_text(stderr, errors_text(compiled.diagnostics, compiled.sources, cli::colour_for(stderr)));
  if (!compiled.artifact) return Error{ErrorCode::kFailedPrecondition, "no program could be compiled"};
  auto view = program::read(compiled.artifact->bytes);
  if (!view) return view.error();
  return ReadProgram{std::move(*view), faults, std::move(compiled.sources), std::move(compiled.endpoints),
                     compiler::ordered_certificates(compiled.config)};
}

Result<std::unique_ptr<Compiled>> read_paths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (is_program(path))
      return Error{ErrorCode::kInvalidArgument, path + ": is a compiled program, not configuration"};
  }
  auto compiled = std::make_unique<Compiled>();
  if (Status status = compiler::yaml::read_sources(paths, compiled->sources); !status) return status.error();
  return compiled;
}

void compile_sources(Compiled& compiled, compiler::CompileOptions options, std::string_view controller_class) {
  compiler::LinkedConfig config = compiler::read_config(compiled.sources, compiled.diagnostics, controller_class);
  compiler::Compiler compiler(std::move(options));
  compiled.artifact = compiler.compile(config, compiled.diagnostics);
  compiled.diagnostics.finish(compiled.sources);
  compiled.endpoints = std::move(config.endpoints);
  compiled.secrets = std::move(config.secrets);
  if (compiled.artifact) {
    auto& statuses = compiled.artifact->statuses;
    config.statuses.insert(config.statuses.end(), statuses.begin(), statuses.end());
    compiler::sort_and_merge(config.statuses);
  }
  compiled.config = std::move(config);
}

Result<std::unique_ptr<Compiled>> compile_paths(const std::vector<std::string>& paths, compiler::CompileOptions options,
                                                std::string_view controller_class) {
  auto compiled = read_paths(paths);
  if (compiled) compile_sources(**compiled, std::move(options), controller_class);
  return compiled;
}

Result<ReadProgram> program_of(const std::vector<std::string>& paths, const Compiling& how) {
  if (paths.size() > 1 && std::ranges::any_of(paths, is_program)) {
    return Error{ErrorCode::kInvalidArgument, "a program is given alone, without other files"};
  }
  return program_with_tests(paths, how);
}

Result<ReadProgram> program_with_tests(const std::vector<std::string>& paths, const Compiling& how) {
  std::vector<std::string> texts;
  std::vector<std::string> programs;
  for (const std::string& path : paths) (is_program(path) ? programs : texts).push_back(path);
  if (programs.size() > 1) return Error{ErrorCode::kInvalidArgument, "one program at a time"};
  return programs.empty() ? compiled_program(texts, how) : stored_program(programs.front(), texts);
}

}  // namespace edge::edgectl
