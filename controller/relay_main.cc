#include "controller/relay_main.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/labels.h"
#include "controller/controller_metrics.h"
#include "controller/data_dir.h"
#include "controller/distribute/distributor.h"
#include "controller/hub_flags.h"
#include "controller/relay/relay.h"
#include "controller/relay/relay_metrics.h"
#include "daemon/admin.h"
#include "daemon/descriptors.h"
#include "daemon/ending.h"
#include "daemon/grpc_log.h"
#include "daemon/logging.h"
#include "daemon/notify.h"
#include "daemon/scrapes.h"
#include "metrics/process.h"

namespace edge::controller {
namespace {

using daemon::AdminReply;
using daemon::AdminRequest;
using daemon::text_reply;

/// /metrics, /healthz and /readyz.
class RelayPages {
 public:
  void serve(const relay::Relay& relay) { relay_ = &relay; }
  std::optional<AdminReply> answer(const AdminRequest& request) {
    if (request.path == "/metrics") return scrapes_.answer(request);
    if (request.path != "/healthz" && request.path != "/readyz") return std::nullopt;
    if (request.method != "GET" && request.method != "HEAD") return text_reply(405, "only GET and HEAD\n");
    const relay::Relay* const relay = relay_;
    const bool good = request.path == "/healthz" || (relay != nullptr && relay->ready());
    return good ? text_reply(200, "ok\n") : text_reply(503, "no program\n");
  }

 private:
  std::atomic<const relay::Relay*> relay_ = nullptr;
  daemon::Scrapes scrapes_{[this](metrics::Exposition& out) {
    metrics::write_process(out);
    const relay::Relay* const relay = relay_;
    if (relay == nullptr) return;
    const relay::RelayFigures figures = relay->figures();
    write_spoke(out, &figures.spoke, std::chrono::system_clock::now());
    relay::write_figures(out, figures);
  }};
};

Result<std::unique_ptr<daemon::AdminServer>> serve_pages(const std::string& address, RelayPages& pages) {
  if (address == "off") return std::unique_ptr<daemon::AdminServer>();
  const auto listen = daemon::parse_listen_address(address);
  if (!listen) {
    return Error{ErrorCode::kInvalidArgument,
                 "--metrics-listen takes ADDRESS:PORT, :PORT or off, not `" + address + "`"};
  }
  return daemon::AdminServer::start(
      {{*listen, daemon::at_once([&pages](const AdminRequest& request) { return pages.answer(request); }),
        "--metrics-listen"}});
}

}  // namespace

int run_relay(const cli::Arguments& arguments) {
  daemon::block_ending_signals();
  daemon::raise_descriptor_limit();
  Log log(daemon::log_options("edge-controller", arguments));
  const Logger lines = log.logger();
  const daemon::GrpcLog grpc_log(lines);
  relay::RelayOptions options;
  options.data_dir = arguments.one("data-dir");
  if (auto directory = DataDir::open(options.data_dir); !directory) return daemon::failed(log, directory.error());
  options.listen = arguments.one("agents-listen");
  options.listen_flag = "--agents-listen";
  options.group_label = arguments.one("group-label");
  if (!is_label_key(options.group_label)) {
    return daemon::failed(
        log, {ErrorCode::kInvalidArgument, "--group-label takes a label's key, not `" + options.group_label + "`"});
  }
  read_hub_address(arguments, options);
  options.log = lines;
  RelayPages pages;
  auto started = relay::Relay::start(std::move(options));
  if (!started) return daemon::failed(log, started.error());
  std::unique_ptr<relay::Relay> relay = std::move(*started);
  pages.serve(*relay);
  const Distributor& agents = relay->agents();
  lines.info("agents of the site on port " + std::to_string(agents.port()) + "; they join with " + agents.join_file());
  auto admin = serve_pages(arguments.one("metrics-listen"), pages);
  if (!admin) return daemon::failed(log, admin.error());
  if (*admin) lines.info("metrics on " + to_string((*admin)->addresses()[0]));

  daemon::Notify notify = daemon::Notify::of_environment();
  std::optional<daemon::Watchdog> watchdog;
  // Figures wait for whoever holds the relay up.
  const auto answers = [&relay](std::chrono::nanoseconds) { return relay->figures().groups <= relay::kMostSiteGroups; };
  watchdog.emplace(notify, answers, lines);
  notify.ready("passes programs of a hub on to agents");
  daemon::await_ending_signal();
  // A second one is not waited for.
  daemon::release_ending_signals();
  notify.stopping("ends; agents serve on");
  lines.info("ends; agents serve on");
  watchdog.reset();
  admin->reset();
  relay.reset();
  return cli::kExitOk;
}

}  // namespace edge::controller
