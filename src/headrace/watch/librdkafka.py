"""The options of the Java Kafka clients, as librdkafka has them: for what reads Kafka without a JVM."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException

from headrace.errors import SettingsError, SetupError

_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
# They say how the connection is made: leaving one out could end in another place or in the clear.
_NEEDED = re.compile(
    r"(security|sasl|ssl)\.(?!protocol$|enabled\.protocols|provider|secure\.random|trustmanager|keymanager"
    r"|engine|login\.(refresh|retry|connect|read)|kerberos\.ticket)"
)
# What they say is taken from other options, or needs no saying.
_SAID_OTHERWISE = {
    "ssl.truststore.type",
    "ssl.keystore.type",
    "ssl.truststore.password",
    "sasl.login.callback.handler.class",
}
_JAAS = re.compile(
    r"\s*(?P<module>[\w.$]+)\s+(?:required|requisite|sufficient|optional)(?P<entries>.*);\s*", re.DOTALL
)
_ENTRY = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))')
_LOGIN = {
    "PlainLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "ScramLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "OAuthBearerLoginModule": {
        "clientId": "sasl.oauthbearer.client.id",
        "clientSecret": "sasl.oauthbearer.client.secret",
        "scope": "sasl.oauthbearer.scope",
    },
}
_PROPERTY = re.compile(r'property:? "([\w.]+)"')
# Neither is it about a group, nor may it commit.
_FIXED = {
    "group.id": "headrace-lateness",
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    # Rows that Kafka has deleted in the meantime are not measured, those after them are.
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    "enable.partition.eof": "true",
    "log_level": "0",
}
_OURS = re.compile(r"group\.|enable\.auto\.|auto\.offset\.reset|isolation\.level")


def translate(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a Java client as those of librdkafka.

    What decides how and where the client connects and has no counterpart is an error; no value is ever told.
    """
    made: dict[str, str] = {}
    for name, value in options.items():
        if name == "sasl.jaas.config":
            made |= _login(value)
        elif name == "ssl.truststore.location":
            _only("ssl.truststore.type", options, "PEM")
            made["ssl.ca.location"] = value
        elif name == "ssl.keystore.location":
            kind = _only("ssl.keystore.type", options, "PEM", "PKCS12")
            pem = {"ssl.certificate.location": value, "ssl.key.location": value}
            made |= pem if kind == "PEM" else {"ssl.keystore.location": value}
        elif name == "ssl.endpoint.identification.algorithm":
            # Java switches the check of names off with an empty text.
            made[name] = value or "none"
        elif name not in _SAID_OTHERWISE and not _OURS.match(name):
            made[_RENAMED.get(name, name)] = value
    if made.get("sasl.mechanism") == "OAUTHBEARER" and "sasl.oauthbearer.token.endpoint.url" in made:
        made["sasl.oauthbearer.method"] = "oidc"
    return made


def consumer(options: Mapping[str, str], errors: list[str]) -> tuple[Consumer, tuple[str, ...]]:
    """Return a consumer that reads what is committed and commits nothing; what goes wrong gets into `errors`.

    With it come the names of the options that librdkafka does not know and that were left out.
    """
    left_out: list[str] = []
    kept = translate(options)
    while True:
        config: dict[str, Any] = {**kept, **_FIXED, "error_cb": lambda error: errors.append(error.str())}
        try:
            return Consumer(config), tuple(left_out)
        except KafkaException as problem:
            unknown = _unknown(problem.args[0], kept)
            if _NEEDED.match(unknown):
                raise SettingsError(
                    f"the Kafka option {unknown!r} has no counterpart in librdkafka, by which this reads",
                    cure="say it with an option that has: docs/how-to/choose-a-watermark.md names them",
                ) from None
            del kept[unknown]
            left_out.append(unknown)


def _unknown(error: KafkaError, kept: Mapping[str, str]) -> str:
    """Return the option that librdkafka does not know; everything else it refuses is an error."""
    # Its words are not shown: they quote values, which may be secrets.
    found = _PROPERTY.search(error.str())
    name = found[1] if found else None
    if name in kept and error.str().startswith("No such configuration property"):
        return str(name)
    if name is None:
        name = next((each for each in kept if each in error.str()), None)
    what = f"the Kafka option {name!r} has a value that" if name else "the Kafka options hold something that"
    raise SettingsError(
        f"{what} librdkafka, by which this reads, cannot use",
        cure="look at [kafka.options] in headrace.toml ($HEADRACE_KAFKA_OPTIONS), and at the files they name",
    ) from None


def _only(name: str, options: Mapping[str, str], *known: str) -> str:
    """Return the type of a store, if librdkafka can read it."""
    kind = options.get(name, "JKS").upper()
    if kind not in known:
        raise SettingsError(
            f"a {kind} store ({name}) cannot be read without Java, and this command has none",
            cure=f'export it as PEM, name that file and say "{name}" = "PEM"',
        )
    return kind


def _login(jaas: str) -> dict[str, str]:
    """Return what a line of JAAS says."""
    found = _JAAS.fullmatch(jaas)
    module = found["module"].rpartition(".")[2] if found else ""
    if found is None or module not in _LOGIN:
        # What does not look like a class may be a secret.
        named = module if module.endswith("LoginModule") else "no login module"
        raise SettingsError(
            f"sasl.jaas.config names {named} that librdkafka, by which this reads, has a counterpart for",
            cure=f"this command knows {', '.join(_LOGIN)}; or give it sasl.username and sasl.password",
        )
    entries = {
        name: re.sub(r"\\(.)", r"\1", quoted) or plain
        for name, quoted, plain in _ENTRY.findall(found["entries"])
    }
    names = _LOGIN[module]
    return {names[entry]: value for entry, value in entries.items() if entry in names}


def unreachable(consumer: Consumer, bootstrap: str, problem: KafkaException, errors: list[str]) -> SetupError:
    """Return the error of a broker that does not answer, or not what was asked for."""
    # What went wrong with the connection is told to the consumer when it polls.
    consumer.poll(0)
    # Its own errors have numbers from 1 on, those of the client are negative.
    answers = problem.args[0].code() > 0
    why = errors[-1] if errors and not answers else problem.args[0].str()
    return SetupError(
        f"Kafka at {bootstrap} {'refuses this' if answers else 'does not answer'}: {why}",
        cure="check the address (--kafka, kafka.bootstrap) and the options of the connection, or headrace up",
    )
