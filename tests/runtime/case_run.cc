#include "tests/runtime/case_run.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "base/units.h"

namespace edge::test {

namespace {

Error failure(std::string text) { return Error{ErrorCode::kAborted, std::move(text)}; }

/// One line `name value` of an options section.
Status set_option(const Command& line, const CaseClock& clock, runtime::ServerOptions& options) {
  std::size_t number = 0;
  std::from_chars(line.argument.data(), line.argument.data() + line.argument.size(), number);
  const auto duration = parse_duration(line.argument).value_or(std::chrono::nanoseconds(0));
  if (line.name == "threads")
    options.threads = static_cast<unsigned>(number);
  else if (line.name == "max_header_bytes")
    options.max_header_bytes = number;
  else if (line.name == "max_headers")
    options.max_headers = number;
  else if (line.name == "max_uri_bytes")
    options.max_uri_bytes = number;
  else if (line.name == "max_connections")
    options.max_connections = number;
  else if (line.name == "buffer_memory")
    options.buffer_memory = number;
  else if (line.name == "buffer_files")
    options.buffer_files = number;
  else if (line.name == "buffer_directory")
    options.buffer_directory = line.argument;
  else if (line.name == "head_timeout")
    options.head_timeout = duration;
  else if (line.name == "keep_alive_timeout")
    options.keep_alive_timeout = duration;
  else if (line.name == "upstream_idle_timeout")
    options.upstream_idle_timeout = duration;
  else if (line.name == "denied_calls")
    options.denied_calls = {parse_cidr(line.argument).value()};
  else if (line.name == "zone")
    options.zone = line.argument;
  else if (line.name == "spans" && line.argument == "kept")
    options.spans = std::make_shared<runtime::trace::SpanBuffers>();
  else if (line.name == "clock" && line.argument == "manual")
    options.clock = &clock;
  else
    return failure("line " + std::to_string(line.line) + ": unknown option " + line.name);
  return {};
}

Upstream::Kind kind_of(const std::string& word) {
  if (word == "serve") return Upstream::Kind::kServe;
  if (word == "full") return Upstream::Kind::kFull;
  return word == "dead" ? Upstream::Kind::kDead : Upstream::Kind::kScript;
}

std::uint64_t stat_value(const runtime::Server& server, const std::string& name) {
  const runtime::ServerStats stats = server.stats();
  if (name == "connections_accepted") return stats.connections_accepted;
  if (name == "connections_active") return stats.connections_active;
  if (name == "connections_refused") return stats.connections_refused;
  if (name == "requests") return stats.requests;
  if (name == "upstream_connects") return stats.upstream_connects;
  if (name == "upstream_reused") return stats.upstream_reused;
  if (name == "upstream_retries") return stats.upstream_retries;
  if (name == "tls_handshakes") return stats.tls_handshakes;
  if (name == "tls_failures") return stats.tls_failures;
  if (name == "upstream_tls_failures") return stats.upstream_tls_failures;
  if (name == "mirrors") return stats.mirrors;
  if (name == "mirrors_dropped") return stats.mirrors_dropped;
  if (name == "buffer_memory_used") return stats.buffer_memory_used;
  if (name == "buffer_files_used") return stats.buffer_files_used;
  if (name == "tunnels") return stats.tunnels;
  if (name == "tunnels_refused") return stats.tunnels_refused;
  if (name == "tunnel_bytes_up") return stats.tunnel_bytes_up;
  if (name == "tunnel_bytes_down") return stats.tunnel_bytes_down;
  std::uint64_t ejections = 0;
  std::uint64_t opened = 0;
  for (const runtime::BackendStatus& backend : server.backends()) {
    ejections += backend.ejections;
    opened += backend.circuit_opened;
  }
  if (name == "ejections") return ejections;
  if (name == "circuits_opened") return opened;
#define EDGE_CACHE_COUNT(count, help) \
  if (name == "cache_" #count) return stats.cache.count;
#include "runtime/shape/cache/counts.def"
#undef EDGE_CACHE_COUNT
  if (name == "cache_entries") return stats.cache.entries;
  constexpr std::array<std::string_view, 4> kOutcomes = {"auth_passed", "auth_denied", "auth_redirected",
                                                         "auth_failed"};
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    if (name != kOutcomes[i]) continue;
    std::uint64_t sum = 0;
    for (const auto& type : stats.authentication) sum += type[i];
    return sum;
  }
  return name.starts_with("responses_") ? stats.responses[(name.back() - '0') % 6] : ~std::uint64_t{0};
}

std::string state_text(const runtime::EndpointStatus& endpoint) {
  if (endpoint.ejected_for != net::Duration(0)) return "ejected";
  switch (endpoint.health) {
    case runtime::Health::kInitial:
      return "unchecked";
    case runtime::Health::kHealthy:
      return "healthy";
    case runtime::Health::kUnhealthy:
      break;
  }
  return "unhealthy";
}

std::string state_text(runtime::Circuit::State state) {
  if (state == runtime::Circuit::State::kOpen) return "open";
  return state == runtime::Circuit::State::kClosed ? "closed" : "half-open";
}

std::string get(const std::string& path, const std::string& field) {
  return "GET " + path + " HTTP/1.1\r\nHost: example.com\r\n" + (field.empty() ? "" : field + "\r\n") + "\r\n";
}

constexpr std::string_view kReasonField = "X-Edge-Reason: ";

/// Every gateway has a log, so that each case holds for what is logged, too.
std::string with_logs(const std::string& yaml) {
  std::string out;
  std::istringstream lines(yaml);
  bool gateway = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("kind: ")) gateway = line == "kind: ProxyGateway";
    out += line + "\n";
    if (gateway && line == "spec:") out += "  accessLog: {enabled: true}\n";
  }
  return out;
}

