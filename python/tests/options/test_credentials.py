"""No text of a credential shows a secret."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import AssumeRole, KinesisSink, KinesisSource, Proxy, StaticCredentials

SECRET = st.text(
    alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40
).map(lambda tail: f"SECRET-{tail}")


@given(SECRET, SECRET, SECRET, SECRET)
def test_no_secret_in_any_text(key: str, secret: str, token: str, external: str) -> None:
    keys = StaticCredentials(access_key_id=key, secret_access_key=secret, session_token=token)
    role = AssumeRole(arn="arn:aws:iam::123456789012:role/r", external_id=external)
    proxy = Proxy(url="http://proxy:3128", username="me", password=secret)
    source = KinesisSource(stream_name="s", credentials=keys, role=role, proxy=proxy)
    holders = [
        keys,
        role,
        proxy,
        source,
        source.options(),
        KinesisSink(stream_name="s", credentials=keys, role=role, proxy=proxy),
    ]
    for holder in holders:
        for shown in (repr(holder), str(holder), f"{holder}", f"{[holder]}"):
            assert not any(hidden in shown for hidden in (key, secret, token, external))


@pytest.mark.parametrize(
    "user", ["me:hushhush", "me:hush/hush", "me:hush@hush", "me@hush:hush", "hushhush", ":hush"]
)
def test_a_user_in_the_url_of_a_proxy_is_masked(user: str) -> None:
    url = f"http://{user}@proxy:3128"
    source = KinesisSource(stream_name="s", proxy=Proxy(url=url))
    for shown in (repr(source.proxy), repr(source), repr(source.options())):
        assert "http://***@proxy:3128" in shown
        assert "hush" not in shown
    assert source.options()["proxy"] == url
    assert repr(Proxy(url="http://proxy:3128")) == "Proxy(url='http://proxy:3128')"


def test_repr_shows_the_fields_that_are_set() -> None:
    keys = StaticCredentials(access_key_id="AKIDAKID", secret_access_key="hushhush")
    assert repr(keys) == "StaticCredentials(access_key_id='***', secret_access_key='***')"


def test_equal_credentials_are_equal() -> None:
    one = StaticCredentials(access_key_id="a", secret_access_key="b")
    assert one == StaticCredentials(access_key_id="a", secret_access_key="b")
    assert one != StaticCredentials(access_key_id="a", secret_access_key="c")


def test_a_wrong_type_does_not_show_the_value() -> None:
    secret: Any = b"SECRETBYTES"
    with pytest.raises(TypeError, match="secret_access_key must be str, not bytes") as caught:
        StaticCredentials(access_key_id="a", secret_access_key=secret)
    assert "SECRETBYTES" not in "".join(traceback.format_exception_only(caught.value))


def test_a_text_in_place_of_credentials_is_not_shown() -> None:
    text: Any = "AKID:SECRETTEXT"
    with pytest.raises(TypeError, match=r"credentials must be .*, not str$"):
        KinesisSource(stream_name="s", credentials=text)


def test_a_wrong_type_does_not_show_the_password_of_a_url() -> None:
    url: Any = b"http://me:hushhush@proxy:3128"
    with pytest.raises(TypeError, match=r"url must be str, not b'http://\*\*\*@proxy:3128'"):
        Proxy(url=url)
