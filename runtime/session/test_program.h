// Programs for tests of the runtime, made by hand: one listener, one rule for every request, no compiler.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/ip.h"
#include "program/section_builder.h"
#include "program/write.h"
#include "runtime/match/load.h"

namespace edge::runtime::testing {

/// Every read of it ends after 10 s.
inline int tcp_socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{10, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return fd;
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

struct TestFilter {
  program::FilterOp op;
  std::uint32_t detail = 0;
  std::string name;
  std::string value;
};

struct TestBackend {
  std::string name = "backend";
  std::uint32_t weight = 1;
  std::uint32_t max_connections = 1000;
  std::uint32_t max_pending = 100;
  std::uint32_t max_requests = 0;
};

struct TestBind {
  std::string address;
  std::uint16_t port = 0;
};

struct TestProgram {
  std::uint16_t port = 1;  ///< on 127.0.0.1
  std::vector<TestBind> more_binds{};
  std::vector<TestBackend> backends = {{}};
  std::vector<TestFilter> filters;
  std::vector<std::string> trusted_proxies;
  std::uint64_t request_timeout_ns = 0;
  std::uint64_t idle_timeout_ns = 0;
  std::uint64_t max_request_body = 0;
  std::uint32_t flags = 0;
  program::ClientLimitsRecord limits = program::kUsualClientLimits;

  std::shared_ptr<const LoadedProgram> load() const;
};

inline std::uint64_t backend_id(const std::string& name) { return stable_id("ProxyBackend", "test", name); }

namespace test_program_detail {

using namespace program;  // NOLINT(google-build-using-namespace)

constexpr std::uint64_t kHostId = 77;

inline std::vector<std::byte> listeners(const TestProgram& from) {
  SectionBuilder builder(sizeof(ListenersHeader));
  std::vector<CidrRecord> proxies;
  for (const std::string& text : from.trusted_proxies) {
    const Cidr cidr = *parse_cidr(text);
    CidrRecord record{};
    std::copy(cidr.address.bytes.begin(), cidr.address.bytes.end(), record.address);
    record.prefix_length = cidr.prefix_length;
    proxies.push_back(record);
  }
  GatewayRecord gateway{};
  gateway.id = 1;
  gateway.name_space = builder.string("test");
  gateway.name = builder.string("gateway");
  gateway.trusted_proxies = builder.array(proxies);
  gateway.limits = builder.array(std::vector{from.limits});
  HostEntry host{kHostId, builder.string(""), kNone, 0};
  ListenerRecord listener{};
  listener.protocol = Protocol::kHttp;
  listener.name = builder.string("http");
  listener.host_entries = builder.array(std::vector{host});
  listener.hosts = {{}, {}, 0, 0};
  BindRecord bind{};
  bind.address[10] = bind.address[11] = 0xff;
  bind.address[12] = 127;
  bind.address[15] = 1;
  bind.port = from.port;
  bind.protocol = Protocol::kHttp;
  bind.listeners = {{}, {}, 0, 0};
  ListenersHeader header{};
  header.gateways = builder.array(std::vector{gateway});
  std::vector<BindRecord> binds = {bind};
  for (const TestBind& other : from.more_binds) {
    const IpAddress address = *parse_ip(other.address);
    std::copy(address.bytes.begin(), address.bytes.end(), bind.address);
    bind.port = other.port;
    binds.push_back(bind);
  }
  header.binds = builder.array(binds);
  header.listeners = builder.array(std::vector{listener});
  return std::move(builder).finish(header);
}

inline std::vector<std::byte> host(const TestProgram& from) {
  SectionBuilder builder(sizeof(HostHeader));
  std::vector<BackendRefRecord> refs;
  TreatmentRecord treatment{};
  SplitRecord split{};
  for (const TestBackend& backend : from.backends) {
    if (backend.weight < from.backends[split.canary].weight) split.canary = static_cast<std::uint32_t>(refs.size());
    split.total_weight += backend.weight;
    refs.push_back(BackendRefRecord::of(backend_id(backend.name), backend.weight));
  }
  std::vector<FilterRecord> filters;
  for (const TestFilter& filter : from.filters) {
    filters.push_back({filter.op, filter.detail, builder.string(filter.name), builder.string(filter.value)});
  }
  treatment.request_timeout_ns = from.request_timeout_ns;
  treatment.idle_timeout_ns = from.idle_timeout_ns;
  treatment.max_request_body = from.max_request_body;
  treatment.flags = from.flags;
  treatment.max_retries = program::kRetriesOfBackend;
  HostHeader header{};
  header.host_id = kHostId;
  header.pattern = builder.string("");
  header.root_prefix = header.early_regex = header.regex = kNone;
  header.any_path = kActionBit;
  header.native_shard = kNone;
  header.backend_refs = builder.array(refs);
  header.filters = builder.array(filters);
  split.backends = header.backend_refs;
  treatment.filters = header.filters;
  header.routes = builder.array(std::vector{RouteRecord{builder.string("route"), 0}});
  header.namespaces = builder.array(std::vector{builder.string("test")});
  header.treatments = builder.array(std::vector{treatment});
  header.actions = builder.array(std::vector{ActionRecord{0, 0, 0, 0, refs.empty() ? kNone : 0}});
  if (!refs.empty()) header.splits = builder.array(std::vector{split});
  return std::move(builder).finish(header);
}

inline std::vector<std::byte> backends(const TestProgram& from) {
  SectionBuilder builder(sizeof(BackendsHeader));
  std::vector<BackendRecord> records;
  for (const TestBackend& backend : from.backends) {
    BackendRecord record{};
    record.id = backend_id(backend.name);
    record.name_space = builder.string("test");
    record.name = builder.string(backend.name);
    record.balance = Balance::kRoundRobin;
    record.max_connections = backend.max_connections;
    record.max_pending_requests = backend.max_pending;
    record.max_requests_per_connection = backend.max_requests;
    record.max_idle_connections = 1000;
    record.max_idle_total = kNone;
    record.connect_timeout_ns = 2'000'000'000;
    record.idle_timeout_ns = 60'000'000'000;
    records.push_back(record);
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  BackendsHeader header{};
  header.backends = builder.array(records);
  return std::move(builder).finish(header);
}

inline std::vector<std::byte> policies() { return SectionBuilder(sizeof(PoliciesHeader)).finish(PoliciesHeader{}); }

}  // namespace test_program_detail

inline std::shared_ptr<const LoadedProgram> TestProgram::load() const {
  namespace detail = test_program_detail;
  auto bytes =
      program::assemble(program::Target::kTablesOnly,
                        {{program::SectionKind::kListeners, 0, program::make_blob(detail::listeners(*this))},
                         {program::SectionKind::kHost, detail::kHostId, program::make_blob(detail::host(*this))},
                         {program::SectionKind::kBackends, 0, program::make_blob(detail::backends(*this))},
                         {program::SectionKind::kPolicies, 0, program::make_blob(detail::policies())}});
  auto view = program::read(std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
  if (!view.ok()) throw std::runtime_error(view.error().text);
  auto loaded = LoadedProgram::load(std::move(*view), nullptr);
  if (!loaded.ok()) throw std::runtime_error(loaded.error().text);
  return std::move(*loaded);
}

}  // namespace edge::runtime::testing