/// In a line of JSON whose values are no objects.
bool has_field(const std::string& line, const std::string& field) {
  const std::size_t equals = field.find('=');
  const std::string key = "\"" + field.substr(0, equals) + "\":";
  const std::string value = field.substr(equals + 1);
  const std::size_t at = line.find(key);
  if (value == "-" || at == std::string::npos) return value == "-" && at == std::string::npos;
  const std::string_view rest = std::string_view(line).substr(at + key.size());
  return rest.starts_with("\"" + value + "\"") || rest.starts_with(value + ",") || rest.starts_with(value + "}");
}

}  // namespace

std::vector<std::string> reasons_of(const CaseFile& file) {
  std::vector<std::string> reasons;
  for (const Section& section : file.sections) {
    if (section.kind == "refuse") reasons.push_back(split_word(section.argument).second);
    if (section.kind != "client") continue;
    for (const Command& command : section.commands) {
      if (command.name == "field" && command.argument.starts_with(kReasonField)) {
        reasons.push_back(command.argument.substr(kReasonField.size()));
      }
    }
  }
  std::erase(reasons, std::string());
  return reasons;
}

bool goes_over_http2(const CaseFile& file) {
  return std::any_of(file.sections.begin(), file.sections.end(),
                     [](const Section& section) { return section.kind == "over" && section.argument == "http2"; });
}

CaseRun::~CaseRun() {
  stage_.abort();
  for (const auto& upstream : upstreams_) upstream->join();
  if (drainer_.joinable()) drainer_.join();
}

std::string CaseRun::run() {
  start_upstreams();
  if (Status started = start_server(); !started) return started.error().text;
  play();
  return stage_.failure();
}

Upstream* CaseRun::upstream(const std::string& name) const {
  for (const auto& upstream : upstreams_) {
    if (upstream->name() == name) return upstream.get();
  }
  return nullptr;
}

const Section* CaseRun::find(const std::string& kind, const std::string& argument) const {
  for (const Section& section : file_.sections) {
    if (section.kind == kind && section.argument == argument) return &section;
  }
  return nullptr;
}

void CaseRun::start_upstreams() {
  for (const Section& section : file_.sections) {
    if (section.kind != "upstream") continue;
    const auto [name, kind] = split_word(section.argument);
    const auto [how, layer] = split_word(kind);
    const bool tls = over_ == Over::kTlsBothWays || how == "tls" || layer == "tls";
    upstreams_.push_back(std::make_unique<Upstream>(stage_, name, kind_of(how), tls ? test_upstream() : nullptr));
    ports_[name] = upstreams_.back()->port();
    upstreams_.back()->start(section.commands);
  }
}

Status CaseRun::start_server() {
  runtime::ServerOptions options;
  options.threads = 1;
  options.ephemeral_ports = true;
  options.call_authorities = test_authority_pem();
  auto log = runtime::AccessLog::open({.path = ""}, {});
  if (!log) return log.error();
  log_ = std::move(*log);
  options.access_log = log_;
  if (const Section* section = find("options", "")) {
    for (const Command& line : section->commands) {
      if (Status set = set_option(line, clock_, options); !set) return set;
    }
  }
  auto server = runtime::Server::start(options);
  if (!server) return server.error();
  server_ = std::move(server.value());
  return install("");
}

