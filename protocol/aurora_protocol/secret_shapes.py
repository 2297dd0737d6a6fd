"""Secret shapes (API key and credential patterns): the forms that providers publish of their keys and tokens, one row
each, and the services whose keys have none but stand beside the service's name.

A row is the letters a secret of that kind always has (its lead, searched for first, as they are written), its kind for
machines, its noun for people, and its pattern. Every pattern is linear in the text's length: runs are bounded.
"""

from __future__ import annotations

from typing import NamedTuple

from aurora_protocol.key_contexts import CONTEXTS
from aurora_protocol.key_prefixes import PREFIXES


class Shape(NamedTuple):
    """A form of secret. Where `pattern` has a group `value`, that alone is the secret.

    A secret begins `before` letters before its lead; None where that is not known and `pattern` has to be looked for.
    `loose`: its lead may stand far from what is random in it, or nothing long is.
    """

    lead: str
    kind: str
    noun: str
    pattern: str
    before: int | None = 0
    loose: bool = False


_HEX, _LOWER, _WORD, _ID, _64 = "[0-9a-f]", "[0-9a-z]", "[0-9A-Za-z]", "[0-9A-Za-z_-]", "[0-9A-Za-z+/]"
_CRYPT = "[0-9A-Za-z./]"
_UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


def _alone(lead: str, tail: str, kind: str, noun: str) -> Shape:
    """What begins with its lead and stands by itself, no letter or digit around it."""
    begin = "".join(f"\\{letter}" if letter in ".+$" else letter for letter in lead)
    return Shape(lead, kind, noun, f"(?<![0-9A-Za-z])(?:{begin}{tail})(?![0-9A-Za-z])")


