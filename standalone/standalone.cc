#include "standalone/standalone.h"

#include <chrono>
#include <utility>

#include "agent/sync/questions.h"
#include "base/os/file.h"
#include "compiler/yaml/read.h"
#include "controller/kube/config.h"
#include "standalone/gateway_api.h"

namespace edge::standalone {
namespace {

constexpr const char* kAgentName = "standalone";
constexpr auto kLookForSpace = std::chrono::seconds(2);
constexpr auto kLookForStore = std::chrono::milliseconds(50);
/// Beside the controller's own, which makes it.
constexpr const char* kProgramKey = "/signing.key.pub";
constexpr std::size_t kMaxKeyBytes = std::size_t{64} << 10;

Result<kube::Config> config_of(resource_api::http::ResourceApiServer& api) {
  kube::ConfigSources sources;
  sources.kubeconfig = api.kubeconfig();
  // What a user's environment says of clusters is not meant here.
  sources.environment = [](const char*) { return std::optional<std::string>(); };
  auto config = kube::Config::resolve(sources);
  if (!config) return config;
  // The file's certificate ends, and may be revoked, while this process goes on.
  config->identity = {};
  config->identity.token = api.own_token();
  // Nobody is in between.
  config->cluster.server.secure = false;
  config->cluster.dial = [&api] { return api.dial(); };
  return config;
}

/// The lock of the store, or the port of the API.
bool others_have_it(const Status& status) {
  return status.error().code == ErrorCode::kAborted || status.error().code == ErrorCode::kUnavailable;
}

controller::AgentAnswer answer_of(daemon::AdminReply reply) {
  return {reply.status, std::move(reply.content_type), std::move(reply.body)};
}

}  // namespace

Result<std::unique_ptr<Standalone>> Standalone::start(StandaloneOptions options, agent::Service& service) {
  std::unique_ptr<Standalone> whole(new Standalone(std::move(options), service));
  const Status status = whole->start_all();
  if (status) return whole;
  if (service.takes_over() && others_have_it(status)) {
    if (Status taken = whole->take_over(); !taken) return taken.error();
    return whole;
  }
  if (has_space(whole->options_.data_dir) || !whole->open_sync() || service.program().empty()) return status.error();
  whole->waiting_ = std::thread([parts = whole.get(), why = status.error()] { parts->start_when_there_is_space(why); });
  return whole;
}

// The process before has the store until this one serves, and a process that cannot is to end before: nothing changes
// for the other one then.
Status Standalone::take_over() {
  if (!options_.files.empty()) {
    if (Status found = compiler::yaml::find_sources(options_.files); !found) return found.error();
  }
  if (Status status = open_sync(); !status) return status;
  if (service_.program().empty()) {
    return Error{ErrorCode::kFailedPrecondition, "cannot take over: " + options_.data_dir +
                                                     " has no program that this version can serve; stop the running "
                                                     "process, and start this one anew"};
  }
  waiting_ = std::thread([this] { start_when_store_is_closed(); });
  return {};
}

void Standalone::start_when_store_is_closed() {
  service_.ask_behind([](const std::string&) { return "the process before has not closed the store yet"; });
  // One of an older version closes it when it has drained.
  const auto patience = std::chrono::steady_clock::now() + service_.drain_timeout() + kLookForSpace;
  std::string reported;
  while (!ends_within(reported.empty() ? kLookForStore : kLookForSpace)) {
    const Status status = start_all();
    if (status) return;
    if (others_have_it(status) && std::chrono::steady_clock::now() < patience) continue;
    if (status.error().text != reported) service_.log().error(status.error().text);
    reported = status.error().text;
    service_.ask_behind([reported](const std::string&) { return reported; });
  }
}

bool Standalone::ends_within(std::chrono::milliseconds pause) {
  std::unique_lock lock(ending_mutex_);
  return ending_changed_.wait_for(lock, pause, [this] { return ending_; });
}

Standalone::~Standalone() {
  {
    const std::lock_guard lock(ending_mutex_);
    ending_ = true;
  }
  ending_changed_.notify_all();
  if (waiting_.joinable()) waiting_.join();
  service_.ask_behind({});
  if (metrics_) service_.metrics().leave_out(*metrics_);
  if (follower_) follower_->stop();
  if (following_.joinable()) following_.join();
}

Status Standalone::start_all() {
  for (const auto step :
       {&Standalone::start_api, &Standalone::start_files, &Standalone::start_controller, &Standalone::start_agent}) {
    const Status status = (this->*step)();
    if (status) continue;
    controller_.reset();
    follower_.reset();
    applier_.reset();
    api_.reset();
    return status;
  }
  if (follower_) following_ = std::thread([this] { follow(); });
  metrics_ = service_.metrics().add([this](metrics::Exposition& out) {
    controller_->write_metrics(out);
    api_->write_metrics(out);
    if (options_.traces != nullptr) options_.traces->write_metrics(out);
  });
  if (options_.traces != nullptr) options_.traces->open();
  service_.ask_behind([this](const std::string& program) { return controller_->behind(kAgentName, program); });
  return {};
}

void Standalone::start_when_there_is_space(const Error& why) {
  const std::string text = "nothing can be written to " + options_.data_dir +
                           ": what served last serves, and no change is taken until there is space (" + why.text + ")";
  service_.log().error(text);
  service_.ask_behind([text](const std::string&) { return text; });
  std::string reported = why.text;
  while (!ends_within(kLookForSpace)) {
    if (!has_space(options_.data_dir)) continue;
    const Status status = start_all();
    if (status) return service_.log().info("there is space again: changes are accepted");
    if (status.error().text != reported) service_.log().error(status.error().text);
    reported = status.error().text;
  }
}

Status Standalone::start_api() {
  resource_api::http::ResourceApiOptions options;
  options.data_dir = options_.data_dir;
  options.address = options_.api.address;
  options.port = options_.api.port;
  options.listen_flag = "--api-listen";
  options.log = service_.log();
  auto api = resource_api::http::ResourceApiServer::start(std::move(options));
  if (!api) return api.error();
  api_ = std::move(*api);
  service_.message("resource API on " + api_->url() + ", kubeconfig " + api_->kubeconfig());
  auto config = config_of(*api_);
  if (!config) return config.error();
  return install_gateway_api(std::move(*config), &api_->loop());
}

Status Standalone::start_files() {
  if (options_.files.empty()) return {};
  auto config = config_of(*api_);
  if (!config) return config.error();
  auto applier = Applier::create(std::move(*config), &api_->loop(), options_.data_dir + "/files.json",
                                 options_.controller_class, service_.log());
  if (!applier) return applier.error();
  applier_ = std::move(*applier);
  compiler::CompileOptions compile;
  // Only to be told what is wrong with them: the program that serves, and is proved, is the controller's.
  compile.target = program::Target::kTablesOnly;
  compile.prove = false;
  compile.databases = compiler::DatabaseTime::kNever;
  compile.certificate_directories = options_.certificate_directories;
  controller::FollowOptions follow;
  follow.scope = controller::FollowScope::kPart;
  follow.others = [this](const controller::Texts& texts) { return applier_->others(texts); };
  follow.kept = [this](const std::string& file) { return applier_->kept(file); };
  auto follower = controller::Follower::create(options_.files, compile, options_.colour, std::move(follow));
  if (!follower) return follower.error();
  follower_ = std::move(*follower);
  const Status found = compiler::yaml::find_sources(options_.files);
  if (found) return {};
  // What a run before applied goes on to serve.
  if (!applier_->had_files()) {
    const bool empty = found.error().code == ErrorCode::kNotFound;
    return Error{found.error().code,
                 "--config " + found.error().text +
                     (empty ? "; put a file there, or leave --config out and configure it through the API" : "")};
  }
  service_.log().error(found.error().text);
  return {};
}

void Standalone::follow() {
  while (auto update = follower_->next()) take(*std::move(update));
}

void Standalone::take(controller::Update update) {
  for (;;) {
    const controller::Refusals refusals = applier_->check(update);
    if (refusals.empty()) break;
    update = follower_->refuse(refusals);
  }
  if (!update.report.empty()) {
    service_.whole_log().write(update.report_of_errors ? LogLevel::kError : LogLevel::kWarn, "of the files:", {},
                               update.report);
  }
  // All of it is one program.
  controller_->pause();
  files_wait_ = update.dangling;
  Applier::ApplyResult apply_result = applier_->apply(update);
  // Where nothing could be read nothing is known to be mended.
  if (!update.texts.empty()) controller_->compile_beside(std::move(apply_result.denials));
  if (!controller_->resume(std::move(apply_result.writes))) {
    service_.log().warn("the controller has not received all applied objects: the program may be incomplete");
  }
  for (const std::string& fault : apply_result.faults) service_.log().error(fault);
  for (const std::string& restored : apply_result.restored) service_.log().warn(restored);
  for (const std::string& mended : update.mended) service_.message(mended);
  if (update.report_of_errors || !apply_result.faults.empty()) {
    service_.log().warn("serves the valid part of the configuration; correct the errors above");
  }
}

Status Standalone::start_controller() {
  auto config = config_of(*api_);
  if (!config) return config.error();
  controller::ControllerOptions options;
  options.data_dir = options_.data_dir;
  options.config = std::move(*config);
  options.controller_class = options_.controller_class;
  options.published_addresses = options_.published_addresses;
  options.certificate_directories = options_.certificate_directories;
  options.dns_hook = options_.dns_hook;
  options.listen = options_.agents;
  options.listen_flag = "--agents-listen";
  options.group_label = options_.group_label;
  options.hub = options_.hub;
  options.hub_join = options_.hub_join;
  options.hub_kinds = options_.hub_kinds;
  options.hub_namespaces = options_.hub_namespaces;
  options.hub_reads = options_.hub_reads;
  options.hub_reads_traces = options_.hub_reads_traces;
  options.embedded = true;
  options.loop = &api_->loop();
  options.status_rate = 1000;
  options.own_pages = [this](const controller::AgentQuestion& question) {
    auto reported = options_.traces != nullptr ? options_.traces->page(question) : std::nullopt;
    if (reported) return std::move(*reported);
    // One process: what the controller says of itself stands on the agent's pages.
    return answer_of(agent::reply_to(question.method, question.target,
                                     [this](const agent::AdminRequest& request) { return service_.answer(request); }));
  };
  options.log = service_.log();
  options.paused = applier_ != nullptr && !applier_->complete();
  options.api_began_empty = api_->began_empty();
  options.changed = [this](const std::vector<ResourceId>& gone) {
    bool look = files_wait_;
    for (const ResourceId& key : gone) look |= applier_ != nullptr && applier_->lost(key);
    if (look) follower_->look_again();
  };
  auto controller = controller::Controller::start(std::move(options));
  if (!controller) return controller.error();
  controller_ = std::move(*controller);
  // It is held as long as there are any; they stay where the files cannot be read now.
  if (applier_) controller_->compile_beside(applier_->denials());
  return {};
}

/// Serves what the agent has kept.
Status Standalone::open_sync() {
  if (sync_) return {};
  agent::SyncOptions options;
  options.name = kAgentName;
  options.labels = options_.labels;
  options.data_dir = options_.data_dir + "/agent";
  options.without_certificate = true;
  options.peer_listen = options_.peers;
  // Of a run before, when the controller cannot start: what is on disk was verified by the key beside it.
  if (const auto pem = read_file(options_.data_dir + kProgramKey, kMaxKeyBytes)) {
    if (auto key = program::VerifyKey::from_pem(*pem)) options.key = std::move(*key);
  }
  auto sync = agent::Sync::open(std::move(options), service_);
  if (!sync) return sync.error();
  sync_ = std::move(*sync);
  return {};
}

Status Standalone::start_agent() {
  if (Status status = open_sync(); !status) return status;
  auto key = program::VerifyKey::from_pem(controller_->program_key());
  if (!key) return key.error();
  sync_->connect(
      [this](const std::string& hello, agent::FromLocalController from) { return connect(hello, std::move(from)); },
      std::move(*key));
  return {};
}

Result<agent::ToLocalController> Standalone::connect(const std::string& hello, agent::FromLocalController from) {
  controller::LocalAgentEvents events;
  events.program = std::move(from.program);
  events.values = std::move(from.values);
  events.addresses = std::move(from.addresses);
  events.links = std::move(from.links);
  events.ended = std::move(from.ended);
  events.answer = [answer = std::move(from.answer)](const controller::AgentQuestion& question) {
    return answer_of(answer(question.method, question.target));
  };
  auto connected = controller_->connect(kAgentName, hello, std::move(events));
  if (!connected) return connected.error();
  const std::shared_ptr<controller::LocalAgent> agent = std::move(*connected);
  agent::ToLocalController to;
  to.applied = [agent](const std::string& message) { agent->applied(message); };
  to.refused = [agent](const program::Hash& program, const std::string& reason) { agent->refused(program, reason); };
  to.values_applied = [agent](std::uint64_t version) { agent->values_applied(version); };
  to.report = [agent](const std::string& message) { agent->report(message); };
  to.report_links = [agent](const std::string& message) { agent->report_links(message); };
  return to;
}

}  // namespace edge::standalone
