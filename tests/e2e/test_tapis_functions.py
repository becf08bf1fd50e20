"""What functions of Tapis pipelines bring along: packages that pip installs, and repositories that git clones."""

import base64
import hashlib
import http.server
import os
import subprocess
import threading
import unittest
import zipfile

import test_tapis
from test_tapis import function

BACKEND = os.path.join(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip(),
                       "git-http-backend")


def wheel(folder, name, source):
    """A package of one module, as pip takes it."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    files = {f"{name}.py": source,
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = ""
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{file},sha256={digest},{len(text)}\n"
            archive.writestr(file, text)
        archive.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return path


class GitServer:
    """Repositories below a folder, over HTTP by git's own program."""

    def __init__(self, test, folder):
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                path, _, query = self.path.partition("?")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                environment = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(folder), "GIT_HTTP_EXPORT_ALL": "1",
                               "REQUEST_METHOD": self.command, "PATH_INFO": path, "QUERY_STRING": query,
                               "CONTENT_TYPE": self.headers.get("Content-Type") or "",
                               "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
                               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
                               "CONTENT_LENGTH": str(len(body)), "REMOTE_ADDR": "127.0.0.1"}
                done = subprocess.run([BACKEND], input=body, env=environment, capture_output=True)
                head, _, content = done.stdout.partition(b"\r\n\r\n")
                headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
                self.send_response(int(headers.pop("Status", "200").split()[0]))
                for key, value in headers.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"


class Functions(test_tapis.TapisCase):
    def git(self, *words, cwd=None):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *map(str, words)], check=True,
                       capture_output=True, cwd=cwd)

    def repository(self, name, **branches):
        """branches: of each the files, by name."""
        work = self.dir / "work" / name
        self.git("init", "-b", "main", work)
        for branch, files in branches.items():
            self.git("checkout", "-B", branch, cwd=work)
            for file, text in files.items():
                (work / file).write_text(text)
            self.git("add", ".", cwd=work)
            self.git("commit", "-m", branch, cwd=work)
        self.git("checkout", "main", cwd=work)
        self.git("clone", "--bare", work, self.dir / "served" / f"{name}.git")

    def test_packages_are_installed_for_the_task_alone(self):
        path = wheel(self.dir, "atoll_demo_package", "WORD = 'installed'\n")
        program = "import atoll_demo_package, sys\nprint(atoll_demo_package.WORD, sys.prefix != sys.base_prefix)"
        self.create(function("with", program, packages=[str(path)]),
                    function("without", "try:\n    import atoll_demo_package\n    print('there')\n"
                                        "except ImportError:\n    print('not there')\n", **test_tapis.after("with")))
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "completed", seen.logs)
        done = self.executions(run)
        self.assertEqual((done["with"].stdout, done["without"].stdout), ("installed True\n", "not there\n"))

    def test_a_package_that_cannot_be_installed_fails_the_task_and_is_named(self):
        missing = str(self.dir / "none-1.0-py3-none-any.whl")
        self.create(function("a", "print('never')", packages=[missing]))
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "failed")
        done = self.executions(run)["a"]
        self.assertEqual(done.stdout, "")
        self.assertIn(missing, done.stderr)
        self.assertIn("the packages of the task could not be installed", done.stderr)

    def test_repositories_are_cloned_and_an_entrypoint_of_one_is_run(self):
        self.repository("tool", main={"run.py": "import shared\nprint('main', shared.WORD)\n"},
                        next={"run.py": "print('next')\n"})
        self.repository("library", main={"shared.py": "WORD = 'shared'\n"})
        url = GitServer(self, self.dir / "served").url
        tool = {"url": f"{url}/tool.git", "directory": "tool"}
        library = {"url": f"{url}/library.git", "directory": "library"}
        plain = {"type": "function", "runtime": "python:3.9", "installer": "pip"}
        self.create({"id": "entry", **plain, "entrypoint": "tool/run.py", "git_repositories": [tool, library],
                     "command": "PYTHONPATH=$PYTHONPATH:library python3 $_OWE_ENTRYPOINT_FILE_PATH"},
                    {"id": "branch", **plain, "entrypoint": "tool/run.py",
                     "git_repositories": [{**tool, "branch": "next"}]},
                    {"id": "missing", **plain, "entrypoint": "x/run.py", "git_repositories": [
                        {"url": f"{url}/none.git", "directory": "x"}]},
                    test_tapis.shell("after", "true", **test_tapis.after("missing", can_fail=True)))
        run, seen = self.run_to_end()
        self.assertEqual(seen.status, "completed", seen.logs)
        done = self.executions(run)
        self.assertEqual((done["entry"].stdout, done["branch"].stdout), ("main shared\n", "next\n"))
        self.assertEqual(done["missing"].status, "failed")
        self.assertIn("none.git", done["missing"].stderr)

    def test_only_addresses_of_the_web_are_cloned(self):
        for url in ("file:///etc", "/etc", "ssh://a/b", "ext::sh -c id", "--upload-pack=id"):
            self.refused("url", tasks=[], call=lambda url=url: self.create(
                {"id": "a", "type": "function", "runtime": "python:3.9", "installer": "pip", "entrypoint": "x/y.py",
                 "git_repositories": [{"url": url, "directory": "x"}]}))


if __name__ == "__main__":
    unittest.main()
