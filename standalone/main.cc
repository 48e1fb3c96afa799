// edge-standalone: compiler and data plane in one process. Configuration comes from files and is followed; every
// program is signed, verified and loaded as an agent would.
#include <chrono>
#include <future>
#include <thread>

#include <unistd.h>

#include "agent/service.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "controller/data_dir.h"
#include "controller/follow.h"

namespace edge::standalone {
namespace {

constexpr std::string_view kName = "edge-standalone";
constexpr auto kPatience = std::chrono::seconds(1);

int failed(const Error& error) {
  cli::print_error(kName, error.text);
  return error.code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitFindings;
}

/// Carries updates from the files to the data plane.
class Programmer {
 public:
  Programmer(agent::Service& service, const controller::DataDir& data) : service_(service), data_(data) {}

  void take(const controller::Update& update) {
    if (!update.report.empty()) cli::write_text(stderr, update.report);
    if (!update.clean && !compiled_) {
      if (restored_ || restore()) return;
    }
    if (update.program == nullptr) {
      return service_.message(compiled_ || restored_ ? "keeps what it serves now" : "serves nothing yet");
    }
    if (Status status = service_.apply(update.program, update.endpoints, update.secrets); !status) {
      // A first program that cannot be put to work (a port that is taken, mostly): whoever started us has to know.
      if (!compiled_ && !restored_) service_.stop(cli::kExitFindings);
      return;
    }
    compiled_ = true;
    if (!update.clean) return service_.message("serves what works; correct the faults above");
    if (Status status = data_.store({update.program, update.endpoints, update.secrets}); !status) {
      service_.message("the program could not be stored: " + status.error().text);
    }
  }

 private:
  /// At start, with faults in the files: the last sound program of the run before, when there is one.
  bool restore() {
    const auto last = data_.last();
    if (!last) {
      if (last.error().code != ErrorCode::kNotFound) service_.message("no stored program: " + last.error().text);
      return false;
    }
    if (!service_.apply(last->program, last->endpoints, last->secrets)) return false;
    service_.message("serves the last program without faults; correct the faults above");
    restored_ = true;
    return true;
  }

  agent::Service& service_;
  const controller::DataDir& data_;
  bool compiled_ = false;  ///< a program of this run serves
  bool restored_ = false;
};

int run(const cli::Arguments& arguments) {
  auto options = agent::service_options(std::string(kName), arguments);
  if (!options) return failed(options.error());
  auto data = controller::DataDir::open(arguments.one("data-dir"));
  if (!data) return failed(data.error());
  const auto key = data->signing_key();
  if (!key) return failed(key.error());
  options->key = program::VerifyKey::of(*key);
  auto service = agent::Service::start(std::move(*options));
  if (!service) return failed(service.error());
  compiler::CompileOptions compile;
  compile.key = &*key;
  // Beside the last program: a start with many patterns then costs what reading them does.
  compile.cache_dir = arguments.one("data-dir") + "/cache";
  auto follower = controller::Follower::create(arguments.all("config"), compile, cli::colour_for(stderr));
  if (!follower) return failed(follower.error());

  Programmer programmer(**service, *data);
  std::promise<void> ended;
  std::thread following([&] {
    while (const auto update = (*follower)->next()) programmer.take(*update);
    ended.set_value();
  });
  const int code = (*service)->run();
  (*follower)->stop();
  // A compilation may be under way. All connections are closed: nothing is lost by not waiting for its end.
  if (ended.get_future().wait_for(kPatience) != std::future_status::ready) ::_exit(code);
  following.join();
  return code;
}

cli::Program table() {
  constexpr std::string_view kSummary = "edge-standalone compiles configuration files and serves traffic by them.";
  cli::Command command = {
      .name = "",
      .summary = kSummary,
      .details =
          "The files are followed: each change is compiled, proved and swapped in while traffic flows. A file with "
          "errors is reported on stderr and its last version without errors stays in force. Prints "
          "`ready program=<hash>` once the listeners of the first program are bound, `programmed program=<hash>` "
          "for each later one. SIGTERM drains and exits.",
      .flags = {{.name = "config",
                 .value = "PATH",
                 .help = "File or directory of resources",
                 .required = true,
                 .repeatable = true},
                {.name = "data-dir",
                 .value = "DIR",
                 .help = "Where the signing key and the last program are kept",
                 .required = true}},
      .examples = {"edge-standalone --config examples/quick-start --data-dir /var/lib/edge"},
      .run = run};
  for (cli::Flag& flag : agent::service_flags()) command.flags.push_back(std::move(flag));
  return {.name = kName, .summary = kSummary, .commands = {std::move(command)}};
}

}  // namespace
}  // namespace edge::standalone

int main(int argc, char** argv) { return edge::cli::run(edge::standalone::table(), argc, argv); }
