// TXT records for dns-01 (RFC 8555 §8.4), written by other programs: nsupdate for dynamic updates (RFC 2136) signed by
// TSIG (RFC 8945), or the operator's own.
#pragma once

#include <string>
#include <string_view>

#include "compiler/link/linked_settings.h"
#include "net/child_process.h"

namespace edge::controller::acme {

enum class DnsChange : bool { kAdd, kRemove };

/// Returns the name of the record: `_acme-challenge.` before the host without its `*.`.
std::string dns_record_of(std::string_view host);

/// How the record is changed. `key`: the TSIG key in base64; empty: none. `hook`: the operator's program, which is
/// called with `present` or `cleanup`, the record's name and its value. The script and the arguments hold only what was
/// validated: host names, base64 and the settings' own formats.
net::ProgramCall dns_call(const compiler::DnsUpdates& settings, std::string_view key, const std::string& hook,
                          std::string_view host, std::string_view value, DnsChange change);
/// Returns why a call did not do it; empty: it did.
std::string dns_fault(const net::ProgramOutcome& outcome, std::string_view program);
/// Whether a text is base64 of a TSIG key.
bool is_dns_key(std::string_view text);

}  // namespace edge::controller::acme
