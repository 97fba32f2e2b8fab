"""Makes a source of the examples in the public headers, to be compiled.

    python tests/header_examples/extract.py INCLUDE_FOLDER OUTPUT

Each header of include/glaive has a comment that begins with `// Example:`, followed by indented
lines of code. Each example becomes a function of its own.
"""

import re
import sys
from pathlib import Path

EXAMPLE = re.compile(r"^// Example:\n//\n((?://     .*\n)+)", re.MULTILINE)
HEAD = """#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>

#include "glaive/glaive.h"

namespace glaive {
"""
FUNCTION = """
arrow::Status {name}([[maybe_unused]] const Dataset& dataset,
    [[maybe_unused]] const std::shared_ptr<arrow::RecordBatchReader>& rows,
    [[maybe_unused]] const std::shared_ptr<arrow::Schema>& schema) {{
{code}  return arrow::Status::OK();
}}
"""


def main(folder: str, output: str) -> None:
    source = HEAD
    for header in sorted(Path(folder).glob("*.h")):
        found = EXAMPLE.search(header.read_text())
        if not found:
            sys.exit(f"{header} has no example")
        code = "".join(f"  {line[7:]}\n" for line in found[1].splitlines())
        name = "".join(part.capitalize() for part in header.stem.split("_")) + "Example"
        source += FUNCTION.format(name=name, code=code)
    Path(output).write_text(source + "\n}  // namespace glaive\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
