"""Secrets and look-alikes by the hundred, made by a seeded generator, in all sorts of surroundings (E10)."""

from __future__ import annotations

import base64
import string
import uuid
from collections.abc import Callable
from random import Random

import pytest

from memdir.secrets import scan
from memdir.secrets.shapes import shapes
from tests.test_secrets_shapes import filled

SURROUNDINGS = (
    "{}",
    "export KEY={}",
    'KEY="{}" make deploy',
    "$ curl -H 'X-Key: {}' https://api.invalid/v1",
    "env:\n  - name: KEY\n    value: {}\n",
    '{{"a": 1, "key": "{}", "b": null}}',
    "key = '{}'  # from the vault",
    'const client = new Client("{}");',
    "| name | key |\n|---|---|\n| ci | {} |",
    "- **key**: `{}`",
    "> he wrote: {}.",
    "<setting name='key'>{}</setting>",
    "---\nname: ci\ndescription: uses {}\n---\nbody",
    "line one\r\nKEY={}\r\nline three",
    "The deploy bot uses {}, please rotate it.",
    "Bitte {} nicht weitergeben!",
    "ключ {} для деплоя",
    "部署用的是{}，不要外传",
    "本番は「{}」です",
    "la clave es ({})",
    "https://h.invalid/hook?x=1&t={}&y=2",
    "(see {})",
    "<!-- {} -->",
    "git commit -m 'use {}'",
)

WORDS = ["heron", "maple", "kestrel", "lamp", "harbour", "pepper", "cobalt", "walnut", "ember", "saddle"]
PASSWORDS: tuple[Callable[[Random], str], ...] = (
    lambda r: filled("{16 base62}", r) + "7",
    lambda r: r.choice(WORDS).title() + "-" + r.choice(WORDS) + f"-{r.randrange(10, 99)}",
    lambda r: r.choice(WORDS).title() + f"{r.randrange(1990, 2030)}!",
    lambda r: filled("{5 letters}{2 digits}#{4 letters}", r),
    lambda r: filled("{3 letters}&{3 digits}{4 letters}$", r) + "b9",
)
BESIDE_PASSWORDS = (
    "password: {}",
    "DB_PASSWORD={}",
    'db_password = "{}"',
    "DB_PASS={}",
    "PGPASSWORD={} psql -h db app",
    "spring.datasource.password={}",
    "<password>{}</password>",
    '"password": "{}",',
    "{{'password': '{}'}}",
    "- **Password:** {}",
    "- **Password**: `{}`",
    "| password | {} |",
    "| admin password | `{}` |",
    "The staging password is {}.",
    "the password for the staging box is now {}, ok?",
    "I changed the password to {} today",
    "password (staging): {}",
    "use {} as the password",
    "login with user tester and password {}",
    "creds: admin / {}",
    "machine h.invalid login me password {}",
    "postgres://app:{}@db.internal/app",
    "amqp://app:{}@mq.internal:5672//",
    "redis://:{}@cache.internal:6379",
    "curl -u admin:{} https://h.invalid",
    "sshpass -p '{}' ssh h.invalid",
    "mysql -u root -p{} shop",
    "jdbc:postgresql://db/app?user=app&password={}",
    "Server=db;User Id=app;Password={};Encrypt=true",
    "das Passwort lautet {}",
    "Passwort für Grafana: {}",
    "le mot de passe est {}",
    "la contraseña del servidor es {}",
    "a senha do banco é {}",
    "la password del server è {}",
    "het wachtwoord is {}",
    "пароль от базы: {}",
    "数据库密码是{}，先这么用",
    "密码：{}",
    "密码已改为 {}。",
    "本番のパスワードは「{}」です",
    "비밀번호는 {} 입니다",
)
KEYS: tuple[Callable[[Random], str], ...] = (
    lambda r: filled("{32 hex}", r),
    lambda r: filled("{40 base62}", r),
    lambda r: filled("{43 url}", r),
    lambda r: base64.b64encode(r.randbytes(32)).decode(),
    lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
)
BESIDE_KEYS = (
    "API_KEY={}",
    "DD_API_KEY: {}",
    'api_key = "{}"',
    "apiKey: '{}',",
    'const apiKey: string = "{}";',
    '"client_secret": "{}"',
    "X-Api-Key: {}",
    "--token {}",
    "auth_token = '{}'",
    "Authorization: Bearer {}",
    "Authorization: Token {}",
    "STAGING_TOKEN={}",
    "API_KEY_PROD={}",
    "api key for the maps service: {}",
    "Der API-Schlüssel ist {}",
    "密钥是 {}",
    "トークン：{}",
    "<add key='x' /><apiKey>{}</apiKey>",
    "https://h.invalid/v1/items?api_key={}&page=2",
    "- name: SERVICE_TOKEN\n  value: {}\n",
    "JWT_SECRET={}",
    "| API key | {} |",
)
LOOK_ALIKES: tuple[Callable[[Random], str], ...] = (
    lambda r: "fixed in " + filled("{40 hex}", r),
    lambda r: "session " + str(uuid.UUID(int=r.getrandbits(128), version=4)),
    lambda r: "image: app@sha256:" + filled("{64 hex}", r),
    lambda r: f'integrity="sha512-{base64.b64encode(r.randbytes(64)).decode()}"',
    lambda r: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + filled("{43 base64}", r) + " me@host",
    lambda r: "PublicKey = " + base64.b64encode(r.randbytes(32)).decode(),
    lambda r: "STRIPE_PUBLISHABLE_KEY=pk_live_" + filled("{24 base62}", r),
    lambda r: f"![x](data:image/png;base64,iVBORw0KGgo{base64.b64encode(r.randbytes(150)).decode()})",
    lambda r: f'ETag: "{filled("{32 hex}", r)}"',
    lambda r: f"pod api-{filled('{9 lower}', r)}-{filled('{5 lower}', r)} restarted",
    lambda r: "golang.org/x/net v0.30.0 h1:" + base64.b64encode(r.randbytes(32)).decode(),
    lambda r: f"order {r.randrange(10**9)} of {r.randrange(2020, 2030)}-11-0{r.randrange(1, 9)}",
    lambda r: "price_1" + filled("{23 base62}", r) + " for cus_" + filled("{14 base62}", r),
    lambda r: f"AWS account {r.randrange(10**11, 10**12)}, ami-{filled('{17 hex}', r)}",
    lambda r: "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-" + filled("{6 base62}", r),
    lambda r: (
        f"the token is valid for {r.randrange(2, 90)} days; the password has {r.randrange(8, 32)} characters"
    ),
    lambda r: f"PASSWORD_FILE=/run/secrets/{r.choice(WORDS)}_{r.choice(WORDS)}",
    lambda r: f"password: ${{{r.choice(WORDS).upper()}_PASSWORD}}",
    lambda r: f"api_key = os.environ['{r.choice(WORDS).upper()}_KEY2']",
    lambda r: f"token = {r.choice(WORDS)}.get_token(user_id={r.randrange(99)})",
    lambda r: f"password: <your-{r.choice(WORDS)}-password>",
    lambda r: f"{r.choice(WORDS)}_token_hash: sha256:{filled('{64 hex}', r)}",
    lambda r: f"password_hash = '$2b$12${filled('{53 base62}', r)}'",
    lambda r: f"https://{r.choice(WORDS)}.invalid/d/{filled('{44 url}', r)}/edit#gid={r.randrange(10**6)}",
    lambda r: f"postgres://{r.choice(WORDS)}.internal:5432/app_{r.randrange(99)}",
    lambda r: (
        f"we use {r.choice(WORDS)}-auth-v{r.randrange(9)} for tokens: rotate every {r.randrange(9, 90)}d"
    ),
    lambda r: f"client_id={r.randrange(10**11)}-{filled('{32 lower}', r)}.apps.googleusercontent.com",
    lambda r: f"span 00-{filled('{32 hex}', r)}-{filled('{16 hex}', r)}-01",
    lambda r: f"next_page_token: {filled('{40 base62}', r)}",
    lambda r: f"密码策略：至少{r.randrange(8, 20)}位，每{r.randrange(30, 90)}天更换",
    lambda r: f"max_tokens: {r.randrange(1000, 200000)}, secret_santa: 2026-12-{r.randrange(10, 28)}",
)


