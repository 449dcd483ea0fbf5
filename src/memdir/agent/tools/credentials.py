"""A path -> does it lead to a place where credentials are kept? One list, for permissions and for searches.

A background job never reads such a place, and the main agent asks before it does (A5, A9). The list errs on
the side of asking: a name on it costs a question, a name that is missing costs a key.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

ANYWHERE = """
.ssh  .aws  .azure  .gnupg  .kube  .docker  .dockercfg  .oci  .fly  .terraform.d  .terraformrc  .putty  .age
gcloud  keyrings  Keychains  .password-store  .bitcoin  .electrum  .mozilla  .thunderbird  Login?Data

.config/gh  .config/hub  .config/glab-cli  .config/git/credentials  .config/op  .config/age  .config/sops
.config/rclone  .config/doctl  .config/containers  .config/configstore  .config/github-copilot  .config/stripe
.config/google-chrome  .config/chromium  .config/microsoft-edge  .config/BraveSoftware
Google/Chrome  Application?Support/Firefox  kubernetes.io/serviceaccount
.cargo/credentials  .gem/credentials  .m2/settings*.xml  .gradle/gradle.properties

.netrc  _netrc  .authinfo*  .pgpass  .my.cnf  .mylogin.cnf  .git-credentials  .npmrc  .yarnrc.yml  .pypirc
.htpasswd  .s3cfg  .boto  .vault-token  .vault?pass*  vault?pass.txt  .dockerconfigjson
.git/config  .claude.json  .*_history  .histfile  fish_history

*.env  .env.*  .envrc  *.tfvars  *.tfvars.json  *.tfstate  *.tfstate.*
*.pem  *.key  *.p8  *.p12  *.pfx  *.ppk  *.jks  *.keystore  *.kdbx  *.keytab  *.ovpn
id_rsa*  id_dsa*  id_ecdsa*  id_ed25519*  ssh_host_*_key

kubeconfig  kubeconfig*.yaml  kubeconfig*.yml  *.kubeconfig  wp-config.php  nuget.config  local.settings.json
appsettings.prod*.json  appsettings.*.prod*.json

secrets  .secrets  secrets.*.yaml  secrets.*.yml  *.secrets.yaml  *.secrets.yml
secrets.json  secrets.toml  secrets.ini  secrets.yaml  secrets.yml  token.txt  tokens.txt  password.txt
passwords.txt  key.txt  keys.txt  *-key.json  auth.json  logins.json  key4.db  client_secret*.json
*credentials*.json  credentials.toml  credentials.yaml  credentials.yml  credentials.xml  credentials.ini
credentials.db  service?account*.json  serviceaccount*.json  *-service?account*.json  *firebase-adminsdk*.json
"""
"""Names of files and folders, some with the folder they stand in; `*` and `?` stand for parts of one name.
The configuration of a git repository may hold a token, in the address of its remote."""

AT_ROOT = """
/proc  /run/secrets  /var/run/secrets  /etc/shadow*  /etc/gshadow*  /etc/sudoers*  /etc/kubernetes
/etc/ssl/private  /etc/NetworkManager/system-connections  /var/lib/kubelet
"""
"""Places of a machine. `/proc` shows the environment of processes, this one's with its keys included."""


def _expression(patterns: str) -> str:
    return "|".join(
        re.escape(one.casefold()).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") for one in patterns.split()
    )


PATTERN = f"(?:(?:^|/)(?:{_expression(ANYWHERE)})|^(?:{_expression(AT_ROOT)}))(?:/|$)"
"""The list as a regular expression, to be searched for in a case-folded path with `/`."""

_PATTERN = re.compile(PATTERN)


def holds_secrets(path: str) -> bool:
    """Whether a path, as it is written, leads to a place of credentials: a folder on the way, or the file."""
    return _PATTERN.search(path.replace(os.sep, "/").casefold()) is not None


def leads_to_secrets(path: Path) -> bool:
    """Whether a path, as written or where it really leads, is a place of credentials."""
    return holds_secrets(str(path)) or holds_secrets(os.path.realpath(path))
