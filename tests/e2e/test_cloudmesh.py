"""Workflows of the Cloudmesh compute coordinator: its files, its routes and its command line."""

import gzip
import io
import json
import socket
import tarfile
import tempfile
import threading
import time
import unittest
from pathlib import Path

from atoll import SOCKET, Atoll, wait_for

PARALLEL = """
workflow:
  nodes:
    one: {exec: 'touch one; i=0; while [ ! -e two ]; do sleep 0.05; i=$((i+1)); [ $i -lt 400 ]; done'}
    two: {exec: 'touch two; i=0; while [ ! -e one ]; do sleep 0.05; i=$((i+1)); [ $i -lt 400 ]; done'}
  dependencies:
    - start,one,end
    - start,two,end
"""


def form(**files):
    """A multipart/form-data body: name=(file name or None, bytes)."""
    body = b""
    for name, (file_name, content) in files.items():
        head = f'Content-Disposition: form-data; name="{name}"' + (f'; filename="{file_name}"' if file_name else "")
        body += b"--frontier\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n"
    return body + b"--frontier--\r\n", {"Content-Type": "multipart/form-data; boundary=frontier"}


def tar(entries, mode="w:gz"):
    """entries: (name, bytes or None for a folder) or a TarInfo as it is."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
                continue
            info = tarfile.TarInfo(entry[0])
            info.size = len(entry[1])
            info.mode = 0o755
            archive.addfile(info, io.BytesIO(entry[1]))
    return out.getvalue()


class CloudmeshCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.atoll = Atoll()
        cls.addClassCleanup(cls.atoll.destroy)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="atoll-cc-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def run_file(self, text, name="flood.yaml", check=True):
        return self.atoll.cli("run", self.write(name, text), check=check)

    def api(self, method, path, body=None, headers=None):
        return self.atoll.api(method, "/cloudmesh" + path, body, headers)

    def keep(self, name, text, directory=None):
        where = f"&run_directory={directory}" if directory else ""
        answer = self.api("POST", f"/workflow?workflow_name={name}{where}", text, {"Content-Type": "application/yaml"})
        self.assertEqual(answer.status, 200, answer.text)

    def status(self, name):
        return self.api("GET", f"/workflow/{name}?output=status").json

    def finish(self, name):
        return wait_for(lambda: (found := self.status(name))["workflow"] in ("done", "failed") and found, f"{name} to end")

    def start(self, name):
        answer = self.api("GET", f"/workflow/run/{name}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json["id"]


class Files(CloudmeshCase):
    def test_the_written_form_runs_with_scripts_of_all_kinds(self):
        self.write("fetch.sh", "echo fetch >> order; echo $CLOUDMESH_WORKFLOW $CLOUDMESH_JOB > named\n")
        self.write("train.py", "open('order', 'a').write('train\\n')\n")
        done = self.run_file("""
workflow:
  nodes:
    fetch: {name: fetch, kind: local, script: fetch.sh}
    train: {kind: wsl, script: train.py}
    say: {exec: "echo say >> order"}
  dependencies:
    - start,fetch,train,say,part[1-3],end
""")
        self.assertIn("succeeded: 8 of 8 steps succeeded", done.stderr)
        self.assertEqual((self.folder / "order").read_text(), "fetch\ntrain\nsay\n")
        self.assertEqual((self.folder / "named").read_text(), "flood fetch\n")

    def test_the_saved_form_runs_from_the_beginning(self):
        done = self.run_file("""
workflow:
  nodes:
    a: {name: a, status: done, progress: 100, number: 0, parent: [], exec: "echo a >> order", script: a.sh}
    b: {name: b, status: failed, progress: 3, number: 1, parent: [a], exec: "echo b >> order", script: b.sh}
  dependencies:
    a-b: {source: a, destination: b, name: a-b}
colors: {status: {ready: white}}
""")
        self.assertIn("2 of 2 steps succeeded", done.stderr)
        self.assertEqual((self.folder / "order").read_text(), "a\nb\n")

    def test_branches_run_side_by_side(self):
        self.run_file(PARALLEL)

    def test_a_failed_node_ends_the_workflow(self):
        done = self.run_file("""
workflow:
  nodes:
    bad: {exec: exit 3}
    after: {exec: touch after}
  dependencies: ['bad,after']
""", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.folder / "after").exists())

    def test_a_missing_script_is_named(self):
        done = self.run_file("workflow: {nodes: {a: {script: none.sh}}}", check=False)
        self.assertEqual(done.returncode, 1)
        job = done.stderr.partition("atoll logs ")[2].split()[0]
        said = self.atoll.cli("logs", job, "--stderr", check=False)
        self.assertIn("none.sh does not exist", said.stdout + said.stderr)

    def test_a_notebook_needs_what_executes_it(self):
        self.write("n.ipynb", "{}")
        done = self.run_file("workflow: {nodes: {a: {script: n.ipynb}}}", check=False)
        job = done.stderr.partition("atoll logs ")[2].split()[0]
        said = self.atoll.cli("logs", job, "--stderr", check=False)
        if "papermill" in said.stdout + said.stderr and "installed" in said.stdout + said.stderr:
            self.assertIn("pip install papermill", said.stdout + said.stderr)
        self.assertEqual(done.returncode, 1, "an empty file is no notebook")

    def test_mistakes_are_told_with_their_place_before_anything_starts(self):
        for text, what in (
                ("workflow:\n  dependencies: ['a,b', 'b,a']\n", "flood.yaml:2:"),
                ("workflow:\n  nodes:\n    a: {}\n    a: {}\n", "flood.yaml:4:5"),
                ("workflow:\n  nodes:\n    'a;rm -rf': {}\n", "flood.yaml:3:5"),
                ("workflow:\n  nodes:\n    a: {kind: ssh, host: hpc}\n", "or write kind: local"),
                ("workflow:\n  nodes:\n    a: {kind: slurm}\n", "write host: NAME"),
                ("workflow: {nodes: {a: &a [*a]}}", "flood.yaml:1:")):
            done = self.run_file(text, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(what, done.stderr)

    def test_what_has_no_effect_is_told(self):
        done = self.run_file("workflow: {nodes: {a: {exec: 'true', kind: odd}}}\nmore: 1\n")
        self.assertIn("flood.yaml:2:1", done.stderr)

    def test_names_and_values_do_not_reach_the_shell(self):
        self.write("it's $(touch bad) `x`.sh", "touch good\n")
        self.run_file("workflow: {nodes: {a: {script: \"it's $(touch bad) `x`.sh\"}}}")
        self.assertTrue((self.folder / "good").exists())
        self.assertFalse((self.folder / "bad").exists())


class Routes(CloudmeshCase):
    def test_status_follows_the_run_in_the_words_of_cc(self):
        self.keep("words", """
workflow:
  nodes:
    a: {exec: 'echo "# cloudmesh status=running progress=40 pid=$$"; while [ ! -e go ]; do sleep 0.05; done', label: '{name} {progress}'}
    b: {exec: exit 1}
    c: {exec: 'true'}
  dependencies: ['a,b,c']
