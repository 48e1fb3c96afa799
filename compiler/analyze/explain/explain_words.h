// The words of an explanation: names a program's records for users.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/evaluate/abi.h"
#include "program/format/settings.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// `GET http://host/path?query from 192.0.2.1`.
std::string request_text(const program::RequestView& request);
/// `10.0.0.1:8080`, `*:8080`.
std::string bind_text(const program::ProgramView& program, std::uint32_t bind);
/// Returns which clients a listener serves by their certificates; empty: it requests none.
std::string clients_text(const program::ListenerTlsRecord* tls);
/// namespace/name of a backend of the program; empty when there is none with this id.
std::string backend_name(const program::ProgramView& program, std::uint64_t id);
/// Returns which clusters serve a backend too, and when; empty: none does.
std::string clusters_text(const program::ProgramView& program, std::uint64_t id);
/// The same for one request: one line for each priority, in their order, with the reason for it.
std::vector<std::string> cluster_texts(const program::ProgramView& program, std::uint64_t id);
/// `request header x-env: prod is set`.
std::string filter_text(const program::SectionView& host, const program::FilterRecord& filter);
/// Returns the request's value that node `node` tests: the quoted value, `absent`, or an address. Empty for a node that
/// tests several values.
std::string actual_text(const program::SectionView& host, std::uint32_t node, const program::MatchInput& input);

/// Returns the effect of each policy of a rule on one request, as far as the request determines it: which service is
/// called, and which policy answers at once. Names and contents of secrets are not included. `JWT demo/tokens: answers
/// 401: the request has no header authorization`, in the order of evaluation. `body`: nullopt: not told.
std::vector<std::string> policy_verdicts(const program::ProgramView& program, const program::SectionView& host,
                                         const program::TreatmentRecord& treatment, const program::RequestView& request,
                                         std::optional<std::string_view> body);
/// The same for a request on a listener that no rule takes.
std::vector<std::string> policy_verdicts_without_route(const program::ProgramView& program, std::uint32_t listener,
                                                       const program::RequestView& request,
                                                       std::optional<std::string_view> body);
/// Returns the status that one of the policies answers with in place of a backend (Maintenance, FixedResponse), once
/// those before let the request pass; 0: none does. `request` null: of every request, whatever it has.
int status_of_policies(const program::ProgramView& program, std::span<const std::uint64_t> policies,
                       const program::RequestView* request);
/// Returns the status of a request on a listener that no rule takes, likewise: 503 where a policy that protects cannot
/// be enforced, else that of a policy, else 404. `listener` kNone: of a host that no listener takes.
int status_without_route(const program::ProgramView& program, std::uint32_t listener,
                         const program::RequestView* request);

}  // namespace edge::compiler::analyze
