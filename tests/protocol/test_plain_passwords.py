"""Passwords that are words, by their place in settings, calls, commands and sentences; and words that are none."""

from __future__ import annotations

import pytest

from aurora_protocol.login_calls import login_arguments_in
from aurora_protocol.login_commands import login_options_in
from aurora_protocol.plain_passwords import is_plain
from aurora_protocol.secret_mask import blanked, masked

WORD = "sunshine"

SETTINGS = {
    "a field": 'connect(user="ann", password="{}")',
    "a default of a parameter": 'def connect(host, password="{}"): ...',
    "a comparison": 'return password == "{}"',
    "a type before it": 'private readonly adminPassword: string = "{}";',
    "a type of Basic": 'Dim pwd As String = "{}"',
    "an array of PHP": "'password' => '{}'",
    "a setter": 'db.setPassword("{}");',
    "a constant of PHP": "define( 'DB_PASSWORD', '{}' );",
    "a default of the environment": 'process.env.DB_PASSWORD || "{}"',
    "a default of Kotlin": 'System.getenv("DB_PASSWORD") ?: "{}"',
    "a default of Rust": 'env::var("DB_PASSWORD").unwrap_or("{}".into())',
    "a default of the shell": 'PASS="${{PASS:-{}}}"',
    "a default of Java": 'getenv().getOrDefault("DB_PASSWORD", "{}")',
    "a default of an option": "parser.add_argument('--password', default='{}')",
    "filled in": "page.fill('#password', '{0}'); fill_in 'Password', with: '{0}'",
    "typed": "cy.get('input[name=password]').type('{0}'); find(By.ID, 'password').send_keys('{0}')",
    "a variable": "export RESTIC_PASSWORD={}",
    "a variable before a command": "PGPASSWORD={} psql -h db",
    "a variable of make": "DB_PASSWORD ?= {}",
    "an image": "ENV POSTGRES_PASSWORD {}",
    "an element": "<username>ci</username><password>{}</password>",
    "an element with a name": '<property name="hibernate.connection.password">{}</property>',
    "attributes": '<add key="DbPassword" value="{}" />',
    "a keystore of Gradle": "storePassword '{}'",
    "properties": "spring.datasource.username=shop\nspring.datasource.password={}\n",
    "YAML": "smtp:\n  user: bot\n  password: {}\n",
    "a setting without a sign": "remote_username ops\nremote_password {}\n",
    "a connection": '"host=db user=app password={} dbname=shop"',
    "ODBC": '"Server=db;UID=etl;PWD={}"',
    "a mount": "//srv/x /mnt cifs username=ops,password={} 0 0",
    "an inventory": "10.0.0.1 ansible_user=root ansible_ssh_pass={} ansible_become_pass=x",
    "a router": "enable secret 0 {}",
    "a role of SQL": "ALTER ROLE app PASSWORD '{}';",
    "a user of SQL": "CREATE USER ann IDENTIFIED BY '{}';",
    "a variable of Terraform": 'variable "db_password" {{\n  type = string\n  default = "{}"\n}}',
    "Go's MySQL": '"root:{}@tcp(127.0.0.1:3306)/shop"',
    "Oracle": '"jdbc:oracle:thin:scott/{}@//ora:1521/XE"',
    "a script that types": 'expect "assword:"\nsend "{}\\r"',
    "a script of Python that types": 'child.expect("password:")\nchild.sendline("{}")',
    "French": "Identifiant : admin, mot de passe : {}",
    "Spanish": "Usuario: admin, contraseña: {}",
    "German": "Benutzer admin, Passwort: {} (bitte ändern)",
    "Russian": "Логин: admin, пароль: {}",
    "Chinese": "用户名：admin 密码：{}",
    "said": "The new password is {}, tell ops.",
    "said with the user": "Log in as admin with password {} on staging.",
    "a pair": "Staging login: admin / {}",
}

