"""Values that their surroundings call a secret: names of passwords and keys in many languages, URLs, headers,
command lines, settings files.

The patterns run on lower-cased text; the last group of each is the value.
"""

from __future__ import annotations

from memdir.secrets.rules import Place
from memdir.secrets.values import (
    is_basic,
    is_key,
    is_login,
    is_long_key,
    is_password,
    is_phrase,
    is_pin,
    is_strong,
    is_unmistakable,
)

# ----------------------------------------------------------------------------------------------- names

# Every alternative begins with a letter as such, so that the search leaps to the next of these.
_NAMES_OF_PASSWORDS = (
    r"(?:pass(?:word|wort|wd|phrase|code|w\b|ord)|p(?<![a-z]p)w\b|pwd|parola\b|kennwort|kata sandi|"
    r"zugangscode|contrase[ñn]a|senha|"
    r"salasana|mots? de passe|mdp\b|mật khẩu|wachtwoord|has[łl]o|heslo|парол[ьяюе]м?|lösenord|"
    r"adgangskode|jelszó|şifre|"
    r"recovery code|backup code|密\s?码|密碼|口令|恢复码|パスワード|パスフレーズ|暗証番号|비밀번호|비번|암호)"
)
_NAMES_OF_SECRETS = (
    r"(?:secret|token|credential|passkey|p(?<![a-z]p)at\b|psk\b|s(?<=_s)(?:as|alt|k)\b|clave|chave|chiave|"
    r"schl(?:ü|ue)ssel|clé\b|jeton|密钥|秘钥|密鑰|金鑰|私钥|令牌|凭证|凭据|トークン|秘密鍵|キー|シークレット|토큰|시크릿|"
    r"키(?<=api키)|키(?<=api 키)|비밀키|ключ|токен|секрет)"
)
_WHAT_KEY = (
    r"(?:api|access|account|auth|private|master|signing|encryption|service|client|app|application|admin|"
    r"write|deploy|"
    r"licen[cs]e|integration|routing|storage|shared|pre-?shared|server|jwt|hmac|webhook|subscription|"
    r"function|security|"
    r"cookie|rpc|ingest|ingestion|ssh|crypt|cipher|hash|salt|secret|live|production|rest|owner|wallet|"
    r"billing|root|bot|unseal|recovery|backup|database)"
    r"[ _-]?$"
)
_NO_SECRETS = (
    r"(?<![a-z])(?:next|page|nextpage|pagination|continuation|cursor|sync|resume|idempotency|public|publishable|"
    r"cancel|cancellation|max|min|"
    r"num|pad|eos|bos|sort|partition|primary|cache|foreign|unknown|stop|special)[ _-]?$|:\d{12}:$"
)
_NO_KEYS = (
    rf"{_NO_SECRETS}|(?:object|s3|blob|file|row|map|lookup|group|join|index|redis|range|document|item|config|"
    r"message|event|list|dedup|site|host)$"
)
_WHICH = (
    r"(?:[_-](?:prod|production|staging|stage|dev|test|live|old|new|backup|main|master|admin|primary|"
    r"secondary|raw|value|"
    r"string|b64|base64|hex|eu|us|v?\d{1,2})| #?\d{1,2})?"
)
_NAME_END = (
    rf"(?:(?:[_-]?access)?[_-]?key(?:[_-]?base)?|s|e|es|er)?{_WHICH}"  # of `SECRET_ACCESS_KEY`, `tokens`
)

# ------------------------------------------------------------------- what says that the value comes next

