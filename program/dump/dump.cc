#include "program/dump/dump.h"

#include <algorithm>
#include <chrono>

#include "base/units.h"
#include "program/dump/route_tree.h"

namespace edge::program {
namespace {

std::string nanoseconds_text(std::uint64_t nanoseconds) {
  return duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds)));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

class TextWriter {
 public:
  void line(std::size_t depth, const std::string& text) {
    text_.append(depth * 2, ' ');
    // A name with a line end in it must not look like another line.
    for (const char c : text) text_ += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    text_ += '\n';
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

void write_filters(const std::vector<TreeFilter>& filters, std::size_t depth, TextWriter& out) {
  for (const TreeFilter& filter : filters) {
    out.line(depth, filter.op + (filter.name.empty() ? "" : " " + filter.name) +
                        (filter.value.empty() ? "" : (filter.name.empty() ? " " : ": ") + filter.value));
  }
}

void write_action(const TreeAction& action, std::size_t depth, TextWriter& out) {
  out.line(depth, "route " + action.route + " rules[" + std::to_string(action.rule) + "].matches[" +
                      std::to_string(action.match) + "]");
  for (const TreeBackend& backend : action.backends) {
    out.line(depth, "to " + backend.name + " weight " + std::to_string(backend.weight) +
                        (backend.canary && action.backends.size() > 1 ? " canary" : "") +
                        (backend.filters ? ", there:" : ""));
    if (backend.filters) write_filters(*backend.filters, depth + 1, out);
  }
  write_filters(action.filters, depth, out);
  for (const auto& policy : action.policies) out.line(depth, "policy " + policy.name + " " + policy.type);
  for (const auto& mirror : action.mirrors)
    out.line(depth, "mirror " + share_text(mirror.share) + " to " + mirror.backend +
                        (mirror.host.empty() ? "" : ", host " + mirror.host));
  const TreatmentRecord& treatment = *action.treatment;
  if (treatment.request_timeout_ns != 0)
    out.line(depth, "request timeout " + nanoseconds_text(treatment.request_timeout_ns));
  if (treatment.idle_timeout_ns != 0) out.line(depth, "idle timeout " + nanoseconds_text(treatment.idle_timeout_ns));
  if (treatment.min_grpc_timeout_ns != 0) {
    out.line(depth, "least grpc-timeout " + nanoseconds_text(treatment.min_grpc_timeout_ns));
  }
  out.line(depth, "request body " +
                      (treatment.max_request_body == 0 ? "unlimited" : std::to_string(treatment.max_request_body)));
  if ((treatment.flags & kBufferRequest) != 0) out.line(depth, "buffer request");
  if ((treatment.flags & kBufferResponse) != 0) out.line(depth, "buffer response");
  if (treatment.max_buffer != 0) out.line(depth, "buffer limit " + std::to_string(treatment.max_buffer));
  if (treatment.max_retries != kRetriesOfBackend) {
    out.line(depth, "retry " + std::to_string(treatment.max_retries) +
                        (treatment.retry_on == 0 ? "" : " on " + joined(retry_names(treatment.retry_on))) +
                        (treatment.try_timeout_ns == 0 ? "" : ", a try " + nanoseconds_text(treatment.try_timeout_ns)));
  }
  if ((treatment.flags & kDenied) != 0) out.line(depth, "denied: policy unavailable");
}

void write_settings(const TreeSettings& settings, std::size_t depth, TextWriter& out) {
  out.line(depth, settings.name);
  for (const auto& [name, value] : settings.fields) out.line(depth + 1, name + " " + value_text(value));
}

/// What carries no settings of its own is left out: every backend has its limits, which the JSON form tells.
void write_all_settings(const ProgramView& program, TextWriter& out) {
  for (const TreeGateway& gateway : gateways_of(program)) {
    if (!gateway.settings.empty()) out.line(0, "gateway " + gateway.name);
    for (const TreeSettings& settings : gateway.settings) write_settings(settings, 1, out);
  }
  for (const TreeBackendSettings& backend : backends_of(program)) {
    if (!backend.settings.empty()) out.line(0, "backend " + backend.name);
    for (const TreeSettings& settings : backend.settings) write_settings(settings, 1, out);
  }
  for (const TreePolicy& policy : policies_of(program)) {
    out.line(0, "policy " + policy.name + " " + policy.type);
    for (const auto& [name, value] : policy.settings.fields) out.line(1, name + " " + value_text(value));
  }
}

void write_host(const TreeHost& host, TextWriter& out) {
  out.line(1, "host " + host.pattern + (host.next.empty() ? "" : ", then " + host.next));
  for (const TreeTarget& target : host.targets) {
    out.line(2, target.path_class + (target.path.empty() ? "" : " " + target.path));
    for (const TreeCandidate& candidate : target.candidates) {
      out.line(3, candidate.condition.empty() ? "always" : "when " + candidate.condition);
      write_action(candidate.action, 4, out);
    }
  }
}

const char* kind_name(SectionKind kind) {
  switch (kind) {
    case SectionKind::kListeners:
      return "listeners";
    case SectionKind::kHost:
      return "host";
    case SectionKind::kNative:
      return "native";
    case SectionKind::kRegex:
      return "regex";
    case SectionKind::kBackends:
      return "backends";
    case SectionKind::kPolicies:
      return "policies";
  }
  return "?";
}

const char* target_name(Target target) {
  switch (target) {
    case Target::kTablesOnly:
      return "tables-only";
    case Target::kX8664:
      return "x86-64";
    case Target::kX8664V2:
      return "x86-64-v2";
    case Target::kX8664V3:
      return "x86-64-v3";
    case Target::kAarch64:
      return "aarch64";
  }
  return "?";
}

std::string hex(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string dump_routes(const ProgramView& program) {
  const RouteTree tree = route_tree(program);
  TextWriter out;
  for (const TreeBind& bind : tree.binds) {
    out.line(0, "bind " + bind.address + " port " + std::to_string(bind.port) + " " + bind.protocol);
    for (const TreeBind::Claim& claim : bind.claims) {
      const TreeListener& listener = tree.listeners[claim.listener];
      out.line(1, claim.pattern + " -> listener " + listener.name + " of " + listener.gateway);
    }
  }
  for (const TreeListener& listener : tree.listeners) {
    out.line(0, "listener " + listener.name + " of " + listener.gateway);
    if (!listener.trusted_proxies.empty()) out.line(1, "trusted proxies " + joined(listener.trusted_proxies));
    for (const TreeSettings& settings : listener.settings) write_settings(settings, 1, out);
    if (!listener.claims.empty()) out.line(1, "claims verified by policy " + listener.token_policy.name);
    for (const std::string& claim : listener.claims) out.line(2, claim);
    for (const TreeHost& host : listener.hosts) write_host(host, out);
    if (!listener.policies_without_route.empty()) out.line(1, "without a route");
    for (const auto& policy : listener.policies_without_route) out.line(2, "policy " + policy.name + " " + policy.type);
    if (listener.denied_without_route) out.line(2, "denied: policy unavailable");
  }
  write_all_settings(program, out);
  return std::move(out).take();
}

std::string dump_sections(const ProgramView& program) {
  TextWriter out;
  const SignatureBlock& signature = program.signature();
  const bool is_signed = std::ranges::any_of(signature.signature, [](std::uint8_t byte) { return byte != 0; });
  Hash key{};
  std::copy(std::begin(signature.key_id), std::end(signature.key_id), key.begin());
  out.line(0, "program " + to_hex(program.hash()));
  out.line(0, "format " + std::to_string(program.header().format_version) + ", abi " +
                  std::to_string(program.abi_version()) + ", target " + target_name(program.target()) + ", " +
                  std::to_string(program.bytes().size()) + " bytes");
  out.line(0, is_signed ? "signed by key " + to_hex(key) : "unsigned");
  for (const Section& section : program.sections()) {
    std::string name;
    if (section.kind == SectionKind::kHost) {
      name = section.view.string(section.view.header<HostHeader>().pattern);
      name = " " + (name.empty() ? "*" : name);
    }
    out.line(0, padded(kind_name(section.kind), 9) + " " + hex(section.id) + " " +
                    padded(std::to_string(section.view.bytes().size()), 9) + " " + to_hex(section.hash) + name);
  }
  return std::move(out).take();
}

}  // namespace edge::program
