"""What may run: a fork in its one directory, the main agent where the person agrees (A5, A8, A9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memdir.agent.permissions import (
    Allow,
    Ask,
    Deny,
    Mode,
    Question,
    decide_fork,
    decide_main,
    for_fork,
    for_main,
)
from memdir.model.messages import ToolUse
from tests.agent.world import World


def called(tool: str, **given: Any) -> ToolUse:
    return ToolUse(id="1", name=tool, input=given)


@pytest.fixture
def fork_may(world: World) -> Callable[..., bool]:
    """Whether a fork may make the call; `{M}` `{P}` stand for the memory directory and the working folder."""
    (world.memory.directory / "out").symlink_to(world.root)
    (world.memory.directory / "gone.md").symlink_to(world.root / "created.md")
    (world.root / "keys").symlink_to(Path.home() / ".ssh")
    (world.root / "machine").symlink_to("/")

    def may(tool: str, **given: str) -> bool:
        paths = {"M": str(world.memory.directory), "P": str(world.root), "H": str(Path.home())}
        shown = {key: value.format_map(paths) for key, value in given.items()}
        verdict = decide_fork(
            called(tool, **shown),
            memory=world.memory.directory,
            cwd=world.root,
            also=[world.root.parent / "transcripts", Path("/")],
        )
        assert isinstance(verdict, Allow) or (verdict.reason and verdict.text)
        return isinstance(verdict, Allow)

    return may


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("{M}/new.md", True),
        ("{M}/MEMORY.md", True),
        ("{M}/sub/new.md", True),
        ("{M}/../memory/new.md", True),
        ("{P}/../memory/new.md", True),
        ("{M}/../new.md", False),
        ("{M}-other/new.md", False),
        ("{M}", False),
        ("{M}/new.txt", False),
        ("{M}/CLAUDE.md", False),
        ("{M}/CLAUDE.local.md", False),
        ("{M}/agents.md", False),
        ("{M}/sub/AGENTS.local.md", False),
        ("{M}/.md", False),
        ("{M}/.hidden.md", False),
        ("{M}/dream.json", False),
        ("{M}/out/new.md", False),
        ("{M}/out/../new.md", False),
        ("{M}/gone.md", False),
        ("{P}/a.md", False),
        ("a.md", False),
        ("~/.ssh/a.md", False),
        ("/etc/a.md", False),
        ("{M}/a\0.md", False),
        ("{M}/a\ud800.md", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_a_fork_writes_only_markdown_inside_its_directory_A5_A8(
    fork_may: Callable[..., bool], tool: str, path: str, allowed: bool
) -> None:
    assert fork_may(tool, file_path=path) is allowed


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("{M}/a.md", True),
        ("{P}/src/a.py", True),
        ("src", True),
        ("{P}/../transcripts/s.jsonl", True),
        ("{P}/.git/HEAD", True),
        ("{P}/secrets.py", True),
        ("{P}/credentials/models.py", True),
        ("{P}/environment.yml", True),
        ("{M}/credentials-rotation.md", True),
        ("{P}/..", False),
        ("{P}-other/a.py", False),
        ("{P}/machine", False),
        ("{P}/machine/usr/include", False),
        ("/", False),
        ("/usr/include/stdio.h", False),
        ("/etc/hostname", False),
        ("{H}/other-project/a.py", False),
        ("{H}/.ssh/id_ed25519", False),
        ("~/.bash_history", False),
        ("{P}/.env", False),
        ("{P}/.ENV.local", False),
        ("{P}/keys/config", False),
        ("{P}/keys/../.netrc", False),
        ("{P}/x/server.pem", False),
        ("{P}/server.key", False),
        ("{P}/prod.env", False),
        ("{P}/deploy/secrets.yaml", False),
        ("{P}/service-account.json", False),
        ("{P}/a/../service_account-prod.json", False),
        ("{P}/x.jks", False),
        ("{P}/.git/config", False),
        ("{P}/deploy/secrets/db", False),
        ("{P}/prod.tfvars", False),
        ("{P}/.config/gh/hosts.yml", False),
        ("{M}/.env", False),
        ("/proc/self/environ", False),
    ],
)
def test_a_fork_reads_in_its_project_and_not_where_credentials_are_kept_A5(
    fork_may: Callable[..., bool], path: str, allowed: bool
) -> None:
    assert fork_may("Read", file_path=path) is allowed
    assert fork_may("Grep", path=path, pattern="x") is allowed
    assert fork_may("Glob", path=path, pattern="*") is allowed


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("ls", True),
        ("cat {M}/a.md", True),
        ("grep -n x {P}/src/a.py", True),
        ("rm -r .", False),
        ("touch {M}/a.md", False),
        ("cat {P}/.env", False),
        ("cat {P}/keys/config", False),
        ("cat ~/.ssh/id_rsa", False),
        ("cat /etc/hostname", False),
        ("cat {M}/out/../a.md", False),
        ("", False),
    ],
)
def test_a_fork_reads_with_bash_where_it_may_read_and_does_nothing_else_A5_A6(
    fork_may: Callable[..., bool], command: str, allowed: bool
) -> None:
    assert fork_may("Bash", command=command) is allowed


def test_a_fork_has_no_other_tools_and_is_told_what_it_has_A5(fork_may: Callable[..., bool]) -> None:
    assert not fork_may("WebFetch", url="x")
    assert not fork_may("Bash")
    assert fork_may("Grep", pattern="x")
    for call in (called("Bash", command="rm x"), called("WebFetch", url="x")):
        verdict = decide_fork(call, memory=Path("/m"), cwd=Path("/p"))
        assert isinstance(verdict, Deny)
        assert "Read, Glob and Grep" in verdict.text


CREDENTIALS = """
~/.ssh/id_rsa ~/.aws/credentials ~/.config/gh/hosts.yml ~/.cargo/credentials.toml ~/.cargo/credentials
~/.config/rclone/rclone.conf ~/.vault-token ~/.my.cnf ~/.s3cfg ~/.m2/settings.xml ~/.gem/credentials
~/.terraform.d/credentials.tfrc.json ~/.claude.json ~/.bash_history ~/.zsh_history ~/.config/hub
~/.git-credentials ~/.config/git/credentials ~/.netrc ~/.docker/config.json ~/.config/op/config
~/.age/key.txt server.key secrets.yaml .env prod.env .env.production service-account.json ~/.npmrc
~/.yarnrc.yml ~/.mozilla/firefox/x/logins.json /etc/shadow /proc/self/environ /run/secrets/db_password
/var/run/secrets/kubernetes.io/serviceaccount/token ~/.kube/config ~/.config/containers/auth.json
~/.password-store/x id_ed25519 ~/.config/sops/age/keys.txt ~/.putty/k.ppk x.jks x.p8
/etc/ssh/ssh_host_rsa_key /etc/kubernetes/admin.conf kubeconfig kubeconfig-prod.yaml prod.kubeconfig
secrets/db deploy/Secrets/a.txt secrets.yml secrets.prod.yaml prod.secrets.yml .git/config token.txt
tokens.txt passwords.txt .vault_pass .vault-pass.txt gcp-key.json my_credentials-2.json
shop-firebase-adminsdk-1a2b.json service-account-prod.json wp-config.php .dockerconfigjson
appsettings.Production.json appsettings.eu.prod.json local.settings.json NuGet.Config
~/.config/gcloud/access_tokens.db ~/.kube/cache/x ~/.local/share/keyrings/login.keyring
~/Library/Keychains/login.keychain-db ~/.config/google-chrome-beta/x ~/.config/vivaldi/x
~/.pki/nssdb/key4.db ~/.pgpass ~/.pg_service.conf ~/.psql_history ~/.mysql_history ~/.rediscli_history
~/.python_history ~/.node_repl_history ~/.zhistory ~/.zsh_sessions/x.history
~/.local/share/fish/fish_history ~/.lesshst ~/.viminfo ~/.claude/.credentials.json ~/.codex/auth.json
~/.gemini/oauth_creds.json ~/.config/anthropic/x ~/.kaggle/kaggle.json ~/.local/share/opencode/auth.json
~/.config/github-copilot/hosts.json ~/.config/io.datasette.llm/keys.json
~/.config/Code/User/globalStorage/state.vscdb ~/.config/Cursor/User/globalStorage/state.vscdb.backup
~/.codeium/config.json ~/.config/aichat/config.yaml ~/.cursor/mcp.json ~/.config/code-server/config.yaml
~/.rclone.conf ~/.config/rclone/x ~/.config/age/x ~/.gitconfig ~/.config/git/config ~/.ssh/config
~/.ssh/known_hosts ~/.gnupg/pubring.kbx ~/.aws/sso/cache/x.json ~/.azure/msal_token_cache.json
~/.config/1Password/x ~/.config/rbw/x ~/.lastpass/x ~/.local/share/gopass/x ~/.jupyter/x
~/.local/share/jupyter/runtime/x.json ~/.huggingface/token ~/.cache/huggingface/token
~/.config/wandb/settings ~/.pypirc ~/.config/pip/pip.conf ~/.config/pypoetry/auth.toml ~/.yarnrc
~/.bunfig.toml ~/.local/share/uv/credentials/x ~/.condarc ~/.local/share/gem/credentials
~/.m2/settings-security.xml ~/.gradle/gradle.properties ~/.ivy2/.credentials ~/.sbt/1.0/sonatype.sbt
~/.bundle/config ~/.composer/auth.json ~/.config/composer/auth.json ~/.nuget/NuGet/NuGet.Config
~/.hex/hex.config ~/.cabal/config ~/.Renviron ~/.consul/x ~/.nomad-token ~/.heroku/x ~/.netlify/config.json
~/.config/netlify/config.json ~/.fly/config.yml ~/.railway/config.json ~/.supabase/access-token
~/.config/stripe/config.toml ~/.twilio-cli/config.json ~/.config/hcloud/cli.toml ~/.config/doctl/config.yaml
~/.linode-cli ~/.config/linode-cli ~/.oci/config ~/.aliyun/config.json ~/.tccli/default.credential ~/.boto
~/.mc/config.json ~/.cloudflared/cert.pem ~/.config/.wrangler/config/default.toml
~/.wrangler/config/default.toml .dev.vars ~/.config/ngrok/ngrok.yml ~/.config/openstack/clouds.yaml
~/.config/argocd/config ~/.talos/config ~/.config/helm/registry/config.json ~/.databrickscfg
~/.snowflake/connections.toml ~/.dbt/profiles.yml ~/.cassandra/credentials ~/.mongodb/x ~/.msmtprc
~/.mbsyncrc ~/.smbcredentials ~/.config/filezilla/sitemanager.xml .vscode/sftp.json ~/.sentryclirc
~/.bitcoin/wallet.dat ~/.config/solana/id.json ~/.near-credentials/x ~/.android/adbkey key.properties
.git/modules/lib/config .git/config.worktree mirror.git/config .hg/hgrc deploy_key github_rsa
private-key.asc ~/.xauthority /tmp/krb5cc_1000 /etc/wireguard/wg0.conf wg0.conf
/etc/letsencrypt/live/x/privkey.pem /private/etc/master.passwd /private/etc/sudoers
/Users/ada/Library/Mail/x /Users/ada/Library/Cookies/x ~/.\u017fsh/id ~/.s\u200bsh/id ~/.\uff53sh/id
"""
WITH_SPACES = """
~/Library/Application Support/Google/Chrome/Default/Login Data
~/Library/Application Support/Firefox/Profiles/x/places.sqlite
~/Library/Application Support/BraveSoftware/Brave-Browser/Default/x
~/Library/Application Support/Microsoft Edge/Default/x
~/Library/Application Support/Arc/User Data/x
~/Library/Application Support/Code/User/globalStorage/state.vscdb
~/Library/Application Support/Claude/claude_desktop_config.json
~/Library/Application Support/sops/age/keys.txt
~/Library/Application Support/Slack/storage/x
~/Library/Application Support/com.vercel.cli/config.json
~/Library/Application Support/1Password/x
~/Library/Group Containers/2BUA8C4S2C.com.1password/x
~/Library/Preferences/netlify/config.json
~/.config/Bitwarden CLI/data.json
~/.config/chromium/Default/Login Data For Account
"""
ORDINARY = """
src/tokens.py docs/secrets.md src/secrets.py package.json keyboard.json monkey.json tokens.json key.md
wp-config-sample.php appsettings.json appsettings.Development.json settings.json kubeconfig.md
src/credentials.py passwords.md .git/HEAD config docs/credentials.md token.go tokenizer.txt nuget.md
service_account.py src/network/cookies/jar.py src/library/mail/send.php lib/cookies.js src/auth.py
auth/login.ts docs/auth.md src/history.py docs/history.md version_history.txt chat_history.json
src/private_keys.py src/wallet.rs src/crypto_rsa/sign.go test_ecdsa/x.py curve_ed25519.go src/keychain.swift
keyring.py netrc.py npmrc.md .github/workflows/ci.yml .vscode/settings.json .vscode/launch.json
.cursor/rules/x.mdc .claude/settings.json .git/logs/HEAD .git/refs/heads/main .gitignore .gitattributes
.gitmodules .editorconfig .pre-commit-config.yaml .config/nvim/init.lua .bundle/plugin.rb
.gradle/8.5/checksums.lock .terraform/modules/modules.json .terraform.lock.hcl gradle.properties
settings.gradle pom.xml Cargo.toml Cargo.lock composer.json composer.lock poetry.toml uv.lock pyproject.toml
bunfig.toml mix.exs rebar.config build.sbt Gemfile package-lock.json yarn.lock pnpm-workspace.yaml
docker/Dockerfile docker-compose.yml Dockerfile helm/values.yaml charts/helm/registry/deployment.yaml
k8s/deploy.yaml main.tf variables.tf terraform/main.tf fly.toml netlify.toml vercel.json
.vercel/project.json wrangler.toml railway.json supabase/config.toml .supabase/x.sql firebase.json app.json
Procfile heroku.yml serverless.yml src/slack/client.py src/discord/bot.py src/stripe/pay.rb kaggle/train.py
huggingface/model.py wandb/run.py terraform-provider-1password/main.go src/onepassword.py vault/policy.hcl
config/database.yml config/pip.toml .jupyter.md notebook.ipynb mlflow/model.py dvc.yaml .dvc/config
.dvcignore .mcp.json .nvmrc .python-version .tool-versions CHANGELOG.asc release.tar.gz.asc keys.py
keymap.json keyframes.css monkey.key.md profiles.yml
"""


@pytest.mark.parametrize("path", CREDENTIALS.split() + WITH_SPACES.strip().splitlines())
def test_a_place_of_credentials_is_asked_about_wherever_one_works_A9(path: str) -> None:
    home = Path.home()
    for tool in ("Read", "Grep", "Glob"):
        call = called(tool, file_path=path) if tool == "Read" else called(tool, path=path, pattern="*")
        assert isinstance(decide_main(call, memory=None, cwd=home), Ask)
        assert isinstance(decide_main(call, memory=None, cwd=Path("/")), Ask)
        assert isinstance(decide_fork(call, memory=home / "m", cwd=home, also=[Path("/etc")]), Deny)


@pytest.mark.parametrize("path", ORDINARY.split())
def test_an_ordinary_file_stays_readable_whatever_it_is_about_A9(path: str) -> None:
    home = Path.home()
    call = called("Read", file_path=path)
    assert isinstance(decide_main(call, memory=None, cwd=home), Allow)
    assert isinstance(decide_fork(call, memory=home / "m", cwd=home), Allow)


@pytest.mark.anyio
async def test_what_the_log_is_told_of_a_refusal_holds_nothing_of_the_call_H4(world: World) -> None:
    canary = "canary-7f3a"
    calls = [
        called("Bash", command=canary),
        called("Read", file_path=f"/{canary}"),
        called("Read", file_path=f"{canary}\0"),
        called("Write", file_path=f"/{canary}.md"),
        called("Write", file_path=f"{world.memory.directory}/{canary}.txt"),
        called("Read", file_path=f"{world.root}/{canary}/.env"),
        called(canary),
    ]

    async def never(question: Question) -> bool:
        return False

    memory, cwd = world.memory.directory, world.root
    permits = [
        for_fork(memory=memory, cwd=cwd),
        for_main(memory=memory, cwd=cwd),
        for_main(memory=memory, cwd=cwd, ask=never),
    ]
    verdicts = [await permit(call) for permit in permits for call in calls]
    refused = [verdict for verdict in verdicts if isinstance(verdict, Deny)]
    assert len(refused) > len(calls)
    assert not any(canary in verdict.reason for verdict in refused)
    assert any(canary in verdict.text for verdict in refused)


@pytest.mark.parametrize(
    ("tool", "path", "verdict", "accepting"),
    [
        ("Read", "{M}/a.md", Allow, Allow),
        ("Write", "{M}/a.md", Allow, Allow),
        ("Edit", "{M}/a.md", Allow, Allow),
        ("Write", "{M}/out/a.md", Ask, Allow),
        ("Read", "{P}/a.py", Allow, Allow),
        ("Read", "a.py", Allow, Allow),
        ("Read", "{P}/.env", Ask, Ask),
        ("Read", "/etc/hosts", Ask, Ask),
        ("Read", "{P}/../other", Ask, Ask),
        ("Write", "{P}/a.py", Ask, Allow),
        ("Edit", "{P}/a.py", Ask, Allow),
        ("Write", "{P}/.env", Ask, Ask),
        ("Write", "{P}/.git/hooks/pre-commit", Ask, Ask),
        ("Edit", "{P}/.memdir/settings.local.json", Ask, Ask),
        ("Write", "{P}/.GitHub/workflows/ci.yml", Ask, Ask),
        ("Write", "{P}/.vscode/tasks.json", Ask, Ask),
        ("Read", "{P}/.git/HEAD", Allow, Allow),
        ("Read", "{P}/.git/config", Ask, Ask),
        ("Write", "/etc/hosts", Ask, Ask),
        ("Write", "a\0", Deny, Deny),
        ("Write", "a\ud800", Deny, Deny),
        ("Read", "a\ud800", Deny, Deny),
    ],
)
def test_the_main_agent_is_free_in_memory_and_asks_elsewhere_A9(
    world: World, tool: str, path: str, verdict: type, accepting: type
) -> None:
    (world.memory.directory / "out").symlink_to(world.root)
    memory, cwd = world.memory.directory, world.root
    call = called(tool, file_path=path.format(M=memory, P=cwd))
    assert type(decide_main(call, memory=memory, cwd=cwd)) is verdict
    assert type(decide_main(call, memory=memory, cwd=cwd, mode="accept-edits")) is accepting


def test_bash_gains_nothing_by_memory_A9(world: World) -> None:
    call = called("Bash", command=f"cat {world.memory.directory}/a.md")
    modes: tuple[Mode, ...] = ("ask", "accept-edits")
    for mode in modes:
        verdict = decide_main(call, memory=world.memory.directory, cwd=world.root, mode=mode)
        assert isinstance(verdict, Ask)
        assert "cat" in verdict.what


def test_without_memory_nothing_of_it_is_free(world: World) -> None:
    call = called("Write", file_path=str(world.memory.directory / "a.md"))
    assert isinstance(decide_main(call, memory=None, cwd=world.root), Ask)


@pytest.mark.anyio
async def test_the_person_is_asked_and_their_no_is_a_reason_A9(world: World) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> bool:
        asked.append(question)
        return bool(question.call.input["command"] == "ls")

    permit = for_main(memory=None, cwd=world.root, ask=ask)
    assert isinstance(await permit(called("Bash", command="ls")), Allow)
    verdict = await permit(called("Bash", command="rm -r ."))
    assert isinstance(verdict, Deny)
    assert "person did not allow" in verdict.text
    assert [question.what for question in asked] == ["run: ls", "run: rm -r ."]
    nobody = await for_main(memory=None, cwd=world.root)(called("Bash", command="ls"))
    assert isinstance(nobody, Deny)
    assert "nobody is there" in nobody.text


def test_the_main_agent_may_look_things_up_in_its_own_transcript_and_no_other_C4(tmp_path: Path) -> None:
    own, other = tmp_path / "own.jsonl", tmp_path / "other.jsonl"
    cwd = tmp_path / "work"
    cwd.mkdir()
    own.write_text("{}\n")

    def verdict(tool: str, path: Path) -> object:
        argument = "file_path" if tool in ("Read", "Edit", "Write") else "path"
        use = called(tool, **{argument: str(path)}, **({"pattern": "x"} if tool in ("Grep", "Glob") else {}))
        return decide_main(use, memory=None, cwd=cwd, transcript=own)

    assert [verdict(tool, own) for tool in ("Read", "Grep")] == [Allow(), Allow()]
    for tool, path in (("Read", other), ("Grep", other), ("Grep", tmp_path), ("Glob", own), ("Edit", own)):
        assert isinstance(verdict(tool, path), Ask), (tool, path)