SHAPES: tuple[Shape, ...] = (
    *(_alone(*row) for row in PREFIXES),
    # Clouds
    *(_alone(lead, "[0-9A-Z]{16}", "aws_key", "an AWS access key") for lead in ("AKIA", "ASIA", "ABIA", "ACCA")),
    _alone("A3T", "[0-9A-Z]{16,17}", "aws_key", "an AWS access key"),
    _alone("ABSK", _64 + "{109,269}={0,2}", "aws_key", "an AWS Bedrock key"),
    _alone("bedrock-api-key-", "[0-9A-Za-z+/=]{20,2000}", "aws_key", "an AWS Bedrock key"),
    _alone("amzn.mws.", _UUID, "aws_key", "an Amazon MWS token"),
    _alone("AIza", _ID + "{35}", "google_key", "a Google API key"),
    Shape("ya29.", "google_token", "a Google token", r"ya29\.[0-9A-Za-z_-]{20,500}"),
    Shape("GOCSPX-", "google_key", "a Google client secret", r"GOCSPX-[0-9A-Za-z_-]{20,60}"),
    _alone("1//0", _ID + "{40,200}", "google_token", "a Google refresh token"),
    Shape(
        ":APA91b",
        "google_key",
        "a Firebase Cloud Messaging token",
        r"(?<![\w-])[0-9A-Za-z_-]{11,22}:APA91b[\w-]{130,200}",
        before=None,
    ),
    Shape(
        "Q~",
        "azure_key",
        "an Azure client secret",
        r"(?<![\w.~-])[0-9A-Za-z_~.]{3}[0-9]Q~[0-9A-Za-z_~.-]{31,34}(?![\w~-]|\.\w)",
        before=None,
    ),
    Shape("AccountKey=", "azure_key", "an Azure storage key", r"AccountKey=(?P<value>[0-9A-Za-z+/]{40,100}={0,2})"),
    Shape("SharedAccessKey=", "azure_key", "an Azure key", r"SharedAccessKey=(?P<value>[0-9A-Za-z+/]{30,100}={0,2})"),
    Shape(
        "+AStor",
        "azure_key",
        "an Azure storage key",
        r"[0-9A-Za-z+/]{60,90}\+AStor[0-9A-Za-z+/]{4,10}={0,2}",
        before=None,
    ),
    Shape(
        "+ACDb",
        "azure_key",
        "an Azure Cosmos DB key",
        r"[0-9A-Za-z+/]{60,90}\+?ACDb[0-9A-Za-z+/]{4,10}={0,2}",
        before=None,
    ),
    Shape(
        "JQQJ99",
        "azure_key",
        "an Azure key",
        r"(?<![0-9A-Za-z])[0-9A-Za-z]{52}JQQJ99[0-9A-Za-z]{26}(?![0-9A-Za-z])",
        before=None,
    ),
    Shape(
        "AZDO",
        "azure_key",
        "an Azure DevOps token",
        r"(?<![0-9A-Za-z])[0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4}(?![0-9A-Za-z])",
        before=None,
    ),
    _alone("LTAI", "[0-9A-Za-z]{12,24}", "alibaba_key", "an Alibaba Cloud key"),
    _alone("AKID", "[0-9A-Za-z]{32}", "tencent_key", "a Tencent Cloud key"),
    _alone("AQVN", _ID + "{35,38}", "yandex_key", "a Yandex key"),
    _alone("YCAJ", _ID + "{21}", "yandex_key", "a Yandex key"),
    _alone("t1.", _ID + r"{4,400}={0,2}\.[0-9A-Za-z_-]{86}={0,2}", "yandex_key", "a Yandex token"),
    _alone("t1.9eu", _ID + "{50,400}", "yandex_key", "a Yandex token"),
    *(
        _alone(f"{lead}_v1_", _HEX + "{64}", "digitalocean_token", "a DigitalOcean token")
        for lead in ("dop", "doo", "dor")
    ),
    _alone("v1.0-", _HEX + "{24}-" + _HEX + "{146}", "cloudflare_key", "a Cloudflare key"),
    _alone("HRKU-", _ID + "{36,80}", "heroku_key", "a Heroku key"),
    _alone("fo1_", _ID + "{43}", "flyio_token", "a Fly.io token"),
    *(
        _alone(lead, "[0-9A-Za-z+/]{100,1000}={0,3}", "flyio_token", "a Fly.io token")
        for lead in ("fm1a_", "fm1r_", "fm2_")
    ),
    _alone("rnd_", "[0-9A-Za-z]{28,40}", "render_key", "a Render key"),
    _alone("nfp_", "[0-9A-Za-z]{36}", "netlify_token", "a Netlify token"),
    _alone("tk-us-", _ID + "{48}", "scalingo_token", "a Scalingo token"),
    _alone("pul-", _HEX + "{40}", "pulumi_token", "a Pulumi token"),
    Shape(
        "atlasv1",
        "terraform_token",
        "a Terraform token",
        r"(?<![0-9A-Za-z])[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60,70}",
        before=None,
    ),
    _alone("hvs.", _ID + "{24,200}", "vault_token", "a Vault token"),
    _alone("hvb.", _ID + "{100,300}", "vault_token", "a Vault token"),
    _alone("hvr.", _ID + "{24,200}", "vault_token", "a Vault token"),
    Shape(
        "s.",
        "vault_token",
        "a Vault token",
        r"(?<![\w.$)\]])s\.(?=[A-Za-z]{0,23}[0-9])(?=[0-9a-z]{0,23}[A-Z]|(?:[a-z]{0,9}[0-9]){3})[0-9A-Za-z]{24}(?![\w(]|\.\w)",
    ),
    _alone("sha256~", _ID + "{43}", "openshift_token", "an OpenShift token"),
    _alone("ico-", "[0-9A-Za-z]{32}", "infracost_key", "an Infracost key"),
    _alone("AGE-SECRET-KEY-1", "[0-9A-Z]{58}", "private_key", "an age key"),
    _alone("ops_eyJ", "[0-9A-Za-z+/]{80,2000}={0,3}", "1password_token", "a 1Password token"),
    _alone(
        "A3-",
        "[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}",
        "1password_key",
        "a 1Password key",
    ),
    # Code and packages
    Shape("gh", "github_token", "a GitHub token", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    Shape("github_pat_", "github_token", "a GitHub token", r"github_pat_[A-Za-z0-9_]{20,255}"),
    Shape("glpat-", "gitlab_token", "a GitLab token", r"glpat-[A-Za-z0-9_.-]{20,320}", loose=True),
    Shape(
        "gl",
        "gitlab_token",
        "a GitLab token",
        r"gl(?:ptt|dt|rt|rtr|ft|ffct|soat|cbt|imt|oas|agent)-[A-Za-z0-9_.-]{20,320}",
    ),
    _alone("GR1348941", _ID + "{20}", "gitlab_token", "a GitLab token"),
    Shape("_gitlab_session=", "gitlab_token", "a GitLab session", r"_gitlab_session=(?P<value>[0-9a-z]{32})"),
    _alone("ATATT3", "[0-9A-Za-z_=-]{60,250}", "atlassian_token", "an Atlassian token"),
    _alone("ATBB", "[0-9A-Za-z]{24,40}", "bitbucket_token", "a Bitbucket token"),
    _alone("ATCTT3", "[0-9A-Za-z_=-]{60,250}", "atlassian_token", "an Atlassian token"),
    Shape("npm_", "npm_token", "an npm token", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}"),
    Shape("pypi-", "pypi_token", "a PyPI token", r"pypi-AgE[A-Za-z0-9_-]{30,1000}"),
    _alone("rubygems_", _HEX + "{48}", "rubygems_key", "a RubyGems key"),
    _alone("cio", "(?=[A-Za-z]{0,31}[0-9])[0-9A-Za-z]{32}", "crates_token", "a crates.io token"),
    _alone("oy2", _LOWER + "{43}", "nuget_key", "a NuGet key"),
    _alone("CLOJARS_", _LOWER + "{60}", "clojars_token", "a Clojars token"),
    _alone("dckr_pat_", _ID + "{27}", "docker_token", "a Docker token"),
    _alone("AKCp", "[0-9A-Za-z]{68,70}", "artifactory_key", "an Artifactory key"),
    _alone("cmVmd", "[0-9A-Za-z]{59}", "artifactory_token", "an Artifactory token"),
    _alone("sgp_", "(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}", "sourcegraph_token", "a Sourcegraph token"),
    *(_alone(lead, _HEX + "{40}", "sonar_token", "a Sonar token") for lead in ("sqp_", "squ_", "sqa_")),
    _alone("API-", "[0-9A-Z]{26}", "octopus_key", "an Octopus Deploy key"),
    _alone("CFPAT-", _ID + "{43}", "contentful_token", "a Contentful token"),
    _alone("pnu_", "[0-9A-Za-z]{36}", "prefect_token", "a Prefect token"),
    _alone("rdme_", _LOWER + "{70}", "readme_key", "a ReadMe key"),
    _alone("PMAK-", "[0-9a-fA-F]{24}-[0-9a-fA-F]{34}", "postman_key", "a Postman key"),
    # Models
    Shape("sk-ant-", "anthropic_key", "an Anthropic key", r"(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{16,255}"),
    Shape("sk-", "api_key", "an API key", r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,60}+[0-9])[A-Za-z0-9_-]{20,255}"),
    Shape("hf_", "hugging_face_token", "a Hugging Face token", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,60}", loose=True),
    _alone("api_org_", "[0-9A-Za-z]{34}", "hugging_face_token", "a Hugging Face token"),
    _alone("pplx-", "[0-9A-Za-z]{40,60}", "perplexity_key", "a Perplexity key"),
    _alone("gsk_", "[0-9A-Za-z]{52}", "groq_key", "a Groq key"),
    _alone("r8_", "[0-9A-Za-z]{37}", "replicate_token", "a Replicate token"),
    _alone("nvapi-", _ID + "{60,70}", "nvidia_key", "an NVIDIA key"),
    *(
        _alone(lead, "[0-9a-fA-F]{32}_[0-9a-fA-F]{10}", "langsmith_key", "a LangSmith key")
        for lead in ("lsv2_pt_", "lsv2_sk_")
    ),
    # Messages, mail and people
    Shape(
        "xox", "slack_token", "a Slack token", r"xoxd-[\w/+%=-]{10,400}|xox[abceoprs]-[A-Za-z0-9-]{10,255}", loose=True
    ),
    Shape("xapp-", "slack_token", "a Slack token", r"xapp-[0-9]-[A-Za-z0-9-]{10,255}"),
    Shape(
        "hooks.slack.com/",
        "slack_token",
        "a Slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,255}",
    ),
    Shape(
        "webhook.office.com/", "webhook", "a Teams webhook", r"webhook\.office\.com/webhookb2/[0-9A-Za-z@/-]{60,300}"
    ),
    Shape(
        "/api/webhooks/",
        "webhook",
        "a Discord webhook",
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[0-9A-Za-z_-]{60,80}",
        before=None,
    ),
    Shape(
        ".",
        "discord_token",
        "a Discord token",
        r"[MNO](?<![\w.-].)(?=[A-Za-z]{0,25}+[0-9])[0-9A-Za-z]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-]|\.\w)",
        before=None,
    ),
    Shape(
        ":AA",
        "telegram_token",
        "a Telegram token",
        r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[0-9A-Za-z_-]{33}(?![0-9A-Za-z_-])",
        before=None,
    ),
    Shape(
        "SG.",
        "sendgrid_key",
        "a SendGrid key",
        r"SG\.(?:[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}|[A-Za-z0-9_=-]{66})",
    ),
    _alone("xkeysib-", "[0-9a-fA-F]{64}-[0-9A-Za-z]{16}", "brevo_key", "a Brevo key"),
    _alone("key-", _HEX + "{32}", "mailgun_key", "a Mailgun key"),
    _alone("pubkey-", _HEX + "{32}", "mailgun_key", "a Mailgun key"),
    Shape(
        "-us",
        "mailchimp_key",
        "a Mailchimp key",
        r"(?<![0-9A-Za-z])[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])",
        before=None,
    ),
    _alone("SK", "[0-9a-fA-F]{32}", "twilio_key", "a Twilio key"),
    _alone("EAA", "[A-Za-z](?=[A-Za-z]{0,60}[0-9])[0-9A-Za-z]{80,300}", "facebook_token", "a Facebook token"),
    *(
        Shape(
            sign,
            "facebook_token",
            "a token of a Facebook app",
            rf"(?<![0-9A-Za-z])[0-9]{{15,16}}{begin}[0-9A-Za-z_-]{{27,40}}(?![0-9A-Za-z_-])",
            before=None,
        )
        for sign, begin in (("|", r"\|"), ("%", "%(?:7C)?"))
    ),
    _alone("aio_", "(?=[A-Za-z]{0,27}[0-9])[0-9A-Za-z]{28}", "adafruit_key", "an Adafruit IO key"),
    _alone("sq0atp-", _ID + "{22,60}", "square_token", "a Square token"),
    _alone("sq0csp-", _ID + "{43}", "square_token", "a Square secret"),
    _alone("EAAA", _ID + "{22,60}", "square_token", "a Square token"),
    _alone("tfp_", r"[0-9A-Za-z_.=-]{44,80}", "typeform_token", "a Typeform token"),
    _alone("pat-na1-", _UUID, "hubspot_token", "a HubSpot token"),
    _alone("pat-eu1-", _UUID, "hubspot_token", "a HubSpot token"),
    # Money and shops
    *(
        Shape(
            lead,
            "stripe_key",
            "a Stripe key",
            rf"(?<![A-Za-z0-9])[rs]k_{where}_[A-Za-z0-9]{{10,255}}",
            before=1,
            loose=loose,
        )
        for lead, where, loose in (("k_live_", "live", True), ("k_", "(?:test|prod)", False))
    ),
    Shape("whsec_", "stripe_key", "a Stripe signing secret", r"whsec_[A-Za-z0-9+/]{24,255}"),
    *(
        _alone(lead, "[0-9a-fA-F]{32}", "shopify_token", "a Shopify token")
        for lead in ("shpat_", "shpca_", "shppa_", "shpss_")
    ),
    _alone("access_token$production$", _LOWER + r"{16}\$" + _HEX + "{32}", "paypal_token", "a PayPal token"),
    _alone("access-", "(?:sandbox|development|production)-" + _UUID, "plaid_token", "a Plaid token"),
    _alone("EZAK", "[0-9A-Za-z]{54}", "easypost_key", "an EasyPost key"),
    _alone("EZTK", "[0-9A-Za-z]{54}", "easypost_key", "an EasyPost key"),
    _alone("shippo_", "(?:live|test)_[0-9a-fA-F]{40}", "shippo_token", "a Shippo token"),
    _alone("duffel_", "(?:live|test)_[0-9A-Za-z_=-]{43}", "duffel_token", "a Duffel token"),
    _alone("FLWSECK", "(?:_TEST)?-[0-9A-Za-z]{12,40}(?:-X)?", "flutterwave_key", "a Flutterwave key"),
    _alone("FLWPUBK", "(?:_TEST)?-[0-9A-Za-z]{32}-X", "flutterwave_key", "a Flutterwave key"),
    *(_alone(f"{lead}_", _HEX + "{35}", "lob_key", "a Lob key") for lead in ("live", "test")),
    *(_alone(f"{lead}_pub_", _HEX + "{31}", "lob_key", "a Lob key") for lead in ("live", "test")),
    _alone("live_", "[0-9A-Za-z_=-]{40}", "gocardless_token", "a GoCardless token"),
    # Data, monitoring, design, work
    _alone("dapi", _HEX + "{32}(?:-[0-9])?", "databricks_token", "a Databricks token"),
    *(
        _alone(lead, r"[0-9A-Za-z_=.-]{32,64}", "planetscale_token", "a PlanetScale token")
        for lead in ("pscale_tkn_", "pscale_oauth_", "pscale_pw_")
    ),
    _alone("4b1d", "[0-9A-Za-z]{38}", "clickhouse_key", "a ClickHouse key"),
    _alone("sb_secret_", _ID + "{20,60}", "supabase_token", "a Supabase key"),
    Shape("dt0", "dynatrace_token", "a Dynatrace token", r"dt0[a-z][0-9]{2}\.[0-9A-Za-z]{24}\.[0-9A-Za-z]{64}"),
    _alone("NRAK-", "[0-9A-Za-z]{27}", "new_relic_key", "a New Relic key"),
    _alone("NRJS-", _HEX + "{19}", "new_relic_key", "a New Relic key"),
    _alone("NRII-", "[0-9A-Za-z-]{32}", "new_relic_key", "a New Relic key"),
    Shape(
        "NRAL",
        "new_relic_key",
        "a New Relic licence key",
        r"(?<![0-9A-Za-z])[0-9a-f]{36}NRAL(?![0-9A-Za-z])",
        before=None,
    ),
    _alone("glc_", "[0-9A-Za-z+/]{32,400}={0,3}", "grafana_token", "a Grafana token"),
    _alone("glsa_", "[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}", "grafana_token", "a Grafana token"),
    _alone("eyJrIjoi", "[0-9A-Za-z+/]{40,400}={0,3}", "grafana_token", "a Grafana key"),
    Shape("sntrys_", "sentry_token", "a Sentry token", r"sntrys_[0-9A-Za-z+/=_]{40,500}"),
    _alone("sntryu_", _HEX + "{64}", "sentry_token", "a Sentry token"),
    _alone("lin_api_", "[0-9A-Za-z]{40}", "linear_key", "a Linear key"),
    _alone("lin_oauth_", "[0-9A-Za-z]{40,64}", "linear_key", "a Linear token"),
    _alone("ntn_", "[0-9]{11}[0-9A-Za-z]{35}", "notion_token", "a Notion token"),
    _alone("secret_", "(?=[A-Za-z]{0,42}[0-9])[0-9A-Za-z]{43}", "notion_token", "a Notion token"),
    _alone("figd_", _ID + "{38,60}", "figma_token", "a Figma token"),
    Shape(
        "pat", "airtable_token", "an Airtable token", r"(?<![0-9A-Za-z])pat[0-9A-Za-z]{14}\.[0-9a-f]{64}(?![0-9A-Za-z])"
    ),
    Shape(
        "at.",
        "harness_key",
        "a Harness key",
        r"(?<![0-9A-Za-z])[ps]at\.[\w-]{22}\.[0-9A-Za-z]{24}\.[0-9A-Za-z]{20}(?![0-9A-Za-z])",
        before=1,
    ),
    _alone("p8e-", "[0-9A-Za-z]{32}", "adobe_secret", "an Adobe secret"),
    _alone("fio-u-", r"[0-9A-Za-z_=-]{64}", "frameio_token", "a Frame.io token"),
    _alone(
        "dp.",
        r"(?:pt|st|ct|sa|scim|audit)\.(?:[0-9a-z_-]{2,35}\.)?[0-9A-Za-z]{40,44}",
        "doppler_token",
        "a Doppler token",
    ),
    _alone(
        "dnkey-", r"[0-9A-Za-z_=-]{26}-[0-9A-Za-z_=-]{52}", "defined_networking_token", "a Defined Networking token"
    ),
    _alone("sl.", r"[0-9A-Za-z_=-]{130,1200}", "dropbox_token", "a Dropbox token"),
    *(
        _alone(f"sm_{lead}_", "[0-9A-Za-z]{16}", "settlemint_token", "a SettleMint token")
        for lead in ("aat", "pat", "sat")
    ),
    Shape(
        "_mmk",
        "maxmind_key",
        "a MaxMind key",
        r"(?<![0-9A-Za-z])[0-9A-Za-z]{6}_[0-9A-Za-z]{29}_mmk(?![0-9A-Za-z])",
        before=None,
    ),
    Shape("s-s4t2", "intra42_secret", "a 42 secret", r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    Shape(
        ".acc",
        "authress_key",
        "an Authress key",
        r"(?<![0-9A-Za-z])(?:sc|ext|scauth|authress)_[0-9A-Za-z]{5,30}\.[0-9A-Za-z]{4,6}\.acc[_-][0-9A-Za-z-]{10,32}"
        r"\.[0-9A-Za-z+/_=-]{30,120}",
        before=None,
    ),
    Shape(
        "k.eyJ",
        "mapbox_token",
        "a Mapbox token",
        r"(?<![0-9A-Za-z])[ps]k\.eyJ[\w-]{20,120}\.[\w-]{20,30}(?![\w-])",
        before=1,
    ),
    _alone("pk.", r"[0-9A-Za-z]{60}\.[0-9A-Za-z]{22}", "mapbox_token", "a Mapbox token"),
    # Forms that many use
    Shape(
        "eyJ",
        "jwt",
        "a JSON Web Token",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}+\.eyJ[A-Za-z0-9_-]{4,4000}+\.[A-Za-z0-9_-]{10,1000}",
    ),
    Shape(
        "ZXlK",
        "jwt",
        "a JSON Web Token in base64",
        r"(?<![A-Za-z0-9+/])ZXlK(?:a[GUm]|bG|c[GWl]|d[0-2W]|em|M[FGWl]|N[Em])[A-Za-z0-9+/]{40,4000}+={0,2}",
    ),
    Shape(
        "-----BEGIN",
        "private_key",
        "a private key",
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        # The whole block; where its end was cut off, the lines of base64 that follow.
        r"(?:(?:[^-]|-(?!----)){0,20000}+-----END [A-Z0-9 ]{4,60}-----"
        r"|(?:(?:\s|\\[nr]){0,8}+(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{0,100}+){0,4}+"
        r"(?:(?:\s|\\[nr]){0,8}+[A-Za-z0-9+/=]{16,}+){1,1000}+(?:(?:[\r\n]|\\[nr]){1,4}+[A-Za-z0-9+/=]{1,80}+)?)?",
        loose=True,
    ),
    Shape(
        "LS0tLS1CRUdJTi",
        "private_key",
        "a private key in base64",
        r"LS0tLS1CRUdJTi(?:BQUklW|BSU0EgUFJJVk|BFQyBQUklW|BEU0EgUFJJVk|BPUEVOU1NIIFBSSVZB|BFTkNSWVBURUQg)"
        r"[0-9A-Za-z+/]{20,20000}={0,2}",
    ),
    Shape("$apr1$", "password_hash", "the hash of a password", rf"\$apr1\${_CRYPT}{{1,8}}\${_CRYPT}{{22}}"),
    *(
        Shape(f"$2{kind}$", "password_hash", "the hash of a password", rf"\$2{kind}\$[0-9]{{2}}\${_CRYPT}{{53}}")
        for kind in "aby"
    ),
    *(
        Shape(
            f"${kind}$",
            "password_hash",
            "the hash of a password",
            rf"\${kind}\$(?:rounds=[0-9]{{1,9}}\$)?{_CRYPT}{{1,16}}\${_CRYPT}{{{length}}}",
        )
        for kind, length in ((5, 43), (6, 86))
    ),
    Shape("$1$", "password_hash", "the hash of a password", rf"\$1\${_CRYPT}{{1,8}}\${_CRYPT}{{22}}"),
    Shape(
        "$y$", "password_hash", "the hash of a password", rf"\$y\${_CRYPT}{{1,20}}\${_CRYPT}{{1,90}}\${_CRYPT}{{43}}"
    ),
    Shape(
        "$argon2",
        "password_hash",
        "the hash of a password",
        rf"\$argon2(?:id|i|d)\$(?:v=[0-9]{{1,3}}\$)?[\w=,]{{5,60}}\${_64}{{8,100}}\${_64}{{16,200}}",
    ),
    Shape(
        "pbkdf2",
        "password_hash",
        "the hash of a password",
        r"\$?pbkdf2[_-]sha[0-9]{1,3}\$[0-9]{1,9}\$[\w./+=-]{4,100}\$[\w./+=-]{20,200}",
        before=None,
    ),
    _alone("2/12", r"[0-9]{10,16}/[0-9]{10,18}:" + _HEX + "{32}", "asana_token", "an Asana token"),
    *(Shape(*row, loose=True) for row in CONTEXTS),
)