def found(text: str, value: str) -> bool:
    at = text.index(value)
    return any(one.start < at + len(value) and one.end > at for one in scan(text))


def test_a_token_is_found_in_any_surroundings_E10() -> None:
    random = Random(7)
    texts = [
        (surroundings.format(value), value)
        for rule in shapes()
        for surroundings in random.sample(SURROUNDINGS, 6)
        for value in [filled(rule.example, random)]
    ]
    assert len(texts) > 500
    missed = [text for text, value in texts if not found(text, value)]
    assert len(missed) <= len(texts) / 100, missed[:20]


@pytest.mark.parametrize("surroundings", BESIDE_PASSWORDS)
def test_a_password_is_found_beside_its_name_E10(surroundings: str) -> None:
    random = Random(surroundings)
    values = [make(random) for make in PASSWORDS for _ in range(4)]
    assert [value for value in values if not found(surroundings.format(value), value)] == []


@pytest.mark.parametrize("surroundings", BESIDE_KEYS)
def test_a_key_is_found_beside_its_name_E10(surroundings: str) -> None:
    random = Random(surroundings)
    values = [make(random) for make in KEYS for _ in range(4)]
    assert [value for value in values if not found(surroundings.format(value), value)] == []


@pytest.mark.parametrize("make", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_is_left_alone_E10(make: Callable[[Random], str]) -> None:
    random = Random(3)
    texts = [make(random) for _ in range(25)]
    assert [text for text in texts if scan(text)] == []


def test_random_letters_alone_are_no_secret_E10() -> None:
    random = Random(5)
    alphabet = string.ascii_letters + string.digits
    texts = ["".join(random.choice(alphabet) for _ in range(n)) for n in range(8, 70) for _ in range(20)]
    assert [text for text in texts if scan(f"see {text} there")] == []
