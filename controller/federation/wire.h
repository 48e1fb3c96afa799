// Versions and lives as protocol buffers: for frame.cc and state.cc alone, as it includes generated code.
#pragma once

#include <google/protobuf/repeated_field.h>

#include "base/result.h"
#include "controller/federation/frame.h"
#include "schemas/federation.pb.h"

namespace edge::federation {

void write(const ObjectKey& key, v1::Key& out);
Result<ObjectKey> read(const v1::Key& in);
void write(const Dot& dot, v1::Dot& out);
Result<Dot> read(const v1::Dot& in);
void write(const NamedDot& named, v1::NamedDot& out);
Result<NamedDot> read(const v1::NamedDot& in);
void write(const Scope& scope, v1::Scope& out);
Result<Scope> read(const v1::Scope& in);
void write(const Version& version, v1::Version& out);
/// kInvalidArgument: a field is missing or exceeds a bound.
Result<VersionPtr> read(const v1::Version& in);
void write(const std::vector<Life>& lives, google::protobuf::RepeatedPtrField<v1::Life>& out);
Result<std::vector<Life>> read(const google::protobuf::RepeatedPtrField<v1::Life>& in);
void write(const Member& member, v1::Member& out);
Result<Member> read(const v1::Member& in);

}  // namespace edge::federation