SERVICES = (
    "adafruit adobe airtable aiven algolia alibaba amplitude artifactory asana assemblyai atlassian azure beamer "
    "bintray bitbucket bitly bitrise bittrex canva circleci civo clickhouse clickup cloudant cloudflare cloudinary "
    "codecov cohere coinbase configcat confluence confluent contentful couchbase coveralls data_gov databento datadog "
    "datagov deepgram deepseek discord disqus droneci dropbox ebay elevenlabs endorlabs etsy exoscale facebook fastly "
    "figma finicity finnhub flickr freshbooks fullstory gitea gitter greptile gumroad heroku highnote honeycomb "
    "hubspot ibm_cloud ibmcloud influxdb infomaniak intercom jfrog jira jumpcloud kagi klaviyo kraken kucoin "
    "launchdarkly linked_in linkedin looker mailchimp mailersend mailgun mapbox mattermost meraki message_bird "
    "messagebird midtrans mistral mixpanel moonshot netlify new-york-times new_relic newrelic newyorktimes nytimes "
    "okta ollama onesignal openrouter openweather openweathermap pinecone plaid plivo polymarket postmark private_ai "
    "privateai rapidapi runpod salesforce scaleway scalr sendbird sentry shodan snowflake snyk softlayer sonar "
    "squarespace sslmate stability_ai sumo sumologic supabase tableau telegram telnyx together_ai togetherai travis "
    "twilio twitch twitter upcloud upstage vercel wakatime wandb weatherstack webflow yandex zai zendesk"
).split()
"""Services whose keys are letters and digits like any others: they are known by the name beside them."""
