import base64

import pytest

from headrace.errors import SetupError
from headrace.local import mirror

SETTINGS = """<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors>{}</mirrors></settings>"""
MIRROR = "<mirror><id>m</id><mirrorOf>{of}</mirrorOf><url>{url}</url>{more}</mirror>"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HEADRACE_MAVEN_MIRROR", raising=False)
    (tmp_path / ".m2").mkdir()
    return tmp_path


def settings(home, *mirrors):
    text = "".join(MIRROR.format(of=of, url=url, more=more) for of, url, more in mirrors)
    (home / ".m2" / "settings.xml").write_text(SETTINGS.format(text))


def test_without_settings_it_is_what_spark_itself_resolves_from(home):
    found = mirror.find()
    assert found.root == mirror.central()
    assert found.root.startswith("https://")
    assert found.root.endswith("/maven2/")


def test_the_variable_comes_first(home, monkeypatch):
    settings(home, ("central", "https://settings.example/m2", ""))
    monkeypatch.setenv("HEADRACE_MAVEN_MIRROR", "https://variable.example/m2")
    assert mirror.find().root == "https://variable.example/m2/"


def test_a_password_is_sent_and_never_shown(home, monkeypatch):
    monkeypatch.setenv("HEADRACE_MAVEN_MIRROR", "https://me:p%40ss@variable.example/m2/")
    found = mirror.find()
    assert found.root == "https://variable.example/m2/"
    assert found.authorization == "Basic " + base64.b64encode(b"me:p@ss").decode()
    assert "ss" not in str(found).replace("https", "")


def test_a_variable_that_is_no_address_is_an_error(home, monkeypatch):
    monkeypatch.setenv("HEADRACE_MAVEN_MIRROR", "variable.example")
    with pytest.raises(SetupError, match="HEADRACE_MAVEN_MIRROR is not the address"):
        mirror.find()


@pytest.mark.parametrize("of", ["central", "*", "external:*", "snapshots, central", "*,!inhouse"])
def test_mavens_mirror_of_central_is_used(home, of):
    settings(home, (of, "https://settings.example/m2", ""))
    assert mirror.find().root == "https://settings.example/m2/"


@pytest.mark.parametrize("of", ["inhouse", "*,!central", "external:http:*"])
def test_a_mirror_of_something_else_is_not(home, of):
    settings(home, (of, "https://settings.example/m2", ""))
    assert mirror.find().root == mirror.central()


def test_the_first_usable_mirror_is_taken(home, monkeypatch):
    monkeypatch.setenv("MIRROR_HOST", "third.example")
    settings(
        home,
        ("central", "https://first.example/", "<blocked>true</blocked>"),
        ("central", "https://${env.NOBODY_SET_THIS}/", ""),
        ("central", "https://${env.MIRROR_HOST}/m2", ""),
    )
    assert mirror.find().root == "https://third.example/m2/"


def test_settings_that_are_no_xml_are_passed_over(home):
    (home / ".m2" / "settings.xml").write_text("<settings>")
    assert mirror.find().root == mirror.central()
