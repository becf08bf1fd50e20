"""Every house rule is able to fail: one broken file each, in a tree that is otherwise clean."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TIDY = Path(__file__).resolve().parent.parent / "tidy"
HEADER = "#pragma once\n\n"
CLEAN = {
    "README.md": "# Title\n",
    "src/core/CMakeLists.txt": "atoll_room(core SOURCES state.cpp)\n",
    "src/core/state.cpp": '#include "core/state.h"\n',
    "src/core/state.h": HEADER + "namespace atl {\n[[nodiscard]] Result<void> check();\n}  // namespace atl\n",
}
BROKEN = [
    ("layers", "src/core/state.cpp", '#include "core/state.h"\n#include "journal/journal.h"\n'),
    ("layers", "src/core/state.cpp", '#include <chrono>\n\n#include "core/state.h"\n'),
    ("layers", "src/core/state.h", HEADER + "#include <boost/asio/io_context.hpp>\n"),
    ("core_is_exact", "src/core/state.h", HEADER + "double share();\n"),
    ("words", "src/core/state.h", HEADER + "// TO" "DO: later\n"),
    ("words", "src/core/state.h", HEADER + "struct JobFinished {};\n"),
    ("nodiscard", "src/core/state.h", HEADER + "Result<void> check();\n"),
    ("nodiscard", "src/core/state.h", HEADER + "struct A {\n  virtual Result<std::vector<int>> all() = 0;\n};\n"),
    ("size", "src/core/state.h", HEADER + "int a();\n" * 500),
    ("dead_files", "src/core/orphan.cpp", '#include "core/state.h"\n'),
    ("blanks", "README.md", "# Title \n"),
    ("blanks", "README.md", "# Title"),
    ("formatted", "src/core/state.h", HEADER + "int   a( );\n"),
    ("links", "README.md", "# Title\n\n[gone](docs/gone.md)\n"),
    ("links", "README.md", "# Title\n\n[gone](#no-such-heading)\n"),
    ("decisions", "docs/decisions/Why.md", "# Why\n"),
    ("decisions", "docs/decisions/0002-second.md", "# Second\n"),
    ("scripts", "tool.sh", "#!/bin/sh\n"),
]


class Tidy(unittest.TestCase):
    def findings(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {".clang-format": "BasedOnStyle: Google\nColumnLimit: 100\n", **files}.items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([TIDY, "--json"], env={**os.environ, "ATOLL_TIDY_ROOT": root}, capture_output=True,
                                  text=True, check=True)
        return {rule["rule"]: rule["findings"] for rule in json.loads(done.stdout) if rule["findings"]}

    def test_a_clean_tree_has_no_findings(self):
        self.assertEqual(self.findings(CLEAN), {})

    def test_each_rule_finds_what_it_forbids(self):
        for rule, name, text in BROKEN:
            with self.subTest(rule=rule, text=text[:60]):
                self.assertIn(rule, self.findings({**CLEAN, name: text}))


if __name__ == "__main__":
    unittest.main()
