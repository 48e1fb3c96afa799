// The words of an explanation: a program's records as a person names them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/evaluate/abi.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// `GET http://host/path?query from 192.0.2.1`.
std::string request_text(const program::RequestView& request);
/// `10.0.0.1:8080`, `*:8080`.
std::string bind_text(const program::ProgramView& program, std::uint32_t bind);
/// namespace/name of a backend of the program; empty when there is none with this id.
std::string backend_name(const program::ProgramView& program, std::uint64_t id);
/// `request header x-env: prod is set`.
std::string filter_text(const program::SectionView& host, const program::FilterRecord& filter);
/// What the request has where node `node` looks: the quoted value, `absent`, or an address. Empty for a node that looks
/// at several places.
std::string actual_text(const program::SectionView& host, std::uint32_t node, const program::MatchInput& input);

/// What each policy on a rule does with one request, as far as the request alone tells: who is asked, and who answers
/// at once. Names of secrets and what is in them are never told. `JWT demo/tokens: answers 401: the request has no
/// header authorization`, in the order in which it passes them.
std::vector<std::string> policy_verdicts(const program::ProgramView& program, const program::SectionView& host,
                                         const program::TreatmentRecord& treatment,
                                         const program::RequestView& request);

}  // namespace edge::compiler::analyze