""", self.folder)
        self.assertEqual(self.status("words")["workflow"], "ready")
        self.start("words")
        wait_for(lambda: self.status("words")["jobs"]["a"] == {"status": "running", "progress": 40}, "the bar at 40")
        job = self.api("GET", "/workflow/words/job/a").json
        self.assertEqual((job["label"], job["name"], job["kind"]), ("a 40", "a", "local"))
        self.assertEqual(self.status("words")["workflow"], "running")
        self.write("go", "")
        self.assertEqual(self.finish("words"), {"workflow": "failed", "jobs": {
            "a": {"status": "done", "progress": 100}, "b": {"status": "failed", "progress": 0},
            "c": {"status": "failed", "progress": 0}}})
        self.assertIn("done", self.api("GET", "/workflow/words?output=table").text)
        self.assertTrue(self.api("GET", "/workflow/words?output=csv").text.startswith("number,host,status,name,"))
        self.assertIn("<td>failed</td>", self.api("GET", "/workflow/words?output=html").text)
        self.assertEqual(set(self.api("GET", "/workflow/words?output=json").json), {"nodes", "dependencies"})
        self.assertIn("words", self.api("GET", "/workflows").json["workflows"])

    def test_what_is_kept_outlives_the_server(self):
        self.keep("lasting", "workflow: {nodes: {a: {exec: 'true'}}}")
        self.atoll.kill_server()
        self.atoll.up()
        self.assertIn("lasting", self.api("GET", "/workflows").json["workflows"])
        self.start("lasting")
        self.assertEqual(self.finish("lasting")["workflow"], "done")

    def test_a_form_with_a_file(self):
        body, headers = form(yaml=("formed.yaml", b"workflow: {nodes: {a: {exec: 'true'}}}"))
        self.assertEqual(self.api("POST", "/workflow/upload", body, headers).json["message"],
                         "Successfully uploaded formed.yaml")
        body, headers = form(yaml=("a.yaml", b"x"), archive=("a.tgz", b"x"))
        self.assertEqual(self.api("POST", "/workflow", body, headers).json,
                         {"message": "Only one upload option can be chosen."})

    def test_an_archive_brings_its_scripts(self):
        files = [("flood/flood.yaml", b"workflow: {nodes: {a: {script: a.sh}}}"), ("flood/a.sh", b"cat data\n"),
                 ("flood/data", b"from the archive\n")]
        for number, mode in enumerate(("w:gz", "w:xz", "w")):
            name = f"packed{number}"
            body, headers = form(archive=("flood.tgz", tar(files, mode)), workflow_name=(None, name.encode()))
            answer = self.api("POST", "/workflow", body, headers)
            self.assertEqual(answer.status, 200, answer.text)
            self.start(name)
            self.assertEqual(self.finish(name)["workflow"], "done")
            self.assertEqual(self.api("DELETE", f"/workflow/{name}").status, 200)
        self.assertEqual(list((self.atoll.home / "cloudmesh/trees").iterdir()), [])

    def test_hostile_archives_leave_nothing(self):
        def special(name, kind, target=""):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            return info
        good = ("flood.yaml", b"workflow: {nodes: {a: {exec: 'true'}}}")
        for what, packed in {
                "absolute": tar([good, ("/tmp/atoll-cc-bad", b"x")]),
                "upwards": tar([good, ("a/../../bad", b"x")]),
                "symlink": tar([good, special("x", tarfile.SYMTYPE, "/etc/passwd")]),
                "hardlink": tar([good, special("x", tarfile.LNKTYPE, "flood.yaml")]),
                "device": tar([good, special("x", tarfile.CHRTYPE)]),
                "twice": tar([good, good]),
                "bomb": tar([good, ("zeros", bytes(300 << 20))]),
                "nested": gzip.compress(tar([good])),
                "many": tar([good] + [(f"f{i}", b"") for i in range(10_001)]),
                "no yaml": tar([("x", b"")]),
                "damaged": tar([good])[:40],
                "none": b"what",
        }.items():
            body, headers = form(archive=("flood.tgz", packed))
            answer = self.api("POST", "/workflow", body, headers)
            self.assertEqual(answer.status, 400, f"{what}: {answer.text}")
        self.assertEqual(list((self.atoll.home / "cloudmesh/trees").iterdir()), [])
        self.assertNotIn("flood", self.api("GET", "/workflows").json["workflows"])

    def test_without_a_token_nothing_is_shown(self):
        self.assertEqual(self.atoll.tcp("GET", "/cloudmesh/workflows").status, 401)

    def test_portal_pages_follow_a_run(self):
        self.keep("seen", "workflow: {nodes: {a: {exec: 'true'}, b: {exec: 'true'}}}")

        def page(path):
            answer = self.api("GET", path)
            self.assertEqual(answer.status, 200, answer.text)
            self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
            self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
            return answer.text

        self.assertIn('href="/cloudmesh/watcher/seen"', page("/home"))
        self.assertIn('data-count="/cloudmesh/ready-count/seen">2<', page("/watcher/seen"))
        self.start("seen")
        self.finish("seen")
        self.assertIn('data-count="/cloudmesh/done-count/seen">2<', page("/watcher/seen"))
        self.assertIn("<td>done</td>", page("/serve-datatable/seen"))
        self.assertIn("<svg", page("/workflow-graph/seen"))
        edited = page("/edit/seen")
        self.assertIn("exec", edited)
        body, headers = form(workflow_name=(None, b"made"), yaml=(None, b"workflow: {nodes: {c: {exec: 'true'}}}"))
        self.assertEqual(self.api("POST", "/workflow", body, headers).status, 200)
        self.assertIn("made", page("/home"))
        for path in ("/about", "/contact", "/manpage", "/add", "/preferences", "/generate-example", "/delete/seen",
                     "/reset/seen", "/workflow-running/seen", ""):
            page(path)
        self.assertEqual(self.atoll.tcp("GET", "/cloudmesh/home").status, 401)

    def test_counters_count(self):
        self.keep("counted", "workflow: {nodes: {a: {exec: 'true'}, b: {exec: exit 1}}}")
        seen = {}

        def listen(word):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(30)
                client.connect(str(self.atoll.home / SOCKET))
                client.sendall(f"GET /cloudmesh/{word}-count/counted HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                text = b""
                while b"data: 1\n" not in text and (piece := client.recv(4096)):
                    text += piece
                seen[word] = text
        threads = [threading.Thread(target=listen, args=(word,)) for word in ("done", "failed")]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        self.start("counted")
        for thread in threads:
            thread.join()
        for word, text in seen.items():
            self.assertIn(b"text/event-stream", text)
            self.assertIn(b"data: 0\n", text, word)
            self.assertIn(b"data: 1\n", text, word)


class Commands(CloudmeshCase):
    def cc(self, *args, **options):
        return self.atoll.cli("cc", "workflow", *args, cwd=self.folder, **options)

    def test_a_workflow_grows_job_by_job_and_runs(self):
        self.write("a.sh", "echo a >> order\n")
        self.cc("add", "--name=grown", "--job=a", "script=a.sh", "kind=local")
        self.cc("add", "--name=grown", "--job=b[1-2]", "exec=echo b >> order", "parent=a")
        self.cc("--name=grown", "--dependencies=b[1-2],end")
        self.assertIn("b1", self.cc("list", "--name=grown").stdout)
        self.assertIn("grown\n", self.cc("list").stdout)
        self.assertEqual(json.loads(self.cc("list", "--name=grown", "--job=b2").stdout)["parent"], ["a", "b1"])
        done = self.cc("run", "--name=grown")
        self.assertIn("4 of 4 steps succeeded", done.stderr)
        self.assertEqual((self.folder / "order").read_text(), "a\nb\nb\n")
        status = json.loads(self.cc("status", "--name=grown", "--output=json").stdout)
        self.assertEqual(status["workflow"], "done")
        self.cc("run", "--name=grown", "--job=a")
        self.assertEqual((self.folder / "order").read_text(), "a\nb\nb\na\n")
        self.cc("delete", "--name=grown", "--job=b[1-2]")
        self.assertNotIn("b1", self.cc("list", "--name=grown").stdout)
        self.cc("delete", "--name=grown")
        gone = self.cc("status", "--name=grown", check=False)
        self.assertIn("Workflow 'grown' not found", gone.stderr)
        self.assertNotEqual(gone.returncode, 0)

    def test_files_under_several_names(self):
        self.write("f.yaml", "workflow: {nodes: {a: {exec: 'true'}}}")
        self.cc("add", "--name=many[1-2]", "--filename=f.yaml")
        done = self.cc("run", "--name=many[1-2]")
        self.assertEqual(done.stderr.count("1 of 1 steps succeeded"), 2)
        self.cc("service", "add", "--name=served", "f.yaml")
        self.assertIn("served", self.cc("service", "list").stdout)
        self.cc("service", "run", "--name=served")
        self.cc("run", "--filename=f.yaml")
        self.assertIn("f", json.loads(self.cc("list", "-o", "json").stdout)["workflows"])

    def test_the_other_words_say_what_to_do(self):
        self.assertIn(f"{self.atoll.url}/cloudmesh", self.atoll.cli("cc", "start", "-c", "--port=8000").stdout)
        self.assertIn("atoll down", self.atoll.cli("cc", "stop", check=False).stderr)
        self.assertIn(self.atoll.url, self.atoll.cli("cc", "status").stdout)
        self.assertIn("/docs", self.atoll.cli("cc", "doc").stdout)
        self.assertIn("--dependencies", self.cc(check=False).stderr)
        self.assertIn("script=a.sh", self.cc("add", check=False).stderr)


if __name__ == "__main__":
    unittest.main()
