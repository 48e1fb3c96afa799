#include "compiler/analyze/explain/passage.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "compiler/analyze/explain/explain_words.h"
#include "compiler/analyze/explain/treatment.h"
#include "program/claim_field.h"
#include "program/evaluate/path_rules.h"
#include "program/filters.h"
#include "program/format/records.h"
#include "program/scheme_redirect.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;

constexpr std::string_view kRequestIdToken = "%REQ_ID%";

/// Repeated fields joined, as matching sees them.
std::string field_value(const program::RequestView& request, std::string_view name) {
  std::string value;
  bool first = true;
  for (const Field& field : request.headers) {
    if (field.name != name) continue;
    value.append(first ? "" : ", ").append(field.value);
    first = false;
  }
  return value;
}

std::uint64_t declared_length(const program::RequestView& request) {
  const std::string text = field_value(request, "content-length");
  std::uint64_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);
  return length;
}

std::string authority_of(std::string_view host, std::string_view scheme, std::uint16_t port) {
  const bool usual = (scheme == "http" && port == 80) || (scheme == "https" && port == 443);
  return usual ? std::string(host) : std::string(host) + ":" + std::to_string(port);
}

/// Rule D9, which comes before any rule is looked for.
std::optional<program::Redirect> redirect_of(const program::SectionView& section,
                                             const program::ListenerRecord& listener,
                                             const program::RequestView& request, const std::string& authority) {
  const auto* const settings = program::optional_of(section, listener.scheme_redirect);
  if (settings == nullptr || field_value(request, "x-forwarded-proto") == "https") return std::nullopt;
  return program::scheme_redirect(section, *settings,
                                  {authority, request.path, request.path, request.query, !request.query.empty()});
}

bool is_canary(const program::RequestView& request) { return field_value(request, "x-canary") == "true"; }

/// Of the backends that may take a request, the first; kNone: none may.
std::uint32_t first_choice(const program::Split& split, bool canary) {
  if (canary && split.canary < split.backends.size()) return split.canary;
  const auto weighted = std::ranges::find_if(split.backends, [](const auto& backend) { return backend.weight > 0; });
  return weighted == split.backends.end() ? kNone : static_cast<std::uint32_t>(weighted - split.backends.begin());
}

/// Receives the fields that FieldEdits writes.
struct Collected {
  NameValues& fields;
  void field(std::string_view name, std::string_view value) { fields.emplace_back(name, value); }
};

class Treatment {
 public:
  Treatment(const program::ProgramView& program, const program::Evaluation& outcome,
            const program::RequestView& request, std::string_view scheme, std::string authority)
      : program_(program),
        host_(outcome.host->view),
        action_(host_.array(host_.header<program::HostHeader>().actions)[outcome.action]),
        split_(program::split_of(host_, action_)),
        treatment_(program::treatment_record_of(host_, action_, split_, first_choice(split_, is_canary(request)))),
        filters_(host_.array(treatment_.filters)),
        request_(request),
        scheme_(scheme),
        authority_(std::move(authority)) {}

  void apply(Passage& out) const {
    const auto& header = host_.header<program::HostHeader>();
    const program::RouteRecord& route = host_.array(header.routes)[action_.route];
    out.route = std::string(program::name_space_of(host_, route)) + "/" + std::string(host_.string(route.name));
    out.rule = action_.rule;
    out.match = action_.match;
    out.policies = policy_texts(program_, host_.array(treatment_.policies));
    answer(out);
    if (out.status == 0) forward(out);
    // The filters' response fields are for what a backend answers.
    if (out.status == 0) edit_response(out);
  }

 private:
  static void refuse(Passage& out, int status, std::string reason) {
    out.status = status;
    out.reason = std::move(reason);
  }

  /// In the order in which a session asks.
  void answer(Passage& out) const {
    if ((treatment_.flags & program::kDenied) != 0) return refuse(out, 503, "policy-unavailable");
    if (const int status = status_of_policies(program_, host_.array(treatment_.policies), &request_); status != 0) {
      return refuse(out, status, "policy");
    }
    if (treatment_.max_request_body != 0 && declared_length(request_) > treatment_.max_request_body) {
      return refuse(out, 413, "body-too-large");
    }
    const program::RedirectRequest target{scheme_, authority_, request_.path, request_.query, !request_.query.empty()};
    if (auto to = program::redirect(host_, filters_, target)) {
      refuse(out, to->status, "redirect");
      out.location = std::move(to->location);
      return;
    }
    choose(out);
    if (out.backends.empty()) refuse(out, 500, "no-backend");
  }

