"""Kafka as one node on this machine: a KRaft broker in a JVM of its own."""

import base64
import os
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from headrace.errors import SetupError
from headrace.local import artefacts, java
from headrace.local.ports import LOOPBACK, answers
from headrace.local.process import Process, until
from headrace.local.services import Service


class Kafka(Service):
    """One broker that is its own controller, reachable from this machine only."""

    name: ClassVar[str] = "kafka"
    ports: ClassVar[dict[str, int]] = {"broker": 9092, "controller": 9093}

    def jars(self) -> tuple[str, ...]:
        return ("kafka",)

    def prepare(self, ports: dict[str, int]) -> None:
        """Write the configuration; at the first start also format the log folder."""
        data = self.folder / "data"
        clients, controller = (f"{LOOPBACK}:{ports[name]}" for name in ("broker", "controller"))
        settings = _SETTINGS | {
            "listeners": f"CLIENTS://{clients},CONTROLLER://{controller}",
            "advertised.listeners": f"CLIENTS://{clients}",
            "controller.quorum.voters": f"1@{controller}",
            # A properties file takes \ for an escape.
            "log.dirs": str(data).replace("\\", "\\\\"),
        }
        self._write("server.properties", settings)
        (self.folder / "log4j2.xml").write_text(_LOGGING, "utf-8")
        if not (data / "meta.properties").is_file():
            self._format(data)
        elif (data / _METADATA).is_dir() and not (data / _ENDED_WELL).exists():
            self._fence_former_self(settings, controller)

    def command(self) -> list[str]:
        return self._java("kafka.Kafka", "server.properties", heap="512m")

    def variables(self) -> dict[str, str]:
        # What a JVM needs of the user's; options for other Kafkas (KAFKA_OPTS) or JVMs are not for this one.
        needed = ("HOME", "PATH", "TZ", "LD_LIBRARY_PATH")
        return super().variables() | {name: os.environ[name] for name in needed if name in os.environ}

    def is_ready(self, ports: dict[str, int]) -> bool:
        """Ask for the cluster's metadata: a broker is listed in it once it accepts clients."""
        if not answers(ports["broker"]):
            return False
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        # Refused connections are what we expect while it starts: the client's own log would only alarm.
        client = AdminClient({"bootstrap.servers": f"{LOOPBACK}:{ports['broker']}", "log_level": 0})
        try:
            return bool(client.list_topics(timeout=2).brokers)
        except KafkaException:
            return False

    def _write(self, name: str, settings: Mapping[str, str]) -> None:
        lines = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.folder / name).write_text(lines, "utf-8")

    def _fence_former_self(self, settings: Mapping[str, str], controller: str) -> None:
        """Let a controller alone declare the killed broker dead, before a broker starts on its data.

        Kafka 4.3 loses commits otherwise: the new broker takes up the transactions that were being committed,
        then the controller notices that its former self is dead and takes its partitions away for a moment,
        and the markers of the commits are given up ("partitions are likely deleted"). Their rows would stay
        invisible to read_committed for ever.
        """
        alone = {name: value for name, value in settings.items() if name != "advertised.listeners"} | {
            "process.roles": "controller",
            "listeners": f"CONTROLLER://{controller}",
            "broker.session.timeout.ms": "500",
            "broker.heartbeat.interval.ms": "100",
        }
        # Brokers talk to each other on a listener that a controller alone does not have.
        del alone["inter.broker.listener.name"]
        self._write("controller.properties", alone)
        log = self.folder / "controller.log"
        log.write_bytes(b"")
        command = self._java("-Dheadrace.fencing=info", "kafka.Kafka", "controller.properties", heap="256m")
        process = Process.start(command, log=log, folder=self.folder, variables=self.variables())
        try:
            active = until(lambda: self._told(log, _ACTIVE) or not process.is_running(), within=60)
            # Nothing is said when it had been declared dead before it was killed.
            until(lambda: self._told(log, _FENCED) or not process.is_running(), within=5)
            if not active or not process.is_running():
                raise SetupError(
                    f"Kafka could not recover from its last end; the log of that is {log}.",
                    cure=f"read that log; deleting {self.folder} begins with an empty Kafka",
                )
        finally:
            process.stop(within=self.stopped_within)

    def _told(self, log: Path, words: str) -> bool:
        return words in log.read_text("utf-8", "replace")

    def _format(self, data: Path) -> None:
        # 16 random bytes; a leading dash would be taken for an option.
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        arguments = ("format", "--cluster-id", cluster, "--config", "server.properties")
        formatted = subprocess.run(
            self._java("kafka.tools.StorageTool", *arguments, heap="128m"),
            cwd=self.folder,
            env=self.variables(),
            capture_output=True,
            text=True,
            check=False,
        )
        if formatted.returncode != 0:
            raise SetupError(
                f"Kafka could not format {data}:\n{formatted.stdout}{formatted.stderr}".rstrip(),
                cure="make sure that the folder can be written and the disk has space",
            )

    def _java(self, *main: str, heap: str) -> list[str]:
        class_path = os.pathsep.join(str(jar) for jar in artefacts.jars("kafka"))
        return [
            str(java.find().java),
            f"-Xmx{heap}",
            # Serial, and only the first compiler: on a laptop a quick start and little memory count for more
            # than the last tenth of throughput.
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djava.awt.headless=true",
            "-Djava.net.preferIPv4Stack=true",
            "-Dlog4j2.configurationFile=log4j2.xml",
            "-cp",
            class_path,
            *main,
        ]


_METADATA = "__cluster_metadata-0"
_ENDED_WELL = ".kafka_cleanshutdown"
"""A file that Kafka leaves when it was stopped and not killed."""
_ACTIVE = "Performing controller activation"
_FENCED = "Fencing broker 1"

_FOREVER = str(2**63 - 1)

_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "CLIENTS",
    "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
    # One node: everything once, and internal topics small.
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # A topic that nobody made is a spelling mistake.
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    # Records carry event times, which may lie years back or ahead. By default that deletes them at once,
    # starts a segment per record, or refuses them.
    "log.retention.ms": "-1",
    "log.roll.ms": _FOREVER,
    "log.message.timestamp.after.max.ms": _FOREVER,
    # Fit for a laptop.
    "log.segment.bytes": str(256 << 20),
    "log.index.size.max.bytes": str(2 << 20),
    "log.cleaner.dedupe.buffer.size": str(16 << 20),
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "2",
    # A record a second instead of two, while idle.
    "metadata.max.idle.interval.ms": "5000",
    # Ready half a second after the start instead of up to two.
    "broker.heartbeat.interval.ms": "500",
    # How long the controller, after a crash, takes the former self for alive and makes the new one wait.
    "broker.session.timeout.ms": "4000",
}

_LOGGING = """\
<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="warn">
  <Appenders>
    <Console name="log" target="SYSTEM_OUT">
      <PatternLayout pattern="%d{ISO8601} %p %c{1}: %m%n"/>
    </Console>
  </Appenders>
  <Loggers>
    <Logger name="kafka.server.KafkaRaftServer" level="info"/>
    <Logger name="org.apache.kafka.common.utils.AppInfoParser" level="error"/>
    <Logger name="org.apache.kafka.controller.ReplicationControlManager"
            level="${sys:headrace.fencing:-warn}"/>
    <Root level="warn">
      <AppenderRef ref="log"/>
    </Root>
  </Loggers>
</Configuration>
"""
