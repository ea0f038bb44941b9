"""Options of the Java clients, said to librdkafka; no value of theirs is ever told."""

import pytest

from headrace.errors import SettingsError
from headrace.watch.librdkafka import consumer, translate

JAAS = 'org.apache.kafka.common.security.{} required username="ann" password="s3\\"cret=;" ;'


@pytest.mark.parametrize("module", ["plain.PlainLoginModule", "scram.ScramLoginModule"])
def test_a_login(module):
    assert translate({"sasl.jaas.config": JAAS.format(module), "sasl.mechanism": "PLAIN"}) == {
        "sasl.username": "ann",
        "sasl.password": 's3"cret=;',
        "sasl.mechanism": "PLAIN",
    }


def test_a_login_by_token():
    made = translate(
        {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url": "https://example.org/token",
            "sasl.jaas.config": 'a.b.OAuthBearerLoginModule required clientId=ann scope="all";',
        }
    )
    assert made["sasl.oauthbearer.method"] == "oidc"
    assert (made["sasl.oauthbearer.client.id"], made["sasl.oauthbearer.scope"]) == ("ann", "all")


def test_stores_in_pem():
    options = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": "/client.pem",
        "ssl.key.password": "secret",
        "ssl.endpoint.identification.algorithm": "",
    }
    assert translate(options) == {
        "security.protocol": "SSL",
        "ssl.ca.location": "/ca.pem",
        "ssl.certificate.location": "/client.pem",
        "ssl.key.location": "/client.pem",
        "ssl.key.password": "secret",
        "ssl.endpoint.identification.algorithm": "none",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ssl.truststore.location": "/trust.jks"}, "a JKS store"),
        (
            {"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required s3cret=1;"},
            "Krb5LoginModule",
        ),
        ({"sasl.jaas.config": "s3cret"}, "no login module"),
        ({"sasl.login.class": "s3cret"}, "'sasl.login.class' has no counterpart"),
        ({"security.protocol": "s3cret"}, "'security.protocol' has a value"),
        ({"fetch.min.bytes": "s3cret"}, "'fetch.min.bytes' has a value"),
        ({"security.protocol": "SSL", "ssl.ca.location": "/s3cret"}, "'ssl.ca.location' has a value"),
    ],
)
def test_what_cannot_be_said_is_an_error_without_the_value(options, message, capfd):
    with pytest.raises(SettingsError, match=message) as refused:
        consumer({"bootstrap.servers": "127.0.0.1:1", **options}, [])
    assert "s3cret" not in str(refused.value)
    assert refused.value.cure
    assert capfd.readouterr() == ("", "")


def test_what_decides_nothing_is_left_out_and_named():
    options = {
        "metrics.num.samples": "5",
        "key.deserializer": "x",
        "ssl.protocol": "TLSv1.3",
        "fetch.max.wait.ms": "9",
    }
    made, left_out = consumer({"bootstrap.servers": "127.0.0.1:1", **options}, [])
    made.close()
    assert sorted(left_out) == ["key.deserializer", "metrics.num.samples", "ssl.protocol"]


def test_group_and_commits_are_ours():
    assert translate({"group.id": "theirs", "enable.auto.commit": "true", "isolation.level": "x"}) == {}
