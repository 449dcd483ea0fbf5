"""A secret is never proposed: its sentence loses the value, or is left out (E10)."""

from __future__ import annotations

import pytest

from tests.extract_local.talks import created

VALUE = "Plum" + "8812" + "moon"


@pytest.mark.parametrize(
    "said",
    [
        f"the new password is {VALUE}, remember that",
        f"Remember: staging login is tester, password {VALUE}, and Jo rotates it every month in the vault.",
        f"测试环境的密码是 {VALUE}，记一下，每周三会重启",
        f"I use postgres://reader:{VALUE}@db.example.com/main, keep that in mind",
        f"la clave de la API es {VALUE}. Recuerda que la cuota es de 500 llamadas al día.",
    ],
)
def test_the_value_never_appears_E10(said: str) -> None:
    shown = " ".join(str(proposal) for proposal in created(said))
    assert VALUE not in shown


def test_what_stands_beside_a_secret_is_kept_E10() -> None:
    said = f"The staging password is {VALUE}. Jo rotates it each month, it is in the vault. Remember that."
    (found,) = created(said)
    assert "vault" in found.body


def test_talk_about_passwords_without_one_is_kept() -> None:
    (found,) = created("Never store passwords in memory, they are in the password manager, vault Infra.")
    assert "vault Infra" in found.body
