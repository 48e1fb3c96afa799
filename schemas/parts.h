// Objects, fields and columns shared by the tables of several own kinds.
#pragma once

#include "schemas/schema.h"

namespace edge::schemas {

/// `name` and `namespace` of a Secret.
extern const Object kSecretRef;
/// A condition as defined by Kubernetes (metav1.Condition).
extern const Object kCondition;
/// `ready`, `total` and both as one text.
extern const Object kReadyCount;
/// The limits of delay, jitter and loss of a path.
extern const Object kQualityBounds;
/// Only `conditions` and `observedGeneration`.
extern const Object kConditionsStatus;

inline constexpr std::string_view kCertificateKeyTypes[] = {"EC256", "EC384", "RSA2048", "RSA3072", "RSA4096"};
inline constexpr std::string_view kChallengeTypes[] = {"HTTP01", "TLSALPN01", "DNS01"};
/// Of a CertificateIssuer, and of a listener that names none.
inline constexpr Field kIssuerEmail =
    string("email", "Address that the CA writes to about the account and its certificates.");
inline constexpr Field kIssuerDirectory =
    string("directoryURL", "Directory of the CA (RFC 8555); without it Let's Encrypt's.").as(Format::kUrl);
inline constexpr Field kIssuerKeyType =
    string("keyType", "Key of certificates, of which each has its own; without it EC256.").one_of(kCertificateKeyTypes);
inline constexpr Field kIssuerChallenges =
    strings("challenges",
            "How the CA may validate names, in order: HTTP01 needs a listener of protocol HTTP at port 80, TLSALPN01 "
            "this listener at port 443, DNS01 a CertificateIssuer that says how TXT records are written. A name with a "
            "wildcard is validated by DNS01 alone. Without it TLSALPN01, then HTTP01.")
        .one_of(kChallengeTypes)
        .at_most(3);

inline constexpr Field kConditionsField =
    objects("conditions", kCondition, "Conditions, one of a type.").at_most(64).keyed_by("type");
inline constexpr Field kObservedGenerationField =
    integer("observedGeneration", "The metadata.generation that this status speaks of.").within(0, kNoMaximum);

inline constexpr Column kReadyColumn = {"READY", R"(.status.conditions[?(@.type=="Ready")].status)"};
inline constexpr Column kAgeColumn = {"AGE", ".metadata.creationTimestamp", ColumnType::kDate};

}  // namespace edge::schemas
