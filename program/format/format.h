// The program format: the interface between compiler and runtime. docs/program-format.md has a diagram.
//
//   FileHeader | SectionEntry[section_count] | SignatureBlock | sections, each aligned to 64 bytes
//
// All records are fixed-width and little-endian. Offsets inside a section count from the section's first byte; an
// ArrayRef's elements are aligned to their own alignment. Readers accept any bytes safely (read.h). A section's bytes
// depend only on its own content, so that an edit of one host leaves every other section, and its hash, unchanged. Not
// in a program: endpoints, certificates, secrets. Only their names are; the values are sent separately (endpoints.h).
#pragma once

#include "program/format/backends.h"
#include "program/format/file.h"
#include "program/format/host.h"
#include "program/format/listeners.h"
#include "program/format/policies.h"
#include "program/format/settings.h"
#include "program/format/treatments.h"