_WHOSE = (
    r"(?: ?\([^()\n]{1,40}\)| (?:for|of|to|on|in|at|de|del|de la|da|do|du|della|para|für|fürs|vom|von|"
    r"van|voor|pour|per|od|для|от)"
    r" (?:[^\n.,:;=]|[.,:](?=\w)){1,40}?(?![a-z0-9]))?"
)
_IS = (
    r"\s(?:is|was|will be|should be|now|to|es|está|ist|lautet|war|est|è|é|jest|är|er|on|=)"
    r"(?: (?:now|currently|changed to|set to|reset to|simply|just|still|jetzt|ahora|agora|maintenant|ora|"
    r":))?(?=[\s:：])"
)
_TURNED = (
    r"\s(?:has been |was |been |got |is )?(?:changed|set|reset|updated|rotated|switched) (?:to|as)(?=\s)"
)
_FAR_EAST = (
    r"\s?(?:仍然是|还是|就是|现在是|是|为|改成了?|改为了?|设[为成]|设置[为成]|更新为|换成了?|变成了?|已改为|叫|は|を|が|은|는|이|가)"
    r"(?:今|現在|지금)?"
)
_TYPE = r"(?: ?\??: ?(?:str|string|bytes|secretstr|&str|optional\[str\]|str \| none|&'static str)(?= ?=))?"
_SAYS = (
    rf"[\"'`*_]{{0,3}}{_WHOSE}[\"'`*_]{{0,3}}\]?{_TYPE}"
    rf"(?:\s{{0,4}}(?:=>|:=|->|→|==?|[:：＝])|{_TURNED}|{_FAR_EAST}|{_IS}|\s[-–—](?=\s)|[ \t]{{0,9}}\|"
    rf"(?=[ \t])(?!\s*\n)|"
    r"[\"']?[,\s]{0,12}\"?\b(?:value|val|content|default)\"?\s?[:=]|\((?=[\"'])|[\"']>(?=\S)"
    r"){1,2}"
)

# ------------------------------------------------------------------------------------------------ values

_QUOTED = r"\"(?:[^\"\n\\]|\\.){4,300}+\"|'[^'\n]{4,300}'|`[^`\n]{4,300}`"
_BARE = r"[!#-&(-;=-_a-~§£€à-ɏ]{4,500}"  # no quotes, no `<`, no letters of scripts that need no blanks
_VALUE = rf"\s{{0,4}}(?:!!str )?[*_「『“”‘’«„‚（【]{{0,4}} ?({_QUOTED}|{_BARE})"

_PASSWORD_KEYS = (
    "pass", "pw", "kennwort", "zugangscode", "contrase", "senha", "mdp", "wachtwoord", "has", "парол",
    "lösenord", "adgangskode", "heslo", "jelsz", "salasana", "şifre", "parola", "mật", "sandi", "code", "密",
    "口令", "恢复码", "パス", "暗証", "비밀", "암호", "비번",
)  # fmt: skip
_KEY_KEYS = (
    "secret", "token", "credential", "passkey", "pat", "psk", "_sas", "_salt", "_sk", "clave", "chave",
    "chiave", "schl", "clé", "jeton", "钥", "鑰", "令牌", "凭", "トークン", "鍵", "キー", "シークレット",
    "토큰", "시크릿", "키", "ключ",
    "токен", "секрет",
)  # fmt: skip