  /// Rule D3. A backend that did not resolve takes its share, and answers it with 500.
  void choose(Passage& out) const {
    const auto add = [&](const program::BackendRefRecord& backend) {
      const std::string name = backend_name(program_, backend.backend_id());
      const std::string shown = name.empty() ? std::string(kUnresolvedBackend) : name;
      if (std::ranges::find(out.backends, shown) == out.backends.end()) out.backends.push_back(shown);
    };
    if (split_.canary < split_.backends.size() && is_canary(request_)) {
      add(split_.backends[split_.canary]);
    } else {
      for (const program::BackendRefRecord& backend : split_.backends) {
        if (backend.weight > 0) add(backend);
      }
    }
    if (out.backends == std::vector{std::string(kUnresolvedBackend)}) out.backends.clear();
    std::ranges::sort(out.backends);
  }

  void forward(Passage& out) const {
    const program::Rewrite rewritten = program::rewrite(host_, filters_, request_.path);
    out.path = rewritten.path.value_or(std::string(request_.path));
    out.host = rewritten.host.empty() ? request_.host : rewritten.host;
    const program::FieldEdits edits(host_, filters_, program::Side::kRequest, kRequestIdToken);
    for (const Field& field : request_.headers) {
      const bool stays = field.name == "content-length" || field.name == "trailer";
      const bool of_hop = program::is_reserved_field(field.name) && !stays;
      if (!of_hop && !program::is_claim_field(field.name) && !edits.drops(field.name))
        out.headers.emplace_back(field.name, field.value);
    }
    Collected collected{out.headers};
    edits.write(collected);
  }

  void edit_response(Passage& out) const {
    const program::FieldEdits edits(host_, filters_, program::Side::kResponse, kRequestIdToken);
    Collected collected{out.response_headers};
    edits.write(collected);
    for (const program::FilterRecord& filter : filters_) {
      const std::string name(host_.string(filter.name));
      const program::FilterOpRow& row = row_of(filter.op);
      const bool removes = row.side == program::Side::kResponse && row.edit == program::Edit::kRemove;
      if (removes && !program::is_reserved_field(name)) {
        out.response_removed.push_back(name);
      }
    }
  }

  const program::ProgramView& program_;
  const program::SectionView& host_;
  const program::ActionRecord& action_;
  program::Split split_;
  const program::TreatmentRecord& treatment_;
  std::span<const program::FilterRecord> filters_;
  const program::RequestView& request_;
  std::string_view scheme_;
  std::string authority_;
};

}  // namespace

Result<std::uint32_t> bind_of_port(const program::ProgramView& program, std::uint16_t port, bool port_written) {
  const program::SectionView& section = program.listeners().view;
  const auto binds = section.array(section.header<program::ListenersHeader>().binds);
  std::string ports;
  for (std::uint32_t i = 0; i < binds.size(); ++i) {
    // A request comes over TCP: ports of datagrams are others.
    if (binds[i].protocol == program::Protocol::kUdp) continue;
    if (binds[i].port == port) return i;
    ports += (ports.empty() ? "" : ", ") + std::to_string(binds[i].port);
  }
  if (!port_written && binds.size() == 1) return 0U;
  if (binds.empty()) return Error{ErrorCode::kFailedPrecondition, "the configuration has no listener that is served"};
  return Error{ErrorCode::kNotFound, "nothing listens on port " + std::to_string(port) + "; there is " + ports};
}

Passage pass(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& asked,
             const program::RegexMatcher& regex) {
  Passage out;
  const program::AdmittedRequest admitted(program, bind, asked);
  if (admitted.refused()) {
    out.status = 400;
    out.reason = "bad-path";
    return out;
  }
  const program::RequestView& request = admitted.view();
  const program::Evaluation outcome = program::evaluate(program, bind, request, regex);
  const program::SectionView& section = program.listeners().view;
  const auto& header = section.header<program::ListenersHeader>();
  const program::BindRecord& record = section.array(header.binds)[bind];
  const std::string_view scheme = record.protocol == program::Protocol::kHttps ? "https" : "http";
  std::string authority = authority_of(request.host, scheme, record.port);
  if (outcome.listener != kNone) {
    const program::ListenerRecord& listener = section.array(header.listeners)[outcome.listener];
    out.listener = section.string(listener.name);
    const auto to = scheme == "http" ? redirect_of(section, listener, request, authority) : std::nullopt;
    if (to) {
      out.status = to->status;
      out.reason = "scheme-redirect";
      out.location = to->location;
      return out;
    }
  }
  if (outcome.host == nullptr) {
    out.status = status_without_route(program, outcome.listener, &request);
    const program::NoRouteRecord* const none = program::find_no_route(program.policies().view, outcome.listener);
    out.reason = none != nullptr && none->denied != 0 ? "policy-unavailable"
                 : out.status == 404                  ? "no-route"
                                                      : "policy";
    if (none != nullptr) out.policies = policy_texts(program, program.policies().view.array(none->policies));
    return out;
  }
  Treatment(program, outcome, request, scheme, std::move(authority)).apply(out);
  return out;
}

}  // namespace edge::compiler::analyze