/// A case without a configuration has one gateway, a backend an upstream, and one route to the first.
Status CaseRun::install(const std::string& config_name) {
  const Section* section = find("config", config_name);
  std::string text = section != nullptr ? section->text : "@gateway\n";
  if (section == nullptr) {
    for (const auto& upstream : upstreams_) text += "@backend " + upstream->name() + "\n";
    if (!upstreams_.empty()) text += "@route " + upstreams_.front()->name() + "\n";
  }
  const Result<Compiled> compiled = compile_text(file_.name, with_logs(expand_config(text, ports_, over_)));
  if (!compiled) return compiled.error();
  server_->set_endpoints(compiled->endpoints);
  secrets_ = compiled->secrets;
  // As a controller's agents have it.
  secrets_.secrets.push_back(
      {std::string(program::kSessionSecretSpace),
       std::string(program::kSessionSecretName),
       {{std::string(program::kSessionSecretKey), std::make_shared<const std::string>(std::size_t{32}, 'k')}}});
  secrets_.sort();
  server_->set_secrets(secrets_);
  return server_->install(compiled->program);
}

Status CaseRun::forget(const std::string& secret) {
  const auto gone =
      std::erase_if(secrets_.secrets, [&](const program::NamedSecret& one) { return one.name == secret; });
  if (gone == 0) return failure("no such secret: " + secret);
  server_->set_secrets(secrets_);
  return {};
}

Result<std::uint16_t> CaseRun::port(const std::string& listener) const {
  for (const runtime::BoundAddress& bound : server_->addresses()) {
    if (listener.empty() || bound.listener == listener) return bound.port;
  }
  return failure("no such listener: " + listener);
}

Status CaseRun::dial(std::uint16_t port, const std::string& host,
                     const std::function<Status(int, const TlsSide*)>& adopt) {
  const bool http2 = spoken_ == Spoken::kHttp2;
  const auto side = host.empty() ? nullptr : test_client(host, http2 ? "h2" : "");
  if (!http2) {
    const Result<int> fd = Connection::dial(port);
    return fd ? adopt(*fd, side.get()) : Status(fd.error());
  }
  int fd = -1;
  auto bridge = Http2Bridge::open(port, fd, side.get());
  if (!bridge) return bridge.error();
  bridges_.push_back(std::move(*bridge));
  return adopt(fd, nullptr);
}

void CaseRun::drain(std::optional<net::Duration> cut_after) {
  drainer_ = std::thread([this, cut_after] {
    const bool in_time = server_->drain(cut_after.value_or(std::chrono::seconds(10)));
    if (in_time == cut_after.has_value())
      stage_.fail(in_time ? "nothing was cut off" : "the drain did not end in time");
    stage_.signal("drained");
  });
}

/// Clients run one after the other, on this thread; then nothing may be left that the scripts did not take.
void CaseRun::play() {
  for (const Section& section : file_.sections) {
    if (!stage_.failure().empty()) return;
    if (section.kind == "client") play_client(section);
    if (section.kind == "refuse") play_refusal(section);
  }
  for (const auto& upstream : upstreams_) {
    if (const Section* section = find("upstream", upstream->name()); section != nullptr) upstream->join();
  }
  for (const auto& upstream : upstreams_) {
    if (!stage_.failure().empty()) return;
    if (Status rest = upstream->expect_untouched_rest(); !rest) stage_.fail(rest.error().text);
  }
  if (stage_.failure().empty()) expect_reasons();
}

/// Whatever word a client is given, the log has it as often.
void CaseRun::expect_reasons() {
  std::map<std::string, int> wanted;
  for (const std::string& reason : reasons_of(file_)) ++wanted[reason];
  for (const auto& [reason, times] : wanted) {
    while (logged_reasons_[reason] < times && !stage_.deadline().over()) {
      read_log();
      std::this_thread::yield();
    }
    if (logged_reasons_[reason] < times) {
      stage_.fail("the access log has " + reason + " " + std::to_string(logged_reasons_[reason]) + " times, not " +
                  std::to_string(times) + ":\n" + lines());
    }
  }
}