PLACES = (
    Place(
        name="password in a URL",
        keys=("://",),
        pattern=r"://[^\s/:@\"'<>`]{0,64}:([^\s/@\"'<>`]{3,200})@(?=[\w.\[-])",
        accepts=is_login,
    ),
    Place(
        name="token in a URL",
        keys=("://",),
        pattern=r"://([\w.~-]{36,200})@(?=[\w.-])",
        accepts=is_key,
    ),
    Place(
        name="login on a command line",
        keys=("-u", "--user", "--proxy-user"),
        pattern=r"\b(?:curl|wget|https?|xh|lftp|smbclient|swaks)\b[^\n]{0,300}?\s(?:-u|--user|"
        r"--proxy-user|-a|--auth)[ =]?"
        r"[\"']?[^\s:%\"']{1,64}[:%]([^\s\"']{3,200})",
        accepts=is_login,
    ),
    Place(
        name="authorization header",
        keys=("basic",),
        pattern=r"\bbasic +([a-z0-9+/_-]{8,1000}={0,2})",
        accepts=is_basic,
    ),
    Place(
        name="authorization header",
        keys=("bearer", "ssws", "authorization"),
        pattern=r"\b(?:(?:bearer|ssws)[\"']? +|"
        r"authorization[\"']?\s?[:=]\s?[\"']?(?:[a-z]{2,12}(?: token=| apikey=| |=)\s?)?)"
        r"[\"']?([\w.~+/=:-]{16,2000})",
        accepts=is_key,
    ),
    Place(
        name="cookie",
        keys=("cookie",),
        pattern=r"cookie[\"']?\s?[:=][^\n]{0,160}?(?:sess|sid|auth|token|jwt|"
        r"remember)[^\s=;]{0,20}=([^\s;\"']{16,500})",
        accepts=is_key,
    ),
    Place(
        name="signed URL",
        keys=("sig=", "signature="),
        pattern=r"[?&](?:sig|x-amz-signature|x-goog-signature|signature)=([\w%+/=-]{32,700})",
        accepts=is_key,
    ),
    Place(
        name="key in a URL",
        keys=("key=", "token=", "auth=", "secret=", "pwd=", "pass="),
        pattern=r"[?&](?:key|api-?key|api_key|auth|\w{0,20}_key|pwd|pass)=([!$%*-;=?@_a-z~]{16,400})",
        accepts=is_key,
    ),
    Place(
        name="registry login",
        keys=('"auth"', "_auth"),
        pattern=r"(?:\"auth\"\s?:\s?\"|\b_auth ?= ?\"?)([a-z0-9+/]{12,500}={0,2})",
        accepts=lambda value: is_basic(value) or is_key(value),
    ),
    Place(
        name="AWS secret key",
        keys=("akia", "asia"),
        pattern=r"\ba(?:kia|sia)[a-z2-7]{16}\W{1,12}(?:[a-z_ ]{0,30}\W{1,6})?([a-z0-9+/]{40})(?![a-z0-9+/=])",
        accepts=is_key,
    ),
    Place(
        name="recovery phrase",
        keys=("phrase", "mnemonic", "助记词", "シード"),
        pattern=r"(?:phrase|mnemonic|助记词|シードフレーズ)[^\n]{0,20}?(?:[:=：是]|"
        r"\sis\b)\s{0,4}[\"'`*“「]{0,3}((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
        accepts=is_phrase,
    ),
    Place(
        name="password",
        keys=_PASSWORD_KEYS,
        pattern=rf"{_NAMES_OF_PASSWORDS}{_NAME_END}{_SAYS}{_VALUE}",
        accepts=is_password,
    ),
    Place(
        name="password",
        keys=("pass", "pw", "密", "口令", "bind"),
        pattern=rf"(?:--?(?:passw(?:or)?d|pass|pwd)[ =]|(?<![a-z])pass[\"']?\s?[:=]|密码 |口令 |"
        rf"\bbindpw ){_VALUE}",
        accepts=is_password,
    ),
    Place(
        name="password",
        keys=("pass", "pw"),
        pattern=rf"\b(?:password|passwd|passwort|passcode|passphrase|pwd|pw|pass)\s{{1,3}}{_VALUE}",
        accepts=is_strong,
    ),
    Place(
        name="password",
        keys=_PASSWORD_KEYS,
        pattern=rf"{_NAMES_OF_PASSWORDS}(?: [^\W\d]{{2,20}}){{1,2}} ?[ =:：]{_VALUE}",
        accepts=is_unmistakable,
    ),
    Place(
        name="password",
        keys=(" password ",),
        pattern=rf"\blogin \S{{1,60}}\s{{1,9}}password ({_BARE})",
        accepts=is_login,
    ),
    Place(
        name="password",
        keys=("pass", "pw", "pwd", "contrase", "passwort"),
        pattern=r"(?<!\S)[\"'`*]{0,3}([!#-&(-;=-_a-~]{8,80})[\"'`*]{0,3} (?:as|is|ist|es|is still|"
        r"als) (?:the|our|my|your|a|its|das|la) "
        r"(?:[a-z]{1,15} ){0,3}?(?:password|passwort|passphrase|passwd|pw|pwd|contraseña|api key|token|"
        r"secret)\b",
        accepts=is_strong,
    ),
    Place(
        name="password",
        keys=("<pass", "<pwd", "password>", "secret>", "token>", "key>"),
        pattern=r"<(?:\w{0,30}[:.-])?\w{0,20}(?:password|passwd|passphrase|pwd|secret|token|"
        r"api-?key)(?:\s[^<>\n]{0,80})?>\s{0,4}([^\s<>]{4,300})\s{0,4}</",
        accepts=is_password,
    ),
    Place(
        name="PIN",
        keys=("pin",),
        pattern=r"\bpin(?: code| number|-code)?(?: (?:for|of|to) [^\n.,:;=]{1,30}?)?(?:\s?[:：]\s?| is |"
        r" lautet | ist )(\d{4,8})(?![\w.,:/-]*\w)",
        accepts=is_pin,
    ),
    Place(
        name="login",
        keys=("login", "log in", "sign in", "cred", "zugang", "account", "账号", "账户", "登录",
              "アカウント", "user", "accès", "acceso"),
        pattern=r"(?:\b(?:logins?|(?:log ?in|sign in) (?:with|as)|cred(?:ential)?s?|zugang(?:sdaten)?|accès|"
        r"acceso|user(?:name)?)(?![\w-])|账号|账户|登录|アカウント)[\"'`*]{0,3}"
        r"(?: [^\n:,;/]{1,30}(?=[:：]))?(?:\s?[:：=是]|\s(?:is|are|sind|"
        r"with))?\s{0,2}[\"'`*]{0,3}[\w.@+-]{2,50}[\"'`*]{0,3}"
        rf"(?:\s?[/:|,，、](?!/|\d{1,5}/)\s?|\s(?:and|und|y|et|with|mit)\s)(?:pass\w{{0,5}}:? |pw:? |"
        rf"密码:?)?[\"'`*]{{0,3}}({_BARE})",
        accepts=is_strong,
        unless=r"//$",
    ),
    Place(
        name="password on a command line",
        keys=("mysql", "mariadb"),
        pattern=r"\b(?:mysql|mariadb)\w*\b[^\n|;&]{0,200}? -p[\"']?([^\s\"'`]{4,200})",
        accepts=is_login,
    ),
    Place(
        name="password on a command line",
        keys=("sshpass", "docker login", "podman login", "redis-cli", "htpasswd", "ldap", "chpasswd",
              "mongo", "pass:",
              "requirepass", "masterauth", "identified", "net use", "7z", "zip", "sqlcmd", "rabbitmqctl"),
        pattern=r"(?:\bsshpass -p ?|\b(?:docker|podman|helm registry|oc|"
        r"az acr) login\b[^\n]{0,200}? -p ?|\bredis-cli\b[^\n]{0,80}? -a ?|"
        r"\bhtpasswd -\w{0,4}b\w{0,4} \S{1,80} \S{1,40} |\bldap\w{3,8}\b[^\n]{0,200}? -w ?|"
        r"\bmongo\w{0,8}\b[^\n]{0,200}? -p ?|"
        r"-pass(?:in|out)? pass:|\brequirepass |\bmasterauth |\bidentified by (?!`)|"
        r"\bnet use [^\n]{0,80}/user:\S{1,60} |"
        r"\b7za? [^\n]{0,80}? -p|\bzip [^\n]{0,40}?-p ?|\bsqlcmd\b[^\n]{0,200}? -p ?|"
        r"\brabbitmqctl \w{3,20} \S{1,40} |"
        rf"\becho [\"']?[\w.-]{{1,40}}:(?=[^\n]{{4,200}}chpasswd))({_QUOTED}|{_BARE})",
        accepts=lambda value: is_login(value.strip("\"'`")) and (is_strong(value) or is_password(value)),
    ),
    Place(
        name="password on a command line",
        keys=("--stdin", "password-stdin", "sudo -s"),
        pattern=rf"\becho (?:-n )?({_QUOTED}|{_BARE}) ?\|(?=[^\n]{{0,80}}(?:--stdin|password-stdin|sudo -s))",
        accepts=is_password,
    ),
    Place(
        name="login",
        keys=("@",),
        pattern=r"(?<![\w/.-])(?!(?:npm|workspace|file|link|git|pkg|mailto|sip|xmpp):)[\w.-]{1,40}:"
        r"([^\s/@\"'<>`]{8,80})@(?=(?:\d{1,3}\.){3}\d|[a-z][\w-]{0,62}\.[a-z])",
        accepts=is_strong,
    ),
    Place(
        name="password file",
        keys=(":5432:", ":6432:", ":*:", "pgpass"),
        pattern=r"(?:^|\s|`)[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:([^\s`\"']{4,200})",
        accepts=is_login,
    ),
    Place(
        name="login of a database",
        keys=("sqlplus", "thin:", "oracle"),
        pattern=r"(?:\bsqlplus (?:-\w{1,4} )?|thin:)[\w$]{1,40}/([^\s/@\"']{4,100})@",
        accepts=is_login,
    ),
    Place(
        name="key or token",
        keys=("key",),
        pattern=rf"key(?:[_-]?data|[_-]?base)?s?{_WHICH}{_SAYS}{_VALUE}",
        accepts=is_key,
        only=_WHAT_KEY,
    ),
    Place(
        name="key or token",
        keys=_KEY_KEYS,
        pattern=rf"{_NAMES_OF_SECRETS}{_NAME_END}{_SAYS}{_VALUE}",
        accepts=is_key,
        unless=_NO_SECRETS,
    ),
    Place(
        name="key or token",
        keys=("_key",),
        pattern=rf"_key{_WHICH}[\"']?\s?[=:]{_VALUE}",
        accepts=is_long_key,
        unless=_NO_KEYS,
    ),
    Place(
        name="key or token",
        keys=("define(",),
        pattern=rf"\bdefine\(\s?[\"']\w{{0,40}}(?:key|salt|password|secret|token)[\"']\s?,\s?({_QUOTED})",
        accepts=is_password,
    ),
    Place(
        name="key or token",
        keys=("setx ", "set -", "setenv "),
        pattern=r"\b(?:setx|set -\w{0,3}x\w?|setenv) \w{0,40}(?:key|token|secret|passw(?:or)?d|pwd|pass)"
        rf" {{1,3}}({_QUOTED}|{_BARE})",
        accepts=is_password,
    ),
    Place(
        name="key or token",
        keys=("--token", "--api", "--secret", "--key", "--auth"),
        pattern=rf"--[\w-]{{0,30}}(?:token|api-key|apikey|secret|auth-key)[ =]({_QUOTED}|{_BARE})",
        accepts=is_key,
    ),
    Place(
        name="key or token",
        keys=("key", "token", "secret"),
        pattern=r"\b(?:token|secret)\s{1,2}[\"'`*]{0,3}([\w.~+/=-]{20,400})",
        accepts=lambda value: is_key(value) and is_strong(value),
        unless=_NO_SECRETS,
    ),
    Place(
        name="key or token",
        keys=("key ",),
        pattern=r"key(?: \d{1,2})?\s{1,2}[\"'`*]{0,3}([\w.~+/=-]{20,400})",
        accepts=lambda value: is_key(value) and is_strong(value),
        only=_WHAT_KEY,
    ),
)  # fmt: skip
