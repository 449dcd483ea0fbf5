"""A path -> does it lead to a place where credentials are kept? One list, for permissions and for searches.

A background job never reads such a place, and the main agent asks before it does (A5, A9). The list errs on
the side of asking: a name on it costs a question, a name that is missing costs a key. A name that projects
use for other things too stands here with the folder, or the ending, that makes it a place of credentials.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

ANYWHERE = """
.ssh  .gnupg  .password-store  .age  .putty  .pki  keyrings  Keychains  kwalletd  .local/share/gopass
.step  .cosign  .globus  .cert  .Xauthority  .ICEauthority  krb5cc_*  .krb5cc*  .yubico  .config/Yubico
.config/age  .config/sops  Application?Support/sops  .config/op  .config/1Password  .1password
Application?Support/1Password*  Group?Containers/*1password*  .config/Bitwarden*
Application?Support/Bitwarden*  .config/rbw  .lastpass  .lpass  .local/share/lpass  .config/gopass
.config/keepassxc  .cache/keepassxc  .secret  .private-keys  private_key  private_keys

.aws  .azure  .kube  .docker  .dockercfg  .oci  .fly  gcloud  .aliyun  .tccli  .bluemix  .ibmcloud
.ovh.conf  .linode-cli  .doctl  .vultr-cli.yaml  .civo.json  .scwrc  .upctl.yaml  .exoscale  .s3cfg  .boto
.mc  .mcli  .config/hcloud  .config/doctl  .config/linode-cli  .config/scw  .config/yandex-cloud
.config/ionos*  .config/exoscale  .config/openstack  clouds.yaml  clouds-public.yaml  secure.yaml
Application?Support/doctl  .saml2aws  .awsvault  .aws-sso  .granted  .okta  .okta_aws_login_config
.legacy_credentials  .gsutil  .config/rclone  rclone.conf  .rclone.conf  .config/containers
.config/argocd  .argocd  .talos  talosconfig  helm/registry/config.json  .minikube  .rancher
.config/flyctl  .heroku  .netlify/config.json  .config/netlify  Preferences/netlify  .railway
.supabase/access-token  com.vercel.cli  .config/configstore  .cloudflared  .wrangler/config
.config/.wrangler  .dev.vars*  .config/firebase  .render/cli.yaml  .ngrok2  .config/ngrok
Application?Support/ngrok  .config/stripe  .twilio-cli  .config/shopify*  .sentryclirc  .newrelic
.config/datadog  .config/pulumi  .doppler  .infisical  .terraform.d  .terraformrc  .tofurc  terraform.rc
.vault-token  .consul-token  .nomad-token  .consul  .nomad  .chef  knife.rb
.vagrant.d/insecure_private_key*  .ansible/cp  .vault?pass*  vault?pass.txt  kubernetes.io/serviceaccount
.dockerconfigjson

.config/gh  .config/hub  .config/glab-cli  .config/tea  .config/git/credentials  .config/git/config
.gitconfig  .git-credentials  .git-credential-cache  .cache/git/credential  .gitcookies  .git/config
*.git/config  .git/config.worktree  .git/modules  .hgrc  .hg/hgrc  .subversion/auth
.git/objects  .git/lfs
.bazaar/authentication.conf  .cvspass  .config/github-copilot  .config/GitHub?Desktop  .jira.d
.config/.jira  .config/jira

.npmrc  .yarnrc  .yarnrc.yml  .config/pnpm  Preferences/pnpm  .bunfig.toml  .pypirc  pip.conf  pip.ini
pypoetry/auth.toml  uv/credentials  .condarc  anaconda-client  .continuum  .cargo/credentials
gem/credentials  .gem/credentials  .bundle/config  .m2/settings*.xml  .gradle/gradle.properties
.gradle/init.gradle*  .credentials  credentials.sbt  sonatype.sbt  .lein/profiles.clj  credentials.clj*
hex.config  .cabal/config  upload_config.lua  .Renviron  .composer/config.json  nuget.config
key.properties  keystore.properties  signing.properties  .android/adbkey*  .fastlane

.config/anthropic  .anthropic  .config/openai  .openai  .claude.json  oauth_creds.json
google_accounts.json  claude_desktop_config.json  mcp_settings.json  mcp_config.json  .cursor/mcp.json
.continue/config.*  state.vscdb*  .codeium  .tabnine  io.datasette.llm  .config/aichat  .local/share/crush
.sgptrc  .config/code-server  huggingface/token  huggingface/stored_tokens  .huggingface  .kaggle
.config/wandb  .comet.config  .config/comet*  .mlflow/credentials  .config/modal  .modal.toml
.config/replicate  .replicate  .runpod  .vast_api_key  .config/vastai  .dvc/config.local  .config/dvc
.jupyter  jupyter/runtime  jupyter_cookie_secret  .lambda_cloud

.netrc  _netrc  .authinfo*  .pgpass  pgpass.conf  .pg_service.conf  .my.cnf  .mylogin.cnf  .odbc.ini
.cassandra  .cqlshrc  .snowsql  .snowflake  snowflake/connections.toml  .dbt  .databrickscfg  .influxdbv2
.clickhouse-client  .mongorc.js  .mongodb  .dbshell  .redisclirc  .neo4j  DBeaverData

.mozilla  .thunderbird  .librewolf  .zen  Login?Data  cookies.sqlite  *.binarycookies
.config/google-chrome*  .config/chromium  .config/microsoft-edge*  .config/BraveSoftware  .config/vivaldi*
.config/opera*  Google/Chrome  Application?Support/Chromium  Application?Support/Firefox
Application?Support/BraveSoftware  Application?Support/Microsoft?Edge  Application?Support/Arc
Application?Support/Vivaldi  Application?Support/com.operasoftware.Opera  snap/chromium  User?Data/Default
.config/Slack  Application?Support/Slack  .config/discord  Application?Support/discord  .config/Signal
Application?Support/Signal  TelegramDesktop  .config/Element  .config/teams*  .msmtprc  .config/msmtp
.fetchmailrc  .getmail  .mbsyncrc  .offlineimaprc  .config/aerc  .config/himalaya  .smbcredentials
.smbcreds  .davfs2  .config/filezilla  sitemanager.xml  recentservers.xml  .ftpconfig  sftp-config.json
.vscode/sftp.json  .remmina  .local/share/remmina  WinSCP.ini  .bitcoin  .electrum  .ethereum  .litecoin
.monero  .config/solana  .near-credentials  wallet.dat

.*_history  .histfile  .history  .zhistory  ConsoleHost_history.txt  fish_history  ghci_history
history.sqlite*  nushell/history.txt  .irb-history  .bash_sessions  .zsh_sessions  .local/share/atuin
.lesshst  .viminfo  nvim/shada

*.env  .env.*  .env~  .env-*  .env_*  .envrc  .netrc~
*.tfvars  *.tfvars.json  *.tfstate  *.tfstate.*  *.pem  *.key  *.p8  *.p12  *.pfx
*.pkcs12  *.ppk  *.jks  *.jceks  *.bcfks  *.keystore  *.kdbx  *.keytab  *.ovpn  *.agekey  *.agilekeychain
*.opvault  *.publishsettings  private*.asc  secret*.asc  wg?.conf  id_rsa*  id_dsa*  id_ecdsa*
id_ed25519*  deploy_key  deploy_rsa  deploy_ed25519  github_rsa  github_ed25519  gitlab_rsa
gitlab_ed25519  bitbucket_rsa  ssh_host_*_key  .htpasswd  kubeconfig  kubeconfig*.yaml  kubeconfig*.yml
*.kubeconfig  wp-config.php  LocalSettings.php  local.settings.json  appsettings.prod*.json
appsettings.*.prod*.json  secret_token.rb

secrets  .secrets  secrets.*.yaml  secrets.*.yml  *.secrets.yaml  *.secrets.yml  secrets.json
secrets.toml  secrets.ini  secrets.yaml  secrets.yml  token.txt  tokens.txt  password.txt  passwords.txt
key.txt  keys.txt  *-key.json  auth.json  logins.json  key4.db  client_secret*.json  *credentials*.json
credentials.toml  credentials.yaml  credentials.yml  credentials.xml  credentials.ini  credentials.db
credentials.properties  service?account*.json  serviceaccount*.json  *-service?account*.json
*firebase-adminsdk*.json
"""
"""Names of files and folders, some with the folder they stand in; `*` and `?` stand for parts of one name.
The configuration of a git repository may hold a token, in the address of its remote; a history of a shell,
an editor or a pager, what was typed into it."""

AT_ROOT = """
/proc  /run/secrets  /var/run/secrets  /run/credentials  /run/user/*/keyring  /run/user/*/containers
/etc/shadow*  /etc/gshadow*  /etc/master.passwd*  /etc/sudoers*  /etc/security/opasswd  /etc/kubernetes
/etc/rancher  /etc/ssl/private  /etc/pki/tls/private  /etc/letsencrypt  /etc/wireguard  /etc/openvpn
/etc/ipsec.secrets  /etc/ipsec.d/private  /etc/ppp/*-secrets  /etc/NetworkManager/system-connections
/var/lib/NetworkManager  /var/lib/kubelet  /var/lib/rancher  /var/lib/tailscale  /var/lib/sss
/var/db/dslocal  /Users/*/Library/Cookies  /Users/*/Library/Safari  /Users/*/Library/Mail
/Users/*/Library/Messages
"""
"""Places of a machine. `/proc` shows the environment of processes, this one's with its keys included. On
macOS some of them really are below `/private`."""


def _expression(patterns: str) -> str:
    return "|".join(
        re.escape(one.casefold()).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") for one in patterns.split()
    )


PATTERN = f"(?:(?:^|/)(?:{_expression(ANYWHERE)})|^(?:/private)?(?:{_expression(AT_ROOT)}))(?:/|$)"
"""The list as a regular expression, to be searched for in a case-folded path with `/`."""

_PATTERN = re.compile(PATTERN)


def holds_secrets(path: str) -> bool:
    """Whether a path, as it is written, leads to a place of credentials: a folder on the way, or the file."""
    return _PATTERN.search(_folded(path.replace(os.sep, "/"))) is not None


def leads_to_secrets(path: Path) -> bool:
    """Whether a path, as written or where it really leads, is a place of credentials."""
    return holds_secrets(str(path)) or holds_secrets(os.path.realpath(path))


def _folded(path: str) -> str:
    """The path as a disk may read it that takes no notice of case, form, or characters that nobody sees."""
    if path.isascii():
        return path.lower()
    seen = "".join(letter for letter in path if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