void CaseRun::read_log() {
  constexpr std::string_view kReason = "\"reason\":\"";
  std::istringstream recent(log_->recent({.after = next_line_}));
  for (std::string line; std::getline(recent, line);) {
    if (line.starts_with("{\"next\":")) {
      std::from_chars(line.data() + 8, line.data() + line.size(), next_line_);
      continue;
    }
    const std::size_t at = line.find(kReason);
    if (at != std::string::npos) {
      const std::size_t begin = at + kReason.size();
      ++logged_reasons_[line.substr(begin, line.find('"', begin) - begin)];
    }
    lines_.push_back(std::move(line));
  }
}

bool CaseRun::take_line(const std::vector<std::string>& fields) {
  read_log();
  const auto found = std::ranges::find_if(lines_, [&](const std::string& line) {
    return std::ranges::all_of(fields, [&](const std::string& field) { return has_field(line, field); });
  });
  if (found == lines_.end()) return false;
  lines_.erase(found);
  return true;
}

std::string CaseRun::lines() {
  read_log();
  std::string out;
  for (const std::string& line : lines_) out += line + "\n";
  return out;
}

void CaseRun::play_client(const Section& section) {
  clients_.push_back(std::make_unique<Client>(stage_, *this));
  std::vector<Command> commands = section.commands;
  // HTTP/2 has no such field.
  if (spoken_ == Spoken::kHttp2) {
    std::erase_if(commands, [](const Command& command) {
      return command.name == "field" && command.argument.starts_with("Connection:");
    });
  }
  Status done = clients_.back()->run(commands);
  if (done) done = clients_.back()->expect_quiet();
  if (!done) stage_.fail("client " + section.argument + ", " + done.error().text);
  clients_.back()->close_all();
}

/// `refuse STATUS REASON`: what stands there is answered so, and the connection of HTTP/1.1 closed.
void CaseRun::play_refusal(const Section& section) {
  Section client = section;
  const auto [status, reason] = split_word(section.argument);
  client.commands.insert(client.commands.begin(), Command{section.line, "connect", "", "", false});
  for (Command& command : client.commands) {
    if (command.name.empty()) command.name = "send";
  }
  client.commands.push_back({section.line, "head", status, "", false});
  if (!reason.empty()) client.commands.push_back({section.line, "field", "X-Edge-Reason: " + reason, "", false});
  client.commands.push_back({section.line, "field", "Connection: close", "", false});
  client.commands.push_back({section.line, "body-like", "", "", false});
  // A stream that is refused leaves its connection alone.
  if (spoken_ == Spoken::kHttp1) client.commands.push_back({section.line, "closed", "", "", false});
  play_client(client);
}

Status Client::run_own(const Command& command) {
  if (command.name == "connect") return connect(command.argument, run_.over() != Over::kPlain);
  if (command.name == "connect-tls") return connect(command.argument, true);
  if (command.name == "install") return run_.install(command.argument);
  if (command.name == "forget") return run_.forget(command.argument);
  for (const char* name : {"list", "countries", "systems", "networks"}) {
    if (command.name == name) return run_.set_access(command);
  }
  if (command.name == "tally") return tally(command.argument);
  if (command.name == "pipeline") return pipeline(command.argument);
  if (command.name == "share") return share(command.argument);
  if (command.name == "stat") return stat(command.argument);
  if (command.name == "answers") return answers(command.argument);
  if (command.name == "endpoint") return endpoint(command.argument);
  if (command.name == "circuit") return circuit(command.argument);
  if (command.name == "pass") return pass(command.argument);
  if (command.name == "logged") return logged(command.argument);
  if (command.name == "drain") {
    run_.drain(parse_duration(command.argument));
    return {};
  }
  return unknown();
}

/// `connect [NAME [LISTENER]]`, `connect-tls [NAME [LISTENER [HOST]]]`.
Status Client::connect(const std::string& argument, bool tls) {
  const auto [name, rest] = split_word(argument);
  const auto [listener, host] = split_word(rest);
  const Result<std::uint16_t> port = run_.port(listener);
  if (!port) return port.error();
  const std::string own = name.empty() ? std::to_string(++connected_) : name;
  const std::string asked = host.empty() ? std::string(kTestHost) : host;
  return run_.dial(*port, tls ? asked : "", [&](int fd, const TlsSide* side) { return adopt(own, fd, side); });
}

/// `pass DURATION`, of the option `clock manual`.
Status Client::pass(const std::string& argument) {
  const auto duration = parse_duration(argument);
  if (!duration) return failure("no duration: " + argument);
  // Time counts from when a thread has seen what was sent before: to be told of a connection, to accept it and to read
  // from it takes a turn of its loop each, and the first may have begun before.
  for (int turn = 0; turn < 4; ++turn) static_cast<void>(run_.server().share_listeners());
  run_.clock().advance(*duration);
  // A thread that waits for nothing but time sees it when it is asked for something.
  static_cast<void>(run_.server().share_listeners());
  return {};
}

