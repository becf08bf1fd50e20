"""Runs in the environment of requirements.txt: validate.py CACHE CRATE..., answers JSON on standard output.

The validator brings its profiles along, but not the JSON-LD context that every crate names by its address. The package
rocrate does, so the validator's cache is filled from there and no request leaves this machine.
"""

import io
import json
import sys
from importlib import resources

from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from rocrate_validator import models, services
from urllib3 import HTTPResponse

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "provenance-run-crate-0.5"


class FromPackage(HTTPAdapter):
    def send(self, request, **_):
        body = resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()
        if json.loads(body)["@id"] != CONTEXT:
            raise AssertionError(f"the package rocrate has another context than {CONTEXT}")
        raw = HTTPResponse(io.BytesIO(body), {"Content-Type": "application/ld+json"}, 200, preload_content=False,
                           request_url=request.url)
        return self.build_response(request, raw)


def fill(cache):
    session = CachedSession(cache_name=cache, backend="sqlite", expire_after=-1, allowable_methods=("GET",),
                            allowable_codes=(200, 302, 404))
    session.mount("https://w3id.org/", FromPackage())
    session.get(CONTEXT, headers={"Accept": "application/ld+json, application/json"})
    session.close()


def validate(cache, crate, severity):
    settings = services.ValidationSettings(rocrate_uri=crate, profile_identifier=PROFILE, offline=True, cache_path=cache,
                                           requirement_severity=severity)
    return [f"{issue.severity.name} {issue.check.identifier}: {issue.message} ({issue.violatingEntity})"
            for issue in services.validate(settings).get_issues()]


def main():
    cache, crates = sys.argv[1], sys.argv[2:]
    fill(cache)
    print(json.dumps({crate: validate(cache, crate, models.Severity.RECOMMENDED) for crate in crates}))


if __name__ == "__main__":
    main()
