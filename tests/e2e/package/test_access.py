"""Credentials and proxies, with the published jar, whose AWS SDK is relocated."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import spark_kinesis
from spark_kinesis import jar_path
from tests.e2e.support.aws_services import EXPIRY, AwsServices, aws_services
from tests.e2e.support.programs import run, run_app

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.spark4, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[3]
ROLE = "arn:aws:iam::123456789012:role/reader"
START_URL = "https://example.awsapps.com/start"
CONFIG = """
[profile sso]
sso_session = staff
sso_account_id = 123456789012
sso_role_name = Reader

[sso-session staff]
sso_region = eu-west-1
sso_start_url = {start_url}
sso_registration_scopes = sso:account:access

[profile sso-without-session]
sso_start_url = {start_url}
sso_region = eu-west-1
sso_account_id = 123456789012
sso_role_name = Writer

[profile assumed]
role_arn = {role}
source_profile = keys
region = eu-west-1

[profile keys]
aws_access_key_id = OF-PROFILE
aws_secret_access_key = hush

[profile web]
role_arn = {role}
web_identity_token_file = {home}/web-token
region = eu-west-1

[profile program]
credential_process = {home}/program
"""
PROGRAM = """#!/bin/sh
echo '{"Version": 1, "AccessKeyId": "PROGRAM", "SecretAccessKey": "hush"}'
"""
VAULT = """package com.example;

import java.time.Instant;
import sparkkinesis.client.access.AwsKeys;
import sparkkinesis.client.access.CredentialsProvider;

public final class VaultCredentials implements CredentialsProvider {
    private final String path;

    public VaultCredentials(String path) {
        this.path = path;
    }

    @Override
    public AwsKeys credentials() {
        return new AwsKeys("VAULT-" + path, "hush", "token", Instant.now().plusSeconds(3600));
    }
}
"""
FACTORY = """package com.example;

import sparkkinesis.client.access.AwsKeys;
import sparkkinesis.client.access.CredentialsProvider;

public final class FactoryCredentials implements CredentialsProvider {
    private FactoryCredentials() {}

    public static CredentialsProvider create() {
        return new FactoryCredentials();
    }

    @Override
    public AwsKeys credentials() {
        return new AwsKeys("FACTORY", "hush");
    }
}
"""


@pytest.fixture
def services() -> Iterator[AwsServices]:
    with aws_services() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with profiles, and with the token of a user who has signed in."""
    (tmp_path / "config").write_text(
        CONFIG.format(start_url=START_URL, role=ROLE, home=tmp_path), encoding="utf-8"
    )
    (tmp_path / "web-token").write_text("token-of-the-pod")
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    cache = tmp_path / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    for name in ("staff", START_URL):
        token = {"accessToken": f"of {name}", "expiresAt": EXPIRY, "startUrl": START_URL}
        file = cache / f"{hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()}.json"
        file.write_text(json.dumps({**token, "region": "eu-west-1"}))
    return tmp_path


def callers(
    services: AwsServices, home: Path, *reads: dict[str, str], jars: str = "-", **env: str
) -> list[str]:
    """Read with each set of options in one program. Returns the IDs of the keys."""
    told = errors(services, home, *reads, jars=jars, **env)
    assert all("KINESIS_STREAM_NOT_FOUND" in text for text in told), told
    return services.callers


def errors(
    services: AwsServices, home: Path, *reads: dict[str, str], jars: str = "-", **env: str
) -> list[str]:
    """What each read says."""
    base = {"streamName": "orders", "region": "eu-west-1", "endpoint": services.endpoint}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    settings = {"HOME": str(home), "AWS_CONFIG_FILE": str(home / "config")}
    said = run_app(
        "described",
        jars,
        *(json.dumps({**base, **read}) for read in reads),
        cwd=home,
        env={**inherited, **settings, **services.environment(), **env},
    )
    told: list[str] = json.loads(said.stdout.splitlines()[-1])
    return told


def test_profiles_and_the_web_identity_of_a_pod(services: AwsServices, home: Path) -> None:
    names = ["sso", "sso-without-session", "assumed", "web", "program"]
    seen = callers(
        services,
        home,
        *({"profile": name} for name in names),
        {},
        AWS_WEB_IDENTITY_TOKEN_FILE=str(home / "web-token"),
        AWS_ROLE_ARN=ROLE,
        AWS_REGION="eu-west-1",  # otherwise the SDK calls the global endpoint of STS
    )
    web = "AssumeRoleWithWebIdentity"
    assert seen == ["SSO", "SSO", "AssumeRole", web, "PROGRAM", web]
    assert services.asked["sso"]["token"] == f"of {START_URL}"
    assert services.asked["sso"]["role_name"] == "Writer"
    assert services.asked["AssumeRole"]["RoleArn"] == ROLE
    assert services.asked["AssumeRole"]["signer"] == "OF-PROFILE"
    assert services.asked[web]["WebIdentityToken"] == "token-of-the-pod"
    assert "signer" not in services.asked[web]


def test_the_role_of_a_container(services: AwsServices, home: Path) -> None:
    token = home / "container-token"
    token.write_text("token-of-the-container")
    seen = callers(
        services,
        home,
        {},
        AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{services.endpoint}/container",
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=str(token),
    )
    assert seen == ["CONTAINER"]
    assert services.asked["container"]["token"] == "token-of-the-container"


def test_the_proxy_of_the_environment_and_the_user_agent(services: AwsServices, home: Path) -> None:
    keys = {"awsAccessKeyId": "KEYS", "awsSecretAccessKey": "hush"}
    there = {**keys, "endpoint": "https://kinesis.eu-west-1.amazonaws.com"}
    direct, proxied = errors(services, home, keys, there, HTTPS_PROXY=services.endpoint)
    assert "KINESIS_STREAM_NOT_FOUND" in direct
    assert services.agents[0].startswith(f"spark-kinesis/{spark_kinesis.__version__} aws-sdk-java/")
    assert "KINESIS_UNREACHABLE" in proxied
    assert set(services.proxied) == {"kinesis.eu-west-1.amazonaws.com:443"}


def test_the_role_of_an_instance_and_classes_of_the_user(services: AwsServices, home: Path) -> None:
    seen = callers(
        services,
        home,
        {},
        {
            "credentialsProvider": "com.example.VaultCredentials",
            "credentialsProviderSecret": "reader",
        },
        {"credentialsProvider": "com.example.FactoryCredentials"},
        jars=str(user_jar(home)),
    )
    assert seen == ["INSTANCE", "VAULT-reader", "FACTORY"]
    assert services.asked["instance"]["token"] == "session-of-instance"


def user_jar(folder: Path) -> Path:
    """A jar of the user with classes in Java, compiled against the published jar."""
    java = subprocess.run(
        [str(ROOT / "project" / "java-home")], capture_output=True, text=True, check=True
    ).stdout.strip()
    sources = folder / "com" / "example"
    sources.mkdir(parents=True)
    (sources / "VaultCredentials.java").write_text(VAULT)
    (sources / "FactoryCredentials.java").write_text(FACTORY)
    files = [str(file) for file in sources.glob("*.java")]
    classes = str(folder / "classes")
    run([f"{java}/bin/javac", "-cp", jar_path(), "-d", classes, *files], cwd=folder)
    jar = folder / "user.jar"
    run([f"{java}/bin/jar", "--create", "--file", str(jar), "-C", classes, "."], cwd=folder)
    return jar