CALLS = {
    "Go's basic": 'req.SetBasicAuth("admin", "{}")',
    "Go's mail": 'gomail.NewDialer("smtp.example.com", 587, "bot", "{}")',
    "Go's smtp": 'smtp.PlainAuth("", "bot", "{}", host)',
    "Java's connection": 'DriverManager.getConnection("jdbc:mysql://db/shop", "root", "{}")',
    "Java's mail": 'new PasswordAuthentication("bot", "{}".toCharArray())',
    "C#": 'new NetworkCredential("svc", "{}", "ACME")',
    "PHP's PDO": 'new PDO("mysql:host=db", "root", "{}")',
    "PHP's mysqli": "new mysqli('db', 'root', '{}', 'shop')",
    "PHP's FTP": "ftp_login($connection, 'ann', '{}')",
    "Ruby": 'request.basic_auth "admin", "{}"',
    "Rust": 'client.get(url).basic_auth("admin", Some("{}"))',
    "Perl": 'DBI->connect("dbi:mysql:shop", "root", "{}")',
    "C": 'mysql_real_connect(c, "db", "root", "{}", "shop", 0)',
    "Lua": 'red:auth("{}")',
    "requests": 'requests.get(url, auth=("admin", "{}"))',
    "another name for requests": 'client(http_auth=("admin", "{}"))',
    "a function of one's own": 'withMyBasicAuth("admin", "{}")',
    "ftplib": 'ftp.login("deploy", "{}")',
    "paramiko": 'ssh.connect("10.0.0.4", 22, "root", "{}")',
    "MySQLdb": 'MySQLdb.connect("localhost", "root", "{}", "shop")',
    "LDAP": 'conn.simple_bind_s("cn=admin", "{}")',
    "Firebase": 'signInWithEmailAndPassword("a@example.com", "{}")',
    "over lines": 'HTTPBasicAuth(\n    "admin",\n    "{}",\n)',
    "in JSON": '{{"x": "req.SetBasicAuth(\\"ann\\", \\"{}\\")"}}',
}

COMMANDS = {
    "curl": "curl -s -u admin:{} https://x.example.com",
    "mysql": "mysql -h db -uroot -p{} shop",
    "mongosh": "mongosh --host db -u root -p {}",
    "Redis": "redis-cli -h cache -a {} PING",
    "a registry": "docker login -u ci -p {} registry.example.com",
    "zip": "zip -P {} out.zip a.txt",
    "7z": "7z a -p{} out.7z a.txt",
    "LDAP": "ldapsearch -x -D cn=admin -w {} -b dc=x",
    "ssh-keygen": "ssh-keygen -t ed25519 -N {} -f id",
    "ipmitool": "ipmitool -H bmc -U admin -P {} power on",
    "sqlcmd": "sqlcmd -S db -U sa -P {} -Q 'select 1'",
    "sqlplus": "sqlplus scott/{}@orcl",
    "keytool": "keytool -genkey -storepass {}",
    "gpg": "gpg --batch --passphrase {} -d a.gpg",
    "gh": "gh secret set DEPLOY_KEY --body {}",
    "an option": "wget --user=ops --password={} https://x.example.com",
    "another option": "aws cognito-idp set --username a --password {}",
    "an option in an option": "kubectl create secret generic db --from-literal=password={}",
    "cmdkey": "cmdkey /add:srv /user:ops /pass:{}",
    "net use": r"net use Z: \\srv\share {} /user:ops",
    "freerdp": "xfreerdp /u:ops /p:{} /v:win1",
    "smbclient": "smbclient //srv/share -U 'ops%{}'",
    "nmcli": "nmcli dev wifi connect Office password {}",
    "htpasswd": "htpasswd -bc .htpasswd ann {}",
    "rclone": "rclone obscure {}",
    "CURLOPT": 'curl_easy_setopt(c, CURLOPT_USERPWD, "admin:{}");',
}

ALL = {
    f"{kind}: {name}": text
    for kind, rows in (("set", SETTINGS), ("call", CALLS), ("command", COMMANDS))
    for name, text in rows.items()
}


