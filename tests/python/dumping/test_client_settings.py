"""Properties files of Kafka's tools become librdkafka's settings, and say nothing secret."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from certificate_support import PASSWORD, Certificate, make_certificate
from confluent_kafka.admin import AdminClient

from moldau.dumping import names
from moldau.dumping.client_settings import ClientSettings, client_settings
from moldau.dumping.jaas import parse_jaas
from moldau.dumping.properties import read_properties
from moldau.errors import MoldauError

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
LOGIN = f'sasl.jaas.config={PLAIN} required username="u" password="hunter22";'


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def of(folder: Path, *lines: str, servers: str | None = "b:1") -> ClientSettings:
    file = folder / "client.properties"
    file.write_text("\n".join(lines), encoding="latin-1")
    return client_settings(servers, file)


def config_of(folder: Path, *lines: str) -> dict[str, str]:
    """Without what is always there; librdkafka takes it."""
    config = of(folder, *lines).config
    AdminClient({**config})
    return {k: v for k, v in config.items() if k not in ("bootstrap.servers", "security.protocol")}


def test_a_file_is_read_as_java_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_bytes(
        b"# a comment\n! another\n\n"
        b"a=1\nb : 2\nc 3\n  d=  4 \t\n"
        b"long=one,\\\n      two\n"
        b"escaped\\ name=\\u00e9\\t\\\\ \xe9\n"
        b"a=last wins\nempty\nquoted=\"as it is\"\n"
    )  # fmt: skip
    assert read_properties(file) == {
        "a": "last wins", "b": "2", "c": "3", "d": "4", "long": "one,two",
        "escaped name": "é\t\\ é", "empty": "", "quoted": '"as it is"',
    }  # fmt: skip


@pytest.mark.parametrize("content", [None, b"a=\\u12"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "client.properties"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(MoldauError, match=r"properties file .*client\.properties"):
        read_properties(file)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f'{PLAIN} required username="a" password="b";', {"username": "a", "password": "b"}),
        (f"{PLAIN} REQUIRED username=a password='b c' ;", {"username": "a", "password": "b c"}),
        (f'{PLAIN} required\n /* c */ a="=;" // d\n b="\\"\\\\\\n\\101";',
         {"a": "=;", "b": '"\\\nA'}),
        (f"{PLAIN} sufficient ;", {}),
    ],
)  # fmt: skip
def test_a_login_module_is_read(text: str, options: dict[str, str]) -> None:
    module = parse_jaas(text)
    assert (module.name, module.options) == ("PlainLoginModule", options)


@pytest.mark.parametrize(
    "text",
    [
        "", ";", "hunter22", f'{PLAIN} required password="hunter22"',
        f'{PLAIN} password="hunter22";', f'{PLAIN} required password "hunter22";',
        f'{PLAIN} required password="hunter22;', f'{PLAIN} required a=b; {PLAIN} required a=b;',
        f'{PLAIN} required password=hunter22=;', f'{PLAIN} required password=hunter{{22;',
    ],
)  # fmt: skip
def test_a_malformed_login_module_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(MoldauError, match="not of the form") as refusal:
        parse_jaas(text)
    assert "hunter" not in str(refusal.value)


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        (" [::1]:9092 , b:1", "[::1]:9092,b:1"),
        ("PLAINTEXT://b:1,SASL_SSL://[fe80::1]:2", "b:1,[fe80::1]:2"),
    ],
)
def test_servers_are_taken_as_kafka_takes_them(tmp_path: Path, told: str, meant: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"bootstrap.servers : {told}\n")
    assert client_settings(None, file).config["bootstrap.servers"] == meant
    assert client_settings(told, None).servers == meant


@pytest.mark.parametrize("told", [",", "b", "b:99999", "b:1:junk", "::1:9092"])
def test_servers_that_are_none_are_refused_before_they_are_asked(told: str) -> None:
    with pytest.raises(MoldauError, match=r"is not allowed; allowed is HOST:PORT"):
        client_settings(told, None)


def test_the_option_names_the_cluster_before_the_file_does(tmp_path: Path) -> None:
    assert of(tmp_path, "bootstrap.servers=f:1, f:2").config["bootstrap.servers"] == "b:1"
    file = of(tmp_path, "bootstrap.servers=f:1,f:2", servers=None)
    assert file.servers == file.config["bootstrap.servers"] == "f:1,f:2"
    with pytest.raises(MoldauError, match="no cluster is named: --bootstrap-servers HOST:PORT"):
        of(tmp_path, "client.id=c", servers=None)
    assert client_settings("b:1", None).config["security.protocol"] == "PLAINTEXT"


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_password_login_is_taken_over(tmp_path: Path, mechanism: str) -> None:
    module = PLAIN if mechanism == "PLAIN" else SCRAM
    assert config_of(
        tmp_path,
        "security.protocol=SASL_PLAINTEXT",
        f"sasl.mechanism={mechanism}",
        f'sasl.jaas.config={module} required username="u" \\',
        '    password="hunter22";',
    ) == {"sasl.mechanism": mechanism, "sasl.username": "u", "sasl.password": "hunter22"}


OIDC = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.token.endpoint.url": "https://127.0.0.1/token",
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": "hunter22",
    "sasl.oauthbearer.scope": "kafka",
}


@pytest.mark.parametrize(
    ("lines", "more"),
    [
        (
            [f'sasl.jaas.config={OAUTH} required clientId="me" clientSecret="hunter22" '
             'scope="kafka" extension_cluster="c1" extension_pool="p1";'],
            {"sasl.oauthbearer.extensions": "cluster=c1,pool=p1"},
        ),
        (
            ["sasl.oauthbearer.client.credentials.client.id=me", "sasl.oauthbearer.scope=kafka",
             "sasl.oauthbearer.client.credentials.client.secret=hunter22",
             f"sasl.jaas.config={OAUTH} required ;",
             "sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer."
             "OAuthBearerLoginCallbackHandler"],
            {},
        ),
    ],
)  # fmt: skip
def test_client_credentials_are_taken_over(
    tmp_path: Path, lines: list[str], more: dict[str, str]
) -> None:
    common = [
        "security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url=https://127.0.0.1/token",
    ]  # fmt: skip
    tls = {"ssl.endpoint.identification.algorithm": "https"}
    assert of(tmp_path, *common, *lines).config == {
        "bootstrap.servers": "b:1", "security.protocol": "SASL_SSL", **OIDC, **tls, **more,
    }  # fmt: skip


def test_stores_are_taken_over_whatever_type_is_said(
    tmp_path: Path, certificate: Certificate
) -> None:
    both = tmp_path / "both.pem"
    both.write_text(certificate.key_pem + certificate.pem)
    one_line = certificate.pem.replace("\n", " ")
    https = {"ssl.endpoint.identification.algorithm": "https"}
    assert config_of(tmp_path, "security.protocol=ssl") == https
    assert config_of(
        tmp_path, "security.protocol=SSL", "ssl.endpoint.identification.algorithm="
    ) == {"ssl.endpoint.identification.algorithm": "none"}
    assert config_of(
        tmp_path, "security.protocol=SSL", f"ssl.truststore.certificates={one_line}",
        f"ssl.keystore.location={both}", "ssl.key.password=unused",
    ) == https | {
        "ssl.ca.pem": certificate.pem, "ssl.certificate.location": str(both),
        "ssl.key.location": str(both), "ssl.key.password": "unused",
    }  # fmt: skip
    assert config_of(
        tmp_path, "security.protocol=SSL", "ssl.truststore.type=JKS",
        f"ssl.truststore.location={certificate.truststore}", f"ssl.truststore.password={PASSWORD}",
        f"ssl.keystore.location={certificate.keystore}", f"ssl.keystore.password={PASSWORD}",
    ) == https | {
        "ssl.ca.pem": certificate.pem, "ssl.keystore.location": str(certificate.keystore),
        "ssl.keystore.password": PASSWORD,
    }  # fmt: skip


SASL = "security.protocol=SASL_PLAINTEXT"
TLS = "security.protocol=SSL"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["security.protocol=TLS"], "'TLS': PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        ([SASL, LOGIN], "sasl.mechanism is GSSAPI, Kafka's default: PLAIN, SCRAM-SHA-256"),
        ([SASL, LOGIN, "sasl.mechanism=AWS_MSK_IAM"], "is AWS_MSK_IAM: PLAIN"),
        ([SASL, "sasl.mechanism=PLAIN"], "sasl.jaas.config is missing"),
        ([SASL, LOGIN, "sasl.mechanism=SCRAM-SHA-256"], "has no ScramLoginModule"),
        ([SASL, "sasl.mechanism=PLAIN", f"sasl.jaas.config={PLAIN} required username=u;"],
         "has no password"),
        ([SASL, "sasl.mechanism=SCRAM-SHA-256", f"sasl.jaas.config={SCRAM} required "
          "username=u password=hunter22 tokenauth=true;"], "delegation token"),
        ([SASL, "sasl.mechanism=OAUTHBEARER"], "needs sasl.oauthbearer.token.endpoint.url"),
        ([SASL, "sasl.mechanism=OAUTHBEARER", "sasl.login.callback.handler.class=com.x.Mine"],
         "only OAuthBearerLoginCallbackHandler"),
        ([SASL, "sasl.mechanism=PLAIN", "sasl.jaas.config=${file:/etc/hunter22:jaas}"],
         "sasl.jaas.config is left to a config provider"),
        ([SASL, LOGIN, "sasl.mechanism=PLAIN", "sasl.login.class=com.x.Mine"],
         "sasl.login.class names Java classes"),
        ([TLS, "ssl.endpoint.identification.algorithm=ldaps"], "'ldaps': https, or empty"),
        ([TLS, "ssl.truststore.location=/no/such/file"], "cannot read ssl.truststore.location"),
        ([TLS, "ssl.truststore.certificates=hunter22"], "certificates is not PEM"),
        ([TLS, "ssl.keystore.certificate.chain=hunter22"], "stands without ssl.keystore.key"),
        ([TLS, "ssl.truststore.location={jks}"], "JKS store, which only Java reads; convert it: "
         "keytool -importkeystore -srckeystore"),
        ([TLS, "ssl.keystore.location={jks}"], "-deststoretype PKCS12"),
        ([TLS, "ssl.keystore.location={text}"], "is neither PEM nor PKCS12"),
        ([TLS, "ssl.truststore.location={p12}", "ssl.truststore.password=hunter22"],
         "cannot be opened with ssl.truststore.password"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_over_is_refused_by_name(
    tmp_path: Path, certificate: Certificate, lines: list[str], said: str
) -> None:
    jks, text = tmp_path / "store.jks", tmp_path / "text"
    jks.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    text.write_bytes(b"hunter22")
    places = {"{jks}": jks, "{text}": text, "{p12}": certificate.truststore}
    for mark, place in places.items():
        lines = [line.replace(mark, str(place)) for line in lines]
    with pytest.raises(MoldauError) as refusal:
        of(tmp_path, *lines)
    assert said in str(refusal.value)
    assert str(refusal.value).startswith(f"{tmp_path / 'client.properties'}: ")
    assert "hunter22" not in str(refusal.value).replace("/etc/hunter22", "")


def test_what_would_make_it_more_than_a_reader_is_passed_over_in_silence(tmp_path: Path) -> None:
    settings = of(
        tmp_path, "group.id=mine", "enable.auto.commit=true", "isolation.level=read_uncommitted",
        "auto.offset.reset=latest", "allow.auto.create.topics=true", "max.poll.records=5",
        "key.deserializer=com.x.Mine", "client.id=me",
        "request.timeout.ms=3000000", "connections.max.idle.ms=-1",
    )  # fmt: skip
    assert settings.warnings == ()
    assert settings.config == {
        "bootstrap.servers": "b:1", "security.protocol": "PLAINTEXT", "client.id": "me",
    }  # fmt: skip


def test_what_has_no_effect_is_named_and_never_its_value(tmp_path: Path) -> None:
    settings = of(
        tmp_path, "ssl.cipher.suites=hunter22", "sasl.pasword=hunter22",
        "ssl.keystore.key=-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANhunter22", "hunter22",
    )  # fmt: skip
    file = tmp_path / "client.properties"
    assert settings.warnings == (
        f"{file}: sasl.pasword has no effect here",
        f"{file}: ssl.cipher.suites has no effect here",
        f"{file}: 2 lines are no property of Kafka (a value goes on in the next line only behind "
        "a \\)",
    )


def test_a_setting_shows_no_secret_however_it_is_printed(tmp_path: Path) -> None:
    settings = of(tmp_path, SASL, LOGIN, "sasl.mechanism=PLAIN")
    assert "hunter22" not in repr(settings)
    assert settings.without_secrets("refused hunter22 of u") == "refused *** of u"


def test_every_name_of_kafka_has_one_place() -> None:
    places = [names.READ, names.REFUSED, names.IGNORED, frozenset(names.PASSED_ON)]
    assert sum(map(len, places)) == len(frozenset().union(*places))


@pytest.mark.parametrize("words", [["--topic", "x\udcff"], ["--topic", "x", "--timeout", "nan"]])
def test_a_dump_of_a_name_that_is_not_utf_8_is_refused(tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, "-c", "from moldau.cli import main; main()", "dump"]
    command += ["--bootstrap-servers", "127.0.0.1:1", "--to", str(tmp_path / "x.jsonl"), *words]
    ended = subprocess.run(command, capture_output=True, timeout=30, check=False)
    assert (ended.returncode, ended.stderr.count(b"\n")) == (1, 1)
