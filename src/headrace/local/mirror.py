"""Where jars are fetched from: the mirror that was set, Maven's own settings, or the central repository."""

import base64
import os
import re
import urllib.parse
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

from headrace.errors import SetupError

VARIABLE = "HEADRACE_MAVEN_MIRROR"


@dataclass(frozen=True)
class Mirror:
    """A Maven repository: its root (with a final slash), and who named it."""

    root: str
    named_by: str
    authorization: str | None = None

    def __str__(self) -> str:
        return f"{self.root} ({self.named_by})"


def find() -> Mirror:
    """Return the repository to fetch from."""
    if chosen := os.environ.get(VARIABLE):
        if not _usable(chosen):
            raise SetupError(
                f"{VARIABLE} is not the address of a Maven repository: {_without_user(chosen)}",
                cure=f"set {VARIABLE} to an http(s) or file address, or unset it",
            )
        return _mirror(chosen, VARIABLE)
    settings = Path.home() / ".m2" / "settings.xml"
    if mirrored := _from_settings(settings):
        return _mirror(mirrored, str(settings))
    return _mirror(central(), "Maven's central repository")


def central() -> str:
    """Return the root of Maven's central repository.

    pyspark ships Ivy, with which ``spark.jars.packages`` resolves; the root is a constant in its default
    resolver. Taking it from there means that headrace fetches from where Spark itself would, and names no
    registry of its own.
    """
    spec = find_spec("pyspark")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for ivy in sorted(Path(folder, "jars").glob("ivy-*.jar")):
            with zipfile.ZipFile(ivy) as jar:
                resolver = jar.read("org/apache/ivy/plugins/resolver/IBiblioResolver.class")
            if found := re.search(rb"https://[\w.\-/]+/maven2/", resolver):
                return found[0].decode()
    raise SetupError(
        "The central Maven repository's address was not found: pyspark or its Ivy jar is missing.",
        cure=f"install pyspark 4.3.0 as headrace's dependencies ask, or set {VARIABLE}",
    )


def _from_settings(settings: Path) -> str | None:
    """Return the first usable mirror of central in Maven's settings, as Maven would choose it."""
    try:
        root = ET.parse(settings).getroot()  # noqa: S314 - the user's own file
    except (OSError, ET.ParseError):
        return None
    for mirror in root.iter():
        if _tag(mirror) != "mirror":
            continue
        fields = {_tag(child): (child.text or "").strip() for child in mirror}
        url = re.sub(r"\$\{env\.(\w+)\}", lambda m: os.environ.get(m[1], m[0]), fields.get("url", ""))
        mirrors_central = _covers_central(fields.get("mirrorOf", ""))
        if mirrors_central and fields.get("blocked") != "true" and _usable(url):
            return url
    return None


def _covers_central(mirror_of: str) -> bool:
    patterns = [part.strip() for part in mirror_of.split(",")]
    return "!central" not in patterns and any(p in {"central", "*", "external:*"} for p in patterns)


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _usable(url: str) -> bool:
    return "${" not in url and bool(re.match(r"https?://[^/]+|file:///", url))


def _without_user(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def _mirror(url: str, named_by: str) -> Mirror:
    # urllib does not understand user:password@ in an address, and messages must not show it.
    authorization = None
    parts = urllib.parse.urlsplit(url)
    if parts.username:
        user = urllib.parse.unquote(parts.username)
        password = urllib.parse.unquote(parts.password or "")
        authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    return Mirror(_without_user(url).rstrip("/") + "/", named_by, authorization)
