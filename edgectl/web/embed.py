#!/usr/bin/env python3
"""Writes the files of a folder, compressed, as a C++ source that defines edgectl/web/server/asset.h.

    embed.py FOLDER OUTPUT
"""
import gzip
import hashlib
import sys
from pathlib import Path

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".json": "application/json",
         ".txt": "text/plain; charset=utf-8"}


def main():
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    files = sorted((f"/{path.relative_to(folder).as_posix()}", path) for path in folder.rglob("*") if path.is_file())
    lines = ['#include <cstdint>', '', '#include "edgectl/web/server/asset.h"', '', 'namespace edge::edgectl::web {',
             'namespace {', '']
    rows = []
    for index, (name, path) in enumerate(files):
        content = path.read_bytes()
        packed = gzip.compress(content, 9, mtime=0)
        lines.append(f"constexpr std::uint8_t kFile{index}[] = {{")
        for begin in range(0, len(packed), 40):
            lines.append(",".join(map(str, packed[begin:begin + 40])) + ",")
        lines.append("};")
        etag = hashlib.sha256(content).hexdigest()[:32]
        rows.append(f'    {{"{name}", "{TYPES[path.suffix]}", "\\"{etag}\\"", text_of(kFile{index}, sizeof kFile{index})}},')
    lines += ['', 'std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {',
              '  return {reinterpret_cast<const char*>(bytes), size};', '}', '', '}  // namespace', '',
              'std::span<const Asset> assets() {', '  static const Asset kAll[] = {', *rows, '  };',
              '  return kAll;', '}', '', '}  // namespace edge::edgectl::web', '']
    output.write_text("\n".join(lines))


main()
