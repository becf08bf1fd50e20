// Python that goes along with tasks: what functions import, and what sends a request. For the
// sources of this folder only.
#pragma once

#include <string_view>

namespace atl::spec::tapis {

inline constexpr std::string_view kPythonSdk =
    R"py("""The context of a task: from owe_python_sdk.runtime import execution_context as ctx."""
import json
import os
import sys


class ExecutionContext:
    def __init__(self):
        self._hooks = []
        self._input_dir = os.environ.get("_OWE_INPUT_DIR", "input")
        self._output_dir = os.environ.get("_OWE_OUTPUT_DIR", "output")
        self.input_schema = json.loads(os.environ.get("_OWE_INPUT_SCHEMA") or "{}")

    def _input_path(self, name):
        if os.path.basename(name) != name or name in ("", ".", ".."):
            raise ValueError(f"{name!r} is no name of an input")
        return os.path.join(self._input_dir, name)

    def get_input(self, id, default=None):
        """The input as text, or the default when it has no value."""
        try:
            with open(self._input_path(id), encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            return default
        return text if text else default

    def find_inputs(self, contains=None):
        """The names of all inputs that have values, or of those whose names contain a text."""
        names = sorted(os.listdir(self._input_dir))
        return [name for name in names if contains is None or contains in name]

    def set_output(self, id, value, encoding=None):
        """Leaves a value for later tasks. Texts as they are, other values as JSON."""
        if os.path.basename(id) != id or id.startswith("."):
            raise ValueError(f"{id!r} is no name of an output")
        path = os.path.join(self._output_dir, id)
        if isinstance(value, bytes):
            with open(path, "wb") as file:
                file.write(value)
            return
        if not isinstance(value, str):
            value = json.dumps(value)
        with open(path, "w", encoding=encoding or "utf-8") as file:
            file.write(value)

    def add_hook(self, hook):
        """Called with the context before the task ends by stdout() or stderr()."""
        self._hooks.append(hook)

    def _end(self, code):
        for hook in self._hooks:
            hook(self)
        sys.stdout.flush()
        sys.stderr.flush()
        sys.exit(code)

    def stdout(self, value=""):
        """Prints the value and ends the task well."""
        print(value)
        self._end(0)

    def stderr(self, code=1, message=""):
        """Prints the message and ends the task with the code."""
        if not isinstance(code, int):
            code, message = 1, code
        print(message, file=sys.stderr)
        self._end(code)


execution_context = ExecutionContext()
)py";

inline constexpr std::string_view kPythonRequest = R"py(import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


def leave(name, text):
    with open(os.path.join(os.environ["_OWE_OUTPUT_DIR"], name), "wb") as file:
        file.write(text)


with open(sys.argv[1], encoding="utf-8") as file:
    ask = json.load(file)
url = ask["url"]
if ask.get("query"):
    url += ("&" if "?" in url else "?") + urllib.parse.urlencode(ask["query"])
headers = dict(ask.get("headers", {}))
data = ask.get("data")
if data is not None:
    if not isinstance(data, str):
        data = json.dumps(data)
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
    data = data.encode()
try:
    request = urllib.request.Request(url, data=data, headers=headers, method=ask["method"].upper())
    with urllib.request.urlopen(request) as answer:
        status, body = answer.status, answer.read()
except urllib.error.HTTPError as error:
    status, body = error.code, error.read()
except (urllib.error.URLError, OSError, ValueError) as error:
    print(f"{ask['method'].upper()} {ask['url']}: {getattr(error, 'reason', error)}", file=sys.stderr)
    sys.exit(1)
sys.stdout.buffer.write(body)
leave("STATUS_CODE", str(status).encode())
leave("BODY", body)
if status >= 400:
    sys.stdout.flush()
    print(f"{ask['method'].upper()} {ask['url']}: {status}", file=sys.stderr)
    sys.exit(1)
)py";

}  // namespace atl::spec::tapis
