#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""embed.py PAGE OUTPUT: a page as a constant of C, and what it may do, by the hashes
of its one script and its one style: a browser runs no other."""

import base64
import hashlib
import pathlib
import re
import sys

MOST = 60 * 1024


def digest(page, element):
    parts = re.findall(rf"<{element}>(.*?)</{element}>", page, re.S)
    if len(parts) != 1:
        sys.exit(f"embed.py: {len(parts)} <{element}> elements, not one")
    value = hashlib.sha256(parts[0].encode()).digest()
    return f"'sha256-{base64.b64encode(value).decode()}'"


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    data = page.encode()
    if len(data) > MOST:
        sys.exit(f"embed.py: the page has {len(data)} bytes, more than {MOST}")
    policy = "; ".join([
        "default-src 'none'", f"script-src {digest(page, 'script')}",
        f"style-src {digest(page, 'style')}", "connect-src 'self'", "img-src data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
    rows = [", ".join(str(byte) for byte in data[i:i + 16])
            for i in range(0, len(data), 16)]
    pathlib.Path(sys.argv[2]).write_text(
        '#include "inspect_http/page.h"\n\n'
        "const char weir__http_page[] = {\n" + ",\n".join(rows) + "};\n"
        f"const size_t weir__http_page_size = {len(data)};\n"
        f'const char weir__http_page_policy[] = "{policy}";\n')


if __name__ == "__main__":
    main()
