"""What the jars say about their contents: the SBOM, the licenses and the POM."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import spark_kinesis
from spark_kinesis import jar_path

ROOT = Path(__file__).resolve().parents[2]
MAVEN = "{http://maven.apache.org/POM/4.0.0}"
# Of a release, the jar for Spark 3.5, too.
SCALAS = pytest.mark.parametrize("scala", ["2.13", pytest.param("2.12", marks=pytest.mark.slow)])


@cache
def files(scala: str) -> dict[str, bytes]:
    """The files in a jar of the connector."""
    of_release = ROOT / "target" / f"spark-kinesis_{scala}-{spark_kinesis.__version__}.jar"
    with zipfile.ZipFile(jar_path("2.13") if scala == "2.13" else of_release) as jar:
        return {name: jar.read(name) for name in jar.namelist() if not name.endswith("/")}


def sbom(scala: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(files(scala)[f"META-INF/sbom/spark-kinesis_{scala}.cdx.json"])
    return read


def components(scala: str) -> list[dict[str, Any]]:
    """The connector itself, and what it contains."""
    bom = sbom(scala)
    return [bom["metadata"]["component"], *bom["components"]]


def places(component: dict[str, Any]) -> list[str]:
    return [it["location"] for it in component["evidence"]["occurrences"]]


@SCALAS
def test_each_class_is_of_exactly_one_component(scala: str) -> None:
    owners = Counter(place for it in components(scala) for place in places(it))
    wrong, found = [], set()
    for name in files(scala):
        if name.endswith(".class"):
            folder = f"{name.rpartition('/')[0]}/*"
            found |= {name, folder} & owners.keys()
            if owners[name] + owners[folder] != 1:
                wrong.append(name)
    assert wrong == []
    others = owners.keys() - found
    assert others == {"org/publicsuffix/list/effective_tld_names.dat"}
    assert others <= files(scala).keys()


@SCALAS
def test_each_component_has_a_version_a_license_and_the_checksum_of_its_jar(scala: str) -> None:
    locked = (ROOT / "project" / "bundled.sha256").read_text(encoding="utf-8").splitlines()
    known = {name: checksum for checksum, name in (line.split("  ") for line in locked)}
    libraries = [it for it in sbom(scala)["components"] if it["type"] == "library"]
    assert len(libraries) > 40
    for it in libraries:
        name = f"{it['group']}:{it['name']}:{it['version']}"
        assert it["hashes"] == [{"alg": "SHA-256", "content": known[name]}]
        assert it["purl"] == f"pkg:maven/{it['group']}/{it['name']}@{it['version']}"


@SCALAS
def test_the_licenses_are_those_that_the_python_package_names(scala: str) -> None:
    licenses = {
        it["name"]: {one["license"]["id"] for one in it["licenses"]} for it in components(scala)
    }
    numbers = {"Apache-2.0", "BSD-2-Clause", "BSL-1.0", "MIT"}
    assert licenses["jackson-core"] == licenses["third-party-jackson-core"] == numbers
    assert licenses["netty-codec-http2"] == {"Apache-2.0", "MIT"}
    project = (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8")
    (named,) = re.findall(r'^license = "(.*?)"', project, re.MULTILINE)
    assert set().union(*licenses.values()) == set(named.split(" AND "))


@SCALAS
def test_the_jar_has_its_license_and_those_of_its_libraries(scala: str) -> None:
    inside = files(scala)
    assert inside["META-INF/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert inside["META-INF/NOTICE"] == (ROOT / "python" / "NOTICE").read_bytes()
    texts = {
        "httpclient5/NOTICE": "Apache HttpClient",
        "jackson-core/NOTICE": "Jackson JSON processor",
        "kinesis/NOTICE.txt": "AWS SDK for Java",
        "netty/NOTICE.txt": "The Netty Project",
        "netty/MIT.txt": "Tatsuhiro Tsujikawa",
        "public-suffix-list/MPL-2.0.txt": "Mozilla Public License Version 2.0",
        "reactive-streams/MIT-0.txt": "MIT No Attribution",
        "third-party-jackson-core/FastDoubleParser-LICENSE": "Werner Randelshofer",
    }
    for name, text in texts.items():
        assert text in inside[f"META-INF/licenses/{name}"].decode(), name


@SCALAS
def test_the_pom_has_no_dependencies(scala: str) -> None:
    (name,) = (it for it in files(scala) if it.endswith("/pom.xml"))
    pom = ET.fromstring(files(scala)[name])
    assert pom.findtext(f"{MAVEN}artifactId") == f"spark-kinesis_{scala}"
    assert pom.findtext(f"{MAVEN}version") == spark_kinesis.__version__
    assert pom.findtext(f"{MAVEN}licenses/{MAVEN}license/{MAVEN}name") == "Apache-2.0"
    assert pom.findtext(f"{MAVEN}properties/{MAVEN}info.versionScheme") == "early-semver"
    assert pom.find(f"{MAVEN}dependencies") is None