/// `logged NAME=VALUE ...`: waits for a line of the access log with all of these.
Status Client::logged(const std::string& argument) {
  std::vector<std::string> fields;
  std::istringstream words(argument);
  for (std::string word; words >> word;) fields.push_back(unescape(word));
  while (!run_.take_line(fields)) {
    if (stage_.deadline().over()) return mismatch(argument, run_.lines());
    std::this_thread::yield();
  }
  return {};
}

/// `tally N PATH [FIELD LINE]`: sends N requests and counts the bodies of the answers.
Status Client::tally(const std::string& argument) {
  const auto [number, rest] = split_word(argument);
  const auto [path, field] = split_word(rest);
  bodies_.clear();
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  for (int i = std::stoi(number); i > 0; --i) {
    if (Status sent = (*connection)->send(get(path, field)); !sent) return sent;
    if (Status counted = count_answer(**connection); !counted) return counted;
  }
  return {};
}

/// `pipeline N PATH`: as `tally`, but the requests `PATH1` to `PATHN` go out before any answer is read.
Status Client::pipeline(const std::string& argument) {
  const auto [number, path] = split_word(argument);
  bodies_.clear();
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  std::string requests;
  for (int i = 1; i <= std::stoi(number); ++i) requests += get(path + std::to_string(i), "");
  if (Status sent = (*connection)->send(requests); !sent) return sent;
  for (int i = std::stoi(number); i > 0; --i) {
    if (Status counted = count_answer(**connection); !counted) return counted;
  }
  return {};
}

Status Client::count_answer(Connection& connection) {
  const Result<Message> head = connection.receive_head();
  if (!head) return head.error();
  const Result<std::string> body = connection.receive_body(*head);
  if (!body) return body.error();
  ++bodies_[*body];
  return {};
}

/// `share BODY LEAST MOST` of the last tally.
Status Client::share(const std::string& argument) {
  const auto [body, range] = split_word(argument);
  const auto [least, most] = split_word(range);
  const int count = bodies_[body];
  if (count < std::stoi(least) || count > std::stoi(most)) return mismatch(argument, std::to_string(count));
  return {};
}

/// `stat NAME VALUE`: waits until the counter has the value; counters follow the answers by a moment.
Status Client::stat(const std::string& argument) {
  const auto words = split_word(argument);
  return await(words.second, [&] { return std::to_string(stat_value(run_.server(), words.first)); });
}

/// `answers UPSTREAM STATUS`: what an upstream that serves answers from now on; 0: it closes the connection.
Status Client::answers(const std::string& argument) {
  const auto [name, status] = split_word(argument);
  Upstream* upstream = run_.upstream(name);
  if (upstream == nullptr) return Error{ErrorCode::kNotFound, "no such upstream: " + name};
  upstream->answer_with(std::stoi(status));
  return {};
}

/// `endpoint UPSTREAM STATE`: waits until the upstream is `unchecked`, `healthy`, `unhealthy` or `ejected`, for every
/// backend that it is an endpoint of.
Status Client::endpoint(const std::string& argument) {
  const auto [name, state] = split_word(argument);
  const Upstream* upstream = run_.upstream(name);
  const std::uint16_t port = upstream == nullptr ? 0 : upstream->port();
  return await(state, [&, wanted = state] {
    std::string seen = "absent";
    for (const runtime::BackendStatus& backend : run_.server().backends()) {
      for (const runtime::EndpointStatus& endpoint : backend.endpoints) {
        if (endpoint.address.port != port) continue;
        seen = state_text(endpoint);
        if (seen != wanted) return seen;
      }
    }
    return seen;
  });
}

/// `circuit BACKEND STATE`: waits until it is `closed`, `open` or `half-open`.
Status Client::circuit(const std::string& argument) {
  const auto words = split_word(argument);
  return await(words.second, [&] {
    for (const runtime::BackendStatus& backend : run_.server().backends()) {
      if (backend.name == words.first) return state_text(backend.circuit);
    }
    return std::string("absent");
  });
}

Status Client::await(const std::string& wanted, const std::function<std::string()>& ask) {
  for (;;) {
    const std::string now = ask();
    if (now == wanted) return {};
    if (stage_.deadline().over()) return mismatch(wanted, now);
    std::this_thread::yield();
  }
}

}  // namespace edge::test