@pytest.mark.parametrize("word", [WORD, "dohapaveva"])
@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_a_word_is_a_password_by_its_place(text: str, word: str) -> None:
    text = text.format(word)
    assert word not in masked(text)
    assert word not in masked(f"x = 1\n\n{text}\n\nreturn x\n")
    assert len(blanked(text.encode())) == len(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "password: required\nname: optional\n",
        "interface Login {\n  user: string\n  password: string\n}\n",
        "user = get_user()\npassword = prompt()\n",
        "phrase = load()\nkwargs = dict(user=owner, password=phrase)\n",
        "raw = read()\npassword = raw\nuser = name\n",
        "password = 'changeme'",
        "password = 'my-password'; password = 'mypassword'; password = 'testing'",
        "{'password': 'aaaaaaaa'}",
        "t('password', 'minimum'); validate('password', 'shortest')",
        '<input type="password" name="password" placeholder="password" />',
        "passwordField = 'sunshine'; PASSWORD_ROUTE = 'sunshine'",
        "- name: PASSWORD_FILE\n  value: /run/secrets/db",
        "The password is required, the password is hashed. The password is sent by mail",
        "auth.login(request, user); login('google', 'popup')",
        "client.connect('topic', 'sunshine'); db.connect('localhost', 'events', 'users')",
        "logger.info('admin', 'connected')",
        "HTTPBasicAuth(user, password); basic_auth('username', 'password'); login.auth('user', 'pass')",
        "ssh -p 2222 ann@host; docker run -p 8080:80 web; mkdir -p sunshine; cp -p sunshine target",
        "mysql -u root -p shop",
        "mysqldump -u root -p$PASSWORD shop; zip -P '${PASSWORD}' out.zip",
        "echo -n sunshine; grep -w sunshine file; sort -u sunshine",
        "curl -u $USER:$PASSWORD https://x.example.com; curl -u ann: x",
        "net user ann /add; ldapsearch -w filter.conf, 7z x archive.7z",
        "password_hash_algorithm: argon2id",
        'TOKEN_PATTERN = r"[A-Za-z0-9_]+"',
        "label(for='password').sunshine",
        "Backup codes are shown once.\n\nKeep them in a safe place\n",
        "The recovery phrase is a list of words that nobody else knows.",
    ],
)
def test_words_about_passwords_stay(text: str) -> None:
    assert masked(text) == text


def test_a_word_that_the_text_has_elsewhere_is_a_name_where_it_has_no_quotes() -> None:
    setting = "user=ann\npassword=sunshine\n"
    assert WORD not in masked(setting)
    assert masked(f"sunshine = load()\n\n{setting}") == f"sunshine = load()\n\n{setting}"


@pytest.mark.parametrize("value", ["sunshine", "dragon", "passat", "contest"])
def test_words_that_say_nothing_of_passwords_are_plain(value: str) -> None:
    assert is_plain(value)


@pytest.mark.parametrize(
    "value", ["four", "Sunshine", "sun shine", "string", "mypassword", "yourtoken", "xyzxyz", "a" * 41]
)
def test_words_that_stand_in_for_a_password_are_not(value: str) -> None:
    assert not is_plain(value)


def test_what_is_found_is_the_password_alone() -> None:
    text = 'ssh.connect("h", 22, "root", "sunshine", None)'
    assert [text[start:end] for start, end in login_arguments_in(text, text.lower())] == [WORD]
    text = "mysql -uroot -psunshine shop && zip -P dragonfly a.zip b"
    assert [text[start:end] for start, end in login_options_in(text)] == [WORD, "dragonfly"]


def test_a_word_is_looked_for_near_its_place_only() -> None:
    far = "x = 1\n" * 2_000
    text = "sunshine = load()\n{}\nuser=ann\npassword=sunshine\n"
    assert "password=sunshine" in masked(text.format(""))
    assert "password=sunshine" not in masked(text.format(far))


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("hunter-22", True),
        ("my.key-7", True),
        ("h-22x", False),
        ("my-secret-1", False),
        ("my-token-1", False),
        ("my-pass-1x", False),
        ("a${x}b-1", False),
        ("%s-abcd1", False),
        ("abc...1x", False),
        ("cfg.value1", False),
        ("LOGIN_KEY", False),
        ("123.456", False),
    ],
)
def test_an_argument_that_names_or_stands_in_for_a_password_is_none(value: str, is_one: bool) -> None:
    text = f'client.login("bob", "{value}")'
    assert [text[start:end] for start, end in login_arguments_in(text, text.lower())] == [value] * is_one


@pytest.mark.parametrize("word", "example placeholder here redacted changeme change_me change-me".split())
def test_a_key_that_says_it_stands_in_for_one_stays(word: str) -> None:
    assert masked(f'api_key = "AKx9{word}T7Qm2p"\n') == f'api_key = "AKx9{word}T7Qm2p"\n'
    assert masked('api_key = "AKx9otherT7Qm2p"\n') != 'api_key = "AKx9otherT7Qm2p"\n'
